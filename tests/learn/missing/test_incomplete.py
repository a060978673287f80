"""Parameters from rows with missing cells and hidden variables: closed forms, climbing, gradients, and brute force."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError, SchemaError, StateSpaceError, ZeroProbabilityError
from fishernet.learn.missing.incomplete import AvailableCases
from tests.infer.test_completion import known
from tests.networks import networks, random_network, with_holes
from tests.reference import inference as reference


def brute_force_step(net: fn.BayesianNetwork, table: fn.Table, prior: float) -> list[npt.NDArray[np.float64]]:
    """One step of EM: expected counts summed over all joint states, then shares."""
    w = np.ones(table.n_rows) if table.weights is None else table.weights
    counts: list[Any] = [0.0] * len(net.variables)
    for row in range(table.n_rows):
        for child, marginal in enumerate(reference.family_marginals(net, known(net, table, row))):
            counts[child] = counts[child] + w[row] * marginal
    smoothed = [np.asarray(c) + prior for c in counts]
    return [c / c.sum(axis=-1, keepdims=True) for c in smoothed]


@given(networks(most_variables=4, positive=True), st.integers(0, 2**32), st.sampled_from([0.2, 0.5]), st.booleans())
def test_a_step_is_the_expected_counts_divided(
    net: fn.BayesianNetwork, seed: int, missing: float, weighted: bool
) -> None:
    table = with_holes(net, 9, seed, missing)
    if weighted:
        table = fn.Table(net.variables, table.codes, weights=np.random.default_rng(seed).random(9) + 0.1)
    if any((c == v.cardinality).all() for v, c in zip(net.variables, table.codes, strict=True)):
        return
    found = fn.learn.em_fit(net.dag, table, start=net, smoothing=0.5, max_steps=1, tolerance=0)
    for conditional, wanted in zip(found.model.conditionals, brute_force_step(net, table, 0.5), strict=True):
        np.testing.assert_allclose(conditional.table(), wanted, rtol=1e-9)


@given(networks(most_variables=5), st.integers(0, 2**32))
def test_complete_data_need_one_step(net: fn.BayesianNetwork, seed: int) -> None:
    """The first step is the closed form, and the second changes nothing."""
    table = net.sample(20, seed=seed)
    found = fn.learn.em_fit(net.dag, table, start=net, smoothing=1.0, accelerate=False)
    exact = fn.learn.parameters(net.dag, table)
    for a, b in zip(found.model.conditionals, exact.conditionals, strict=True):
        np.testing.assert_allclose(a.probabilities, b.table().reshape(a.probabilities.shape), rtol=1e-12)
    assert found.converged
    assert len(found.trace) <= 3


@pytest.mark.parametrize("accelerate", [False, True])
@given(networks(most_variables=5), st.integers(0, 2**32), st.sampled_from([0.2, 0.6]), st.sampled_from([0.0, 1.0]))
def test_the_objective_never_falls(
    accelerate: bool, net: fn.BayesianNetwork, seed: int, missing: float, smoothing: float
) -> None:
    table = with_holes(net, 15, seed, missing)
    if any((c == v.cardinality).all() for v, c in zip(net.variables, table.codes, strict=True)):
        return
    found = fn.learn.em_fit(net.dag, table, smoothing=smoothing, accelerate=accelerate, max_steps=40)
    assert (np.diff(found.trace) >= -1e-9 * abs(found.trace[0])).all()
    assert found.log_likelihood == pytest.approx(found.model.log_prob(table).sum(), rel=1e-9)


def log_posterior(net: fn.BayesianNetwork, table: fn.Table, prior: float) -> float:
    likelihood = sum(reference.log_evidence(net, known(net, table, row)) for row in range(table.n_rows))
    return likelihood + prior * sum(float(np.log(c.probabilities).sum()) for c in net.conditionals)


@pytest.mark.parametrize("hidden", [False, True])
def test_it_ends_where_the_gradient_is_zero(hidden: bool) -> None:
    """The derivative of the log-posterior along each pair of states of each row, by central differences."""
    net = random_network(5, [2, 3, 2, 2], sharp=2.0)
    table = with_holes(net, 40, 2, 0.3)
    asked: dict[str, Any] = {}
    if hidden:
        table, asked = table.select(["v0", "v1", "v3"]), {"hidden": {"v2": 2}, "restarts": 2, "seed": 1}
    found = fn.learn.em_fit(net.dag, table, smoothing=0.3, tolerance=1e-14, max_steps=20_000, **asked)
    assert found.converged
    whole = table if not hidden else _with_hidden(found.model, table)
    step = 1e-5
    for child, conditional in enumerate(found.model.conditionals):
        theta = conditional.probabilities
        for row, (a, b) in itertools.product(range(len(theta)), itertools.combinations(range(theta.shape[1]), 2)):
            values = []
            for sign in (1, -1):
                moved = theta.copy()
                moved[row, a] += sign * step
                moved[row, b] -= sign * step
                values.append(log_posterior(_with_table(found.model, child, moved), whole, 0.3))
            assert abs(values[0] - values[1]) / (2 * step) < 1e-2, (child, row, a, b)


def _with_table(net: fn.BayesianNetwork, child: int, table: npt.NDArray[np.float64]) -> fn.BayesianNetwork:
    tables = {c.name: c.table() for c in net.conditionals}
    name = net.names[child]
    tables[name] = table.reshape(tables[name].shape)
    parents = {c.name: [net.names[p] for p in c.parents] for c in net.conditionals}
    return fn.BayesianNetwork.from_tables(net.variables, parents, tables)


def _with_hidden(net: fn.BayesianNetwork, table: fn.Table) -> fn.Table:
    columns = [
        table.column(v.name) if v.name in table.names else np.full(table.n_rows, v.cardinality, dtype=v.dtype)
        for v in net.variables
    ]
    return fn.Table(net.variables, columns)


def test_two_hidden_classes_are_found_again() -> None:
    """Lazarsfeld's latent classes: six answers that a class of two explains; the shares come back up to a renaming."""
    variables = [fn.Variable("class", [0, 1]), *(fn.Variable(f"a{i}", ["no", "yes"]) for i in range(6))]
    tables = {"class": np.array([0.7, 0.3])} | {f"a{i}": np.array([[0.9, 0.1], [0.15, 0.85]]) for i in range(6)}
    net = fn.BayesianNetwork.from_tables(variables, {f"a{i}": ["class"] for i in range(6)}, tables)
    seen = net.sample(20_000, seed=1).select([f"a{i}" for i in range(6)])
    found = fn.learn.em_fit(net.dag, seen, hidden={"class": 2}, restarts=3, seed=4, smoothing=0).model
    shares = np.sort(found.conditional("class").probabilities[0])
    np.testing.assert_allclose(shares, [0.3, 0.7], atol=0.02)
    yes = np.sort(found.conditional("a3").probabilities[:, 1])
    np.testing.assert_allclose(yes, [0.1, 0.85], atol=0.04)


