"""Agreement with the authors' own FMPL program, on data that a seed makes again.

The figures are those of the public repository PROBIC/l1-inconsistency (its stored results for 100 rows): two inputs,
ten outputs that are linear in them, and noise of thirteen sizes, fifty data sets each.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

import fishernet as fn

N_INPUTS, N_OUTPUTS, N_ROWS, EACH = 2, 10, 100, 50
NOISES = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0]
TRUE = {(a, b) for a in range(N_INPUTS) for b in range(a + 1, N_INPUTS + N_OUTPUTS)}
RULES = ("or", "and", "hc")

# data set -> precision and recall of the graphs OR, AND and HC
PUBLISHED = {
    0: (0.576923, 0.714286, 1.0, 0.428571, 0.714286, 0.714286),
    20: (0.681818, 0.714286, 0.857143, 0.285714, 0.75, 0.714286),
    40: (0.7, 0.666667, 0.8, 0.380952, 0.736842, 0.666667),
    60: (0.583333, 0.666667, 0.818182, 0.428571, 0.7, 0.666667),
    80: (0.521739, 0.571429, 0.875, 0.333333, 0.55, 0.52381),
    100: (0.7, 0.666667, 1.0, 0.428571, 0.736842, 0.666667),
    120: (0.681818, 0.714286, 0.833333, 0.47619, 0.7, 0.666667),
    140: (0.571429, 0.571429, 0.909091, 0.47619, 0.611111, 0.52381),
    160: (0.518519, 0.666667, 0.5, 0.142857, 0.7, 0.666667),
    180: (0.571429, 0.571429, 0.909091, 0.47619, 0.6, 0.571429),
    200: (0.722222, 0.619048, 0.9, 0.428571, 0.722222, 0.619048),
    220: (0.714286, 0.714286, 0.833333, 0.47619, 0.75, 0.714286),
    240: (0.608696, 0.666667, 1.0, 0.52381, 0.736842, 0.666667),
    260: (0.722222, 0.619048, 1.0, 0.47619, 0.705882, 0.571429),
    280: (0.608696, 0.666667, 1.0, 0.333333, 0.666667, 0.571429),
    300: (0.941176, 0.761905, 1.0, 0.52381, 1.0, 0.714286),
    320: (0.75, 0.571429, 1.0, 0.380952, 0.857143, 0.571429),
    340: (0.722222, 0.619048, 1.0, 0.380952, 0.733333, 0.52381),
    360: (0.684211, 0.619048, 1.0, 0.428571, 0.785714, 0.52381),
    380: (0.941176, 0.761905, 0.916667, 0.52381, 0.9375, 0.714286),
    400: (0.625, 0.238095, 0.666667, 0.190476, 0.571429, 0.190476),
    420: (1.0, 0.285714, 1.0, 0.190476, 1.0, 0.238095),
    440: (0.75, 0.142857, 0.75, 0.142857, 0.75, 0.142857),
    460: (0.333333, 0.095238, 0.25, 0.047619, 0.4, 0.095238),
    480: (0.333333, 0.047619, 0.333333, 0.047619, 0.333333, 0.047619),
    500: (0.333333, 0.095238, 0.5, 0.095238, 0.4, 0.095238),
    520: (0.5, 0.047619, 0.5, 0.047619, 0.5, 0.047619),
    540: (0.333333, 0.047619, 0.333333, 0.047619, 0.333333, 0.047619),
    560: (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    580: (0, 0, 0, 0, 0, 0),
    600: (1.0, 0.095238, 1.0, 0.047619, 1.0, 0.095238),
    620: (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    640: (0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
}


def data_sets() -> Iterator[Any]:
    random = np.random.RandomState(123456)  # the authors' generator; every draw follows the one before
    for noise in NOISES:
        for _ in range(EACH):
            inputs = random.randn(N_INPUTS, N_ROWS)
            weights = random.randn(N_OUTPUTS, N_INPUTS)
            outputs = weights @ inputs + noise * random.randn(N_OUTPUTS, N_ROWS)
            outputs /= np.std(outputs, axis=1, keepdims=True)
            yield np.vstack([inputs, outputs]).T


def precision_and_recall(graph: fn.UndirectedGraph) -> tuple[float, float]:
    found = {(int(a[1:]), int(b[1:])) for a, b in graph.edges}
    return len(found & TRUE) / max(1, len(found)), len(found & TRUE) / len(TRUE)


def test_at_least_95_percent_of_the_published_figures_are_ours() -> None:
    agree = []
    for k, X in enumerate(data_sets()):
        if k not in PUBLISHED:
            continue
        ours = [precision_and_recall(fn.learn.gaussian_graph(X, rule=rule, prior=False)) for rule in RULES]  # type: ignore[arg-type]
        published = np.reshape(PUBLISHED[k], (3, 2))
        agree.extend(np.abs(np.array(ours) - published).max(axis=1) < 1e-6)
    assert len(agree) == 3 * len(PUBLISHED)
    assert np.mean(agree) >= 0.95
