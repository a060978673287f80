"""A model under what is known of a case, which is said once for all questions.

A set of states is a likelihood of 1 for each of them, a range of a column with states the share of each state that lies
in it, and a range of a number a tail: each normal component of the number counts by its mass between the limits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError
from fishernet.base.names import listed, position
from fishernet.base.random import Seed, draw_count, generator
from fishernet.data import Continuous, Table, Variable
from fishernet.data.given import code_of, number_given, value_given
from fishernet.data.variable import Column, State
from fishernet.infer.completion import impute
from fishernet.infer.distribution import Distribution
from fishernet.infer.evidence import Evidence, Given, Likelihood, as_mapping, checked_likelihood, impossible
from fishernet.infer.factors import MAX_TABLE, Array, checked_limit, inference_of
from fishernet.infer.gibbs import ChainKeywords
from fishernet.infer.normal import asked_for
from fishernet.infer.queries import (
    family_marginals,
    intervene,
    log_evidence,
    most_probable,
    query,
    sample,
    targets_given,
)

Range = tuple[float, float]

FEW = 4  # marginals for which a plan each is no dearer than one plan for those of all variables


class Conditioned:
    """A model under what is known; made by ``net.given(...)``.

    Examples
    --------
    >>> import fishernet as fn
    >>> case = fn.datasets.load("asia").given(smoke="yes", dysp="yes")
    >>> round(case.query("lung")["yes"], 4), case.predict("bronc")
    (0.1483, {'bronc': 'yes'})
    >>> round(case.do(bronc="no").query("lung")["yes"], 4)
    0.4227
    """

    __slots__ = ("_likelihoods", "_ranges", "_said", "_set", "_states", "model")

    def __init__(
        self,
        model: Any,
        known: Mapping[str, Any] | None = None,
        likelihood: Mapping[str, Any] | None = None,
        do: Mapping[str, Any] | None = None,
    ) -> None:
        self._said = dict(as_mapping(known, "given")), dict(as_mapping(likelihood, "likelihood"))
        done = as_mapping(do, "do")
        if both := [name for name in done if name in self._said[0]]:
            raise SchemaError(f"{listed(both)} is both given and set; a variable is either seen or set", parameter="do")
        self.model: Any = intervene(model, done) if done else model
        self._set = {name for name, value in done.items() if not isinstance(value, Mapping)}
        self._states: dict[str, State] = {}
        self._likelihoods: dict[str, Array] = {}
        self._ranges: dict[str, Range] = {}
        where = {name: at for at, name in enumerate(self.model.names)}
        for name, value in self._said[0].items():
            self._take(self.model.variables[position(where, name)], value)
        for name, value in self._said[1].items():
            variable = self.model.variables[position(where, name)]
            self._weigh(variable, checked_likelihood(variable, _by_state(variable, value)))

    @property
    def known(self) -> dict[str, Any]:
        """What is known, by name, as it was said."""
        return dict(self._said[0])

    def query(
        self, names: str | Iterable[str] | None = None, *, max_table: int = MAX_TABLE, **chains: Unpack[ChainKeywords]
    ) -> Any:
        """Return the joint distribution of some variables; by default of all that are not known.

        Parameters and errors are those of ``net.query``. Where a number is known by a range, labels are asked for:
        other numbers have no mixture of normal distributions then.
        """
        where = asked_for(self.model.names, names, self._fixed)
        if not self._ranges:
            asked = [self.model.names[v] for v in where]
            return query(self.model, asked, **self._known, max_table=max_table, **chains)
        labels = [self.model.variables[v] for v in where if not self.model.variables[v].is_continuous]
        if len(labels) < len(where) or not labels:
            raise self._only("labels can be asked for")
        mixture = query(self.model, [*(v.name for v in labels), *self._ranges], **self._known, max_table=max_table)
        table = np.zeros([variable.cardinality for variable in labels])
        np.add.at(table, tuple(mixture.codes.T), mixture.weights * self._masses(mixture))
        if not table.sum() > 0:
            raise impossible(self._said[0])
        seen = tuple(v for v in self.model.variables if v.name in self._states)
        soft = (*self._likelihoods, *self._ranges)
        return Distribution(tuple(labels), table / table.sum(), dict(self._states), known=seen, soft=soft)

    def marginals(self, names: str | Iterable[str] | None = None, *, max_table: int = MAX_TABLE) -> dict[str, Any]:
        """Return the distribution of each of some variables by itself, by name; many of them by one plan.

        By default of all that are not known. Errors are those of `query`.
        """
        where = asked_for(self.model.names, names, self._fixed)
        asked = [self.model.names[v] for v in where]
        if len(asked) <= FEW or inference_of(self.model) != "factors":
            return {name: self.query([name], max_table=max_table) for name in asked}
        if self.model.conditionals:
            families = family_marginals(self.model, **self._known, max_table=max_table)
            tables = [families[v].reshape(-1, families[v].shape[-1]).sum(axis=0) for v in where]
        else:
            evidence, given = Evidence.of(self.model.variables, **self._known), self._said[0]
            tables = targets_given(self.model, [[v] for v in where], evidence, given, checked_limit(max_table))
        seen = tuple(v for v in self.model.variables if v.name in self._states)
        soft = tuple(self._likelihoods)
        return {
            name: Distribution((self.model.variables[v],), table, dict(self._states), known=seen, soft=soft)
            for name, v, table in zip(asked, where, tables, strict=True)
        }

    def predict(self, names: str | Iterable[str] | None = None, *, max_table: int = MAX_TABLE) -> dict[str, State]:
        """Return what is most probable of some variables, each by itself; of a number its mean.

        By default of all that are not known. SchemaError, ZeroProbabilityError and StateSpaceError as for `query`.
        """
        found: dict[str, State] = {}
        for name, answer in self.marginals(names, max_table=max_table).items():
            (variable,) = answer.variables
            if variable.is_continuous:
                found[name] = float(np.asarray(answer.mean).reshape(-1)[0])
            else:
                found[name] = variable.states[int(np.argmax(np.asarray(answer)))]
        return found

    def explain(self, *, max_table: int = MAX_TABLE) -> dict[str, State]:
        """Return the most probable states of all variables together; see `fishernet.infer.most_probable`."""
        if self._ranges:
            raise self._only("labels can be asked for, by query()")
        return most_probable(self.model, **self._known, max_table=max_table)

    def sample(self, n: int, *, seed: Seed = None, max_table: int = MAX_TABLE) -> Table:
        """Draw independent rows under what is known; see `fishernet.infer.sample`."""
        if not self._ranges:
            return sample(self.model, n, **self._known, seed=seed, max_table=max_table)
        if len(self._ranges) > 1:
            raise self._only("rows are drawn where one number has a range")
        rows, random = draw_count(n), generator(seed)
        drawn = self._drawn(rows, random, max_table)
        columns: list[npt.NDArray[Any]] = []
        for variable in self.model.variables:
            missing = np.nan if variable.is_continuous else variable.cardinality
            column = np.full(rows, missing, dtype=variable.dtype)
            if variable.name in drawn:
                column = drawn[variable.name].astype(variable.dtype)
            elif variable.name in self._states:
                column[:] = _cell(variable, self._states[variable.name])
            columns.append(column)
        return impute(self.model, Table.adopt(self.model.variables, columns, n_rows=rows), how="draw", seed=random)

    def log_prob(self, table: Any = None, *, max_table: int = MAX_TABLE) -> Any:
        """Return the log-probability of what is known; or of each row of a table, given what is known.

        Parameters
        ----------
        table : Table, frame or mapping, optional
            Rows without missing cells, or one row as a mapping from name to state or number. A row that contradicts
            what is known has -inf.

        Returns
        -------
        float, or (n_rows,) float64 of a table
            In nats; of numbers the logarithm of a density.
        """
        total = log_evidence(self.model, **self._known, max_table=max_table)
        if self._ranges:
            mixture = query(self.model, list(self._ranges), **self._known, max_table=max_table)
            with np.errstate(divide="ignore"):
                total += float(np.log(mixture.components[0] @ self._masses(mixture)))
        if table is None:
            return total
        if isinstance(table, Mapping):
            return float(self._log_prob_of(self._row(table), total)[0])
        return self._log_prob_of(self.model.rows(table), total)

    def _row(self, values: Mapping[str, Any]) -> Table:
        """Return one row as a table."""
        if lacking := [name for name in self.model.names if name not in values]:
            raise SchemaError(f"the row lacks {listed(lacking)}", parameter="table")
        cells = [_cell(variable, values[variable.name]) for variable in self.model.variables]
        columns = [np.array([cell], dtype=v.dtype) for v, cell in zip(self.model.variables, cells, strict=True)]
        return Table.adopt(self.model.variables, columns, n_rows=1)

    def _log_prob_of(self, rows: Table, total: float) -> Array:
        rows.require_complete("the log-probability of rows under what is known")
        found = self.model.log_prob(rows) - total
        with np.errstate(divide="ignore"):
            for variable, column in zip(rows.variables, rows.codes, strict=True):
                found += np.log(self._agreement(variable, column))
        return np.asarray(found)

    def do(self, states: Mapping[str, Any] | None = None, /, **by_name: Any) -> Conditioned:
        """Return the same with some variables set from outside; a mapping from states to probabilities draws them.

        See `fishernet.infer.intervene`.
        """
        return Conditioned(self.model, *self._said, {**(states or {}), **by_name})

    def __repr__(self) -> str:
        known, likelihood = self._said
        said = ", ".join(
            [*(f"{name}={value!r}" for name, value in known.items()), *(f"{name}: likelihood" for name in likelihood)]
        )
        return f"Conditioned({type(self.model).__name__} | {said})"

    # ------------------------------------------------------------------------------------------------ what is known

    @property
    def _fixed(self) -> set[str]:
        """The names that are not asked for unless they are named."""
        return {*self._states, *self._ranges, *self._set}

    @property
    def _known(self) -> dict[str, Any]:
        """What queries take."""
        return {"given": self._states or None, "likelihood": self._likelihoods or None}

    def _take(self, variable: Column, value: Any) -> None:
        """Take what is known of one variable: a state or number, several states, or a range."""
        if isinstance(value, tuple):
            low, high = limits_of(variable, value)
            if variable.is_continuous:
                self._ranges[variable.name] = low, high
            else:
                self._weigh(variable, shares_within(variable, low, high))
        elif isinstance(value, list | set | frozenset) and not variable.is_continuous:
            among = np.zeros(variable.cardinality)
            among[[code_of(variable, state, parameter="given") for state in value]] = 1
            self._weigh(variable, among)
        else:
            self._states[variable.name] = value_given(variable, value, parameter="given")

    def _weigh(self, variable: Variable, likelihood: Array) -> None:
        found = self._likelihoods.get(variable.name, 1.0) * likelihood
        if not (found > 0).any():
            raise SchemaError(f"no state of {variable.name!r} agrees with what is given", parameter="given")
        self._likelihoods[variable.name] = found

    def _only(self, what: str) -> SchemaError:
        names = listed(list(self._ranges))
        return SchemaError(f"{names} is known by a range of numbers, with which {what}", parameter="given")

    def _on_scale(self, name: str) -> Array:
        """Return the limits of a number's range as regressions take them, (2,)."""
        variable = self.model.variables[self.model.names.index(name)]
        half = (variable.resolution or 0.0) / 2  # a rounded number stands for the interval around it
        limits = np.array(self._ranges[name], dtype=np.float64) + np.array([-half, half])
        finite = np.isfinite(limits)
        with np.errstate(invalid="ignore", divide="ignore"):
            scaled = np.asarray(variable.scaled(np.where(finite, limits, 1.0)))
        return np.where(finite, np.where(np.isnan(scaled), -np.inf, scaled), limits)

    def _masses(self, mixture: Any) -> Array:
        """Return the probability of all ranges in each normal component of a mixture of their numbers, (K,)."""
        low, high = np.array([self._on_scale(name) for name in self._ranges]).T
        _, means, covariances = mixture.components
        return np.array([_mass(low, high, *moments) for moments in zip(means, covariances, strict=True)])

    def _drawn(self, n: int, random: np.random.Generator, max_table: int) -> dict[str, npt.NDArray[Any]]:
        """Draw numbers from what is known of the only number with a range, and the states that have a likelihood."""
        from scipy.stats import truncnorm  # slow to import, and needed by few calls

        (name,) = self._ranges
        mixture = query(self.model, [*self._likelihoods, name], **self._known, max_table=max_table)
        weights, means, covariances = mixture.components
        shares = weights * self._masses(mixture)
        if not shares.sum() > 0:
            raise impossible(self._said[0])
        of = random.choice(len(shares), n, p=shares / shares.sum())
        mean, sd = means[of, 0], np.sqrt(covariances[of, 0, 0])
        low, high = ((limit - mean) / sd for limit in self._on_scale(name))
        variable = self.model.variables[self.model.names.index(name)]
        numbers: Array = variable.unscaled(mean + sd * truncnorm.rvs(low, high, random_state=random))
        states = {label: mixture.codes[of, at] for at, label in enumerate(self._likelihoods)}
        return {name: np.clip(numbers, *self._ranges[name]), **states}

    def _agreement(self, variable: Column, column: npt.NDArray[Any]) -> Array:
        """Return how well the cells of a column agree with what is known of its variable, (n_rows,)."""
        found = np.ones(len(column))
        if variable.name in self._states:
            found *= column == _cell(variable, self._states[variable.name])
        if variable.name in self._ranges:
            low, high = self._ranges[variable.name]
            found *= (column >= low) & (column <= high)
        if variable.name in self._likelihoods:
            found *= self._likelihoods[variable.name][column]
        return found


