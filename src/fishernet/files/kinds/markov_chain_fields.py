"""A Markov chain as fields of the model file, and back.

::

    "alphabet": [{"symbols": ["a", "b"], "unknown": null}]
    "order": 1
    "end": false
    "start": [0.5, 0.5]                          one a context, the last symbol fastest
    "transition": [[0.9, 0.1], [0.2, 0.8]]       rows are contexts, in the same order; the end, if any, is last
"""

from __future__ import annotations

import numpy as np

from fishernet.files.fields import Fields, shown
from fishernet.files.kinds.alphabet_fields import alphabet_fields, read_alphabet
from fishernet.models import MarkovChain
from fishernet.models.sequences.markov_chain import table_shape


def markov_chain_fields(model: MarkovChain) -> dict[str, object]:
    """Return a Markov chain as what `json` writes.

    Raises
    ------
    SchemaError
        When a symbol cannot be stored.
    """
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
    start = fields.numbers(fields.items("start"), "start")
    rows = fields.items("transition")
    for name, found in (("start", len(start)), ("transition", len(rows))):
        if found != len(alphabet) ** order:
            raise fields.wrong(f"expected {len(alphabet) ** order} entries, one a context, got {found}", name)
    for position, row in enumerate(rows):
        if not isinstance(row, list) or len(row) != shape[-1]:
            raise fields.wrong(f"expected a list of {shape[-1]} numbers, got {shown(row)}", f"transition[{position}]")
    table = np.array([fields.numbers(row, f"transition[{position}]") for position, row in enumerate(rows)])
    return MarkovChain(alphabet, order, table.reshape(shape), end=end, start=start.reshape(shape[:-1]))
