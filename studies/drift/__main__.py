"""Run the study: ``python -m studies.drift [--quick | --full] [--data DIR]``."""

from studies import drift
from studies.drift.experiments import SEEDS, compute, draw
from studies.study import main

if __name__ == "__main__":
    main("drift", compute, draw, seeds=SEEDS, about=drift.__doc__)
