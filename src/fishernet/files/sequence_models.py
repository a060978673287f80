"""A hidden Markov model as fields of the model file, and back.

::

    "alphabet": [{"symbols": ["a", "b"], "unknown": null}]
    "initial": [0.5, 0.5]
    "transition": [[0.9, 0.1], [0.2, 0.8]]       rows are from, columns to
    "emission": [[0.7, 0.3], [0.1, 0.9]]         rows are states; without the empty symbol
    "empty": null                                or P(no symbol), one a state
    "final": null                                or P(stop), one a state

An alphabet as fields of the model file, and back: ``[{"symbols": ["a", "b"], "unknown": null}]``.

``"unknown"`` is the position of the symbol that others are taken for, or "skip" or "any". Where letters mean one of
several symbols there is ``"ambiguous": [{"letter": "R", "symbols": [0, 2]}]`` as well, by positions, and where small
letters are as capitals ``"folds": true``.

A hidden tree model as fields of the model file, and back.

::

    "nodes": [[4, 5], [0], [1, 2]]     the children of each inner node, depth first: below the number of leaves a leaf,
                                       from there on the inner nodes; here 3 leaves, so that 3 is the root
    "alphabet": [{"symbols": ["A", "C"], "unknown": null}]
    "missing": "?"                     what stands for a missing symbol, or null
    "arity": [1, 2]                    the number of children in each state, or null
    "branch_tables": [0, 1, 0]         the table of each branch, or null where all share one
    "root": [0.5, 0.5]
    "transition": [[0.9, 0.1], [0.1, 0.9]]       with one more level of lists where there are several tables
    "emission": [[0.9, 0.1], [0.1, 0.9]]

A Markov chain as fields of the model file, and back.

::

    "alphabet": [{"symbols": ["a", "b"], "unknown": null}]
    "order": 1
    "end": false
    "start": [0.5, 0.5]                          one a context, the last symbol fastest
    "transition": [[0.9, 0.1], [0.2, 0.8]]       rows are contexts, in the same order; the end, if any, is last

A hidden Markov model of numbers as fields of the model file, and back; the first axis of each array
of an emission is the state.

::

    "initial": [0.5, 0.5]
    "transition": [[0.9, 0.1], [0.2, 0.8]]
    "emissions": [
      {"kind": "GaussianEmission", "names": ["x"], "intercept": [[0.0], [3.0]], "sd": [[1.0], [1.0]],
       "coefficients": null, "weights": null}
      {"kind": "PoissonEmission", "names": ["n"], "rate": [[1.0], [9.0]]}
      {"kind": "LabelEmission", "name": "road", "labels": ["path", "street"], "probabilities": [[0.9, 0.1], [0.2, 0.8]]}
    ]
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError
from fishernet.base.fields import Fields, is_unicode, shown
from fishernet.files.networks import check_storable
from fishernet.models import Alphabet, HiddenMarkovModel, HiddenTree, MarkovChain, NumericHiddenMarkovModel
from fishernet.models.emissions import EMISSIONS
from fishernet.models.sequences.alphabet import ANY, SKIP, Numbers
from fishernet.models.sequences.markov_chain import table_shape
from fishernet.models.trees.shape import TreeShape


def alphabet_fields(alphabet: Alphabet) -> list[dict[str, object]]:
    """Return an alphabet as what `json` writes: a list of one."""
    for symbol in alphabet.symbols:
        if not storable(symbol):
            raise SchemaError(f"the symbol {symbol!r} cannot be stored: it is no text, finite number or truth value")
    for letter in alphabet.ambiguous:
        if not storable(letter):
            raise SchemaError(f"the letter {letter!r} cannot be stored: it is no text, finite number or truth value")
    fields: dict[str, object] = {"symbols": list(alphabet.symbols), "unknown": alphabet.unknown}
    if alphabet.unknown in alphabet.symbols:
        fields["unknown"] = alphabet.symbols.index(alphabet.unknown)
    if alphabet.ambiguous:
        fields["ambiguous"] = [
            {"letter": letter, "symbols": [alphabet.symbols.index(symbol) for symbol in of]}
            for letter, of in alphabet.ambiguous.items()
        ]
    return [{**fields, "folds": True} if alphabet.folds else fields]


def read_alphabet(model: Fields) -> Alphabet:
    """Return the alphabet among the fields of a model."""
    alphabets = model.objects("alphabet")
    if len(alphabets) != 1:
        raise model.wrong(f"expected one alphabet, got {len(alphabets)}", "alphabet")
    fields = alphabets[0]
    symbols = fields.items("symbols")
    for position, symbol in enumerate(symbols):
        if not storable(symbol):
            what = f"{shown(symbol)} is no symbol: a text, a number or a truth value"
            raise fields.wrong(what, f"symbols[{position}]")
    unknown: Any = None if fields.is_null("unknown") else fields.take("unknown")
    if unknown is not None and unknown not in (SKIP, ANY):
        unknown = symbols[_position(fields, unknown, len(symbols), "unknown")]
    ambiguous = {}
    for entry in fields.objects("ambiguous") if fields.has("ambiguous") else ():
        letter: Any = entry.take("letter")
        if not storable(letter):
            raise entry.wrong(f"{shown(letter)} is no letter: a text, a number or a truth value", "letter")
        places = [_position(entry, place, len(symbols), "symbols") for place in entry.items("symbols")]
        ambiguous[letter] = [symbols[place] for place in places]
        entry.end()
    folds = fields.truth("folds") if fields.has("folds") else False
    fields.end()
    with fields.checking():
        return Alphabet(symbols, unknown=unknown, ambiguous=ambiguous, folds=folds)


def _position(fields: Fields, value: Any, size: int, name: str) -> int:
    """Return a position among so many symbols."""
    if type(value) is not int or not 0 <= value < size:
        raise fields.wrong(f"expected a position from 0 to {size - 1}, got {shown(value)}", name)
    return value


def storable(symbol: object) -> bool:
    """Return whether a symbol can be written: a text, a finite number or a truth value."""
    if isinstance(symbol, str):
        return type(symbol) is str and is_unicode(symbol)
    if isinstance(symbol, float):
        return type(symbol) is float and abs(symbol) < float("inf")
    return type(symbol) in (int, bool) and abs(int(symbol)) < 2**64  # type: ignore[call-overload]


def hidden_markov_fields(model: HiddenMarkovModel) -> dict[str, object]:
    """Return a hidden Markov model as what `json` writes."""
    return {
        "alphabet": alphabet_fields(model.alphabet),
        "initial": model.initial.tolist(),
        "transition": model.transition.tolist(),
        "emission": model.emission.tolist(),
        "empty": None if model.empty is None else model.empty.tolist(),
        "final": None if model.final is None else model.final.tolist(),
    }


def read_hidden_markov(fields: Fields) -> HiddenMarkovModel:
    """Return the hidden Markov model that the fields describe."""
    alphabet = read_alphabet(fields)
    initial = fields.numbers(fields.items("initial"), "initial")
    n = len(initial)
    transition = _matrix(fields, "transition", n, n, "state")
    emission = _matrix(fields, "emission", n, len(alphabet), "state")
    empty, final = _vector(fields, "empty", n), _vector(fields, "final", n)
    if empty is not None:
        emission = np.column_stack([emission, empty])
    return HiddenMarkovModel(initial, transition, emission, alphabet=alphabet, final=final, empty=empty is not None)


def numeric_fields(model: NumericHiddenMarkovModel) -> dict[str, object]:
    """Return a hidden Markov model of numbers as what `json` writes."""
    check_storable(model.columns)
    return {
        "initial": model.initial.tolist(),
        "transition": model.transition.tolist(),
        "emissions": [{"kind": type(one).__name__, **one.to_fields()} for one in model.emissions],
    }


def read_numeric(fields: Fields) -> NumericHiddenMarkovModel:
    """Return the hidden Markov model of numbers that the fields describe."""
    initial = fields.numbers(fields.items("initial"), "initial")
    transition = _matrix(fields, "transition", len(initial), len(initial), "state")
    emissions = []
    for item in fields.objects("emissions"):
        kind = item.text("kind")
        if kind not in EMISSIONS:
            raise item.wrong(f"unknown emission {shown(kind)}; there are {', '.join(EMISSIONS)}", "kind")
        with item.checking():
            emissions.append(EMISSIONS[kind].from_fields(item))
        item.end()
    return NumericHiddenMarkovModel(initial, transition, emissions)


def _vector(fields: Fields, name: str, n: int) -> Numbers | None:
    if fields.is_null(name):
        return None
    values = fields.numbers(fields.items(name), name)
    if len(values) != n:
        raise fields.wrong(f"expected {n} numbers, one a state, got {len(values)}", name)
    return values


def _matrix(fields: Fields, name: str, rows: int, columns: int, of: str) -> Numbers:
    """Return a field of as many rows and columns; `of` says what has a row."""
    found = fields.items(name)
    if len(found) != rows:
        raise fields.wrong(f"expected {rows} rows, one a {of}, got {len(found)}", name)
    for position, row in enumerate(found):
        if not isinstance(row, list) or len(row) != columns:
            raise fields.wrong(f"expected a list of {columns} numbers, got {shown(row)}", f"{name}[{position}]")
    return np.array([fields.numbers(row, f"{name}[{i}]") for i, row in enumerate(found)]).reshape(rows, columns)


MOST_AXES = 3  # table, from, to


def hidden_tree_fields(tree: HiddenTree) -> dict[str, object]:
    """Return a hidden tree model as what `json` writes."""
    if tree.missing is not None and not storable(tree.missing):
        raise SchemaError(f"the symbol {tree.missing!r} cannot be stored: it is no text, finite number or truth value")
    shape = tree.shape
    several = tree.transition.ndim == 3 or tree.emission.ndim == 3
    nodes = [[~c if c < 0 else shape.n_leaves + c for _, c in shape.children(v)] for v in range(shape.n_nodes)]
    return {
        "nodes": nodes,
        "alphabet": alphabet_fields(tree.alphabet),
        "missing": tree.missing,
        "arity": None if tree.arity is None else tree.arity.tolist(),
        "branch_tables": tree.branch_tables.tolist() if several else None,
        "root": tree.root.tolist(),
        "transition": tree.transition.tolist(),
        "emission": tree.emission.tolist(),
    }


def read_hidden_tree(fields: Fields) -> HiddenTree:
    """Return the hidden tree model that the fields describe."""
    shape = _read_shape(fields)
    alphabet = read_alphabet(fields)
    missing: Any = None if fields.is_null("missing") else fields.take("missing")
    if missing is not None and not storable(missing):
        raise fields.wrong(f"{shown(missing)} is no symbol: a text, a number or a truth value", "missing")
    arity, tables = (
        None if fields.is_null(name) else _whole_numbers(fields, fields.items(name), name)
        for name in ("arity", "branch_tables")
    )
    root, transition, emission = (_array(fields, name) for name in ("root", "transition", "emission"))
    own = {"arity": arity, "alphabet": alphabet, "missing": missing, "branch_tables": tables}
    return HiddenTree(shape, root, transition, emission, **own)


def _read_shape(fields: Fields) -> TreeShape:
    nodes = fields.items("nodes")
    rows = [
        _whole_numbers(fields, row if isinstance(row, list) else [row], f"nodes[{v}]") for v, row in enumerate(nodes)
    ]
    n_leaves = sum(map(len, rows)) - (len(rows) - 1)
    return TreeShape.from_children([[c - n_leaves if c >= n_leaves else ~c for c in row] for row in rows])


def _whole_numbers(fields: Fields, values: list[Any], name: str) -> list[int]:
    for value in values:
        if type(value) is not int or not 0 <= value < 2**31:
            raise fields.wrong(f"expected integers from 0, got {shown(value)}", name)
    return values


def _array(fields: Fields, name: str) -> npt.NDArray[np.float64]:
    """Return a field of nested lists as an array."""
    values: list[Any] = fields.items(name)
    shape = [len(values)]
    while values and isinstance(values[0], list):
        size = len(values[0])
        if any(not isinstance(row, list) or len(row) != size for row in values):
            raise fields.wrong("the lists inside differ in length", name)
        shape.append(size)
        if len(shape) > MOST_AXES:
            raise fields.wrong(f"lists are nested more than {MOST_AXES} deep", name)
        values = [item for row in values for item in row]
    return fields.numbers(values, name).reshape(shape)


def markov_chain_fields(model: MarkovChain) -> dict[str, object]:
    """Return a Markov chain as what `json` writes."""
    return {
        "alphabet": alphabet_fields(model.alphabet),
        "order": model.order,
        "end": model.end,
        "start": model.start.ravel().tolist(),
        "transition": model.transition.reshape(-1, model.transition.shape[-1]).tolist(),
    }


def read_markov_chain(fields: Fields) -> MarkovChain:
    """Return the Markov chain that the fields describe."""
    alphabet = read_alphabet(fields)
    order, end = fields.whole("order"), fields.truth("end")
    with fields.checking():
        shape = table_shape(len(alphabet), order, end)
    n_contexts = len(alphabet) ** order
    start = fields.numbers(fields.items("start"), "start")
    if len(start) != n_contexts:
        raise fields.wrong(f"expected {n_contexts} entries, one a context, got {len(start)}", "start")
    table = _matrix(fields, "transition", n_contexts, shape[-1], "context")
    return MarkovChain(alphabet, order, table.reshape(shape), end=end, start=start.reshape(shape[:-1]))
