"""Hidden Markov models in the library's own file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import FileFormatError, SchemaError
from fishernet.base.fields import Fields
from fishernet.files.sequence_models import hidden_markov_fields, read_hidden_markov
from fishernet.models import Alphabet
from tests.reference.hidden_markov import Parts, parts

HMM = fn.HiddenMarkovModel(
    [0.5, 0.25], [[0.5, 0.25], [0.0, 0.5]], [[1.0, 0.0], [0.5, 0.5]], alphabet="ab", final=[0.25, 0.5]
)


def fields(described: dict[str, Any]) -> Fields:
    return Fields("hmm.json", "", json.loads(json.dumps(described)))


@given(parts())
def test_every_bit_comes_back(m: Parts) -> None:
    described = fields(hidden_markov_fields(m.model()))
    again = read_hidden_markov(described)
    described.end()
    assert again == m.model()
    assert (again.final is None) == (m.final is None)


SYMBOLS = st.one_of(st.text(st.characters(exclude_categories=["Cs"]), max_size=3), st.integers(-(2**63), 2**63))


@given(st.lists(SYMBOLS, min_size=1, max_size=5, unique=True), st.booleans())
def test_symbols_keep_their_kind(symbols: list[Any], known: bool) -> None:
    alphabet = Alphabet(symbols, unknown=symbols[-1] if known else None)
    emission = np.full((1, len(symbols)), 1 / len(symbols))
    hmm = fn.HiddenMarkovModel([1], [[1]], emission, alphabet=alphabet)
    again = read_hidden_markov(fields(hidden_markov_fields(hmm)))
    assert again.alphabet == alphabet
    assert list(map(type, again.alphabet.symbols)) == list(map(type, symbols))


def test_saved_and_loaded(tmp_path: Path) -> None:
    fn.save(HMM, tmp_path / "hmm.json.gz")
    loaded = fn.load(tmp_path / "hmm.json.gz")
    assert loaded == HMM
    assert loaded.log_prob(["ab", ""]).tolist() == HMM.log_prob(["ab", ""]).tolist()


def test_a_symbol_that_json_does_not_know_is_refused() -> None:
    hmm = fn.HiddenMarkovModel([1], [[1]], [[0.5, 0.5]], alphabet=[("a", 1), ("b", 2)])
    with pytest.raises(SchemaError, match="cannot be stored"):
        hidden_markov_fields(hmm)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("initial", [0.5, 0.75], "initial sums to 1.25"),
        ("initial", [0.5, "x"], "initial: expected numbers"),
        ("transition", [[0.5, 0.25]], "transition: expected 2 rows"),
        ("transition", [[0.5, 0.25], 3], r"transition\[1\]: expected a list of 2"),
        ("emission", [[1.0], [1.0]], r"emission\[0\]: expected a list of 2"),
        ("emission", [[1.0, None], [0.5, 0.5]], r"emission\[0\]: expected numbers"),
        ("final", [0.25], "final: expected 2 numbers"),
        ("alphabet", [], "expected one alphabet"),
        ("alphabet", [{"symbols": ["a", None], "unknown": None}], r"symbols\[1\]: null is no symbol"),
        ("alphabet", [{"symbols": ["a", "b"], "unknown": 2}], "expected a position from 0 to 1"),
        ("alphabet", [{"symbols": ["a", "a"], "unknown": None}], "twice"),
    ],
)
def test_what_was_edited_wrongly_is_refused_with_its_place(
    tmp_path: Path, name: str, value: object, message: str
) -> None:
    described = {"format": "fishernet", "version": 1, "kind": "HiddenMarkovModel", **hidden_markov_fields(HMM)}
    path = tmp_path / "hmm.json"
    path.write_text(json.dumps({**described, name: value}))
    with pytest.raises(FileFormatError, match=message):
        fn.load(path)
