"""Agreement with the authors' own FMPL program, on data that a seed makes again (EXPERIMENTS, section 1)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import fishernet as fn
from studies.fmpl.truths import Array

FILE = "reference/fmpl-n100.json"
SETTING = "test_noise_stds_n100"
RULES = ("OR", "AND", "HC")
EACH = 50
"""Data sets a size of the noise."""
AGREE = 1e-6


@dataclass(frozen=True)
class Agreement:
    """How many data sets there are, and on how many precision and recall are the published ones, by graph."""

    data_sets: int
    same: dict[str, int]


def data_sets(inputs: int, outputs: int, n: int, noises: list[float], seed: int) -> Iterator[Array]:
    """Yield the rows, in the order in which the authors' generator draws them; every draw follows the one before."""
    random = np.random.RandomState(seed)
    for noise in noises:
        for _ in range(EACH):
            x = random.randn(inputs, n)
            weights = random.randn(outputs, inputs)
            y = weights @ x + noise * random.randn(outputs, n)
            yield np.vstack([x, y / np.std(y, axis=1, keepdims=True)]).T


def precision_and_recall(graph: fn.UndirectedGraph, inputs: int) -> tuple[float, float]:
    """Hold a graph against the one in which inputs are joined with everything."""
    d = len(graph.names)
    true = {(a, b) for a in range(inputs) for b in range(a + 1, d)}
    found = {(a, b) for a, others in enumerate(graph.adjacency) for b in others if a < b}
    return len(found & true) / max(1, len(found)), len(found & true) / len(true)


def agreement(folder: Path | None) -> Agreement | None:
    """Learn the graphs of all data sets that figures are kept of; None where the file is not there."""
    path = None if folder is None else folder / FILE
    if path is None or not path.exists():
        return None
    kept = json.loads(path.read_text())["data"][SETTING]
    inputs, outputs, n, each, noises = kept["init"]
    assert each == EACH
    known = {entry["k"]: entry for entry in kept["entries"]}
    same = dict.fromkeys(RULES, 0)
    for k, X in enumerate(data_sets(inputs, outputs, n, noises, kept["seed"])):
        if k not in known:
            continue
        for rule in RULES:
            ours = precision_and_recall(fn.learn.gaussian_graph(X, rule=rule.lower(), prior=False), inputs)
            same[rule] += bool(np.abs(np.array(ours) - known[k][rule]).max() < AGREE)
    return Agreement(len(known), same)
