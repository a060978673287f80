"""Run the study: ``python -m studies.dependency_networks [--quick | --full] [--data DIR]``."""

from studies import dependency_networks
from studies.dependency_networks.experiments import ALL_SEEDS, compute, draw
from studies.study import main

TAKES = "on two cores a quarter of an hour, --quick one minute, --full hours and 19 GB"

if __name__ == "__main__":
    main("dependency_networks", compute, draw, seeds=ALL_SEEDS, about=dependency_networks.__doc__, takes=TAKES)
