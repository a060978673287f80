"""Whether rows are behind an answer as `fn.explain.rows` says: ``python -m studies.influence --data FOLDER``.

A network is learned from a table, and asked six kinds of questions. Then it is fitted to random parts of the rows, its
graph held or learned again, and the answers are held beside what the influence of the rows in each part says (the
linear datamodeling score: the rank correlation over the parts, its mean over the questions). Single rows are left out
by a new fit. Then labels are exchanged, and found again, beside confident learning with a random forest and the k
nearest neighbours.
"""

from __future__ import annotations

import math
import time
import warnings
from collections import defaultdict
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.stats import spearmanr

import fishernet as fn
from studies.study import Array, Run, Seeds, Table, main, mean

SEEDS = Seeds({"parts": 45_1, "labels": 45_2, "graphs": 45_3})
TAKES = "an hour of one processor, --quick half a minute"
MOST_ROWS = 2000
GRAPHS = 20  # of halves, over which influences are averaged
PARTS = {"half": 0.5, "95 %": 0.95}
KINDS = ("rows held out", "one row", "label given the rest", "label given two", "odds", "mutual information")
SHARES = (0.02, 0.1)
SHIPPED = ("nursery", "letter", "alarm", "asia")
HOWS = (("half", "held"), ("95 %", "held"), ("half", "learned again"), ("half", "over graphs"), ("half", "told"))
LEFT_OUT = 40  # rows of each question
NEIGHBOURS = 10

Ask = dict[str, Any]


def tables(run: Run) -> list[str]:
    """Return the names of the tables there are."""
    found = list(SHIPPED)
    for folder, ending in (("uci", "*.csv*"), ("exact", "*.csv.gz")):
        path = run.file(folder)
        files = sorted(path.glob(ending)) if path else []
        found += [str(file) for file in files if file.name.partition(".")[0] not in SHIPPED]
    return found[: run.choose(2, 10_000)]


def read(name: str) -> fn.Table | None:
    """Return a table of labels with at most so many rows; None where few are complete."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        loaded: Any = fn.datasets.load(name) if name in SHIPPED else fn.read_table(name)
        if name in ("alarm", "asia"):
            sampled: fn.Table = loaded.sample(MOST_ROWS, seed=SEEDS["parts"])
            return sampled
        table: fn.Table = loaded.discretize(4).drop_missing()
    kept = [variable.name for variable in table.variables if 2 <= variable.cardinality <= 40]
    if table.n_rows < 200 or len(kept) < 4:
        return None
    order = np.random.default_rng(SEEDS["parts"]).permutation(table.n_rows)[: MOST_ROWS + 100]
    return table.select(kept)[np.sort(order)]


def questions(table: fn.Table, held_out: fn.Table, target: str, row: int) -> dict[str, Ask]:
    """Return a question of each kind about a row that is held out."""
    cells = {name: held_out[name][row] for name in table.names}
    others = [name for name in table.names if name != target]
    few = {name: cells[name] for name in others[row % len(others) :][:1] + others[(row + 3) % len(others) :][:1]}
    states = table.variables[table.names.index(target)].states
    counts = np.bincount(table.column(target), minlength=len(states))
    first, second = (states[k] for k in np.argsort(-counts)[:2])
    one = others[row % len(others)]
    return {
        "rows held out": {"log_prob": held_out},
        "one row": {"log_prob": held_out[[row]]},
        "label given the rest": {"query": target, "state": cells[target], "given": {n: cells[n] for n in others}},
        "label given two": {"query": target, "state": cells[target], "given": few},
        "odds": {"query": target, "state": (first, second), "given": few},
        "mutual information": {"query": [target, one]},
    }


def answered(net: fn.BayesianNetwork, table: fn.Table, ask: Ask) -> float:
    """Return the answer of another network of the same variables."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the table is not what it was learned from
        return fn.explain.rows(net, table, n_rows=table.n_rows, **ask).answer


