"""Nested cross-validation of kernels: the outer folds are what is reported, the inner ones choose."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold
from sklearn.svm import SVC

Matrix = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]
Split = tuple[Ints, Ints]

COSTS = (0.1, 1.0, 10.0, 100.0)
INNER = 3


@dataclass(frozen=True)
class Candidate:
    """A setting of a kernel; among the candidates of a method, the inner folds choose."""

    label: str
    gram: Callable[[Ints], Matrix]
    """From the rows of training, which a model may be learned of, to the cosines of all rows."""


@dataclass(frozen=True)
class Result:
    """What a method reached."""

    name: str
    values: Matrix
    """One a fold: the share of right answers, or the area under the ROC curve."""
    chosen: tuple[str, ...]
    seconds: float
    lowest: float = 0.0
    """The smallest eigenvalue of the last matrix that was chosen; below 0 it is no kernel's."""

    @property
    def mean(self) -> float:
        """The mean of the folds."""
        return float(self.values.mean())

    @property
    def error(self) -> float:
        """The standard error of the mean, as if the folds were independent; nan of one."""
        return float(self.values.std(ddof=1) / len(self.values) ** 0.5) if len(self.values) > 1 else float("nan")

    @property
    def favourite(self) -> str:
        """The setting that most folds chose, and how many."""
        (label, times), *_ = Counter(self.chosen).most_common(1)
        return f"{label} ({times} of {len(self.chosen)})"


def fixed(label: str, gram: Matrix) -> Candidate:
    """Return the candidate of a kernel that learns nothing."""
    return Candidate(label, lambda _: gram)


def folds(y: Ints, n: int, seed: int) -> list[Split]:
    """Return n stratified splits into training and test rows."""
    return list(StratifiedKFold(n, shuffle=True, random_state=seed).split(y, y))


def score(gram: Matrix, y: Ints, split: Split, cost: float, auc: bool) -> float:
    """Train on one part and judge the other."""
    train, test = split
    machine = SVC(kernel="precomputed", C=cost).fit(gram[np.ix_(train, train)], y[train])
    among = gram[np.ix_(test, train)]
    if auc:
        return float(roc_auc_score(y[test], machine.decision_function(among)))
    return float((machine.predict(among) == y[test]).mean())


def choose(grams: Sequence[Matrix], y: Ints, train: Ints, seed: int, auc: bool) -> tuple[int, float]:
    """Return the candidate and the cost that do best within the training rows; of equals, the first."""
    inner = [(train[a], train[b]) for a, b in folds(y[train], INNER, seed)]
    found = {
        (k, cost): np.mean([score(gram, y, split, cost, auc) for split in inner])
        for k, gram in enumerate(grams)
        for cost in COSTS
    }
    return max(found, key=lambda at: found[at])


def evaluate(
    name: str, candidates: Sequence[Candidate], y: Ints, splits: Sequence[Split], *, seed: int = 0, auc: bool = False
) -> Result:
    """Return what a method reaches on the outer splits."""
    start = time.perf_counter()
    values, chosen = [], []
    for split in splits:
        grams = [candidate.gram(split[0]) for candidate in candidates]
        k, cost = choose(grams, y, split[0], seed, auc)
        values.append(score(grams[k], y, split, cost, auc))
        chosen.append(f"{candidates[k].label}, C = {cost:g}".removeprefix(", "))
    seconds = time.perf_counter() - start
    return Result(name, np.array(values), tuple(chosen), seconds, float(np.linalg.eigvalsh(grams[k])[0]))


def pooled(results: Sequence[Result]) -> Result:
    """Return one method's results on several data sets as one, a value a data set."""
    means = np.array([one.mean for one in results])
    chosen = tuple(label for one in results for label in one.chosen)
    return Result(results[0].name, means, chosen, sum(one.seconds for one in results), min(r.lowest for r in results))
