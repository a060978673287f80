"""Whether intervals and levels are what they say: ``python -m studies.intervals``.

Effects of setting a variable (`fn.explain.effect`) in random networks, numbers that a regressor predicts, tests of
independence by tables of counts, and by how many nats conditionals changed (`fn.compare.explain_change`), each held to
what is true in simulated tables.
"""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
import pandas as pd

import fishernet as fn
from fishernet.sklearn import BayesianNetworkRegressor
from studies.study import Array, Run, Seeds, Table, main, mean

SEEDS = Seeds(
    {
        "effects": 50_1,
        "numbers": 50_2,
        "tests": 50_3,
        "changes": 50_4,
        "strata": 50_5,
        "weights": 50_6,
        "regressions": 50_7,
    }
)
TAKES = "--quick ten seconds, usual a quarter of an hour of one processor"
NAMES, LEVEL = "abcde", 0.95
EFFECTS = (
    (30, 1.0, 0.0), (30, 0.3, 0.0), (100, 1.0, 0.0), (100, 0.3, 0.0), (1_000, 1.0, 0.0), (1_000, 0.3, 0.0),
    (100, 1.0, 0.25), (100, 0.3, 0.25),
)  # fmt: skip
"""Rows, the spread of the states' probabilities (Dirichlet; small: rare states), and the share of missing cells."""
KINDS = ("linear", "skewed", "curved", "unequal", "counts")
COUNTED = ((50, 2, 0, 1.0), (50, 4, 1, 1.0), (100, 3, 2, 1.0), (500, 3, 2, 0.3), (500, 5, 1, 0.3))
"""Rows, states, how many columns are given, and the spread of the probabilities."""
CHANGES = (
    (50, 50, 1.0, 1.0), (100, 100, 1.0, 0.5), (300, 300, 1.0, 0.5), (1_000, 200, 0.3, 0.5), (1_000, 1_000, 1.0, 0.2),
    (1_000, 1_000, 0.5, 1.0), (2_000, 2_000, 0.3, 1.0),
)  # fmt: skip
"""Rows of both tables, the spread, and how far a conditional is mixed with another one, which is drawn as it was."""

REGRESSIONS = ((60, 2, 0.6), (60, 5, 0.6), (200, 2, 0.3), (200, 5, 0.3), (200, 8, 0.4), (2_000, 8, 0.15))
"""Rows of each table, labels, and how far the lines of a number turn."""


def network(spread: float, random: np.random.Generator) -> fn.BayesianNetwork:
    """Return a network of five columns with two or three states and up to two parents each."""
    states = random.integers(2, 4, len(NAMES)).tolist()
    above = [
        sorted(random.permutation(v)[: int(random.integers(0, min(v, 2) + 1))].tolist()) for v in range(len(NAMES))
    ]
    tables = {
        name: random.dirichlet(np.full(states[v], spread), size=tuple(states[p] for p in above[v]))
        for v, name in enumerate(NAMES)
    }
    variables = [fn.Variable(name, range(n)) for name, n in zip(NAMES, states, strict=True)]
    return fn.BayesianNetwork.from_tables(
        variables, {n: [NAMES[p] for p in above[v]] for v, n in enumerate(NAMES)}, tables
    )


def covered(n: int, spread: float, missing: float, repetition: int) -> float | None:
    """Return the share of changes of an effect whose intervals hold them; None where nothing changes."""
    random = np.random.default_rng([SEEDS["effects"], n, round(10 * spread), round(100 * missing), repetition])
    net = network(spread, random)
    x, y = ("a", "e") if repetition % 2 else ("b", "d")
    one, other = (np.asarray(net.given(do={x: state}).query(y)) for state in (0, 1))
    if np.abs(other - one).max() < 1e-12:
        return None
    rows = net.sample(n, seed=random)
    cells = [
        np.where(random.random(n) < missing, v.cardinality, codes).astype(v.dtype)
        for v, codes in zip(rows.variables, rows.codes, strict=True)
    ]
    table = fn.Table.adopt(rows.variables, cells, n_rows=n)
    found = fn.explain.effect(net.dag, table, x, y, values=[0, 1], n=100, seed=repetition)
    return float(np.mean((found.low[1] <= other - one + 1e-12) & (other - one - 1e-12 <= found.high[1])))


