"""Few rows for many, as `summarize` and `classify` compare them: halves of tables, ways to choose rows, and refits.

A trial takes a network whose parameters were fitted on the training half, chooses rows of that half in every way, fits
the parameters of the same graph on these rows alone (one is added to every count), and measures the network on the
other half.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import fishernet as fn
from studies.study import Array, Run, mean

SEEDS = {"halves": 7110, "choices": 7111}
SIZES = (200, 400, 700, 1_000)
FILES = {"letter": "letter.csv", "nursery": "nursery.csv.gz", "waveform-5000": "waveform-5000.csv.gz"}
SHIPPED = ("letter", "nursery")  # come with the library
SUBSETS = 100  # random ones of each size and half
FEW = 5  # of these are weighted
PATIENT = 400  # the largest size for which protodash is asked, but in the full form

Measure = Callable[[fn.BayesianNetwork], Sequence[float]]
"""What a network is worth on the test half, in figures of which smaller ones are better."""


# ------------------------------------------------------------------------------------------------------- tables


@cache
def read_table(name: str, path: Path | None, numbers: bool = False, without: str = "") -> fn.Table:
    """Return a table: numbers in at most four bins of equal width, missing a state of its own.

    The class is taken as it is, but where it is a number as well.
    """
    options: dict[str, Any] = {"bins": 4, "binning": "equal-width"}
    if path is None:
        found = fn.datasets.load(name, **options)
        assert isinstance(found, fn.Table)
        return found
    columns = {"categorical": [] if numbers else ["class"], "exclude": [without] if without else []}
    return fn.read_table(path, missing="state", **options, **columns)


def three(run: Run) -> dict[str, Path | None]:
    """Return the paper's tables that are there: two always, the third with the data."""
    files = {name: run.file("uci", file) for name, file in FILES.items()}
    return {name: path for name, path in files.items() if path is not None or name in SHIPPED}


def halves(table: fn.Table, split: int) -> tuple[fn.Table, fn.Table]:
    """Return the rows to train on and those to test on, drawn at random."""
    order = np.random.default_rng([SEEDS["halves"], split]).permutation(table.n_rows)
    cut = table.n_rows // 2
    return table[order[:cut]], table[order[cut:]]


# ------------------------------------------------------------------------------------------------------- choices

Choice = Callable[[Any, fn.Table, int, np.random.Generator], fn.select.Selection]

CHOICES: Mapping[str, Choice] = {
    "chi-square": lambda kernel, table, k, rng: fn.select.greedy_chi_square(table, k, seed=rng),
    "MMD": lambda kernel, table, k, rng: fn.select.greedy_mmd(kernel, table, k, seed=rng),
    "MMD-critic": lambda kernel, table, k, rng: fn.select.mmd_critic(kernel, table, k),
    "thinning": lambda kernel, table, k, rng: fn.select.kernel_thinning(kernel, table, k, seed=rng),
    "protodash": lambda kernel, table, k, rng: fn.select.protodash(kernel, table, k),
}
WAYS = ("random", *CHOICES)
RIVALS = ("random", "chi-square", "MMD-critic", "thinning")  # of MMD, at every size
WEIGHTS = ("N/k", "nearest", "own")
WEIGHTED = (
    *("random, N/k", "chi-square, N/k", "MMD, N/k", "thinning, N/k"),
    *("random, nearest", "MMD, nearest", "thinning, nearest", "protodash, own"),
)


def weighted(rows: fn.Table, weights: npt.NDArray[Any]) -> fn.Table:
    """Return the rows with these weights."""
    return fn.Table.adopt(rows.variables, rows.codes, weights=weights, n_rows=rows.n_rows)


def copies(chosen: fn.select.Selection, how: Sequence[str] = WEIGHTS) -> Iterator[tuple[str, fn.Table]]:
    """Yield the chosen rows with weights that add up to the number of rows chosen from, in each of these ways.

    "N/k": all alike. "nearest": as many as the row is the nearest to under the kernel. "own": the method's, where it
    has weights; the other two where it has none.
    """
    n_rows, k = chosen.table.n_rows, len(chosen.indices)
    rows = chosen.table[chosen.indices]
    if chosen.weights is not None:
        if "own" in how:
            yield "own", weighted(rows, chosen.weights * (n_rows / chosen.weights.sum()))
        return
    if "N/k" in how:
        yield "N/k", weighted(rows, np.full(k, n_rows / k))
    if "nearest" in how:
        yield "nearest", chosen.as_table()


# -------------------------------------------------------------------------------------------------------- trials


