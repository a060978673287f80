"""Drawing strings from a hidden Markov model, all strings a step at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from fishernet.errors import SchemaError
from fishernet.models.sequences.checks import Numbers

if TYPE_CHECKING:
    from fishernet.models.sequences.hidden_markov_model import HiddenMarkovModel

Codes = npt.NDArray[np.int64]


def draw(
    model: HiddenMarkovModel, n: int, lengths: npt.ArrayLike | None, random: np.random.Generator
) -> list[npt.NDArray[np.int32]]:
    """Return n strings as codes; `lengths` are those of the trajectories, where there is no final state."""
    if model.final is None:
        steps = _checked_lengths(lengths, n)
    else:
        if lengths is not None:
            raise SchemaError("a model with a final state draws the lengths itself; leave length out")
        _require_an_end(model)
        steps = np.full(n, np.iinfo(np.int64).max)
    none = np.zeros(model.n_states)
    starts = _cumulated(model.initial, model.stop_at_once)
    moves = _cumulated(model.transition, none if model.final is None else model.final)
    emission = _cumulated(model.emission, none if model.empty is None else model.empty)
    alive = np.flatnonzero(steps > 0)
    state = _drawn(starts[None], np.zeros(len(alive), np.int64), random)
    owners: list[Codes] = []
    symbols: list[Codes] = []
    step = 0
    while True:
        going = (state < model.n_states) & (step < steps[alive])
        alive, state = alive[going], state[going]
        if not len(alive):
            break
        symbol = _drawn(emission, state, random)
        spoken = symbol < len(model.alphabet)
        owners.append(alive[spoken])
        symbols.append(symbol[spoken])
        state = _drawn(moves, state, random)
        step += 1
    return _sorted_out(n, owners, symbols)


def _cumulated(rows: Numbers, other: npt.ArrayLike) -> Numbers:
    """Return sums of rows up to each column.

    What rounding leaves of a row belongs to its last positive column where `other`, the probability of none of the
    columns, is 0.
    """
    positive = rows > 0
    after: npt.NDArray[np.bool_] = (
        np.flip(np.cumsum(np.flip(positive, -1), -1), -1) - positive == 0
    )  # no positive column to the right
    result: Numbers = np.where(after & (np.asarray(other) == 0)[..., None], 2.0, np.cumsum(rows, axis=-1))
    return result


def _drawn(cumulated: Numbers, rows: Codes, random: np.random.Generator) -> Codes:
    """Return a column for each row, as many as there are columns where none is drawn."""
    position = random.random(len(rows))
    if len(cumulated) == 1:
        return np.searchsorted(cumulated[0], position, side="right")
    drawn = np.empty(len(rows), np.int64)
    order = np.argsort(rows, kind="stable")
    bounds = np.searchsorted(rows[order], np.arange(len(cumulated) + 1))
    for row in np.flatnonzero(np.diff(bounds)):
        members = order[bounds[row] : bounds[row + 1]]
        drawn[members] = np.searchsorted(cumulated[row], position[members], side="right")
    return drawn


def _sorted_out(n: int, owners: list[Codes], symbols: list[Codes]) -> list[npt.NDArray[np.int32]]:
    if not owners:
        return [np.zeros(0, np.int32) for _ in range(n)]
    owner, symbol = np.concatenate(owners), np.concatenate(symbols).astype(np.int32)
    order = np.argsort(owner, kind="stable")
    ends = np.cumsum(np.bincount(owner, minlength=n))
    return np.split(symbol[order], ends[:-1])


def _checked_lengths(lengths: npt.ArrayLike | None, n: int) -> Codes:
    if lengths is None:
        raise SchemaError("a model without a final state does not say how long a string is; give length")
    array = np.asarray(lengths)
    if array.dtype.kind not in "iu" or array.shape not in ((), (n,)) or (array < 0).any():
        raise SchemaError(f"length must be an integer from 0, or {n} of them; got {lengths!r}")
    return np.broadcast_to(array.astype(np.int64), (n,))


def _require_an_end(model: HiddenMarkovModel) -> None:
    """Raise when a trajectory can come to where it never stops."""
    assert model.final is not None
    moves = model.transition > 0
    met = reached(moves, model.initial > 0)
    stops = reached(moves.T, model.final > 0)
    if (met & ~stops).any():
        state = int(np.argmax(met & ~stops))
        raise SchemaError(f"a trajectory that comes to state {state} never stops; give it a way to a final state")


def reached(moves: npt.NDArray[np.bool_], start: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which states can be reached from a set of states, that set included."""
    seen = start.copy()
    while True:
        more = seen | moves[seen].any(axis=0)
        if (more == seen).all():
            return seen
        seen = more
