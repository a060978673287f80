"""A hidden Markov model over sequences of numbers, counts, and labels beside them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal, Self, overload

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import SchemaError, StateSpaceError
from fishernet.base.names import listed, several, shown
from fishernet.base.random import Seed, draw_count, generator
from fishernet.base.vocabulary import DecodeMethodName, word
from fishernet.data import Table
from fishernet.data.variable import Column
from fishernet.models.emissions import Emission, GaussianEmission, PoissonEmission
from fishernet.models.emissions.base import Limits, Statistic, Where, drawn
from fishernet.models.model import WithoutVariables
from fishernet.models.sequences.alphabet import Numbers, checked_rows
from fishernet.models.sequences.hmm_counts import MOST_CELLS, checked_lengths, require_possible, uses
from fishernet.models.sequences.observations import Observations, read_sequences, require_distinct

KINDS = ("emission", "transition", "initial")


class NumericHiddenMarkovModel(WithoutVariables):
    """A hidden Markov model whose states give numbers; immutable.

    A trajectory begins in a state drawn from `initial`, gives a row of observations in every state by `emission`, and
    moves on by `transition`. Its log-probability is the logarithm of the density of a sequence given its length (of
    counts and labels, of a probability). What is missing is summed out: a cell, or a whole step. Sequences of any
    length neither underflow nor overflow, however far from 1 the densities are.

    Parameters
    ----------
    initial : (n_states,) array
        P(first state).
    transition : (n_states, n_states) array
        ``transition[b, a]`` is P(a | b), from b to a.
    emission : GaussianEmission, PoissonEmission, LabelEmission, or several
        What each state gives. Several have columns beside each other, independent given the state.

    Raises
    ------
    SchemaError
        When shapes do not fit, a row does not sum to 1, or two emissions have a column of one name.

    Notes
    -----
    Sequences are given as a list. Each is a list or array of numbers (one column), an array with a row for each step,
    or a table or data frame, whose columns are found by name and labels by value. None and NaN are missing.

    Forward and backward recursions follow [1]_.

    References
    ----------
    .. [1] L. R. Rabiner, "A tutorial on hidden Markov models and selected applications in speech recognition",
       Proceedings of the IEEE 77, 1989.

    Examples
    --------
    >>> import fishernet as fn
    >>> hmm = fn.NumericHiddenMarkovModel(
    ...     [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], fn.models.GaussianEmission([0.0, 3.0], [1.0, 1.0])
    ... )
    >>> hmm.log_prob([[0.2, -0.5, 2.8], [None, 3.1]]).round(3)
    array([-5.851, -1.609])
    >>> hmm.decode([[0.2, -0.5, 2.8]])[0]
    array([0, 0, 1], dtype=int32)
    """

    __slots__ = ("emissions", "initial", "transition")

    kind: ClassVar[str] = "hidden Markov model of numbers"
    """What it is called."""
    values: ClassVar[Literal["numbers"]] = "numbers"
    """Its data are numbers."""

    initial: Numbers
    """(n_states,) P(first state)."""
    transition: Numbers
    """(n_states, n_states) P(a | b) in row b, column a."""
    emissions: tuple[Emission, ...]
    """What each state gives, one or several beside each other."""

    def __init__(
        self, initial: npt.ArrayLike, transition: npt.ArrayLike, emission: Emission | Iterable[Emission]
    ) -> None:
        starts = checked_rows(initial, "initial", (None,))
        moves = checked_rows(transition, "transition", (len(starts), len(starts)))
        emissions = tuple(emission) if isinstance(emission, Iterable) else (emission,)
        if not emissions:
            raise SchemaError("a hidden Markov model needs an emission, such as GaussianEmission", parameter="emission")
        for one in emissions:
            if one.n_states != len(starts):
                raise SchemaError(
                    f"{one!r} is for {several(one.n_states, 'state')}, and initial for {len(starts)}",
                    parameter="emission",
                )
        require_distinct([variable.name for one in emissions for variable in one.variables])
        self._set(initial=starts, transition=moves, emissions=emissions)

    @classmethod
    def from_hmmlearn(cls, model: Any, *, names: Iterable[str] | None = None) -> Self:
        """Return the model of a fitted ``GaussianHMM``, ``GMMHMM`` or ``PoissonHMM`` of hmmlearn.

        Parameters
        ----------
        model : object
            With ``startprob_``, ``transmat_``, and ``lambdas_`` or ``means_`` and ``covars_``.
        names : sequence of str, optional
            Of the columns; "x", or "x1", "x2", ... without it.

        Raises
        ------
        SchemaError
            When the model is not fitted, or of another kind.
        """
        try:
            initial, transition = _summing_to_1(model.startprob_), _summing_to_1(model.transmat_)
            kind = type(model).__name__
            if kind == "PoissonHMM":
                return cls(initial, transition, PoissonEmission(model.lambdas_, names=names))
            means = np.asarray(model.means_, dtype=np.float64)
            covariances = np.asarray(model.covars_, dtype=np.float64)
            weights = _summing_to_1(model.weights_) if kind == "GMMHMM" else None
            diagonal = model.covariance_type in ("diag", "spherical")
        except AttributeError as error:
            raise SchemaError(
                f"a fitted GaussianHMM, GMMHMM or PoissonHMM is needed; this {type(model).__name__} has no {error.name}"
            ) from None
        if weights is not None and not diagonal:
            covariances = covariances if covariances.ndim == 4 else covariances[:, None]
            covariances = np.broadcast_to(covariances, (*means.shape, means.shape[-1]))
        if not diagonal:
            return cls(
                initial, transition, GaussianEmission.from_covariance(means, covariances, weights=weights, names=names)
            )
        if weights is None:  # hmmlearn gives them as full matrices
            covariances = np.diagonal(covariances, axis1=1, axis2=2)
        sd = np.sqrt(covariances if covariances.ndim == means.ndim else covariances[..., None])
        sd = np.broadcast_to(sd, means.shape)
        return cls(initial, transition, GaussianEmission(means, sd, weights=weights, names=names))

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.initial)

    @property
    def emission(self) -> Emission:
        """What each state gives, where that is one emission."""
        if len(self.emissions) > 1:
            raise SchemaError(f"this model has {len(self.emissions)} emissions; they are in `emissions`")
        return self.emissions[0]

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of each step, those of the first emission first."""
        return tuple(variable for emission in self.emissions for variable in emission.variables)

    @property
    def n_parameters(self) -> int:
        """The number of columns of the Fisher scores."""
        return sum(emission.n_parameters for emission in self.emissions) + self.transition.size + self.initial.size

    # ----------------------------------------------------------------------------------------------------- what it says

    def read(self, sequences: Any) -> Observations:
        """Return sequences as this model takes them, checked."""
        found = read_sequences(sequences, self.columns)
        for emission, X in zip(self.emissions, self._divided(found.X), strict=True):
            emission.check(X, Where(found.offsets))
        return found

    def _divided(self, X: Numbers) -> list[Numbers]:
        """Return the columns of each emission."""
        ends = np.cumsum([len(emission.variables) for emission in self.emissions])
        return np.split(X, ends[:-1], axis=1)

    def log_densities(self, observations: Observations) -> Numbers:
        """Return the log-density of each step in each state, (n_steps, n_states)."""
        first, *others = zip(self.emissions, self._divided(observations.X), strict=True)
        found = first[0].log_prob(first[1])
        for emission, X in others:
            found = found + emission.log_prob(X)
        return np.ascontiguousarray(found)

    def _answers(
        self, observations: Observations, *, posterior: bool, derivatives: bool = False, block: int = 1
    ) -> tuple[Numbers, Numbers, Numbers, Numbers]:
        own = self.initial, self.transition, self.log_densities(observations), observations.offsets
        return _core.hmm_of_densities(*own, posterior, derivatives, block)

    def log_prob(self, sequences: Any) -> Numbers:
        """Return the log-density of each sequence given its length, (n,) float64 in nats; 0 of an empty one.

        Parameters
        ----------
        sequences : list of sequences
            Each a list or array of numbers, an array with a row for each step, or a table.

        Raises
        ------
        SchemaError
            When sequences do not fit the columns, or a number is infinite.
        """
        return self._answers(self.read(sequences), posterior=False)[0]

    @overload
    def posterior(self, sequences: Any, *, return_log_prob: Literal[False] = False) -> list[Numbers]: ...

    @overload
    def posterior(self, sequences: Any, *, return_log_prob: Literal[True]) -> tuple[list[Numbers], Numbers]: ...

    def posterior(
        self, sequences: Any, *, return_log_prob: bool = False
    ) -> list[Numbers] | tuple[list[Numbers], Numbers]:
        """Return P(state of the step | sequence) for every step, one (length, n_states) array per sequence.

        With `return_log_prob` the log-density of each sequence comes too, (n,) float64.

        Raises
        ------
        ZeroProbabilityError
            When a sequence is impossible.
        """
        observations = self.read(sequences)
        logs, shares, *_ = self._answers(observations, posterior=True)
        require_possible(~np.isneginf(logs), "sequence")
        found = observations.split(shares)
        return (found, logs) if check.flag(return_log_prob, "return_log_prob") else found

    def decode(self, sequences: Any, *, method: DecodeMethodName = "viterbi") -> list[npt.NDArray[np.int32]]:
        """Return the state of every step, one (length,) int32 array per sequence.

        Parameters
        ----------
        sequences : list of sequences
        method : {"viterbi", "posterior"}
            Along the most probable trajectory, or the most probable state of each step on its own. Ties go to the first
            state.

        Raises
        ------
        SchemaError
            When the method is unknown.
        ZeroProbabilityError
            When a sequence is impossible.
        """
        if word(method, "method", ("viterbi", "posterior"), error=SchemaError) == "posterior":
            return [share.argmax(axis=1).astype(np.int32) for share in self.posterior(sequences)]
        observations = self.read(sequences)
        if not len(observations.X):
            return observations.split(np.zeros(0, np.int32))
        densities = np.ascontiguousarray(self.log_densities(observations).T)  # each step is a symbol of its own
        with np.errstate(divide="ignore"):
            start, moves = np.log(self.initial), np.log(self.transition)
        codes = np.arange(len(observations.X), dtype=np.int32)
        end = np.zeros(self.n_states)
        states, logs = _core.hmm_best(start, moves, densities, end, codes, observations.offsets)
        require_possible(~np.isneginf(logs), "sequence")
        return observations.split(states)

    def fisher_scores(self, sequences: Any, *, parameters: Sequence[str] | None = None) -> Numbers:
        """Return the derivatives of the log-density of each sequence by the parameters.

        Parameters
        ----------
        sequences : list of sequences
        parameters : sequence of str, optional
            Some of "emission", "transition" and "initial"; by default all.

        Returns
        -------
        (n, n_parameters) float64
            Columns: of each emission its own (of a Gaussian one intercept, coefficients and sd of each state, column by
            column, then the weights; of counts the rates; of labels [state, label]), transition [from, to] and initial.
            Each row of probabilities is taken as numbers without a constraint that are then normalized, at a point
            where they sum to 1.

        Raises
        ------
        ZeroProbabilityError
            When a sequence is impossible, or a label's probability is 0.
        StateSpaceError
            When the scores would not fit.
        """
        wanted = KINDS if parameters is None else check.items(parameters, "parameters")
        if not wanted or not all(kind in KINDS for kind in wanted):
            raise SchemaError(f"parameters must be some of {listed(KINDS)}, in a list; got {shown(parameters)}")
        observations = self.read(sequences)
        if len(observations) * self.n_parameters > MOST_CELLS:
            raise StateSpaceError(
                "the scores",
                cells=len(observations) * self.n_parameters,
                limit=MOST_CELLS,
                remedy="take fewer sequences at once, or fewer kinds of parameters",
            )
        logs, shares, first, moves = self._answers(observations, posterior=True, derivatives=True)
        require_possible(~np.isneginf(logs), "sequence")
        parts = []
        if "emission" in wanted:
            parts += [
                emission.scores(emission.statistic(X, shares, observations.offsets))
                for emission, X in zip(self.emissions, self._divided(observations.X), strict=True)
            ]
        if "transition" in wanted:
            by = moves.reshape(-1, self.n_states, self.n_states)
            used = uses(by, np.broadcast_to(self.transition, by.shape)).sum(axis=2, keepdims=True)
            parts.append((by - used).reshape(len(by), self.transition.size))
        if "initial" in wanted:
            parts.append(first - uses(first, np.broadcast_to(self.initial, first.shape)).sum(axis=1, keepdims=True))
        return np.concatenate(parts, axis=1)

    def fisher_information(self, *, length: int | None = None, parameters: Sequence[str] | None = None) -> Numbers:
        """Raise StateSpaceError: there is no closed form. A Fisher kernel estimates it from sequences that it draws."""
        del length, parameters
        raise StateSpaceError(
            "the sequences of numbers",
            cells=math.inf,
            limit=MOST_CELLS,
            remedy="simulate the information from the scores of `sample`",
        )

    def sample(self, n: int, *, length: npt.ArrayLike, seed: Seed = None) -> list[Any]:
        """Draw sequences.

        Parameters
        ----------
        n : int
        length : int or (n,) array of int
            The number of steps of each.
        seed : None, int or numpy.random.Generator

        Returns
        -------
        list
            Each a (length,) array where the model has one column of numbers, a (length, d) array where it has several,
            and a `Table` where one has labels.

        Raises
        ------
        SchemaError
            When `n` or `length` does not fit.
        """
        return [self._shaped(X) for X, _ in self.sample_with_states(n, length=length, seed=seed)]

    def sample_with_states(
        self, n: int, *, length: npt.ArrayLike, seed: Seed = None
    ) -> list[tuple[Numbers, npt.NDArray[np.int32]]]:
        """Draw sequences as arrays (labels are codes), each with its hidden states."""
        count, random = draw_count(n), generator(seed)
        lengths = checked_lengths(length, count)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        states = np.zeros(offsets[-1], np.int64)
        alive = np.flatnonzero(lengths > 0)
        now = drawn(self.initial[None], np.zeros(len(alive), np.int64), random)
        for step in range(int(lengths.max(initial=0))):
            if step:
                going = lengths[alive] > step
                alive = alive[going]
                now = drawn(self.transition, now[going], random)
            states[offsets[alive] + step] = now
        X = np.concatenate([emission.draw(states, random) for emission in self.emissions], axis=1)
        pairs = zip(np.split(X, offsets[1:-1]), np.split(states.astype(np.int32), offsets[1:-1]), strict=True)
        return list(pairs)[:count]

    def _shaped(self, X: Numbers) -> Any:
        """Return a sequence as `log_prob` takes it."""
        if all(variable.is_continuous for variable in self.columns):
            return X[:, 0].copy() if X.shape[1] == 1 else X.copy()
        parts = zip(X.T, self.columns, strict=True)
        return Table(self.columns, [column.astype(variable.dtype) for column, variable in parts])

    # --------------------------------------------------------------------------------------------- what Baum-Welch asks

    def expected(self, observations: Observations) -> tuple[Numbers, list[Statistic], Numbers, Numbers]:
        """Return the log-densities, and summed over all sequences the statistics and the uses of moves and starts."""
        block = max(len(observations), 1)
        logs, shares, first, moves = self._answers(observations, posterior=True, derivatives=True, block=block)
        require_possible(~np.isneginf(logs), "sequence")
        whole = np.array([0, len(observations.X)])
        statistics = [
            emission.statistic(X, shares, whole)
            for emission, X in zip(self.emissions, self._divided(observations.X), strict=True)
        ]
        n = self.n_states
        steps = uses(moves.reshape(-1, n, n), self.transition[None]).sum(axis=0)
        starts = uses(first, np.broadcast_to(self.initial, first.shape)).sum(axis=0)
        return logs, statistics, steps, starts

    def with_emissions(self, statistics: Sequence[Statistic], limits: Sequence[Limits]) -> tuple[Emission, ...]:
        """Return the emissions that maximize the expected log-likelihood."""
        parts = zip(self.emissions, statistics, limits, strict=True)
        return tuple(emission.maximized(statistic, limit) for emission, statistic, limit in parts)

    def _parts(self) -> tuple[Any, ...]:
        return self.initial, self.transition, self.emissions

    def __repr__(self) -> str:
        kinds = ", ".join(type(emission).__name__ for emission in self.emissions[:2])
        more = ", ..." if len(self.emissions) > 2 else ""
        return f"NumericHiddenMarkovModel({several(self.n_states, 'state')}, {kinds}{more})"


def _summing_to_1(rows: npt.ArrayLike) -> Numbers:
    """Return rows that sum to 1 to the last digits."""
    array = np.asarray(rows, dtype=np.float64)
    return np.asarray(array / array.sum(axis=-1, keepdims=True))
