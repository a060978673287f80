"""How many states hidden variables have: classes found again, scores by hand, turns of several, stopped by time."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FishernetError, FishernetWarning, SchemaError
from fishernet.learn.missing.hidden_states import Numbers, climbed
from tests.infer.test_completion import known
from tests.networks import random_network
from tests.reference import inference as reference

YES = {"u": [[0.9, 0.1, 0.9, 0.1], [0.1, 0.1, 0.1, 0.9], [0.1, 0.9, 0.9, 0.9]], "w": [[0.9] * 4, [0.1] * 4]}
SHARES = {"u": [0.5, 0.3, 0.2], "w": [0.4, 0.6]}


def questionnaire(*hidden: str) -> tuple[fn.BayesianNetwork, fn.Table]:
    """Four answers for each hidden class, and the answers alone."""
    variables, parents, tables = [], {}, {}
    for name in hidden:
        variables.append(fn.Variable(name, range(len(SHARES[name]))))
        tables[name] = np.array(SHARES[name])
        for i in range(4):
            answer = f"{name}{i}"
            variables.append(fn.Variable(answer, ["no", "yes"]))
            parents[answer] = [name]
            tables[answer] = np.array([[1 - yes[i], yes[i]] for yes in YES[name]])
    net = fn.BayesianNetwork.from_tables(variables, parents, tables)
    seen = [variable.name for variable in variables if variable.name not in hidden]
    return net, net.sample(5000, seed=1).select(seen)


@pytest.mark.parametrize(
    ("asked", "tried"), [(range(1, 6), [1, 2, 3, 4, 5]), (None, [1, 2, 3, 4]), ([4, 3, 3], [3, 4])]
)
def test_three_classes_are_three_by_bic(asked: Any, tried: list[int]) -> None:
    net, table = questionnaire("u")
    found = fn.learn.em_fit(net.dag, table, hidden={"u": asked}, restarts=3, seed=4)
    assert found.model.variables[0].states == (0, 1, 2)
    assert sorted(found.scores) == [(number,) for number in tried]
    assert max(found.scores, key=lambda choice: found.scores[choice]) == (3,)
    assert found.finished
    again = fn.learn.em_fit(net.dag, table, hidden={"u": 3}, restarts=3, seed=4)
    assert again.model == found.model
    assert again.scores == {}
    assert again.seed == found.seed == 4
    assert fn.learn.parameters(net.dag, table, hidden={"u": asked}, restarts=3, seed=4) == found.model


def test_each_score_is_the_likelihood_of_what_is_known_less_the_price_of_the_parameters() -> None:
    """By sums over all joint states, row by row, of weighted rows with holes."""
    net = random_network(5, [2, 3, 2], sharp=2.0)
    rng = np.random.default_rng(3)
    columns = []
    for variable, column in zip(net.variables, net.sample(30, seed=1).codes, strict=True):
        columns.append(np.where(rng.random(30) < 0.2, variable.cardinality, column).astype(column.dtype))
    table = fn.Table(net.variables, columns, weights=rng.random(30) + 0.5).select(["v0", "v2"])
    asked: dict[str, Any] = {"restarts": 2, "seed": 1, "max_steps": 30}
    found = fn.learn.em_fit(net.dag, table, hidden={"v1": [1, 2, 4]}, **asked)
    for (number,), score in found.scores.items():
        model = fn.learn.em_fit(net.dag, table, hidden={"v1": number}, **asked).model
        whole = fn.Table(
            model.variables,
            [table.codes[0], np.full(30, number, dtype=np.uint8), table.codes[1]],
            weights=table.weights,
        )
        assert table.weights is not None
        likelihood = sum(
            w * reference.log_evidence(model, known(model, whole, row)) for row, w in enumerate(table.weights)
        )
        free = sum(math.prod(c.table().shape[:-1]) * (c.table().shape[-1] - 1) for c in model.conditionals)
        assert score == pytest.approx(likelihood - math.log(table.weights.sum()) / 2 * free, rel=1e-9)


def test_two_hidden_variables_take_turns() -> None:
    net, table = questionnaire("u", "w")
    found = fn.learn.em_fit(net.dag, table, hidden={"u": None, "w": range(1, 4)}, restarts=3, seed=2)
    best = max(found.scores, key=lambda choice: found.scores[choice])
    assert best == (3, 2)
    assert [found.model.variables[net.names.index(name)].cardinality for name in "uw"] == [3, 2]
    assert (5, 3) not in found.scores  # not every pair was fitted
    one = fn.learn.em_fit(net.dag, table, hidden={"u": 3, "w": [1, 2]}, restarts=3, seed=2)
    assert sorted(one.scores) == [(3, 1), (3, 2)]


def test_clusters_and_hidden_variables_are_scored_alike() -> None:
    net, table = questionnaire("u")
    clusters = fn.learn.clusters(table[:3000], seed=1, restarts=3)
    found = fn.learn.em_fit(net.dag, table[:3000], hidden={"u": None}, smoothing=0.1, restarts=3, seed=1)
    assert list(clusters.scores) == [number for (number,) in found.scores]
    np.testing.assert_allclose(list(clusters.scores.values())[:3], list(found.scores.values())[:3], rtol=1e-3)


@given(st.lists(st.integers(-3, 3), min_size=1, max_size=6))
def test_a_ladder_ends_at_its_first_fall(scores: list[int]) -> None:
    looked: list[int] = []

    def score(number: int) -> float:
        looked.append(number)
        return scores[number]

    found = climbed(range(len(scores)), score)
    falls = [i for i in range(1, len(scores)) if scores[i] <= scores[i - 1]]
    assert looked == list(found) == list(range(falls[0] + 1 if falls else len(scores)))
    assert list(climbed(range(len(scores)), score, past_falls=True)) == list(range(len(scores)))


def test_the_result_says_what_was_tried() -> None:
    net, table = questionnaire("u")
    found = fn.learn.em_fit(net.dag, table[:200], hidden={"u": [1, 2]}, restarts=1, seed=1)
    assert "the best of 2 numbers of hidden states by BIC" in repr(found)
    told: list[str] = []
    progress: Any = lambda what, done, total: told.append(what)  # noqa: E731
    fn.learn.em_fit(net.dag, table[:200], hidden={"u": [1, 2]}, restarts=1, progress=progress)
    assert list(dict.fromkeys(told)) == ["fitting with u of 1 state", "fitting with u of 2 states"]


# ------------------------------------------------------------------------------------------- ended before its end


def test_a_fit_ends_in_time_with_its_best_and_says_so() -> None:
    net, table = questionnaire("u")
    with pytest.warns(FishernetWarning, match="stopped by max_seconds=0.*has not converged.*more time"):
        found = fn.learn.em_fit(net.dag, table, hidden={"u": 3}, restarts=5, seed=1, max_seconds=0)
    assert (found.finished, found.converged, len(found.trace), len(found.restarts)) == (False, False, 1, 1)
    assert "stopped by the time limit" in repr(found)
    np.testing.assert_allclose(found.model.log_prob(_whole(found.model, table)).sum(), found.log_likelihood, rtol=1e-9)
    with pytest.warns(FishernetWarning, match="stopped by max_seconds"):
        chosen = fn.learn.em_fit(net.dag, table, hidden={"u": range(1, 5)}, seed=1, max_seconds=0)
    assert list(chosen.scores) == [(1,)]
    assert not chosen.finished
    with pytest.warns(FishernetWarning, match="max_seconds"):
        fn.learn.parameters(net.dag, table, hidden={"u": 3}, max_seconds=0)


def _whole(net: fn.BayesianNetwork, table: fn.Table) -> fn.Table:
    columns = [
        table.column(v.name) if v.name in table.names else np.full(table.n_rows, v.cardinality, dtype=v.dtype)
        for v in net.variables
    ]
    return fn.Table(net.variables, columns)


def test_time_enough_changes_nothing() -> None:
    net, table = questionnaire("u")
    asked: dict[str, Any] = {"hidden": {"u": 2}, "restarts": 2, "seed": 1}
    limited = fn.learn.em_fit(net.dag, table, max_seconds=1e6, **asked)
    assert limited.model == fn.learn.em_fit(net.dag, table, **asked).model
    assert limited.finished


@pytest.mark.parametrize("calls", [1, 3, 40])
def test_an_interrupt_carries_the_best_so_far(calls: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Ctrl-C at some look at the watch: before the first step, within the first start, and within a later one."""
    net, table = questionnaire("u")
    looks: list[float] = []

    def look(self: Any, done: float, total: float | None = None) -> bool:
        looks.append(done)
        if len(looks) == calls:
            raise KeyboardInterrupt
        return False

    monkeypatch.setattr("fishernet.base.progress.Watch.look", look)
    asked: dict[str, Any] = {"hidden": {"u": 3}, "seed": 1, "max_steps": 20, "tolerance": 0}
    with pytest.raises(KeyboardInterrupt) as interrupted:
        fn.learn.em_fit(net.dag, table, restarts=5, **asked)
    best = interrupted.value.best  # type: ignore[attr-defined]
    assert best.names == net.names
    monkeypatch.undo()
    if calls > 1:  # no worse than where the first start was then
        first = fn.learn.em_fit(net.dag, table, restarts=1, **(asked | {"max_steps": min(20, calls - 1)}))
        assert best.log_prob(_whole(best, table)).sum() >= first.log_likelihood - 1e-6 * abs(first.log_likelihood)


# -------------------------------------------------------------------------------------------------------- odd input


@pytest.mark.parametrize(
    ("asked", "error", "match"),
    [
        ({"u": []}, SchemaError, "holds no number of states"),
        ({"u": [2, 0]}, FishernetError, "must be an integer of at least 1, got 0"),
        ({"u": [2.0]}, FishernetError, "must be an integer"),
        ({"u": "3"}, SchemaError, "hidden\\['u'\\] must be a sequence of numbers of states"),
        ({"u": True}, FishernetError, "must be an integer"),
    ],
)
def test_bad_numbers_are_refused(asked: Any, error: type[Exception], match: str) -> None:
    net, table = questionnaire("u")
    with pytest.raises(error, match=match):
        fn.learn.em_fit(net.dag, table, hidden=asked)


def test_a_start_leaves_no_choice() -> None:
    net, table = questionnaire("u")
    with pytest.raises(FishernetError, match="a start has a number of states for 'u'"):
        fn.learn.em_fit(net.dag, table, hidden={"u": [2, 3]}, start=net)
    assert fn.learn.em_fit(net.dag, table, hidden={"u": [3]}, start=net).finished
    assert Numbers.of("u", None).ladder
