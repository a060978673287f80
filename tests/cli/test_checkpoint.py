"""``fishernet learn --checkpoint``: a command that was killed goes on."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import fishernet as fn
from tests.cli.running import facts_of, good, refused

# the command, but that it writes its state at every look, and waits for ever once it kept more than so many steps
WAITING = """
import json, sys, time
from pathlib import Path
from fishernet.cli.main import main
from fishernet.learn import checkpoint

after, keep = int(sys.argv.pop(1)), checkpoint.Checkpoint.keep

def kept(self, work):
    global after
    keep(self, work)
    if len(json.loads(Path(self.path).read_text())["state"]["real"]) > after:
        after = 10**9
        print("kept", flush=True)
        while True:
            time.sleep(0.1)

checkpoint.SECONDS, checkpoint.Checkpoint.keep = 0.0, kept
main()
"""


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "alarm.csv"
    fn.write_table(fn.datasets.load("alarm").sample(2000, seed=1), path)
    return path


def killed(words: list[str], after: int, with_signal: int) -> subprocess.CompletedProcess[bytes]:
    """Run the command and kill it in the middle of the search, once more than so many steps are kept."""
    with subprocess.Popen(
        [sys.executable, "-c", WAITING, str(after), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == b"kept\n", "it ended before it could be killed"
        running.send_signal(with_signal)
        out, err = running.communicate()
    return subprocess.CompletedProcess(words, running.returncode, out, err)


@pytest.mark.parametrize(
    "search",
    [
        *("--search hill-climb --restarts 400 --seed 2", "--search tabu --restarts 200 --seed 2"),
        *("--search order --restarts 300", "--search order --restarts 400 --candidates 8 --holdout 0"),
    ],
)
def test_a_command_that_was_killed_ends_as_one_that_was_not(table: Path, tmp_path: Path, search: str) -> None:
    model, checkpoint = tmp_path / "model.json", tmp_path / "state.json"
    words = ["learn", str(table), *search.split(), "-o", str(model)]
    expected = facts_of(*words)
    made = model.read_bytes()
    model.unlink()
    words += ["--checkpoint", str(checkpoint)]
    ended = killed(words, 20, signal.SIGKILL)
    assert (ended.returncode, ended.stdout, ended.stderr) == (-signal.SIGKILL, b"", b"")
    assert not model.exists()
    assert json.loads(checkpoint.read_text())["found"] is None
    first, again = facts_of(*words), facts_of(*words)
    for found in (first, again):
        assert {**found, "seconds": 0, "local_scores": 0} == {**expected, "seconds": 0, "local_scores": 0}
        assert model.read_bytes() == made
    assert again["local_scores"] == first["local_scores"] <= expected["local_scores"]


def test_ctrl_c_says_how_to_go_on(table: Path, tmp_path: Path) -> None:
    checkpoint = tmp_path / "state"
    words = ["learn", str(table), "--restarts", "100000", "--checkpoint", str(checkpoint)]
    ended = killed(words, 0, signal.SIGINT)
    told = f"fishernet: interrupted while learning; the same command goes on from {checkpoint}\n"
    assert (ended.returncode, ended.stdout, ended.stderr.decode()) == (130, b"", told)


def test_one_of_another_command_is_refused_and_stays(table: Path, tmp_path: Path) -> None:
    checkpoint = tmp_path / "state"
    good("learn", table, "--search", "hill-climb", "--checkpoint", checkpoint)
    before = checkpoint.read_bytes()
    other = f"{checkpoint}: this is the checkpoint of another search: "
    advice = "; ask for the same to go on, or name another file to begin anew (option --checkpoint)"
    for words, told in [
        ("--score aic", "the score was Bic(prior=False) and is Aic()"),
        ("--seed 3", "the search's seed was 0 and is 3"),
        ("--holdout 0.5", "the weight of all rows was 1600.0 and is 1000.0"),
    ]:
        again = refused("learn", table, "--search", "hill-climb", *words.split(), "--checkpoint", checkpoint)
        assert again == other + told + advice
    assert checkpoint.read_bytes() == before
