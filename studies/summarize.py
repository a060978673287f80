"""Few rows for many: ``python -m studies.summarize``.

The experiment of section 7.1.1 of Leppä-aho, Silander and Roos [1]_: rows are chosen that stand for a table, the
parameters of a network are fitted on them alone, and the log-likelihood of other rows tells how well they do. Then the
same on thirty more tables, with other ways to choose rows, and with rows that are weighted.

References
----------
.. [1] J. Leppä-aho, T. Silander and T. Roos, "Bayesian network Fisher kernel for categorical feature spaces",
   Behaviormetrika 47, 2020.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import fishernet as fn
from studies import figures, subsets
from studies.study import Run, Table, main, mean
from studies.subsets import CHOICES, SIZES, Trials, halves, read_table, three


class Source(NamedTuple):
    """One of the thirty tables."""

    file: str
    without: str = ""
    """A column of identifiers."""
    numbers: bool = False
    """Whether the class is a number like the others."""


PLAIN = """
    balance-scale breast-cancer breast-w car cmc credit-g dermatology diabetes-pima ecoli glass hepatitis ionosphere
    iris kr-vs-kp krkopt lymph mushroom pendigits primary-tumor segment soybean spect-test tic-tac-toe vehicle vote wine
"""
SOURCES = {
    "abalone": Source("abalone.csv", numbers=True),
    "adult": Source("adult-train.csv.gz"),
    **{name: Source(f"{name}.csv") for name in PLAIN.split()},
    "yeast": Source("yeast.csv", without="name"),
    "zoo": Source("zoo.csv", without="animal"),
}
SHARES, MOST = (10, 30), 1_000  # percentages of the training rows that are chosen; at most so many rows
QUICK = ("chi-square", "thinning")  # MMD-critic takes 40 s on adult
BLOCK = 500  # rows of the kernel's matrix that are held at once

TAKES = "in processor time --quick 11 s, usual 7 minutes"

GREEDY = {"letter": (42, 1_140), "nursery": (12, 300), "waveform-5000": (8, 180)}
CHI_SQUARE = {"letter": (60, 300), "nursery": (12, 48), "waveform-5000": (60, 240)}
STARTS = {"letter": (45, 101), "nursery": (20, 34), "waveform-5000": (9, 18)}
PARENTS = {"letter": 94, "nursery": 32, "waveform-5000": 17}
"""Seconds that the paper prints, for the smallest and the largest k."""


def structure(train: fn.Table) -> fn.Dag:
    """Return the network's graph: hill climbing with BIC from the empty graph."""
    return fn.learn.dag(train, score="bic", search="hill-climb")


def loss(test: fn.Table) -> subsets.Measure:
    """Return what gives the mean -log P of a test row."""
    return lambda model: [-float(model.log_prob(test).mean())]


def of_three(
    name: str, path: Path | None, sizes: Sequence[int], split: int, subsets_drawn: int, patient: int
) -> dict[str, Any]:
    """Return one trial of one of the paper's tables."""
    train, test = halves(read_table(name, path), split)
    of: dict[str, Any] = {"subsets": subsets_drawn, "weigh": 5, "patient": patient}
    return subsets.trial(train, structure(train), loss(test), sizes, split, **of)


def figure_1(run: Run, splits: int) -> Iterator[Table]:
    """Yield the losses of letter, nursery and waveform-5000, how far they are apart, and the seconds of the choices."""
    sizes, there = run.choose(SIZES[:2], SIZES), three(run)
    drawn, patient = run.choose(20, 100), run.choose(0, 400, SIZES[-1])  # protodash takes long for more
    run.settings.update(subsets=drawn)
    tasks = [(name, path, sizes, split, drawn, patient) for name, path in there.items() for split in range(splits)]
    made = iter(run.map(of_three, tasks))
    found = {name: Trials([next(made) for _ in range(splits)]) for name in there}
    cells = [(name, trials, at, k) for name, trials in found.items() for at, k in enumerate(sizes)]
    rows = [[name, *subsets.loss_row(trials, at, k, beyond=True)] for name, trials, at, k in cells]
    yield Table("losses", ["table", *subsets.LOSS_COLUMNS], rows, "z.3f", best=True)
    rows = [[name, *subsets.margin_row(trials, at, k)] for name, trials, at, k in cells]
    formats = [*["z.3f"] * len(subsets.MARGIN_COLUMNS), ".1f"]
    yield Table("margins", ["table", *subsets.MARGIN_COLUMNS], rows, formats)
    rows = [[name, *subsets.weight_row(trials, at, k, beyond=True)] for name, trials, at, k in cells]
    yield Table("weights", ["table", *subsets.WEIGHT_COLUMNS], rows, "z.3f", best=True)
    rows = [[name, k, *seconds(name, trials, at, k)] for name, trials, at, k in cells]
    heads = ["table", "k", *CHOICES, "published: 1,000 random subsets, both criteria"]
    yield Table("seconds", heads, rows, ".2f")


