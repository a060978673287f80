"""Fitting hidden Markov models of numbers, counts, and labels beside them, by expectation and maximization."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import are, listed
from fishernet.base.progress import Progress
from fishernet.base.random import Seed
from fishernet.base.vocabulary import word
from fishernet.data import Table
from fishernet.data.matching import frame_names, is_table
from fishernet.data.variable import Column
from fishernet.learn.em import Effort, EmResult, Numbers, fit, log_prior, shares
from fishernet.models.emissions import Emission, GaussianEmission, LabelEmission, PoissonEmission
from fishernet.models.emissions.base import OWN, Limits, Statistic
from fishernet.models.sequences.numeric_hmm import NumericHiddenMarkovModel
from fishernet.models.sequences.observations import Observations, is_rows, listed_sequences, numbers_of

EmissionName = Literal["gaussian", "counts", "labels"]
EMISSION_NAMES: tuple[EmissionName, ...] = ("gaussian", "counts", "labels")
COVARIANCES = ("full", "diagonal")

MOST_CLUSTERED = 20_000  # steps from which the first states are guessed
ROUNDS = 10  # of Lloyd's algorithm there
LEAST_RATE = 1e-6  # of the mean of all counts
STAY = 0.5  # of the transition at the beginning


@dataclass(frozen=True)
class NumericOptions:
    """What a fit of numbers needs besides an `Effort`."""

    n_states: int | None
    emission: EmissionName | Mapping[str, EmissionName] | None
    covariance: str
    components: int
    smoothing: float
    min_sd: float
    fixed: frozenset[str]


def fit_numbers(
    sequences: Any,
    options: NumericOptions,
    effort: Effort,
    *,
    start: NumericHiddenMarkovModel | None,
    seed: Seed,
    progress: Progress | None,
) -> EmResult[NumericHiddenMarkovModel]:
    """Fit a hidden Markov model of numbers by Baum-Welch."""
    items = listed_sequences(sequences)
    model = start
    if model is None:
        if options.n_states is None:
            check.integer(None, "n_states", least=1)
        k = options.n_states or 1
        model = NumericHiddenMarkovModel(np.full(k, 1 / k), np.full((k, k), 1 / k), _emissions(items, options))
    observations = model.read(items)
    steps = NumericBaumWelch(observations, options, _limits(model, observations, options))

    def drawn(random: np.random.Generator) -> NumericHiddenMarkovModel:
        return _random_model(model, steps, random)

    return fit(
        "a hidden Markov model of numbers", steps, effort, start=start, drawn=drawn, seed=seed, progress=progress
    )


NumericCounts = tuple[list[Statistic], Numbers, Numbers]


@dataclass(frozen=True)
class NumericBaumWelch:
    """The steps for some sequences."""

    observations: Observations
    options: NumericOptions
    limits: Sequence[Limits]

    @property
    def size(self) -> int:
        """The number of steps with a number."""
        return int((~np.isnan(self.observations.X)).any(axis=1).sum())

    def expected(self, model: NumericHiddenMarkovModel) -> tuple[float, NumericCounts]:
        """Return the log-likelihood, and the expected counts summed over the sequences."""
        logs, statistics, moves, starts = model.expected(self.observations)
        return float(logs.sum()), (statistics, moves, starts)

    def log_prior(self, model: NumericHiddenMarkovModel) -> float:
        """Return what the prior adds, over all probabilities."""
        tables = [model.initial, model.transition]
        tables += [table for emission in model.emissions for table in emission.probabilities]
        return log_prior(tables, self.options.smoothing)

    def maximized(self, model: NumericHiddenMarkovModel, counts: NumericCounts) -> NumericHiddenMarkovModel:
        """Return the model that maximizes the expected log-likelihood, with what is fixed as it was."""
        statistics, moves, starts = counts
        fixed, smoothing = self.options.fixed, self.options.smoothing
        initial = model.initial if "initial" in fixed else shares(starts, model.initial, smoothing)
        transition = model.transition if "transition" in fixed else shares(moves, model.transition, smoothing)
        emissions = model.emissions if "emission" in fixed else model.with_emissions(statistics, self.limits)
        return NumericHiddenMarkovModel(initial, transition, emissions)


# ------------------------------------------------------------------------------------------- which emissions there are


def _emissions(items: list[Any], options: NumericOptions) -> list[Emission]:
    """Return emissions of the sequences' columns whose parameters do not matter yet."""
    if any(map(is_rows, items)):
        if not all(map(is_rows, items)):
            raise SchemaError("some sequences are tables and some are not; give all as tables", parameter="sequences")
        return _of_columns(_common_variables(items, options), options)
    d = _width(items)
    kind = options.emission if isinstance(options.emission, str) else "gaussian"
    if isinstance(options.emission, Mapping):
        raise SchemaError("emission by column needs sequences that are tables", parameter="emission")
    if kind == "counts":
        return [PoissonEmission(np.ones((options.n_states or 1, d)))]
    return [_gaussian(d, None, options)]


