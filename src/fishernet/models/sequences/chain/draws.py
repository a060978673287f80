"""Drawing strings of a Markov chain, all of them one symbol further at a time."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from fishernet.models.sequences.checks import Numbers

Codes = npt.NDArray[np.int64]


def draw_codes(
    rows: Numbers, start: Numbers, order: int, n_symbols: int, lengths: Codes, random: np.random.Generator
) -> list[Codes]:
    """Draw strings as codes.

    Parameters
    ----------
    rows : (n_contexts, n_symbols or n_symbols + 1) array
        P(next | context); code n_symbols is the end, after which nothing comes.
    start : (n_contexts,) array
        P(first context).
    order, n_symbols : int
    lengths : (n,) int64 array
        How long each string is at most, not less than `order`.
    random : numpy.random.Generator
    """
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
