"""How the command starts: a second of imports, in which it can be ended as it can be later."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
import tomllib
from pathlib import Path

import pytest

from tests.cli.running import COMMAND, ENVIRONMENT

PROJECT = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))


def ended(number: int, seconds: float, *, first: str = "") -> tuple[int, bytes, bytes]:
    """Send a signal some time after Python started, then end the input: status, stdout and stderr."""
    *python, start = COMMAND
    with subprocess.Popen(
        [*python, f"{first}print(flush=True); {start}", "describe", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=ENVIRONMENT,
    ) as running:
        assert running.stdout
        running.stdout.readline()
        time.sleep(seconds)
        running.send_signal(number)
        out, err = running.communicate()
    return running.returncode, out, err


@pytest.mark.parametrize("seconds", [0.05, 0.2, 0.5])
def test_ctrl_c_ends_it_while_it_starts(seconds: float) -> None:
    assert ended(signal.SIGINT, seconds) == (130, b"", b"fishernet: interrupted\n")


def test_it_is_asked_to_end_while_it_starts() -> None:
    assert ended(signal.SIGTERM, 0.2) == (143, b"", b"")


def test_a_signal_that_is_ignored_stays_ignored() -> None:
    """As `nohup` and the `&` of a shell have it: the command goes on, and tells that there is no input."""
    status, _, err = ended(signal.SIGINT, 0.2, first="import signal; signal.signal(signal.SIGINT, signal.SIG_IGN); ")
    assert status == 1
    assert b"interrupted" not in err


def test_what_starts_it_is_in_the_wheel_and_imports_nothing_of_the_package() -> None:
    module, _, function = PROJECT["project"]["scripts"]["fishernet"].partition(":")
    assert COMMAND[-1] == f"from {module} import {function}; {function}()"
    assert f"src/{module}" in PROJECT["tool"]["scikit-build"]["wheel"]["packages"]
    script = f"import sys, {module}; print({{'fishernet', 'numpy', 'click'}} & {{*sys.modules}})"
    ran = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, env=ENVIRONMENT)
    assert ran.stdout == "set()\n"


@pytest.mark.parametrize(
    ("given", "expected"),
    [({}, "1"), ({"OPENBLAS_NUM_THREADS": "2"}, "2"), ({"OMP_NUM_THREADS": "3"}, "none")],
    ids=["by itself", "as asked", "by OpenMP"],
)
def test_blas_has_one_thread_unless_somebody_says_how_many(given: dict[str, str], expected: str) -> None:
    told = "import atexit, os; atexit.register(lambda: print(os.environ.get('OPENBLAS_NUM_THREADS', 'none')))"
    *python, start = COMMAND
    others = {name: value for name, value in ENVIRONMENT.items() if not name.endswith("_NUM_THREADS")}
    done = subprocess.run(
        [*python, f"{told}; {start}", "--version"], capture_output=True, text=True, check=True, env=others | given
    )
    assert done.stdout.splitlines()[-1] == expected
