"""Fitting a hidden Markov model by expectation and maximization (Baum and Welch)."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.errors import SchemaError
from fishernet.models.sequences.alphabet import Alphabet, Strings
from fishernet.models.sequences.expected_counts import ExpectedCounts, parameters_of, summed_counts
from fishernet.models.sequences.hidden_markov_model import HiddenMarkovModel
from fishernet.progress import Progress, Reporter
from fishernet.random import Seed, fixed_seed

Numbers = npt.NDArray[np.float64]
Sequences = Iterable[Sequence[Hashable]]

VANISHED = 1e-60  # a probability below it that no string needs becomes 0


@dataclass(frozen=True, eq=False)
class BaumWelchResult:
    """What Baum-Welch found.

    Attributes
    ----------
    model : HiddenMarkovModel
        The best of all restarts.
    log_likelihood : float
        Of all strings together under the model, in nats.
    objective : float
        The same with the prior's term, ``smoothing`` times the sum of the logarithms of the parameters that may differ
        from 0; what is maximized.
    trace : tuple of float
        The objective of the model before each step, and at the end. It never falls but by rounding.
    converged : bool
        Whether a step gained less than the tolerance before the steps were over.
    restarts : tuple of float
        The last objective of each restart.
    seconds : float
        How long it took.
    seed : int or None
        The seed that repeats it; None when nothing was drawn.
    """

    model: HiddenMarkovModel
    log_likelihood: float
    objective: float
    trace: tuple[float, ...]
    converged: bool
    restarts: tuple[float, ...]
    seconds: float
    seed: int | None

    def to_frame(self) -> pa.Table:
        """Return the trace, one row a step, as a pyarrow Table."""
        return pa.table({"step": list(range(len(self.trace))), "objective": list(self.trace)})


def hidden_markov_model(
    sequences: Sequences,
    *,
    n_states: int | None = None,
    alphabet: Iterable[Hashable] | Alphabet | None = None,
    restarts: int = 5,
    smoothing: float = 0.01,
    max_steps: int = 200,
    tolerance: float = 1e-6,
    final: bool = False,
    start: HiddenMarkovModel | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
) -> HiddenMarkovModel:
    """Fit a hidden Markov model to strings; `baum_welch` says how it went as well.

    Parameters, errors and sources are those of `baum_welch`.

    Examples
    --------
    >>> import fishernet as fn
    >>> hmm = fn.learn.hidden_markov_model(["aaaabbbb", "aaabbb", "aabbbb"], n_states=2, seed=1)
    >>> [states.tolist() for states in hmm.decode(["aaabb"])] in ([[0, 0, 0, 1, 1]], [[1, 1, 1, 0, 0]])
    True
    """
    return baum_welch(
        sequences,
        n_states=n_states,
        alphabet=alphabet,
        restarts=restarts,
        smoothing=smoothing,
        max_steps=max_steps,
        tolerance=tolerance,
        final=final,
        start=start,
        seed=seed,
        progress=progress,
    ).model


def baum_welch(
    sequences: Sequences,
    *,
    n_states: int | None = None,
    alphabet: Iterable[Hashable] | Alphabet | None = None,
    restarts: int = 5,
    smoothing: float = 0.01,
    max_steps: int = 200,
    tolerance: float = 1e-6,
    final: bool = False,
    start: HiddenMarkovModel | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
) -> BaumWelchResult:
    """Fit a hidden Markov model to strings by Baum-Welch, and say how it went.

    Parameters
    ----------
    sequences : iterable of strings
        Each a str or a sequence of symbols; at least one.
    n_states : int
        The number of hidden states; not with `start`.
    alphabet : iterable of symbols, or Alphabet, optional
        The symbols that occur, sorted, without it; not with `start`.
    restarts : int
        How many random models are fitted; the best is kept. With `start` there is one.
    smoothing : float
        Added to the expected count of every parameter that is not 0 at the start (a Dirichlet prior's parameter less
        one); 0 gives maximum likelihood. The probability of stopping at once gets none.
    max_steps : int
        Steps of each restart.
    tolerance : float
        A restart ends when a step gains less than this, in nats a symbol (the end of a string counts as one).
    final : bool
        Whether the model has a final state, so that it is one of strings with their lengths; not with `start`.
    start : HiddenMarkovModel, optional
        Where to begin, instead of at random: it fixes the states, the alphabet, the zeros and whether there are a final
        state and the empty symbol.
    seed : None, int or numpy.random.Generator
    progress : callable, optional
        ``progress(what, done, total)``, in steps.

    Returns
    -------
    BaumWelchResult

    Raises
    ------
    SchemaError
        When there is no string, or an option does not fit.
    UnknownStateError
        When a symbol is not in the alphabet.
    ZeroProbabilityError
        When a string is impossible under `start`.

    References
    ----------
    .. [1] L. E. Baum, T. Petrie, G. Soules and N. Weiss, "A maximization technique occurring in the statistical
       analysis of probabilistic functions of Markov chains", 1970. The expected counts are those of the Fisher scores
       (P3, 12.2.2).

    Examples
    --------
    >>> import fishernet as fn
    >>> found = fn.learn.baum_welch(["abab", "ababab", "baba"], n_states=2, seed=1)
    >>> found.model.n_states, found.trace[-1] >= found.trace[0]
    (2, True)
    """
    began = time.monotonic()
    strings = sequences if isinstance(sequences, str) else list(sequences)
    _check_numbers(restarts, smoothing, max_steps, tolerance)
    repeated: int | None = None
    if start is not None:
        _check_start(n_states, alphabet, final)
        encoded = start.alphabet.encode(strings)
        starts = [start]
    else:
        known = _alphabet(strings, alphabet)
        encoded = known.encode(strings)
        repeated = fixed_seed(seed)
        random = np.random.default_rng(repeated)
        size = _checked_states(n_states)
        starts = [_random_model(encoded, known, size, final, random) for _ in range(restarts)]
    if not len(encoded):
        raise SchemaError("a hidden Markov model is fitted to strings; there is none")
    reporter = Reporter(progress, "fitting a hidden Markov model")
    fits = [
        _Fit(model, encoded, float(smoothing)).run(
            max_steps, tolerance, reporter, number * max_steps, max_steps * len(starts)
        )
        for number, model in enumerate(starts)
    ]
    best = max(fits, key=lambda fit: fit.trace[-1])  # the first of equals
    reporter.finish(sum(len(fit.trace) - 1 for fit in fits))
    return BaumWelchResult(
        model=best.model,
        log_likelihood=best.log_likelihood,
        objective=best.trace[-1],
        trace=tuple(best.trace),
        converged=best.converged,
        restarts=tuple(fit.trace[-1] for fit in fits),
        seconds=time.monotonic() - began,
        seed=repeated,
    )


class _Fit:
    """One restart."""

    def __init__(self, model: HiddenMarkovModel, strings: Strings, smoothing: float) -> None:
        self.model = model
        self.trace: list[float] = []
        self.log_likelihood = float("-inf")
        self.converged = False
        self._strings = strings
        self._smoothing = smoothing
        self._size = len(strings.codes) + len(strings)

    def run(self, max_steps: int, tolerance: float, reporter: Reporter, done: int, total: int) -> _Fit:
        """Make steps until one gains too little."""
        counts = self._expected()
        for step in range(max_steps):
            self.model = maximized(self.model, counts, self._smoothing)
            counts = self._expected()
            reporter.step(done + step + 1, total)
            if self.trace[-1] - self.trace[-2] < tolerance * self._size:
                self.converged = True
                break
        return self

    def _expected(self) -> ExpectedCounts:
        counts = summed_counts(self.model, self._strings)
        self.log_likelihood = float(counts.log_prob.sum())
        self.trace.append(self.log_likelihood + self._smoothing * _log_prior(self.model))
        return counts


def maximized(model: HiddenMarkovModel, counts: ExpectedCounts, smoothing: float) -> HiddenMarkovModel:
    """Return the model that maximizes the expected log-likelihood of summed counts; rows that are not used stay."""
    emission = _shares(counts.emission[0], parameters_of(model)["emission"], smoothing)
    if model.final is None or counts.final is None:
        initial = _shares(counts.initial[0], model.initial, smoothing)
        transition, final = _shares(counts.transition[0], model.transition, smoothing), None
    else:
        at_once = max(len(counts.log_prob) - float(counts.initial.sum()), 0.0) if model.stop_at_once > 0 else 0.0
        weights = _weights(counts.initial[0], model.initial, smoothing)
        initial = weights / (weights.sum() + at_once)
        stops = np.column_stack([counts.transition[0], counts.final[0]])
        rows = _shares(stops, np.column_stack([model.transition, model.final]), smoothing)
        transition, final = rows[:, :-1], rows[:, -1]
    return HiddenMarkovModel(
        initial, transition, emission, alphabet=model.alphabet, final=final, empty=model.empty is not None
    )


def _weights(counts: Numbers, parameters: Numbers, smoothing: float) -> Numbers:
    """Return smoothed counts, 0 where the parameter is."""
    return np.where(parameters > 0, counts + smoothing, 0.0)


def _shares(counts: Numbers, parameters: Numbers, smoothing: float) -> Numbers:
    weights = _weights(counts, parameters, smoothing)
    sums = weights.sum(axis=-1, keepdims=True)
    shares: Numbers = np.divide(weights, sums, out=parameters.copy(), where=sums > VANISHED)
    shares[shares < VANISHED] = 0.0
    return shares


def _log_prior(model: HiddenMarkovModel) -> float:
    """Return the sum of the logarithms of the parameters that are not 0."""
    return float(sum(np.log(values[values > 0]).sum() for values in parameters_of(model).values()))


def _random_model(
    strings: Strings, alphabet: Alphabet, n_states: int, final: bool, random: np.random.Generator
) -> HiddenMarkovModel:
    """Return a random model whose symbols are about as frequent as in the strings."""
    frequency = (np.bincount(strings.codes, minlength=len(alphabet)) + 1.0) / (len(strings.codes) + len(alphabet))
    emission = frequency * np.exp(random.normal(0.0, 0.7, (n_states, len(alphabet))))
    emission /= emission.sum(axis=1, keepdims=True)
    initial = random.dirichlet(np.full(n_states, 5.0))
    transition = random.dirichlet(np.ones(n_states), n_states)
    if not final:
        return HiddenMarkovModel(initial, transition, emission, alphabet=alphabet)
    n_empty = int((strings.lengths == 0).sum())
    stop = (len(strings) - n_empty + 1.0) / (len(strings.codes) + 2.0) if len(strings.codes) else 0.5
    at_once = n_empty / max(len(strings), 1) if n_empty < len(strings) else 0.5
    moving = 1.0 - min(stop, 0.9)
    return HiddenMarkovModel(
        initial * (1.0 - at_once),
        transition * moving,
        emission,
        alphabet=alphabet,
        final=1.0 - (transition * moving).sum(axis=1),
    )


def _alphabet(strings: Sequence[Sequence[Hashable]], alphabet: Iterable[Hashable] | Alphabet | None) -> Alphabet:
    if alphabet is None:
        return Alphabet.seen(strings)
    return alphabet if isinstance(alphabet, Alphabet) else Alphabet(alphabet)


def _check_start(n_states: int | None, alphabet: object, final: bool) -> None:
    for name, given in (("n_states", n_states is not None), ("alphabet", alphabet is not None), ("final", final)):
        if given:
            raise SchemaError(f"{name} is that of `start`; leave it out")


def _checked_states(n_states: int | None) -> int:
    if isinstance(n_states, bool) or not isinstance(n_states, int | np.integer) or n_states < 1:
        raise SchemaError(f"the number of states must be an integer from 1, got {n_states!r}")
    return int(n_states)


def _check_numbers(restarts: int, smoothing: float, max_steps: int, tolerance: float) -> None:
    for name, value, least in (("restarts", restarts, 1), ("max_steps", max_steps, 1)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
            raise SchemaError(f"{name} must be an integer from {least}, got {value!r}")
    for name, number in (("smoothing", smoothing), ("tolerance", tolerance)):
        if not np.isfinite(number) or number < 0:
            raise SchemaError(f"{name} must be a finite number from 0 on, got {number!r}")
