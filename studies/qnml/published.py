"""What is published: tables as printed, and curves that were read off the vector figures."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from studies.qnml.criteria import CRITERIA

Array = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Printed:
    """What the tables say of one data set, by criterion."""

    ranks: tuple[float, float, float, float]
    """The average rank in prediction."""
    parameters: tuple[int, int, int, int]
    """Of the networks learned from the smallest share."""
    share: int
    """That share, in percent: the table's numbers of rows, and not the text, say which."""


PRINTED = {
    "PostOperative": Printed((2.79, 1.20, 3.06, 2.94), (1217, 19, 397, 146), 20),
    "Iris": Printed((2.82, 2.37, 2.27, 2.54), (37, 23, 33, 29), 10),
    "Wine": Printed((3.23, 1.88, 2.67, 2.22), (16521, 70, 807, 205), 20),
    "Glass": Printed((3.61, 3.09, 1.42, 1.88), (1677, 48, 506, 97), 20),
    "Thyroid": Printed((2.55, 3.21, 1.80, 2.44), (40, 23, 66, 28), 20),
    "HeartStatlog": Printed((3.12, 1.39, 3.12, 2.37), (16861, 44, 1110, 256), 20),
    "BreastCancer": Printed((3.09, 1.41, 2.97, 2.53), (25797, 49, 3767, 844), 20),
    "HeartHungarian": Printed((3.18, 1.66, 2.90, 2.27), (1634, 43, 792, 90), 20),
    "HeartCleveland": Printed((3.46, 1.38, 2.99, 2.17), (34381, 47, 1433, 404), 20),
    "Ecoli": Printed((3.20, 3.53, 1.24, 2.04), (182, 31, 162, 77), 10),
    "Liver": Printed((3.17, 2.39, 2.69, 1.75), (45, 15, 61, 24), 10),
    "Balance": Printed((3.35, 1.91, 1.59, 3.16), (20, 24, 49, 611), 20),
    "BcWisconsin": Printed((3.06, 2.03, 2.89, 2.02), (4630, 42, 603, 89), 10),
    "Diabetes": Printed((2.91, 2.70, 2.68, 1.71), (39, 22, 216, 34), 10),
    "TicTacToe": Printed((3.44, 2.71, 1.31, 2.53), (13701, 25, 1969, 767), 10),
    "Yeast": Printed((2.60, 3.76, 1.55, 2.10), (71, 31, 265, 75), 10),
    "Abalone": Printed((2.60, 3.64, 1.04, 2.72), (91, 46, 150, 63), 10),
    "PageBlocks": Printed((2.24, 3.61, 1.31, 2.83), (703, 45, 380, 56), 10),
    "Adult": Printed((3.23, 3.77, 1.00, 2.00), (699, 479, 1555, 945), 20),
    "Shuttle": Printed((1.44, 3.78, 1.56, 3.22), (535, 99, 717, 130), 10),
}
"""The twenty data sets, smallest first."""

ASIA = {10: (12.68, 8.96, 13.40, 9.60), 100: (7.24, 6.18, 8.28, 6.39), 1_000: (2.32, 1.43, 3.51, 1.76),
        10_000: (0.73, 0.64, 1.21, 0.60)}  # fmt: skip
"""Mean SHD on Asia at some sizes, for runs without the folder of the curves; by criterion."""


@dataclass(frozen=True)
class Curves:
    """The curves of structure recovery and prediction."""

    shd: dict[tuple[str, int], tuple[float, ...]]
    """By network and size: the mean distance of each criterion."""
    ranks: dict[int, tuple[float, ...]]
    """By size: the average rank of each criterion."""
    losses: dict[tuple[str, int], tuple[float, ...]]
    """By data set and share: the mean -log P of each criterion."""

    def distances(self, network: str, sizes: tuple[int, ...]) -> Array:
        """Return [size, criterion], NaN where nothing is published."""
        return _rows([self.shd.get((network, n)) for n in sizes])

    def average_ranks(self, sizes: tuple[int, ...]) -> Array:
        """Return [size, criterion]."""
        return _rows([self.ranks.get(n) for n in sizes])

    def log_losses(self, name: str, shares: tuple[int, ...]) -> Array:
        """Return [share, criterion]."""
        return _rows([self.losses.get((name, share)) for share in shares])


def _rows(found: list[tuple[float, ...] | None]) -> Array:
    return np.array([row or [np.nan] * len(CRITERIA) for row in found], dtype=np.float64)


def curves(data: Path | None) -> Curves:
    """Return what ``reference`` below the folder holds; without it, what is known of Asia."""
    structure, prediction = _read(data, "qnml-structure.json"), _read(data, "qnml-prediction.json")
    shd: dict[tuple[str, int], tuple[float, ...]] = {("Asia", n): row for n, row in ASIA.items()}
    ranks: dict[int, tuple[float, ...]] = {}
    losses: dict[tuple[str, int], tuple[float, ...]] = {}
    if structure is not None:
        sizes = structure["sample_sizes"]
        for network, by_criterion in structure["shd"].items():
            shd |= {(network, n): row for n, row in zip(sizes, _columns(by_criterion), strict=True)}
        ranks = dict(zip(sizes, _columns(structure["rank"]), strict=True))
    for name, of in (prediction or {}).items():
        losses |= {(name, 10 * (i + 1)): row for i, row in enumerate(_columns(of["pred"]))}
    return Curves(shd, ranks, losses)


def _columns(by_criterion: dict[str, list[float]]) -> list[tuple[float, ...]]:
    return list(zip(*(by_criterion[name] for name in CRITERIA), strict=True))


def _read(data: Path | None, name: str) -> dict[str, Any] | None:
    if data is None or not (data / "reference" / name).exists():
        return None
    found: dict[str, Any] = json.loads((data / "reference" / name).read_text())
    return found
