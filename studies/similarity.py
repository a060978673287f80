"""The Fisher kernel beside other similarities of categorical rows: ``python -m studies.similarity``.

Tables with a class are cut into folds. A similarity is fitted to the training rows without their class, and is asked
which rows are alike: by the classes of the nearest training rows, by a support vector machine, and by how far rows of a
class that was not there in training are from those that were. The baselines are those of Boriah, Chandola and Kumar
(2008), and ConDist (Ring et al., 2015), which sees pairs of columns. Tables with numbers are asked again with the
numbers as they come, beside Gower's coefficient (1971) and Euclid's distance.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from scipy.stats import rankdata
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import roc_auc_score
from sklearn.model_selection import StratifiedKFold, train_test_split
from sklearn.svm import SVC

import fishernet as fn
from fishernet.base.vocabulary import SimilarityName
from fishernet.kernels import AgreementKernel, FisherKernel, HiddenVariableKernel, Normalized, Similarity
from studies import figures
from studies.study import Array, Run, Seeds, Table, errors_apart, main, mean

Ints = npt.NDArray[np.int64]

ALL = "rows, folds and inner splits"
SEEDS = Seeds({ALL: 2015})
TAKES = "in processor time --quick 18 s, usual 5 minutes"
FOLDS, BINS, LEAST_ROWS, NEIGHBOURS = 5, 4, 10, 5
COSTS = (1.0, 10.0, 100.0)
LEFT_OUT = 3  # classes of a table that are left out in turn, the largest
SHIPPED = "nursery"
SMALL = ("zoo", "iris", "lymph", "wine")
NAMES = (
    "balance-scale", "breast-cancer", "breast-w", "car", "cmc", "credit-g", "dermatology", "diabetes-pima", "ecoli",
    "glass", "hepatitis", "ionosphere", "iris", "kr-vs-kp", "lymph", "mushroom", "nursery", "pendigits",
    "primary-tumor", "segment", "soybean", "tic-tac-toe", "vehicle", "vote", "waveform-5000", "wine", "yeast", "zoo",
)  # fmt: skip
MEASURES: tuple[SimilarityName, ...] = (
    "overlap", "eskin", "iof", "of", "goodall1", "goodall3", "goodall4", "lin", "condist",
)  # fmt: skip
NO_ARCS, TREE, DISTANCE, COSINE, BY_COLUMN = "no arcs", "tree", "Fisher", "Fisher cosine", "by column"
AGREEMENT, REDRAWN = "agreement", "agreement, p = 1/2"
WITH_CLASS, LOG = "with class", "-log P"
VALUE, ITSELF = "value difference", "the classifier itself"
METHODS = (*MEASURES, NO_ARCS, TREE, DISTANCE, COSINE, BY_COLUMN, AGREEMENT, REDRAWN)  # that see no class, in all tasks
OF_NUMBERS = ("Gower", "Gower by rank", "Euclid", COSINE, AGREEMENT, REDRAWN)
TASKS = {
    "nearest": "nearest neighbour",
    "five-nearest": "five nearest neighbours",
    "machine": "support vector machine",
    "one-class": "a new class",
}


class Fold(NamedTuple):
    """A table of features with its classes, and which rows are trained on."""

    rows: fn.Table
    classes: Ints
    train: Ints
    test: Ints


@cache
def read_table(name: str, path: Path | None, most: int, *, numbers: bool = False) -> tuple[fn.Table, Ints]:
    """Return at most so many rows of features, in random order, and their classes; of classes with enough rows.

    Numbers are cut and missing cells a state, or both are as they come.
    """
    if path is None:
        table = fn.datasets.load(name)
        assert isinstance(table, fn.Table)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", fn.FishernetWarning)  # an id of the rows is left out
            as_states: dict[str, Any] = {} if numbers else {"bins": BINS, "missing": "state"}
            table = fn.read_table(path, categorical=["class"], **as_states)
    target = "class" if "class" in table.names else table.names[-1]
    chosen = np.random.default_rng(SEEDS[ALL]).permutation(len(table))[:most]
    table = table[chosen]
    classes = table.column(target).astype(np.int64)
    enough = np.bincount(classes)[classes] >= LEAST_ROWS
    features = [column for column in table.names if column != target]
    return table.select(features)[enough], np.unique(classes[enough], return_inverse=True)[1]


def fold_of(name: str, path: Path | None, most: int, k: int) -> Fold:
    return folded(*read_table(name, path, most), k)


def folded(rows: fn.Table, classes: Ints, k: int) -> Fold:
    splits = StratifiedKFold(FOLDS, shuffle=True, random_state=SEEDS[ALL]).split(classes, classes)
    train, test = list(splits)[k]
    return Fold(rows, classes, train, test)


class ByColumn:
    """The mean over the columns of the cosines of what each adds to a Fisher kernel."""

    def __init__(self, kernel: FisherKernel) -> None:
        self.kernel = kernel

    def features(self, X: fn.Table) -> Any:
        """Return the Fisher kernel's features, those of each column of length 1."""
        found, parts = self.kernel.features(X).tocsr(), self.kernel.feature_parts
        assert parts is not None
        n_columns = len(parts.names)
        block = np.repeat(np.arange(len(X)) * n_columns, np.diff(found.indptr)) + parts.variable_of[found.indices]
        lengths = np.sqrt(np.bincount(block, weights=found.data**2, minlength=1))[block]
        found.data = np.divide(found.data, lengths, out=np.zeros_like(found.data), where=lengths > 0)
        return found / np.sqrt(n_columns)

    def __call__(self, X: fn.Table, Y: fn.Table | None = None) -> Array:
        """Return the kernel of all pairs, (n, m)."""
        x = self.features(X)
        values: Array = (x @ (x if Y is None else self.features(Y)).T).toarray()
        return values

    def diag(self, X: fn.Table) -> Array:
        """Return the kernel of each row with itself, (n,): 1 where every column has a direction."""
        return np.asarray(self.features(X).power(2).sum(axis=1)).ravel()


