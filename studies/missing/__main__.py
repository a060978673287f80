"""Run the study: ``python -m studies.missing [--quick] [--data DIR]``."""

from collections.abc import Iterator

from studies import missing
from studies.missing import peers, similarity
from studies.missing.experiments import SEEDS, draw, experiments
from studies.study import Run, Table, main


def compute(run: Run) -> Iterator[Table]:
    """Yield the tables of all parts."""
    yield from experiments(run)
    yield from peers.compute(run)
    yield from similarity.compute(run)


if __name__ == "__main__":
    main("missing", compute, draw, seeds=SEEDS | peers.SEEDS | similarity.SEEDS, about=missing.__doc__)
