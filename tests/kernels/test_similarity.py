"""Similarities of categorical rows, against loops over rows and columns as the papers write them."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.base.vocabulary import SimilarityName
from fishernet.kernels import Normalized, Rbf, Similarity, has_features
from fishernet.kernels.similarity import MEASURES
from tests.reference.fisher import Floats
from tests.tables import random_table

Column = Sequence[int]
EVERY = pytest.mark.parametrize("measure", list(MEASURES))


# ------------------------------------------------------------------ the formulas, one pair of states at a time


def p2(column: Column, x: int) -> float:
    n, f = len(column), column.count(x)
    return f * (f - 1) / (n * (n - 1)) if n > 1 else 0.0


def overlap(column: Column, x: int, y: int) -> float:
    return float(x == y)


def eskin(column: Column, x: int, y: int) -> float:
    n_k = len(set(column))
    return 1.0 if x == y else n_k**2 / (n_k**2 + 2)


def iof(column: Column, x: int, y: int) -> float:
    return 1.0 if x == y else 1 / (1 + math.log(column.count(x)) * math.log(column.count(y)))


def of(column: Column, x: int, y: int) -> float:
    n = len(column)
    return 1.0 if x == y else 1 / (1 + math.log(n / column.count(x)) * math.log(n / column.count(y)))


def goodall1(column: Column, x: int, y: int) -> float:
    return 1 - sum(p2(column, q) for q in set(column) if column.count(q) <= column.count(x)) if x == y else 0.0


def goodall2(column: Column, x: int, y: int) -> float:
    return 1 - sum(p2(column, q) for q in set(column) if column.count(q) >= column.count(x)) if x == y else 0.0


def goodall3(column: Column, x: int, y: int) -> float:
    return 1 - p2(column, x) if x == y else 0.0


def goodall4(column: Column, x: int, y: int) -> float:
    return p2(column, x) if x == y else 0.0


FORMULAS: dict[str, Callable[[Column, int, int], float]] = {
    "overlap": overlap,
    "eskin": eskin,
    "of": of,
    "iof": iof,
    "goodall1": goodall1,
    "goodall2": goodall2,
    "goodall3": goodall3,
    "goodall4": goodall4,
}


def by_columns(measure: SimilarityName, columns: Sequence[Column], x: Column, y: Column) -> float:
    pairs = zip(columns, x, y, strict=True)
    return sum(FORMULAS[measure](column, a, b) for column, a, b in pairs) / len(columns)


def lin(columns: Sequence[Column], x: Column, y: Column) -> float:
    above = below = 0.0
    for column, a, b in zip(columns, x, y, strict=True):
        p, q = column.count(a) / len(column), column.count(b) / len(column)
        above += 2 * math.log(p) if a == b else 2 * math.log(p + q)
        below += math.log(p) + math.log(q)
    return above / below if below else 0.0


def entropy(column: Sequence[Any]) -> float:
    shares = [column.count(x) / len(column) for x in set(column)]
    return -sum(share * math.log(share) for share in shares)


def condist(columns: Sequence[Column], x: Column, y: Column) -> float:
    """1 - ConDist over the sum of the weights, every state of a column looked at."""
    distance = weights = 0.0
    for own, a, b in zip(columns, x, y, strict=True):
        context = []
        for other in columns:
            gained = entropy(own)
            for state in set(other):
                part = [u for u, v in zip(own, other, strict=True) if v == state]
                gained -= len(part) / len(own) * entropy(part)
            correlation = 1.0 if other is own else gained / entropy(own) if entropy(own) else 0.0
            if correlation >= 0.05:
                context.append((correlation * (1 - correlation / 2) ** 2, other))

        def apart(u: int, v: int, own: Column = own, context: Any = context) -> float:
            total = 0.0
            for impact, other in context:
                squares = 0.0
                for state in set(other):
                    shares = []
                    for given in (u, v):
                        part = [t for s, t in zip(own, other, strict=True) if s == given]
                        shares.append(part.count(state) / len(part))
                    squares += (shares[0] - shares[1]) ** 2
                total += impact * math.sqrt(squares)
            return total

        most = max(apart(u, v) for u in set(own) for v in set(own))
        weight = 1 + sum(impact for impact, _ in context) / (len(columns) * 8 / 27)
        weights += weight
        distance += weight * (apart(a, b) / most if most else 0.0)
    return 1 - distance / weights


def literal(measure: SimilarityName, table: fn.Table) -> Floats:
    columns = [column.tolist() for column in table.codes]
    rows = list(zip(*columns, strict=True))
    special = {"lin": lin, "condist": condist}.get(measure)
    values = [[special(columns, x, y) if special else by_columns(measure, columns, x, y) for y in rows] for x in rows]
    return np.array(values)


def made(variables: Sequence[Any], columns: Sequence[Any], weights: Any = None) -> fn.Table:
    return fn.Table.from_codes(np.stack(columns, axis=1), variables, weights=weights)


def full_table(seed: int, n_rows: int, cardinalities: list[int]) -> fn.Table:
    """A table in which every state of every column occurs."""
    table = random_table(seed, n_rows, cardinalities)
    columns = [np.unique(column, return_inverse=True)[1] for column in table.codes]
    sizes = [int(column.max()) + 1 for column in columns]
    variables = [fn.Variable(f"v{k}", list(range(size))) for k, size in enumerate(sizes)]
    return made(variables, columns)


@EVERY
@pytest.mark.parametrize(
    ("n_rows", "cardinalities"), [(25, [2, 3, 5, 4]), (40, [1, 2, 3]), (7, [6]), (1, [2, 3]), (9, [1, 1]), (2, [2, 2])]
)
def test_values_are_those_of_the_formulas(measure: SimilarityName, n_rows: int, cardinalities: list[int]) -> None:
    for seed in range(3):
        table = full_table(seed, n_rows, cardinalities)
        np.testing.assert_allclose(Similarity(table, measure)(table), literal(measure, table), rtol=1e-10, atol=1e-12)


def test_a_worked_example() -> None:
    """A column of states a, a, a, b, b, c: by hand."""
    table = fn.Table.from_frame({"x": list("aaabbc")})
    one = table[np.array([0, 3, 5])]
    values: dict[SimilarityName, list[float]] = {
        "overlap": [1, 1, 1, 0],
        "eskin": [1, 1, 1, 9 / 11],
        "goodall1": [1 - 8 / 30, 1 - 2 / 30, 1, 0],
        "goodall2": [1 - 6 / 30, 1 - 8 / 30, 1 - 8 / 30, 0],
        "goodall3": [1 - 6 / 30, 1 - 2 / 30, 1, 0],
        "goodall4": [6 / 30, 2 / 30, 0, 0],
        "iof": [1, 1, 1, 1 / (1 + math.log(3) * math.log(2))],
        "of": [1, 1, 1, 1 / (1 + math.log(2) * math.log(3))],
        "lin": [1, 1, 1, 2 * math.log(5 / 6) / (math.log(1 / 2) + math.log(1 / 3))],
        "condist": [1, 1, 1, 0],
    }
    assert set(values) == set(MEASURES)
    for measure, (aa, bb, cc, ab) in values.items():
        found = Similarity(table, measure)(one)
        np.testing.assert_allclose([*np.diag(found), found[0, 1]], [aa, bb, cc, ab], rtol=1e-12, err_msg=measure)


# ------------------------------------------------------------------------------- weights, missing cells, labels


@EVERY
def test_a_row_of_weight_two_is_two_rows(measure: SimilarityName) -> None:
    table = full_table(0, 30, [3, 4, 2])
    weights = np.random.default_rng(0).integers(1, 4, size=30)
    weighted = made(table.variables, table.codes, weights=weights)
    repeated = table[np.repeat(np.arange(30), weights)]
    expected = Similarity(repeated, measure)(table)
    np.testing.assert_allclose(Similarity(weighted, measure)(table), expected, rtol=1e-12, atol=1e-14)


@EVERY
def test_weights_may_be_fractions(measure: SimilarityName) -> None:
    table = full_table(0, 30, [3, 4, 2])
    for scale in (1e-6, 0.02, 1.5):
        weighted = made(table.variables, table.codes, weights=np.full(30, scale))
        found = Similarity(weighted, measure)(table)
        assert np.isfinite(found).all()
        assert found.min() >= 0
        assert found.max() <= 1 + 1e-12


@EVERY
def test_a_missing_cell_adds_nothing(measure: SimilarityName) -> None:
    table = full_table(1, 40, [3, 4, 2])
    rows = made(table.variables, [table.codes[0], np.full(40, 4), table.codes[2]])
    kernel = Similarity(table, measure)
    columns = [column.tolist() for column in table.codes]
    x, y = 0, next(k for k in range(40) if columns[2][k] != columns[2][0])
    if measure in FORMULAS:
        parts = [FORMULAS[measure](columns[k], columns[k][x], columns[k][y]) for k in (0, 2)]
        assert kernel(rows)[x, y] == pytest.approx(sum(parts) / 3, rel=1e-12)
    elif measure == "lin":
        pair = [columns[0], columns[2]]
        expected = lin(pair, [column[x] for column in pair], [column[y] for column in pair])
        assert kernel(rows)[x, y] == pytest.approx(expected, rel=1e-12)
    nothing = made(table.variables, [np.full(2, v.cardinality) for v in table.variables])
    np.testing.assert_array_equal(kernel(nothing, table), np.zeros((2, 40)))
    np.testing.assert_array_equal(kernel(nothing), np.zeros((2, 2)))
    assert Similarity(rows, measure)(rows).shape == (40, 40)  # a column of which nothing is known


@EVERY
def test_frequencies_are_those_of_the_cells_that_are_there(measure: SimilarityName) -> None:
    table = full_table(2, 40, [3])
    holes = made(table.variables, [np.concatenate([table.codes[0], np.full(9, 3)])])
    np.testing.assert_array_equal(Similarity(holes, measure)(table), Similarity(table, measure)(table))


@EVERY
def test_a_state_that_does_not_occur_counts_as_one_row_more(measure: SimilarityName) -> None:
    table = fn.Table.from_frame({"x": list("aaabb")}, schema=[fn.Variable("x", list("abc"))])
    rows = fn.Table.from_frame({"x": list("abc")}, schema=table.variables)
    more = fn.Table.from_frame({"x": list("aaabbc")})
    np.testing.assert_allclose(Similarity(table, measure)(rows), Similarity(more, measure)(rows), rtol=1e-12)


def test_labels_that_nobody_has_are_refused_or_missing() -> None:
    table = fn.Table.from_frame({"x": list("aab"), "y": list("uvu")})
    other = fn.Table.from_frame({"x": ["z"], "y": ["u"]})
    with pytest.raises(fn.UnknownStateError, match="'z'"):
        Similarity(table, "lin")(other)
    assert Similarity(table, "overlap", unknown="missing")(other, table).tolist() == [[0.5, 0.0, 0.5]]


def test_frames_are_matched_by_names_and_labels() -> None:
    frame = {"x": list("aab"), "y": list("uvu")}
    kernel = Similarity(frame, "goodall3")
    turned = {"y": ["u"], "more": [1.5], "x": ["b"]}
    np.testing.assert_array_equal(kernel(turned, frame), kernel(frame)[2:])


# ---------------------------------------------------------------------------------------- what kind of kernel it is


@EVERY
@pytest.mark.parametrize("seed", range(4))
def test_those_that_say_so_are_positive_semidefinite(measure: SimilarityName, seed: int) -> None:
    """All combinations of states of columns with very unequal frequencies."""
    rng = np.random.default_rng(seed)
    p = [rng.dirichlet(np.full(r, 0.3)) for r in (6, 4)]
    columns = [rng.choice(len(of), p=of, size=500) for of in p]
    variables = [fn.Variable(f"v{k}", list(range(len(of)))) for k, of in enumerate(p)]
    kernel = Similarity(made(variables, columns), measure)
    states = np.array([[a, b] for a in range(7) for b in range(5)])  # the last of each is a missing cell
    values = np.linalg.eigvalsh(kernel(fn.Table.from_codes(states, variables)))
    assert not kernel.is_semidefinite or values.min() >= -1e-12 * values.max()


@pytest.mark.parametrize(
    ("measure", "times"),
    [("of", [10**9, 1, 1]), ("iof", [1, 10**9, 10**9])],
)
def test_those_of_occurrence_are_not(measure: SimilarityName, times: list[int]) -> None:
    """Two states are nearly unlike, and a third is like both of them."""
    table = made([fn.Variable("x", list("abc"))], [np.arange(3)], weights=times)
    kernel = Similarity(table, measure)
    assert not kernel.is_semidefinite
    assert np.linalg.eigvalsh(kernel(table)).min() < -0.1


def test_condist_is_not_but_its_radial_functions_are() -> None:
    """One state in the middle of many that are equally far apart."""
    n = 200
    corners = np.repeat(np.arange(n), 20)
    columns = [np.concatenate([corners, np.full(n, n)]), np.concatenate([corners, np.arange(n)])]
    variables = [fn.Variable("x", list(range(n + 1))), fn.Variable("y", list(range(n)))]
    kernel = Similarity(made(variables, columns), "condist")
    rows = made(variables, [np.arange(n + 1), np.zeros(n + 1, dtype=int)])
    half = made(variables, [np.arange(n + 1), np.full(n + 1, n)])
    assert not kernel.is_semidefinite
    assert np.linalg.eigvalsh(kernel(half)).min() < -0.1
    assert np.linalg.eigvalsh(Rbf(kernel, 0.5)(rows)).min() > -1e-12


def test_features_are_named_by_what_differs() -> None:
    table = full_table(0, 30, [3, 4, 2])
    sizes = sum(v.cardinality for v in table.variables)
    kernels = [Similarity(table, name) for name in MEASURES]
    dimensions = {
        name: kernel.dimension for name, kernel in zip(MEASURES, kernels, strict=True) if has_features(kernel)
    }
    assert dimensions == {"overlap": sizes, "eskin": sizes + 3, **{f"goodall{k}": sizes for k in range(1, 5)}}
    assert fn.compare.mmd(Similarity(table, "lin"), table, table[:10]) >= 0


def test_overlap_selects_rows_with_the_shares_of_the_table() -> None:
    table = full_table(0, 400, [2, 3])
    chosen = fn.select.greedy_mmd(Similarity(table, "overlap"), table, 20, seed=1)
    for column in table.codes:
        shares = np.bincount(column) / len(column)
        np.testing.assert_allclose(np.bincount(column[chosen.indices], minlength=len(shares)) / 20, shares, atol=0.06)
    assert fn.select.similar(Similarity(table, "lin"), table, 3, n=2).cosines[0] == pytest.approx(1.0)


@pytest.mark.parametrize("measure", ["overlap", "of", "lin"])
def test_many_states_and_many_rows_are_taken_in_parts(measure: SimilarityName) -> None:
    rng = np.random.default_rng(0)
    variables = [fn.Variable("id", list(range(700))), fn.Variable("x", list("abc"))]
    table = made(variables, [rng.integers(0, 700, 2500), rng.integers(0, 3, 2500)])
    kernel = Similarity(table, measure)
    gram = kernel(table)
    np.testing.assert_array_equal(gram, gram.T)
    some = rng.integers(0, 2500, 40)
    np.testing.assert_allclose(kernel(table[some]), gram[np.ix_(some, some)], rtol=1e-12)
    np.testing.assert_allclose(Normalized(kernel).diag(table), 1.0)


# ------------------------------------------------------------------------------------------------------ refusals


def test_wrong_calls_are_refused() -> None:
    table = full_table(0, 10, [2, 3])
    with pytest.raises(fn.SchemaError, match="unknown measure 'jaccard'; there are 'overlap'"):
        Similarity(table, "jaccard")  # type: ignore[arg-type]
    with pytest.raises(fn.SchemaError, match="'h' is continuous: cut it into bins"):
        Similarity({"h": [1.5, 2.5]}, "lin")
    with pytest.raises(fn.SchemaError, match="row of positive weight"):
        Similarity(table[:0], "lin")
    with pytest.raises(fn.SchemaError, match="with columns"):
        Similarity(table.select([]), "lin")
    with pytest.raises(fn.SchemaError, match="Table or a data frame"):
        Similarity([[1, 2]], "lin")
    many = made([fn.Variable("id", list(range(12_000)))], [np.arange(12_000)])
    with pytest.raises(fn.StateSpaceError, match="nearly all different"):
        Similarity(many, "lin")
    assert Similarity(table, "Goodall3").measure == "goodall3"  # type: ignore[arg-type]