def test_the_same_seed_finds_the_same_network() -> None:
    net = random_network(8, [2, 2, 3, 2])
    table = net.sample(100, seed=1).select(["v0", "v2", "v3"])
    fits = [fn.learn.em_fit(net.dag, table, hidden={"v1": 2}, restarts=3, seed=7) for _ in range(2)]
    assert fits[0].model == fits[1].model
    assert fits[0].restarts == fits[1].restarts


def test_a_row_without_mass_keeps_its_start() -> None:
    a, b = fn.Variable("a", ["x", "y"]), fn.Variable("b", [0, 1])
    dag = fn.Dag.from_edges(["a", "b"], [("a", "b")])
    start = fn.BayesianNetwork.from_tables([a, b], {"b": ["a"]}, {"a": [0.5, 0.5], "b": [[0.5, 0.5], [0.25, 0.75]]})
    table = fn.Table.from_frame({"a": ["x", "x"], "b": [0, None]}, schema=[a, b])
    found = fn.learn.em_fit(dag, table, smoothing=0, start=start).model
    np.testing.assert_allclose(found.conditional("b").probabilities[1], [0.25, 0.75])
    np.testing.assert_allclose(found.conditional("a").probabilities, [[1.0, 0.0]])


A, B = fn.Variable("a", ["x", "y"]), fn.Variable("b", [0, 1])
CHAIN = fn.Dag.from_edges(["a", "b"], [("a", "b")])
ROWS = fn.Table.from_frame({"a": ["x", "y", None], "b": [0, 1, 1]}, schema=[A, B])
NEVER = fn.Table([A, B], [np.array([0, 1], dtype=np.uint8), np.array([2, 2], dtype=np.uint8)])