def trial(
    train: fn.Table,
    dag: fn.Dag,
    measure: Measure,
    sizes: Sequence[int],
    split: int,
    *,
    subsets: int = SUBSETS,
    patient: int = PATIENT,
    weights: Sequence[str] = WEIGHTS,
) -> dict[str, Any]:
    """Return the figures of all rows ("all"), and for each size those of every way to choose rows.

    "random" has a list of figures for each random subset, "seconds" the processor time of the choices.
    """
    model = fn.learn.parameters(dag, train)

    def refit(rows: fn.Table) -> list[float]:
        return list(map(float, measure(fn.learn.parameters(dag, rows))))

    kernel = fn.kernels.FisherKernel(model)
    found = []
    for k in sizes:
        at, seconds = dict[str, Any](), dict[str, float]()
        rng = np.random.default_rng([SEEDS["choices"], split, k])
        drawn = [fn.select.random_subset(train, k, seed=rng) for _ in range(subsets)]
        at["random"] = [refit(train[one.indices]) for one in drawn]
        few = [dict(copies(replace(one, kernel=kernel), weights)) for one in drawn[:FEW]]
        for how in few[0]:
            at[f"random, {how}"] = np.mean([refit(one[how]) for one in few], axis=0).tolist()
        for name, choose in CHOICES.items():
            if name == "protodash" and k > patient:
                continue
            began = time.process_time()
            chosen = choose(kernel, train, k, rng)
            seconds[name] = time.process_time() - began
            at[name] = refit(train[chosen.indices])
            for how, rows in copies(chosen, weights):
                at[f"{name}, {how}"] = refit(rows)
        found.append({**at, "seconds": seconds})
    return {"all": refit(train), "parameters": model.n_parameters, "sizes": found}


class Trials(NamedTuple):
    """The trials of one table, one per split."""

    made: Sequence[Mapping[str, Any]]

    def all_rows(self, figure: int = 0) -> Array:
        """Return a figure of the networks of all training rows, [split]."""
        return np.array([one["all"][figure] for one in self.made])

    def random(self, at: int, figure: int = 0) -> Array:
        """Return a figure of the random subsets of the size at a position, [split, subset]."""
        return np.array([one["sizes"][at]["random"] for one in self.made])[:, :, figure]

    def of(self, way: str, at: int, figure: int = 0) -> Array:
        """Return a figure of a way to choose, [split]; of random subsets the mean. NaN where it was not asked."""
        if way == "random":
            return np.asarray(self.random(at, figure).mean(axis=1))
        nothing = [np.nan] * (figure + 1)
        return np.array([one["sizes"][at].get(way, nothing)[figure] for one in self.made])

    def seconds(self, way: str, at: int) -> Array:
        """Return the processor time of a choice, [split]."""
        return np.array([one["sizes"][at]["seconds"].get(way, np.nan) for one in self.made])


LOSS_COLUMNS = ("k", "all rows", "random", "(sd)", *CHOICES)


def loss_row(trials: Trials, at: int, k: int, figure: int = 0) -> list[Any]:
    """Return the cells of `LOSS_COLUMNS`: means over the splits; the sd is that of subsets of the same half."""
    spread = float(trials.random(at, figure).std(axis=1, ddof=1).mean())
    first, *others = (mean(trials.of(way, at, figure)) for way in WAYS)
    return [k, float(trials.all_rows(figure).mean()), first, spread, *others]


MARGIN_COLUMNS = ("k", *(f"{way} - MMD" for way in RIVALS), "splits in which MMD is better", "random ones as good, %")


def margin_row(trials: Trials, at: int, k: int, figure: int = 0) -> list[Any]:
    """Return the cells of `MARGIN_COLUMNS`: paired differences, and the share of random subsets as good as MMD's."""
    best = trials.of("MMD", at, figure)
    margins = [trials.of(way, at, figure) - best for way in RIVALS]
    share = float(100 * (trials.random(at, figure) <= best[:, None]).mean())
    return [k, *map(mean, margins), [int((margin > 0).sum()) for margin in margins], share]


def weight_row(trials: Trials, at: int, k: int, figure: int = 0) -> list[Any]:
    """Return k and the means of all rows, of MMD's rows once each, and of `WEIGHTED`."""
    ways = ("MMD", *WEIGHTED)
    return [k, float(trials.all_rows(figure).mean()), *(mean(trials.of(way, at, figure)) for way in ways)]


LOOKS: dict[str, dict[str, Any]] = {
    "random": {"color": "#000000", "marker": "o", "linestyle": "--"},
    "chi-square": {"color": "#D55E00", "marker": "s", "linestyle": "-."},
    "MMD": {"color": "#0072B2", "marker": "D", "linestyle": "-"},
    "MMD, nearest": {"color": "#009E73", "marker": "^", "linestyle": ":"},
}
"""How the lines of figures look; a marker and a style each, so that they are told apart in grey too."""


def by_table(rows: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, list[Mapping[str, Any]]]]:
    """Yield the rows of each table."""
    for name in dict.fromkeys(row["table"] for row in rows):
        yield name, [row for row in rows if row["table"] == name]
