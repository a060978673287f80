"""The permutation test against a literal one on the kernel's matrix, what variables add, and bad input."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.stats import binom, hypergeom

import fishernet as fn
from fishernet import _core
from fishernet.base.errors import FishernetError, FishernetWarning, MissingValueError, SchemaError, ZeroProbabilityError
from fishernet.base.random import stream_key
from fishernet.kernels import (
    FisherKernel,
    GaussianKernel,
    HiddenVariableKernel,
    HmmKernel,
    Normalized,
    PairHmmKernel,
    Precomputed,
    Rbf,
    SpectrumKernel,
    by_matrix,
    row_sums,
)
from fishernet.kernels.fisher import invariant
from tests.networks import random_network, with_holes
from tests.rates import assert_at_most

Floats = npt.NDArray[np.float64]
two_sample = fn.compare.two_sample_test

ASIA = fn.datasets.load("asia")
MIXED = random_network(5, [3, 2, 4, 1, 3])
SMOKERS = fn.infer.intervene(ASIA, {"smoke": "yes"})
NUMBERS = np.random.default_rng(3).normal(size=(200, 4)).cumsum(axis=1)
GAUSSIAN = fn.learn.bayesian_network(NUMBERS)
HMM = fn.HiddenMarkovModel([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], [[0.5, 0.5], [0.1, 0.9]], alphabet="ab")
STRINGS = ["".join(row) for row in np.random.default_rng(4).choice(list("ab"), size=(60, 6))]
UNEQUAL = [string[: 2 + i % 4] for i, string in enumerate(STRINGS)]


def numbers(rows: slice) -> fn.Table:
    return fn.Table.from_frame({f"v{i}": NUMBERS[rows, i] for i in range(4)})


CASES: dict[str, tuple[Any, Any, Any]] = {
    "Fisher": (FisherKernel(ASIA), ASIA.sample(60, seed=1), ASIA.sample(45, seed=2)),
    "Fisher of changed rows": (FisherKernel(ASIA), ASIA.sample(60, seed=1), SMOKERS.sample(45, seed=2)),
    "Fisher, one state and zeros": (
        FisherKernel(random_network(8, [3, 1, 4, 2], zeros=0.3)),
        random_network(8, [3, 1, 4, 2], zeros=0.3).sample(30, seed=1),
        random_network(8, [3, 1, 4, 2], zeros=0.3).sample(70, seed=2),
    ),
    "Fisher, one row a side": (FisherKernel(ASIA), ASIA.sample(1, seed=1), ASIA.sample(1, seed=2)),
    "Fisher, one row against many": (FisherKernel(MIXED), MIXED.sample(1, seed=1), MIXED.sample(70, seed=2)),
    "practical": (FisherKernel(MIXED, metric="practical"), MIXED.sample(40, seed=1), MIXED.sample(30, seed=2)),
    "empirical": (
        FisherKernel(ASIA, metric="empirical", reference=ASIA.sample(500, seed=9)),
        ASIA.sample(40, seed=1),
        ASIA.sample(30, seed=2),
    ),
    "hidden variables": (HiddenVariableKernel(ASIA), with_holes(ASIA, 50, 1, 0.2), with_holes(ASIA, 40, 2, 0.4)),
    "Fisher with a hidden variable": (
        FisherKernel(ASIA, hidden=["either"]),
        ASIA.sample(50, seed=1),
        ASIA.sample(40, seed=2),
    ),
    "Gaussian network": (FisherKernel(GAUSSIAN), numbers(slice(0, 50)), numbers(slice(50, 200))),
    "Rbf": (Rbf(FisherKernel(ASIA), 1.5), ASIA.sample(50, seed=1), SMOKERS.sample(20, seed=2)),
    "Normalized": (Normalized(FisherKernel(ASIA)), ASIA.sample(50, seed=1), ASIA.sample(20, seed=2)),
    "sum": (FisherKernel(ASIA) + FisherKernel(SMOKERS), SMOKERS.sample(20, seed=1), SMOKERS.sample(30, seed=2)),
    "multiple": (2 * FisherKernel(ASIA), ASIA.sample(20, seed=1), ASIA.sample(30, seed=2)),
    "product": (FisherKernel(ASIA) * Rbf(FisherKernel(ASIA), 1.0), ASIA.sample(20, seed=1), ASIA.sample(30, seed=2)),
    "SpectrumKernel": (SpectrumKernel(2), UNEQUAL[:25], UNEQUAL[25:]),
    "HmmKernel": (HmmKernel(HMM), STRINGS[:25], STRINGS[25:]),
    "PairHmmKernel": (Normalized(PairHmmKernel(HMM)), UNEQUAL[:10], UNEQUAL[10:25]),
    "Fisher of strings": (FisherKernel(HMM, length=6, n_samples=2000, seed=0), STRINGS[:25], STRINGS[25:]),
}
PERMUTATIONS = 150  # more than two blocks of 64
LACKING = "hidden variables"  # its rows lack cells, and do not change places
each_case = pytest.mark.parametrize("name", [name for name in CASES if name != LACKING])
LITERAL: dict[str, Any] = {"rtol": 1e-9, "atol": 1e-11}


def gram(kernel: Any, X: Any, Y: Any) -> Floats:
    """The matrix of all rows of both."""
    return np.block([[kernel(a, b) for b in (X, Y)] for a in (X, Y)])


def splits(n: int, m: int, seed: int, permutations: int = PERMUTATIONS) -> Floats:
    """Which rows the first part takes, (splits, rows); all drawn in one piece."""
    return _core.splits(n + m, n, stream_key(seed), 0, 1 + permutations).T.astype(float)


def distances(matrix: Floats, taken: Floats) -> Floats:
    """The squared distance of the parts' means, from three means over pairs of rows."""
    found = []
    for part in taken.astype(bool):
        inside, outside, across = matrix[part][:, part], matrix[~part][:, ~part], matrix[part][:, ~part]
        found.append(inside.mean() + outside.mean() - 2 * across.mean())
    return np.array(found)


