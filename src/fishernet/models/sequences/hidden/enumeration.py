"""All strings of one length."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from fishernet.errors import SchemaError, StateSpaceError
from fishernet.models.sequences.checks import Numbers

if TYPE_CHECKING:
    from fishernet.models.sequences.hidden_markov_model import HiddenMarkovModel

MOST_ENUMERATED = 2**20


def enumerated_information(model: HiddenMarkovModel, length: int | None, parameters: Sequence[str] | None) -> Numbers:
    """Return the expected product of the scores over all strings of a length.

    Raises
    ------
    SchemaError
        When there is no length.
    StateSpaceError
        When there are too many strings.
    """
    what = "the strings of a model with a final state or an empty symbol"
    remedy = "simulate the information"
    if model.final is not None or model.empty is not None:
        raise StateSpaceError(what, cells=math.inf, limit=MOST_ENUMERATED, remedy=remedy)
    if length is None or length < 0:
        raise SchemaError(
            f"a model without a final state knows no lengths: give length, an integer from 0; got {length!r}"
        )
    n_symbols = len(model.alphabet)
    cells = n_symbols**length * max(length, 1)
    if cells > MOST_ENUMERATED:
        raise StateSpaceError(f"the strings of length {length}", cells=cells, limit=MOST_ENUMERATED, remedy=remedy)
    strings = [model.alphabet.decode(codes) for codes in itertools.product(range(n_symbols), repeat=length)]
    logs = model.log_prob(strings)
    possible = [string for string, log in zip(strings, logs, strict=True) if log > -np.inf]
    derivatives = model.fisher_scores(possible, parameters=parameters)
    return (derivatives * np.exp(logs[logs > -np.inf])[:, None]).T @ derivatives