def learned(rows: fn.Table) -> fn.BayesianNetwork:
    return fn.learn.bayesian_network(rows)


def without_arcs(rows: fn.Table) -> fn.BayesianNetwork:
    return fn.learn.parameters(fn.Dag.from_edges(rows.names, []), rows)


def tree(rows: fn.Table) -> fn.BayesianNetwork:
    return fn.learn.parameters(fn.learn.chow_liu(rows), rows)


def with_class(fold: Fold) -> fn.BayesianNetwork:
    """Return the classifier of the training rows in which a column depends on the class and one other."""
    n_classes = int(fold.classes.max()) + 1
    classes = fn.Variable("the class", list(range(n_classes)))
    rows = fold.rows[fold.train]
    table = fn.Table.from_codes(np.column_stack([*rows.codes, fold.classes[fold.train]]), [*rows.variables, classes])
    return fn.learn.parameters(fn.learn.kdb(table, classes.name, k=1), table)


def kernels_of(train: fn.Table) -> tuple[dict[str, Any], fn.BayesianNetwork]:
    """Return every similarity that sees no class, fitted to some rows, and the network."""
    network = learned(train)
    made: dict[str, Any] = {measure: Similarity(train, measure) for measure in MEASURES}
    made[NO_ARCS] = Normalized(FisherKernel(without_arcs(train)))
    made[TREE] = Normalized(FisherKernel(tree(train)))
    made[DISTANCE] = FisherKernel(network)
    made[COSINE] = Normalized(made[DISTANCE])
    made[BY_COLUMN] = ByColumn(made[DISTANCE])
    made[AGREEMENT] = Normalized(AgreementKernel(network))
    made[REDRAWN] = Normalized(AgreementKernel(network, redrawn=0.5))
    return made, network


def alike(kernel: Any, name: str, X: fn.Table, Y: fn.Table) -> Array:
    """Return how alike rows are: by the kernel's distance for the plain Fisher kernel, otherwise by its value."""
    values: Array = kernel(X, Y)
    if name == DISTANCE:
        values = 2 * values - kernel.diag(X)[:, None] - kernel.diag(Y)
    return values.round(9)  # rounding must not decide between rows that are equally alike


class ValueDifference:
    """Minus the squared distance of what the classes are distributed as given each cell (Stanfill and Waltz, 1986).

    Of each state the classes' counts among the rows of training, one added to each.
    """

    def __init__(self, rows: fn.Table, classes: Ints, n_classes: int) -> None:
        self.shares = []
        for variable, codes in zip(rows.variables, rows.codes, strict=True):
            counts = np.ones((variable.cardinality, n_classes))
            np.add.at(counts, (codes, classes), 1)
            self.shares.append(counts / counts.sum(axis=1, keepdims=True))

    def __call__(self, X: fn.Table, Y: fn.Table) -> Array:
        """Return how alike rows are, (n, m)."""
        x, y = (np.concatenate([of[c] for of, c in zip(self.shares, Z.codes, strict=True)], axis=1) for Z in (X, Y))
        return np.asarray(2 * x @ y.T - (x**2).sum(axis=1)[:, None] - (y**2).sum(axis=1))


