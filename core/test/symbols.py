"""Objects compiled for one instruction set define their table of loops and nothing else for the linker to see.

An inline function that such an object defines as well (of a vector, say) may be the one copy that the linker keeps for
the whole library, and then runs on processors that lack the instructions. Without optimization nothing is hidden by
inlining: run this over a build with -O0.

Usage: symbols.py BUILD_FOLDER
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path


def defined(nm: str, path: Path) -> list[str]:
    """Return the names that an object defines for others, as they are written in C++."""
    command = [nm, "-C", "--extern-only", "--defined-only", str(path)]
    lines = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    return [line.split(maxsplit=2)[2] for line in lines if line]


def main(build: Path) -> int:
    """Print what is wrong; the number of objects that define too much."""
    nm = shutil.which("nm")
    if nm is None:
        print("symbols: skipped, nm (of binutils) is not installed")
        return 0
    objects = sorted(build.glob("**/kernels_*.dir/**/*.o"))
    if not objects:
        print(f"symbols: there are no objects for an instruction set in {build}", file=sys.stderr)
        return 1
    failed = 0
    for path in objects:
        folder = next(part for part in path.parts if part.startswith("kernels_"))
        isa = folder.removeprefix("kernels_").removesuffix(".dir")
        names = defined(nm, path)
        if len(names) == 1 and re.fullmatch(rf"fishernet::\w+::{isa}", names[0]):
            continue
        failed += 1
        print(f"{path.relative_to(build)} defines {', '.join(names) or 'nothing'}", file=sys.stderr)
    print(f"symbols: {len(objects) - failed} objects passed, {failed} failed")
    return failed


if __name__ == "__main__":
    sys.exit(min(main(Path(sys.argv[1])), 1))
