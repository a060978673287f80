"""The study's figures: a colour a criterion, ours as lines, what is published dashed."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from studies.figures import COLOURS, figure, name_lines
from studies.qnml.criteria import CRITERIA
from studies.qnml.equivalent_sample_size import Chosen

Array = npt.NDArray[np.float64]


def curves(
    path: Path,
    x: Sequence[float],
    ours: Array,
    published: Array,
    *,
    x_name: str,
    y_name: str,
    title: str,
    log: str,
) -> None:
    """Draw [x, criterion] as it was found, and as it is published where it is."""
    with figure(path, x=x_name, y=y_name, title=f"{title} (dashed: published)", log=log) as axes:
        for k, colour in enumerate(COLOURS[: len(CRITERIA)]):
            axes.plot(x, published[:, k], color=colour, linestyle="--", linewidth=1.0, alpha=0.8)
        name_lines([axes.plot(x, ours[:, k], color=COLOURS[k])[0] for k in range(len(CRITERIA))], CRITERIA)


def lines(path: Path, x: Sequence[float], ys: dict[str, list[float]], *, x_name: str, y_name: str, title: str) -> None:
    """Draw a line a name; a criterion has its colour of the other figures."""
    colours = [COLOURS[CRITERIA.index(name) if name in CRITERIA else k] for k, name in enumerate(ys)]
    with figure(path, x=x_name, y=y_name, title=title, log="x") as axes:
        drawn = [axes.plot(x, y, color=colour)[0] for y, colour in zip(ys.values(), colours, strict=True)]
        name_lines(drawn, list(ys))


def ess_curves(path: Path, chosen: Sequence[Chosen], title: str) -> None:
    """Draw arcs and distance by the equivalent sample size."""
    x = [at.ess or 0.0 for at in chosen]
    arcs, distances = [float(at.arcs) for at in chosen], [float(at.shd) for at in chosen]
    lines(path, x, {"arcs": arcs, "SHD": distances}, x_name="equivalent sample size", y_name="arcs", title=title)
