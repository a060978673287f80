"""The matrix of the Fisher kernel of all pairs of rows, and rows that are chosen by it.

Ours begins with a fitted network and a table, so that the probabilities of the parents' states are included;
scikit-learn's linear kernel, which is the yardstick, with rows that are one-hot already; its Hamming distances are
for information. 200 random entries are computed anew. Of chosen rows the distance is computed anew, and no exchange
of one lowers it. We know of no other library that runs this search. Published times on letter (P1, 7.1; another
machine): greedy MMD 0.7 minutes (k = 200) to 19 minutes (k = 1000), greedy chi-square 1 to 5 minutes, 1000 random
subsets under both criteria 45 to 101 s.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from typing import Any

import numpy as np

import fishernet as fn
from benchmarks.calls import Call, Data, digest
from benchmarks.race import Race, Told, Verdict, agrees, below, calls_of, faster
from benchmarks.sources import fitted, letter_training, table_of

TITLE = "Fisher kernel and selection of rows"
LINEAR, HAMMING = "scikit-learn (linear kernel)", "scikit-learn (Hamming)"
N_STARTS = 1_000
Handed = tuple[fn.BayesianNetwork, fn.Table]


def training(k: int = 1_000, criterion: str = "mmd", n_rows: int | None = None) -> Data:
    data, options = letter_training(), {"k": k, "criterion": criterion, "n_entries": 200}
    return dataclasses.replace(data, rows=data.rows[:n_rows], options=options)


def hand(data: Data) -> Handed:
    """Return a network and a table of which nothing is known yet."""
    return fitted(data), fn.Table.from_codes(data.rows)


def greedy(criterion: str) -> Callable[..., fn.select.Selection]:
    """Return what chooses k rows of those handed over."""

    def run(handed: Handed, k: int, **more: Any) -> fn.select.Selection:
        if criterion == "chi-square":
            return fn.select.greedy_chi_square(handed[1], k, n_starts=N_STARTS, seed=1, **more)
        kernel = fn.kernels.FisherKernel(handed[0])
        return fn.select.greedy_mmd(kernel, handed[1], k, n_starts=N_STARTS, seed=1, **more)

    return run


class DrawnError(Exception):
    """The random starts are drawn, and the first positions visited."""


def starts(handed: Handed) -> None:
    """Draw the random starts, and end where the search tells for the first time how far it is."""

    def end(*_: object) -> None:
        raise DrawnError

    with contextlib.suppress(DrawnError):
        greedy("mmd")(handed, 1_000, progress=end)


GRAM = Call(
    hand,
    lambda handed: fn.kernels.FisherKernel(handed[0])(handed[1]),
    lambda matrix, data: (matrix[tuple(data.pairs().T)], digest(matrix)),
    note="the probabilities of the parents' states included",
)
STARTS = Call(hand, starts, lambda _, data: float(greedy("mmd")(hand(data), 1_000).trace[0]))


def entries(told: Told) -> Any:
    """Compute entries anew: ours as products of features, the peer's by counting equal cells."""
    first, second = told.data.pairs().T
    equal = (told.data.rows[first] == told.data.rows[second]).sum(axis=1)
    if told.label == LINEAR:
        return equal
    if told.label == HAMMING:
        return 1 - equal / told.data.rows.shape[1]
    features = fn.kernels.FisherKernel(fitted(told.data)).features(table_of(told.data))
    return np.asarray(features[first].multiply(features[second]).sum(axis=1)).ravel()


def are_entries(told: Told) -> Verdict:
    return agrees(entries)(dataclasses.replace(told, answer=told.answer[0]))


def criterion_of(data: Data) -> Callable[[Any], float]:
    """Return what a selection makes small, as a function of the chosen rows."""
    table, kernel = table_of(data), fn.kernels.FisherKernel(fitted(data))
    if data.options["criterion"] == "chi-square":
        return lambda rows: fn.select.chi_square_criterion(table, rows)
    return lambda rows: fn.compare.mmd(kernel, table[rows], table)


def no_exchange(told: Told) -> Verdict:
    """Judge rows that no exchange of one should better: a search that begins with them ends with them."""
    (rows, distance), k = told.answer, told.data.options["k"]
    handed, criterion = hand(told.data), criterion_of(told.data)
    again = greedy(told.data.options["criterion"])(handed, k, start=rows).indices
    off, same = abs(distance / criterion(rows) - 1), sorted(again) == sorted(rows) and len(set(rows)) == k
    return (
        off <= 1e-9 and same,
        f"{distance:.5g}, the rows' own to {off:.0e}; a search from them ends {'with' * same} them",
    )


def is_best_start(told: Told) -> Verdict:
    """Hold the best of a thousand random subsets to a thousand that NumPy draws: a few of these may be better."""
    criterion, rng, n_rows = criterion_of(told.data), np.random.default_rng(1), len(told.data.rows)
    drawn = np.array([criterion(rng.permutation(n_rows)[:1_000]) for _ in range(N_STARTS)])
    better = int((drawn < told.answer).sum())
    return (
        better <= 20 and told.answer > drawn.min() / 2,
        f"{told.answer:.5g}; {better} of {N_STARTS} others are better",
    )


def selection(k: int, criterion: str, seconds: float = 0) -> Race:
    call = Call(hand, lambda handed: greedy(criterion)(handed, k), lambda found, _: (found.indices, found.distance))
    targets, title = [below(seconds)] if seconds else [], f"greedy {criterion}, k = {k}"
    return Race(lambda: training(k, criterion), call, no_exchange, targets=targets, title=title)


PEERS = {LINEAR: "linear_kernel", HAMMING: "hamming"}
RACES = (
    Race(lambda: training(n_rows=500), GRAM, are_entries, title="500 rows by 500"),
    Race(training, GRAM, are_entries, PEERS, [faster(0.5, LINEAR)], title="10 000 rows by 10 000"),
    selection(200, "mmd"),
    selection(1_000, "mmd", 1.5),
    selection(200, "chi-square"),
    selection(1_000, "chi-square"),
    Race(training, STARTS, is_best_start, targets=[below(0.15)], title="1000 random starts and the first positions"),
)
CALLS = calls_of(RACES)
