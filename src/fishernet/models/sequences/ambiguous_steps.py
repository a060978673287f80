"""Steps of a Markov chain through sets of symbols: sums over all strings meant, by passes forward and backward.

A string with sets means the event that the string is one of its *completions*, each set replaced by one of its symbols.
With k the order of the chain, its probability given the first k symbols is

    sum over completions of start(first k) prod_j p(next | k before) / sum over completions of start(first k),

so that it is P(the rest is one of those meant | the first k symbols are), where first symbols are drawn from `start`;
where these are known, `start` does not matter. (Where `start` gives all that are meant 0, they are as likely.)

Steps among known symbols are not touched: the others fall into *runs*, before and after which the context is known.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fishernet.models.sequences.alphabet import Numbers, Strings
from fishernet.models.sequences.profile import Integers, windows, with_end


@dataclass(frozen=True, eq=False, slots=True)
class Run:
    """Steps that follow one another and have sets among their symbols."""

    owner: int
    """The string."""
    contexts: Integers
    """What the context before the first step may be."""
    steps: tuple[Integers, ...]
    """The symbols that each step may give."""
    begins: bool
    """Whether the contexts are the first of the string."""


@dataclass(frozen=True, eq=False, slots=True)
class Passed:
    """What the passes through a run found."""

    log: float
    """The logarithm of the run's probability, given the context before it; -inf where it is impossible."""
    cells: Integers
    """Cells of the transition table that completions use."""
    derivatives: Numbers
    """The derivative of `log` by each of them; times its probability, the expected number of uses."""
    shares: Numbers
    """P(context before the first step | the run), one for each of the run's contexts."""
    log_start: float
    """The logarithm of what `start` gives the run's contexts together, where there are several; otherwise 0."""


def known_steps(strings: Strings, shape: tuple[int, ...], n_symbols: int) -> tuple[Integers, Integers]:
    """Return the string and the cell of every step among known symbols; with an end where the shape has one."""
    end = shape[-1] > n_symbols
    if strings.sets is None:
        return windows(with_end(strings, n_symbols) if end else strings, shape)
    unclear = strings.codes >= n_symbols
    codes = Strings(np.where(unclear, 0, strings.codes).astype(np.int32), strings.offsets)
    marks = Strings(unclear.astype(np.int32), strings.offsets)
    if end:
        codes, marks = with_end(codes, n_symbols), with_end(marks, 0)
    owners, cells = windows(codes, shape)
    known = windows(marks, (2,) * len(shape))[1] == 0
    return owners[known], cells[known]


def runs(strings: Strings, order: int, n_symbols: int, end: bool) -> Iterator[Run]:
    """Yield the runs of strings with sets, and for a string of unclear first symbols the one that begins it."""
    if strings.sets is None:
        return
    meant = [np.array([code]) for code in range(n_symbols)] + [np.flatnonzero(of) for of in strings.sets]
    for owner in range(len(strings)):
        codes = strings.codes[strings.offsets[owner] : strings.offsets[owner + 1]]
        if len(codes) < order or not (codes >= n_symbols).any():
            continue
        options = [meant[code] for code in codes.tolist()]
        if end:
            options.append(np.array([n_symbols]))
        for first, after in _stretches(codes >= n_symbols, order, len(options)):
            contexts = np.zeros(1, np.int64)
            for option in options[first - order : first]:
                contexts = (contexts[:, None] * n_symbols + option).ravel()
            yield Run(owner, contexts, tuple(options[first:after]), first == order)


def _stretches(unclear: npt.NDArray[np.bool_], order: int, length: int) -> Iterator[tuple[int, int]]:
    """Yield the first step of each run and the one after its last; a step is the position of the symbol it gives."""
    touched = np.zeros(length + 1, bool)
    for position in np.flatnonzero(unclear).tolist():
        touched[max(position, order) : min(position + order, length - 1) + 1] = True
    edges = np.flatnonzero(np.diff(touched.astype(np.int8), prepend=0)).tolist()
    if unclear[:order].any() and order >= length:
        yield order, order  # nothing but a context
    yield from zip(edges[::2], edges[1::2], strict=True)


def passed(run: Run, rows: Numbers, start: Numbers, n_symbols: int) -> Passed:
    """Return what a run says of a chain's `rows`, (n_contexts, n_symbols or one more), and `start`, (n_contexts,)."""
    first, log_start = _first(run, start)
    forward, contexts, log = first, run.contexts, 0.0
    moves: list[_Move] = []
    for option in run.steps:
        cells = (contexts[:, None] * rows.shape[1] + option).ravel()
        following = (contexts[:, None] * n_symbols + option).ravel() % len(rows)
        contexts, to = np.unique(following, return_inverse=True)
        move = _Move(cells, to.ravel(), np.repeat(forward, len(option)), rows.ravel()[cells])
        sums = np.bincount(move.to, move.weights * move.p, minlength=len(contexts))
        move.total = float(sums.sum())
        if not move.total > 0:
            return Passed(-math.inf, np.zeros(0, np.int64), np.zeros(0), first, log_start)
        moves.append(move)
        forward, log = sums / move.total, log + math.log(move.total)
    backward, uses = np.ones(len(contexts)), []
    for move, option in zip(reversed(moves), reversed(run.steps), strict=True):
        after = backward[move.to] / move.total
        uses.append(move.weights * after)
        backward = (move.p * after).reshape(-1, len(option)).sum(axis=1)
    cells = np.concatenate([np.zeros(0, np.int64), *(move.cells for move in moves)])
    return Passed(log, cells, np.concatenate([np.zeros(0), *reversed(uses)]), first * backward, log_start)


@dataclass(eq=False, slots=True)
class _Move:
    """A step: from each context that may be before it, by each symbol that it may give."""

    cells: Integers
    to: Integers
    """The number of the context after it."""
    weights: Numbers
    """P(context before | what came)."""
    p: Numbers
    total: float = 0.0
    """P(step | what came)."""


def _first(run: Run, start: Numbers) -> tuple[Numbers, float]:
    """Return P(context | one of those meant), and the logarithm of what `start` gives these together."""
    if len(run.contexts) == 1:
        return np.ones(1), 0.0
    weights = start[run.contexts]
    total = float(weights.sum())
    if not total > 0:
        return np.full(len(weights), 1 / len(weights)), 0.0
    return weights / total, math.log(total)