def seconds(name: str, trials: Trials, at: int, k: int) -> Iterator[Any]:
    """Yield the processor time of each choice beside the published one, and that of the published starts."""
    printed = {"MMD": GREEDY, "chi-square": CHI_SQUARE}
    ends = {SIZES[0]: 0, SIZES[-1]: 1}
    for way in CHOICES:
        known = printed[way][name][ends[k]] if way in printed and k in ends else None
        yield mean(trials.seconds(way, at), published=known)
    yield STARTS[name][ends[k]] if k in ends else None


def kernels(run: Run) -> Table:
    """Return the processor time of the parents' probabilities and of the kernel between all training rows."""
    rows = []
    for name, path in three(run).items():
        train, _ = halves(read_table(name, path), 0)
        model = fn.learn.parameters(structure(train), train)
        began = time.process_time()
        kernel = fn.kernels.FisherKernel(model)
        groups = [len(probabilities) for probabilities in kernel.group_probabilities]
        made = time.process_time()
        for first in range(0, train.n_rows, BLOCK):
            kernel(train[first : first + BLOCK], train)
        both = made - began, time.process_time() - made
        rows.append([name, train.n_rows, model.n_parameters, sum(groups), *both, PARENTS[name]])
    heads = ["table", "training rows", "parameters", "parent configurations", "probabilities of these", "all pairs"]
    return Table("kernel-seconds", [*heads, "published: both"], rows, "short")


def of_thirty(name: str, path: Path, split: int, subsets_drawn: int) -> dict[str, Any]:
    """Return one trial of one of the other tables."""
    _, without, numbers = SOURCES[name]
    train, test = halves(read_table(name, path, numbers, without), split)
    sizes = [size(train.n_rows, share) for share in SHARES]
    of: dict[str, Any] = {
        "subsets": subsets_drawn,
        "weigh": 1,
        "patient": 0,
        "choices": ("MMD", *QUICK),
        "weights": ("N/k",),
    }
    found = subsets.trial(train, structure(train), loss(test), sizes, split, **of)
    return {**found, "rows": train.n_rows, "columns": len(train.names), "k": sizes}


def size(n_rows: int, share: int) -> int:
    """Return how many of the rows are chosen."""
    return min(max(1, round(n_rows * share / 100)), MOST)


def everywhere(run: Run, splits: int) -> Iterator[Table]:
    """Yield the losses of the other tables."""
    files = {name: run.file("uci", source.file) for name, source in SOURCES.items()}
    there = {name: path for name, path in files.items() if path is not None}
    tasks = [(name, path, split, 20) for name, path in there.items() for split in range(splits)]
    made = iter(run.map(of_thirty, tasks))
    rows = []
    for name in there:
        trials = Trials([next(made) for _ in range(splits)])
        first = trials.made[0]
        free = float(np.mean([one["parameters"] for one in trials.made]))
        for at, share in enumerate(SHARES):
            if first["k"][at] in first["k"][:at]:
                continue  # at the limit already
            best = trials.of("MMD", at)
            others = [trials.of(way, at) for way in ("random", *QUICK)]
            wins = [int((other > best).sum()) for other in others]
            about = [name, share, first["rows"], first["columns"], round(free), first["k"][at]]
            cells = [float(trials.all_rows().mean()), mean(best), *map(mean, others)]
            rows.append([*about, *cells, mean(others[0] - best), wins, mean(trials.of("MMD, N/k", at))])
    heads = ["table", "% chosen", "training rows", "columns", "parameters", "k", "all rows", "MMD", "random", *QUICK]
    yield Table("everywhere", [*heads, "random - MMD", "splits in which MMD is better", "MMD, N/k"], rows, "z.3f")


def compute(run: Run) -> Iterator[Table]:
    splits = run.repetitions(quick=2, usual=10)
    yield from figure_1(run, splits)
    yield kernels(run)
    if run.data is not None and run.form != "quick":
        yield from everywhere(run, splits)


def draw(tables: Mapping[str, Table], path: Callable[[str], Path]) -> None:
    """Draw the losses beyond those of all rows, by k; and of the other tables, by those of random subsets."""
    panels = subsets.panels(tables["losses"], tables["weights"])
    y = "nats per row beyond all rows"
    figures.lines(path("figure-1"), panels, x="rows chosen", y=y)
    if "everywhere" in tables:
        thirty(tables["everywhere"], path("everywhere"))


def thirty(table: Table, path: Path) -> None:
    """Draw how much of what random subsets lose beyond all rows MMD loses too, a point per table and share."""
    looks: Any = [{"marker": marker, "color": figures.COLOURS[k]} for k, marker in enumerate("o^")]
    x, y = "loss of random subsets beyond all rows, nats per row", "MMD's loss as a share of it"
    with figures.panels_of(path, [""], x=x, y=y, log="x") as (axes,):
        for share, look in zip(SHARES, looks, strict=True):
            rows = table.select(**{"% chosen": share})
            random, best = (np.array([row[way]["mean"] - row["all rows"] for row in rows]) for way in ("random", "MMD"))
            axes.plot(random, best / random, linestyle="none", label=f"{share} %", **look)
        axes.axhline(1.0, color="black", linewidth=0.8, linestyle="--", label="random rows")
        axes.axhline(0.0, color="black", linewidth=0.8, linestyle=":", label="all rows")


if __name__ == "__main__":
    main("summarize", compute, draw, seeds=subsets.SEEDS, about=__doc__, takes=TAKES)
