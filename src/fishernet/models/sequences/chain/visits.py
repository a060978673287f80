"""How a Markov chain goes from context to context."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fishernet.errors import FishernetError
from fishernet.models.sequences.checks import Numbers

Places = npt.NDArray[np.int64]


class Moves(NamedTuple):
    """The steps from every context."""

    rows: Numbers
    """(n_contexts, n_symbols) P(next | context)."""
    following: Places
    """(n_contexts, n_symbols) the context after each step."""

    def forward(self, now: Numbers) -> Numbers:
        """Return P(context) one step later, (n_contexts,)."""
        weights = (now[:, None] * self.rows).ravel()
        return np.bincount(self.following.ravel(), weights, minlength=len(now)).astype(np.float64, copy=False)


def next_contexts(n_contexts: int, n_symbols: int) -> Places:
    """Return the context after each context and symbol, (n_contexts, n_symbols): the first symbol is forgotten."""
    return np.asarray(np.arange(n_contexts * n_symbols).reshape(n_contexts, n_symbols) % n_contexts)


def reached_contexts(rows: Numbers, start: Numbers) -> Places:
    """Return the contexts that strings come to, ascending.

    Parameters
    ----------
    rows : (n_contexts, n_symbols + 1) array
        P(next | context); the last column is the end.
    start : (n_contexts,) array
        P(first context).

    Raises
    ------
    FishernetError
        When from one of them no string ever ends.
    """
    leads, following = rows[:, :-1] > 0, next_contexts(rows.shape[0], rows.shape[1] - 1)
    reached, new = start > 0, np.flatnonzero(start > 0)
    while len(new):
        targets = np.unique(following[new][leads[new]])
        new = targets[~reached[targets]]
        reached[new] = True
    ends, n_ending = rows[:, -1] > 0, -1
    while n_ending != (n_ending := int(ends.sum())):
        ends = ends | (leads & ends[following]).any(axis=1)
    if (reached & ~ends).any():
        context = int(np.argmax(reached & ~ends))
        raise FishernetError(
            f"strings that come to context number {context} (in C order) never end; give the end a positive probability"
        )
    return np.flatnonzero(reached)


def transient_system(rows: Numbers, start: Numbers) -> tuple[Places, Numbers]:
    """Return the contexts that strings come to, and the identity less the moves among them.

    Expected steps from context v when a string is at u are ``inverse(system)[u, v]``.
    """
    here = reached_contexts(rows, start)
    place = np.zeros(len(start), np.int64)
    place[here] = np.arange(len(here))
    following = next_contexts(rows.shape[0], rows.shape[1] - 1)
    system = np.eye(len(here))
    for symbol in range(rows.shape[1] - 1):
        moving = np.flatnonzero(rows[here, symbol] > 0)  # to contexts that are reached too
        np.subtract.at(system, (moving, place[following[here[moving], symbol]]), rows[here[moving], symbol])
    return here, system