@pytest.mark.parametrize(
    ("table", "asked", "error", "match"),
    [
        (ROWS, {"hidden": {"a": 2}}, SchemaError, "hidden and a column"),
        (ROWS, {"hidden": {"c": 2}}, SchemaError, "the graph has no hidden variable"),
        (ROWS.select(["a"]), {}, SchemaError, "no column 'b'"),
        (ROWS.select(["a"]), {"hidden": {"b": 0}}, FishernetError, "hidden"),
        (NEVER, {}, SchemaError, "no known cell.*hidden={'b': 2}"),
        (ROWS, {"smoothing": "snml"}, FishernetError, "for complete counts"),
        (ROWS, {"restarts": 0}, FishernetError, "restarts"),
        (ROWS, {"max_steps": 0}, FishernetError, "max_steps"),
        (ROWS, {"tolerance": float("nan")}, FishernetError, "tolerance"),
        (ROWS, {"max_table": 1}, StateSpaceError, "limit"),
        (ROWS[[]], {}, SchemaError, "there is none"),
    ],
)
def test_bad_input_is_refused(table: fn.Table, asked: dict[str, Any], error: type[Exception], match: str) -> None:
    if "max_table" in asked:
        big = fn.datasets.load("alarm")
        columns = [np.full(2, v.cardinality, dtype=v.dtype) for v in big.variables]
        for column in columns:
            column[0] = 0
        with pytest.raises(error, match=match):
            fn.learn.em_fit(big.dag, fn.Table(big.variables, columns), **asked)
        return
    with pytest.raises(error, match=match):
        fn.learn.em_fit(CHAIN, table, **asked)


def test_a_start_under_which_a_row_is_impossible_is_refused() -> None:
    start = fn.BayesianNetwork.from_tables([A, B], {"b": ["a"]}, {"a": [0.5, 0.5], "b": [[1.0, 0.0], [1.0, 0.0]]})
    with pytest.raises(ZeroProbabilityError, match="row 1 has probability 0"):
        fn.learn.em_fit(CHAIN, ROWS, start=start)


# ------------------------------------------------------------------------------------------ by the ordinary functions


def test_parameters_and_structures_of_rows_with_missing_cells() -> None:
    net = fn.datasets.load("asia")
    table = with_holes(net, 2000, 1, 0.1)
    fitted = fn.learn.parameters(net.dag, table)
    assert fitted == fn.learn.em_fit(net.dag, table).model
    learned = fn.learn.bayesian_network(table)
    assert learned.names == net.names
    assert learned.n_rows == 2000
    by_frame = fn.learn.parameters(net.dag, table.to_pandas())
    np.testing.assert_allclose(by_frame.log_prob(table), fitted.log_prob(table), rtol=1e-9)


