"""Classifiers fitted on few rows: ``python -m studies.classify``.

The experiment of section 7.1.2 of Leppä-aho, Silander and Roos [1]_: rows are chosen that stand for a table, and the
parameters of a TAN and of a KDB classifier are fitted on them alone. Error and log loss of the class on other rows
tell how well they do.

References
----------
.. [1] J. Leppä-aho, T. Silander and T. Roos, "Bayesian network Fisher kernel for categorical feature spaces",
   Behaviormetrika 47, 2020.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

import fishernet as fn
from studies import figures, subsets
from studies.study import Run, Table, main
from studies.subsets import SIZES, Trials, halves, read_table, three

CLASSIFIERS: Mapping[str, Callable[[fn.Table], fn.Dag]] = {
    "TAN": lambda train: fn.learn.tan(train, "class"),
    "KDB": lambda train: fn.learn.kdb(train, "class", k=3),
}
FIGURES = ("error", "log loss")
TAKES = "in processor time --quick 31 s, usual 4 minutes"
FORMATS = {"error": "z.4f", "log loss": "z.3f"}


def of_class(test: fn.Table) -> subsets.Measure:
    """Return what gives the share of test rows that are put in a wrong class, and the mean -log P of the class."""
    codes = test.column("class")

    def measure(model: fn.BayesianNetwork) -> list[float]:
        shares = np.asarray(model.predict_proba(test, "class"))
        right = shares[np.arange(test.n_rows), codes]
        return [float((shares.argmax(axis=1) != codes).mean()), -float(np.log(right).mean())]

    return measure


def one_trial(
    classifier: str, name: str, path: Path | None, sizes: Sequence[int], split: int, drawn: int, patient: int
) -> dict[str, Any]:
    """Return one trial of a classifier on a table."""
    train, test = halves(read_table(name, path), split)
    of: dict[str, Any] = {"subsets": drawn, "weigh": 2, "patient": patient}
    return subsets.trial(train, CLASSIFIERS[classifier](train), of_class(test), sizes, split, **of)


def compute(run: Run) -> Iterator[Table]:
    """Yield the errors and log losses, how far the ways are apart, and what weights do."""
    splits, sizes, there = run.repetitions(quick=2, usual=5, full=10), run.choose(SIZES[:2], SIZES), three(run)
    drawn, patient = run.choose(10, 20, 100), run.choose(0, SIZES[0], SIZES[-1])
    run.settings.update(subsets=drawn)
    pairs = [(classifier, name, path) for classifier in CLASSIFIERS for name, path in there.items()]
    tasks = [(*pair, sizes, split, drawn, patient) for pair in pairs for split in range(splits)]
    made = iter(run.map(one_trial, tasks))
    found = {pair[:2]: Trials([next(made) for _ in range(splits)]) for pair in pairs}
    for figure, called in enumerate(FIGURES):
        heads = ["classifier", "table"]
        cells = [(*pair, trials, at, k) for pair, trials in found.items() for at, k in enumerate(sizes)]
        title = called.replace(" ", "-")
        rows = [[c, name, *subsets.loss_row(trials, at, k, figure)] for c, name, trials, at, k in cells]
        yield Table(title, [*heads, *subsets.LOSS_COLUMNS], rows, FORMATS[called], best=True)
        rows = [[c, name, *subsets.margin_row(trials, at, k, figure)] for c, name, trials, at, k in cells]
        formats = [FORMATS[called]] * (len(heads) + len(subsets.MARGIN_COLUMNS) - 1) + [".1f"]
        yield Table(f"{title}-margins", [*heads, *subsets.MARGIN_COLUMNS], rows, formats)
        rows = [[c, name, *subsets.weight_row(trials, at, k, figure)] for c, name, trials, at, k in cells]
        yield Table(f"{title}-weights", [*heads, *subsets.WEIGHT_COLUMNS], rows, FORMATS[called], best=True)


def draw(tables: Mapping[str, Table], path: Callable[[str], Path]) -> None:
    """Draw the errors and the log losses of each classifier by k."""
    for called in FIGURES:
        title = called.replace(" ", "-")
        for classifier in CLASSIFIERS:
            panels = subsets.panels(tables[title], tables[f"{title}-weights"], all_rows=True, classifier=classifier)
            y = {"error": "share of wrong classes", "log loss": "log loss (nats per row)"}[called]
            figures.lines(path(f"{classifier.lower()}-{title}"), panels, x="rows chosen", y=y)


if __name__ == "__main__":
    main("classify", compute, draw, seeds=subsets.SEEDS, about=__doc__, takes=TAKES)
