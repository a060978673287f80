"""What a report says of a table and its network: computed here by the library's own functions, shown elsewhere.

What costs a pass over the rows is found on all of them; what learns, selects or tests many times on a sample of them,
whose size the page says. What cannot be found for a table (rows too few, a model without conditionals) is left out, and
a sentence stands in its place.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FishernetError, SchemaError, telling_once
from fishernet.base.names import a, listed, positions, several
from fishernet.base.progress import Progress, Reporter
from fishernet.compare import (
    ChangeResult,
    FalsifyResult,
    TwoSampleResult,
    explain_change,
    falsify,
    two_sample_test,
)
from fishernet.data import Table
from fishernet.data.encoding.dates import date_texts
from fishernet.data.options import AUTO
from fishernet.data.pooling import pooled
from fishernet.explain import mislabelled
from fishernet.graphs import Dag
from fishernet.graphs.graph import graph_of
from fishernet.infer import predict_proba
from fishernet.kernels.fisher.hidden_variables import row_kernel
from fishernet.learn import Likelihood, PredictionQuality, bayesian_network, cross_validate, edge_strengths, hold_out
from fishernet.learn.cross_validation import error_of_mean
from fishernet.models.model import is_directed
from fishernet.scores import local_score
from fishernet.select import greedy_mmd

Floats = npt.NDArray[np.float64]

MOST_PAIRS = 2_000  # whose independence is tested
ROWS_LEARNED = 10_000  # of a sample that structures are learned from
ROWS_USUAL = 2_000  # by which the mean density of a column is found
ROWS_SELECTED = 20_000  # of one that rows are selected from, predicted in, or compared by
FEW_VARIABLES = 60  # of more, structures take long
SAMPLES, FEWER_SAMPLES = 50, 20  # of the bootstrap
FOLDS, FEWER_FOLDS = 5, 3
HELD_OUT = 0.25
ODD_ROWS, ODD_CELLS, STANDING_ROWS = 10, 3, 8
DOUBTFUL_ROWS, DOUBTFUL = 8, 0.05  # and the part of the largest probability below which a label is in doubt
PERMUTATIONS = 499


@dataclass(frozen=True)
class Edge:
    """How sure one edge of the network is."""

    one: str
    other: str
    gain: float | None
    """What the score of all rows (BIC) loses without it, in nats."""
    strength: float
    """The share of networks learned from bootstrap samples that join the two."""
    direction: float
    """The share of these in which it points as here; reversible ones count half."""


@dataclass(frozen=True)
class Certainty:
    """How sure the edges are, the surest first."""

    edges: tuple[Edge, ...]
    n_samples: int
    n_rows: int


@dataclass(frozen=True)
class HeldOut:
    """How probable rows are that were held out, in nats per row: of numbers, by searches without restarts."""

    mean: float
    error: float
    gain: float
    """By how much that is more than where columns are taken as independent."""
    gain_error: float
    folds: int
    n_rows: int


@dataclass(frozen=True)
class OddCell:
    """A cell that is rare given its row."""

    name: str
    state: Any
    log_prob: float
    """Its share of the row's log-probability: that of the cell given its parents."""
    below: float | None
    """Of a number: by how much that is below the mean of its column, in nats; densities depend on units."""


@dataclass(frozen=True)
class OddRow:
    """A row of low probability, and the cells that make it so."""

    row: int
    log_prob: float
    cells: tuple[OddCell, ...]


@dataclass(frozen=True)
class Standing:
    """Rows that stand for the table."""

    rows: Table
    indices: tuple[int, ...]
    stands_for: tuple[float, ...]
    """The share of the rows that each is nearest to."""
    n_rows: int
    """From how many they were chosen."""


@dataclass(frozen=True)
class Doubtful:
    """A row whose label is not what the other columns say."""

    row: int
    """Its position in the table."""
    label: Any
    probability: float
    """Of the label given the row's other cells, by networks that know all rows but this one."""
    rather: Any
    """The most probable label."""


