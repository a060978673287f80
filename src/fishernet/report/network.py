"""A network as a page holds it: labels, conditionals and a clique tree, from which JavaScript answers exactly.

The tables are written in base64, eight bytes per number, so that the page computes with the very numbers of the model.
A network whose tables would make the page large, or whose tree would keep a reader waiting, is left out with a reason.
"""

from __future__ import annotations

import base64
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError, StateSpaceError
from fishernet.base.names import a
from fishernet.data.encoding.labels import as_text
from fishernet.infer import JunctionTree

MOST_CELLS = 2**20  # of all cliques: about a tenth of a second in a browser
MOST_NUMBERS = 40_000, 120_000  # of all conditionals: half a megabyte of the page, or one and a half
MANY = 64  # variables from which on the page may be larger
LONGEST = (300, 120, 60, 30, 15)  # characters of a label
MOST_CHARACTERS = 150_000  # of all labels of a page

Fields = dict[str, Any]
Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class PageNetwork:
    """What the page knows of a model: names and states of its variables, and what inference needs."""

    names: tuple[str, ...]
    states: tuple[tuple[str, ...], ...]
    """Of variables of numbers none."""
    inference: Fields | None
    """Factors and a clique tree; None where there are none."""
    reason: str = ""
    """Why there are none, as a sentence."""

    @classmethod
    def of(cls, model: Any) -> PageNetwork:
        """Return what the page holds of a model with variables."""
        names, states = labels(model.variables)
        try:
            inference, reason = _inference(model), ""
        except SchemaError as error:
            inference, reason = None, str(error)
        return cls(names, states, inference, reason)

    def fields(self) -> Fields:
        """Return what is written into the page as JSON."""
        return {"names": self.names, "states": self.states, **(self.inference or {})}


def labels(variables: Sequence[Any]) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    """Return the names and the states of variables as text, cut where they are long or very many; none twice."""
    names = [variable.name for variable in variables]
    states = [() if v.is_continuous else tuple(as_text(state) for state in v.states) for v in variables]
    fits = (n for n in LONGEST if _length(names, n) + sum(_length(s, n) for s in states) <= MOST_CHARACTERS)
    longest = next(fits, LONGEST[-1])
    return _distinct(names, longest), tuple(_distinct(of, longest) for of in states)


def _length(texts: Sequence[str], longest: int) -> int:
    return sum(min(len(text), longest) for text in texts)


def _distinct(texts: Sequence[str], longest: int) -> tuple[str, ...]:
    """Return texts cut to a length; those that would be the same then (or print as nothing) end with their number."""
    found: list[str] = []
    taken: set[str] = set()
    for number, text in enumerate(texts):
        short = text if len(text) <= longest else f"{text[: longest - 1]}…"
        short = (short if short.isprintable() else repr(short)[1:-1]) if short.strip() else "(blank)"
        while short in taken:
            short += f" #{number}"
        taken.add(short)
        found.append(short)
    return tuple(found)


def _inference(model: Any) -> Fields:
    """Return factors and a clique tree; SchemaError says why a page cannot have them."""
    if model.values != "states":
        raise SchemaError(
            "The page answers questions about categorical variables, and some of these are numbers. bins=4 cuts "
            "numbers into states; net.query answers questions about a Gaussian network."
        )
    if model.inference == "samples":
        raise SchemaError("A dependency network has no exact inference; fn.infer.estimate samples from it.")
    if model.inference != "factors":
        raise SchemaError(f"The page has no inference for {a(model.kind)}.")
    numbers = sum(math.prod(model.variables[v].cardinality for v in scope) for scope in model.scopes)
    most = MOST_NUMBERS[len(model.variables) > MANY]
    if numbers > most:
        raise SchemaError(
            f"The network has {numbers:,} probabilities, and a page takes up to {most:,}; net.query answers questions."
        )
    try:
        tree = JunctionTree(model, max_table=MOST_CELLS)
    except StateSpaceError as error:
        raise SchemaError(
            f"The clique tree of this network would have {error.cells:,} cells or more, and a page computes with up to "
            f"{MOST_CELLS:,}; net.query may still answer its questions."
        ) from None
    where = {name: v for v, name in enumerate(model.names)}
    cliques = [sorted(where[name] for name in clique) for clique in tree.cliques]
    factors = list(_factors(model))
    sizes = [math.prod(model.variables[v].cardinality for v in clique) for clique in cliques]
    return {
        "factors": factors,
        "cliques": cliques,
        "parents": tree.parents,
        "homes": [_home(factor["scope"], cliques, sizes) for factor in factors],
    }


def _factors(model: Any) -> Iterator[Fields]:
    """Yield conditionals with their child, or potentials."""
    if model.conditionals:
        for c in model.conditionals:
            yield {"child": c.child, "scope": (*c.parents, c.child), "table": _base64(c.table())}
    else:
        for scope, table in model.factor_tables():
            yield {"child": -1, "scope": tuple(scope), "table": _base64(table)}


def _base64(numbers: Array) -> str:
    return base64.b64encode(np.ascontiguousarray(numbers, dtype="<f8").tobytes()).decode("ascii")


def _home(scope: Sequence[int], cliques: Sequence[Sequence[int]], sizes: Sequence[int]) -> int:
    """Return the smallest clique that holds some variables."""
    return min((n for n, clique in enumerate(cliques) if set(scope) <= set(clique)), key=sizes.__getitem__)
