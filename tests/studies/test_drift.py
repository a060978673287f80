"""The study of drift: that changes are what they are said to be, by enumeration, and the arithmetic of its tables."""

from __future__ import annotations

import itertools
from pathlib import Path

import numpy as np
import pytest

import fishernet as fn
from studies.drift import changes, experiments, methods
from studies.drift.changes import DEPENDENCE, FREE
from studies.study import Array, Run


def small(seed: int) -> fn.BayesianNetwork:
    """Return a -> b, (a, b) -> c, c -> d, with three states each, of which c lacks one at times."""
    random = np.random.default_rng(seed)
    names = "abcd"
    tables = {
        "a": random.dirichlet(np.ones(3)),
        "b": random.dirichlet(np.ones(3), size=3),
        "c": random.dirichlet(np.ones(3), size=(3, 3)),
        "d": random.dirichlet(np.ones(2), size=3),
    }
    tables["c"][0, 0] = [0.25, 0.75, 0.0]
    parents = {"a": [], "b": ["a"], "c": ["a", "b"], "d": ["c"]}
    variables = [fn.Variable(name, range(2 if name == "d" else 3)) for name in names]
    return fn.BayesianNetwork.from_tables(variables, parents, tables)


def joint(net: fn.BayesianNetwork) -> Array:
    """Return the probability of every row, by axes."""
    shape = [variable.cardinality for variable in net.variables]
    rows = np.array(list(itertools.product(*map(range, shape))))
    return np.exp(net.log_prob(rows)).reshape(shape)


@pytest.mark.parametrize("name", ["c", "d"])
@pytest.mark.parametrize("kind", [FREE, DEPENDENCE])
@pytest.mark.parametrize("nats", [0.001, 0.01])
def test_a_change_has_its_nats_and_stays_in_its_variable(name: str, kind: str, nats: float) -> None:
    net = small(3)
    table = changes.changed_table(net, name, kind, nats, np.random.default_rng(1))
    before, after = joint(net), joint(changes.with_table(net, name, table))
    assert after.sum() == pytest.approx(1)
    seen = after > 0
    assert float((after[seen] * np.log(after[seen] / before[seen])).sum()) == pytest.approx(nats, rel=1e-6)
    others = changes.with_table(net, name, changes.table_of(net, name))
    assert np.allclose(joint(others), before)
    if kind == DEPENDENCE:
        for axis in range(4):
            rest = tuple(k for k in range(4) if k != axis)
            assert np.allclose(after.sum(axis=rest), before.sum(axis=rest), atol=1e-12)


def test_a_root_has_no_change_of_dependence_alone() -> None:
    with pytest.raises(ValueError, match="no table of a"):
        changes.changed_table(small(3), "a", DEPENDENCE, 0.001, np.random.default_rng(1))


@pytest.mark.parametrize(("nats", "few"), [(2.2, True), (1.0, False)])
def test_what_few_random_directions_reach_is_no_candidate(nats: float, few: bool) -> None:
    net = small(3)
    reached = len(list(changes.changed_tables(net, "c", FREE, nats, np.random.default_rng(5))))
    assert 0 < reached < changes.TRIES // changes.RARE if few else reached > 100
    assert ("c" in changes.changeable(net, FREE, nats)) != few


def test_too_many_nats_are_refused() -> None:
    with pytest.raises(ValueError, match="no table of d"):
        changes.changed_table(small(3), "d", FREE, 50.0, np.random.default_rng(1))


def test_marginals_are_those_of_scipy_and_the_smallest_is_named() -> None:
    net = small(3)
    moved = fn.infer.intervene(net, {"d": 0})
    found = methods.marginals(net.sample(500, seed=1), moved.sample(500, seed=2))
    assert found.p_value < 1e-6
    assert found.named == ("d",)