def _gaussian(d: int, names: Iterable[str] | None, options: NumericOptions) -> GaussianEmission:
    k, m = options.n_states or 1, options.components
    shape = (k, d) if m == 1 else (k, m, d)
    joined = options.covariance == "full" and d > 1
    return GaussianEmission(
        np.zeros(shape),
        np.ones(shape),
        coefficients=np.zeros((*shape, d)) if joined else None,
        weights=None if m == 1 else np.full((k, m), 1 / m),
        names=names,
    )


def _of_columns(variables: Sequence[Column], options: NumericOptions) -> list[Emission]:
    """Return the emissions of a table's columns: numbers together, counts together, each column of labels alone."""
    said = options.emission if isinstance(options.emission, Mapping) else {}
    default = options.emission if isinstance(options.emission, str) else "gaussian"
    kinds = {
        variable.name: said.get(variable.name, default) if variable.is_continuous else "labels"
        for variable in variables
    }
    found: list[Emission] = []
    numbers = [name for name, kind in kinds.items() if kind == "gaussian"]
    counts = [name for name, kind in kinds.items() if kind == "counts"]
    k = options.n_states or 1
    if numbers:
        found.append(_gaussian(len(numbers), numbers, options))
    if counts:
        found.append(PoissonEmission(np.ones((k, len(counts))), names=counts))
    for variable in variables:
        if not variable.is_continuous:
            r = variable.cardinality
            found.append(LabelEmission(np.full((k, r), 1 / r), variable.states, variable.name))
    return found


def _common_variables(items: Sequence[Any], options: NumericOptions) -> Sequence[Column]:
    """Return the columns of all tables, decided on from all of them together where `emission` does not."""
    names = list(items[0].names if is_table(items[0]) else frame_names(items[0]))
    cells: dict[str, list[Any]] = {name: [] for name in names}
    for number, item in enumerate(items):
        own = item.names if is_table(item) else frame_names(item)
        if sorted(own) != sorted(names):
            raise SchemaError(
                f"sequence {number} has the columns {listed(own)}, and the first has {listed(names)}",
                parameter="sequences",
            )
        for name in names:
            cells[name] += _cells(item, name)
    said = options.emission if isinstance(options.emission, Mapping) else {}
    strange = [name for name in said if name not in cells]
    if strange:
        raise SchemaError(f"emission names {listed(strange)}, which the tables lack", parameter="emission")
    labels = {name: word(kind, "emission", EMISSION_NAMES) == "labels" for name, kind in said.items()}
    if isinstance(options.emission, str):
        labels |= {name: False for name, column in cells.items() if all(map(_is_number, column))}
    if all(map(is_table, items)):  # what their makers decided, where they agree
        for decided in zip(*(item.select(names).variables for item in items), strict=True):
            if len({variable.is_continuous for variable in decided}) == 1:
                labels.setdefault(decided[0].name, not decided[0].is_continuous)
    return Table.from_frame(
        cells,
        categorical=[name for name, are_labels in labels.items() if are_labels],
        continuous=[name for name, are_labels in labels.items() if not are_labels],
    ).variables


def _cells(item: Any, name: str) -> list[Any]:
    """Return a column of a table or frame as a list; None or NaN where it is missing."""
    values = item.to_frame()[name] if is_table(item) else item[name]
    if isinstance(values, pa.Array | pa.ChunkedArray):
        return list(values.to_pylist())
    return list(values.tolist() if isinstance(values, np.ndarray) else values)


def _is_number(cell: object) -> bool:
    return cell is None or (isinstance(cell, int | float) and not isinstance(cell, bool))


def _width(items: Sequence[Any]) -> int:
    """Return the number of columns of arrays."""
    for number, item in enumerate(items):
        array = numbers_of(item, number)
        if array.ndim == 2 and array.shape[1]:
            return int(array.shape[1])
        if array.size:
            return 1
    return 1


# ------------------------------------------------------------------------------------------------------- limits, starts


def _limits(model: NumericHiddenMarkovModel, observations: Observations, options: NumericOptions) -> list[Limits]:
    """Return what the estimates must keep, from the spread of all numbers; SchemaError where a column is constant."""
    found, first = [], 0
    fixed = options.fixed & {"mean", "covariance", "weights"}
    for emission in model.emissions:
        columns = emission.variables
        X = observations.X[:, first : first + len(columns)]
        first += len(columns)
        least = np.zeros(len(columns))
        if columns[0].is_continuous:
            least = _least(emission, X, options)
        found.append(Limits(options.smoothing, least, fixed))
    return found


