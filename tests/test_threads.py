"""The number of threads, and a pool that survives a fork."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import fishernet as fn
from fishernet import _core
from fishernet.base import threads
from fishernet.base.errors import FishernetError


def test_set_threads_returns_what_was() -> None:
    before = fn.set_threads(3)
    assert fn.set_threads(before) == 3
    assert _core.get_threads() == before


def test_threads_are_set_for_a_while() -> None:
    before = fn.get_threads()
    with fn.threads(3):
        assert fn.get_threads() == 3
    with pytest.raises(RuntimeError), fn.threads(2):
        raise RuntimeError
    assert fn.get_threads() == before


def test_none_is_what_the_machine_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FISHERNET_THREADS", raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    before = fn.set_threads(None)
    assert fn.set_threads(before) == threads.available_threads() <= len(os.sched_getaffinity(0))


@pytest.mark.parametrize("n", [0, -1, 257, 1.5, "2", True])
def test_a_number_that_is_none_is_refused(n: Any) -> None:
    with pytest.raises(FishernetError, match="from 1 to 256"):
        fn.set_threads(n)


@pytest.mark.parametrize(("text", "n"), [("200000 100000", 2.0), ("50000 100000", 0.5), ("max 100000", float("inf"))])
def test_the_quota_of_a_control_group(tmp_path: Path, text: str, n: float) -> None:
    path = tmp_path / "cpu.max"
    path.write_text(text)
    assert threads._quota(path) == n
    assert threads._quota(tmp_path / "no such file") == float("inf")


def test_the_environment_decides() -> None:
    script = "import fishernet as fn; print(fn.set_threads(1))"

    def run(value: str) -> subprocess.CompletedProcess[str]:
        env = {**os.environ, "FISHERNET_THREADS": value}
        return subprocess.run([sys.executable, "-c", script], env=env, capture_output=True, text=True, check=False)

    assert run("5").stdout.strip() == "5"
    assert "FISHERNET_THREADS must be a number from 1 to 256, got 'many'" in run("many").stderr


@pytest.mark.parametrize(
    ("own", "openmp", "n"),
    [(None, "3", 3), (None, "5,2", 5), (None, " 4 ", 4), ("2", "7", 2), ("", "7", 7), (None, "100000", 256)],
)
def test_openmp_is_asked_after_our_own_variable(
    monkeypatch: pytest.MonkeyPatch, own: str | None, openmp: str, n: int
) -> None:
    monkeypatch.delenv("FISHERNET_THREADS", raising=False)
    if own is not None:
        monkeypatch.setenv("FISHERNET_THREADS", own)
    monkeypatch.setenv("OMP_NUM_THREADS", openmp)
    before = fn.set_threads(None)
    assert fn.set_threads(before) == n


@pytest.mark.parametrize("openmp", ["", "0", "-1", "many", "1.5", "\N{SUPERSCRIPT TWO}"])
def test_what_openmp_would_not_take_is_not_taken(monkeypatch: pytest.MonkeyPatch, openmp: str) -> None:
    monkeypatch.delenv("FISHERNET_THREADS", raising=False)
    monkeypatch.setenv("OMP_NUM_THREADS", openmp)
    before = fn.set_threads(None)
    assert fn.set_threads(before) == threads.available_threads()


def test_a_worker_of_joblib_takes_its_share(monkeypatch: pytest.MonkeyPatch) -> None:
    joblib = pytest.importorskip("joblib")
    monkeypatch.delenv("FISHERNET_THREADS", raising=False)
    with joblib.parallel_config("loky", inner_max_num_threads=3):
        (there,) = joblib.Parallel(n_jobs=2)([joblib.delayed(fn.set_threads)(1)])
    assert there == 3


def test_a_forked_child_computes_on() -> None:
    script = (
        "import os, warnings, fishernet as fn\n"
        "warnings.simplefilter('ignore')\n"
        "fn.set_threads(2)\n"
        "net = fn.datasets.load('asia')\n"
        "here = net.sample(100_000, seed=1)\n"
        "child = os.fork()\n"
        "if child == 0: os._exit(0 if net.sample(100_000, seed=1) == here else 1)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True, timeout=60)
    assert run.stdout.strip() == "0"
