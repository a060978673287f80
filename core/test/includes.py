"""The includes of every file of the core stand sorted, block by block; a line of another kind ends a block.

Usage: includes.py [--fix], in the root of the repository. Without --fix it prints what is not sorted and fails.
"""

from __future__ import annotations

import itertools
import sys
from pathlib import Path


def is_include(line: str) -> bool:
    """Return whether a line includes a file."""
    return line.startswith("#include")


def in_order(text: str) -> str:
    """Return a file with the includes of each block sorted."""
    blocks = itertools.groupby(text.splitlines(keepends=True), is_include)
    return "".join(line for included, block in blocks for line in (sorted(set(block)) if included else block))


def main(fix: bool) -> int:
    """Print the files that are not sorted, or sort them; return their number where they stay so."""
    left = 0
    for path in sorted(Path("core").glob("**/*.[ch]pp")):
        text = path.read_text()
        ordered = in_order(text)
        if ordered == text:
            continue
        if fix:
            path.write_text(ordered)
        else:
            left += 1
            print(f"{path}: the includes are not sorted; run: python core/test/includes.py --fix", file=sys.stderr)
    return left


if __name__ == "__main__":
    sys.exit(min(main("--fix" in sys.argv[1:]), 1))
