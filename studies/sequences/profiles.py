"""Which of two pathways a gene is of, by the species that have it."""

from __future__ import annotations

import csv
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from scipy.cluster.hierarchy import linkage

import fishernet as fn
from fishernet.models import NamedTree
from studies.sequences.strings import off_diagonal_mean
from studies.sequences.toys import linear, named_tree, rbf, tree_logs
from studies.sequences.validation import Ints, Result, evaluate, fixed, folds

PATHWAYS = ("ampk", "mtor")
MOVES = (0.05, 0.1, 0.2)
FOLDS, REPETITIONS = 10, 1


@dataclass(frozen=True)
class Profiles:
    """Genes by species."""

    species: tuple[str, ...]
    cells: Ints
    y: Ints


def read(path: Path) -> Profiles:
    """Read the genes whose name tells a pathway."""
    with path.open() as lines:
        heads, *rows = csv.reader(lines)
    told = [row for row in rows if row[0].split("_")[0] in PATHWAYS]
    y = np.array([PATHWAYS.index(row[0].split("_")[0]) for row in told])
    return Profiles(tuple(heads[1:]), np.array([[int(cell) for cell in row[1:]] for row in told]), y)


def clustered(profiles: Profiles) -> NamedTree:
    """Return the tree of average linkage of the species by the genes in which they differ."""
    n = len(profiles.species)
    merges = linkage(profiles.cells.T, method="average", metric="hamming")
    children = {n + k: (int(one), int(two)) for k, (one, two, *_) in enumerate(merges)}
    return named_tree(children, 2 * n - 2, dict(enumerate(profiles.species)))


def areas(profiles: Profiles) -> list[Result]:
    """Return the areas under the ROC curve of the tree kernel and of two that know no tree."""
    tree = clustered(profiles)
    logs = {}
    for move in MOVES:
        model = fn.models.birth_death_tree(tree, profiles.species, birth=move, death=move)
        logs[f"birth = death = {move:g}"] = tree_logs(model, profiles.cells)
    candidates = {
        "hidden tree": [fixed(label, np.exp(log)) for label, log in logs.items()],
        "hidden tree, tempered": [fixed(label, np.exp(log / off_diagonal_mean(log))) for label, log in logs.items()],
        "linear": [fixed("", linear(profiles.cells))],
        "RBF": [fixed("", rbf(profiles.cells))],
    }
    splits = [split for seed in range(REPETITIONS) for split in folds(profiles.y, FOLDS, seed)]
    return [evaluate(name, of, profiles.y, splits, auc=True) for name, of in candidates.items()]