def _cell(variable: Column, value: State) -> float | int:
    """Return a state or number as a table holds it."""
    if variable.is_continuous:
        return number_given(variable, value)
    return code_of(variable, value)


def _by_state(variable: Column, values: Any) -> Any:
    """Return a likelihood as an array, which may be given by state."""
    if variable.is_continuous:
        raise SchemaError(f"{variable.name!r} is continuous; likelihoods are of states", parameter="likelihood")
    if not isinstance(values, Mapping):
        return values
    codes = {code_of(variable, state, parameter="likelihood"): value for state, value in values.items()}
    if lacking := [state for code, state in enumerate(variable.states) if code not in codes]:
        raise SchemaError(f"the likelihood of {variable.name!r} lacks {listed(lacking)}", parameter="likelihood")
    return [codes[code] for code in range(variable.cardinality)]


def limits_of(variable: Column, value: tuple[Any, ...]) -> Range:
    """Return the limits of a range; None at an end is no limit."""
    if len(value) != 2:
        raise SchemaError(
            f"{variable.name!r} is given as a tuple of {len(value)}; a range is (low, high), and several states a list",
            parameter="given",
        )
    if not (variable.is_continuous or variable.cuts is not None or variable.are_numbers):
        raise SchemaError(
            f"{variable.name!r} has labels, of which there is no range; give a list of labels", parameter="given"
        )
    as_number = Continuous(variable.name, variable.unit)
    low, high = (
        bare if limit is None else number_given(as_number, limit, parameter="given")
        for limit, bare in zip(value, (-math.inf, math.inf), strict=True)
    )
    if low > high:
        raise SchemaError(f"the range of {variable.name!r} begins above its end", parameter="given")
    return low, high


