r"""How names and states stand in a file in the Interchange Format.

The format knows words only. A label of letters, digits and ``_ . + < > = / -`` is written as it is; any other one is
put in double quotes with the escapes of JSON (``\"``, ``\\``, ``\n``, ``\u0007``), which other programs may not undo.

States are words there too, so a variable that has a state of another type than str says the states once more, with
their types, in a property that other programs skip::

    type discrete [ 3 ] { 1, 2.5, none };
    property fishernet_states = int 1, float 2.5, str "none";
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence

from fishernet.base.fields import is_text
from fishernet.data import State

STATES, CUTS, ROWS = "fishernet_states", "fishernet_cuts", "fishernet_n_rows"  # the properties that we write

QUOTED = r'"(?:[^"\\\n]|\\.)*"'
_PLAIN = re.compile(r"[A-Za-z0-9_.+<>=/-]+")
_BETWEEN_COMMAS = re.compile(rf'{QUOTED}|[^",]+')
_WORD = re.compile(rf'{QUOTED}|[^",\s]+')
_STATE = re.compile(rf'(?:(int|float|bool)\s+([^\s,"]+)|str\s+({QUOTED}))\s*(?:,\s*|$)')


def written_label(label: str) -> str:
    """Return a label as it stands in the file."""
    return str.__str__(label) if is_plain(label) else json.dumps(label, ensure_ascii=False)


def is_plain(label: str) -> bool:
    """Return whether a label needs no quotes."""
    return _PLAIN.fullmatch(label) is not None and "//" not in label


def read_label(token: str) -> str:
    """Return the label that a token stands for; ValueError when its quotes or escapes are wrong."""
    word = token.strip()
    if not word.startswith('"'):
        return word
    try:
        label = json.loads(word, strict=False)
    except ValueError:
        raise ValueError(f"{word} has an escape that JSON does not know") from None
    if not is_text(label):
        raise ValueError(f"{word} holds half of a surrogate pair")
    return str(label)


def label_lists(text: str) -> tuple[list[str], list[str]]:
    """Return the labels of a list in both ways it may be meant: separated by commas, or by blanks as well.

    The format ignores commas between words, yet some programs write labels with blanks inside. Quotes always hold a
    label together. Raises ValueError as `read_label` does.
    """
    by_commas = [read_label(token) for token in _BETWEEN_COMMAS.findall(text) if not token.isspace()]
    return by_commas, [read_label(token) for token in _WORD.findall(text)]


def state_labels(states: Sequence[State]) -> list[str]:
    """Return the words for the states of a variable; different ones, whatever their types.

    A state that is no str gets an underscore behind where a str looks the same.
    """
    taken = {state for state in states if isinstance(state, str)}
    labels = []
    for state in states:
        if isinstance(state, str):
            labels.append(str.__str__(state))
            continue
        label = _typed(state)[1]
        while label in taken:
            label += "_"
        taken.add(label)
        labels.append(label)
    return labels


def written_states(states: Sequence[State]) -> str:
    """Return the states with their types, as the property says them."""
    typed = [
        f"str {json.dumps(state, ensure_ascii=False)}" if isinstance(state, str) else " ".join(_typed(state))
        for state in states
    ]
    return ", ".join(typed)


def read_states(text: str) -> list[State]:
    """Return the states that the property says; ValueError when it cannot be read."""
    states: list[State] = []
    position, end = 0, len(text)
    while position < end:
        match = _STATE.match(text, position)
        if match is None:
            raise ValueError(f"{text[position : position + 40]!r} is no state with its type")
        kind, word, quoted = match.groups()
        states.append(read_label(quoted) if kind is None else _value(kind, word))
        position = match.end()
    return states


def _typed(state: float) -> tuple[str, str]:
    """Return the type of a number or truth value, and the number; subclasses as what they are."""
    if isinstance(state, bool):
        return "bool", repr(state)
    if isinstance(state, int):
        return "int", int.__repr__(state)
    return "float", float.__repr__(state)


def _value(kind: str, word: str) -> State:
    if kind == "bool" and word in ("True", "False"):
        return word == "True"
    if kind == "bool" or "_" in word or not word.isascii():
        raise ValueError(f"{word!r} is no {kind}")
    return int(word) if kind == "int" else float(word)
