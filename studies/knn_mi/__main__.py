"""Run the study: ``python -m studies.knn_mi [--quick | --full] [--data FOLDER] [--keep FILE] [--output FILE]``."""

from __future__ import annotations

from pathlib import Path

from studies.command_line import Study
from studies.knn_mi.options import REPETITIONS, Options
from studies.knn_mi.report import report

STUDY = Study(
    name="knn_mi",
    description="Markov networks by nearest neighbours.",
    quick="about a minute: few rows, two repetitions, hardly any KCIT",
    full="many hours: 25 repetitions, KCIT on all sizes",
    data="holds bio/; without it the proteins are left out",
    repetitions=REPETITIONS,
    options=Options,
    report=report,
    output=Path("docs/studies/knn-mi.md"),
)
main = STUDY.main

if __name__ == "__main__":
    main()