def test_pairs_see_a_dependence_that_no_marginal_shows() -> None:
    columns = np.random.default_rng(3).integers(0, 2, (2, 1000))
    apart = fn.Table.from_frame({"a": columns[0], "b": columns[1], "c": columns[1]})
    together = fn.Table.from_frame({"a": columns[0], "b": columns[0], "c": columns[1]})
    assert methods.marginals(apart, together).p_value > 0.05
    found = methods.pairs(apart, together)
    assert found.p_value < 1e-9
    assert set(found.named) in ({"a", "b"}, {"b", "c"})


@pytest.mark.parametrize("make", [methods.logistic, methods.boosting])
def test_classifiers_see_what_is_plain_and_nothing_where_nothing_is(make: object) -> None:
    pytest.importorskip("sklearn")
    net = small(3)
    rows = net.sample(600, seed=1)
    moved = fn.infer.intervene(net, {"b": 2}).sample(600, seed=2)
    assert methods.classifier(rows, moved, 1, make).p_value < 1e-2  # type: ignore[arg-type]
    assert methods.classifier(rows, rows, 1, make).p_value > 0.2  # type: ignore[arg-type]


def test_names_are_counted_among_what_was_noticed() -> None:
    answers = [
        {"changed": "BP", "conditionals": [0.01, ["BP"]]},
        {"changed": "BP", "conditionals": [0.04, ["TPR"]]},
        {"changed": "BP", "conditionals": [0.9, ["HR"]]},
    ]
    right = experiments.shares_of(answers, "conditionals", experiments.is_first)
    assert right["mean"] == 0.5
    assert right["n"] == 2
    assert experiments.shares_of(answers, "conditionals", experiments.is_near)["mean"] == 1.0
    assert experiments.noticed(answers, "conditionals")["mean"] == pytest.approx(2 / 3)


def test_alarms_are_percentages_of_what_was_run() -> None:
    found = [{experiments.KNOWN: 0.05, experiments.TWO_SAMPLE: 0.5}, {experiments.KNOWN: 0.051}]
    two_sample, known, fitted, *_ = experiments.alarm_cells(found)
    assert two_sample["mean"] == 0.0
    assert known["mean"] == 50.0
    assert fitted is None


def test_a_procedure_gives_p_values() -> None:
    found = experiments.without_change(2, 2, 0)
    assert set(found) == set(experiments.PROCEDURES)
    assert all(0 < p <= 1 for p in found.values())


def test_what_changed_is_said_in_words() -> None:
    net = small(3)
    moved = fn.infer.intervene(net, {"a": 0})
    *_, names, _, _, said = experiments.what_changed("it", net.sample(800, seed=1), moved.sample(800, seed=2))
    assert "a " in names
    assert " to " in said


@pytest.mark.slow
def test_the_quick_form_has_all_tables_and_the_figure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(experiments, "SETTINGS", experiments.SETTINGS[:2])
    monkeypatch.setattr(experiments, "NATS", experiments.NATS[-2:])
    tables = {table.name: table for table in experiments.compute(Run("quick", asked_repetitions=1))}
    assert set(tables) == {"power", "named", "false-alarms", "seeds", "others"}
    experiments.draw(tables, lambda name: tmp_path / f"{name}.svg")
    assert (tmp_path / "power.svg").exists()


def test_kernels_and_tuned_trees_see_a_large_change_and_none_where_there_is_none() -> None:
    net = small(3)
    after = changes.with_table(net, "c", changes.changed_table(net, "c", FREE, 0.2, np.random.default_rng(1)))
    before, same, other = net.sample(300, seed=1), net.sample(300, seed=2), after.sample(300, seed=3)
    changed = methods.by_kernels(before, other, 0, 0.05)
    assert {said.p_value < 0.05 for said in changed.values()} == {True}
    assert {said.p_value > 0.05 for said in methods.by_kernels(before, same, 0, 0.05).values()} == {True}
    pytest.importorskip("sklearn")
    assert methods.classifier(before, other, 0, methods.tuned).p_value < 0.05
