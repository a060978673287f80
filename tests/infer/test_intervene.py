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