def p_value(of: Floats) -> float:
    return float((of >= of[0] - 1e-9 * abs(of[0])).mean())


# ------------------------------------------------------------------------------------------- the literal permutation


@each_case
def test_it_is_the_permutation_test_of_the_kernel_matrix(name: str) -> None:
    kernel, X, Y = CASES[name]
    found = two_sample(X, Y, kernel, permutations=PERMUTATIONS, seed=3)
    literal = distances(gram(kernel, X, Y), splits(len(X), len(Y), 3))
    scale = float(np.abs(literal).max())
    np.testing.assert_allclose(found.statistic, literal[0], rtol=1e-9, atol=1e-9 * scale)
    np.testing.assert_allclose(found.null, literal[1:], rtol=1e-9, atol=1e-9 * scale)
    assert found.p_value == pytest.approx(p_value(literal), abs=1e-12)
    assert (found.permutations, found.n_rows) == (PERMUTATIONS, (len(X), len(Y)))
    assert (found.method, found.seed, found.kernel) == ("permutation", 3, kernel)


def test_rows_and_splits_are_gone_through_some_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    X, Y = ASIA.sample(300, seed=1), SMOKERS.sample(171, seed=2)
    whole = two_sample(X, Y, FisherKernel(ASIA), permutations=700, seed=3)
    monkeypatch.setattr(invariant, "CELLS_OF", 37)
    monkeypatch.setattr(invariant, "MOST_COUNTS", 1)
    parts = two_sample(X, Y, FisherKernel(ASIA), permutations=700, seed=3)
    assert parts.null.tolist() == whole.null.tolist()
    assert (parts.statistic, parts.by_variable) == (whole.statistic, whole.by_variable)
    assert parts.by_configuration == whole.by_configuration


POSITIONS = {
    "all": (np.arange(90), np.arange(90, 150)),
    "a stretch": (np.arange(20, 70), np.arange(70, 99)),
    "mixed": tuple(np.split(np.random.default_rng(1).permutation(150), [60])),
    "some": tuple(np.split(np.random.default_rng(2).permutation(150)[:80], [37])),
    "repeated": (np.array([3, 3, 9, 140, 9, 3]), np.array([7, 9, 3, 0])),
    "one and one": (np.array([5]), np.array([2])),
}


