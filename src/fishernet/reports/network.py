"""A network as a page holds it: labels, conditionals and a clique tree, from which JavaScript answers exactly.

Numbers that stand beside labels are in blocks (`fishernet.reports.blocks`), and the tree is that of the labels.

The tables are written in base64, eight bytes per number, so that the page computes with the very numbers of the model.
A network whose tables would make the page large, or whose tree would keep a reader waiting, is left out with a reason.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from fishernet.base.errors import SchemaError, StateSpaceError
from fishernet.base.names import a, listed, several
from fishernet.data.encoding.labels import as_text
from fishernet.infer import JunctionTree
from fishernet.models import MarkovNetwork
from fishernet.reports.blocks import Block, Fields, base64_of, blocks_of, fields_of_numbers

MOST_CELLS = 2**20  # of all cliques: about a tenth of a second in a browser
MOST_NUMBERS = 40_000, 120_000  # of all conditionals: half a megabyte of the page, or one and a half
MANY = 64  # variables from which on the page may be larger
MOST_COMPONENTS = 2**17  # of the mixtures of all numbers: a second or two in a browser, where all of them differ
MOST_WORK = 2**23  # of all blocks, in multiplications: some tenths of a second
LONGEST = (300, 120, 60, 30, 15)  # characters of a label
MOST_CHARACTERS = 150_000  # of all labels of a page


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
    behind: Fields | None = None
    """What the rows behind an answer are told from; None where they are not."""

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
        behind = {} if self.behind is None else {"behind": self.behind}
        return {"names": self.names, "states": self.states, **(self.inference or {}), **behind}


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
    if model.inference == "samples":
        raise SchemaError("A dependency network has no exact inference; fn.infer.estimate samples from it.")
    if model.inference == "factors":
        return _of_states(model)
    if model.inference in ("mixed", "normal") and model.conditionals:
        return _with_numbers(model)
    raise SchemaError(f"The page has no inference for {a(model.kind)}.")


def _of_states(model: Any) -> Fields:
    _check_numbers(model, sum(math.prod(model.variables[v].cardinality for v in scope) for scope in model.scopes))
    cliques, parents = _clique_tree(model, range(len(model.variables)))
    return _in_tree(model, list(_factors(model)), cliques, parents)


def _with_numbers(model: Any) -> Fields:
    """Return the clique tree of the labels, in which every block of numbers has a clique, and the blocks."""
    labels = [v for v, variable in enumerate(model.variables) if not variable.is_continuous]
    blocks = list(blocks_of(model))
    tables = [(c.child, (*c.parents, c.child), c.table()) for c in (model.conditionals[v] for v in labels)]
    _check_numbers(model, sum(table.size for _, _, table in tables) + sum(block.n_parameters for block in blocks))
    _check_work(model, blocks)
    own = [([model.names[v] for v in scope], table) for _, scope, table in tables]
    held = [([model.names[v] for v in block.scope], np.ones(block.shape)) for block in blocks if block.scope]
    alone = MarkovNetwork([model.variables[v] for v in labels], own + held)
    cliques, parents = _clique_tree(alone, labels) if labels else ([], ())
    factors = [{"child": child, "scope": scope, "table": base64_of(table)} for child, scope, table in tables]
    found = _in_tree(model, factors, cliques, parents)
    sizes = _sizes(model, cliques)
    homes = [_home(block.scope, cliques, sizes) if block.scope else -1 for block in blocks]
    written = [block.fields(home) for block, home in zip(blocks, homes, strict=True)]
    return found | {"blocks": written, **fields_of_numbers(model.variables)}


def _check_numbers(model: Any, numbers: int) -> None:
    most = MOST_NUMBERS[len(model.variables) > MANY]
    if numbers > most:
        what = "probabilities" if model.inference == "factors" else "parameters"
        raise SchemaError(
            f"The network has {numbers:,} {what}, and a page takes up to {most:,}; net.query answers questions."
        )


def _check_work(model: Any, blocks: Sequence[Block]) -> None:
    """Raise SchemaError where a reader would wait for the blocks' normal distributions."""
    if sum(b.components for b in blocks) > MOST_COMPONENTS or sum(b.work for b in blocks) > MOST_WORK:
        largest = max(blocks, key=lambda block: block.work)
        names = [model.names[v] for v in largest.numbers]
        raise SchemaError(
            f"The numbers {listed(names)} depend on labels with {several(largest.configurations, 'configuration')} "
            "together, which are too many for a page; net.query may still answer questions."
        )


def _clique_tree(model: Any, where: Sequence[int]) -> tuple[list[list[int]], tuple[int, ...]]:
    """Return the cliques, whose variables stand at some places of the page's, and their parents."""
    try:
        tree = JunctionTree(model, max_table=MOST_CELLS)
        cells: float = tree.n_cells
    except StateSpaceError as error:
        cells = error.cells
    if cells > MOST_CELLS:
        raise SchemaError(
            f"The clique tree of this network would have {cells:,} cells or more, and a page computes with up to "
            f"{MOST_CELLS:,}; net.query may still answer its questions."
        )
    place = dict(zip(model.names, where, strict=True))
    return [sorted(place[name] for name in clique) for clique in tree.cliques], tree.parents


def _in_tree(model: Any, factors: list[Fields], cliques: list[list[int]], parents: Sequence[int]) -> Fields:
    sizes = _sizes(model, cliques)
    homes = [_home(factor["scope"], cliques, sizes) for factor in factors]
    return {"factors": factors, "cliques": cliques, "parents": parents, "homes": homes}


def _sizes(model: Any, cliques: Sequence[Sequence[int]]) -> list[int]:
    return [math.prod(model.variables[v].cardinality for v in clique) for clique in cliques]


def _factors(model: Any) -> Iterator[Fields]:
    """Yield conditionals with their child, or potentials."""
    if model.conditionals:
        for c in model.conditionals:
            yield {"child": c.child, "scope": (*c.parents, c.child), "table": base64_of(c.table())}
    else:
        for scope, table in model.factor_tables():
            yield {"child": -1, "scope": tuple(scope), "table": base64_of(table)}


def _home(scope: Sequence[int], cliques: Sequence[Sequence[int]], sizes: Sequence[int]) -> int:
    """Return the smallest clique that holds some variables."""
    return min((n for n, clique in enumerate(cliques) if set(scope) <= set(clique)), key=sizes.__getitem__)
