"""Run the study: ``python -m studies.missing [--quick] [--data DIR]``."""

from collections.abc import Iterator

from studies import missing
from studies.missing import peers, similarity
from studies.missing.experiments import SEEDS, draw, experiments
from studies.study import Run, Table, main

TAKES = "--quick 29 s of processor time, usual 34 minutes on two busy cores"


def compute(run: Run) -> Iterator[Table]:
    """Yield the tables of all parts."""
    yield from experiments(run)
    yield from peers.compute(run)
    yield from similarity.compute(run)


if __name__ == "__main__":
    seeds = SEEDS | peers.SEEDS | similarity.SEEDS
    main("missing", compute, draw, seeds=seeds, about=missing.__doc__, takes=TAKES)
