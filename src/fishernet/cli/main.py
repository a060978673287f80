"""The table of contents of the command line."""

from __future__ import annotations

import click

from fishernet.cli.kinds import explaining_kinds
from fishernet.cli.terminal import Commands

COMMANDS = {
    "describe": ("fishernet.cli.describe", "Say what each column of a table is, and why."),
    "learn": ("fishernet.cli.learn", "Learn a network or a graph from a table."),
    "score": ("fishernet.cli.score", "Score a table, rows or cells, or cross-validate (--folds)."),
    "sample": ("fishernet.cli.sample", "Draw rows from a model."),
    "predict": ("fishernet.cli.predict", "Predict one variable from all the others."),
    "impute": ("fishernet.cli.impute", "Fill in the missing cells of a table."),
    "query": ("fishernet.cli.query", "Ask a model what is probable, given what is known."),
    "select": ("fishernet.cli.select", "Choose rows that stand for a table."),
    "similar": ("fishernet.cli.similar", "Find the rows most like a given one."),
    "cluster": ("fishernet.cli.cluster", "Find groups of rows, and what is typical of each."),
    "compare": ("fishernet.cli.comparisons.compare", "Say whether, where and how two tables differ."),
    "monitor": ("fishernet.cli.comparisons.monitor", "Watch batches of rows: a line of JSON each."),
    "compare-graphs": ("fishernet.cli.comparisons.compare_graphs", "Say where two graphs differ."),
    "report": ("fishernet.cli.report", "Make one page on a table that answers questions."),
    "convert": ("fishernet.cli.convert", "Turn a model or a table into another format."),
    "strings": ("fishernet.cli.strings", "Compare strings: DNA, proteins, texts."),
    "completion": ("fishernet.cli.completion", "Let the shell complete commands with the Tab key."),
    "demo": ("fishernet.cli.demo", ""),
}
"""By name: the file of each command, which is imported when it is used, and what it does."""


@click.group(
    cls=Commands,
    listed=COMMANDS,
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
