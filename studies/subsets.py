"""Few rows for many, as `summarize` and `classify` compare them: halves of tables, ways to choose rows, and refits.

A trial takes a network whose parameters were fitted on the training half, chooses rows of that half in every way, fits
the parameters of the same graph on these rows alone (one is added to every count), and measures the network on the
other half.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import fishernet as fn
from fishernet.base.check import is_number
from studies import figures
from studies.study import Array, Run, Seeds, Table, mean

SEEDS = Seeds({"halves": 7110, "choices": 7111})
SIZES = (200, 400, 700, 1_000)
FILES = {"letter": "letter.csv", "nursery": "nursery.csv.gz", "waveform-5000": "waveform-5000.csv.gz"}
SHIPPED = ("letter", "nursery")  # come with the library

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
    options |= {"categorical": [] if numbers else ["class"], "exclude": [without] if without else []}
    cut = set(numbers_of(fn.read_table(path, **options))) - set(options["categorical"])
    options["bins"] = dict.fromkeys(cut, options["bins"])
    return fn.read_table(path, missing="state", **options)


def numbers_of(table: fn.Table) -> list[str]:
    """Return the names of the columns of numbers, those too of which there are few and each is a state."""
    of_numbers = [v for v in table.variables if v.is_continuous or v.cuts or all(map(is_number, v.states))]
    return [variable.name for variable in of_numbers]


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

CHOICES = ("chi-square", "MMD", "MMD-critic", "thinning", "protodash")


def chooser(
    name: str, kernel: fn.kernels.FisherKernel, table: fn.Table, k: int, rng: np.random.Generator
) -> Callable[[], fn.select.Selection]:
    """Return what chooses k rows of a table in one of the ways."""
    make: dict[str, Callable[[], fn.select.Selection]] = {
        "chi-square": lambda: fn.select.greedy_chi_square(table, k, seed=rng),
        "MMD": lambda: fn.select.greedy_mmd(kernel, table, k, seed=rng),
        "MMD-critic": lambda: fn.select.mmd_critic(kernel, table, k),
        "thinning": lambda: fn.select.kernel_thinning(kernel, table, k, seed=rng),
        "protodash": lambda: fn.select.protodash(kernel, table, k),
    }
    return make[name]


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


def copies(chosen: fn.select.Selection, ways: Iterable[str]) -> dict[str, fn.Table]:
    """Return the chosen rows with weights that add up to the number of rows chosen from.

    "N/k": all alike. "nearest": as many as the row is the nearest to under the kernel. "own": those that the method
    gave.
    """
    n_rows, k = chosen.table.n_rows, len(chosen.indices)
    rows = chosen.table[chosen.indices]
    own = np.ones(k) if chosen.weights is None else chosen.weights
    make: dict[str, Callable[[], fn.Table]] = {
        "N/k": lambda: weighted(rows, np.full(k, n_rows / k)),
        "nearest": chosen.as_table,
        "own": lambda: weighted(rows, own * (n_rows / own.sum())),
    }
    return {way: make[way]() for way in ways}


def weights_of(name: str, weights: Sequence[str]) -> list[str]:
    """Return in which of these ways the rows of a choice are weighted."""
    return [way for way in weights if f"{name}, {way}" in WEIGHTED]


# -------------------------------------------------------------------------------------------------------- trials


def trial(
    train: fn.Table,
    dag: fn.Dag,
    measure: Measure,
    sizes: Sequence[int],
    split: int,
    *,
    subsets: int,
    weigh: int,
    patient: int,
    choices: Sequence[str] = CHOICES,
    weights: Sequence[str] = WEIGHTS,
) -> dict[str, Any]:
    """Return the figures of all rows ("all"), and for each size those of every way to choose rows.

    "random" has a list of figures for each random subset, "seconds" the processor time of the choices. The first
    `weigh` subsets are weighted as well, and protodash is asked for up to `patient` rows.
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
        ways = weights_of("random", weights)
        few = [copies(replace(one, kernel=kernel), ways) for one in drawn[:weigh]]
        at |= {f"random, {way}": np.mean([refit(one[way]) for one in few], axis=0).tolist() for way in ways}
        for name in choices:
            if name == "protodash" and k > patient:
                continue
            choose = chooser(name, kernel, train, k, rng)
            began = time.process_time()
            chosen = choose()
            seconds[name] = time.process_time() - began
            at[name] = refit(train[chosen.indices])
            for way, rows in copies(chosen, weights_of(name, weights)).items():
                at[f"{name}, {way}"] = refit(rows)
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


