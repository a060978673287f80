"""How often the permutation test rejects, under independence and under dependence, by either scheme."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

import fishernet as fn
from studies.kept import Kept
from studies.knn_mi.methods import ALPHA, PERMUTATIONS, K
from studies.knn_mi.truths import Array

SEED = 3230
SCHEMES = ("simple", "local")
K_PERM = 5

Draw = Callable[[np.random.Generator, int], tuple[Array, Array, Array | None]]


def common_cause(scale: float) -> Draw:
    """Return x and y that are z and noise of some scale each."""

    def draw(rng: np.random.Generator, n: int) -> tuple[Array, Array, Array | None]:
        z, x, y = rng.normal(size=(3, n))
        return z + scale * x, z + scale * y, z

    return draw


def no_cause(rng: np.random.Generator, n: int) -> tuple[Array, Array, Array | None]:
    """Return x and y alone."""
    x, y = rng.normal(size=(2, n))
    return x, y, None


def irrelevant(rng: np.random.Generator, n: int) -> tuple[Array, Array, Array | None]:
    """Return three columns that have nothing to do with each other."""
    x, y, z = rng.normal(size=(3, n))
    return x, y, z


def curved_cause(rng: np.random.Generator, n: int) -> tuple[Array, Array, Array | None]:
    """Return x and y that are functions of z, which are not linear, and noise."""
    z, x, y = rng.normal(size=(3, n))
    return np.cos(2 * z) + 0.5 * x, z**2 + 0.5 * y, z


def two_causes(rng: np.random.Generator, n: int) -> tuple[Array, Array, Array | None]:
    """Return x and y that are the sum of two columns and noise."""
    z, w, x, y = rng.normal(size=(4, n))
    return z + w + x, z + w + y, np.column_stack([z, w])


def linear(rng: np.random.Generator, n: int) -> tuple[Array, Array, Array | None]:
    """Return y that has a part of x, both with a part of z."""
    z, x, y = rng.normal(size=(3, n))
    x = z + x
    return x, z + 0.4 * x + y, z


def curved(rng: np.random.Generator, n: int) -> tuple[Array, Array, Array | None]:
    """Return y that has a part of what x has beyond z, squared."""
    z, x, y = rng.normal(size=(3, n))
    return z + x, z + 0.4 * x**2 + y, z


NULLS: dict[str, Draw] = {
    "no z": no_cause,
    "z irrelevant": irrelevant,
    "x, y = z + noise": common_cause(1.0),
    "x, y = z + noise / 3": common_cause(1 / 3),
    "x = cos 2z + noise / 2, y = z^2 + noise / 2": curved_cause,
    "x, y = z1 + z2 + noise": two_causes,
}
DEPENDENCES: dict[str, Draw] = {
    "x = z + noise, y = z + 0.4 x + noise": linear,
    "x = z + e, y = z + 0.4 e^2 + noise": curved,
}


@dataclass(frozen=True)
class Task:
    """Some tests of one kind."""

    name: str
    n: int
    first: int
    tests: int


@dataclass(frozen=True)
class Rates:
    """The shares of tests that rejected; [name, size, scheme], NaN where a scheme is not for the data."""

    names: tuple[str, ...]
    sizes: tuple[int, ...]
    tests: int
    shares: Array

    @property
    def errors(self) -> Array:
        """The standard errors of `shares`."""
        return np.asarray(np.sqrt(self.shares * (1 - self.shares) / self.tests))

    def of(self, name: str, scheme: str) -> Array:
        """Return the shares by size."""
        return np.asarray(self.shares[self.names.index(name), :, SCHEMES.index(scheme)])


def rejected(task: Task) -> list[int]:
    """Return how many tests rejected under each scheme, on the same data."""
    counts = [0] * len(SCHEMES)
    draw = (NULLS | DEPENDENCES)[task.name]
    for t in range(task.first, task.first + task.tests):
        x, y, z = draw(np.random.default_rng([SEED, task.n, t, *task.name.encode()]), task.n)
        for s, scheme in enumerate(SCHEMES):
            if z is None and scheme == "local":
                continue
            found = fn.independence.knn_test(
                x, y, z, k=K, permutations=PERMUTATIONS, scheme=scheme, k_perm=K_PERM, alpha=ALPHA, stop_early=True,
                seed=t,
            )  # fmt: skip
            counts[s] += found.p_value <= ALPHA
    return counts


def rates(names: Iterable[str], sizes: Iterable[int], tests: int, kept: Kept, at_once: int = 50) -> Rates:
    """Draw and test."""
    names, sizes = tuple(names), tuple(sizes)
    parts = [(first, min(at_once, tests - first)) for first in range(0, tests, at_once)]
    tasks = [Task(name, n, first, number) for name in names for n in sizes for first, number in parts]
    counts = np.array(list(kept.map(rejected, tasks)), dtype=np.float64)
    shares = counts.reshape(len(names), len(sizes), len(parts), len(SCHEMES)).sum(axis=2) / tests
    for i, name in enumerate(names):
        if name == "no z":
            shares[i, :, SCHEMES.index("local")] = np.nan
    return Rates(names, sizes, tests, shares)