def scored(name: str, asked: int, parts: int) -> dict[str, Any] | None:
    """Return the datamodeling scores of a table's questions, and how near removals are to fits without the row."""
    table = read(name)
    if table is None:
        return None
    held_out, rows = table[-100:], table[:-100]
    random = np.random.default_rng(SEEDS["parts"])
    target = table.names[-1]
    net = fn.learn.bayesian_network(rows)
    found: dict[str, Any] = {"rows": rows.n_rows, "variables": len(rows.names), "seconds": 0.0}
    why = {}
    for row in range(asked):
        for kind, ask in questions(rows, held_out, target, row).items():
            if kind == "rows held out" and row:
                continue
            began = time.perf_counter()
            why[kind, row] = ask, fn.explain.rows(net, rows, **ask)
            found["seconds"] += (time.perf_counter() - began) / (1 + 5 * asked)
    over = {of: fn.explain.rows(net, rows, **ask, graphs=GRAPHS, seed=SEEDS["graphs"]) for of, (ask, _) in why.items()}
    for part, share in PARTS.items():
        kept = [np.flatnonzero(random.random(rows.n_rows) < share) for _ in range(parts)]
        for how in ("held", "learned again") if part == "half" else ("held",):
            nets = [
                fn.learn.parameters(net.dag, rows[k]) if how == "held" else fn.learn.bayesian_network(rows[k])
                for k in kept
            ]
            scores: dict[tuple[str, str], list[float]] = defaultdict(list)
            for (kind, row), (ask, influence) in why.items():
                truth = [answered(one, rows, ask) for one in nets]
                if np.ptp(truth) <= 1e-12:
                    continue
                ways: dict[str, Any] = {how: influence} | ({"over graphs": over[kind, row]} if how != "held" else {})
                for way, of in ways.items():
                    said = [float(of.values[k].sum()) for k in kept]
                    agreed = float(spearmanr(truth, said).statistic) if np.ptp(said) > 0 else 0.0
                    scores[way, kind].append(agreed)
                if how != "held" and (agreement := over[kind, row].agreement) is not None and math.isfinite(agreement):
                    scores["told", kind].append(agreement)
            found |= {f"{part}, {way}: {kind}": float(np.mean(of)) for (way, kind), of in scores.items()}
    near = []
    for _, influence in why.values():
        chosen = np.argsort(-np.abs(influence.values), kind="stable")[: 4 * LEFT_OUT : 4]
        exact = influence.exact(chosen)
        removals = influence.removals[chosen]
        some = np.abs(exact) > max(1e-3 * np.abs(exact).max(), 1e-12)
        near += (np.abs(removals[some] / exact[some] - 1) < 0.05).tolist()
    return {**found, "near": float(np.mean(near))}


def found_again(name: str, share: float) -> dict[str, float] | None:
    """Return the average precision with which exchanged labels are found, by way."""
    table = read(name)
    if table is None:
        return None
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.metrics import average_precision_score
    from sklearn.model_selection import cross_val_predict
    from sklearn.neighbors import NearestNeighbors

    random = np.random.default_rng([SEEDS["labels"], int(100 * share)])
    at = len(table.names) - 1
    r = table.variables[at].cardinality
    wrong = random.random(table.n_rows) < share
    columns = [np.array(column) for column in table.codes]
    columns[at][wrong] = (columns[at][wrong] + random.integers(1, r, np.count_nonzero(wrong))) % r
    spoiled = fn.Table(table.variables, columns)
    labels = columns[at].astype(int)
    features = np.concatenate(
        [column[:, None] == np.arange(v.cardinality) for v, column in zip(table.variables[:at], columns, strict=False)],
        axis=1,
    ).astype(float)

    def precision(suspicion: Array) -> float:
        return float(average_precision_score(wrong, suspicion))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        forest = RandomForestClassifier(200, random_state=0)
        probabilities = cross_val_predict(forest, features, labels, cv=5, method="predict_proba")
    place = np.searchsorted(np.unique(labels), labels)
    near = NearestNeighbors(n_neighbors=NEIGHBOURS + 1).fit(features).kneighbors(features, return_distance=False)
    ours = fn.explain.mislabelled(spoiled, table.names[at])
    return {
        "explain.mislabelled": precision(-ours.own),
        "self-influence": precision(ours.self_influence),
        "confident learning": precision(-probabilities[np.arange(len(labels)), place]),
        "nearest neighbours": precision((labels[near[:, 1:]] != labels[:, None]).mean(axis=1)),
    }


def named(path: str) -> str:
    """Return the short name of a table."""
    return path.rpartition("/")[2].partition(".")[0]


def collected(run: Run, work: Callable[..., Any], tasks: list[tuple[Any, ...]]) -> Iterator[tuple[Any, dict[str, Any]]]:
    """Yield the tasks that have a result, and the result."""
    for task, result in zip(tasks, run.map(work, tasks), strict=True):
        if result is not None:
            yield task, result


def compute(run: Run) -> Iterator[Table]:
    """Ask, fit to parts and exchange labels."""
    asked, parts = run.choose(2, 8), run.repetitions(8, 60)
    names = tables(run)
    results = list(collected(run, scored, [(name, asked, parts) for name in names]))
    for part, how in HOWS:
        rows = [
            [named(task[0]), of["rows"], of["variables"], *(of.get(f"{part}, {how}: {kind}") for kind in KINDS)]
            for task, of in results
        ]
        middle = [mean([row[3 + k] for row in rows if row[3 + k] is not None]) for k in range(len(KINDS))]
        title = f"held-{part.replace(' %', '')}" if how == "held" else how.replace(" ", "-")
        yield Table(title, ["table", "rows", "variables", *KINDS], [*rows, ["all", None, None, *middle]], ".3f")
    single = [[named(task[0]), of["rows"], of["near"], 1000 * of["seconds"]] for task, of in results]
    yield Table("single", ["table", "rows", "within 5 %", "ms an answer"], single, ".3f")
    exchanged = [(name, share) for name in names for share in SHARES]
    of_labels = list(collected(run, found_again, exchanged))
    ways = list(of_labels[0][1]) if of_labels else []
    rows = [[named(name), share, *(of[way] for way in ways)] for (name, share), of in of_labels]
    yield Table("labels", ["table", "exchanged", *ways], rows, ".3f")


if __name__ == "__main__":
    main("influence", compute, seeds=SEEDS, about=__doc__, takes=TAKES)
