"""Two tables compared: a permutation test with what each variable and configuration adds, and what changed, in nats.

The yardstick is the permutation test as one writes it in NumPy, on the matrix of the same kernel. The matrix is handed
over, so that its making is not timed, in single precision; splits are columns of zeros and ones, and one product with
the matrix answers for all of them. It is made with 19 splits, and its time told as if there were as many as ours. It
gives no shares. Statistics and shares are held against mean features, and what random splits give on average against
its exact value: with N rows in parts of n and m, N / ((N - 1) n m) times the summed squares of centred features.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

import fishernet as fn
from benchmarks.calls import Array, Call, Data
from benchmarks.environment import OURS
from benchmarks.race import Race, Told, Verdict, below, calls_of, difference, faster, memory
from benchmarks.sources import alarm_rows, bayesian_network, codes_of, data_of, fitted, network_of, spaced, with_graph

TITLE = "Comparing two tables"
NUMPY = "plain NumPy (on the matrix)"
SCALED = 19  # splits that NumPy makes
STANDARD_ERRORS = 5
MOVED = 0.3  # how far the table of the changed variable is moved to the uniform distribution
CHANGED = "v10"
Handed = tuple[Any, fn.Table, fn.Table]


def letters() -> Data:
    """Return the letter table in four bins, whose halves are compared under a network of all rows."""
    codes = codes_of(fn.datasets.load("letter", bins=4, binning="equal-width"))
    data = with_graph(data_of("letter", codes), permutations=999)
    return dataclasses.replace(data, title="letter, 2 x 10 000 rows", tables=network_of("", fitted(data)).tables)


def alarms(n_rows: int, permutations: int) -> Data:
    """Return two samples of alarm and its network."""
    net = fn.datasets.load("alarm")
    rows = np.concatenate([alarm_rows()[:n_rows], codes_of(net.sample(n_rows, seed=9))]).astype(np.uint8)
    known = network_of("", net)
    options = {"permutations": permutations}
    title = f"alarm, 2 x {spaced(n_rows)} rows"
    return Data(title, np.asfortranarray(rows), known.cardinalities, known.parents, known.tables, options=options)


def changed(n_rows: int) -> Data:
    """Return a sample of alarm, and one of alarm with one conditional changed."""
    data = alarms(n_rows, 999)
    place = data.names.index(CHANGED)
    tables = list(data.tables)
    tables[place] = (1 - MOVED) * tables[place] + MOVED / tables[place].shape[-1]
    other = bayesian_network(dataclasses.replace(data, tables=tuple(tables)))
    rows = np.concatenate([data.rows[:n_rows], codes_of(other.sample(n_rows, seed=9))]).astype(np.uint8)
    return dataclasses.replace(data, rows=np.asfortranarray(rows), title=f"{data.title}, {CHANGED} changed")


def hand(data: Data) -> Handed:
    """Return the kernel of the network, and the two tables: the halves of the rows."""
    net = bayesian_network(data)
    half = len(data.rows) // 2
    first, second = (fn.Table.from_codes(rows, net.variables) for rows in (data.rows[:half], data.rows[half:]))
    return fn.kernels.FisherKernel(net), first, second


def with_permutations(data: Data) -> tuple[Handed, int]:
    return hand(data), data.options["permutations"]


def tested(handed: tuple[Handed, int]) -> fn.compare.TwoSampleResult:
    (kernel, first, second), permutations = handed
    return fn.compare.two_sample_test(first, second, kernel, permutations=permutations, seed=1)


def told_of_test(found: fn.compare.TwoSampleResult, data: Data) -> list[Any]:
    """Return the statistic, mean and deviation of the splits' ones, the shares of variables and of configurations."""
    shares = [found.by_variable[name].statistic for name in data.names]
    of_configurations = sorted(share.statistic for share in found.by_configuration)
    return [found.statistic, found.null.mean(), found.null.std(), np.array(shares), np.array(of_configurations)]


def with_matrix(data: Data) -> tuple[Array, int, int]:
    """Return the kernel matrix of all rows, how many are the first table's, and how many splits are asked for."""
    kernel, first, _ = hand(data)
    rows = fn.Table.from_codes(data.rows, first.variables)
    return kernel(rows).astype(np.float32), first.n_rows, data.options["permutations"]


