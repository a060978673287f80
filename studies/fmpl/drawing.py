"""The study's figures: a panel a number of variables, a colour a method."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from studies.figures import COLOURS, name_lines, panels
from studies.fmpl.recovery import Recovery

COLUMNS = 3


def distances(path: Path, recoveries: Sequence[Recovery], methods: Sequence[str]) -> None:
    """Draw the mean distances of some methods by the number of rows."""
    titles = [found.truth.name for found in recoveries]
    rows = [titles[at : at + COLUMNS] for at in range(0, len(titles), COLUMNS)]
    rows[-1] += [""] * (COLUMNS - len(rows[-1])) if len(rows) > 1 else []
    with panels(path, rows, x="rows", y="Hamming distance", log="x", width=3.4 * len(rows[0])) as made:
        flat = [axes for row in made for axes in row]
        for axes in flat[len(recoveries) :]:
            axes.set_visible(False)
        for axes, found in zip(flat, recoveries, strict=False):
            drawn, names = [], []
            sizes = np.array(found.sizes)
            for method, colour in zip(methods, COLOURS, strict=False):
                y = found.of(method)
                there = ~np.isnan(y)
                if not there.any():
                    continue
                (line,) = axes.plot(sizes[there], y[there], marker="o", markersize=3, color=colour)
                axes.errorbar(sizes[there], y[there], found.error_of(method)[there], color=colour, linestyle="none")
                drawn.append(line)
                names.append(method)
            axes.set_ylim(bottom=0)
            axes.set_xticks(sizes[::2])
            if drawn:
                name_lines(drawn, names, height=2.8)
