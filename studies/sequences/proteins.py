"""Globins against what is none, with the tested family left out of the profile and of the training."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from sklearn.metrics import roc_auc_score

import fishernet as fn
from fishernet.kernels import FisherKernel, Normalized, SpectrumKernel
from studies.sequences.validation import Ints, Matrix, Result, evaluate, fixed, folds, pooled

AMINO = "ACDEFGHIKLMNPQRSTVWY"
FAMILIES = {"myoglobin": "MYG", "alpha": "HBA", "beta": "HB"}  # the first beginning that fits; beta-like ones last
SHUFFLES = 2
MOVES = (1.0, 0.1)
"""Pseudo-counts of the profile's moves: the default, and one that three or four rows are not drowned by."""


@dataclass(frozen=True)
class Globins:
    """Globins with their families, and strings that are no globins."""

    alignment: fn.models.Alignment
    strings: list[str]
    family: list[str]
    shuffled: list[str]
    others: list[str]
    """Fibronectin type III domains."""


def family_of(name: str) -> str:
    """Return the family that a name of SwissProt tells."""
    return next((family for family, start in FAMILIES.items() if name.startswith(start)), "none")


def read(folder: Path) -> Globins:
    """Read the globins, and shuffle them."""
    rng = np.random.default_rng(1)
    found = fn.read_fasta(folder / "globins45.fa")
    others = [row.replace("-", "").replace(".", "") for row in fn.read_stockholm(folder / "fn3.sto").rows]
    shuffled = ["".join(rng.permutation(list(string))) for string in found for _ in range(SHUFFLES)]
    families = [family_of(name) for name in found.names]
    return Globins(fn.read_stockholm(folder / "globins4.sto"), list(found), families, shuffled, others)


def profile(globins: Globins, moves: float, without: str = "") -> fn.HiddenMarkovModel:
    """Return the profile HMM of the alignment without the rows of a family."""
    pairs = zip(globins.alignment.names, globins.alignment.rows, strict=True)
    return fn.models.profile_hmm([row for name, row in pairs if family_of(name) != without], transition_smoothing=moves)


def fisher(model: fn.HiddenMarkovModel, strings: list[str]) -> Matrix:
    """Return the cosines of the scores of the emission parameters."""
    return Normalized(FisherKernel(model, metric="practical", parameters=["emission"]))(strings)


def left_out(globins: Globins, negatives: list[str]) -> list[Result]:
    """Return the areas under the ROC curve, one a family that nothing was learned of."""
    strings = globins.strings + negatives
    y = np.repeat([1, 0], [len(globins.strings), len(negatives)])
    halves = np.random.default_rng(2).permutation(np.flatnonzero(y == 0))
    spectrum = [fixed(f"p = {p}", Normalized(SpectrumKernel(p, AMINO))(strings)) for p in (1, 2, 3)]
    by_family = []
    for family in FAMILIES:
        own = np.array([one == family for one in globins.family] + [False] * len(negatives))
        train = np.concatenate([np.flatnonzero((y == 1) & ~own), halves[::2]])
        test = np.concatenate([np.flatnonzero(own), halves[1::2]])
        found = [evaluate("p-spectrum, SVM", spectrum, y, [(train, test)], auc=True)]
        for moves in MOVES:
            model = profile(globins, moves, without=family)
            said = f"pseudo-count {moves:g}"
            candidates = [fixed(said, fisher(model, strings))]
            found += by_probability(model, globins, [strings[k] for k in test], y[test], said)
            found.append(evaluate(f"profile-HMM Fisher, SVM, {said}", candidates, y, [(train, test)], auc=True))
        by_family.append(found)
    return [pooled(of) for of in zip(*by_family, strict=True)]


def by_probability(model: fn.HiddenMarkovModel, globins: Globins, test: list[str], y: Ints, said: str) -> list[Result]:
    """Return the area of log P and of its odds against single letters, both a symbol."""
    lengths = np.array([len(string) for string in test])
    letters = fn.learn.markov_chain(list(globins.alignment.strings), order=0, alphabet=AMINO)
    log = model.log_prob(test)
    found = {
        f"log P a symbol, {said}": log / lengths,
        f"log-odds a symbol, {said}": (log - letters.log_prob(test)) / lengths,
    }
    return [Result(name, np.array([roc_auc_score(y, by)]), ("",), 0.0) for name, by in found.items()]


def families_apart(globins: Globins) -> list[Result]:
    """Return the accuracy with which an SVM tells the three families; as many folds as the smallest has globins."""
    y = np.array([list(FAMILIES).index(family) for family in globins.family])
    splits = folds(y, int(np.bincount(y).min()), seed=1)
    spectrum = [fixed(f"p = {p}", Normalized(SpectrumKernel(p, AMINO))(globins.strings)) for p in (1, 2, 3)]
    candidates = [fixed(f"pseudo-count {moves:g}", fisher(profile(globins, moves), globins.strings)) for moves in MOVES]
    return [
        evaluate("profile-HMM Fisher, SVM", candidates, y, splits),
        evaluate("p-spectrum, SVM", spectrum, y, splits),
    ]