def by_matrix(handed: tuple[Array, int, int]) -> Array:
    """Return the statistics of the observed split and of others."""
    matrix, n, _ = handed
    total, random = len(matrix), np.random.default_rng(1)
    signs = np.full((total, 1 + SCALED), -1 / (total - n), dtype=np.float32)
    signs[:n, 0] = 1 / n
    for split in range(1, 1 + SCALED):
        signs[random.permutation(total)[:n], split] = 1 / n
    return np.asarray(np.einsum("ij,ij->j", signs, (matrix @ signs).astype(np.float64)))


def told_of_matrix(statistics: Array, _: Data) -> list[Any]:
    rounded = np.round(statistics, 5)  # the order of sums in products depends on the threads
    return [rounded[0], rounded[1:].mean(), rounded[1:].std()]


def is_right(told: Told) -> Verdict:
    """Hold statistics to mean features, and those of the splits to their exact mean."""
    kernel, first, second = hand(told.data)
    n, m = first.n_rows, second.n_rows
    means = [kernel.mean_features(table) for table in (first, second)]
    squares = (means[0] - means[1]) ** 2
    both = (n * means[0] + m * means[1]) / (n + m)
    spread = float(kernel.diag(first).sum() + kernel.diag(second).sum()) - (n + m) * float(both @ both)
    statistic, mean, deviation, *shares = told.answer
    splits = SCALED if told.label == NUMPY else told.data.options["permutations"]
    errors = abs(mean - (n + m) / ((n + m - 1) * n * m) * spread) / (deviation / np.sqrt(splits))
    off = abs(statistic / squares.sum() - 1)
    if shares:
        parts = kernel.feature_parts
        of_groups = np.bincount(parts.group_of, weights=squares)
        expected = [np.bincount(parts.variable_of, weights=squares), np.sort(of_groups[of_groups > 0])]
        off = max(off, difference(shares, expected))
    right = off < (1e-9 if shares else 1e-3) and errors < STANDARD_ERRORS
    return right, f"off by {off:.0e}; mean of splits {errors:.1f} standard errors from its exact value"


def explained(handed: Handed) -> fn.compare.ChangeResult:
    return fn.compare.explain_change(*handed[1:])


def told_of_change(found: fn.compare.ChangeResult, data: Data) -> list[Any]:
    return [list(found.changed()), *(found.by_variable[name].nats for name in data.names), len(found.graphs)]


def is_explained(told: Told) -> Verdict:
    """Hold what changed to what was changed, and the nats to those of counts in the graph that explains it."""
    names, *nats, graphs = told.answer
    exact = fn.compare.explain_change(*(fitted_half(told.data, part) for part in (0, 1))).by_variable[CHANGED].nats
    found = nats[told.data.names.index(CHANGED)]
    right = names == [CHANGED] and abs(found - exact) < 0.2 * exact
    return right, f"changed: {', '.join(names)}; {found:.3f} nats in {graphs} graphs, in alarm's {exact:.3f}"


def fitted_half(data: Data, part: int) -> fn.BayesianNetwork:
    half = len(data.rows) // 2
    return fitted(dataclasses.replace(data, rows=data.rows[part * half :][:half]))


TEST = Call(with_permutations, tested, told_of_test)
MATRIX = Call(
    with_matrix,
    by_matrix,
    told_of_matrix,
    note=f"time of {1 + SCALED} splits, scaled; the matrix is there",
)
RACES = (
    Race(
        letters,
        {
            OURS: TEST,
            NUMPY: dataclasses.replace(MATRIX, clock=lambda _, seconds: seconds * 1000 / (1 + SCALED)),
        },
        is_right,
        {},
        [below(0.4), faster(50, NUMPY)],
        title="two-sample test, 999 permutations",
    ),
    Race(
        lambda: alarms(1_000_000, 199),
        TEST,
        is_right,
        {},
        [below(20), memory(1e9)],
        title="two-sample test, 199 permutations",
        needs="",
    ),
    Race(
        lambda: changed(5_000),
        Call(hand, explained, told_of_change),
        is_explained,
        {},
        [below(5)],
        title="what changed",
    ),
)
CALLS = calls_of(RACES)
