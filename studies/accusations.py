"""Whom `explain_change` accuses: ``python -m studies.accusations``.

Random networks are changed in known conditionals, tables are drawn before and after, and it is counted whom the answer
names: with the graph given, whatever changed upstream and whatever share of the cells a table lacks, beside stratified
G tests; with the graph learned, whether the direction of the arcs misleads it. Then how often its intervals hold the
true divergence, and how often equal sources raise an alarm.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import fishernet as fn
from studies.study import Array, Run, Seeds, Table, main, mean

SEEDS = Seeds({"level": 42_1, "direction": 42_2, "coverage": 42_3})
TAKES = "an hour of one processor, --quick half a minute"
LEVEL = 0.05
MIXED = 0.4  # of a random conditional in one that changed
SETTINGS = {  # variables, rows before and after, concentration (small: rare states), most states
    "20, 20": (5, 20, 20, 1.0, 3),
    "200, 200": (5, 200, 200, 1.0, 3),
    "5,000, 100": (5, 5000, 100, 1.0, 3),
    "100, 5,000": (5, 100, 5000, 1.0, 3),
    "1,000, 1,000": (10, 1000, 1000, 1.0, 4),
    "1,000, 200, rare states": (10, 1000, 200, 0.3, 5),
    "5,000, 100, rare states": (10, 5000, 100, 0.3, 5),
    "500, 500": (20, 500, 500, 1.0, 3),
    "2,000, 100, rare states": (20, 2000, 100, 0.3, 4),
    "100, 5,000, rare states": (20, 100, 5000, 0.3, 4),
    "1,000, 1,000, many": (40, 1000, 1000, 1.0, 3),
    "5,000, 100, rare, many": (40, 5000, 100, 0.3, 4),
}
MISSING = (0.0, 0.2, 0.5)
PAIRS = ((2000, 2000), (5000, 200))
SIZES = ((2, 2), (9, 3), (27, 3), (50, 5), (125, 5))  # configurations and states
ROWS = ((100, 100), (300, 300), (1000, 1000), (5000, 200), (200, 5000), (10_000, 10_000))

Named = Sequence[str]
Rng = np.random.Generator


def network(d: int, random: Rng, concentration: float, most_states: int, nearest: int) -> fn.BayesianNetwork:
    """Return a random network: up to three parents among so many variables before, Dirichlet conditionals."""
    variables = [fn.Variable(f"v{v}", range(random.integers(2, most_states + 1))) for v in range(d)]
    parents, tables = {}, {}
    for v, variable in enumerate(variables):
        near = list(range(max(0, v - nearest), v))
        k = min(len(near), int(random.choice([0, 1, 1, 2, 2, 3])))
        parents[variable.name] = [f"v{u}" for u in sorted(random.choice(near, k, replace=False))] if k else []
        shape = [variables[int(name[1:])].cardinality for name in parents[variable.name]]
        tables[variable.name] = random.dirichlet([concentration] * variable.cardinality, shape)
    return fn.BayesianNetwork.from_tables(variables, parents, tables)


def changed(net: fn.BayesianNetwork, new: dict[str, Array]) -> fn.BayesianNetwork:
    """Return a network with some conditionals in place of its own."""
    tables = {name: np.asarray(net.conditional(name).table()) for name in net.names} | new
    return fn.BayesianNetwork.from_tables(net.variables, {name: net.parents(name) for name in net.names}, tables)


def mixed(table: Array, share: float, concentration: float, random: Rng) -> Array:
    """Return a conditional with a share of a random one."""
    fresh = random.dirichlet([concentration] * table.shape[-1], table.shape[:-1])
    return np.asarray((1 - share) * table + share * fresh)


def with_holes(table: fn.Table, share: float, random: Rng) -> fn.Table:
    """Return a table that lacks cells at random."""
    columns = [
        np.where(random.random(table.n_rows) < share, variable.missing_column(table.n_rows), column)
        for variable, column in zip(table.variables, table.codes, strict=True)
    ]
    return fn.Table(table.variables, columns)


def g_tests(X: fn.Table, Y: fn.Table, net: fn.BayesianNetwork) -> Named:
    """Return whom chi-squared G tests within the parents' configurations name, corrected by Holm's method."""
    from scipy.stats import chi2

    p_values = {}
    for name in net.names:
        family = [*net.parents(name), name]
        statistic, degrees = 0.0, 0
        for one, other in zip(*(complete_counts(table, family) for table in (X, Y)), strict=True):
            pair = np.stack([one, other])
            pair = pair[:, pair.sum(axis=0) > 0]
            if pair.sum(axis=1).min(initial=1) == 0 or pair.shape[1] < 2:
                continue
            expected = np.outer(pair.sum(axis=1), pair.sum(axis=0)) / pair.sum()
            statistic += 2 * float((pair * np.log(np.maximum(pair, 1) / expected)).sum())
            degrees += pair.shape[1] - 1
        p_values[name] = float(chi2.sf(statistic, degrees)) if degrees else 1.0
    named = []
    for k, name in enumerate(sorted(p_values, key=lambda name: p_values[name])):
        if p_values[name] * (len(p_values) - k) > LEVEL:
            break
        named.append(name)
    return named


def complete_counts(table: fn.Table, family: Sequence[str]) -> Array:
    """Return the counts (configurations, states) of the rows that have all cells of a family."""
    part = table.select(family)
    known = ~np.any([v.missing(c) for v, c in zip(part.variables, part.codes, strict=True)], axis=0)
    shape = [variable.cardinality for variable in part.variables]
    flat = np.ravel_multi_index([column[known].astype(np.int64) for column in part.codes], shape)
    return np.bincount(flat, minlength=int(np.prod(shape))).reshape(-1, shape[-1]).astype(np.float64)


def accused(setting: str, missing: float, seed: int) -> dict[str, float]:
    """Change a root as much as can be and another conditional by a part, and say who is named rightly and wrongly."""
    d, n, m, concentration, most = SETTINGS[setting]
    random = np.random.default_rng([SEEDS["level"], seed, list(SETTINGS).index(setting)])
    net = network(d, random, concentration, most, nearest=6)
    roots = [name for name in net.names if not net.parents(name)]
    new = {
        name: mixed(net.conditional(name).table(), MIXED, concentration, random) for name in [f"v{random.integers(d)}"]
    }
    root = str(random.choice(roots))
    new[root] = np.asarray(net.conditional(root).table())[::-1]
    X, Y = net.sample(n, seed=random), changed(net, new).sample(m, seed=random)
    if missing and seed % 2:
        X = with_holes(X, missing, random)
    elif missing:
        Y = with_holes(Y, missing, random)
    ours = fn.compare.explain_change(X, Y, net, permutations=999, resamples=2, seed=seed).changed()
    found: dict[str, float] = {}
    for of, named in (("ours", ours), ("G", g_tests(X, Y, net))):
        found[f"{of} wrong"] = float(bool(set(named) - set(new)))
        found[f"{of} power"] = len(set(named) & set(new)) / len(new)
    return found


def directed(rows: tuple[int, int], seed: int) -> dict[str, float]:
    """Change one or two of eight conditionals by half, learn the graph, and say who is named."""
    random = np.random.default_rng([SEEDS["direction"], seed, *rows])
    net = network(8, random, 0.7, 4, nearest=8)
    of = [f"v{v}" for v in random.choice(8, int(random.choice([1, 1, 2])), replace=False)]
    other = changed(net, {name: mixed(net.conditional(name).table(), 0.5, 0.7, random) for name in of})
    X, Y = net.sample(rows[0], seed=random), other.sample(rows[1], seed=random)
    found: dict[str, float] = {}
    for how, given in (("learned", None), ("best alone", None), ("true graph", net)):
        options: dict[str, Any] = {"graphs": 1} if how == "best alone" else {}
        said = fn.compare.explain_change(X, Y, given, permutations=499, resamples=2, seed=seed, **options)
        named, open_, truth = set(said.changed()), set(said.in_doubt()), set(of)
        found |= {
            f"{how}: exactly": float(named == truth),
            f"{how}: some wrong": float(bool(named - truth)),
            f"{how}: the wrong alone": float(bool(named) and not named & truth),
            f"{how}: all right, or in doubt": float(truth <= named | open_),
        }
    return found


def covered(size: tuple[int, int], rows: tuple[int, int], seed: int) -> list[float]:
    """Say whether an interval holds the true divergence, and how large that is: one conditional, changed or not."""
    configurations, states = size
    random = np.random.default_rng([SEEDS["coverage"], seed, *size, *rows])
    moved = (0.0, 0.3, 0.7)[seed % 3]
    variables = [fn.Variable("parent", range(configurations)), fn.Variable("child", range(states))]
    q = random.dirichlet([(5.0, 0.7)[seed % 2]] * states, configurations)
    p = np.exp(np.log(q) + moved * random.standard_normal(q.shape))
    p /= p.sum(axis=1, keepdims=True)
    before, after = random.dirichlet([4.0] * configurations, 2)
    nets = [
        fn.BayesianNetwork.from_tables(variables, {"child": ["parent"]}, {"parent": of, "child": table})
        for of, table in ((before, q), (after, p))
    ]
    X, Y = nets[0].sample(rows[0], seed=random), nets[1].sample(rows[1], seed=random)
    found = fn.compare.explain_change(X, Y, nets[0], permutations=499, seed=seed).by_variable["child"]
    there = [set(table.codes[0].tolist()) for table in (X, Y)]
    both = sorted(there[0] & there[1])
    apart = np.where(p > 0, p * np.log(np.maximum(p, 1e-300) / np.maximum(q, 1e-300)), 0.0).sum(axis=1)
    truth = max(float(after[both] @ apart[both] / after[both].sum()), 0.0) if both and moved else 0.0
    return [float(found.low <= truth <= found.high), truth, found.nats]


def compute(run: Run) -> Iterator[Table]:
    """Count whom the answers name."""
    repetitions = run.repetitions(4, 300, 2000)
    settings = list(SETTINGS)[: run.choose(2, len(SETTINGS))]
    asked = [(name, share) for share in MISSING for name in settings]
    tasks = [(name, share, seed) for name, share in asked for seed in range(repetitions)]
    results = list(run.map(accused, tasks))
    rows = []
    for at, (name, share) in enumerate(asked):
        of = results[at * repetitions : (at + 1) * repetitions]
        cells = [mean([one[key] for one in of]) for key in ("ours wrong", "ours power", "G wrong", "G power")]
        rows.append([name, SETTINGS[name][0], share, *cells])
    yield Table("level", ["rows", "variables", "missing", "wrong", "power", "G: wrong", "G: power"], rows, ".3f")
    pairs = PAIRS[: run.choose(1, 2)]
    results = list(run.map(directed, [(rows_, seed) for rows_ in pairs for seed in range(repetitions)]))
    directions: list[list[Any]] = []
    for at, sizes in enumerate(pairs):
        of = results[at * repetitions : (at + 1) * repetitions]
        told = Counter(key.partition(": ")[0] for key in of[0])
        for how in told:
            kinds = ("exactly", "some wrong", "the wrong alone", "all right, or in doubt")
            directions.append(
                [f"{sizes[0]:,}, {sizes[1]:,}", how, *(mean([o[f"{how}: {k}"] for o in of]) for k in kinds)]
            )
    columns = ["rows", "graph", "exactly", "some wrong", "the wrong alone", "all right, or in doubt"]
    yield Table("direction", columns, directions, ".3f")
    shapes = [(size, rows_) for size in SIZES[: run.choose(1, 4, 5)] for rows_ in ROWS[: run.choose(1, 6)]]
    results = list(run.map(covered, [(*shape, seed) for shape in shapes for seed in range(repetitions)]))
    held: list[list[Any]] = []
    for at, (size, rows_) in enumerate(shapes):
        of_shape = np.array(results[at * repetitions : (at + 1) * repetitions])
        parameters = size[0] * (size[1] - 1)
        sizes_ = f"{rows_[0]:,}, {rows_[1]:,}"
        held.append([parameters, sizes_, mean(of_shape[:, 0]), mean(of_shape[:, 1]), mean(of_shape[:, 2])])
    yield Table("coverage", ["parameters", "rows", "covered", "true nats", "estimate"], held, ".3f")


if __name__ == "__main__":
    main("accusations", compute, seeds=SEEDS, about=__doc__, takes=TAKES)
