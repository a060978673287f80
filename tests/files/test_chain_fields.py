"""Markov chains, Gaussians and mixtures in the model file."""

from __future__ import annotations

import copy
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.fields import Fields
from fishernet.files.sequence_models import markov_chain_fields, read_markov_chain
from fishernet.models import Alphabet
from tests.files.hostile import rows, states

finite = st.floats(allow_nan=False, allow_infinity=False)
positive = st.floats(0, exclude_min=True, allow_nan=False, allow_infinity=False)


@st.composite
def chains(draw: st.DrawFn) -> fn.MarkovChain:
    symbols = [s for s in draw(states()) if not isinstance(s, int) or abs(s) < 2**63]
    alphabet = Alphabet(symbols or ["a"], unknown=(symbols or ["a"])[-1] if draw(st.booleans()) else None)
    order, end, m = draw(st.integers(0, 2)), draw(st.booleans()), len(alphabet)
    table = np.array([draw(rows(m + end)) for _ in range(m**order)]).reshape((m,) * order + (m + end,))
    start = np.array(draw(rows(m**order))).reshape((m,) * order)
    return fn.MarkovChain(alphabet, order, table, end=end, start=start)


def again(model: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        fn.save(model, Path(folder, "a.json"))
        return fn.load(Path(folder, "a.json"))


@given(chains())
def test_a_chain_comes_back_to_the_last_bit(chain: fn.MarkovChain) -> None:
    found = again(chain)
    assert found == chain
    assert hash(found) == hash(chain)
    assert [type(s) for s in found.alphabet.symbols] == [type(s) for s in chain.alphabet.symbols]
    assert found.transition.tobytes() == chain.transition.tobytes()


@given(finite, positive)
def test_a_gaussian_comes_back_to_the_last_bit(mean: float, sd: float) -> None:
    assert again(fn.Gaussian(mean, sd)) == fn.Gaussian(mean, sd)


@given(st.integers(1, 4).flatmap(rows), st.data(), positive)
def test_a_mixture_comes_back_to_the_last_bit(weights: list[float], data: st.DataObject, sd: float) -> None:
    means = data.draw(st.lists(finite, min_size=len(weights), max_size=len(weights)))
    mixture = fn.GaussianMixture(weights, means, sd)
    assert again(mixture) == mixture


DESCRIBED = markov_chain_fields(fn.MarkovChain("ab", 1, [[0.5, 0.25, 0.25], [0.0, 0.0, 1.0]], end=True))


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("order", -1, "order: expected an integer from 0"),
        ("order", 0, "start: expected 1 entries"),
        ("order", 40, "lower order"),
        ("end", 1, "end: expected true or false"),
        ("end", False, r"transition\[0\]: expected a list of 2 numbers, got a list of 3"),
        ("start", [1.0], "start: expected 2 entries, one a context, got 1"),
        ("start", [0.5, 0.6], "start sums to 1.1"),
        ("start", ["x", 1], "expected numbers, got 'x'"),
        ("transition", [[0.5, 0.25, 0.25]], "transition: expected 2 rows, one a context"),
        ("transition", [[0.5, 0.25, 0.25], [1.0, 0.0, None]], "expected numbers, got null"),
        ("transition", [[0.5, 0.25, 0.25], [1.0, 0.0, 0.1]], "row 1 of transition sums to 1.1"),
        ("alphabet", [], "expected one alphabet, got 0"),
    ],
)
def test_wrong_fields_are_named(name: str, value: Any, message: str) -> None:
    described = copy.deepcopy(dict(DESCRIBED)) | {name: value}
    fields = Fields("chain.json", "", described)
    with pytest.raises(fn.FileFormatError, match=message), fields.checking():
        read_markov_chain(fields)


def test_a_damaged_gaussian_names_its_field(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    fn.save(fn.Gaussian(0.0, 1.0), path)
    path.write_text(path.read_text().replace('"sd": 1.0', '"sd": -1.0'))
    with pytest.raises(fn.FileFormatError, match="standard deviation must be a finite, positive number"):
        fn.load(path)
    path.write_text(path.read_text().replace('"sd": -1.0', '"sd": "wide"'))
    with pytest.raises(fn.FileFormatError, match="sd: expected numbers, got 'wide'"):
        fn.load(path)


def test_symbols_that_are_no_labels_cannot_be_stored(tmp_path: Path) -> None:
    chain = fn.MarkovChain([("a", 1), ("b", 2)], 0, [0.5, 0.5])
    with pytest.raises(fn.SchemaError, match="cannot be stored"):
        fn.save(chain, tmp_path / "a.json")