def supervised_fold(name: str, path: Path | None, most: int, k: int) -> dict[str, float]:
    """Return the errors of ways that learn from the classes of the training rows."""
    fold = fold_of(name, path, most, k)
    train, test, y = fold.rows[fold.train], fold.rows[fold.test], fold.classes[fold.train]
    network, target = with_class(fold), fold.classes[fold.test]
    by_network = HiddenVariableKernel(network, ["the class"])
    ways: dict[str, Any] = {
        WITH_CLASS: Normalized(by_network),
        VALUE: ValueDifference(train, y, int(fold.classes.max()) + 1),
    }
    found = {}
    for way, kernel in ways.items():
        nearest = neighbours(kernel(test, train).round(9), NEIGHBOURS)
        found[f"{way}, one"] = float(np.mean(y[nearest[:, 0]] != target))
        found[f"{way}, five"] = float(np.mean(vote(y, nearest) != target))
    answers = np.argmax(network.predict_proba(test, "the class"), axis=1)
    found[ITSELF] = float(np.mean(answers != target))
    return found


def supervised(run: Run, tasks: Sequence[tuple[Any, ...]]) -> Table:
    """Return the errors of ways that see classes, by table."""
    results = list(run.map(supervised_fold, tasks))
    names = list(dict.fromkeys(task[0] for task in tasks))
    folds = [results[at * FOLDS : (at + 1) * FOLDS] for at in range(len(names))]
    rows = {
        name: {way: np.array([100 * fold[way] for fold in of]) for way in of[0]}
        for name, of in zip(names, folds, strict=True)
    }
    return errors_of("supervised", {"supervised": rows}, tuple(results[0]))


def neighbours(values: Array, k: int) -> Ints:
    """Return the positions of the k most alike in each row; the rows are in random order, so ties are drawn."""
    return np.argsort(-values, axis=1, kind="stable")[:, :k]


def vote(classes: Ints, nearest: Ints) -> Ints:
    """Return the class that most of the nearest have; of several, that of the nearest among theirs."""
    votes = np.zeros((len(nearest), int(classes.max()) + 1))
    for place in range(nearest.shape[1]):
        votes[np.arange(len(nearest)), classes[nearest[:, place]]] += 1 + 2.0 ** -(10 + place)
    return np.asarray(votes.argmax(axis=1))


class Gower:
    """Gower's coefficient, over the columns that both rows know; distances of numbers by their range, or by rank.

    With `euclid`, minus the squared distance, numbers in units of their standard deviation.
    """

    def __init__(self, train: fn.Table, way: str) -> None:
        self.train, self.way = train, way

    def __call__(self, X: fn.Table, Y: fn.Table) -> Array:
        """Return how alike rows are, (n, m)."""
        total, known = np.zeros((len(X), len(Y))), np.zeros((len(X), len(Y)))
        for variable in self.train.variables:
            x, y = X.column(variable.name)[:, None], Y.column(variable.name)[None]
            both = ~(variable.missing(x) | variable.missing(y))
            like = self._numbers(variable.name, x, y) if variable.is_continuous else np.asarray(x == y, np.float64)
            total, known = total + np.where(both, like, 0), known + both
        return np.divide(total, known, out=np.zeros_like(total), where=known > 0)

    def _numbers(self, name: str, x: Array, y: Array) -> Array:
        column = self.train.column(name)
        column = np.sort(column[~np.isnan(column)])
        if self.way == "Gower by rank":
            x, y = (
                (np.searchsorted(column, u) + np.searchsorted(column, u, "right")) / 2 / len(column) for u in (x, y)
            )
            return 1 - np.abs(x - y)
        if self.way == "Gower":
            return 1 - np.minimum(np.abs(x - y) / max(float(np.ptp(column)), 1e-300), 1)
        return 1 - ((x - y) / max(float(column.std()), 1e-300)) ** 2 / 2  # of labels that differ 1 is taken off