def drawn(kind: str, n: int, random: np.random.Generator) -> tuple[pd.DataFrame, Array]:
    """Return five numbers and a label, and a number that depends on some of them."""
    numbers, label = random.normal(size=(n, 5)), random.integers(0, 3, n)
    noise = random.normal(size=n)
    every: dict[str, Any] = {
        "linear": numbers @ [1, 2, 0, 0, 0.5] + noise,
        "skewed": np.exp(0.5 * numbers[:, 0] + 0.3 * label + 0.4 * noise),
        "curved": 2 * np.sin(2 * numbers[:, 0]) + numbers[:, 1] ** 2 + 0.5 * noise,
        "unequal": numbers[:, 0] + np.where(label == 2, 3, 0.5) * noise,
        "counts": random.poisson(np.exp(1 + 0.5 * numbers[:, 0])).astype(float),
    }
    frame = pd.DataFrame(numbers, columns=list(NAMES))
    frame["label"] = np.array(["u", "v", "w"])[label]
    return frame, np.asarray(every[kind])


def predicted(kind: str, n: int, repetition: int) -> list[float]:
    """Return the share of new numbers that a regressor's intervals hold, and its network's own."""
    random = np.random.default_rng([SEEDS["numbers"], KINDS.index(kind), n, repetition])
    model = BayesianNetworkRegressor().fit(*drawn(kind, n, random))
    X, y = drawn(kind, 200, random)
    new = fn.Table.from_frame(X, schema=[v for v in model.network_.variables if v.name != "target"])
    of_both = (model.predict_interval(X, LEVEL), model.network_.predict_interval(new, "target", level=LEVEL))
    return [float(np.mean((ends[:, 0] <= y) & (y <= ends[:, 1]))) for ends in of_both]


def rejected(n: int, states: int, given: int, spread: float, repetition: int) -> list[bool]:
    """Return whether G and chi-squared tests reject two columns that are independent given others, at 5 %."""
    random = np.random.default_rng([SEEDS["tests"], n, states, given, repetition])
    above = random.integers(0, states, (n, given))
    at = above.sum(axis=1) % states
    columns = [
        np.array([random.choice(states, p=of[k]) for k in at])
        for of in random.dirichlet(np.full(states, spread), size=(2, states))
    ]
    names = [fn.Variable(f"v{v}", range(states)) for v in range(2 + given)]
    table = fn.Table.from_codes(np.column_stack([*columns, above]), names)
    tests = (fn.independence.GSquared(table), fn.independence.ChiSquared(table))
    return [bool(test(0, 1, tuple(range(2, 2 + given))).p_value <= 0.05) for test in tests]


def altered(
    net: fn.BayesianNetwork, chosen: Collection[int], rate: float, spread: float, random: np.random.Generator
) -> fn.BayesianNetwork:
    """Return a network some of whose conditionals are mixed with others."""
    tables = {}
    for v, conditional in enumerate(net.conditionals):
        table = np.asarray(conditional.table())
        other = random.dirichlet(np.full(table.shape[-1], spread), size=table.shape[:-1])
        tables[net.names[v]] = (1 - rate) * table + rate * other if v in chosen else table
    parents = {name: [net.names[p] for p in net.dag.parents[v]] for v, name in enumerate(net.names)}
    return fn.BayesianNetwork.from_tables(net.variables, parents, tables)


