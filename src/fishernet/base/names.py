"""Names of variables: looked up, checked and shown in messages.

Outside, a variable is its name; inside, its position among the names. Here the one becomes the other.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import count, pairwise
from typing import Any

from fishernet.base.errors import SchemaError

Positions = tuple[int, ...]
Pair = tuple[str, str]


def listed(names: Iterable[object], most: int = 8) -> str:
    """Return names as a message shows them: the first few, and how many more."""
    every = list(names)
    first = ", ".join(shown(name) for name in every[:most])
    return first if len(every) <= most else f"{first} and {len(every) - most} more"


def shown(value: object, most: int = 400) -> str:
    """Return a value as a message shows it: in one line, cut where it is long, its class where it has no text."""
    try:
        text = repr(value)
    except Exception:  # nested too deep, an int of thousands of digits, or what the object's own repr raises
        text = a(type(value).__name__)
    return cut(" ".join(text.split()) if "\n" in text else text, most)


def several(number: float, what: str, plural: str = "") -> str:
    """Return how many there are of something: ``1 row``, ``2 rows``, ``1,000 leaves``; a sum of weights may be 2.5."""
    return f"{amount(number)} {what if number == 1 else plural or what + 's'}"


def amount(number: float) -> str:
    """Return a number of rows, or a sum of their weights, as it is shown."""
    return f"{int(number):,}" if number == int(number) else f"{number:,.6g}"


def a(noun: str) -> str:
    """Return a noun with its article: ``a Dag``, ``an EdgeStrengths``."""
    return f"a{'n' * (noun[:1] in 'aeioAEIO' or noun.startswith(('Und', 'und')))} {noun}"


def cut(text: str, most: int) -> str:
    """Return a text, shortened where it is longer than `most` characters."""
    return text if len(text) <= most else f"{text[: most - 3]}..."


def counted(counts: Mapping[str, int], most: int = 8) -> str:
    """Return names with their counts as a message shows them: the first few, and how many more."""
    shown = ", ".join(f"{name!r} ({count:,})" for name, count in list(counts.items())[:most])
    return shown if len(counts) <= most else f"{shown} and {len(counts) - most} more"


def are(names: Sequence[str], what: str) -> str:
    """Return the subject of a message about one or more things, with its verb."""
    return f"the {what} {names[0]!r} is" if len(names) == 1 else f"the {what}s {listed(names)} are"


def unused_name(name: str, taken: Collection[str]) -> str:
    """Return a name for a new column, with underscores behind it where it is taken."""
    while name in taken:
        name += "_"
    return name


def doubled(items: Iterable[Any]) -> Any:
    """Return the first item that stands there a second time; None where all differ. It takes one look at each."""
    seen: set[Any] = set()
    for item in items:
        if item in seen:
            return item
        seen.add(item)
    return None


def require_str(names: Iterable[object]) -> None:
    """Raise SchemaError when a column's name is no str, as those of a data frame may be."""
    for name in names:
        if not isinstance(name, str):
            raise SchemaError(f"a column's name must be a str, not {type(name).__name__} ({shown(name)}); rename it")


def all_different(names: Sequence[str]) -> tuple[list[str], list[str]]:
    """Return names of which later ones that came before are numbered, ``a.1``, and those that were changed."""
    found: dict[str, None] = {}
    taken, changed, last = set(names), [], Counter[str]()
    for name in names:
        own = name
        if name in found:
            numbers = count(last[name] + 1)
            last[name] = next(n for n in numbers if f"{name}.{n}" not in found and f"{name}.{n}" not in taken)
            own = f"{name}.{last[name]}"
            changed.append(own)
        found[own] = None
    return list(found), changed


def told_of_renamed(changed: Sequence[str]) -> str:
    """Return in words which columns `all_different` gave other names."""
    return f"columns have the same name; the later ones are called {listed(changed)}"


def check_names(names: Sequence[str]) -> None:
    """Raise SchemaError, naming them, when names appear more than once."""
    require_str(names)
    ordered = sorted(names)
    twice = [name for name, after in pairwise(ordered) if name == after]
    if twice:
        raise SchemaError(f"the name {listed(dict.fromkeys(twice))} appears more than once; names must be unique")


def numbered(names: Iterable[str]) -> dict[str, int]:
    """Return the position of every name; SchemaError when they have no order, or one is no str or appears twice."""
    if isinstance(names, str | bytes | set | frozenset) or not isinstance(names, Iterable) or _is_one(names):
        raise SchemaError(f"names must be a sequence of str in the variables' order, not {type(names).__name__}")
    where: dict[str, int] = {}
    for position, name in enumerate(names):
        _require_str(name)
        if where.setdefault(str.__str__(name), position) != position:  # NumPy's str becomes a plain one
            raise SchemaError(f"the name {name!r} appears more than once; names must be unique")
    return where


def _is_one(value: object) -> bool:
    return getattr(value, "ndim", 1) == 0


def _require_str(name: object) -> None:
    if not isinstance(name, str):
        raise SchemaError(f"a variable's name must be a str, not {type(name).__name__} ({shown(name)})")


def position(where: Mapping[str, int], name: str, what: str = "variable") -> int:
    """Return the position of a name; SchemaError names an unknown one."""
    _require_str(name)
    if name not in where:
        raise SchemaError(f"no {what} {name!r}; there are {listed(where)}")
    return where[name]


def positions(
    names: Sequence[str] | Mapping[str, int], wanted: str | Iterable[str], what: str = "variable"
) -> Positions:
    """Return the positions of one name or of several, in the order given; SchemaError names an unknown `what`."""
    where = names if isinstance(names, Mapping) else {name: at for at, name in enumerate(names)}
    if isinstance(wanted, str):
        return (position(where, wanted, what),)
    if not isinstance(wanted, Iterable) or getattr(wanted, "ndim", 1) == 0:
        raise SchemaError(f"a name or an iterable of names is needed, not {type(wanted).__name__} ({shown(wanted)})")
    return tuple([position(where, name, what) for name in wanted])
