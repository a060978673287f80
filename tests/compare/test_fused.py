"""The two-sample test without a kernel: its level, what it sees, what does not matter to it, and a literal twin."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import fishernet as fn
from fishernet import _core
from fishernet.compare.fused import SHARPNESS, fused_test
from tests.networks import with_holes
from tests.rates import assert_at_most

Floats = npt.NDArray[np.float64]
Columns = dict[str, npt.NDArray[Any]]
ASIA = fn.datasets.load("asia")


def result_of(X: Any, Y: Any, seed: int = 1, permutations: int = 99) -> fn.compare.TwoSampleResult:
    return fn.compare.two_sample_test(X, Y, permutations=permutations, seed=seed)


def rejections(make: Any, n: int, level: float = 0.05) -> Iterator[bool]:
    for seed in range(n):
        X, Y = make(np.random.default_rng(seed))
        yield bool(result_of(X, Y, seed).p_value <= level)


def most_by_chance(n: int, level: float) -> float:
    """More rejections are a matter of one in a thousand, where the level is kept."""
    from scipy.stats import binom

    return float(binom.ppf(0.999, n, level))


def mixed(random: np.random.Generator, n: int) -> Columns:
    group = random.integers(0, 3, n)
    return {"group": np.array(list("uvw"))[group], "x": random.normal(size=n) + group, "y": random.exponential(size=n)}


# ------------------------------------------------------------------------------------------------------------- level


def test_over_all_splits_of_a_few_rows_the_level_is_kept() -> None:
    """Each way to take three of seven rows is taken as often as the others; chance is in the seeds alone."""
    random = np.random.default_rng(1)
    x, label = random.normal(size=7), np.array(list("aabbbcc"))
    p_values = []
    for seed, first in itertools.product(range(2), itertools.combinations(range(7), 3)):
        inside = np.isin(np.arange(7), first)
        X, Y = ({"x": x[rows], "label": label[rows]} for rows in (inside, ~inside))
        p_values.append(result_of(X, Y, seed, permutations=19).p_value)
    for level in (0.05, 0.1, 0.25):
        assert np.sum(np.array(p_values) <= level + 1e-9) <= most_by_chance(len(p_values), level)


@pytest.mark.parametrize("kind", ["numbers", "states", "mixed"])
def test_equal_sources_are_told_apart_as_often_as_the_level_says(kind: str) -> None:
    def make(random: np.random.Generator) -> Any:
        if kind == "states":
            return ASIA.sample(60, seed=random), ASIA.sample(45, seed=random)
        tables = mixed(random, 60), mixed(random, 40)
        return tables if kind == "mixed" else [{name: table[name] for name in ("x", "y")} for table in tables]

    assert_at_most(rejections(make, 120), 0.05, fault=0.25)


def test_any_set_is_named_by_chance_no_more_often_than_the_level_says() -> None:
    """Without a correction over the sets, one of many would be named in most tables."""

    def names_one(seed: int) -> bool:
        random = np.random.default_rng(seed)
        result = result_of(mixed(random, 60), mixed(random, 50), seed)
        return bool(min(term.p_corrected for term in result.terms) <= 0.05)

    assert_at_most(map(names_one, range(120)), 0.05, fault=0.3)


# ------------------------------------------------------------------------------------------------------ what it sees


def numbers(values: Floats) -> Columns:
    return {f"x{i}": values[:, i] for i in range(values.shape[1])}


def narrower(random: np.random.Generator) -> Any:
    """A mixture of four clouds, of which one is narrower in the second table."""
    centers = np.array([(20, 20), (-20, 20), (20, -20), (-20, -20)])
    tables = []
    for width in (1.0, 0.4):
        cloud = random.integers(0, 4, 400)
        spread = np.where(cloud == 3, width, 1.0)[:, None]
        tables.append(numbers(centers[cloud] + spread * random.normal(size=(400, 2))))
    return tables


def perturbed(random: np.random.Generator) -> Any:
    """Uniform numbers, against ones that keep to the black squares of a board of 4 by 4 four times in five."""
    even, board = random.random((400, 2)), random.random((4000, 2))
    black = np.floor(board * 4).sum(axis=1) % 2 == 0
    kept = board[random.random(4000) < np.where(black, 0.8, 0.2)][:400]
    return numbers(even), numbers(kept)


def parity(random: np.random.Generator) -> Any:
    """Coins, of which two agree in one table and differ in the other: every column alone is the same."""
    tables = []
    for agrees in (0.8, 0.2):
        coins = random.integers(0, 2, (200, 5))
        coins[:, 3] = np.where(random.random(200) < agrees, coins[:, 1], 1 - coins[:, 1])
        tables.append({f"x{i}": np.array(["no", "yes"])[coins[:, i]] for i in range(5)})
    return tables


def shifted(random: np.random.Generator) -> Any:
    return numbers(random.normal(size=(200, 2))), numbers(random.normal(size=(200, 2)) + 0.5)


def correlated(random: np.random.Generator) -> Any:
    """Eight columns of numbers, of which two depend on one another in the second table alone."""
    tables = []
    for rho in (0.0, 0.4):
        values = random.normal(size=(300, 8))
        values[:, 1] = rho * values[:, 0] + np.sqrt(1 - rho**2) * values[:, 1]
        tables.append(numbers(values))
    return tables


@pytest.mark.parametrize("make", [narrower, perturbed, parity, shifted, correlated])
def test_it_sees(make: Any) -> None:
    """At least 16 of 20 such pairs of tables are told apart."""
    assert sum(rejections(make, 20)) >= 16


def test_the_strongest_set_names_the_pair_whose_dependence_changed() -> None:
    X, Y = parity(np.random.default_rng(1))
    found = result_of(X, Y)
    assert found.terms[0].variables == ("x1", "x3")
    assert found.terms[0].p_corrected <= 0.05
    assert {term.variables for term in found.terms if len(term.variables) == 1} == {(f"x{i}",) for i in range(5)}
    assert [term.statistic for term in found.terms] == sorted((t.statistic for t in found.terms), reverse=True)
    for term in found.terms:
        assert 0 < term.p_value <= term.p_corrected <= 1


# ---------------------------------------------------------------------------------------------- what does not matter


def figures(found: fn.compare.TwoSampleResult) -> dict[tuple[str, ...], tuple[float, float]]:
    """What the sets of one and two columns say, without the network and the smooth kernels of all numbers."""
    of_sets = {term.variables: (term.statistic, term.p_value) for term in found.terms}
    return {names: of for names, of in of_sets.items() if len(names) < 3}


def test_the_order_of_columns_does_not_matter() -> None:
    random = np.random.default_rng(2)
    tables = [mixed(random, 80), mixed(random, 70)]
    turned = [dict(reversed(table.items())) for table in tables]
    one, other = (result_of(X, Y) for X, Y in (tables, turned))
    assert one.p_value == other.p_value
    assert one.statistic == pytest.approx(other.statistic, rel=1e-6)


def test_partitions_know_of_numbers_their_order_alone() -> None:
    random = np.random.default_rng(3)
    tables = [mixed(random, 80), mixed(random, 70)]
    bent = [table | {"x": np.exp(table["x"]), "y": 3 + table["y"] ** 3} for table in tables]
    one, other = (figures(result_of(X, Y)) for X, Y in (tables, bent))
    smooth = ("x", "y")  # kernels of the numbers themselves are among what is said of all of them together
    assert {of: said for of, said in one.items() if of != smooth} == {
        of: said for of, said in other.items() if of != smooth
    }


def test_the_order_of_rows_matters_as_other_splits_do() -> None:
    """Tables that differ clearly do so in any order, with any seed."""
    X, Y = shifted(np.random.default_rng(4))
    for seed in range(5):
        order = np.random.default_rng(seed).permutation(200)
        assert result_of({name: x[order] for name, x in X.items()}, Y, seed).p_value == 0.01


# ------------------------------------------------------------------------------------------------------- odd tables


def test_equal_tables_have_p_1() -> None:
    table = mixed(np.random.default_rng(5), 60)
    assert result_of(table, table).p_value == 1


@pytest.mark.parametrize("value", ["same", 1.5])
def test_columns_that_never_vary_tell_nothing(value: Any) -> None:
    X, Y = ({"a": np.array([value] * n), "b": np.array([value] * n)} for n in (5, 9))
    found = result_of(X, Y)
    assert (found.p_value, found.terms) == (1, ())


def test_one_row_against_many() -> None:
    """Of a common kind it is no surprise; by far the only one of its kind, it is the most surprising of all."""
    many = {"a": np.array(["x"] * 500 + ["y"] * 500), "b": np.array(["u", "v"] * 500)}
    assert result_of({"a": np.array(["x"]), "b": np.array(["u"])}, many).p_value > 0.05
    assert result_of({"a": np.array(["z"]), "b": np.array(["w"])}, many).p_value <= 0.05


def test_one_row_against_one() -> None:
    assert (
        result_of({"a": np.array([1.0]), "b": np.array(["u"])}, {"a": np.array([2.0]), "b": np.array(["v"])}).p_value
        == 1
    )


def test_the_rarest_of_many_states_are_taken_together() -> None:
    random = np.random.default_rng(6)
    variables = [fn.Variable("name", range(2000)), fn.Variable("side", ["left", "right"])]
    common, rare = ((random.random((600, 2)) ** [8, 1] * [2000, 2] + [least, 0]).astype(int) for least in (0, 1))
    X, Y = (fn.Table.from_codes(np.minimum(codes, [1999, 1]), variables) for codes in (common, rare))
    found = result_of(X, Y)  # half of the rows of the first table have name 0, and none of the second
    assert found.p_value == 0.01
    assert found.terms[-1].variables == ("side",)


def test_numbers_with_ties_are_cut_between_unequal_ones() -> None:
    random = np.random.default_rng(6)
    X, Y = ({"count": random.poisson(mean, 300) + 0.5} for mean in (1.0, 1.5))
    assert [term.variables for term in result_of(X, Y).terms] == [("count",)]
    assert result_of(X, Y).p_value == 0.01


def test_sets_are_not_fused_under_a_kernel_or_where_cells_are_missing() -> None:
    X, Y = ASIA.sample(60, seed=1), ASIA.sample(50, seed=2)
    assert fn.compare.two_sample_test(X, Y, fn.kernels.FisherKernel(ASIA), permutations=19, seed=1).terms == ()
    assert result_of(with_holes(ASIA, 60, 1, 0.1), Y, permutations=19).terms == ()


# -------------------------------------------------------------------------------------------------------- the literal


def test_it_is_the_soft_maximum_of_standardized_roots_of_the_distances_of_frequencies() -> None:
    """Two columns of states: three partitions, and the empty graph."""
    random = np.random.default_rng(7)
    sizes, n_splits, key = (30, 50), 130, 11
    codes = random.integers(0, [3, 4], (80, 2))
    variables = [fn.Variable("a", list("xyz")), fn.Variable("b", list("stuv"))]
    tables = [fn.Table.from_codes(part, variables) for part in np.split(codes, [30])]
    taken = _core.splits(80, 30, key, 0, n_splits).T.astype(bool)
    distances = []
    for cells in (codes[:, 0], codes[:, 1], codes[:, 0] * 4 + codes[:, 1]):
        inside = cells[:, None] == np.arange(12)
        share = inside.mean(axis=0)
        apart = np.array([inside[part].mean(axis=0) - inside[~part].mean(axis=0) for part in taken])
        distances.append((apart**2 / (share + 1 / min(sizes))).sum(axis=1))
    distances.append(distances[0] + distances[1])
    roots = np.array(distances) ** 0.25
    scores = (roots - roots.mean(axis=1, keepdims=True)) / roots.std(axis=1, keepdims=True)
    literal = np.log(np.exp(SHARPNESS * scores).mean(axis=0)) / SHARPNESS
    np.testing.assert_allclose(fused_test(tables, n_splits=n_splits, key=key).total, literal, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("unit", [1e100, 1e-100, -3.0])
def test_units_of_numbers_do_not_matter(unit: float) -> None:
    random = np.random.default_rng(3)
    X, Y = (random.normal(0, spread, (80, 2)) for spread in (1.0, 1.6))
    pairs = ([{"x": k * of[:, 0], "y": of[:, 1]} for of in (X, Y)] for k in (1.0, unit))
    found, other = (result_of(one, two).p_value for one, two in pairs)
    assert found == other if unit > 0 else abs(found - other) <= 0.05


def test_groups_that_lie_apart_are_seen_in_the_numbers() -> None:
    """One of four groups is narrower: its rows' ranks hardly say so."""
    random = np.random.default_rng(5)
    corners = 20 * np.array([(1, 1), (-1, 1), (1, -1), (-1, -1)])
    tables = []
    for narrow in (1.0, 0.45):
        group = random.integers(0, 4, 400)
        points = corners[group] + np.where(group == 3, narrow, 1.0)[:, None] * random.normal(size=(400, 2))
        tables.append({"x": points[:, 0], "y": points[:, 1]})
    found = result_of(tables[0], tables[1])
    assert found.p_value <= 0.05
    assert found.terms[0].variables == ("x", "y")