def numbers_fold(name: str, path: Path | None, most: int, k: int) -> dict[str, dict[str, float]]:
    """Return the errors of neighbours on one fold of a table whose numbers are as they come; none where it has none."""
    rows, classes = read_table(name, path, most, numbers=True)
    if path is None or not any(variable.is_continuous for variable in rows.variables):
        return {}
    fold = folded(rows, classes, k)
    train, test, y = rows[fold.train], rows[fold.test], classes[fold.train]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fn.FishernetWarning)  # columns that are no normal distribution are cut
        network = learned(train)
    kernels: dict[str, Any] = {way: Gower(train, way) for way in OF_NUMBERS[:3]}
    kernels[COSINE] = Normalized(HiddenVariableKernel(network) if rows.has_missing else FisherKernel(network))
    kernels[AGREEMENT] = Normalized(AgreementKernel(network))
    kernels[REDRAWN] = Normalized(AgreementKernel(network, redrawn=0.5))
    found: dict[str, dict[str, float]] = {"nearest": {}, "five-nearest": {}}
    for way, kernel in kernels.items():
        nearest = neighbours(kernel(test, train).round(9), NEIGHBOURS)
        found["nearest"][way] = float(np.mean(y[nearest[:, 0]] != classes[fold.test]))
        found["five-nearest"][way] = float(np.mean(vote(y, nearest) != classes[fold.test]))
    return found


def machine_error(kernel: Any, fold: Fold) -> float:
    """Return the error of a support vector machine whose cost is chosen by a quarter of the training rows."""
    train, y = fold.rows[fold.train], fold.classes
    gram: Array = kernel(train)
    scale = max(float(np.diag(gram).mean()), 1e-12)
    gram, across = gram / scale, kernel(fold.rows[fold.test], train) / scale
    places = np.arange(len(train))
    y_train = y[fold.train]
    inner, held = train_test_split(places, test_size=0.25, stratify=y_train, random_state=SEEDS[ALL])
    found = []
    for cost in COSTS:
        fitted = machine(cost).fit(gram[np.ix_(inner, inner)], y_train[inner])
        found.append(float(np.mean(fitted.predict(gram[np.ix_(held, inner)]) != y_train[held])))
    fitted = machine(COSTS[int(np.argmin(found))]).fit(gram, y_train)
    return float(np.mean(fitted.predict(across) != y[fold.test]))


def machine(cost: float) -> Any:
    return SVC(C=cost, kernel="precomputed", max_iter=100_000)


def classify(fold: Fold) -> dict[str, dict[str, float]]:
    """Return the errors of each method."""
    train, test = fold.rows[fold.train], fold.rows[fold.test]
    kernels, _ = kernels_of(train)
    kernels[WITH_CLASS] = Normalized(HiddenVariableKernel(with_class(fold), ["the class"]))
    y_train, y_test = fold.classes[fold.train], fold.classes[fold.test]
    found: dict[str, dict[str, float]] = {task: {} for task in TASKS}
    for name, kernel in kernels.items():
        nearest = neighbours(alike(kernel, name, test, train), NEIGHBOURS)
        found["nearest"][name] = float(np.mean(y_train[nearest[:, 0]] != y_test))
        found["five-nearest"][name] = float(np.mean(vote(y_train, nearest) != y_test))
        found["machine"][name] = machine_error(kernel, fold)
    return found


def new_classes(fold: Fold) -> dict[str, float]:
    """Return 1 - the area under the ROC curve of each method, the mean over the classes that are left out."""
    sizes = np.bincount(fold.classes)
    largest = [int(c) for c in np.argsort(-sizes, kind="stable")[:LEFT_OUT] if sizes[c] >= 2 * FOLDS]
    test, new = fold.rows[fold.test], fold.classes[fold.test]
    found: dict[str, list[float]] = {}
    for left_out in largest:
        train = fold.rows[fold.train[fold.classes[fold.train] != left_out]]
        kernels, network = kernels_of(train)
        strange = {LOG: -network.log_prob(test)}
        for name, kernel in kernels.items():
            values = alike(kernel, name, test, train)
            strange[name] = -np.sort(values, axis=1)[:, -NEIGHBOURS:].mean(axis=1)
        for name, scores in strange.items():
            found.setdefault(name, []).append(1 - float(roc_auc_score(new == left_out, scores)))
    return {name: float(np.mean(values)) for name, values in found.items()}


def one_fold(name: str, path: Path | None, most: int, k: int) -> dict[str, dict[str, float]]:
    """Return what every task says of every method, on one fold of a table."""
    fold = fold_of(name, path, most, k)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # of machines on matrices that are no kernel's
        return {**classify(fold), "one-class": new_classes(fold)}


Errors = Mapping[str, Mapping[str, Mapping[str, Array]]]  # by task, table and method, (folds,) in percent


def columns_of(task: str) -> tuple[str, ...]:
    return (*METHODS, LOG if task == "one-class" else WITH_CLASS)


