"""Looking labels up in the states of another variable."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fishernet import UnknownStateError, Variable
from fishernet.data.encoding.recode import recode
from tests.data.hostile import texts


@given(st.data())
def test_labels_stay_whatever_the_order_of_the_states(data: st.DataObject) -> None:
    states = data.draw(st.lists(texts, min_size=1, max_size=6, unique=True))
    extra = data.draw(st.lists(texts.filter(lambda text: text not in states), max_size=3, unique=True))
    have, want = Variable("x", states), Variable("x", data.draw(st.permutations([*states, *extra])))
    column = np.array(data.draw(st.lists(st.integers(0, len(states)))), dtype=np.uint8)
    found = recode(column, have, want)
    assert [[*want.states, None][code] for code in found] == [[*states, None][code] for code in column]


def test_equal_states_cost_nothing() -> None:
    column = np.array([0, 1], dtype=np.uint8)
    assert recode(column, Variable("x", ["a", "", "c"]), Variable("y", ["a", "", "c"])) is column


def test_a_label_that_never_occurs_may_be_unknown() -> None:
    column = np.array([0, 0, 2], dtype=np.uint8)
    assert recode(column, Variable("x", ["a", "b"]), Variable("x", ["a"])).tolist() == [0, 0, 1]


def test_an_unknown_label_is_named_with_its_first_row() -> None:
    column = np.array([0, 1, 2, 1], dtype=np.uint8)
    with pytest.raises(
        UnknownStateError, match="column 'x', row 1: the label 'b' is not among the states 'a', 'c'"
    ) as e:
        recode(column, Variable("x", ["a", "b", "c"]), Variable("x", ["a", "c"]))
    assert (e.value.variable, e.value.label, e.value.row) == ("x", "b", 1)


def test_a_label_of_another_type_is_no_code_and_is_pointed_out() -> None:
    column = np.array([0], dtype=np.uint8)
    with pytest.raises(UnknownStateError, match=r"the label 1e-16 .*there is '1e-16' \(str, not float\)"):
        recode(column, Variable("x", [1e-16]), Variable("x", ["a", "1e-16"]))
    with pytest.raises(UnknownStateError, match=r"the label 0 .*that '0.0', '0' says the same is not certain"):
        recode(column, Variable("x", [0]), Variable("x", ["0.0", "0"]))
    assert recode(column, Variable("x", [0]), Variable("x", ["a", "0"])).tolist() == [1]  # what BIF makes of it


def test_numbers_are_matched_by_value() -> None:
    column = np.array([0, 1, 2], dtype=np.uint8)
    assert recode(column, Variable("x", [1, 2]), Variable("x", [2.0, 1.0])).tolist() == [1, 0, 2]
