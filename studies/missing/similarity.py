"""Neighbours and clusters of rows that lack cells.

The kernel averaged over what is not known of a row is beside the plain one on tables that were filled in. Likeness is
the cosine, as in `fishernet.select.similar`. Of rows that are equally alike each counts in part, so that no order of
the rows decides.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.metrics import adjusted_rand_score

import fishernet as fn
from studies.missing.holes import hidden_anywhere, lacking
from studies.missing.ways import filled_by_mode, plain
from studies.study import Array, Run, Seeds, Table, mean

SEEDS = Seeds({"neighbours": 5104, "clusters": 5105})
SHARES = (10, 20, 40)
NEAREST, TRAIN, TEST = 10, 2_000, 500
DIGITS = 9  # to which cosines are compared
Labels = npt.NDArray[np.int64]

KERNELS = ["averaged", "mode", "most probable", "drawn", "equal cells", "class hidden", "no cell hidden"]


@cache
def attributes(name: str) -> tuple[fn.Table, Any, Labels]:
    """Return the attributes of a table that comes with the library, and its class; 16 numbers become 4 states."""
    table = fn.datasets.load(name)
    assert isinstance(table, fn.Table)
    variables, columns = list(table.variables[:-1]), list(table.codes[:-1])
    if name == "letter":
        variables = [fn.Variable(v.name, ["0-3", "4-7", "8-11", "12-15"]) for v in variables]
        columns = [(codes // 4).astype(v.dtype) for v, codes in zip(variables, columns, strict=True)]
    made = fn.Table.adopt(variables, columns, n_rows=table.n_rows)
    return made, table.variables[-1], table.codes[-1].astype(np.int64)


def cosines(
    kernel: fn.kernels.FisherKernel | fn.kernels.HiddenVariableKernel, test: fn.Table, train: fn.Table
) -> Array:
    """Return the cosine of each test row with each training row; 0 where a row's features are all 0."""
    a, b = kernel.features(test), kernel.features(train)
    lengths = [np.sqrt(np.asarray(one.multiply(one).sum(axis=1)).ravel()) for one in (a, b)]
    scale = np.outer(*lengths)
    products: Array = (a @ b.T).toarray()
    found: Array = np.divide(products, scale, out=np.zeros_like(scale), where=scale > 0)
    return found


def equal_cells(test: fn.Table, train: fn.Table) -> Array:
    """Return in how many of the cells that both rows know they agree, as a share; a half where there are none."""
    equal = np.zeros((test.n_rows, train.n_rows))
    both = np.zeros_like(equal)
    for a, b, no_a, no_b in zip(test.codes, train.codes, lacking(test), lacking(train), strict=True):
        known = ~no_a[:, None] & ~no_b
        equal += known & (a[:, None] == b)
        both += known
    return np.divide(equal, both, out=np.full_like(equal, 0.5), where=both > 0)


def nearest(likeness: Array, k: int) -> Array:
    """Return how much of each row is among the k nearest: 1, 0, or equal parts of what is left for those that tie."""
    rounded = likeness.round(DIGITS)
    least = np.sort(rounded, axis=1)[:, -k][:, None]
    above, level = rounded > least, rounded == least
    left = k - above.sum(axis=1, keepdims=True)
    return np.asarray(above + level * left / level.sum(axis=1, keepdims=True))


def agreement(likeness: Array, reference: Array, k: int = NEAREST) -> float:
    """Return what share of the k nearest are among those of a reference, or tie with the last of these."""
    return float((nearest(likeness, k) * (nearest(reference, k) > 0)).sum(axis=1).mean() / k)


def accuracy(likeness: Array, test: Labels, train: Labels) -> float:
    """Return how often the nearest row has the right class; of rows that tie, one is drawn."""
    return float((nearest(likeness, 1) * (test[:, None] == train)).sum(axis=1).mean())


def joined(table: fn.Table, variable: fn.Variable, labels: Labels) -> fn.Table:
    """Return a table with one more column."""
    columns = [*table.codes, labels.astype(variable.dtype)]
    return fn.Table.adopt([*table.variables, variable], columns, n_rows=table.n_rows)


def neighbours(name: str, share: int, n_train: int, repetition: int) -> dict[str, list[float]]:
    """Return agreement with the neighbours of the complete rows, and accuracy, of each way."""
    rng = np.random.default_rng([SEEDS["neighbours"], *name.encode(), share, repetition])
    table, variable, labels = attributes(name)
    order = rng.permutation(table.n_rows)[: n_train + TEST]
    full, of = table[order], labels[order]
    holes = hidden_anywhere(full, share / 100, rng)
    first, rest = np.arange(n_train), np.arange(n_train, n_train + TEST)
    whole = fn.kernels.FisherKernel(plain(full[first]))
    reference = cosines(whole, full[rest], full[first])
    net = fn.learn.parameters(fn.learn.dag(holes[first], missing="em"), holes[first])
    of_class = joined(holes, variable, of)
    with_class = fn.learn.parameters(fn.learn.dag(of_class[first], missing="em"), of_class[first])
    filled = {
        "mode": filled_by_mode(holes),
        "most probable": fn.infer.impute(net, holes),
        "drawn": fn.infer.impute(net, holes, how="draw", seed=rng),
    }
    fisher = fn.kernels.FisherKernel(net)
    likeness = {way: cosines(fisher, made[rest], made[first]) for way, made in filled.items()}
    averaged = fn.kernels.HiddenVariableKernel(net)
    likeness["averaged"] = cosines(averaged, holes[rest], holes[first])
    hidden = fn.kernels.HiddenVariableKernel(with_class, [variable.name])
    likeness["class hidden"] = cosines(hidden, of_class[rest], of_class[first])
    likeness["equal cells"] = equal_cells(holes[rest], holes[first])
    likeness["no cell hidden"] = reference
    return {
        "agreement": [agreement(likeness[way], reference) for way in KERNELS],
        "accuracy": [accuracy(likeness[way], of[rest], of[first]) for way in KERNELS],
    }


