"""Run the study: ``python -m studies.missing [--quick] [--data DIR]``."""

from collections.abc import Iterator

from studies import missing
from studies.missing import peers, similarity
from studies.missing.experiments import SEEDS, draw, experiments
from studies.study import Run, Table, main

TAKES = "--quick 29 s of processor time, usual 34 minutes on two busy cores; --part computes a part alone"


PARTS = {"networks": experiments, "peers": peers.compute, "rows": similarity.compute}


def compute(run: Run) -> Iterator[Table]:
    """Yield the tables of all parts."""
    for part in PARTS.values():
        yield from part(run)


if __name__ == "__main__":
    seeds = SEEDS | peers.SEEDS | similarity.SEEDS
    main("missing", compute, draw, seeds=seeds, about=missing.__doc__, takes=TAKES, parts=PARTS)
