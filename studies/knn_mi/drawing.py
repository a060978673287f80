"""The study's figures: a colour a method."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from studies.figures import COLOURS, INK, name_lines, panels
from studies.knn_mi.methods import LOCAL, METHODS
from studies.knn_mi.recovery import Recovery
from studies.knn_mi.schemes import NULLS, SCHEMES, Rates


def distances(path: Path, found: Recovery, columns: int) -> None:
    """Draw the mean distance by the number of rows, a panel a truth and a line a method."""
    names = [truth.name for truth in found.plan.truths]
    titles = [names[at : at + columns] for at in range(0, len(names), columns)]
    with panels(path, titles, x="rows", y="Hamming distance", log="x", width=3.4 * columns) as rows:
        for t, axes in enumerate([axes for row in rows for axes in row]):
            draw(axes, found, t)


def draw(axes: Axes, found: Recovery, truth: int) -> None:
    """Draw one truth's lines, those of published methods that learned."""
    sizes = np.array(found.plan.sizes)
    named: dict[int, list[tuple[Line2D, str]]] = {}
    for method, colour in zip(METHODS, COLOURS, strict=False):
        if method not in found.plan.methods or method == LOCAL:
            continue
        y, error = found.at(truth, method), found.error[truth, :, found.plan.methods.index(method)]
        there = ~np.isnan(y)
        if there.any():
            (line,) = axes.plot(sizes[there], y[there], marker="o", markersize=3, color=colour)
            axes.errorbar(sizes[there], y[there], error[there], color=colour, linestyle="none", alpha=0.5)
            named.setdefault(int(sizes[there][-1]), []).append((line, method))
    axes.set_ylim(bottom=0)
    axes.set_xticks(sizes)
    for ending in named.values():  # lines that end at other places do not get in each other's way
        name_lines([line for line, _ in ending], [name for _, name in ending], height=2.8)


def errors(path: Path, nulls: Rates, nominal: float) -> None:
    """Draw the share of true independences that were rejected, a panel a size, by kind of data and scheme."""
    titles = [[f"{n:,} rows" for n in nulls.sizes]]
    with panels(path, titles, x="share of true independences rejected", y="") as (row,):
        for s, axes in enumerate(row):
            for k, scheme in enumerate(SCHEMES):
                shares = np.array([nulls.of(name, scheme)[s] for name in NULLS])
                there = ~np.isnan(shares)
                y = np.arange(len(shares)) + 0.16 * (k - 0.5)
                look: Any = {"color": COLOURS[k], "fmt": "os"[k], "label": f"{scheme} permutations"}
                axes.errorbar(shares[there], y[there], xerr=nulls.errors[there, s, k], **look)
            axes.axvline(nominal, color=INK, linewidth=0.8, linestyle="--")
            axes.set_yticks(range(len(NULLS)), list(NULLS) if s == 0 else [""] * len(NULLS))
            axes.invert_yaxis()
            axes.set_xlim(0, 1.15 * float(np.nanmax(nulls.shares + nulls.errors)))
        row[-1].legend(frameon=False, loc="upper right")