@dataclass(frozen=True)
class Prediction:
    """How well a target is predicted from the other columns, on rows held out."""

    target: str
    blanket: tuple[str, ...]
    quality: PredictionQuality | None
    baseline: PredictionQuality | None
    """That of the shares of the states alone."""
    error: float | None
    """Of numbers: the root mean square error."""
    spread: float | None
    """Of numbers: their standard deviation."""
    n_rows: int
    held_out: bool
    """Whether the network that predicts was learned from other rows."""
    states: tuple[tuple[Any, float, float], ...] = ()
    """Each state, its share of the rows, and the share of its rows that were predicted right."""
    doubtful: tuple[Doubtful, ...] = ()
    """Rows whose label is least probable, of at most `ROWS_SELECTED`."""


@dataclass(frozen=True)
class Change:
    """What changed between two tables."""

    test: TwoSampleResult
    change: ChangeResult
    n_rows: tuple[int, int]
    n_compared: tuple[int, int]


@dataclass(frozen=True)
class Findings:
    """All that a report says, apart from the page's own inference."""

    original: Table
    """As it was given."""
    table: Table
    """With the variables of the model."""
    model: Any
    learned: bool
    """Whether the model was learned from the table for the report."""
    cut: tuple[str, ...]
    """Columns of numbers that were cut into bins for it."""
    likelihood: Likelihood | None
    certainty: Certainty | None
    beyond: FalsifyResult | None
    held_out: HeldOut | None
    odd: tuple[OddRow, ...] | None
    standing: Standing | None
    prediction: Prediction | None
    change: Change | None
    left_out: Mapping[str, str]
    """Why what is None could not be found, by the name of its field."""
    seed: int


@dataclass(frozen=True)
class Material:
    """What findings are found of: a table, its model, and a sample of its rows."""

    table: Table
    model: Any
    learned: bool
    seed: int
    names_rows: bool = True
    """Whether findings may be about single rows."""

    def sample(self, most: int) -> Table:
        """Return at most so many rows, in their order; all where they are no more."""
        return sample_of(self.table, most, self.seed)

    def sampled(self, most: int) -> npt.NDArray[np.int64]:
        """Return where the rows of a sample stand in the table."""
        return _drawn(self.table.n_rows, most, self.seed)

    @property
    def way(self) -> dict[str, Any]:
        """How structures are learned from it: as usual where there are not too many variables for doing so often."""
        few = len(self.table.variables) <= FEW_VARIABLES
        return {"search": "order" if few else "hill-climb"} | self.for_missing

    @property
    def for_missing(self) -> dict[str, Any]:
        """How structures are learned where cells are missing: by a score made for that."""
        missing = self.table.has_missing and not all(v.is_continuous for v in self.table.variables)
        return {"missing": "node-average"} if missing else {}


def sample_of(table: Table, most: int, seed: int) -> Table:
    """Return at most so many rows of a table, in their order; all where they are no more."""
    return table if table.n_rows <= most else table[_drawn(table.n_rows, most, seed)]


def _drawn(n_rows: int, most: int, seed: int) -> npt.NDArray[np.int64]:
    if n_rows <= most:
        return np.arange(n_rows)
    return np.sort(np.random.default_rng(seed).choice(n_rows, most, replace=False))


def find(
    original: Table,
    material: Material,
    *,
    cut: tuple[str, ...],
    target: str | None,
    compare_with: Table | None,
    progress: Progress | None,
) -> Findings:
    """Return all findings; each is asked for once, and its error stands in its place."""
    parts: dict[str, Callable[[], Any]] = {
        "likelihood": lambda: Likelihood.of(_exact(material.model, "a likelihood"), material.table),
        "certainty": lambda: _certainty(material),
        "beyond": lambda: _beyond(material),
        "held_out": lambda: _held_out(material),
        "odd": lambda: _odd_rows(material),
        "standing": lambda: _standing(material),
        "prediction": lambda: None if target is None else _prediction(material, target),
        "change": lambda: None if compare_with is None else _change(material, compare_with),
    }
    reporter = Reporter(progress, "writing the report")
    found: dict[str, Any] = {}
    left_out: dict[str, str] = {}
    warned: set[Any] = set()
    for number, (name, part) in enumerate(parts.items()):
        reporter.step(number, len(parts))
        try:
            with telling_once(warned):
                found[name] = part()
        except FishernetError as error:
            found[name], left_out[name] = None, str(error)
    reporter.finish(len(parts))
    table, model = material.table, material.model
    return Findings(original, table, model, material.learned, cut, left_out=left_out, seed=material.seed, **found)


