"""What changed between two tables: clear cases, orders and seeds that change nothing, intervals, and bad input."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.base.errors import FishernetError, FishernetWarning
from fishernet.compare.two_sample import without_determined_columns
from fishernet.data.moments import without_determined
from fishernet.data.pooling import stacked
from tests.networks import random_network, with_holes
from tests.rates import assert_at_most

ASIA = fn.datasets.load("asia")
explain = fn.compare.explain_change


def chain(last: float, first: float = 0.5) -> fn.BayesianNetwork:
    """a -> b -> c, with P(a = yes) and P(c = b) to be chosen, and d apart."""
    names = ["a", "b", "c", "d"]
    variables = [fn.Variable(name, ["yes", "no"]) for name in names]
    return fn.BayesianNetwork.from_tables(
        variables,
        {"b": ["a"], "c": ["b"]},
        {
            "a": [first, 1 - first],
            "b": [[0.85, 0.15], [0.2, 0.8]],
            "c": [[last, 1 - last], [1 - last, last]],
            "d": [0.4, 0.6],
        },
    )


BEFORE, AFTER = chain(0.9, 0.5), chain(0.9, 0.9)  # a changed, b and c inherit it
OTHER = chain(0.6, 0.5)  # c changed, given b
TABLES = BEFORE.sample(3000, seed=11), AFTER.sample(2000, seed=12)
FAST: dict[str, Any] = {"permutations": 99, "resamples": 20}


def summary(found: fn.compare.ChangeResult) -> tuple[Any, ...]:
    return found.changed(), dict(found.inherited())


def test_a_clear_change_and_what_inherits_it_with_the_graph_known() -> None:
    found = explain(*TABLES, BEFORE, **FAST)
    assert summary(found) == (("a",), {"b": ("a",), "c": ("a",)})
    change = found.by_variable["a"]
    assert change.p_corrected <= 0.01
    truth = fn.compare.kl(AFTER, BEFORE)
    assert change.low < truth < change.high
    assert found.graphs == ((BEFORE.dag, 1.0),)
    assert (found.n_rows, dict(found.in_doubt())) == ((3000, 2000), {})
    assert found.by_variable["d"].inherited_from == ()


def test_configurations_are_those_of_the_two_fitted_networks() -> None:
    found = explain(*TABLES, BEFORE, smoothing=0.5, **FAST)
    before, after = (fn.learn.parameters(BEFORE.dag, table, smoothing=0.5) for table in TABLES)
    first = found.by_configuration[0]
    assert (first.variable, dict(first.configuration), first.state, first.rows) == ("a", {}, "yes", (3000, 2000))
    assert dict(first.before) == pytest.approx({state: before.query("a")[state] for state in ("yes", "no")})
    assert first.low < 0.4 < first.high
    for cell in found.by_configuration:
        p, q = (net.query(cell.variable, given=cell.configuration) for net in (after, before))
        assert dict(cell.after) == pytest.approx({state: p[state] for state in cell.after})
        nats = cell.probability * sum(p[s] * math.log(p[s] / q[s]) for s in cell.after)
        assert cell.nats == pytest.approx(nats, rel=1e-6, abs=1e-12)
        change = cell.after[cell.state] - cell.before[cell.state]
        assert cell.low < change < cell.high
    assert found.nats == sum(c.nats for c in found.by_variable.values() if c.changed)


def test_the_interval_of_a_change_of_shares_is_newcombes() -> None:
    """56 of 70 and 48 of 80: 0.0524 to 0.3339 (Newcombe, 1998, table II, case a, method 10)."""
    X, Y = ({"a": ["x"] * k + ["y"] * (n - k)} for k, n in ((48, 80), (56, 70)))
    (cell,) = explain(X, Y, **FAST).by_configuration
    ends = (cell.low, cell.high) if cell.state == "x" else (-cell.high, -cell.low)
    assert ends == pytest.approx((0.0524, 0.3339), abs=5e-5)


def test_the_interval_of_the_largest_of_many_changes_holds() -> None:
    """The largest of 20 that are none is far from 0: its own interval of 95 % would lack 0 in two of five tables."""
    rng = np.random.default_rng(3)
    variables = [fn.Variable("a", list("pqrs")), fn.Variable("b", list("uvwxy"))]
    tables = {"a": rng.dirichlet([3] * 4), "b": rng.dirichlet([2] * 5, size=4)}
    net = fn.BayesianNetwork.from_tables(variables, {"b": ["a"]}, tables)

    def lacks(seed: int) -> bool:
        X, Y = net.sample(500, seed=seed), net.sample(500, seed=1000 + seed)
        cells = explain(X, Y, net, permutations=19, resamples=19, seed=1).by_configuration
        return not next(cell.low <= 0 <= cell.high for cell in cells if cell.variable == "b")

    assert_at_most((lacks(seed) for seed in range(80)), 0.05)


def test_by_chance_is_what_equal_sources_show_on_average() -> None:
    """About (parameters / 2) (1 / n + 1 / m) nats a variable: what two fitted conditionals are apart, uncorrected."""
    shown = []
    for seed in range(40):
        X, Y = BEFORE.sample(800, seed=2 * seed), BEFORE.sample(500, seed=2 * seed + 1)
        found = explain(X, Y, BEFORE, permutations=19, resamples=50, seed=seed)
        shown.append([change.by_chance for change in found.by_variable.values()])
    expected = np.array([1, 2, 2, 1]) / 2 * (1 / 800 + 1 / 500)
    np.testing.assert_allclose(np.mean(shown, axis=0), expected, rtol=0.1)


@pytest.mark.parametrize("given", [False, True])
def test_the_answer_is_the_same_for_every_order_of_columns_and_rows(given: bool) -> None:
    X, Y = TABLES[0], OTHER.sample(2000, seed=13)
    net = BEFORE if given else None
    found = explain(X, Y, net, **FAST)
    assert found.changed() == ("c",)
    rng = np.random.default_rng(5)
    for _ in range(5):
        names = rng.permutation(X.names).tolist()
        turned = explain(
            X.select(names)[rng.permutation(3000)],
            Y.to_frame().to_pandas()[names[::-1]].sample(frac=1, random_state=1),
            net,
            **FAST,
        )
        assert summary(turned) == summary(found)
        assert list(turned.by_variable) == names
        for name, change in found.by_variable.items():
            assert turned.by_variable[name].nats == pytest.approx(change.nats, rel=1e-9, abs=1e-14)
            assert turned.by_variable[name].marginal_p == pytest.approx(change.marginal_p, rel=1e-9)
        assert {dag.edges for dag, _ in turned.graphs} == {dag.edges for dag, _ in found.graphs}


def test_the_answer_is_the_same_for_every_seed_on_a_clear_case() -> None:
    """The direction of a - b is open; c is no parent in any graph of the class once d joins, so c is found in all."""
    X, Y = ASIA.sample(3000, seed=1), fn.infer.intervene(ASIA, {"bronc": "no"}).sample(3000, seed=2)
    found = {
        (f.changed(), tuple(f.inherited().items()))
        for f in (explain(X, Y, ASIA, permutations=99, resamples=2, seed=seed) for seed in range(100))
    }
    assert found == {(("bronc",), (("dysp", ("bronc",)),))}


def test_the_same_call_has_the_same_answer() -> None:
    one, other = explain(*TABLES, **FAST), explain(*TABLES, **FAST)
    assert one.by_variable == other.by_variable
    assert one.seed == other.seed == 0


def test_graphs_that_differ_put_a_finding_in_doubt() -> None:
    """Of two variables one changed, or the other with the conditional of the first: the data do not say which."""
    names = ["a", "b"]
    variables = [fn.Variable(name, ["yes", "no"]) for name in names]

    def pair(joint: Any) -> fn.BayesianNetwork:
        first = np.array(joint).sum(axis=1)
        return fn.BayesianNetwork.from_tables(variables, {"b": ["a"]}, {"a": first, "b": joint / first[:, None]})

    X = pair([[0.4, 0.1], [0.1, 0.4]]).sample(2000, seed=1)
    Y = pair([[0.25, 0.25], [0.25, 0.25]]).sample(2000, seed=2)  # the margins stay, the dependence is gone
    found = explain(X, Y, **FAST)
    assert len(found.graphs) == 2
    assert sum(weight for _, weight in found.graphs) == pytest.approx(1, rel=1e-12)
    assert found.changed() == ()
    assert found.undecided() == ("a or b changed, by the direction of the arc between them",)
    assert {name: set(arcs) for name, arcs in found.in_doubt().items()} == {
        name: {("a", "b"), ("b", "a")} for name in names
    }
    best = explain(X, Y, graphs=1, **FAST)
    assert dict(best.in_doubt()) == {}
    assert len(best.changed()) == 1
    settled = explain(X, Y, fn.Dag.from_edges(names, [("a", "b")]), **FAST)
    assert settled.changed() == ("b",)


def test_fewest_changes_settle_a_direction() -> None:
    """Only the first of a chain changed. In other directions two conditionals would have, which is less likely."""
    found = explain(*TABLES, **FAST)
    assert (found.changed(), dict(found.in_doubt())) == (("a",), {})


def test_equal_tables_have_not_changed() -> None:
    X = ASIA.sample(500, seed=1)
    found = explain(X, X, **FAST)
    assert (found.nats, found.changed(), dict(found.inherited()), found.by_configuration) == (0, (), {}, ())
    assert all(change.p_corrected > 0.5 for change in found.by_variable.values())
    assert repr(found) == "ChangeResult(0 nats; changed: nothing)"


# --------------------------------------------------------------------------------------------------------- intervals


def test_an_estimate_lies_in_its_interval_and_that_agrees_with_the_test() -> None:
    cured = fn.infer.intervene(ASIA, {"bronc": "no"})
    for seed in range(5):
        found = explain(ASIA.sample(300, seed=seed), cured.sample(300, seed=seed + 50), ASIA, permutations=99)
        for change in found.by_variable.values():
            assert change.low <= change.nats <= change.high
            assert change.low > 0 or not change.changed


@pytest.mark.parametrize("kind", ["states", "numbers"])
def test_intervals_cover_the_truth(kind: str) -> None:
    """Of 95 % intervals so many hold a divergence that is there, but for what chance takes off so few trials."""
    held = 0
    trials = 60 if kind == "states" else 40
    X: Any
    Y: Any
    for seed in range(trials):
        if kind == "states":
            X, Y, net = BEFORE.sample(500, seed=2 * seed), OTHER.sample(400, seed=2 * seed + 1), BEFORE
            truth = sum(p * math.log(p / q) for p, q in ((0.6, 0.9), (0.4, 0.1)))
            found = explain(X, Y, net.dag, permutations=19, resamples=100, seed=seed).by_variable["c"]
        else:
            rng = np.random.default_rng(seed)
            x, y = rng.normal(size=(2, 300))
            u, v = rng.normal(size=(2, 300))
            X, Y = {"x": x, "y": x + y}, {"x": u, "y": 1.6 * u + v}
            truth = 0.5 * 0.6**2
            dag = fn.Dag.from_edges(["x", "y"], [("x", "y")])
            found = explain(X, Y, dag, permutations=19, resamples=60, seed=seed).by_variable["y"]
        assert 0 <= found.low <= found.high
        held += found.low <= truth <= found.high
    assert held / trials >= 0.95 - 4 * math.sqrt(0.95 * 0.05 / trials)


# ------------------------------------------------------------------------------------------------- kinds of tables


def test_weights_are_repeated_rows() -> None:
    weights = np.random.default_rng(1).integers(0, 3, size=300)
    X, Y = BEFORE.sample(300, seed=1), OTHER.sample(300, seed=2)
    weighted = fn.Table(X.variables, X.codes, weights=weights)
    one = explain(weighted, Y, BEFORE, **FAST)
    other = explain(X[np.repeat(np.arange(300), weights)], Y, BEFORE, **FAST)
    assert one.by_variable == other.by_variable
    assert one.n_rows == (weights.sum(), 300)


def test_rows_with_holes_are_taken() -> None:
    X, Y = with_holes(BEFORE, 1500, 1, 0.15), with_holes(OTHER, 1500, 2, 0.15)
    assert explain(X, Y, BEFORE, **FAST).changed() == ("c",)
    found = explain(X, Y, **FAST)
    assert set(found.in_doubt()) == {"b", "c"}  # b depends on c the other way round, and changed as much
    (told,) = found.undecided()
    assert told.startswith(("b or c changed, by the direction of the arc", "b or c may have changed, by the arcs"))
    assert all(math.isfinite(c.nats) and c.low <= c.high for c in found.by_variable.values())


def test_numbers_are_explained_by_regressions() -> None:
    rng = np.random.default_rng(3)
    frames: list[Any] = []
    for slope in (1.0, -1.0):
        x, noise = rng.normal(size=(2, 500))
        frames.append({"x": x, "y": slope * x + noise})
    dag = fn.Dag.from_edges(["x", "y"], [("x", "y")])
    found = explain(frames[0], frames[1], dag, **FAST)
    assert (found.changed(), found.by_configuration) == (("y",), ())
    assert found.nats == pytest.approx(0.5 * 4, abs=4 * 0.25)  # 0.25 is its standard deviation over tables
    one, other = (frame | {"z": ["u", "v"] * 250} for frame in frames)
    for bins in (None, "auto"):  # a line through the rows of both shows nothing, and bins do
        beside = explain(one, other, bins=bins, **FAST)
        assert set(beside.in_doubt()) == {"x", "y"}  # whose conditional it is hangs on the direction of one arc
        assert repr(beside).endswith("; in doubt: x, y)")
        assert beside.by_variable["x"].support + beside.by_variable["y"].support > 0.9
    assert any("y" in c.configuration or "x" in c.configuration for c in beside.by_configuration)


def test_states_that_only_one_table_has() -> None:
    X = {"a": ["x", "y"] * 100}
    Y = {"a": ["x", "z"] * 100}
    found = explain(X, Y, **FAST)
    assert found.changed() == ("a",)
    assert found.new_labels == {"a": {"z": 100}}
    (cell,) = found.by_configuration
    assert set(cell.before) == set(cell.after) == {"x", "y", "z"}
    assert dict(cell.before) == pytest.approx({"x": 101 / 203, "y": 101 / 203, "z": 1 / 203})
    assert found.nats > 0.5


@pytest.mark.filterwarnings("ignore::fishernet.base.errors.FishernetWarning")
def test_one_row_a_side_tells_nothing() -> None:
    found = explain(ASIA.sample(1, seed=1), ASIA.sample(1, seed=9), ASIA, **FAST)
    assert summary(found) == ((), {})


def test_a_variable_of_one_state_and_a_column_that_is_missing_in_one_table() -> None:
    net = random_network(3, [2, 1, 3])
    X, Y = net.sample(50, seed=1), net.sample(50, seed=2)
    assert explain(X, Y, net, **FAST).by_variable["v1"].nats == 0
    holes = fn.Table(net.variables, [np.full(50, 2, np.uint8), *Y.codes[1:]])
    found = explain(X, holes, net, **FAST)
    assert [(m.variable, m.before, m.after) for m in found.missing] == [("v0", 0, 1)]
    assert (found.by_variable["v0"].covered, found.by_variable["v0"].high) == (0, math.inf)
    assert "share of missing cells changed: v0" in repr(found)


def test_other_shares_of_missing_cells_are_a_finding_of_their_own() -> None:
    X, Y = BEFORE.sample(500, seed=1), with_holes(BEFORE, 500, 2, 0.1)
    found = explain(X, Y, BEFORE, **FAST)
    assert {m.variable for m in found.missing} == set("abcd")
    assert all(m.before == 0 and 0.02 < m.after < 0.2 and m.p_corrected < 0.05 for m in found.missing)
    assert found.changed() == ()
    assert explain(X, X, BEFORE, **FAST).missing == ()


def test_columns_that_one_table_lacks_are_said_and_the_others_answered() -> None:
    with pytest.warns(FishernetWarning, match="'d' is only in the first table"):
        found = explain(TABLES[0], TABLES[1].select(["a", "b", "c"]), **FAST)
    assert (found.changed(), list(found.by_variable)) == (("a",), ["a", "b", "c"])


def test_a_graph_is_taken_on_the_columns_that_it_shares_with_the_tables() -> None:
    part = fn.Dag.from_edges(["a", "b"], [("a", "b")])
    with pytest.warns(FishernetWarning, match="'c', 'd' are not in the graph"):
        found = explain(*TABLES, part, **FAST)
    assert (found.changed(), list(found.by_variable)) == (("a",), ["a", "b"])
    with pytest.warns(FishernetWarning, match="'d' is only in the first table"):
        found = explain(TABLES[0], TABLES[1].select(["a", "b", "c"]), BEFORE, **FAST)
    assert (found.changed(), list(found.by_variable)) == (("a",), ["a", "b", "c"])
    with pytest.warns(FishernetWarning, match="'c', 'd' are not in the graph"):
        assert fn.compare.explain_changes(TABLES, part, **FAST).graph.names == ("a", "b")
    with pytest.warns(FishernetWarning, match="'c', 'd' are not in the graph"):
        assert fn.compare.Monitor(TABLES[0], part).update(TABLES[1]).changed() == ("a",)


# ----------------------------------------------------------------------------------------------------- bad input

ROWS = ASIA.sample(30, seed=1)
REFUSED: dict[str, tuple[tuple[Any, ...], dict[str, Any], str]] = {
    "columns": ((ROWS.select(["asia"]), ROWS.select(["tub"])), {}, "^explain_change needs two tables of the same col"),
    "empty": ((ROWS, ROWS[:0]), {}, "^after has no rows"),
    "empty before": ((ROWS[:0], ROWS), {}, "^before has no rows"),
    "None": ((None, ROWS), {}, "^explain_change needs a Table or a data frame, not NoneType"),
    "a network and a table": (
        (ASIA, ROWS),
        {},
        "takes two tables, or two networks; a network and a table are compared",
    ),
    "another graph": (
        (ROWS, ROWS, fn.Dag.from_edges(["a", "asia"], [])),
        {},
        "the graph and the tables must have the same variables; 'a', 'bronc', 'dysp'",
    ),
    "an undirected graph": (
        (ROWS, ROWS, fn.UndirectedGraph.from_edges(ASIA.names, [])),
        {},
        "net must be a BayesianNetwork or a Dag, not an UndirectedGraph",
    ),
    "level": ((ROWS, ROWS), {"level": 1.5}, "level must be a number from 0 to 1, got 1.5"),
    "graphs": ((ROWS, ROWS), {"graphs": 0}, "graphs must be an integer of at least 1, got 0"),
    "permutations": ((ROWS, ROWS), {"permutations": 0}, "permutations must be an integer from 1 to 1,000,000, got 0"),
    "resamples": ((ROWS, ROWS), {"resamples": 1}, "resamples must be an integer from 2 to 1,000,000, got 1"),
    "smoothing": ((ROWS, ROWS), {"smoothing": 0}, "smoothing must be a number above 0, got 0"),
    "smoothing's name": ((ROWS, ROWS), {"smoothing": "snml"}, "smoothing must be a number above 0, got 'snml'"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_with_what_to_do(name: str) -> None:
    data, options, message = REFUSED[name]
    with pytest.raises(FishernetError, match=message):
        explain(*data, **options)


def test_few_permutations_are_warned_of() -> None:
    with pytest.warns(FishernetWarning, match="with 9 permutations no p-value is below 0.1; take 19 or more"):
        explain(ROWS, ROWS, ASIA, permutations=9, resamples=2)


# ------------------------------------------------------------------------------------------------------- the result


def test_the_frames_and_the_repr_say_what_was_found() -> None:
    found = explain(*TABLES, BEFORE, **FAST)
    rows = found.to_frame().to_pylist()
    assert [row["variable"] for row in rows] == list("abcd")
    assert [row["inherited_from"] for row in rows] == ["", "a", "a", ""]
    assert [row["nats"] for row in rows] == [change.nats for change in found.by_variable.values()]
    cells = found.to_frame("configuration").to_pylist()
    assert (cells[0]["variable"], cells[0]["state"]) == ("a", "yes")
    assert len(cells) == 2 * len(found.by_configuration)
    assert "changed: a)" in repr(found)
    with pytest.raises(FishernetError, match="unknown by 'state'"):
        found.to_frame("state")  # type: ignore[arg-type]


def test_progress_is_told() -> None:
    calls: list[Any] = []
    explain(*TABLES, **FAST, progress=lambda *told: calls.append(told))
    assert calls[-1][0] == "graphs"


def test_few_rows_of_numbers_have_intervals() -> None:
    rows = fn.Table.from_frame({"a": [1.0, 2.0, 3.0, 4.0, 5.0, 7.0], "b": [8.3, 10.3, 19.0, 16.0, 15.6, 19.8]})
    found = fn.compare.explain_change(rows, rows, permutations=99)
    assert found.changed() == ()
    assert all(0 <= one.low <= one.high < math.inf for one in found.by_variable.values())


@pytest.mark.parametrize("seed", [2, 3, 8])
def test_columns_that_few_complete_rows_determine_when_these_are_there_twice(seed: int) -> None:
    """Rows of one table that come again in the other tell no more, though there are more of them than columns."""
    random = np.random.default_rng(seed)
    d = int(random.integers(4, 9))
    complete = int(random.integers(d - 1, d + 3))
    X = random.normal(size=(complete + 12, d)) @ (np.eye(d) + 2 * random.normal(size=(d, d)))
    X[:6, 0], X[6 + complete :, 1] = np.nan, np.nan
    table = fn.Table.from_frame({f"x{j}": X[:, j] for j in range(d)})
    with pytest.warns(fn.FishernetWarning, match="linear combination"):
        left = without_determined_columns(table, table, each=True)
    assert without_determined(stacked(left)).names == left[0].names  # with no other warning
