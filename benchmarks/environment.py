"""The peers' own environment: ``python -m benchmarks.environment`` makes it.

The Python peers live in ``.bench-venv``, so that nothing they want can change ours. bnlearn comes from the system's R;
where it is not there, and cannot be had as a Debian package, a sentence says so and its rows stay empty. Nothing here
fails a run: a peer that is missing is "not available".
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / ".bench-venv"
PYTHON = FOLDER / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
REQUIREMENTS = Path(__file__).parent / "peers" / "requirements.txt"
R_PACKAGES = ("r-base-core", "r-cran-bnlearn", "r-cran-jsonlite")


def requirements() -> list[str]:
    lines = REQUIREMENTS.read_text().splitlines()
    return [line.strip() for line in lines if line.strip() and not line.startswith("#")]


def output(*command: str | Path) -> str | None:
    """Return what a command prints, or None where it fails or is not there."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None


def python_version(package: str, python: str | Path = PYTHON) -> str | None:
    """Return the version of a package in an environment, or None."""
    return output(python, "-c", f"import importlib.metadata as m; print(m.version({package!r}))")


def bnlearn_version() -> str | None:
    """Return the versions of bnlearn and R, or None where bnlearn or jsonlite is not there."""
    code = "library(jsonlite); cat(sprintf('%s (R %s)', packageVersion('bnlearn'), getRversion()))"
    return output("Rscript", "-e", code)


def make_python() -> None:
    """Make `.bench-venv` unless it already holds what it should."""
    wanted = dict(line.split("==") for line in requirements())
    if all((python_version(name) or "").split("+")[0] == version for name, version in wanted.items()):
        return
    if not PYTHON.exists():
        subprocess.run([sys.executable, "-m", "venv", FOLDER], check=True)
    for line in requirements():
        print(f"installing {line} in {FOLDER.name}", flush=True)
        done = subprocess.run([PYTHON, "-m", "pip", "install", "--quiet", line])
        if done.returncode:
            print(f"{line} could not be installed: the rows of the peers that need it will say 'not available'")
            return


def make_r() -> None:
    """Install R and bnlearn from Debian's packages, where that is possible."""
    if bnlearn_version():
        return
    if not shutil.which("apt-get") or os.geteuid() != 0:
        print("bnlearn: not here, and only root on Debian could install it; its rows will say 'not available'")
        return
    subprocess.run(["apt-get", "update", "-qq"])
    if not output("apt-cache", "show", "r-cran-bnlearn"):
        print(
            "bnlearn: this Debian has no package r-cran-bnlearn; install R with its packages bnlearn and jsonlite by "
            "hand to have its rows, which will say 'not available' until then"
        )
        return
    done = subprocess.run(["apt-get", "install", "-y", "-qq", "--no-install-recommends", *R_PACKAGES])
    if done.returncode or not bnlearn_version():
        print("bnlearn: could not be installed; its rows will say 'not available'")


def main() -> None:
    make_python()
    make_r()
    for name in ("torch", "pgmpy", "pyagrum", "scikit-learn", "hmmlearn", "tigramite"):
        print(f"{name}: {python_version(name) or 'not available'}")
    print(f"bnlearn: {bnlearn_version() or 'not available'}")


if __name__ == "__main__":
    main()
