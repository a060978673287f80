"""Run the study: ``python -m studies.dependency_networks [--quick | --full] [--data DIR]``."""

from studies import dependency_networks
from studies.dependency_networks.experiments import ALL_SEEDS, PARTS, compute, draw
from studies.study import main

TAKES = "--quick 45 s of processor time, usual 18 minutes on two busy cores, --full hours and 19 GB of memory"

if __name__ == "__main__":
    main(
        "dependency_networks",
        compute,
        draw,
        seeds=ALL_SEEDS,
        about=dependency_networks.__doc__,
        takes=TAKES,
        parts=PARTS,
    )
