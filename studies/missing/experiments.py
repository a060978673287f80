"""Networks learned of tables with hidden cells, and of tables that lack cells by themselves."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import fishernet as fn
from studies import figures
from studies.missing.holes import MECHANISMS, Mechanism, hidden_anywhere, with_holes
from studies.missing.ways import GIVEN_GRAPH, WAYS, filled_by_mode, plain, share_wrong
from studies.study import Array, Run, Seeds, Table, mean

SEEDS = Seeds({"holes": 5101, "folds": 5102})
ROWS = {"alarm": 2_000, "insurance": 2_000, "nursery": 5_000}
TEST = 5_000  # complete rows that networks are judged by
SHARES = (5, 10, 20, 40)  # percentages
GRAPHS = ["complete", *WAYS]
PARAMETERS = ["complete", *GIVEN_GRAPH]
FILLED = ["mode of the column", *(name for name in WAYS if name != "mode"), "true network"]
NAN = float("nan")


@cache
def network(name: str, path: Path | None) -> fn.BayesianNetwork | None:
    """Return a network; None for a table."""
    if name == "nursery":
        return None
    found = fn.datasets.load(name) if path is None else fn.load(path)
    assert isinstance(found, fn.BayesianNetwork)
    return found


def rows_of(name: str, path: Path | None, n: int, rng: np.random.Generator) -> tuple[fn.Table, fn.Table]:
    """Return complete rows to learn from, and others to judge by."""
    truth = network(name, path)
    if truth is not None:
        return truth.sample(n, seed=rng), truth.sample(TEST, seed=rng)
    table = fn.datasets.load("nursery")
    order = rng.permutation(table.n_rows)
    return table[order[:n]], table[order[n : n + TEST]]


def judged(
    name: str, path: Path | None, n: int, mechanism: Mechanism, share: int, repetition: int
) -> dict[str, list[float]]:
    """Return what each way loses on one table: distances, losses with either graph, and wrong cells.

    A loss is how far, in nats a row, the log-probability of other rows is below that under the network that the
    complete table gives. The distance is to the true graph, or that of the complete table where there is none.
    """
    rng = np.random.default_rng([SEEDS["holes"], *name.encode(), MECHANISMS.index(mechanism), share, repetition])
    table, test = rows_of(name, path, n, rng)
    holes = with_holes(table, mechanism, share / 100, rng)
    truth = network(name, path)
    whole = plain(table)
    dag = truth.dag if truth is not None else whole.dag
    learned = {"complete": whole} | {way: learn(holes) for way, learn in WAYS.items()}
    fitted = {"complete": plain(table, dag)} | {way: fit(holes, dag) for way, fit in GIVEN_GRAPH.items()}
    filling = {way: learned[way] for way in WAYS if way != "mode"} | {"true network": truth}
    wrong = {way: wrong_cells(net, holes, table) for way, net in filling.items()}
    wrong["mode of the column"] = share_wrong(filled_by_mode(holes), holes, table)
    return {
        "distance": [NAN if net is None else float(fn.shd(net.dag, dag)) for net in map(learned.get, GRAPHS)],
        "arcs": [NAN if net is None else float(net.dag.n_edges) for net in map(learned.get, GRAPHS)],
        "loss": losses(learned, GRAPHS, test),
        "loss of parameters": losses(fitted, PARAMETERS, test),
        "wrong": [wrong[way] for way in FILLED],
    }


def losses(nets: Mapping[str, fn.BayesianNetwork | None], ways: Sequence[str], test: fn.Table) -> list[float]:
    """Return the mean log-probability of the complete table's network, and how far the others are below it."""
    found = np.array([NAN if (net := nets[way]) is None else net.log_prob(test).mean() for way in ways])
    return [float(found[0]), *(found[0] - found[1:]).tolist()]


def wrong_cells(net: fn.BayesianNetwork | None, holes: fn.Table, table: fn.Table) -> float:
    """Return the share of hidden cells that the network fills in wrongly."""
    return NAN if net is None else share_wrong(fn.infer.impute(net, holes), holes, table)


def hidden(run: Run) -> Iterator[Table]:
    """Hide cells of tables that are known whole."""
    paths = {"alarm": None, "insurance": run.file("networks", "insurance.bif.gz"), "nursery": None}
    names = [name for name in ROWS if name != "insurance" or paths[name] is not None]
    repetitions = run.repetitions(quick=1, usual=10)
    shares = run.choose((20,), SHARES)
    sizes = {name: run.choose(500, ROWS[name]) for name in names}
    places = [(name, mechanism, share) for name in names for mechanism in MECHANISMS for share in shares]
    tasks = [(name, paths[name], sizes[name], *at, r) for name, *at in places for r in range(repetitions)]
    found = list(run.map(judged, tasks))
    run.settings["rows"] = sizes
    of_place = {at: found[k * repetitions : (k + 1) * repetitions] for k, at in enumerate(places)}

    def table(title: str, key: str, columns: Sequence[str], form: str) -> Table:
        rows = []
        for at, of in of_place.items():
            values: Array = np.array([one[key] for one in of])
            rows.append([*at, *(mean(column, usual=repetitions) for column in values.T)])
        return Table(title, ["table", "mechanism", "% hidden", *columns], rows, form)

    yield table("distances", "distance", GRAPHS, ".1f")
    yield table("arcs", "arcs", GRAPHS, ".1f")
    yield table("losses", "loss", GRAPHS, ".3f")
    yield table("parameters", "loss of parameters", PARAMETERS, ".3f")
    yield table("imputation", "wrong", FILLED, ".3f")


# ------------------------------------------------------------------------------------ tables with holes of their own

