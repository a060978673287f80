"""What a script prints in processes of its own."""

from __future__ import annotations

import os
import subprocess
import sys


def printed(script: str, *settings: dict[str, str]) -> set[str]:
    """Return the different answers of a script, run once with each of some environment variables."""
    answers = set()
    for extra in settings:
        env = {**os.environ, **extra}
        run = subprocess.run([sys.executable, "-c", script], env=env, check=True, capture_output=True, text=True)
        answers.add(run.stdout)
    return answers
