"""Starting: importing the library in fresh interpreters, and its command, from nothing to its end.

Nearly all of this is what Python does. The time of an import is that of the ``import`` alone, told by the
interpreter; the time of a command is that of its whole process.
"""

from __future__ import annotations

import functools

import fishernet as fn
from benchmarks.calls import Call, Data, importing, python
from benchmarks.race import Race, Told, Verdict, below, calls_of, same
from benchmarks.sources import scratch

TITLE = "Starting"


@functools.cache
def files() -> Data:
    """Write nursery as CSV and asia as BIF."""
    table, net = scratch() / "nursery.csv", scratch() / "asia.bif"
    fn.write_table(fn.datasets.load("nursery"), table)
    fn.write_bif(fn.datasets.load("asia"), net)
    return Data("", options={"table": str(table), "net": str(net)})


def command(*arguments: str) -> Call:
    return python("from fishernet.cli.main import main; sys.exit(main())", *arguments)


def ended(_: Told) -> Verdict:
    """Accept what ended without an error: an import or a command that fails has no time at all."""
    return True, "ended well"


RACES = (
    Race(files, importing("fishernet"), ended, same("import", "pyAgrum", "pgmpy"), [below(0.4)], "import fishernet"),
    Race(files, importing("fishernet.cli.main"), ended, title="import fishernet.cli.main"),
    Race(files, command("--version"), ended, title="fishernet --version"),
    Race(files, command("--help"), ended, title="fishernet --help"),
    Race(files, command("query", "{net}", "lung", "--given", "smoke=yes"), ended, title="fishernet query"),
    Race(files, command("learn", "{table}", "--search", "hill-climb"), ended, title="fishernet learn nursery.csv"),
)
CALLS = calls_of(RACES)
