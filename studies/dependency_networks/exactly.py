"""How far what is learned is from the truth, without noise of output rows, on many truths.

The dependency network's distribution is where its random scan ends, which is computed and not sampled.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import fishernet as fn
from studies.dependency_networks.measures import exact_kl, stationary
from studies.dependency_networks.truths import Truth, ising, read_bn20_37
from studies.study import Array, Run, Table, errors_apart, mean, moved

SMALL = (
    *(f"random {k}" for k in range(6)),
    *(f"Ising3x4, J = {J:g}" for J in (0.2, 0.35, 0.5, 0.65)),
    *(f"glass {k}" for k in range(3)),
)
"""Truths of 12 variables: Bayesian networks of two parents a node, Ising models, and grids with couplings N(0, 0.6)."""
SEEDS, FIRST = 701, 301
Exact = dict[tuple[str, int], list[list[float]]]
"""What `exactly` returned, by truth and number of rows."""


@cache
def truth_of(name: str, path: Path | None = None) -> Truth:
    """Return a truth by its name; the file is that of BN20-37."""
    kind, _, number = name.partition(" ")
    if name == "BN20-37" and path is not None:
        return read_bn20_37(path)
    if kind == "random":
        return random_truth(int(number))
    if kind == "glass":
        return Truth(name, glass(3, 4, np.random.default_rng([moved(SEEDS), 1, int(number)])))
    if kind == "Ising3x4,":
        return Truth(name, ising(3, 4, float(number.partition("= ")[2])).model)
    side = int(name[-1])
    return ising(side, side)


def random_truth(k: int, n: int = 12) -> Truth:
    """Return a network like BN20-37, of fewer nodes: two earlier parents a node, probabilities uniform."""
    rng = np.random.default_rng([moved(SEEDS), 0, k])
    names = [f"X{i}" for i in range(n)]
    parents = {
        name: [names[p] for p in sorted(rng.choice(i, min(2, i), replace=False))] for i, name in enumerate(names)
    }
    ones = {name: rng.uniform(size=(2,) * len(of)) for name, of in parents.items()}
    tables = {name: np.stack([1 - of, of], axis=-1) for name, of in ones.items()}
    return Truth(
        f"random {k}", fn.BayesianNetwork.from_tables([fn.Variable(v, [0, 1]) for v in names], parents, tables)
    )


def glass(height: int, width: int, rng: np.random.Generator) -> fn.MarkovNetwork:
    """Return a grid whose couplings are normal with standard deviation 0.6, of either sign."""
    grid = ising(height, width).model
    assert isinstance(grid, fn.MarkovNetwork)
    spins = np.array([-1.0, 1.0])
    factors = [(scope, np.exp(rng.normal(scale=0.6) * np.outer(spins, spins))) for scope, _ in grid.potentials]
    return fn.MarkovNetwork(grid.variables, factors)


def kl_from_truth(truth: Truth, model: Array | fn.BayesianNetwork) -> float:
    """Return KL(truth || model) in one pass over all states."""
    p = truth.joint()
    q = model if isinstance(model, np.ndarray) else fn.infer.marginal(model, model.names)
    with np.errstate(divide="ignore"):
        return float((p * (np.log(p) - np.log(q))).sum())


def exactly(name: str, n: int, seed: int, path: Path | None = None) -> list[float]:
    """Learn both models from n rows; return KL(model || truth) of both, KL(truth || model), and parameters.

    The dependency network has Algorithm 5's parameters and the Bayesian network plain frequencies, as in the paper; in
    KL(truth || model), which a single zero makes infinite, both have Algorithm 5's.
    """
    truth = truth_of(name, path)
    rows = truth.model.sample(n, seed=moved(seed))
    dn = fn.learn.dependency_network(rows, score="mdl", smoothing="zeros")
    dag = fn.learn.structure(rows, score="mdl", search="hill-climb").dag
    positive = fn.learn.parameters(dag, rows, smoothing="zeros")
    try:
        bn = fn.learn.parameters(dag, rows, smoothing=0)
    except fn.ZeroProbabilityError:
        bn = positive
    pi = stationary(dn)
    forward, back = (
        (exact_kl(pi, truth), exact_kl(bn, truth)),
        (kl_from_truth(truth, pi), kl_from_truth(truth, positive)),
    )
    return [*forward, *back, float(dn.n_parameters), float(bn.n_parameters)]


def compute(run: Run, path: Path | None) -> Exact:
    """Learn from every number of rows of every truth of up to 2^20 states; the larger, the fewer data sets."""
    few = run.form == "quick"
    small = SMALL[::4] if few else SMALL
    asked: list[tuple[str, Sequence[int], int]] = [(name, (1_000, 10_000, 100_000), 2 if few else 6) for name in small]
    sizes = (100, 1_000, 10_000, 100_000, 1_000_000)
    asked.append(("Ising4x4", sizes[1:4:2] if few else sizes, 2 if few else 4))
    if path is not None and not few:
        asked.append(("BN20-37", run.choose(sizes, (100_000,), sizes), 3))
    places = {name: path if name == "BN20-37" else None for name, *_ in asked}
    return collected(
        run, [(name, n, FIRST + r, places[name]) for name, ns, sets in asked for n in ns for r in range(sets)]
    )


def compute_large(run: Run) -> Exact:
    """Learn from rows of Ising5x5, whose 2^25 states take 3 GB; of 1,000 rows for an hour or more."""
    sizes, sets = run.choose((100_000,), (100_000,), (1_000, 100_000)), range(run.asked_repetitions or run.choose(1, 3))
    return collected(run, [("Ising5x5", n, FIRST + r, None) for n in sizes for r in sets])


def collected(run: Run, tasks: Sequence[tuple[str, int, int, Path | None]]) -> Exact:
    """Return what `exactly` finds of each task, by truth and number of rows."""
    found: Exact = {}
    for (name, n, *_), values in zip(tasks, run.map(exactly, tasks), strict=True):
        found.setdefault((name, n), []).append(values)
    return found


HEADS = ["KL(DN, truth)", "KL(BN, truth)", "DN - BN", "KL(truth, DN) - KL(truth, BN)", "parameters DN", "parameters BN"]


def table(found: Exact, called: str = "exact") -> Table:
    """Return the divergences."""
    rows: list[list[Any]] = []
    for (name, n), values in found.items():
        dn, bn, dn_back, bn_back, k_dn, k_bn = np.array(values).T
        cells = [mean(of) for of in (dn, bn, dn - bn, dn_back - bn_back)]
        rows.append([name, n, len(values), *cells, float(k_dn.mean()), float(k_bn.mean())])
    return Table(called, ["truth", "training rows", "sets", *HEADS], rows, ["", "", ""] + ["short"] * 4 + [".0f"] * 2)


def counts(exact: Table) -> Table:
    """Return how many truths each model is nearer to, beyond chance at the 5 % level."""
    counted = []
    for n in (1_000, 10_000, 100_000):
        for at, which in ((5, "KL(model, truth)"), (6, "KL(truth, model)")):
            known = [(row[at], errors_apart(row[2])) for row in exact.rows if row[1] == n and "error" in row[at]]
            sure = [np.sign(cell["mean"]) for cell, apart in known if abs(cell["mean"]) > apart * cell["error"]]
            counted.append([n, which, len(known), sure.count(-1), sure.count(1), len(known) - len(sure)])
    return Table(
        "exact-counts", ["training rows", "divergence", "truths", "DN nearer", "BN nearer", "neither"], counted
    )