def shares_within(variable: Variable, low: float, high: float) -> Array:
    """Return how much of each state lies within limits; in a bin numbers lie evenly."""
    found = np.zeros(variable.cardinality)
    if variable.cuts is None:
        states: Sequence[Any] = variable.states
        return np.array([float(low <= state <= high) for state in states])
    begin, end = variable.bin_limits().T
    within = np.minimum(end, high) - np.maximum(begin, low)
    width = np.where(end > begin, end - begin, 1.0)
    found[: len(begin)] = np.where(end > begin, np.clip(within, 0, None) / width, within >= 0)
    return found


def _mass(low: Array, high: Array, mean: Array, covariance: Array) -> float:
    """Return the probability that a normal distribution has between limits."""
    if len(mean) == 1:
        from scipy.special import ndtr  # slow to import, and needed by few calls

        sd = np.sqrt(covariance[0])
        a, b = (low[0] - mean[0]) / sd[0], (high[0] - mean[0]) / sd[0]
        a, b = (-b, -a) if a > 0 else (a, b)  # the tail that keeps its digits
        return float(ndtr(b) - ndtr(a))
    from scipy.stats import multivariate_normal  # slow to import, and needed by few calls

    found = multivariate_normal(mean, covariance, allow_singular=True).cdf(high, lower_limit=low)
    return float(np.clip(found, 0, 1))


