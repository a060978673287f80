"""The Fisher information of a Markov chain, exactly.

The score of a step c after u is a martingale difference where p(c | u) > 0, so that scores of different steps are
uncorrelated and the information is one block a context::

    (expected steps from u) (diag(1 / p) - 1)

Where p(c | u) = 0 the score is -1 for each step from u, whatever it is. Its products with the others need the expected
steps from u after each step, which are found backward in time.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fishernet.models.sequences.chain.visits import Moves, next_contexts, transient_system
from fishernet.models.sequences.checks import Numbers

Places = npt.NDArray[np.int64]


def information_of_length(rows: Numbers, start: Numbers, n_steps: int) -> Numbers:
    """Return the information of strings with that many steps, (rows.size, rows.size).

    Parameters
    ----------
    rows : (n_contexts, n_symbols) array
        P(next | context).
    start : (n_contexts,) array
        P(first context).
    n_steps : int
    """
    moves = Moves(rows, next_contexts(rows.shape[0], rows.shape[1]))
    now, before = start, []
    for _ in range(n_steps):
        before.append(now)
        now = moves.forward(now)
    visits = np.sum(before, axis=0) if before else np.zeros(len(start))
    marked = np.flatnonzero((rows == 0).any(axis=1) & (visits > 0))
    after = np.zeros((*rows.shape, len(marked)))
    if len(marked):
        coming = np.zeros((len(start), len(marked)))
        for weights in reversed(before):
            following = coming[moves.following]
            after += weights[:, None, None] * following
            coming = (rows[:, :, None] * following).sum(axis=1)
            coming[marked, np.arange(len(marked))] += 1
    return _assembled(rows, visits, marked, after)


def information_until_end(rows: Numbers, start: Numbers) -> Numbers:
    """Return the information of strings that end by themselves, (rows.size, rows.size).

    Parameters
    ----------
    rows : (n_contexts, n_symbols + 1) array
        P(next | context); the last column is the end.
    start : (n_contexts,) array
        P(first context).
    """
    here, system = transient_system(rows, start)
    visits = np.zeros(len(start))
    visits[here] = np.linalg.solve(system.T, start[here])
    marked = here[(rows[here] == 0).any(axis=1)]
    coming = np.zeros((len(start), len(marked)))
    coming[here] = np.linalg.solve(system, (here[:, None] == marked).astype(np.float64))
    after = np.zeros((*rows.shape, len(marked)))
    after[:, :-1] = visits[:, None, None] * coming[next_contexts(rows.shape[0], rows.shape[1] - 1)]
    return _assembled(rows, visits, marked, after)


def _assembled(rows: Numbers, visits: Numbers, marked: Places, after: Numbers) -> Numbers:
    """Return the information.

    Parameters
    ----------
    rows : (n_contexts, width) array
    visits : (n_contexts,) array
        Expected steps from each context.
    marked : (n_marked,) array
        The contexts with a symbol of probability 0.
    after : (n_contexts, width, n_marked) array
        Expected steps from a marked context after a step, summed over the times when that step's context is there.
    """
    n_contexts, width = rows.shape
    inverse = np.divide(1.0, rows, out=np.zeros_like(rows), where=rows > 0)
    there = (rows > 0).astype(np.float64)
    blocks = np.einsum("us,st->ust", inverse, np.eye(width)) - there[:, :, None] * there[:, None, :]
    information = np.zeros((n_contexts, width, n_contexts, width))
    information[np.arange(n_contexts), :, np.arange(n_contexts), :] = visits[:, None, None] * blocks
    if len(marked):
        mean = (rows[:, :, None] * after).sum(axis=1)
        regular = -there[:, :, None] * (after - mean[:, None])  # with the step itself; the marked score is -1 a step
        both = mean[marked]
        both = both + both.T + np.diag(visits[marked])
        for place, z in enumerate(marked):
            absent = 1 - there[z]
            information[:, :, z, :] += regular[:, :, place, None] * absent
            information[z, :, :, :] += absent[:, None, None] * regular[:, :, place]
            for other, w in enumerate(marked):
                information[z, :, w, :] += both[place, other] * np.outer(absent, 1 - there[w])
    return information.reshape(rows.size, rows.size)