REAL = ("vote", "primary-tumor", "soybean")
FOLDS, HIDE = 10, 0.1
REAL_WAYS = ["empty graph", *WAYS]


@cache
def read(path: Path) -> fn.Table:
    """Return a table of labels."""
    return fn.read_table(path)


def fold(path: Path, repetition: int, k: int) -> dict[str, list[float]]:
    """Return, of the rows of one fold, the mean log-probability of what is known, and wrong cells among more hidden."""
    table = read(path)
    order = np.random.default_rng([SEEDS["folds"], repetition]).permutation(table.n_rows)
    test, train = table[order[k::FOLDS]], table[np.delete(order, np.s_[k::FOLDS])]
    holes = hidden_anywhere(test, HIDE, np.random.default_rng([SEEDS["folds"], repetition, k]))
    nets: dict[str, fn.BayesianNetwork | None] = {
        "empty graph": fn.learn.parameters(fn.Dag.from_edges(table.names, []), train)
    }
    nets |= {way: learn(train) for way, learn in WAYS.items()}
    known = {way: NAN if net is None else float(net.log_prob(test).mean()) for way, net in nets.items()}
    wrong = {
        way: NAN if net is None else wrong_known(fn.infer.impute(net, holes), holes, test) for way, net in nets.items()
    }
    return {"known": [known[way] for way in REAL_WAYS], "wrong": [wrong[way] for way in REAL_WAYS]}


def wrong_known(filled: fn.Table, holes: fn.Table, rows: fn.Table) -> float:
    """Return the share of wrong cells among those that were hidden and had been known."""
    wrong, cells = 0, 0
    for variable, guessed, there, now in zip(rows.variables, filled.codes, rows.codes, holes.codes, strict=True):
        added = variable.missing(now) & ~variable.missing(there)
        wrong += int((guessed[added] != there[added]).sum())
        cells += int(added.sum())
    return wrong / cells if cells else NAN


def real(run: Run) -> Iterator[Table]:
    """Learn from tables that lack cells by themselves."""
    paths = {name: run.file("uci", f"{name}.csv") for name in REAL}
    there = {name: path for name, path in paths.items() if path is not None and run.choose(name == "vote", True)}
    places = [(r, k) for r in range(run.choose(1, 3)) for k in range(run.choose(2, FOLDS))]
    last = WAYS_AT["structural EM"]
    facts, rows = [], []
    for name, path in there.items():
        table = read(path)
        lacks = sum(table.missing_counts().values())
        facts.append(
            [
                name,
                table.n_rows,
                len(table.names),
                lacks / (table.n_rows * len(table.names)) * 100,
                table.drop_missing().n_rows,
            ]
        )
        found = list(run.map(fold, [(path, *at) for at in places]))
        known, wrong = (np.array([one[key] for one in found]) for key in ("known", "wrong"))
        for k, way in enumerate(REAL_WAYS):
            pair = None if k == last else mean(known[:, k] - known[:, last])
            rows.append([name, way, mean(known[:, k]), pair, mean(wrong[:, k])])
    if there:
        yield Table("real-tables", ["table", "rows", "columns", "% missing", "complete rows"], facts, ".1f")
        heads = ["table", "way", "log P of known cells", "less that of structural EM", "share wrong"]
        yield Table("real", heads, rows, [".3f", ".3f", ".3f", "+.3f", ".3f"])


WAYS_AT = {way: k for k, way in enumerate(REAL_WAYS)}


def experiments(run: Run) -> Iterator[Table]:
    yield from hidden(run)
    yield from real(run)


# ------------------------------------------------------------------------------------------------------ figures

LOOKS: dict[str, Mapping[str, Any]] = {
    "drop rows": {"color": "#6B6B00", "marker": "v", "linestyle": (0, (1, 1))},
    "own state": {"color": "#0A6E4F", "marker": "s", "linestyle": (0, (5, 2, 1, 2))},
    "mode": {"color": "#7A3E9D", "marker": "D", "linestyle": (0, (3, 1, 1, 1, 1, 1))},
    "available cases": {"color": "#606060", "marker": "P", "linestyle": ":"},
    "node-average": {"color": "#B04300", "marker": "^", "linestyle": "--"},
    "structural EM": {"color": "#00528A", "marker": "o", "linestyle": "-"},
    "EM": {"color": "#00528A", "marker": "o", "linestyle": "-"},
    "complete": {"color": "#000000", "marker": "", "linestyle": (0, (6, 3))},
}
"""Dark enough to be read on white (a contrast of 4.5), and told apart by markers and dashes without their colours."""
NAMES = {"MCAR": "completely at random", "MAR": "at random", "MNAR": "not at random"}


def draw(tables: Mapping[str, Table], path: Callable[[str], Path]) -> None:
    """Draw losses, distances and wrong cells by the share that is hidden."""

    def panels(of: Table, ways: Sequence[str]) -> dict[str, list[figures.Line]]:
        found = {}
        for name, mechanism in dict.fromkeys((row[0], row[1]) for row in of.rows):
            rows = of.select(table=name, mechanism=mechanism)
            x = [row["% hidden"] for row in rows]
            lines = [figures.Line(way, x, [row[way] for row in rows], LOOKS[way]) for way in ways]
            found[f"{name}, {NAMES[mechanism]}"] = lines
        return found

    x = "% of cells hidden"
    shown = [way for way in WAYS if way not in ("drop rows", "available cases")]
    figures.lines(path("losses"), panels(tables["losses"], shown), x=x, y="loss, nats a row")
    distances = panels(tables["distances"], ["complete", *shown])
    figures.lines(path("distances"), distances, x=x, y="structural Hamming distance")