def _require_rows(material: Material) -> None:
    if not material.names_rows:
        raise SchemaError("no single row is on this page (rows=False)")


def _exact(model: Any, what: str) -> Any:
    """Return a model with an exact likelihood; SchemaError, which begins with what needs it, of another."""
    if model.likelihood != "exact":
        raise SchemaError(
            f"{what} needs a model with an exact likelihood, such as a Bayesian network, not {a(model.kind)}"
        )
    return model


def dag_of(model: Any) -> Dag | None:
    """Return the graph of a Bayesian network; None of other models."""
    return model.graph if is_directed(model) else None


def _refuse_empty(table: Table, least: int, what: str) -> None:
    if table.n_rows < least:
        raise SchemaError(f"{what} needs at least {several(least, 'row')}; the table has {table.n_rows}")


# ------------------------------------------------------------------------------------------------------------ edges


def _certainty(material: Material) -> Certainty:
    sample = material.sample(ROWS_LEARNED)
    _refuse_empty(sample, 2, "the bootstrap")
    n = SAMPLES if len(sample.variables) <= FEW_VARIABLES else FEWER_SAMPLES
    start = dag_of(material.model)
    found = edge_strengths(sample, n, search="hill-climb", seed=material.seed, start=start, **material.for_missing)
    gains = _gains(material)
    edges = []
    for one, other in edges_of(material.model):
        a, b = positions(found.names, (one, other))
        gain = gains.get((one, other))
        edges.append(Edge(one, other, gain, float(found.strength[a, b]), float(found.direction[a, b])))
    edges.sort(key=lambda edge: (-edge.strength, -(edge.gain or 0.0)))
    return Certainty(tuple(edges), n, sample.n_rows)


def _beyond(material: Material) -> FalsifyResult | None:
    """Return the independences that a Bayesian network implies, as a sample of the rows has them."""
    graph = dag_of(material.model)
    if graph is None:
        return None
    n = len(graph.names) * (len(graph.names) - 1) // 2 - graph.n_edges
    if n > MOST_PAIRS:
        raise SchemaError(f"the network implies {n:,} independences, which are too many for a page")
    return falsify(graph, material.sample(ROWS_LEARNED), permutations=199, seed=material.seed)


def edges_of(model: Any) -> tuple[tuple[str, str], ...]:
    """Return the pairs of names that a model's graph joins, each once; arcs from parent to child."""
    graph = graph_of(model)
    links = graph.links()
    pairs = [
        (v, u) if heads == (True, False) else (u, v) for (u, v), heads in zip(links.pairs, links.heads, strict=True)
    ]
    return tuple((graph.names[u], graph.names[v]) for u, v in pairs)


def _gains(material: Material) -> dict[tuple[str, str], float]:
    """Return what BIC loses without each arc, from all rows; nothing where cells are missing, or numbers."""
    table = material.table
    dag = dag_of(material.model)
    if table.has_missing or dag is None or any(v.is_continuous for v in table.variables):
        return {}
    gains = {}
    for child, of in zip(dag.names, dag.parents, strict=True):
        parents = [dag.names[p] for p in of]
        whole = local_score(table, child, parents) if parents else 0.0
        for parent in parents:
            others = [name for name in parents if name != parent]
            gains[parent, child] = whole - local_score(table, child, others)
    return gains


# --------------------------------------------------------------------------------------------------------- held out


def _held_out(material: Material) -> HeldOut:
    sample = material.sample(ROWS_LEARNED)
    folds = FOLDS if len(sample.variables) <= FEW_VARIABLES else FEWER_FOLDS
    _refuse_empty(sample, 2 * folds, "cross-validation")
    options: dict[str, Any] = {"folds": folds, "seed": material.seed, **material.way}
    numbers = any(variable.is_continuous for variable in sample.variables)  # of which the folds' restarts take minutes
    restarts: dict[str, Any] = {"restarts": 0} if numbers else {}
    found = cross_validate(sample, **options, **restarts)
    apart = cross_validate(sample, max_parents=0, **options | {"search": "hill-climb"})
    gains = found.log_prob - apart.log_prob, found.held_out - apart.held_out
    error = error_of_mean(*gains, sample.weights)
    return HeldOut(found.mean, found.standard_error, found.mean - apart.mean, error, folds, sample.n_rows)