def errors_of(task: str, errors: Errors, ranked: Sequence[str] = METHODS) -> Table:
    """Return the errors on every table, their means and the average ranks of the methods that see no class."""
    names = columns_of(task) if ranked is METHODS else ranked
    of_tables = errors[task]
    rows: list[list[Any]] = [[table, *(mean(found[name]) for name in names)] for table, found in of_tables.items()]
    means = np.array([[found[name].mean() for name in names] for found in of_tables.values()])
    rows.append(["mean", *means.mean(axis=0).tolist()])
    ranks = average_ranks(means[:, : len(ranked)])
    rows.append(["average rank", *ranks.tolist(), *[None] * (len(names) - len(ranked))])
    return Table(task, ["table", *names], rows, ".1f", best=True)


def average_ranks(means: Array) -> Array:
    """Return the mean rank of each column over the rows, the least first; ties share the mean of theirs."""
    return np.asarray(rankdata(means.round(9), method="average", axis=1).mean(axis=0))


def beyond(differences: Array) -> int:
    """Return 1 or -1 where the mean of paired differences is above or below 0 beyond chance (5 %), else 0."""
    n = len(differences)
    least = errors_apart(n) * differences.std(ddof=1) / np.sqrt(n)
    return int(np.sign(differences.mean())) if abs(differences.mean()) > max(least, 1e-9) else 0


def pairs_of(errors: Errors, against: str) -> Table:
    """Return what each method's error is above one of the Fisher kernel's, over the tables."""
    rows = []
    for task, of_tables in errors.items():
        for name in columns_of(task):
            if name == against:
                continue
            differences = [found[name] - found[against] for found in of_tables.values()]
            signs = [beyond(one) for one in differences]
            cell = mean([one.mean() for one in differences])
            rows.append([TASKS[task], name, cell, signs.count(1), signs.count(-1), signs.count(0)])
    heads = ["task", "method", "its error above", "it is worse on", "better on", "neither on"]
    return Table("pairs", heads, rows, ".1f")


def compute(run: Run) -> Iterator[Table]:
    """Ask all methods in all folds."""
    most = run.choose(200, 1_500, 2_000)
    run.settings["rows of a table at most"] = most
    chosen = run.choose(SMALL, NAMES)
    files = {name: run.file("uci", f"{name}.csv") or run.file("uci", f"{name}.csv.gz") for name in chosen}
    there: dict[str, Path | None] = {name: path for name, path in files.items() if path is not None}
    there = there or {SHIPPED: None}
    tasks = [(name, path, most, k) for name, path in there.items() for k in range(FOLDS)]
    results = list(run.map(one_fold, tasks))
    errors: dict[str, dict[str, dict[str, Array]]] = {task: {} for task in TASKS}
    described: list[list[Any]] = []
    for at, name in enumerate(there):
        folds = results[at * FOLDS : (at + 1) * FOLDS]
        for task in TASKS:
            found = {method: np.array([100 * fold[task][method] for fold in folds]) for method in columns_of(task)}
            errors[task][name] = found
        rows, classes = read_table(name, there[name], most)
        arcs = learned(rows).dag.n_edges
        sizes = [variable.cardinality for variable in rows.variables if not variable.is_continuous]
        described.append([name, len(rows), len(rows.names), sum(sizes), int(classes.max()) + 1, arcs])
    yield Table("tables", ["table", "rows", "columns", "states in all", "classes", "arcs"], described)
    for task in TASKS:
        yield errors_of(task, errors)
    yield pairs_of(errors, COSINE)
    yield supervised(run, tasks)
    of_numbers = list(run.map(numbers_fold, tasks))
    for task in ("nearest", "five-nearest"):
        rows_of: dict[str, dict[str, Array]] = {}
        for at, name in enumerate(there):
            folds = [fold for fold in of_numbers[at * FOLDS : (at + 1) * FOLDS] if fold]
            if folds:
                rows_of[name] = {way: np.array([100 * fold[task][way] for fold in folds]) for way in OF_NUMBERS}
        if rows_of:
            yield errors_of(f"numbers-{task}", {f"numbers-{task}": rows_of}, OF_NUMBERS)


def draw(tables: Mapping[str, Table], path: Callable[[str], Path]) -> None:
    """Draw the mean differences from the Fisher kernel's cosine."""
    names = [name for name in METHODS if name != COSINE]

    def cells(task: str) -> dict[str, Any]:
        found = {row["method"]: row["its error above"] for row in tables["pairs"].select(task=TASKS[task])}
        return {name: found[name] for name in names}

    panels = {TASKS[task]: {"mean over tables": cells(task)} for task in ("nearest", "machine", "one-class")}
    figures.dots(path("pairs"), panels, x="error above the Fisher cosine's, points", line=0.0)


if __name__ == "__main__":
    main("similarity", compute, draw, seeds=SEEDS, about=__doc__, takes=TAKES)
