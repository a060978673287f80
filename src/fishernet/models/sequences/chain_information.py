"""How a Markov chain goes from context to context: draws, and the Fisher information, exactly.

The score of a step c after u is a martingale difference where p(c | u) > 0, so that scores of different steps are
uncorrelated and the information is one block per context::

    (expected steps from u) (diag(1 / p) - 1)

Where p(c | u) = 0 the score is -1 for each step from u, whatever it is. Its products with the others need the expected
steps from u after each step, which are found backward in time.

Throughout, `rows` are P(next | context), (n_contexts, n_symbols) or with a last column for the end, and `start` is
P(first context), (n_contexts,).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FishernetError
from fishernet.models.sequences.alphabet import Numbers

Codes = npt.NDArray[np.int64]


def draw_codes(
    rows: Numbers, start: Numbers, order: int, n_symbols: int, lengths: Codes, random: np.random.Generator
) -> list[Codes]:
    """Draw strings as codes, each at most as long as said (not less than `order`); after the end nothing comes."""
    thresholds = rows.cumsum(axis=1)
    thresholds = (thresholds / thresholds[:, -1:])[:, :-1]  # the last possible symbol ends at 1 exactly
    first = start.cumsum()
    context = np.searchsorted(first[:-1] / first[-1], random.random(len(lengths)), side="right")
    columns = [context // n_symbols ** (order - 1 - place) % n_symbols for place in range(order)]
    ends = lengths.copy()
    active = np.flatnonzero(lengths > order)
    while len(active):
        drawn = (thresholds[context[active]] <= random.random(len(active))[:, None]).sum(axis=1)
        column = np.zeros(len(lengths), np.int64)
        column[active] = drawn
        columns.append(column)
        stopped = drawn == n_symbols
        ends[active[stopped]] = len(columns) - 1
        active = active[~stopped]
        context[active] = (context[active] * n_symbols + column[active]) % len(rows)
        active = active[lengths[active] > len(columns)]
    codes = np.stack(columns, axis=1) if columns else np.zeros((len(lengths), 0), np.int64)
    return [row[:end] for row, end in zip(codes, ends.tolist(), strict=True)]


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
    """Return the contexts that strings come to, ascending; FishernetError when from one of them no string ever ends."""
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


def information_of_length(rows: Numbers, start: Numbers, n_steps: int) -> Numbers:
    """Return the information of strings with that many steps, (rows.size, rows.size)."""
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
    """Return the information of strings that stop by an end symbol, (rows.size, rows.size)."""
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

    `visits` are the expected steps from each context, `marked` the contexts with a symbol of probability 0, and `after`
    (n_contexts, width, n_marked) the expected steps from a marked context after a step, summed over the times when that
    step's context is there.
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
