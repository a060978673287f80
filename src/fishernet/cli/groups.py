"""What the rows of each label of a column do to an answer: ``--by COLUMN``."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from fishernet.cli.tables.sources import read
from fishernet.cli.terminal import Facts, aligned, number, shown
from fishernet.explain import GroupInfluence


def labels_in(path: Path, column: str) -> list[Any]:
    """Return the labels of a column of a file, which need be nothing that a network has."""
    found: list[Any] = read(path, None, columns=[column], categorical=[column])[column].tolist()
    return found


def group_facts(groups: Iterable[GroupInfluence]) -> list[Facts]:
    """Return what is told of groups of rows, by name."""
    return [asdict(group) for group in groups]


def group_lines(column: str, groups: Iterable[Facts]) -> list[str]:
    """Return a line for each group of rows, below a head."""
    lines = [
        (shown(one["label"]), f"{one['n_rows']:,}", f"{one['influence']:+.3g}", number(one["without"]))
        for one in groups
    ]
    return aligned([(shown(column), "rows", "influence", "without them"), *lines])