def test_available_cases_are_counts_of_complete_families() -> None:
    found = fn.learn.parameters(CHAIN, ROWS, available_cases=True, smoothing=0)
    np.testing.assert_allclose(found.conditional("a").probabilities, [[0.5, 0.5]])  # x, y
    np.testing.assert_allclose(found.conditional("b").probabilities, [[1, 0], [0, 1]])  # (x, 0), (y, 1)


def test_what_em_does_not_go_with() -> None:
    complete = ROWS.drop_missing()
    with pytest.raises(FishernetError, match="restarts"):
        fn.learn.parameters(CHAIN, complete, restarts=3)
    with pytest.raises(SchemaError, match="need the rows"):
        fn.learn.parameters(CHAIN, AvailableCases(complete), hidden={"c": 2})
    with pytest.raises(FishernetError, match="score of its own"):
        fn.learn.structure(ROWS, missing="node-average", score="bdeu")
    with pytest.raises(FishernetError, match="unknown missing"):
        fn.learn.structure(ROWS, missing="mean")  # type: ignore[arg-type]


@pytest.mark.parametrize("missing", ["em", "node-average"])
@pytest.mark.parametrize("search", ["hill-climb", "tabu", "order", "exact"])
def test_structures_come_back(missing: Any, search: Any) -> None:
    """A chain of three strong links among five variables, a tenth of the cells missing: one arc more at most."""
    states = [fn.Variable(f"x{i}", ["a", "b"]) for i in range(5)]
    strong = [[0.9, 0.1], [0.15, 0.85]]
    tables: dict[str, Any] = {"x0": [0.4, 0.6], "x1": strong, "x2": strong, "x3": strong, "x4": [0.3, 0.7]}
    net = fn.BayesianNetwork.from_tables(states, {f"x{i}": [f"x{i - 1}"] for i in (1, 2, 3)}, tables)
    table = with_holes(net, 3000, 1, 0.1)
    found = fn.learn.structure(table, missing=missing, search=search)
    assert fn.shd(found.dag, net.dag) <= 1
    assert {frozenset(arc) for arc in net.dag.edges} <= {frozenset(arc) for arc in found.dag.edges}
    assert found.finished


def test_structural_em_ends_in_time_and_tells_its_best() -> None:
    table = with_holes(fn.datasets.load("asia"), 500, 1, 0.2)
    stopped = fn.learn.structure(table, missing="em", max_seconds=0)
    assert not stopped.finished
    assert np.isnan(stopped.score)

    def stop(what: str, done: int, total: int | None) -> None:
        if what == "round 1":
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt) as interrupted:
        fn.learn.structure(table, missing="em", progress=stop)
    assert interrupted.value.best.names == table.names  # type: ignore[attr-defined]


def test_structural_em_finds_a_dependence_that_the_price_of_missing_cells_hides() -> None:
    """Of 1,000 rows 360 know both coins. BIC of what is known is for the arc; expected counts without it are against.

    That price of the node-average likelihood is 16 nats, and the arc gains 14.
    """
    both = [[a, b] for a in (0, 1) for b in (0, 1) for _ in range(105 if a == b else 75)]
    alone = [[a, 2] for a in (0, 1)] * 120 + [[2, b] for b in (0, 1)] * 120 + [[2, 2]] * 160
    codes = np.array(both + alone, dtype=np.uint8)
    coins = [fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1])]
    table = fn.Table.adopt(coins, list(codes.T))
    graphs = [fn.Dag.from_edges(["a", "b"], arcs) for arcs in ([], [("a", "b")])]
    price = np.log(1000) / 2
    fits = [fn.learn.em_fit(dag, table, smoothing=0).model for dag in graphs]
    apart, joined = (fit.log_prob(table).sum() - fit.n_parameters * price for fit in fits)
    assert joined > apart + 1
    under_independence = fn.learn.ExpectedCounts(fits[0], table)
    assert fn.score(graphs[0], under_independence) > fn.score(graphs[1], under_independence) + 1
    assert fn.learn.dag(table, missing="node-average").n_edges == 0
    for search in ("order", "tabu", "hill-climb"):
        assert fn.learn.dag(table, missing="em", search=search).n_edges == 1