# --------------------------------------------------------------------------------------------------- odd rows, rows


def _odd_rows(material: Material) -> tuple[OddRow, ...]:
    _require_rows(material)
    model, table = _exact(material.model, "a list of odd rows"), material.table
    if not model.conditionals:
        raise SchemaError(f"the odd cells of a row need a Bayesian network, not {a(model.kind)}")
    _refuse_empty(table, 1, "a list of odd rows")
    logs = np.asarray(model.log_prob(table))
    lowest = np.argsort(logs, kind="stable")[:ODD_ROWS] if len(logs) < 2 * ODD_ROWS else _lowest(logs)
    rows = table[lowest]
    terms = np.asarray(model.log_prob_terms(rows))
    usual = _usual_terms(material)
    found = []
    for at, (row, of_cells) in enumerate(zip(lowest.tolist(), terms, strict=True)):
        known = [c is not None for c in (cell(rows, v, at) for v in range(len(table.names)))]
        low = np.where(np.isnan(of_cells) | ~np.array(known), 0.0, of_cells - usual)
        order = np.argsort(low, kind="stable")[:ODD_CELLS]
        cells = (_odd_cell(rows, v, at, of_cells[v], low[v]) for v in order.tolist() if low[v] < 0)
        found.append(OddRow(row, float(logs[row]), tuple(cells)))
    return tuple(found)


def _odd_cell(rows: Table, v: int, at: int, term: float, low: float) -> OddCell:
    below = -float(low) if rows.variables[v].is_continuous else None
    return OddCell(rows.names[v], cell(rows, v, at), float(term), below)


def _usual_terms(material: Material) -> Floats:
    """Return the mean log-density of each number given its parents, by which densities are compared; 0 for labels."""
    usual = np.zeros(len(material.table.names))
    numbers = [v for v, variable in enumerate(material.table.variables) if variable.is_continuous]
    if numbers:
        sample = material.sample(ROWS_USUAL)
        terms = np.asarray(material.model.log_prob_terms(sample))
        for v in numbers:
            known = terms[~sample.variables[v].missing(sample.codes[v]), v]
            usual[v] = known.mean() if len(known) else 0.0
    return usual


def _lowest(logs: Floats) -> npt.NDArray[np.intp]:
    """Return the rows of the lowest numbers, the lowest first; of equal ones the first."""
    few = np.flatnonzero(logs <= np.partition(logs, ODD_ROWS)[ODD_ROWS])[: 100 * ODD_ROWS]
    return few[np.argsort(logs[few], kind="stable")][:ODD_ROWS]


def cell(table: Table, v: int, row: int) -> Any:
    """Return what a cell holds: a label, a number, the text of a date, or None where it is missing."""
    variable, value = table.variables[v], table.column(table.names[v])[row]
    if variable.is_continuous:
        number = None if np.isnan(value) else float(value)
        return number if number is None or variable.unit is None else date_texts([number], variable.unit)[0]
    return None if value >= variable.cardinality else variable.states[int(value)]


def _standing(material: Material) -> Standing:
    _require_rows(material)
    sample = material.sample(ROWS_SELECTED)
    _refuse_empty(sample, 1, "a choice of rows")
    k = min(STANDING_ROWS, sample.n_rows)
    kernel = row_kernel(material.model, sample, seed=material.seed)
    chosen = greedy_mmd(kernel, sample, k, n_starts=10, seed=material.seed)
    shares = np.asarray(chosen.stands_for(), dtype=np.float64)
    order = np.argsort(-shares, kind="stable")
    indices = chosen.indices[order]
    whole = material.sampled(ROWS_SELECTED)[indices]
    shares = shares[order] / shares.sum()
    return Standing(sample[indices], tuple(whole.tolist()), tuple(shares.tolist()), sample.n_rows)


# ------------------------------------------------------------------------------------------------------- the target


def blanket_of(model: Any, name: str) -> tuple[str, ...]:
    """Return the variables that make one independent of all others."""
    graph = graph_of(model)
    return tuple(graph.names[v] for v in graph.links().blanket(graph.names.index(name)))


