"""What lets a shell complete the command line, and where it is installed."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from tests.cli.running import COMMAND, ENVIRONMENT, good, refused

PLACES = {
    "bash": ".local/share/bash-completion/completions/fishernet",
    "zsh": ".zfunc/_fishernet",
    "fish": ".config/fish/completions/fishernet.fish",
}


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("XDG_DATA_HOME", "XDG_CONFIG_HOME", "SHELL"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.parametrize("shell", PLACES)
def test_it_is_printed_or_installed_where_the_shell_looks(shell: str, home: Path) -> None:
    script = good("completion", shell).out
    assert f"_FISHERNET_COMPLETE={shell}_complete" in script
    said = good("completion", shell, "--install").out
    assert (home / PLACES[shell]).read_text().rstrip("\n") == script.rstrip("\n")
    assert str(home / PLACES[shell]) in said
    assert ("~/.zshrc" in said) == (shell == "zsh")


def test_the_shell_is_the_one_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    assert "name one: bash, zsh, fish" in refused("completion")
    monkeypatch.setenv("SHELL", "/usr/bin/fish")
    assert good("completion").out == good("completion", "fish").out


def test_a_folder_that_cannot_be_made_is_one_sentence(home: Path) -> None:
    (home / ".zfunc").write_text("a file")
    assert "_fishernet" in refused("completion", "zsh", "--install")


@pytest.mark.parametrize(
    ("line", "expected"),
    [("fishernet le", "learn"), ("fishernet learn --sea", "--search"), ("fishernet completion f", "fish")],
)
def test_words_are_completed(line: str, expected: str) -> None:
    asked = {"_FISHERNET_COMPLETE": "bash_complete", "COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    done = subprocess.run(COMMAND, capture_output=True, text=True, env={**ENVIRONMENT, **asked}, check=False)
    assert expected in [word.partition(",")[2] for word in done.stdout.split("\n")]
