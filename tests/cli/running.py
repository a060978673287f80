"""Running the command: in this process, and as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass
from inspect import signature
from pathlib import Path
from typing import Any

from click.testing import CliRunner

from fishernet.cli.main import fishernet

COMMAND = [sys.executable, "-c", "from fishernet.cli.main import main; main()"]
# as on a user's machine: output that is not written at once can fail when the process ends
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "FISHERNET"))}
OUR_MISTAKE = "mistake of fishernet itself"


# click 8.1 mixes stderr into stdout unless told not to; 8.2 never does, and knows no such option
RUNNER = CliRunner(**({"mix_stderr": False} if "mix_stderr" in signature(CliRunner).parameters else {}))  # type: ignore[arg-type]


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
