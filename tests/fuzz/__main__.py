"""Run the campaign, or repeat one of its cases: ``python -m tests.fuzz [--seconds N] [--seed S] [PART [CASE ...]]``."""

from __future__ import annotations

import argparse
import sys

from tests.fuzz.campaign import PARTS, campaign, repeat, work

DEFAULT_MEMORY = 6  # gigabytes


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("part", nargs="?", choices=PARTS, help="only this part")
    parser.add_argument("cases", nargs="*", type=int, help="only these cases, in this process")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long (default 20)")
    parser.add_argument("--seed", type=int, default=1, help="of the campaign: other seeds are other cases")
    parser.add_argument("--memory", type=float, default=DEFAULT_MEMORY, help="limit in gigabytes, 0: none")
    parser.add_argument("--work", nargs=2, type=float, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.work:
        work(given.part, int(given.work[0]), given.work[1], given.memory)
        return 0
    if given.cases:
        return repeat(given.part, given.cases)
    return campaign([given.part] if given.part else list(PARTS), given.seconds, given.seed, given.memory)


if __name__ == "__main__":
    sys.exit(main())
