"""A hidden Markov model as fields of the model file, and back.

::

    "alphabet": [{"symbols": ["a", "b"], "unknown": null}]
    "initial": [0.5, 0.5]
    "transition": [[0.9, 0.1], [0.2, 0.8]]       rows are from, columns to
    "emission": [[0.7, 0.3], [0.1, 0.9]]         rows are states; without the empty symbol
    "empty": null                                or P(no symbol), one a state
    "final": null                                or P(stop), one a state
"""

from __future__ import annotations

import numpy as np

from fishernet.files.fields import Fields, shown
from fishernet.files.kinds.alphabet_fields import alphabet_fields, read_alphabet
from fishernet.models import HiddenMarkovModel
from fishernet.models.sequences.checks import Numbers


def hidden_markov_fields(model: HiddenMarkovModel) -> dict[str, object]:
    """Return a hidden Markov model as what `json` writes.

    Raises
    ------
    SchemaError
        When a symbol cannot be stored.
    """
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
    transition = _matrix(fields, "transition", n, n)
    emission = _matrix(fields, "emission", n, len(alphabet))
    empty, final = _vector(fields, "empty", n), _vector(fields, "final", n)
    if empty is not None:
        emission = np.column_stack([emission, empty])
    return HiddenMarkovModel(initial, transition, emission, alphabet=alphabet, final=final, empty=empty is not None)


def _vector(fields: Fields, name: str, n: int) -> Numbers | None:
    if fields.is_null(name):
        return None
    values = fields.numbers(fields.items(name), name)
    if len(values) != n:
        raise fields.wrong(f"expected {n} numbers, one a state, got {len(values)}", name)
    return values


def _matrix(fields: Fields, name: str, rows: int, columns: int) -> Numbers:
    listed = fields.items(name)
    if len(listed) != rows:
        raise fields.wrong(f"expected {rows} rows, one a state, got {len(listed)}", name)
    for position, row in enumerate(listed):
        if not isinstance(row, list) or len(row) != columns:
            raise fields.wrong(f"expected a list of {columns} numbers, got {shown(row)}", f"{name}[{position}]")
    return np.array([fields.numbers(row, f"{name}[{i}]") for i, row in enumerate(listed)]).reshape(rows, columns)
