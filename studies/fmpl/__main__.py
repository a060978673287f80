"""Run the study: ``python -m studies.fmpl [--quick | --full] [--data FOLDER] [--keep FILE] [--output FILE]``."""

from __future__ import annotations

from pathlib import Path

from studies.command_line import Study
from studies.fmpl.options import REPETITIONS, Options
from studies.fmpl.report import report

STUDY = Study(
    name="fmpl",
    description="Gaussian Markov networks by FMPL.",
    quick="under a minute: 64 variables, three data sets",
    full="days: the methods with an L1 penalty on all data sets",
    data="holds reference/; without it that part is left out",
    repetitions=REPETITIONS,
    options=Options,
    report=report,
    output=Path("docs/studies/fmpl.md"),
)
main = STUDY.main

if __name__ == "__main__":
    main()