def test_the_score_of_structural_em_is_that_of_expected_counts() -> None:
    """The network is fitted anew to the end, so its counts differ a little from those of the last round."""
    table = with_holes(fn.datasets.load("asia"), 1000, 1, 0.1)
    found = fn.learn.structure(table, missing="em", search="hill-climb")
    net = fn.learn.parameters(found.dag, table)
    assert found.score == pytest.approx(fn.score(found.dag, fn.learn.ExpectedCounts(net, table)), rel=1e-3)


def test_the_node_average_of_complete_rows_is_bic() -> None:
    from fishernet.scores.local import LocalScores, family_positions
    from fishernet.scores.node_average import NodeAverage

    net = random_network(3, [2, 3, 2, 4])
    table = net.sample(500, seed=2)
    scores = LocalScores(table, NodeAverage())(family_positions(table, net.dag)).sum()
    assert scores == pytest.approx(fn.score(net.dag, table), rel=1e-11)


@given(
    networks(most_variables=4),
    st.integers(0, 2**32),
    st.sampled_from([0.2, 0.6]),
    st.booleans(),
    st.sampled_from([0.25, 1.0]),
)
def test_node_average_scores_are_sums_over_complete_rows(
    net: fn.BayesianNetwork, seed: int, missing: float, weighted: bool, caution: float
) -> None:
    from fishernet.scores.local import LocalScores, family_positions
    from fishernet.scores.node_average import NodeAverage

    table = with_holes(net, 30, seed, missing)
    w: Any = np.ones(30)
    if weighted:
        w = np.random.default_rng(seed).integers(0, 4, 30) * 0.5
        table = fn.Table(net.variables, table.codes, weights=w)
    if w.sum() <= 1:
        return
    codes = np.stack([c.astype(int) for c in table.codes])
    sizes = np.array([v.cardinality for v in net.variables])
    total = w.sum()
    vary = sizes > 1  # a constant tells nothing, and is not counted
    share = ((codes == sizes[:, None]) * w)[vary].sum() / (total * max(1, vary.sum()))
    price = (np.log(total) + caution * share * total**0.6) / 2
    scorer = LocalScores(table, NodeAverage(caution))
    blocks = LocalScores(fn.data.Blocks([table[:9], table[9:]]), NodeAverage(caution))
    of_blocks = blocks(family_positions(table, net.dag))
    for child, got in enumerate(scorer(family_positions(table, net.dag))):
        assert of_blocks[child] == pytest.approx(got, rel=1e-9, abs=1e-8)
        family = [*net.dag.parents[child], child]
        complete = (codes[family] < sizes[family, None]).all(axis=0)
        counts = np.zeros(sizes[family])
        np.add.at(counts, tuple(codes[v][complete] for v in family), w[complete])
        n = counts.sum()
        information = 0.0
        if n > 0:
            flat = counts.reshape(-1, sizes[child])
            outer = flat.sum(axis=1, keepdims=True) * flat.sum(axis=0) / n
            positive = flat > 0
            information = float((flat[positive] * np.log(flat[positive] / outer[positive])).sum())
        alone = np.bincount(codes[child], w, sizes[child] + 1)[:-1]
        likelihood = (alone[alone > 0] * np.log(alone[alone > 0] / alone.sum())).sum()
        times = total / n if n else 0.0
        free, configurations = sizes[child] - 1, np.prod(sizes[family[:-1]])
        charged = max(1 + caution * (times - 1), times - 2.5) if n else 0.0
        dearer = max(price, charged * np.log(total) / 2)
        wanted = times * information - (price + dearer * (configurations - 1)) * free
        wanted += total / alone.sum() * likelihood if alone.any() else 0.0
        assert got == pytest.approx(wanted, rel=1e-9, abs=1e-8)
