"""Fitting models of sequences.

A hidden Markov model is fitted by expectation and maximization (Baum et al., 1970), a Markov chain to the counts of its
steps (Shawe-Taylor and Cristianini, 2004, remark 12.33).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Unpack, overload

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError, ZeroProbabilityError, warn
from fishernet.base.progress import Progress
from fishernet.base.random import Seed
from fishernet.base.vocabulary import word
from fishernet.data.matching import listed_items
from fishernet.learn.em import (
    MOST_STATES,
    Effort,
    EmResult,
    Numbers,
    chosen_alphabet,
    fit,
    log_prior,
    random_emission,
    shares,
    weights,
)
from fishernet.learn.keywords import BaumWelchKeywords
from fishernet.learn.numeric_sequences import COVARIANCES, EMISSION_NAMES, EmissionName, NumericOptions, fit_numbers
from fishernet.models import MarkovChain, NumericHiddenMarkovModel
from fishernet.models.sequences.alphabet import Alphabet, Strings, evenly, is_missing
from fishernet.models.sequences.ambiguous_steps import known_steps
from fishernet.models.sequences.hidden_markov_model import HiddenMarkovModel
from fishernet.models.sequences.hmm_counts import HmmCounts, summed_counts
from fishernet.models.sequences.markov_chain import table_shape
from fishernet.models.sequences.observations import is_rows

MOST_STEPS = 200  # of EM where a chain is fitted to strings with letters that are not known
GAIN = 1e-6  # nats a symbol; less ends it
VANISHED = 1e-12

Sequences = Iterable[Sequence[Hashable]]

MOST_UNASKED = 64  # symbols that are whole numbers; more look like counts or measurements


Emissions = EmissionName | Mapping[str, EmissionName]


@overload
def hidden_markov_model(
    sequences: Any, *, emission: Literal["labels"], **as_baum_welch: Unpack[BaumWelchKeywords]
) -> HiddenMarkovModel: ...


@overload
def hidden_markov_model(
    sequences: Any, *, emission: Emissions | None = None, **as_baum_welch: Unpack[BaumWelchKeywords]
) -> Any: ...


def hidden_markov_model(
    sequences: Any, *, emission: Emissions | None = None, **as_baum_welch: Unpack[BaumWelchKeywords]
) -> Any:
    """Fit a hidden Markov model; all arguments, errors and sources are those of `baum_welch`.

    What is given decides the kind of model, or `emission` does: strings and labels give a `HiddenMarkovModel` of
    symbols; floats, arrays of several columns and tables give a `NumericHiddenMarkovModel` of numbers, which are normal
    in each state. Whole numbers are taken for labels (with a warning where more than 64 differ); with
    ``emission="counts"`` they are counts, and with ``emission="gaussian"`` measurements.

    Returns
    -------
    HiddenMarkovModel or NumericHiddenMarkovModel

    Examples
    --------
    >>> import fishernet as fn
    >>> hmm = fn.learn.hidden_markov_model(["aaaabbbb", "aaabbb", "aabbbb"], n_states=2, seed=1)
    >>> [states.tolist() for states in hmm.decode(["aaabb"])] in ([[0, 0, 0, 1, 1]], [[1, 1, 1, 0, 0]])
    True
    >>> speeds = [[4.9, 5.2, 5.1, 5.0, 49.0, 52.0, 55.0, 47.0], [51.0, 48.0, None, 4.8, 5.3]]
    >>> hmm = fn.learn.hidden_markov_model(speeds, n_states=2, seed=1)
    >>> sorted(hmm.emission.mean[:, 0].round(1).tolist())
    [5.0, 50.3]
    """
    return baum_welch(sequences, emission=emission, **as_baum_welch).model


def baum_welch(
    sequences: Any,
    *,
    n_states: int | None = None,
    emission: Emissions | None = None,
    covariance: Literal["full", "diagonal"] = "full",
    components: int = 1,
    min_sd: float = 1e-3,
    fixed: Iterable[str] = (),
    alphabet: Iterable[Hashable] | Alphabet | None = None,
    unknown: Hashable | None = None,
    restarts: int = 5,
    smoothing: float = 0.01,
    max_steps: int = 200,
    tolerance: float = 1e-6,
    final: bool = False,
    start: HiddenMarkovModel | NumericHiddenMarkovModel | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
) -> EmResult[Any]:
    """Fit a hidden Markov model to sequences by Baum-Welch, and say how it went.

    Parameters
    ----------
    sequences : iterable of sequences
        At least one. Of symbols: each a str or a sequence of symbols. Of numbers: each a list or array of numbers, an
        array with a row for each step and several columns, or a table or data frame with the same columns as the
        others, numbers and labels. None and NaN are missing and summed out.
    n_states : int
        The number of hidden states; not with `start`.
    emission : {"labels", "gaussian", "counts"}, or mapping from columns to these, optional
        What a state gives: one of several symbols; numbers that are normal in each state; or counts that follow a
        Poisson distribution. Without it floats, arrays of several columns and numbers in tables are "gaussian",
        everything else, whole numbers too, is "labels". In tables "gaussian" and "counts" are for every column that
        holds numbers alone, also few distinct ones, and text is "labels"; a mapping decides column by column.
    covariance : {"full", "diagonal"}
        Whether several columns of normal numbers are joined in each state by a chain of regressions, or independent.
    components : int
        With more than 1 numbers follow a mixture of so many normal distributions in each state.
    min_sd : float
        No standard deviation gets below this, times that of the whole column, so that no state collapses on one number.
    fixed : iterable of {"initial", "transition", "emission", "mean", "covariance", "weights"}
        What stays as it is at the start. The last three are parts of an emission of numbers.
    alphabet : iterable of symbols, or Alphabet, optional
        The symbols that occur, sorted, without it; not with `start`. "dna", "rna" and "protein" take the ambiguous
        letters of IUPAC, which are summed over what they may be.
    unknown : {"error", "skip", "any"} or symbol, optional
        What to do about a symbol that is not in the alphabet, now and later: refuse it, leave it out, sum it out, or
        take it for this one symbol; not with `start`.
    restarts : int
        How many random models are fitted; the best is kept. With `start` there is one.
    smoothing : float
        Added to the expected count of every probability that is not 0 at the start (a Dirichlet prior's parameter less
        one); 0 gives maximum likelihood. The probability of stopping at once gets none.
    max_steps : int
        Steps of each restart.
    tolerance : float
        A restart ends when a step gains less than this, in nats a symbol or number (the end of a string counts as one).
    final : bool
        Whether a model of symbols has a final state, so that it is one of strings with their lengths; not with `start`.
    start : HiddenMarkovModel or NumericHiddenMarkovModel, optional
        Where to begin, instead of at random: it fixes the kind of model, the states, the alphabet or the columns, the
        zeros and whether there are a final state and the empty symbol.
    seed : None, int or numpy.random.Generator
    progress : callable or True, optional
        True for a bar, or ``progress(what, done, total)``, in steps.

    Returns
    -------
    EmResult

    Raises
    ------
    SchemaError
        When there is no sequence, a column of numbers is constant, or an option does not fit.
    UnknownStateError
        When a symbol is not in the alphabet.
    ZeroProbabilityError
        When a sequence is impossible under `start`.

    Notes
    -----
    A standard deviation at its limit is the most probable one above it, so that no step loses. Where a number is
    missing beside others, what is expected of it given these counts.

    References
    ----------
    .. [1] L. E. Baum, T. Petrie, G. Soules and N. Weiss, "A maximization technique occurring in the statistical
       analysis of probabilistic functions of Markov chains", 1970. The expected counts are those of the Fisher scores
       (J. Shawe-Taylor and N. Cristianini, "Kernel Methods for Pattern Analysis", 2004, section 12.2.2).

    Examples
    --------
    >>> import fishernet as fn
    >>> found = fn.learn.baum_welch(["abab", "ababab", "baba"], n_states=2, seed=1)
    >>> found.model.n_states, found.trace[-1] >= found.trace[0]
    (2, True)
    """
    effort = Effort(restarts, max_steps, tolerance)
    check.number(smoothing, "smoothing", least=0)
    held = _checked_fixed(fixed)
    if not isinstance(sequences, str | np.ndarray) and not is_rows(sequences):
        sequences = list(check.items(sequences, "sequences", "strings"))
    if start is not None:
        own = {"n_states": n_states, "alphabet": alphabet, "unknown": unknown, "final": final or None}
        for name, given in {**own, "emission": emission}.items():
            if given is not None:
                raise SchemaError(f"{name} is that of `start`; leave it out")
    else:
        n_states = check.integer(n_states, "n_states", least=1, most=MOST_STATES)
    if _are_numbers(sequences, emission, start, of_symbols=any((alphabet is not None, unknown is not None, final))):
        options = NumericOptions(
            n_states,
            emission,
            word(covariance, "covariance", COVARIANCES, error=SchemaError),
            check.integer(components, "components", least=1, most=MOST_STATES),
            float(smoothing),
            check.number(min_sd, "min_sd", above=0, most=1),
            held,
        )
        begin: Any = start
        return fit_numbers(sequences, options, effort, start=begin, seed=seed, progress=progress)
    first: Any = start
    known = chosen_alphabet(sequences, alphabet, unknown=unknown) if start is None else first.alphabet
    if emission is None and alphabet is None and start is None:
        named = "say emission='counts' or emission='gaussian', otherwise emission='labels'"
        _warn_of_many(known, f"if they are counts or measurements, {named}", "emission")
    encoded = known.encode(sequences)

    def drawn(random: np.random.Generator) -> HiddenMarkovModel:
        return _random_model(encoded, known, n_states or 1, final, random)

    steps = BaumWelch(encoded, float(smoothing), held)
    return fit("a hidden Markov model", steps, effort, start=first, drawn=drawn, seed=seed, progress=progress)


HELD = ("initial", "transition", "emission", "mean", "covariance", "weights")


def _checked_fixed(fixed: Iterable[str]) -> frozenset[str]:
    names = (fixed,) if isinstance(fixed, str) else check.items(fixed, "fixed")
    return frozenset(word(name, "fixed", HELD, error=SchemaError) for name in names)


def _are_numbers(sequences: Any, emission: Any, start: Any, *, of_symbols: bool) -> bool:
    """Return whether sequences are for a model of numbers."""
    if start is not None:
        return bool(start.values == "numbers")
    if emission is not None and not isinstance(emission, Mapping):
        asked = word(emission, "emission", EMISSION_NAMES, error=SchemaError)
        if asked == "labels" or not of_symbols:
            return bool(asked != "labels")
    numbers = emission is not None or is_rows(sequences) or _hold_fractions(sequences)
    if numbers and of_symbols and emission is not None:
        raise SchemaError("alphabet, unknown and final are for emission='labels'; leave them out", parameter="emission")
    return numbers and not of_symbols


def _hold_fractions(sequences: Any) -> bool:
    """Return whether sequences are tables, rows, or hold floats, missing cells aside."""
    if isinstance(sequences, str):
        return False
    if isinstance(sequences, np.ndarray) and sequences.dtype.kind in "fiu":
        return sequences.ndim == 3 or sequences.dtype.kind == "f"
    for sequence in sequences:
        if isinstance(sequence, str | bytes):
            return False
        if is_rows(sequence):
            return True
        if isinstance(sequence, np.ndarray) and (sequence.ndim == 2 or sequence.dtype.kind in "f"):
            return sequence.dtype.kind in "fiu"
        if not isinstance(sequence, Iterable):
            return False
        rows = [symbol for symbol in sequence if isinstance(symbol, list | np.ndarray)]
        if rows:
            return all(check.is_number(x) or x is None for x in rows[0])
        kinds = set(map(type, sequence))
        if any(issubclass(kind, str | bytes) for kind in kinds):
            return False
        floats = any(issubclass(kind, float | np.floating) for kind in kinds)
        if floats and any(isinstance(x, float | np.floating) and not is_missing(x) for x in sequence):
            return True
    return False


def _warn_of_many(alphabet: Alphabet, otherwise: str, parameter: str) -> None:
    """Warn of an alphabet that looks like counts or measurements."""
    if len(alphabet) > MOST_UNASKED and all(map(check.is_number, alphabet.symbols)):
        warn(f"{len(alphabet)} different numbers are taken for symbols; {otherwise}", parameter=parameter)


@dataclass(frozen=True)
class BaumWelch:
    """The steps for some strings."""

    strings: Strings
    smoothing: float
    fixed: frozenset[str] = frozenset()

    @property
    def size(self) -> int:
        """The number of symbols; the end of a string counts as one."""
        return len(self.strings.codes) + len(self.strings)

    def expected(self, model: HiddenMarkovModel) -> tuple[float, HmmCounts]:
        """Return the log-likelihood, and the expected counts summed over the strings."""
        counts = summed_counts(model.native_for(self.strings), model.parameters, self.strings)
        return float(counts.log_prob.sum()), counts

    def log_prior(self, model: HiddenMarkovModel) -> float:
        """Return what the prior adds, over all parameters."""
        return log_prior(model.parameters.by_name().values(), self.smoothing)

    def maximized(self, model: HiddenMarkovModel, counts: HmmCounts) -> HiddenMarkovModel:
        """Return the model that maximizes the expected log-likelihood of summed counts."""
        smoothing = self.smoothing
        emission = shares(counts.emission[0], model.parameters.by_name()["emission"], smoothing)
        if model.final is None or counts.final is None:
            initial = shares(counts.initial[0], model.initial, smoothing)
            transition, final = shares(counts.transition[0], model.transition, smoothing), None
        else:
            at_once = max(len(counts.log_prob) - float(counts.initial.sum()), 0.0) if model.stop_at_once > 0 else 0.0
            starting = weights(counts.initial[0], model.initial, smoothing)
            initial = starting / (starting.sum() + at_once)
            stops = np.column_stack([counts.transition[0], counts.final[0]])
            rows = shares(stops, np.column_stack([model.transition, model.final]), smoothing)
            transition, final = rows[:, :-1], rows[:, -1]
        if self.fixed:
            emission = model.parameters.by_name()["emission"] if "emission" in self.fixed else emission
            initial = model.initial if "initial" in self.fixed else initial
            if "transition" in self.fixed:
                transition, final = model.transition, model.final
        return HiddenMarkovModel(
            initial, transition, emission, alphabet=model.alphabet, final=final, empty=model.empty is not None
        )


def _random_model(
    strings: Strings, alphabet: Alphabet, n_states: int, final: bool, random: np.random.Generator
) -> HiddenMarkovModel:
    """Return a random model whose symbols are about as frequent as in the strings."""
    n_codes = alphabet.code_of_any + 1 if strings.sets is not None else len(alphabet)
    counts = evenly(np.bincount(strings.codes, minlength=n_codes).astype(np.float64), strings.sets)
    frequency = (counts + 1.0) / (len(strings.codes) + len(alphabet))
    emission = random_emission(frequency, (n_states,), random)
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


def markov_chain(
    sequences: Iterable[Sequence[Hashable]],
    *,
    order: int,
    alphabet: Iterable[Hashable] | Alphabet | None = None,
    smoothing: float = 1.0,
    end: bool = False,
    unknown: Hashable | None = None,
) -> MarkovChain:
    """Fit a Markov chain by counts.

    Parameters
    ----------
    sequences : iterable of strings
        Each a str or a sequence of symbols.
    order : int
        The length of a context, from 0.
    alphabet : iterable of symbols, or Alphabet, optional
        The symbols that occur without it, sorted.
    smoothing : float
        Added to the count of every symbol after every context, and of every first context.
    end : bool
        Whether strings stop by an end symbol; its probability after a context is fitted too.
    unknown : {"error", "skip", "any"} or symbol, optional
        What to do about a symbol that is not in the alphabet, now and later: refuse it, leave it out, sum it out, or
        take it for this one symbol.

    Returns
    -------
    MarkovChain
        Its `start` is the smoothed share of each context among the strings' first `order` symbols.

    Raises
    ------
    SchemaError, UnknownStateError
        When the order is none, or a symbol is not in the alphabet.
    StateSpaceError
        When the table would have more than 2**28 cells.
    ZeroProbabilityError
        When nothing is added and a context never occurs.

    Notes
    -----
    Letters that may be one of several symbols (`alphabet` is "dna", say, or `unknown` is "any") are completed by
    expectation and maximization: they count as often as each symbol is expected there.

    Examples
    --------
    >>> import fishernet as fn
    >>> chain = fn.learn.markov_chain(["aab", "aba"], order=1, smoothing=0)
    >>> chain.transition.round(3)
    array([[0.333, 0.667],
           [1.   , 0.   ]])
    """
    check.number(smoothing, "smoothing", least=0)
    strings = listed_items(sequences)
    found = chosen_alphabet(strings, alphabet, unknown=unknown)
    if alphabet is None:
        otherwise = "if they are counts or measurements, learn a hidden Markov model, otherwise say alphabet="
        _warn_of_many(found, otherwise, "alphabet")
    shape = table_shape(len(found), order, end)
    encoded = found.encode(strings)
    _, cells = known_steps(encoded, shape, len(found))
    steps = _counted(cells, shape) + float(smoothing)
    first = _counted(_first_contexts(encoded, shape[:-1]), shape[:-1]) + float(smoothing)
    if encoded.sets is not None:
        steps, first = _completed(encoded, steps, first, found)
    sums = steps.sum(axis=-1, keepdims=True)
    if not sums.all():
        raise _unseen(found, sums)
    start = first / first.sum() if first.sum() > 0 else None
    return MarkovChain(found, order, steps / sums, end=end, start=start)


def _completed(strings: Strings, steps: Numbers, first: Numbers, alphabet: Alphabet) -> tuple[Numbers, Numbers]:
    """Return counts of steps and first contexts with the expected ones of symbols that are not known, by EM."""
    order, end = steps.ndim - 1, steps.shape[-1] > len(alphabet)
    last, every, beginnings = -np.inf, steps, first
    for _ in range(MOST_STEPS):
        rows, start = every + VANISHED, beginnings + VANISHED  # nothing that may have been is impossible
        rows, start = rows / rows.sum(axis=-1, keepdims=True), start / start.sum()
        model = MarkovChain(alphabet, order, rows, end=end, start=start)
        every, beginnings = steps.copy(), first.copy()
        known = _log_weight(steps, rows) + _log_weight(first, start)
        for run, through in model.passes(strings):
            np.add.at(every.reshape(-1), through.cells, through.derivatives * rows.reshape(-1)[through.cells])
            known += through.log + through.log_start
            if run.begins and len(run.contexts) > 1:
                np.add.at(beginnings.reshape(-1), run.contexts, through.shares)
        if known - last < GAIN * len(strings.codes):
            break
        last = known
    return every, beginnings


def _log_weight(counts: Numbers, p: Numbers) -> float:
    """Return the log-likelihood of counts, smoothed ones with their prior."""
    return float((counts * np.log(np.where(p > 0, p, 1.0))).sum())


def _counted(numbers: npt.NDArray[np.int64], shape: tuple[int, ...]) -> Numbers:
    n_cells = int(np.prod(shape, dtype=np.int64))
    return np.bincount(numbers, minlength=n_cells).astype(np.float64).reshape(shape)


def _first_contexts(encoded: Strings, shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Return the first context of each string that has one, of known symbols."""
    firsts = encoded.offsets[:-1][encoded.lengths >= len(shape)]
    numbers, known = np.zeros(len(firsts), np.int64), np.ones(len(firsts), bool)
    for place, base in enumerate(shape):
        codes = encoded.codes[firsts + place]
        numbers, known = numbers * base + codes, known & (codes < base)
    return numbers[known]


def _unseen(alphabet: Alphabet, sums: Numbers) -> ZeroProbabilityError:
    never = np.argwhere(sums[..., 0] == 0)
    context = alphabet.string(never[0].tolist())
    return ZeroProbabilityError(
        f"{len(never)} contexts never occur before a symbol, the first is {context!r}; use smoothing above 0 or a "
        "lower order",
        variable="the next symbol",
        configuration=dict(zip(map(str, range(len(context))), context, strict=True)),
        parameter="smoothing",
    )
