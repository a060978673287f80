"""Promoters and splice junctions: windows of DNA."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import numpy as np

from studies.sequences import strings as kernels
from studies.sequences.validation import Candidate, Ints, Result, folds

FOLDS = 10
ROWS = 1_000
LONG = 20
LETTERS = str.maketrans("NDRS", "AAAA")


@dataclass(frozen=True)
class Windows:
    """Strings of one length and their classes."""

    name: str
    strings: list[str]
    y: Ints
    classes: tuple[str, ...]
    replaced: int
    """Ambiguous letters that were taken for A."""

    @property
    def majority(self) -> float:
        """The share of the largest class."""
        return float(np.bincount(self.y).max() / len(self.y))

    @property
    def overlaps(self) -> dict[str, float]:
        """The share of each class's windows that have LONG letters in a row in common with another of the class."""
        pieces = [{window[k : k + LONG] for k in range(len(window) - LONG + 1)} for window in self.strings]
        seen = [
            Counter(piece for k in np.flatnonzero(self.y == c) for piece in pieces[k]) for c in range(self.y.max() + 1)
        ]
        common = np.array([any(seen[c][piece] > 1 for piece in of) for of, c in zip(pieces, self.y, strict=True)])
        return {name: float(common[self.y == c].mean()) for c, name in enumerate(self.classes)}


def read(path: Path, rows: int = ROWS, seed: int = 1) -> Windows:
    """Read windows without repetitions; of more than `rows`, a random sample."""
    with path.open() as lines:
        held = {row["sequence"].upper(): row["class"] for row in csv.DictReader(lines)}
    windows = sorted(held)
    if len(windows) > rows:
        windows = [windows[k] for k in np.sort(np.random.default_rng(seed).permutation(len(windows))[:rows])]
    classes, y = np.unique([held[window] for window in windows], return_inverse=True)
    ambiguous = sum(letter not in kernels.DNA for window in windows for letter in window)
    return Windows(path.stem, [window.translate(LETTERS) for window in windows], y, tuple(classes.tolist()), ambiguous)


def accuracies(windows: Windows) -> list[Result]:
    """Return the accuracy of each method, by the same folds."""
    of = windows.strings
    pairs = kernels.pair_hmm(of)
    methods: dict[str, Callable[[], list[Candidate]]] = {
        "pair HMM": pairs.cosine,
        "pair HMM, tempered": pairs.tempered,
        "HMM Fisher": partial(kernels.hmm_fisher, of),
        "Markov Fisher": partial(kernels.markov_fisher, of),
        "p-spectrum": partial(kernels.spectrum, of),
        "edit distance": partial(kernels.edit, of),
        "equal positions": partial(kernels.positions, of),
    }
    found = kernels.compare(windows.y, folds(windows.y, FOLDS, seed=1), methods)
    shared = [one.name.startswith("pair HMM") for one in found]
    return [replace(one, seconds=one.seconds + pairs.seconds * own) for one, own in zip(found, shared, strict=True)]