@pytest.mark.parametrize("at_once", [1, 37, 1000])
@pytest.mark.parametrize("name", POSITIONS)
def test_half_of_a_matrix_tells_all(name: str, at_once: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(by_matrix, "SPLIT_BLOCK", at_once)
    monkeypatch.setattr(row_sums, "BLOCK", at_once)
    points = np.random.default_rng(0).normal(size=(150, 2))
    gaussian = GaussianKernel(1.0)
    given, (X, Y) = Precomputed(gaussian(points)), POSITIONS[name]
    literal = distances(given.matrix[np.ix_(np.append(X, Y), np.append(X, Y))], splits(len(X), len(Y), 3))
    for kernel, x, y in ((given, X, Y), (gaussian, points[X], points[Y])):
        found = two_sample(x, y, kernel, permutations=PERMUTATIONS, seed=3)
        np.testing.assert_allclose([max(found.statistic, 0.0), *found.null], literal, rtol=1e-9, atol=1e-12)


@each_case
def test_the_statistic_is_the_squared_mmd(name: str) -> None:
    kernel, X, Y = CASES[name]
    found = two_sample(X, Y, kernel, permutations=19, seed=1)
    assert found.statistic == pytest.approx(fn.compare.mmd(kernel, X, Y), rel=1e-9, abs=1e-10)


OF_VARIABLES = ["Fisher", "Fisher of changed rows", "Fisher, one state and zeros", "practical", "hidden variables"]


@pytest.mark.parametrize("name", [*OF_VARIABLES, "Fisher, one row against many", "Gaussian network"])
def test_variables_add_the_terms_of_the_kernel(name: str) -> None:
    kernel, X, Y = CASES[name]
    found = two_sample(X, Y, kernel, permutations=PERMUTATIONS, seed=3)
    assert tuple(found.by_variable) == X.names
    blocks = np.block([[kernel.terms(a, b) for b in (X, Y)] for a in (X, Y)])
    literal = np.array([distances(matrix, splits(len(X), len(Y), 3, 0))[0] for matrix in blocks])
    for v, name_of in enumerate(kernel.model.names):
        share = found.by_variable[name_of]
        assert share.variable == name_of
        assert share.configuration == {}
        assert share.statistic == pytest.approx(literal[v], rel=1e-8, abs=1e-10)
        assert share.share == pytest.approx(literal[v] / literal.sum(), rel=1e-8, abs=1e-10)
        assert share.p_corrected >= share.p_value
    assert sum(share.statistic for share in found.by_variable.values()) == pytest.approx(found.statistic, rel=1e-9)


def test_variables_are_tested_given_their_parents_and_together() -> None:
    """A root and a child that does not depend on it, both changed: each p-value is Fisher's, corrected by Sidak."""
    variables = [fn.Variable(name, ["x", "y"]) for name in "ab"]
    counts = {"X": ([[9, 3], [2, 6]]), "Y": ([[4, 7], [8, 1]])}  # by a, and b

    def table(rows: Any) -> fn.Table:
        cells = [(a, b) for a in range(2) for b in range(2) for _ in range(rows[a][b])]
        return fn.Table.from_codes(np.array(cells), variables)

    X, Y = (table(rows) for rows in counts.values())
    net = fn.BayesianNetwork.from_tables(variables, {}, {"a": [0.5, 0.5], "b": [0.5, 0.5]})
    found = two_sample(X, Y, FisherKernel(net), permutations=999, seed=1)
    for axis, name in ((1, "a"), (0, "b")):
        one, other = (np.array(rows).sum(axis=axis) for rows in counts.values())
        all_rows, hits, n = int(one.sum() + other.sum()), int(one[0] + other[0]), int(one.sum())
        draws = hypergeom(all_rows, hits, n)
        off = abs(one[0] - n * hits / all_rows)
        exact = sum(draws.pmf(k) for k in range(n + 1) if abs(k - n * hits / all_rows) >= off - 1e-9)
        assert found.by_variable[name].p_value == pytest.approx(exact, abs=0.03)
    p = sorted(share.p_value for share in found.by_variable.values())
    assert sorted(share.p_corrected for share in found.by_variable.values()) == pytest.approx(
        [1 - (1 - p[0]) ** 2, max(1 - (1 - p[0]) ** 2, p[1])]
    )


def test_configurations_add_weighted_squares_of_differences_of_frequencies() -> None:
    """Each cell adds (difference of the shares of [state] - theta [configuration])^2 / (P(configuration) theta)."""
    kernel, X, Y = CASES["Fisher of changed rows"]
    found = two_sample(X, Y, kernel, permutations=99, seed=1)
    X, Y = (table.to_frame().to_pandas() for table in (X, Y))
    assert sum(share.statistic for share in found.by_configuration) == pytest.approx(found.statistic, rel=1e-9)
    for share in found.by_configuration:
        at = dict(share.configuration)
        parents = ASIA.dag.parents[ASIA.names.index(share.variable)]
        assert sorted(at) == sorted(ASIA.names[p] for p in parents)
        of_group = ASIA.query(list(at)).to_dict() if at else None
        order = list(at)
        group = (
            1.0
            if of_group is None
            else ASIA.query(order)[tuple(at[name] for name in order)]
            if len(at) > 1
            else (ASIA.query(order[0])[at[order[0]]])
        )
        theta = ASIA.query(share.variable, given=at)
        expected = 0.0
        for state in ASIA.variables[ASIA.names.index(share.variable)].states:
            if theta[state] == 0:
                continue
            means = []
            for rows in (X, Y):
                inside = np.ones(len(rows), bool)
                for name, label in at.items():
                    inside &= (rows[name] == label).to_numpy()
                own = (rows[share.variable] == state).to_numpy()
                means.append((inside & own).mean() - theta[state] * inside.mean())
            expected += (means[0] - means[1]) ** 2 / (group * theta[state])
        assert share.statistic == pytest.approx(expected, rel=1e-7)
        assert share.share == pytest.approx(expected / found.statistic, rel=1e-7)
    sizes = [share.statistic for share in found.by_configuration]
    assert sizes == sorted(sizes, reverse=True)
    assert min(sizes) > 0


def test_features_and_counts_tell_the_same() -> None:
    """Rows without holes: the expected features are those of the states, added up where the other kernel counts."""
    X, Y = ASIA.sample(70, seed=1), SMOKERS.sample(50, seed=2)
    counted = two_sample(X, Y, FisherKernel(ASIA), permutations=99, seed=5)
    added = two_sample(X, Y, HiddenVariableKernel(ASIA), permutations=99, seed=5)
    np.testing.assert_allclose(added.null, counted.null, **LITERAL)
    others = {(other.variable, *other.configuration.items()): other for other in added.by_configuration}
    for one in counted.by_configuration:
        other = others[one.variable, *one.configuration.items()]
        assert other.statistic == pytest.approx(one.statistic, rel=1e-8)
        assert (other.p_value, other.p_corrected, other.p_fdr) == (one.p_value, one.p_corrected, one.p_fdr)


def test_more_rows_than_counters_of_16_bits_hold() -> None:
    """140,000 rows of one state that nearly all have: 65,535 is passed twice, in one cell."""
    net = fn.BayesianNetwork.from_tables(
        [fn.Variable("a", ["x", "y"]), fn.Variable("b", ["u", "v"])],
        {"b": ["a"]},
        {"a": [0.999, 0.001], "b": [[0.9, 0.1], [0.5, 0.5]]},
    )
    X, Y = net.sample(90_000, seed=1), net.sample(50_000, seed=2)
    kernel = FisherKernel(net)
    found = two_sample(X, Y, kernel, permutations=70, seed=3)
    features = np.vstack([np.asarray(kernel.features(rows).toarray()) for rows in (X, Y)])
    taken = splits(len(X), len(Y), 3, 70)
    apart = taken @ features / len(X) - (1 - taken) @ features / len(Y)
    literal = (apart**2).sum(axis=1)
    np.testing.assert_allclose([found.statistic, *found.null], literal, rtol=1e-7)


# ------------------------------------------------------------------------------------------------- what is the same


@pytest.mark.parametrize("name", [name for name in CASES if "one row" not in name and name != LACKING])
def test_equal_tables_have_statistic_0_and_p_1(name: str) -> None:
    kernel, X, _ = CASES[name]
    found = two_sample(X, X, kernel, permutations=30, seed=1)
    assert found.statistic == pytest.approx(0, abs=1e-9 * max(1.0, found.null.max()))
    assert found.p_value == 1
    for share in (*found.by_variable.values(), *found.by_configuration):
        assert share.p_corrected > 0.5 or share.statistic > 0
    assert found.changed() == ()


def test_by_conditionals_the_p_value_is_the_least_corrected_one() -> None:
    kernel, X, Y = CASES["Fisher of changed rows"]
    found = two_sample(X, Y, kernel, method="conditionals", permutations=99, seed=1)
    permuted = two_sample(X, Y, kernel, permutations=99, seed=1)
    assert found.by_variable == permuted.by_variable
    assert found.p_value == min(share.p_corrected for share in found.by_variable.values())
    assert (found.statistic, found.permutations) == (permuted.statistic, 0)


@pytest.mark.parametrize("method", ["chi-square", "block"])
@pytest.mark.filterwarnings("ignore::fishernet.base.errors.FishernetWarning")
def test_equal_tables_by_other_methods(method: Any) -> None:
    X = ASIA.sample(400, seed=1)
    found = two_sample(X, X, FisherKernel(ASIA), method=method, seed=1)
    assert found.p_value > 0.05
    if method == "chi-square":
        assert found.statistic == pytest.approx(0, abs=1e-15)
        assert found.p_value == pytest.approx(1)
    assert (found.permutations, len(found.null), found.changed()) == (0, 0, ())
    assert len(found.by_variable) == (8 if method == "chi-square" else 0)


def test_tables_that_never_vary_are_equal() -> None:
    X = fn.Table.from_codes(np.zeros((9, 2), int), [fn.Variable("a", ["x"]), fn.Variable("b", ["y", "z"])])
    found = two_sample(X, X[:4], seed=1)
    assert found.statistic == pytest.approx(0, abs=1e-25)
    assert (found.p_value, found.changed()) == (1, ())
    assert {(share.p_value, share.p_corrected) for share in found.by_variable.values()} == {(1, 1)}


@pytest.mark.parametrize("kernel", [FisherKernel(MIXED), Rbf(FisherKernel(MIXED), 1.0), None])
def test_whole_weights_are_repeated_rows(kernel: Any) -> None:
    X, Y = MIXED.sample(40, seed=1), MIXED.sample(30, seed=2)
    weights = np.random.default_rng(1).integers(0, 4, size=40)
    weighted = fn.Table(X.variables, X.codes, weights=weights)
    repeated = X[np.repeat(np.arange(40), weights)]
    one, other = (two_sample(rows, Y, kernel, permutations=50, seed=2) for rows in (weighted, repeated))
    assert (one.statistic, one.p_value, one.n_rows) == (other.statistic, other.p_value, other.n_rows)
    assert one.n_rows == (weights.sum(), 30)
    np.testing.assert_array_equal(one.null, other.null)


def of_survey(n: int, share: float, moved: float, random: np.random.Generator) -> fn.Table:
    """Return answers of a population of which 40 % are old, a sample with another share, and weights that mend it."""
    old = random.random(n) < share
    yes = random.random(n) < np.where(old, 0.7, 0.3) + moved
    columns = {"age": np.where(old, "old", "young"), "answer": np.where(yes, "yes", "no")}
    weights = np.where(old, 0.4 / share, 0.6 / (1 - share))
    return fn.Table.from_frame({**columns, "weight": 1.01 * weights}, weights="weight")


@pytest.mark.filterwarnings("ignore:.*drawn in proportion")
@pytest.mark.parametrize(("moved", "least", "most"), [(0.0, 0.0, 0.05), (0.25, 0.9, 1.0)])
def test_survey_weights_mend_other_shares_of_groups(moved: float, least: float, most: float) -> None:
    random = np.random.default_rng(5)
    n, found = 80, 0
    for _ in range(n):
        tables = of_survey(200, 0.7, 0.0, random), of_survey(200, 0.25, moved, random)
        found += two_sample(*tables, permutations=99, seed=1).p_value <= 0.05
    assert binom.ppf(0.001, n, least) <= found <= binom.ppf(0.999, n, most)


def test_frames_arrays_and_columns_in_another_order() -> None:
    X, Y = ASIA.sample(50, seed=1), SMOKERS.sample(50, seed=2)
    turned = list(reversed(ASIA.names))
    for kernel in (None, FisherKernel(ASIA)):
        found = two_sample(X, Y, kernel, permutations=60, seed=1)
        frames = two_sample(X.to_frame().to_pandas()[turned], Y.to_frame(), kernel, permutations=60, seed=1)
        assert frames.statistic == pytest.approx(found.statistic, rel=1e-9)
        assert frames.p_value == found.p_value
        assert {n: s.p_corrected for n, s in frames.by_variable.items()} == {
            n: s.p_corrected for n, s in found.by_variable.items()
        }
        assert frames.changed() == found.changed()


def test_a_seed_repeats_it() -> None:
    kernel, X, Y = CASES["Fisher"]
    one = two_sample(X, Y, kernel, permutations=30)
    other = two_sample(X, Y, kernel, permutations=30, seed=one.seed)
    np.testing.assert_array_equal(one.null, other.null)
    assert not one.null.flags.writeable


# ------------------------------------------------------------------------------------------------ without a kernel


def test_without_a_kernel_a_network_of_both_tables_is_learned() -> None:
    X, Y = ASIA.sample(400, seed=1), SMOKERS.sample(300, seed=2)
    found = two_sample(X, Y, permutations=199, seed=1)
    assert (found.p_value, found.changed()[0]) == (1 / 200, "smoke")
    assert found.kernel.model.n_rows == 700
    turned = two_sample(Y, X, permutations=199, seed=1)
    assert found.p_value == turned.p_value
    for name, share in found.by_variable.items():
        assert turned.by_variable[name].statistic == pytest.approx(share.statistic, rel=1e-9)


def test_incomplete_rows_are_taken_by_their_expected_features() -> None:
    X, Y = with_holes(ASIA, 200, 1, 0.2), with_holes(SMOKERS, 200, 2, 0.2)
    found = two_sample(X, Y, permutations=99, seed=1)
    assert isinstance(found.kernel, HiddenVariableKernel)
    assert (found.method, found.permutations, found.changed()[0]) == ("conditionals", 0, "smoke")
    assert found.p_value == min(share.p_corrected for share in found.by_variable.values()) < 0.02
    literal = distances(gram(found.kernel, *(found.kernel.rows(rows) for rows in (X, Y))), splits(200, 200, 1, 0))
    assert found.statistic == pytest.approx(literal[0], rel=1e-8)


def test_other_shares_of_missing_cells_raise_no_alarm() -> None:
    """One table is complete, and half of the cells of the other are missing completely at random."""
    alarms = (
        two_sample(ASIA.sample(100, seed=s), with_holes(ASIA, 400, s + 500, 0.5), permutations=99, seed=s).p_value
        <= 0.05
        for s in range(100)
    )
    assert_at_most(alarms, 0.05, fault=0.25)


def test_numbers_stay_numbers_alone_and_beside_labels() -> None:
    rng = np.random.default_rng(1)
    x, y = rng.normal(size=(2, 150, 2))
    y[:, 1] += 1.5 * y[:, 0]
    frames = [{"a": values[:, 0], "b": values[:, 1]} for values in (x, y)]
    found = two_sample(frames[0], frames[1], permutations=99, seed=1)
    assert all(variable.is_continuous for variable in found.kernel.model.variables)
    assert (found.p_value, found.by_configuration) == (0.01, ())
    labelled = [frame | {"c": ["u", "v"] * 75} for frame in frames]
    beside = two_sample(labelled[0], labelled[1], permutations=99, seed=1)
    assert beside.p_value == 0.01
    assert beside.kernel.model.values == "mixed"
    cut = two_sample(labelled[0], labelled[1], bins=4, permutations=19, seed=1)
    assert [variable.cardinality for variable in cut.kernel.model.variables if variable.name != "c"] == [4, 4]
    binned = two_sample(frames[0], frames[1], bins=3, permutations=19, seed=1)
    assert [v.cardinality for v in binned.kernel.model.variables] == [3, 3]


# ------------------------------------------------------------------------------------------------- other methods


@pytest.mark.filterwarnings("ignore::fishernet.base.errors.FishernetWarning")
def test_the_chi_squared_test_has_the_moments_of_the_centred_matrix() -> None:
    """Satterthwaite, literally: mean and variance of a sum of weighted chi-squared variables of all rows."""
    from scipy.stats import chi2

    kernel, X, Y = FisherKernel(MIXED), MIXED.sample(300, seed=1), MIXED.sample(200, seed=2)
    found = two_sample(X, Y, kernel, method="chi-square", seed=1)
    k, n = gram(kernel, X, Y), 500
    center = np.eye(n) - 1 / n
    k = center @ k @ center
    mean = np.trace(k) / (n - 1)
    variance = 2 * (k**2)[~np.eye(n, dtype=bool)].mean()
    scale, degrees = variance / 2 / mean, 2 * mean**2 / variance
    statistic = 300 * 200 / 500 * fn.compare.mmd(kernel, X, Y)
    assert found.p_value == pytest.approx(chi2.sf(statistic / scale, degrees), rel=1e-8)


@pytest.mark.parametrize("name", ["practical", "hidden variables", "Rbf", "empirical"])
@pytest.mark.filterwarnings("ignore::fishernet.base.errors.FishernetWarning")
def test_features_of_other_variance_have_no_chi_squared_shares(name: str) -> None:
    """Those of other metrics, and of rows with holes: no p-value of a variable would be right."""
    kernel, X, Y = CASES[name]
    found = two_sample(X, Y, kernel, method="chi-square", seed=1)
    assert (dict(found.by_variable), found.by_configuration) == ({}, ())


def test_the_chi_squared_test_warns_of_cells_without_rows() -> None:
    X, Y = ASIA.sample(100, seed=1), ASIA.sample(100, seed=2)
    with pytest.warns(FishernetWarning, match=r"in some cell, and a chi-squared distribution needs 5; method='perm"):
        two_sample(X, Y, FisherKernel(ASIA), method="chi-square", seed=1)


def test_the_test_by_blocks_is_the_linear_time_test_with_blocks_of_2() -> None:
    """The mean of h = k(x, x') + k(y, y') - k(x, y') - k(x', y) over pairs of pairs, but for the cross terms' mean."""
    kernel, X, Y = Rbf(FisherKernel(ASIA), 1.0), ASIA.sample(40, seed=1), ASIA.sample(60, seed=2)
    found = two_sample(X, Y, kernel, method="block", block_size=20, seed=1)
    assert found.method == "block"
    whole = two_sample(X, Y, kernel, method="block", block_size=2, seed=1)
    assert 0 < whole.p_value < 1
    assert math.isfinite(found.statistic)
    unbiased = 0.0
    for rows in (X, Y):
        k = kernel(rows)
        unbiased += (k.sum() - np.trace(k)) / (len(rows) * (len(rows) - 1))
    unbiased -= 2 * kernel(X, Y).mean()
    means = [two_sample(X, Y, kernel, method="block", block_size=20, seed=s).statistic for s in range(200)]
    error = np.std(means) / np.sqrt(len(means))
    assert abs(np.mean(means) - unbiased) < 5 * error


# ----------------------------------------------------------------------------------------------------- bad input


REFUSED: dict[str, tuple[Callable[[], Any], type[FishernetError], str]] = {
    "columns of the kernel": (
        lambda: two_sample(ASIA.sample(5, seed=1).select(["tub"]), ASIA.sample(5, seed=1), FisherKernel(ASIA)),
        SchemaError,
        "lacks",
    ),
    "no rows in X": (
        lambda: two_sample(ASIA.sample(5, seed=1)[:0], ASIA.sample(5, seed=1)),
        SchemaError,
        "^X has no rows, and a test compares rows with rows",
    ),
    "no rows in Y": (
        lambda: two_sample(ASIA.sample(5, seed=1), ASIA.sample(5, seed=1)[:0], FisherKernel(ASIA)),
        SchemaError,
        "^Y has no rows",
    ),
    "no strings": (lambda: two_sample([], ["a"], SpectrumKernel(1)), SchemaError, "^X has no rows"),
    "impossible rows": (
        lambda: two_sample(ASIA.sample(50, seed=1), SMOKERS.sample(5, seed=1), FisherKernel(SMOKERS)),
        ZeroProbabilityError,
        "smoke = 'no', which has probability 0",
    ),
    "no kernel": (
        lambda: two_sample(ASIA.sample(5, seed=1), ASIA.sample(5, seed=2), "fisher"),  # type: ignore[arg-type]
        SchemaError,
        "kernel must be a kernel, as fn.kernels.FisherKernel\\(net\\), not a str",
    ),
    "None": (lambda: two_sample(None, ASIA.sample(5, seed=1)), SchemaError, "X must be a table"),
    "None with a kernel": (lambda: two_sample(["a"], None, SpectrumKernel(1)), SchemaError, "Y must be a table"),
    "a network": (
        lambda: two_sample(ASIA, ASIA.sample(5, seed=1)),
        SchemaError,
        "compares rows, and X is a network; score_test takes one and a table",
    ),
    "strings without a kernel": (
        lambda: two_sample(["a"], ["b"]),
        SchemaError,
        "needs a Table or a data frame, not list",
    ),
    "holes": (
        lambda: two_sample(with_holes(ASIA, 50, 1, 0.2), ASIA.sample(5, seed=1), FisherKernel(ASIA)),
        MissingValueError,
        "HiddenVariableKernel.net., needs a table without missing cells; missing in 'asia'",
    ),
    "permutations": (
        lambda: two_sample(ASIA.sample(5, seed=1), ASIA.sample(5, seed=1), permutations=0),
        FishernetError,
        "permutations must be an integer from 1 to 1,000,000, got 0",
    ),
    "method": (
        lambda: two_sample(ASIA.sample(5, seed=1), ASIA.sample(5, seed=1), method="bootstrap"),  # type: ignore[arg-type]
        FishernetError,
        "unknown method 'bootstrap'; there are 'permutation', 'conditionals', 'chi-square', 'block'",
    ),
    "no conditionals": (
        lambda: two_sample(NUMBERS[:9], NUMBERS[9:40], GaussianKernel(1.0), method="conditionals"),
        FishernetError,
        "method='conditionals' tests the conditionals of a Bayesian network; it needs its Fisher kernel, or none",
    ),
    "large blocks": (
        lambda: two_sample(*CASES["Fisher"][1:], FisherKernel(ASIA), method="block", block_size=30),
        FishernetError,
        "needs two blocks of 30 rows of each table, and the smaller has 45; make block_size smaller",
    ),
    "small blocks": (
        lambda: two_sample(*CASES["Fisher"][1:], FisherKernel(ASIA), method="block", block_size=1),
        FishernetError,
        "block_size must be an integer of at least 2, got 1",
    ),
    "bins at different points": (
        lambda: two_sample(
            fn.Table.from_frame({"a": NUMBERS[:, 0]}, bins=3), fn.Table.from_frame({"a": NUMBERS[:, 1]}, bins=3)
        ),
        SchemaError,
        "none is fit for it: 'a' is cut into bins at different points in the two tables",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_with_what_to_do(name: str) -> None:
    call, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message):
        call()


def test_columns_of_one_table_alone_are_left_out_and_told() -> None:
    first, second = ASIA.sample(60, seed=1), ASIA.sample(60, seed=2)
    with pytest.warns(FishernetWarning, match="'asia' is only in the first table; 'xray' is only in the second table"):
        found = two_sample(first.select(["asia", "tub", "smoke"]), second.select(["tub", "smoke", "xray"]), seed=1)
    expected = two_sample(first.select(["tub", "smoke"]), second.select(["tub", "smoke"]), seed=1)
    assert (found.statistic, found.p_value) == (expected.statistic, expected.p_value)


def test_few_permutations_are_warned_of() -> None:
    kernel, X, Y = CASES["Fisher"]
    with pytest.warns(FishernetWarning, match=r"with 18 permutations no p-value is below 0\.0526; take 19 or more"):
        two_sample(X, Y, kernel, permutations=18, seed=1)


@pytest.mark.filterwarnings("ignore::fishernet.base.errors.FishernetWarning")
def test_one_row_a_side_has_p_1() -> None:
    """Two splits, each as far apart as the other."""
    X, Y = ASIA.sample(1, seed=1), ASIA.sample(1, seed=7)
    for kernel in (None, FisherKernel(ASIA), Rbf(FisherKernel(ASIA), 1.0)):
        assert two_sample(X, Y, kernel, permutations=30, seed=1).p_value == 1


# ------------------------------------------------------------------------------------------------------- the result


def test_the_frames_and_the_repr_say_what_was_found() -> None:
    found = two_sample(*CASES["Fisher of changed rows"][1:], FisherKernel(ASIA), permutations=99, seed=1)
    rows = found.to_frame().to_pylist()
    assert [row["variable"] for row in rows] == list(ASIA.names)
    assert [row["statistic"] for row in rows] == [share.statistic for share in found.by_variable.values()]
    cells = found.to_frame("configuration").to_pylist()
    assert [row["p_fdr"] for row in cells] == [share.p_fdr for share in found.by_configuration]
    assert any("=" in row["configuration"] for row in cells)
    assert repr(found).startswith("TwoSampleResult(p = 0.01, squared MMD ")
    assert "tell them apart: smoke" in repr(found)
    with pytest.raises(FishernetError, match="unknown by 'state'"):
        found.to_frame("state")  # type: ignore[arg-type]
    assert two_sample(UNEQUAL[:9], UNEQUAL[9:], SpectrumKernel(2), permutations=19, seed=1).to_frame().num_rows == 0
    assert found.changed(0.0) == ()
    assert set(found.changed(1.0)) == set(ASIA.names)


def test_progress_is_told() -> None:
    calls: list[tuple[str, int, int | None]] = []
    kernel, X, Y = CASES["Rbf"]
    two_sample(X, Y, kernel, permutations=99, seed=1, progress=lambda *told: calls.append(told))
    assert calls[-1][0] == "permutations"