def told(n: int, later: int, spread: float, rate: float, repetition: int) -> tuple[list[bool], list[bool], bool]:
    """Return whether intervals hold by how many nats one or two conditionals changed, and the others; accusations.

    Of conditionals whose configurations of parents both tables have; the last value says whether any is wrong.
    """
    random = np.random.default_rng([SEEDS["changes"], n, later, round(10 * spread), round(10 * rate), repetition])
    before = network(spread, random)
    chosen = random.permutation(len(NAMES))[: 1 + repetition % 2].tolist()
    after = altered(before, chosen, rate, spread, random)
    true = fn.compare.explain_change(before, after).by_variable
    rows = before.sample(n, seed=random), after.sample(later, seed=random)
    found = fn.compare.explain_change(*rows, net=before.dag, seed=repetition).by_variable
    held: tuple[list[bool], list[bool]] = ([], [])
    for v, name in enumerate(before.names):
        if found[name].covered == 1:
            holds = found[name].low <= true[name].nats + 1e-12 <= found[name].high + 2e-12
            held[0 if v in chosen else 1].append(holds)
    wrong = [found[name].p_corrected <= 0.05 for v, name in enumerate(before.names) if v not in chosen]
    return *held, any(wrong)


NUMBERS = fn.Dag.from_edges(["a", "z", "y"], [("a", "y"), ("z", "y")])


def told_of_number(n: int, states: int, rate: float, repetition: int) -> tuple[bool, bool, float]:
    """Return whether an interval holds by how many nats a number given a label and a number changed; what is wrong.

    Its level and slope are others for each label, and so many times a normal number is added to each. The second value
    says whether the change is found, and the last how many nats the estimate has too many.
    """
    random = np.random.default_rng([SEEDS["regressions"], n, states, round(100 * rate), repetition])
    shares, lines = random.dirichlet(np.full(states, 2.0)), random.normal(size=(2, states))
    turned = rate * random.normal(size=(2, states))
    frames = []
    for level, slope in (lines, lines + turned):
        a, z = random.choice(states, n, p=shares), random.normal(size=n)
        frames.append({"a": a.astype(str), "z": z, "y": level[a] + slope[a] * z + random.normal(size=n)})
    true = float(0.5 * (shares @ (turned**2).sum(axis=0)))
    one, other = frames
    found = fn.compare.explain_change(one, other, NUMBERS, seed=repetition).by_variable["y"]
    return found.low <= true <= found.high, found.changed, found.nats - true


CAUSES = fn.Dag.from_edges(["age", "drug", "back"], [("age", "drug"), ("age", "back"), ("drug", "back")])


def logistic(x: Array) -> Array:
    """Return the probabilities of logits."""
    return np.asarray(1 / (1 + np.exp(-x)))


def in_strata(n: int, repetition: int) -> float:
    """Return whether an interval holds what a drug does, where age, a number, makes drug and outcome more likely."""
    random = np.random.default_rng([SEEDS["strata"], n, repetition])
    points, weights = np.polynomial.hermite_e.hermegauss(40)
    true = float((logistic(points + 0.3) - logistic(points - 0.5)) @ weights / weights.sum())
    age = random.normal(size=n)
    drug = random.random(n) < logistic(age)
    back = random.random(n) < logistic(age - 0.5 + 0.8 * drug)
    table = fn.Table.from_frame({"age": age, "drug": np.where(drug, "y", "n"), "back": np.where(back, "y", "n")})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fn.FishernetWarning)  # that age is cut
        found = fn.explain.effect(CAUSES, table, "drug", "back", values=["n", "y"], n=100, seed=repetition)
    return float(found.low[1, 1] <= true <= found.high[1, 1])


def of_survey(n: int, share: float, random: np.random.Generator) -> fn.Table:
    """Return answers of a population of which 40 % are old, a sample with another share, and weights that mend it."""
    old = random.random(n) < share
    answer = random.random(n) < np.where(old, 0.7, 0.3)
    columns = {
        "age": np.where(old, "old", "young"),
        "answer": np.where(answer, "yes", "no"),
        "z": random.integers(0, 3, n),
    }
    weights = 1.01 * np.where(old, 0.4 / share, 0.6 / (1 - share))
    return fn.Table.from_frame({**columns, "weight": weights}, weights="weight", categorical=["z"])


def told_apart(shares: tuple[float, float], repetition: int) -> tuple[bool, bool]:
    """Return whether samples of one population are told apart with their weights, and without."""
    random = np.random.default_rng([SEEDS["weights"], round(100 * shares[1]), repetition])
    weighted = [of_survey(300, share, random) for share in shares]
    found = []
    for one, other in (weighted, [fn.Table(table.variables, table.codes) for table in weighted]):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fn.FishernetWarning)  # that rows are drawn
            test = fn.compare.two_sample_test(one, other, permutations=199, seed=repetition)
        found.append(bool(test.p_value <= 0.05))
    return found[0], found[1]


