"""Run the study: ``python -m studies.drift [--quick | --full] [--data DIR]``."""

from studies import drift
from studies.drift.experiments import PARTS, SEEDS, compute, draw
from studies.study import main

TAKES = "--quick a minute of processor time, usual an hour and a half of one processor, --full five times as long"

if __name__ == "__main__":
    main("drift", compute, draw, seeds=SEEDS, about=drift.__doc__, takes=TAKES, parts=PARTS)
