"""Setting variables from outside: the truncated factorization (Pearl, Causality, section 1.3.1)."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import SchemaError, UnknownStateError
from tests.reference import inference as reference
from tests.reference.inference import all_kinds
from tests.reference.mixed import random_network as mixed_network


@st.composite
def interventions(draw: st.DrawFn) -> tuple[fn.BayesianNetwork, dict[str, Any]]:
    """A network and the states, possible or not, that some variables are set to."""
    net = draw(all_kinds())
    chosen = draw(st.lists(st.sampled_from(net.variables), unique_by=lambda v: v.name))
    return net, {v.name: draw(st.sampled_from(v.states)) for v in chosen}


@given(interventions())
def test_it_is_the_truncated_factorization(case: tuple[fn.BayesianNetwork, dict[str, Any]]) -> None:
    net, states = case
    done = fn.infer.intervene(net, states)
    np.testing.assert_allclose(reference.joint(done), reference.intervene(net, states), rtol=1e-13, atol=1e-300)


@given(interventions())
def test_what_is_set_loses_its_parents_and_all_else_stays(case: tuple[fn.BayesianNetwork, dict[str, Any]]) -> None:
    net, states = case
    done = fn.infer.intervene(net, states)
    assert isinstance(done, fn.BayesianNetwork)
    assert done.variables == net.variables
    for before, after in zip(net.conditionals, done.conditionals, strict=True):
        variable = before.variables[-1]
        if variable.name in states:
            assert after.parents == ()
            assert after.table().tolist() == [float(state == states[variable.name]) for state in variable.states]
        else:
            assert after.parents == before.parents
            np.testing.assert_array_equal(after.table(), before.table())


@given(all_kinds())
def test_setting_a_root_is_seeing_it(net: fn.BayesianNetwork) -> None:
    root = net.dag.order[0]
    variable = net.variables[root]
    for label, p in zip(variable.states, net.conditionals[root].table(), strict=True):
        if p > 0:
            done = fn.infer.intervene(net, {variable.name: label})
            seen = reference.marginal(net, net.names, {variable.name: label})
            np.testing.assert_allclose(fn.infer.marginal(done, net.names), seen, rtol=1e-10, atol=1e-300)


def test_a_state_that_nobody_ever_saw_can_be_set() -> None:
    a, b = fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1])
    net = fn.BayesianNetwork.from_tables([a, b], {"b": ["a"]}, {"a": [1, 0], "b": [[0.9, 0.1], [0.2, 0.8]]})
    done = fn.infer.intervene(net, {"a": 1})
    np.testing.assert_allclose(fn.infer.marginal(done, ["b"]), [0.2, 0.8], rtol=1e-13)


def kidney_stones() -> fn.BayesianNetwork:
    """Successes of two treatments of kidney stones by the stones' size (Charig et al. 1986, BMJ 292:879)."""
    size = fn.Variable("size", ["small", "large"])
    treatment = fn.Variable("treatment", ["open surgery", "nephrolithotomy"])
    success = fn.Variable("success", ["no", "yes"])
    cured = np.array([[81 / 87, 234 / 270], [192 / 263, 55 / 80]])
    tables: dict[str, Any] = {
        "size": [357 / 700, 343 / 700],
        "treatment": [[87 / 357, 270 / 357], [263 / 343, 80 / 343]],
        "success": np.stack([1 - cured, cured], axis=-1),
    }
    parents = {"treatment": ["size"], "success": ["size", "treatment"]}
    return fn.BayesianNetwork.from_tables([size, treatment, success], parents, tables)


def test_simpsons_paradox_is_a_matter_of_seeing_and_doing() -> None:
    """Nephrolithotomy was seen to cure more, 289 / 350 to 273 / 350, for it was given the small stones."""
    net = kidney_stones()

    def cured(net: fn.BayesianNetwork, **options: Any) -> float:
        return float(fn.infer.marginal(net, ["success"], **options)[1])

    seen = [cured(net, given={"treatment": label}) for label in net.variables[1].states]
    done = [cured(fn.infer.intervene(net, {"treatment": label})) for label in net.variables[1].states]
    assert seen == pytest.approx([273 / 350, 289 / 350], rel=1e-12)
    # the adjustment formula: the sizes as they are in all 700 patients
    surgery = 357 / 700 * 81 / 87 + 343 / 700 * 192 / 263
    assert done == pytest.approx([surgery, 357 / 700 * 234 / 270 + 343 / 700 * 55 / 80], rel=1e-12)
    assert seen[0] < seen[1]
    assert done[0] > done[1]


def test_what_does_not_fit_is_named() -> None:
    net = kidney_stones()
    with pytest.raises(SchemaError, match="'weather'"):
        fn.infer.intervene(net, {"weather": "fine"})
    with pytest.raises(UnknownStateError, match=r"'treatment'.*'prayer'|'prayer'.*'treatment'") as refused:
        fn.infer.intervene(net, {"treatment": "prayer"})
    assert (refused.value.variable, refused.value.label) == ("treatment", "prayer")
    with pytest.raises(UnknownStateError):
        fn.infer.intervene(net, {"treatment": 0})  # a code is no label


@pytest.mark.parametrize("seed", range(6))
def test_a_number_that_is_set_tells_of_what_it_causes_alone(seed: int) -> None:
    """Given all that is not caused by it, seeing and setting are the same; its causes do not move."""
    net = mixed_network(seed)
    number = next(v for v in reversed(net.dag.order) if net.variables[v].is_continuous)
    first = next(v for v in net.dag.order if net.variables[v].is_continuous)
    value = float(net.sample(1, seed=seed).codes[first][0])
    name = net.names[first]
    done = fn.infer.intervene(net, {name: value})
    assert done.query(name).interval(0.9) == pytest.approx((value, value), rel=1e-12)
    np.testing.assert_allclose(done.sample(20, seed=1).codes[first], value, rtol=1e-12)
    parents = net.dag.parents[first]
    row = net.sample(1, seed=seed + 50)
    given = {net.names[p]: row[net.names[p]][0] for p in parents}
    if number != first:  # below it, given what it is caused by, to see and to set are the same
        seen = net.query(net.names[number], given={**given, name: value})
        below = done.query(net.names[number], given=given)
        assert below.mean == pytest.approx(seen.mean, rel=1e-9, abs=1e-9)
        assert below.sd == pytest.approx(seen.sd, rel=1e-9)
    for p in parents:
        np.testing.assert_allclose(done.query(net.names[p]).array, net.query(net.names[p]).array, rtol=1e-10)


def test_a_number_of_a_gaussian_network_is_set() -> None:
    dag = fn.Dag.from_edges(["u", "x", "y"], [("u", "x"), ("u", "y"), ("x", "y")])
    net = fn.BayesianNetwork.from_regressions(dag, [1, 0, 0], [[], [2], [1, 3]], [1, 0.5, 0.1])
    done = fn.infer.intervene(net, {"x": 5})
    assert done.query("y").mean == pytest.approx(16)  # u stays at 1; seen, it would be 2.29
    assert done.query("y").sd == pytest.approx(np.hypot(1, 0.1))
    assert done.query("u", given={"y": 16.5}).mean == pytest.approx(1 + 0.5 / 1.01)
    assert done.log_prob([[1.0, 5.0, 16.0]])[0] - done.log_prob([[1.0, 5.0, 16.2]])[0] == pytest.approx(2)