class Queried:
    """A model that can be asked what is probable."""

    __slots__ = ()

    def query(
        self,
        names: str | Iterable[str] | None = None,
        *,
        given: Given = None,
        likelihood: Likelihood = None,
        max_table: int = MAX_TABLE,
        **chains: Unpack[ChainKeywords],
    ) -> Any:
        """Return the joint distribution of some variables, given what is known, with its labels.

        Parameters
        ----------
        names : str or iterable of str, optional
            The variables, each once. Without them it is the joint distribution of all that are not given, which few
            networks are small enough for: name those that matter.
        given : mapping from name to state, optional
            What is known, as in a table's cell: a label, a number for its bin, or text or a date that means one; of a
            continuous variable, its number.
        likelihood : mapping from name to (r,) array, optional
            Soft evidence: how well each state explains what was seen of the variable; only ratios matter.
        max_table : int
            How many cells (8 bytes each) the tables held at once may have.
        **chains
            For a dependency network, what `fishernet.infer.estimate` takes: n, chains, scan, weights, burn_in, thin,
            seed.

        Returns
        -------
        Distribution, NormalDistribution, NumberDistribution or MixedDistribution
            Of states, probabilities that are read by labels, as ``d["yes"]``: exact, or with standard errors from a
            dependency network, which is sampled. Of a Gaussian network, the mean and covariance of a normal
            distribution. In a network of labels and numbers, of one number its mixture of normal distributions, with
            mean, sd, quantiles, intervals and density, and of more the joint mixture.

        Raises
        ------
        SchemaError, UnknownStateError
            When a name or a state is not the network's.
        ZeroProbabilityError
            When what is given has probability 0.
        StateSpaceError
            When a table would be too large; nothing has been allocated then.
        """
        return query(self, names, given=given, likelihood=likelihood, max_table=max_table, **chains)

    def given(
        self, known: Mapping[str, Any] | None = None, /, *, likelihood: Any = None, do: Any = None, **by_name: Any
    ) -> Conditioned:
        """Return the model under what is known, for several questions: query, predict, explain, sample, log_prob.

        Parameters
        ----------
        known : mapping, optional
            What is known, by name; names that are words of Python may be keywords, too. A state or number; a list or
            set of states, of which it is one; or a tuple ``(low, high)`` for a range, both ends within it and None for
            no limit, of numbers, of bins, or of states that are numbers.
        likelihood : mapping, optional
            Soft evidence: how well each state explains what was seen of a variable, as an array or by state.
        do : mapping, optional
            What is set from outside (`fishernet.infer.intervene`): a state, a number, or a mapping from states to the
            probabilities with which they are set.
        **by_name
            More of what is known.

        Returns
        -------
        Conditioned

        Raises
        ------
        SchemaError, UnknownStateError
            When a name, state, number or range is not the network's.

        Examples
        --------
        >>> import fishernet as fn
        >>> asia = fn.datasets.load("asia")
        >>> case = asia.given(smoke="yes", either=["yes"], likelihood={"dysp": {"yes": 0.9, "no": 0.1}})
        >>> case.explain()["lung"], round(case.log_prob(), 4)
        ('yes', -3.186)
        """
        return Conditioned(self, {**(known or {}), **by_name}, likelihood, do)