FILLINGS = [
    "cells missing",
    "own state",
    "drop rows",
    "mode",
    "most probable",
    "drawn",
    "complete",
    "complete, other seed",
]
MIXTURE = (4, 12, 3)  # clusters, columns, states
CLUSTERED = {"drawn mixture": (1_000, 4), "letter": (600, 8)}  # rows, clusters


def mixture(n: int, rng: np.random.Generator) -> tuple[fn.Table, Labels]:
    """Return rows of a mixture whose clusters have independent columns, and which cluster each is of."""
    k, d, r = MIXTURE
    shares = rng.dirichlet(np.ones(r), size=(k, d))
    labels = rng.integers(k, size=n)
    draws = rng.random((n, d, 1))
    codes = (draws > shares[labels].cumsum(axis=-1)[:, :, :-1]).sum(axis=-1)
    variables = [fn.Variable(f"v{v}", range(r)) for v in range(d)]
    return fn.Table.from_codes(codes, variables), labels


def cluster(table: fn.Table, k: int, seed: int) -> fn.learn.Clusters:
    return fn.learn.clusters(table, k, restarts=3, seed=seed)


def as_states(table: fn.Table) -> fn.Table:
    """Return the table with missing as a state of its own."""
    variables = [fn.Variable(v.name, [*map(str, v.states), "missing"]) for v in table.variables]
    columns = [codes.astype(v.dtype) for v, codes in zip(variables, table.codes, strict=True)]
    return fn.Table.adopt(variables, columns, n_rows=table.n_rows)


def clustered(name: str, share: int, repetition: int) -> dict[str, list[float]]:
    """Return the adjusted Rand index of each way's clusters with the true classes and with the complete table's."""
    rng = np.random.default_rng([SEEDS["clusters"], *name.encode(), share, repetition])
    n, k = CLUSTERED[name]
    if name == "letter":
        table, _, classes = attributes(name)
        order = rng.permutation(table.n_rows)[:n]
        full, labels = table[order], classes[order]
    else:
        full, labels = mixture(n, rng)
    holes = hidden_anywhere(full, share / 100, rng)
    net = fn.learn.parameters(fn.learn.dag(holes, missing="em"), holes)
    kept = holes.drop_missing()
    found = {
        "cells missing": cluster(holes, k, repetition).labels,
        "own state": cluster(as_states(holes), k, repetition).labels,
        "drop rows": cluster(kept, k, repetition).predict(holes) if kept.n_rows >= 2 * k else None,
        "mode": cluster(filled_by_mode(holes), k, repetition).labels,
        "most probable": cluster(fn.infer.impute(net, holes), k, repetition).labels,
        "drawn": cluster(fn.infer.impute(net, holes, how="draw", seed=rng), k, repetition).labels,
        "complete": (whole := cluster(full, k, repetition).labels),
        "complete, other seed": cluster(full, k, 1_000 + repetition).labels,
    }

    def index(of: npt.NDArray[Any]) -> list[float]:
        return [np.nan if (one := found[way]) is None else float(adjusted_rand_score(of, one)) for way in FILLINGS]

    return {"truth": index(labels), "complete": index(whole)}


def compute(run: Run) -> Iterator[Table]:
    """Yield the tables of neighbours and of clusters."""
    shares, repetitions = run.choose((20,), SHARES), run.choose(1, 10)
    n_train = run.choose(500, TRAIN)
    places: list[tuple[Any, ...]] = [(name, share) for name in ("nursery", "letter") for share in shares]
    found = list(run.map(neighbours, [(*at, n_train, r) for at in places for r in range(repetitions)]))
    for key in ("agreement", "accuracy"):
        rows = [[*at, *cells(found, k, repetitions, key)] for k, at in enumerate(places)]
        yield Table(f"neighbours-{key}", ["table", "% hidden", *KERNELS], rows, ".3f")
    places = [(name, share) for name in CLUSTERED for share in shares]
    found = list(run.map(clustered, [(*at, r) for at in places for r in range(repetitions)]))
    for key in ("truth", "complete"):
        rows = [[*at, *cells(found, k, repetitions, key)] for k, at in enumerate(places)]
        yield Table(f"clusters-{key}", ["table", "% hidden", *FILLINGS], rows, ".3f")


def cells(found: list[dict[str, list[float]]], place: int, repetitions: int, key: str) -> list[Any]:
    """Return the means of one place's repetitions."""
    values: Array = np.array([one[key] for one in found[place * repetitions : (place + 1) * repetitions]])
    return [mean(column, usual=repetitions) for column in values.T]
