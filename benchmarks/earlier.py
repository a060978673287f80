"""An earlier state of the library, to be timed in turns with this one.

What is named is a `src` folder in which the extension was built, or a revision of git. A revision is installed in
`build/before/COMMIT`, once: what is compiled there takes minutes, and less where `ccache` compiles.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.environment import ROOT, output


def tree_of(named: str) -> Path:
    """Return the folder that Python imports the earlier state from.

    Raises
    ------
    ValueError
        When the name is neither a folder nor a revision.
    """
    if (folder := Path(named)).is_dir():
        return folder.resolve()
    commit = output("git", "-C", os.fspath(ROOT), "rev-parse", "--verify", "--quiet", f"{named}^{{commit}}")
    if commit is None:
        raise ValueError(f"--against: {named!r} is neither a folder nor a revision of git")
    installed = ROOT / "build" / "before" / commit[:12]
    if not installed.exists():
        install(commit, installed)
    return installed


def install(commit: str, folder: Path) -> None:
    """Install a commit in a folder of its own, which is there only when all of it is."""
    print(f"installing {commit[:12]} in {folder.relative_to(ROOT)}", file=sys.stderr, flush=True)
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as scratch:
        source, made = Path(scratch) / "source", Path(scratch) / "made"
        source.mkdir()
        files = subprocess.run(["git", "-C", ROOT, "archive", commit], check=True, capture_output=True).stdout
        subprocess.run(["tar", "-x", "-C", source], input=files, check=True)
        pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "-q", "install"]
        subprocess.run([*pip, "--no-build-isolation", "--no-deps", "--target", made, source], check=True)
        made.rename(folder)
