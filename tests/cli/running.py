"""Running the command, in this process and as a process of its own, and files for it."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from click.testing import CliRunner

import fishernet as fn
from fishernet.cli.main import fishernet

COMMAND = [sys.executable, "-c", "from fishernet_command import main; main()"]
# as on a user's machine: output that is not written at once can fail when the process ends
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "FISHERNET"))}
OUR_MISTAKE = "mistake of fishernet itself"
# click 8.1 mixes stderr into stdout unless told not to; 8.2 never does, and knows no such option
RUNNER = CliRunner(**({"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}))  # type: ignore[arg-type]

PATIENTS = [
    ("age", "smoke", "cough"),
    *[("young", "no", "no")] * 30,
    *[("young", "yes", "yes")] * 10,
    *[("old", "yes", "yes")] * 25,
    *[("old", "yes", "no")] * 5,
    *[("old", "no", "no")] * 20,
    *[("old", "no", "yes")] * 10,
]
HOSTILE = ["a,b", 'q"uo', "x=y", "=", "new\nline", " sp", "é \U0001f600", "\x1b[31m"]
ASIA = fn.datasets.load("asia")
ROWS = ASIA.sample(200, seed=1)


@dataclass(frozen=True)
class Run:
    """How a run ended."""

    status: int
    out: str
    err: str

    @property
    def facts(self) -> dict[str, Any]:
        """What ``--json`` printed, by a strict reader."""
        facts: dict[str, Any] = json.loads(self.out, parse_constant=lambda word: 1 / 0)
        return facts

    @property
    def cells(self) -> list[list[str]]:
        """The rows of the CSV file that was printed, the header first."""
        return list(csv.reader(io.StringIO(self.out)))


def run(*words: object) -> Run:
    """Run the command in this process."""
    ended = RUNNER.invoke(fishernet, [str(word) for word in words], prog_name="fishernet")
    assert "Traceback" not in ended.stderr
    assert OUR_MISTAKE not in ended.stderr
    return Run(ended.exit_code, ended.stdout, ended.stderr)


def good(*words: object) -> Run:
    """Run the command in this process; it must end well."""
    ended = run(*words)
    assert ended.status == 0, ended.err
    return ended


def facts_of(*words: object) -> dict[str, Any]:
    """Run the command in this process with ``--json``; it must end well."""
    return good(*words, "--json").facts


def refused(*words: object) -> str:
    """Run the command in this process; it must end with status 1 and one sentence, which is returned."""
    ended = run(*words)
    assert (ended.status, ended.out) == (1, ""), (ended.status, ended.out, ended.err)
    assert ended.err.startswith("fishernet: ")
    assert ended.err.count("\n") == 1
    assert ended.err.endswith("\n")
    return ended.err.removeprefix("fishernet: ").removesuffix("\n")


def process(*words: object, cwd: Path | None = None, **environment: str) -> Run:
    """Run the command as a process of its own."""
    ended = subprocess.run(
        [*COMMAND, *map(str, words)],
        capture_output=True,
        encoding="utf-8",
        check=False,
        cwd=cwd,
        env=ENVIRONMENT | environment,
    )
    assert "Traceback" not in ended.stderr, ended.stderr
    assert OUR_MISTAKE not in ended.stderr
    return Run(ended.returncode, ended.stdout, ended.stderr)


# loads the command once; each line is then run by a fork of that process, to its end, with files for its output
FORKS = """
import json, os, sys, warnings
import pandas, fishernet.cli.main  # pandas: most lines need it
from fishernet_command import main

folder, lines = sys.argv[1], json.load(sys.stdin)
status = []
for number, line in enumerate(lines):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of threads that a fork leaves behind
        child = os.fork()
    if not child:
        for channel, name in ((1, "out"), (2, "err")):
            os.dup2(os.open(f"{folder}/{number}.{name}", os.O_WRONLY | os.O_CREAT), channel)
        sys.argv[1:] = line
        break
    status.append(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
else:
    print(json.dumps(status))
    sys.exit()
main()
"""


def processes(lines: Sequence[Sequence[object]], folder: Path, **environment: str) -> list[Run]:
    """Run each line of the command as a process of its own, which does not load the library again where it can fork."""
    if not hasattr(os, "fork"):
        return [process(*line, cwd=None, **environment) for line in lines]
    folder.mkdir()
    ended = subprocess.run(
        [sys.executable, "-c", FORKS, str(folder)],
        input=json.dumps([list(map(str, line)) for line in lines]),
        capture_output=True,
        encoding="utf-8",
        check=True,
        env=ENVIRONMENT | environment,
    )
    runs = []
    for number, status in enumerate(json.loads(ended.stdout)):
        out, err = ((folder / f"{number}.{name}").read_text(encoding="utf-8") for name in ("out", "err"))
        assert "Traceback" not in err, err
        assert OUR_MISTAKE not in err
        runs.append(Run(status, out, err))
    return runs


# ------------------------------------------------------------------------------------------------------------ files


def written(path: Path, text: str) -> Path:
    """Write a text file, line ends as they are."""
    path.write_text(text, encoding="utf-8", newline="")
    return path


def saved(model: Any, path: Path) -> Path:
    """Write a model, to m.json of a folder or to a path."""
    path = path / "m.json" if path.is_dir() else path
    fn.save(model, path)
    return path


def patients(folder: Path) -> Path:
    """Write a table of 100 rows with dependences."""
    return written(folder / "patients.csv", "".join(",".join(row) + "\n" for row in PATIENTS))


def chain(n: int = 300) -> pd.DataFrame:
    """Return numbers of which each depends on the one before, and one that depends on nothing."""
    noise = np.random.default_rng(1).normal(size=(n, 4))
    walk = noise[:, :3].cumsum(axis=1)
    return pd.DataFrame({"a": walk[:, 0], "b": walk[:, 1], "c, d": 10 * walk[:, 2] + 3, "e": noise[:, 3]})


def coin(name: str = "a", states: Any = ("x", "y"), probabilities: Any = None) -> fn.BayesianNetwork:
    """Return a network of one variable, whose states are equally probable unless said."""
    shares = [1 / len(states)] * len(states) if probabilities is None else probabilities
    return fn.BayesianNetwork.from_tables([fn.Variable(name, states)], {}, {name: shares})


def hostile() -> fn.BayesianNetwork:
    """Return a network of two variables with names and labels that break what is careless."""
    x, y = fn.Variable("p = q, r", HOSTILE), fn.Variable('é;"y', HOSTILE)
    copies = 0.92 * np.eye(8) + 0.01
    tables: dict[str, Any] = {"p = q, r": [1 / 8] * 8, 'é;"y': copies}
    return fn.BayesianNetwork.from_tables([x, y], {'é;"y': ["p = q, r"]}, tables)


def labels_of(table: fn.Table) -> list[list[object]]:
    """Return the rows of a table as lists of labels."""
    frame = table.to_frame()
    return [list(row) for row in zip(*(frame[name].to_pylist() for name in frame.column_names), strict=True)]
