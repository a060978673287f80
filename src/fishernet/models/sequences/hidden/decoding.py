"""The most probable trajectory of a string (Viterbi), its states without a symbol taken out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.models.sequences.checks import Numbers
from fishernet.models.sequences.hidden.expected_counts import require_possible

if TYPE_CHECKING:
    from fishernet.models.sequences.alphabet import Strings
    from fishernet.models.sequences.hidden_markov_model import HiddenMarkovModel


def best_states(model: HiddenMarkovModel, strings: Strings) -> npt.NDArray[np.int32]:
    """Return the state of every symbol along a best trajectory of its string, strings one after the other."""
    with np.errstate(divide="ignore"):
        start, moves, emission = map(np.log, (model.initial, model.transition, model.emission))
        end = np.zeros(model.n_states) if model.final is None else np.log(model.final)
        silent = None if model.empty is None else np.log(model.empty)
    if silent is not None:
        ways = best_ways(silent[:, None] + moves)
        end = np.maximum(end, best_product(moves, best_product(ways, silent + end)))
        start, moves = best_product(ways.T, start), np.stack([best_product(ways.T, row) for row in moves])
    states, logs = _core.hmm_best(start, np.ascontiguousarray(moves), emission, end, strings.codes, strings.offsets)
    require_possible(logs)
    return states


def best_ways(steps: Numbers) -> Numbers:
    """Return the best sum of steps on any way from a to b, 0 from a state to itself (Floyd and Warshall)."""
    ways = steps.copy()
    np.fill_diagonal(ways, 0.0)  # steps are logarithms of probabilities: no loop gains
    for via in range(len(ways)):
        np.maximum(ways, ways[:, via, None] + ways[via], out=ways)
    return ways


def best_product(matrix: Numbers, vector: Numbers) -> Numbers:
    """Return the maximum over b of ``matrix[a, b] + vector[b]``."""
    best: Numbers = (matrix + vector).max(axis=1)
    return best
