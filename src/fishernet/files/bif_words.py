"""How names and states stand in a file in the Interchange Format.

The format knows words only, and its readers agree on few of them. A word here is an identifier or a whole number; any
other name or label is written as an identifier (`fishernet.files.words`). What it is exactly stands in a property,
which other programs skip::

    variable q1st_class {
      type discrete [ 3 ] { q1, q2_5, none };
      property fishernet_name = "1st class";
      property fishernet_states = int 1, float 2.5, str "none";
    }

pyAgrum reads no variable of one state, so that such a one is written with a second state, which has probability 0 and
is not among the property's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence

from fishernet.base.fields import is_unicode
from fishernet.data import State
from fishernet.files.words import quoted, safe_words

BOUNDS, UNIT = "fishernet_bounds", "fishernet_unit"
NAME, STATES, CUTS, ROWS = "fishernet_name", "fishernet_states", "fishernet_cuts", "fishernet_n_rows"  # our properties
NEVER = "never"  # the second state of a variable of one
MOST_SIGNS = 8000  # of the text of a property; pyAgrum takes 16,380

QUOTED = r'"(?:[^"\\\n]|\\.)*"'
PLAIN_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_.-]{0,254}")
PLAIN_STATE = re.compile(rf"{PLAIN_NAME.pattern}|-?[0-9]{{1,9}}")
RESERVED = frozenset(("network", "variable", "probability", "property", "type", "discrete", "table", "default"))
_BETWEEN_COMMAS = re.compile(rf'{QUOTED}|[^",]+')
_WORD = re.compile(rf'{QUOTED}|[^",\s]+')
_STATE = re.compile(rf'(?:(int|float|bool)\s+([^\s,"]+)|str\s+({QUOTED}))\s*(?:,\s*|$)')


def name_words(names: Sequence[str]) -> list[str]:
    """Return the words for the variables, which differ in more than capitals: pgmpy takes those for the same."""
    return safe_words(names, PLAIN_NAME, RESERVED, folds=True)


def read_label(token: str) -> str:
    """Return the label that a token stands for; ValueError when its quotes or escapes are wrong."""
    word = token.strip()
    if not word.startswith('"'):
        return word
    try:
        label = json.loads(word, strict=False)
    except ValueError:
        raise ValueError(f"{word} has an escape that JSON does not know") from None
    if not is_unicode(label):
        raise ValueError(f"{word} holds half of a surrogate pair")
    return str(label)


def label_lists(text: str) -> tuple[list[str], list[str]]:
    """Return the labels of a list in both ways it may be meant: separated by commas, or by blanks as well.

    The format ignores commas between words, yet some programs write labels with blanks inside. Quotes always hold a
    label together. Raises ValueError as `read_label` does.
    """
    by_commas = [read_label(token) for token in _BETWEEN_COMMAS.findall(text) if not token.isspace()]
    return by_commas, [read_label(token) for token in _WORD.findall(text)]


def state_words(states: Sequence[State]) -> list[str]:
    """Return the words for the states of a variable; different ones, whatever the states' types."""
    labels = [state if isinstance(state, str) else _typed(state)[1] for state in states]
    return safe_words(labels if len(labels) > 1 else [*labels, NEVER], PLAIN_STATE, RESERVED, folds=False)


def written_states(states: Sequence[State]) -> str:
    """Return the states with their types, as the property says them."""
    typed = [f"str {quoted(state)}" if isinstance(state, str) else " ".join(_typed(state)) for state in states]
    return ", ".join(typed)


def property_lines(name: str, text: str) -> Iterator[str]:
    """Yield a property; a long text as several ones of the same name, which are read as one."""
    while len(text) > MOST_SIGNS:
        end = MOST_SIGNS
        while text[end - 1].isspace() or text[end].isspace():  # what is outside of words is not read
            end -= 1
        yield f"  property {name} = {text[:end]};\n"
        text = text[end:]
    yield f"  property {name} = {text};\n"


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


def read_numbers(text: str) -> list[float]:
    """Return the numbers of a property, int where one is written without a point."""
    words = [word.strip() for word in text.split(",") if word.strip()]
    return [int(word) if word.lstrip("-").isdecimal() else float(word) for word in words]


def read_rows(text: str) -> int | float:
    """Return the number of rows that the property says; ValueError when it is none."""
    if not re.fullmatch(r"[0-9]{1,19}(\.[0-9]{1,40})?(e[+-]?[0-9]{1,2})?", text):
        raise ValueError(f"{ROWS} must be a number from 0, got {text[:40]!r}")
    return int(text) if text.isdigit() else float(text)