def loss_row(trials: Trials, at: int, k: int, figure: int = 0, *, beyond: bool = False) -> list[Any]:
    """Return the cells of `LOSS_COLUMNS`: means over the splits; the sd is that of random subsets of the same half.

    With `beyond` all but "all rows" are what comes on top of these, split by split.
    """
    spread = float(trials.random(at, figure).std(axis=1, ddof=1).mean())
    below = trials.all_rows(figure) if beyond else 0.0
    first, *others = (mean(trials.of(way, at, figure) - below) for way in WAYS)
    return [k, float(trials.all_rows(figure).mean()), first, spread, *others]


MARGIN_COLUMNS = ("k", *(f"{way} - MMD" for way in RIVALS), "splits in which MMD is better", "random ones as good, %")


def margin_row(trials: Trials, at: int, k: int, figure: int = 0) -> list[Any]:
    """Return the cells of `MARGIN_COLUMNS`: paired differences, and the share of random subsets as good as MMD's."""
    best = trials.of("MMD", at, figure)
    margins = [trials.of(way, at, figure) - best for way in RIVALS]
    share = float(100 * (trials.random(at, figure) <= best[:, None]).mean())
    return [k, *map(mean, margins), [int((margin > 0).sum()) for margin in margins], share]


WEIGHT_COLUMNS = ("k", "all rows", "MMD", *WEIGHTED)


def weight_row(trials: Trials, at: int, k: int, figure: int = 0, *, beyond: bool = False) -> list[Any]:
    """Return the cells of `WEIGHT_COLUMNS`; `beyond` as for `loss_row`."""
    below = trials.all_rows(figure) if beyond else 0.0
    cells = [mean(trials.of(way, at, figure) - below) for way in WEIGHT_COLUMNS[2:]]
    return [k, float(trials.all_rows(figure).mean()), *cells]


LOOKS: dict[str, dict[str, Any]] = {
    "random": {"color": "#000000", "marker": "o", "linestyle": "--"},
    "chi-square": {"color": figures.COLOURS[1], "marker": "s", "linestyle": "-."},
    "MMD": {"color": figures.COLOURS[0], "marker": "D", "linestyle": "-"},
    "MMD, N/k": {"color": figures.COLOURS[2], "marker": "^", "linestyle": ":"},
    "MMD, nearest": {"color": figures.COLOURS[3], "marker": "v", "linestyle": (0, (5, 1, 1, 1, 1, 1))},
}
"""How the lines of figures look; a marker and a style each, so that they are told apart in grey too."""

LEVEL = {"color": "#555555", "marker": "", "linestyle": "-", "linewidth": 1.0}
"""How the line of all rows looks."""


def panels(losses: Table, weights: Table, *, all_rows: bool = False, **where: Any) -> dict[str, list[figures.Line]]:
    """Return the lines of a figure by table; bars are the standard deviation of random subsets, else errors."""
    rows = [{**one, **two} for one, two in zip(weights.select(**where), losses.select(**where), strict=True)]
    found = {}
    for name in dict.fromkeys(row["table"] for row in rows):
        of = [row for row in rows if row["table"] == name]
        k = [row["k"] for row in of]
        cells = {way: [row[way] for row in of] for way in LOOKS}
        cells["random"] = [{**row["random"], "error": row["(sd)"]} for row in of]
        found[name] = [figures.Line(way, k, cells[way], look) for way, look in LOOKS.items()]
        if all_rows:
            found[name].append(figures.Line("all rows", k, [row["all rows"] for row in of], LEVEL))
    return found
