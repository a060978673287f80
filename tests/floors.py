"""The oldest versions that pyproject.toml promises, as pip takes them: ``python tests/floors.py``.

With ``build`` the requirements of the build, otherwise those of the library, its extras and the tests. The numbers are
read, so there is no second list that could drift.
"""

from __future__ import annotations

import re
import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).parents[1] / "pyproject.toml"
EXTRAS = ("sklearn", "plot", "test")
REQUIREMENT = re.compile(r"([A-Za-z0-9_.-]+)>=([0-9.]+)")


def floor(requirement: str) -> str:
    """Return ``name==version`` for ``name>=version``; a requirement of any other form is an error."""
    found = REQUIREMENT.fullmatch(requirement)
    if found is None:
        raise ValueError(f"{requirement!r} declares no least version: write name>=version")
    return f"{found[1]}=={found[2]}"


def floors(*, build: bool = False) -> list[str]:
    """Return the least versions, sorted and each once; that one name has two is left to pip."""
    content = tomllib.loads(PROJECT.read_text(encoding="utf-8"))
    if build:
        required = content["build-system"]["requires"]
    else:
        project = content["project"]
        extras = project["optional-dependencies"]
        required = [*project["dependencies"], *(one for name in EXTRAS for one in extras[name])]
    return sorted({floor(requirement) for requirement in required})


if __name__ == "__main__":
    print(*floors(build="build" in sys.argv[1:]), sep="\n")