def _least(emission: Emission, X: Numbers, options: NumericOptions) -> Numbers:
    names = [variable.name for variable in emission.variables]
    there = ~np.isnan(X)
    n = there.sum(axis=0)
    if len(X) and not n.all():
        empty = [name for name, size in zip(names, n.tolist(), strict=True) if not size]
        raise SchemaError(f"{are(empty, 'column')} without a number; leave out what is missing everywhere")
    size = np.maximum(n, 1)
    mean = np.where(there, X, 0.0).sum(axis=0) / size
    if "covariance" not in emission.words:
        return np.asarray(np.maximum(LEAST_RATE * mean, np.finfo(float).tiny))
    apart = np.where(there, X - mean, 0.0)
    variance = np.square(apart).sum(axis=0) / size
    still = [name for name, value in zip(names, variance.tolist(), strict=True) if len(X) and not value > 0]
    if still and "covariance" not in options.fixed and "emission" not in options.fixed:
        raise SchemaError(
            f"{are(still, 'column')} constant in all sequences, and a normal distribution needs numbers that vary; "
            "leave out what does not vary"
        )
    return np.asarray(options.min_sd**2 * variance)


def _random_model(
    model: NumericHiddenMarkovModel, steps: NumericBaumWelch, random: np.random.Generator
) -> NumericHiddenMarkovModel:
    """Return a random model: the states are clusters of some steps, more or less."""
    observations, k = steps.observations, model.n_states
    known = np.flatnonzero((~np.isnan(observations.X)).any(axis=1))
    if not len(known):
        return model
    if len(known) > MOST_CLUSTERED:
        known = np.sort(random.choice(known, MOST_CLUSTERED, replace=False))
    X = observations.X[known]

    def clusters(rows: Numbers, n: int) -> npt.NDArray[np.int64]:
        return _clusters(_standardized(rows), n, random)

    cluster = _clusters(_features(model, X), k, random)
    belongs = np.full((len(X), k), (1 - OWN) / k)
    belongs[np.arange(len(X)), cluster] += OWN
    emissions, first = [], 0
    for emission, limits in zip(model.emissions, steps.limits, strict=True):
        last = first + len(emission.variables)
        begun = Limits(max(limits.smoothing, 1e-3), np.maximum(limits.least, np.finfo(float).tiny))
        emissions.append(emission.started(X[:, first:last], belongs, begun, clusters))
        first = last
    initial = random.dirichlet(np.full(k, 5.0))
    transition = STAY * np.eye(k) + (1 - STAY) * random.dirichlet(np.ones(k), k)
    return NumericHiddenMarkovModel(initial, transition / transition.sum(axis=1, keepdims=True), emissions)


def _features(model: NumericHiddenMarkovModel, X: Numbers) -> Numbers:
    """Return numbers of one spread, counts by their roots, and labels as indicators, none of them missing."""
    columns = []
    for variable, column in zip(model.columns, X.T, strict=True):
        if variable.is_continuous:
            counted = bool((column[~np.isnan(column)] >= 0).all()) and bool((np.nan_to_num(column) % 1 == 0).all())
            columns.append(np.sqrt(column) if counted else column)
        else:
            columns += [np.where(np.isnan(column), np.nan, column == code) for code in range(variable.cardinality)]
    return _standardized(np.stack(columns, axis=1))


def _standardized(X: Numbers) -> Numbers:
    """Return columns with mean 0 and standard deviation 1; what is missing is 0."""
    there = ~np.isnan(X)
    n = np.maximum(there.sum(axis=0), 1)
    apart = np.where(there, X - np.where(there, X, 0.0).sum(axis=0) / n, 0.0)
    sd = np.sqrt(np.square(apart).sum(axis=0) / n)
    return np.asarray(apart / np.where(sd > 0, sd, 1.0))


def _clusters(X: Numbers, k: int, random: np.random.Generator) -> npt.NDArray[np.int64]:
    """Return the cluster of each row: k-means++ and a few rounds of Lloyd's algorithm."""
    centres = X[random.integers(len(X), size=1)]
    distance = np.square(X - centres[0]).sum(axis=1)
    for _ in range(1, k):
        total = distance.sum()
        chosen = int(random.choice(len(X), p=distance / total)) if total > 0 else int(random.integers(len(X)))
        centres = np.concatenate([centres, X[chosen][None]])
        distance = np.minimum(distance, np.square(X - centres[-1]).sum(axis=1))
    cluster = np.zeros(len(X), np.int64)
    for _ in range(ROUNDS):
        cluster = (np.square(centres).sum(axis=1) - 2 * X @ centres.T).argmin(axis=1)
        for c in range(k):
            own = cluster == c
            if own.any():
                centres[c] = X[own].mean(axis=0)
    return cluster