def compute(run: Run) -> Iterator[Table]:
    """Yield how often intervals hold what is true, and how often tests reject what is."""
    settings = run.choose(EFFECTS[:2], EFFECTS)
    rows = list[list[Any]]()
    for n, spread, missing in settings:
        repetitions = run.choose(5, 60 if missing else 300)
        found = list(run.map(covered, [(n, spread, missing, r) for r in range(repetitions)]))
        held = [one for one in found if one is not None]
        rows.append([n, spread, missing, len(held), mean([100 * one for one in held])])
    yield Table("effects", ["rows", "spread", "missing", "effects", "held, %"], rows, ["", ".1f", ".2f", "", ".1f"])
    rows = []
    for kind in run.choose(KINDS[:1], KINDS):
        for n in run.choose((30,), (30, 100, 1_000)):
            repetitions = run.choose(2, 60 if n < 1_000 else 15)
            found = list(run.map(predicted, [(kind, n, r) for r in range(repetitions)]))
            rows.append([kind, n, *(mean([100 * of[k] for of in found]) for k in range(2))])
    yield Table("numbers", ["number", "rows", "regressor, %", "its network, %"], rows, ".1f")
    rows = []
    for setting in run.choose(COUNTED[:1], COUNTED):
        found = list(run.map(rejected, [(*setting, r) for r in range(run.choose(20, 1_000))]))
        rows.append([*setting, *(mean([100.0 * of[k] for of in found]) for k in range(2))])
    yield Table("tests", ["rows", "states", "given", "spread", "G, %", "chi-squared, %"], rows, ".1f")
    rows = []
    for pair in run.choose(CHANGES[:1], CHANGES):
        of_tables = list(run.map(told, [(*pair, r) for r in range(run.choose(5, 500))]))
        shares = [[100.0 * np.mean(one[k]) for one in of_tables if one[k]] for k in range(2)]
        accused = [100.0 * one[2] for one in of_tables]
        rows.append([*pair, sum(len(one[0]) for one in of_tables), *map(mean, (*shares, accused))])
    header = ["before", "after", "spread", "mixed", "changed", "held, %", "unchanged held, %", "innocent accused, %"]
    yield Table("changes", header, rows, ["", "", ".1f", ".1f", "", ".1f", ".1f", ".1f"])
    rows = []
    for case in run.choose(REGRESSIONS[:1], REGRESSIONS):
        of_number = list(run.map(told_of_number, [(*case, r) for r in range(run.choose(5, 200))]))
        columns = [[scale * one[k] for one in of_number] for k, scale in enumerate((100.0, 100.0, 1.0))]
        rows.append([*case, *map(mean, columns)])
    header = ["rows of each", "labels", "added", "held, %", "found, %", "nats too many"]
    yield Table("regressions", header, rows, ["", "", ".2f", ".1f", ".1f", ".4f"])
    rows = []
    for n in run.choose((60,), (60, 200, 1_000)):
        found = list(run.map(in_strata, [(n, r) for r in range(run.choose(5, 300))]))
        rows.append([n, mean([100 * one for one in found])])
    yield Table("strata", ["rows", "held, %"], rows, ["", ".1f"])
    rows = []
    for samples in run.choose(((0.7, 0.25),), ((0.4, 0.4), (0.7, 0.25))):
        pairs = list(run.map(told_apart, [(samples, r) for r in range(run.choose(5, 800))]))
        rows.append([*samples, *(mean([100.0 * pair[k] for pair in pairs]) for k in range(2))])
    yield Table(
        "weights",
        ["old in one, of 0.4", "in the other", "with weights, %", "without, %"],
        rows,
        [".2f", ".2f", ".1f", ".1f"],
    )


if __name__ == "__main__":
    main("intervals", compute, seeds=SEEDS, about=__doc__, takes=TAKES)
