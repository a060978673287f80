"""The table of contents of the command line."""

from __future__ import annotations

import click

from fishernet.cli.cluster import cluster
from fishernet.cli.comparisons.compare import compare
from fishernet.cli.comparisons.compare_graphs import compare_graphs
from fishernet.cli.comparisons.monitor import monitor
from fishernet.cli.convert import convert
from fishernet.cli.demo import demo
from fishernet.cli.describe import describe
from fishernet.cli.impute import impute
from fishernet.cli.learn import learn
from fishernet.cli.options import explaining_kinds
from fishernet.cli.predict import predict
from fishernet.cli.query import query
from fishernet.cli.report import report
from fishernet.cli.sample import sample
from fishernet.cli.score import score
from fishernet.cli.select import select
from fishernet.cli.similar import similar
from fishernet.cli.strings import strings
from fishernet.cli.terminal import Commands


@click.group(
    cls=Commands,
    commands=[
        *(describe, learn, score, sample, predict, impute, query, select, similar, cluster, compare),
        *(monitor, compare_graphs, report, convert, strings, demo),
    ],
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
)
@click.version_option(package_name="fishernet", message="%(package)s %(version)s")
@explaining_kinds
def fishernet() -> None:
    """Learn how the variables of a table depend on one another, and use what was learned.

    Results go to stdout or to -o FILE, progress and notes to stderr. The exit status is 0 when all went well, 1 for
    bad input (one sentence on stderr says what, where, and what to do), 2 for a command line that makes no sense, 3 if
    something changed and --exit-code was given, 130 after Ctrl-C. Files are written beside and renamed, so there is
    never half of one.

    \b
    Example: from a CSV file to a network, and on from there
      fishernet describe patients.csv
      fishernet learn patients.csv -o model.json
      fishernet score model.json new.csv
      fishernet sample model.json -n 1000 -o more.csv
    """  # noqa: D301


def main() -> None:
    """Run the command line; never returns."""
    fishernet(prog_name="fishernet")