def _prediction(material: Material, target: str) -> Prediction:
    sample = material.sample(ROWS_SELECTED)
    model, rows = material.model, sample
    if model.inference not in ("factors", "normal", "mixed"):
        raise SchemaError(
            f"a prediction needs a model with exact inference, such as a Bayesian network, not {a(model.kind)}"
        )
    at = positions(sample.names, [target])[0]
    if material.learned:
        _refuse_empty(sample, 8, "a prediction of rows held out")
        training, rows = hold_out(sample, HELD_OUT, seed=material.seed)
        model = bayesian_network(training, seed=material.seed, **material.way)
    blanket = blanket_of(material.model, target)
    if rows.variables[at].is_continuous:
        return _of_numbers(model, rows, target, blanket, held_out=material.learned)
    probabilities = np.asarray(predict_proba(model, rows, target))
    truth = rows.column(target)
    r = probabilities.shape[1]
    weights = np.ones(rows.n_rows) if rows.weights is None else rows.weights
    counts = np.bincount(truth, weights, minlength=r)[:r]
    rights = np.bincount(truth, weights * (probabilities.argmax(axis=1) == truth), minlength=r)[:r]
    shares = (counts + 1.0) / (counts + 1.0).sum()
    states = tuple(
        (state, float(count / (counts.sum() or 1.0)), float(right / count) if count else math.nan)
        for state, count, right in zip(rows.variables[at].states, counts, rights, strict=True)
    )
    quality = PredictionQuality.of(probabilities, truth, rows.weights)
    baseline = PredictionQuality.of(np.tile(shares, (rows.n_rows, 1)), truth, rows.weights)
    doubtful = _doubtful(material, target, blanket)
    return Prediction(target, blanket, quality, baseline, None, None, rows.n_rows, material.learned, states, doubtful)


def _doubtful(material: Material, target: str, blanket: tuple[str, ...]) -> tuple[Doubtful, ...]:
    """Return the labels that the other columns contradict; of many columns those that the target depends on."""
    if not material.names_rows:
        return ()
    sample = material.sample(ROWS_SELECTED)
    if len(sample.names) > FEW_VARIABLES:
        sample = sample.select([target, *blanket])
    numbers = any(variable.is_continuous for variable in sample.variables)
    try:
        judged = mislabelled(sample.discretize(AUTO) if numbers else sample, target)
    except FishernetError:  # there is one class alone, or nothing that tells classes apart
        return ()
    of_table = material.sampled(ROWS_SELECTED)
    best = judged.probabilities.max(axis=1)
    first = [at for at in judged.order[:DOUBTFUL_ROWS].tolist() if judged.own[at] < DOUBTFUL * best[at]]
    labels, rather = sample[target], judged.suggested
    return tuple(Doubtful(int(of_table[at]), labels[at], float(judged.own[at]), rather[at]) for at in first)


def _of_numbers(model: Any, rows: Table, target: str, blanket: tuple[str, ...], *, held_out: bool) -> Prediction:
    truth = rows.column(target)
    predicted = np.asarray(model.predict(rows, target), dtype=np.float64)
    error = float(np.sqrt(np.nanmean((predicted - truth) ** 2)))
    return Prediction(target, blanket, None, None, error, float(np.nanstd(truth)), rows.n_rows, held_out)


# ------------------------------------------------------------------------------------------------------- two tables


def _change(material: Material, other: Table) -> Change:
    first, second = (sample_of(t, ROWS_SELECTED, material.seed) for t in (material.table, other))
    _refuse_empty(second, 1, "a comparison")
    given: Any = None if material.learned else material.model
    if given is None:
        first, second = pooled(first, second, "compare_with")
    elif dag_of(given) is None:
        raise SchemaError(f"tables are compared under a Bayesian network, not {a(given.kind)}")
    else:
        second = second.conform(given.variables)
    kernel = None if given is None else row_kernel(given, first, second, seed=0)
    how: dict[str, Any] = {"permutations": PERMUTATIONS, "seed": material.seed}
    test = two_sample_test(first, second, kernel, **how)
    change = explain_change(first, second, given, **how)
    sizes = (material.table.n_rows, other.n_rows)
    return Change(test, change, sizes, (first.n_rows, second.n_rows))


def check_target(names: Sequence[str], target: str | None) -> None:
    """Raise SchemaError when a target is no variable of the model."""
    if target is not None and target not in names:
        raise SchemaError(f"unknown target {target!r}; the variables are {listed(names)}", parameter="target")
