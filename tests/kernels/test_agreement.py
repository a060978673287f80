"""Agreement of rows whose cells may be drawn again, held to sums over all that may be drawn."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from scipy.stats import norm

import fishernet as fn
from tests.networks import random_network


def joint(net: Any) -> dict[tuple[int, ...], float]:
    cells = list(product(*(range(v.cardinality) for v in net.variables)))
    if net.likelihood != "exact":
        return {cell: float(POTENTIAL[cell] / POTENTIAL.sum()) for cell in cells}
    return dict(zip(cells, np.exp(net.log_prob(np.array(cells))), strict=True))


def read_again(net: Any, row: tuple[int, ...], v: int, redrawn: float) -> np.ndarray:
    """P(x'_v) for a row of codes, -1 for a missing cell, by summing over all rows."""
    given = np.zeros(net.variables[v].cardinality)
    for cells, p in joint(net).items():
        if all(cell in (row[u], cells[u]) and (row[u] in (-1, cells[u])) for u, cell in enumerate(cells) if u != v):
            given[cells[v]] += p
    given /= given.sum()
    return given if row[v] == -1 else (1 - redrawn) * np.eye(len(given))[row[v]] + redrawn * given


def beyond(variable: fn.Variable, q: np.ndarray, p: np.ndarray) -> np.ndarray:
    """q less p, or where states have an order up to each bound, with the bound's share."""
    if not variable.is_ordered or len(p) < 2:
        return np.asarray(q - p)
    shares = np.array([p[j] + p[j + 1] for j in range(len(p) - 1)])
    sums = np.array([(q[: j + 1] - p[: j + 1]).sum() for j in range(len(p) - 1)])
    return np.asarray(sums * np.sqrt(2 * shares / shares.sum()))


def expected(net: Any, x: tuple[int, ...], y: tuple[int, ...], redrawn: float) -> float:
    total = 0.0
    for v, variable in enumerate(net.variables):
        p = np.zeros(variable.cardinality)
        for cells, probability in joint(net).items():
            p[cells[v]] += probability
        of_x, of_y = (beyond(variable, read_again(net, row, v, redrawn), p) for row in (x, y))
        total += of_x @ of_y
    return total / len(net.variables)


NET = random_network(3, [2, 3, 1, 2])
POTENTIAL = np.array([[3.0, 1.0, 0.5], [0.2, 2.0, 1.0]])  # of a Markov network


@pytest.mark.parametrize("redrawn", [0, 0.3, 1])
def test_of_labels_it_is_the_sum_over_all_that_may_be_drawn(redrawn: float) -> None:
    rows = [(0, 2, 0, 1), (1, 0, 0, 0), (0, 1, 0, 1)]
    found = fn.kernels.AgreementKernel(NET, redrawn=redrawn)(np.array(rows))
    np.testing.assert_allclose(found, [[expected(NET, x, y, redrawn) for y in rows] for x in rows], atol=1e-12)


def test_rows_are_as_unlike_as_cells_that_differ_and_bounds_between_states() -> None:
    """The squared distance is twice the mean share: 1 where labels differ, of states in order that of the bounds."""
    colour, size = fn.Variable("colour", ["red", "blue", "green"]), fn.Variable("size", ["low", "medium", "high"])
    net = fn.BayesianNetwork.from_tables([colour, size], {}, {"colour": [0.2, 0.3, 0.5], "size": [0.5, 0.3, 0.2]})
    kernel = fn.kernels.AgreementKernel(net)
    x = fn.Table.from_codes(np.array([[0, 0], [1, 0], [0, 1], [0, 2], [2, 1]]), net.variables)
    squared = kernel.diag(x)[0] + kernel.diag(x) - 2 * kernel(x)[0]
    np.testing.assert_allclose(squared, [0, 1, 0.8 / 1.3, 1, 1 + 0.8 / 1.3], atol=1e-12)


def test_a_state_for_missing_cells_has_no_place_in_the_order() -> None:
    size = fn.Variable("size", ["low", "high", "missing"])
    kernel = fn.kernels.AgreementKernel(fn.BayesianNetwork.from_tables([size], {}, {"size": [0.5, 0.3, 0.2]}))
    rows = np.array([[0], [1], [2]])
    squared = kernel.diag(rows)[0] + kernel.diag(rows) - 2 * kernel(rows)[0]
    np.testing.assert_allclose(squared, [0, 2, 2], atol=1e-12)


def test_missing_cells_are_always_drawn() -> None:
    rows = [(0, -1, 0, 1), (1, 0, -1, -1), (-1, -1, -1, -1), (0, 1, 0, 1)]
    cells = {
        variable.name: [None if row[v] == -1 else variable.states[row[v]] for row in rows]
        for v, variable in enumerate(NET.variables)
    }
    found = fn.kernels.AgreementKernel(NET, redrawn=0.4)(pa.table(cells))
    np.testing.assert_allclose(found, [[expected(NET, x, y, 0.4) for y in rows] for x in rows], atol=1e-12)
    assert found[2] == pytest.approx(0, abs=1e-12)  # of a row without a cell nothing is beyond chance


def test_of_a_markov_network() -> None:
    a, b = fn.Variable("a", ["0", "1"]), fn.Variable("b", ["0", "1", "2"])
    net = fn.MarkovNetwork([a, b], [(["a", "b"], POTENTIAL)])
    rows = [(0, 0), (1, 2), (1, 0)]
    found = fn.kernels.AgreementKernel(net, redrawn=0.5)(np.array(rows))
    np.testing.assert_allclose(found, [[expected(net, x, y, 0.5) for y in rows] for x in rows], atol=1e-12)


def test_features_have_mean_zero_under_the_network() -> None:
    cells = np.array(list(joint(NET)))
    kernel = fn.kernels.AgreementKernel(NET, redrawn=0.5)
    weights = np.array(list(joint(NET).values()))
    np.testing.assert_allclose(weights @ kernel.features(cells), 0, atol=1e-12)


def test_numbers_agree_by_rank() -> None:
    net = fn.BayesianNetwork.from_regressions(fn.Dag.from_edges(["x"], []), [3.0], [[]], [2.0])
    rows = net.sample(20_000, seed=1)
    kernel = fn.kernels.AgreementKernel(net, redrawn=0)
    low, middle, high = fn.Table.from_frame({"x": [3.0 - 60]}), fn.Table.from_frame({"x": [3.0]}), rows
    ranks = np.sort(rows.column("x"))
    of_rows = np.searchsorted(ranks, rows.column("x")) / rows.n_rows
    squared = kernel.diag(high) + kernel.diag(low) - 2 * kernel(high, low)[:, 0]
    np.testing.assert_allclose(squared, 2 * of_rows, atol=2 / 31)  # 2 (1 - likeness), to the bounds
    assert kernel(middle, middle)[0, 0] < kernel(low, low)[0, 0]


OF_MIXED: dict[str, Any] = {
    "sex": [0.4, 0.6],
    "height": {"intercept": [166, 180], "coefficients": [[], []], "sd": [6, 7]},
    "weight": {"intercept": [-60, -70], "coefficients": [[0.7], [0.8]], "sd": [8, 9]},
}
MIXED = fn.BayesianNetwork.from_tables(
    [fn.Variable("sex", ["f", "m"]), fn.Continuous("height"), fn.Continuous("weight")],
    {"height": ["sex"], "weight": ["sex", "height"]},
    OF_MIXED,
)


def test_of_labels_and_numbers_it_asks_the_network() -> None:
    frame: dict[str, list[Any]] = {
        "sex": ["f", "m", None],
        "height": [170.0, None, 181.0],
        "weight": [55.0, 90.0, 70.0],
    }
    table = pa.table(frame)
    kernel = fn.kernels.AgreementKernel(MIXED, redrawn=0.25)
    found, parts = kernel.features(table), kernel.feature_parts.variable_of
    for i in range(3):
        row = {name: cells[i] for name, cells in frame.items() if cells[i] is not None}
        for v, name in enumerate(MIXED.names):
            rest = {key: cell for key, cell in row.items() if key != name}
            posterior, prior = MIXED.query(name, given=rest), MIXED.query(name)
            redrawn = 0.25 if name in row else 1.0
            if name == "sex":
                sure = np.array([row.get(name) == state for state in ("f", "m")])
                q = (1 - redrawn) * sure + redrawn * posterior.array
                feature = (q - [0.4, 0.6]) / np.sqrt(3)
            else:
                shares = np.arange(1, 32) / 32
                bounds = [prior.quantile(share) for share in shares]
                below = np.array([posterior.probability(-np.inf, bound) for bound in bounds])
                sure = np.array([row.get(name, np.nan) < bound for bound in bounds])
                feature = ((1 - redrawn) * sure + redrawn * below - shares) * np.sqrt(2 / 31 / 3)
            np.testing.assert_allclose(found[i, parts == v], feature, atol=1e-9)


def test_of_numbers_alone_it_is_that_of_the_same_network_with_labels_beside() -> None:
    net = fn.BayesianNetwork.from_regressions(
        fn.Dag.from_edges(["x", "y"], [("x", "y")]), [0.0, 1.0], [[], [2.0]], [1.0, 0.5]
    )
    rows = pa.table({"x": [0.5, None, -1.0], "y": [1.2, 2.0, None]})
    found = fn.kernels.AgreementKernel(net, redrawn=0.5).features(rows)
    shares = np.arange(1, 32) / 32
    for i, (x, y) in enumerate([(0.5, 1.2), (None, 2.0), (-1.0, None)]):
        for v, (name, cell, rest) in enumerate((("x", x, {"y": y}), ("y", y, {"x": x}))):
            given = {key: value for key, value in rest.items() if value is not None}
            d, marginal = net.query(name, given=given), net.query(name)
            bounds = norm.ppf(shares, marginal.mean[0], marginal.sd[0])
            below = norm.cdf(bounds, d.mean[0], d.sd[0])
            q = below if cell is None else 0.5 * (cell < bounds) + 0.5 * below
            np.testing.assert_allclose(found[i, 31 * v : 31 * v + 31], (q - shares) * np.sqrt(2 / 62), atol=1e-9)


def test_it_says_what_each_variable_adds() -> None:
    kernel = fn.kernels.AgreementKernel(NET)
    rows = NET.sample(12, seed=1)
    assert kernel.term_names == NET.names
    np.testing.assert_allclose(kernel.terms(rows, rows[:5]).sum(axis=0), kernel(rows, rows[:5]), atol=1e-12)
    found = fn.select.similar(NET, rows, 3, n=4)
    np.testing.assert_allclose(found.by_variable.sum(axis=1), found.cosines, atol=1e-12)
    assert found.indices.tolist() == fn.select.similar(kernel, rows, 3, n=4).indices.tolist()
    assert fn.select.nearest(NET, rows, n=2).indices.tolist() == fn.select.nearest(kernel, rows, n=2).indices.tolist()


def test_a_number_below_very_many_labels_has_the_bounds_of_drawn_rows() -> None:
    rng = np.random.default_rng(1)
    labels = [fn.Variable(name, list(range(30))) for name in "abc"]
    tables: dict[str, Any] = {label.name: rng.dirichlet(np.ones(30)) for label in labels}
    level = rng.normal(0, 3, (30, 30, 30))
    tables["x"] = {"intercept": level, "coefficients": np.zeros((30, 30, 30, 0)), "sd": np.ones((30, 30, 30))}
    net = fn.BayesianNetwork.from_tables([*labels, fn.Continuous("x")], {"x": ["a", "b", "c"]}, tables)
    kernel = fn.kernels.AgreementKernel(net)
    of_x = kernel.feature_parts.variable_of == 3
    found = kernel.features(net.sample(20_000, seed=2))[:, of_x] * np.sqrt(4 * 31 / 2)
    assert np.abs(found.mean(axis=0)).max() < 0.02  # shares of rows up to bounds, five standard errors of both


def test_where_marginals_are_too_large_they_are_counted_in_drawn_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = fn.kernels.AgreementKernel(MIXED).features(MIXED.sample(20, seed=1))
    original = fn.BayesianNetwork.query

    def refused(self: Any, *names: Any, **options: Any) -> Any:
        if names == ("sex",):
            raise fn.StateSpaceError("the tables", cells=2**60, limit=2**28, remedy="sample")
        return original(self, *names, **options)

    monkeypatch.setattr(fn.BayesianNetwork, "query", refused)
    found = fn.kernels.AgreementKernel(MIXED).features(MIXED.sample(20, seed=1))
    assert np.abs(found - exact).max() < 0.01  # five standard errors of 2^16 rows
    assert (found != exact).any()


def test_what_does_not_fit() -> None:
    with pytest.raises(fn.FishernetError) as info:
        fn.kernels.AgreementKernel(NET, redrawn=1.5)
    assert info.value.parameter == "redrawn"
    dependency = fn.learn.dependency_network(NET.sample(50, seed=1))
    with pytest.raises(fn.SchemaError, match="BayesianNetwork or a MarkovNetwork"):
        fn.kernels.AgreementKernel(dependency)
    with pytest.raises(fn.SchemaError, match="needs a kernel"):
        fn.select.similar(NET.sample(5, seed=1), NET.sample(5, seed=1), 0)  # type: ignore[arg-type]
