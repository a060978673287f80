"""Fitting a hidden tree model by expectation and maximization."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.errors import SchemaError
from fishernet.models import HiddenTree
from fishernet.models.sequences.alphabet import Alphabet
from fishernet.models.trees.counts import TreeCounts
from fishernet.models.trees.hidden_tree import Codes
from fishernet.models.trees.shape import Nested, TreeShape
from fishernet.progress import Progress, Reporter
from fishernet.random import Seed, fixed_seed

Numbers = npt.NDArray[np.float64]
Strings = Iterable[Sequence[Hashable]]

VANISHED = 1e-60  # the expected count of a row that is not used, with rounding


@dataclass(frozen=True, eq=False)
class HiddenTreeFit:
    """What expectation and maximization found.

    Attributes
    ----------
    model : HiddenTree
        The best of all restarts.
    log_likelihood : float
        Of all strings together under the model, in nats.
    trace : tuple of float
        Before each step and at the end, the log-likelihood with the prior's term: ``smoothing`` times the sum of the
        logarithms of the parameters that are not 0. It never falls but by rounding.
    converged : bool
        Whether a step gained less than the tolerance before the steps were over.
    restarts : tuple of float
        The last value of each restart's trace.
    seconds : float
        How long it took.
    seed : int or None
        The seed that repeats it; None when nothing was drawn.
    """

    model: HiddenTree
    log_likelihood: float
    trace: tuple[float, ...]
    converged: bool
    restarts: tuple[float, ...]
    seconds: float
    seed: int | None

    def to_frame(self) -> pa.Table:
        """Return the trace, one row a step, as a pyarrow Table."""
        return pa.table({"step": list(range(len(self.trace))), "objective": list(self.trace)})


def hidden_tree(
    tree: Nested,
    strings: Strings,
    *,
    n_states: int | None = None,
    shared: bool = True,
    arity: Sequence[int] | None = None,
    alphabet: Iterable[Hashable] | Alphabet | None = None,
    missing: Hashable | None = None,
    restarts: int = 5,
    smoothing: float = 0.01,
    max_steps: int = 200,
    tolerance: float = 1e-6,
    start: HiddenTree | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
) -> HiddenTree:
    """Fit a hidden tree model to strings; `hidden_tree_fit` says how it went as well.

    Parameters, errors and sources are those of `hidden_tree_fit`.

    Examples
    --------
    >>> import fishernet as fn
    >>> profiles = ["1111", "1100", "0011", "0000", "1101", "0000", "1111"]
    >>> model = fn.learn.hidden_tree([[0, 1], [2, 3]], profiles, n_states=2, seed=1)
    >>> model
    HiddenTree(4 leaves, 3 inner nodes, 2 states, 2 symbols)
    """
    return hidden_tree_fit(
        tree,
        strings,
        n_states=n_states,
        shared=shared,
        arity=arity,
        alphabet=alphabet,
        missing=missing,
        restarts=restarts,
        smoothing=smoothing,
        max_steps=max_steps,
        tolerance=tolerance,
        start=start,
        seed=seed,
        progress=progress,
    ).model


def hidden_tree_fit(
    tree: Nested,
    strings: Strings,
    *,
    n_states: int | None = None,
    shared: bool = True,
    arity: Sequence[int] | None = None,
    alphabet: Iterable[Hashable] | Alphabet | None = None,
    missing: Hashable | None = None,
    restarts: int = 5,
    smoothing: float = 0.01,
    max_steps: int = 200,
    tolerance: float = 1e-6,
    start: HiddenTree | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
) -> HiddenTreeFit:
    """Fit a hidden tree model to strings by expectation and maximization, and say how it went.

    Parameters
    ----------
    tree : nested lists
        As `HiddenTree` takes it; with `start`, None or the tree of that.
    strings : list of strings
        Each a str or a sequence of symbols, as long as the tree has leaves; at least one.
    n_states : int
        The number of states; not with `start`.
    shared : bool
        Whether all branches have the same tables; otherwise there are tables for each position among the children.
    arity : sequence of int, optional
        The number of children in each state, as `HiddenTree` takes it.
    alphabet : iterable of symbols, or Alphabet, optional
        The symbols that occur, sorted (by appearance where they cannot be), when omitted; not with `start`.
    missing : symbol, optional
        Stands for a symbol that is not known; not with `start`.
    restarts : int
        How many random models are fitted; the best is kept. With `start` there is one.
    smoothing : float
        Added to the expected count of every parameter that is not 0 (a Dirichlet prior's parameter less one); 0 gives
        maximum likelihood.
    max_steps : int
        Steps of each restart.
    tolerance : float
        A restart ends when a step gains less than this, in nats a symbol.
    start : HiddenTree, optional
        Where to begin, instead of at random: it fixes tree, states, alphabet, tables, arities and zeros.
    seed : None, int or numpy.random.Generator
    progress : callable, optional
        ``progress(what, done, total)``, in steps.

    Returns
    -------
    HiddenTreeFit

    Raises
    ------
    SchemaError
        When there is no string, one has another length than the tree, or an option does not fit.
    UnknownStateError
        When a symbol is not in the alphabet.
    ZeroProbabilityError
        When a string is impossible under `start`.

    References
    ----------
    .. [1] A. P. Dempster, N. M. Laird and D. B. Rubin, "Maximum likelihood from incomplete data via the EM algorithm",
       1977. The expected counts are those of the Fisher scores (P3, 12.2.2), on the model of P3, 12.1.6.

    Examples
    --------
    >>> import fishernet as fn
    >>> found = fn.learn.hidden_tree_fit([[0, 1], [2, 3]], ["1111", "1100", "0011", "0000"], n_states=2, seed=1)
    >>> found.model.n_states, found.trace[-1] >= found.trace[0]
    (2, True)
    """
    began = time.monotonic()
    _check_numbers(restarts, smoothing, max_steps, tolerance)
    listed = strings if isinstance(strings, str) else list(strings)
    repeated: int | None = None
    if start is not None:
        if any(given is not None for given in (n_states, alphabet, arity, missing)) or not shared:
            raise SchemaError("n_states, alphabet, arity, missing and shared are those of `start`; leave them out")
        starts = [start]
    else:
        repeated = fixed_seed(seed)
        random = np.random.default_rng(repeated)
        shape = tree if isinstance(tree, TreeShape) else TreeShape.from_nested(tree)
        known = _alphabet(listed, alphabet, missing)
        size = _checked_states(n_states)
        starts = [
            _random_model(shape, listed, known, size, shared, arity, missing, random) for _ in range(int(restarts))
        ]
    codes = starts[0].encode(listed)
    if not len(codes):
        raise SchemaError("a hidden tree is fitted to strings; there is none")
    reporter = Reporter(progress, "fitting a hidden tree")
    total = max_steps * len(starts)
    fits = [
        _Fit(model, codes, float(smoothing)).run(max_steps, tolerance, reporter, number * max_steps, total)
        for number, model in enumerate(starts)
    ]
    best = max(fits, key=lambda fit: fit.trace[-1])  # the first of equals
    reporter.finish(sum(len(fit.trace) - 1 for fit in fits))
    return HiddenTreeFit(
        model=best.model,
        log_likelihood=best.log_likelihood,
        trace=tuple(best.trace),
        converged=best.converged,
        restarts=tuple(fit.trace[-1] for fit in fits),
        seconds=time.monotonic() - began,
        seed=repeated,
    )


class _Fit:
    """One restart."""

    def __init__(self, model: HiddenTree, codes: Codes, smoothing: float) -> None:
        self.model = model
        self.trace: list[float] = []
        self.log_likelihood = float("-inf")
        self.converged = False
        self._codes = codes
        self._smoothing = smoothing

    def run(self, max_steps: int, tolerance: float, reporter: Reporter, done: int, total: int) -> _Fit:
        """Make steps until one gains too little."""
        counts = self._expected()
        for step in range(max_steps):
            self.model = maximized(self.model, counts, self._smoothing)
            counts = self._expected()
            reporter.step(done + step + 1, total)
            if self.trace[-1] - self.trace[-2] < tolerance * self._codes.size:
                self.converged = True
                break
        return self

    def _expected(self) -> TreeCounts:
        counts = self.model.counts_of_codes(self._codes)
        self.log_likelihood = counts.log_likelihood
        parameters = (self.model.root, self.model.transition, self.model.emission)
        prior = sum(float(np.log(values[values > 0]).sum()) for values in parameters) if self._smoothing else 0.0
        self.trace.append(counts.log_likelihood + self._smoothing * prior)
        return counts


def maximized(model: HiddenTree, counts: TreeCounts, smoothing: float) -> HiddenTree:
    """Return the model that maximizes the expected log-likelihood of summed counts; rows that are not used stay."""
    several = model.transition.ndim == 3 or model.emission.ndim == 3
    return HiddenTree(
        model.shape,
        _shares(counts.root, model.root, smoothing),
        _shares(counts.transition, model.transition, smoothing),
        _shares(counts.emission, model.emission, smoothing),
        arity=model.arity,
        alphabet=model.alphabet,
        missing=model.missing,
        branch_tables=model.branch_tables if several else None,
    )


def _shares(counts: Numbers, parameters: Numbers, smoothing: float) -> Numbers:
    weights = np.where(parameters > 0, counts + smoothing, 0.0)
    sums = weights.sum(axis=-1, keepdims=True)
    shares: Numbers = np.divide(weights, sums, out=parameters.copy(), where=sums > VANISHED)
    shares[shares < VANISHED] = 0.0
    return shares


def _random_model(
    shape: TreeShape,
    strings: Sequence[Sequence[Hashable]],
    alphabet: Alphabet,
    n_states: int,
    shared: bool,
    arity: Sequence[int] | None,
    missing: Hashable | None,
    random: np.random.Generator,
) -> HiddenTree:
    """Return a random model whose symbols are about as frequent as in the strings."""
    lead = () if shared else (int(shape.n_children.max()),)
    n_symbols = len(alphabet)
    codes = HiddenTree(
        shape, [1.0], [[1.0]], np.full((1, n_symbols), 1 / n_symbols), alphabet=alphabet, missing=missing
    ).encode(strings)
    frequency = np.bincount(codes.ravel(), minlength=n_symbols + 1)[:n_symbols] + 1.0
    emission = frequency * np.exp(random.normal(0.0, 0.7, (*lead, n_states, n_symbols)))
    return HiddenTree(
        shape,
        random.dirichlet(np.full(n_states, 5.0)),
        random.dirichlet(np.ones(n_states), (*lead, n_states)),
        emission / emission.sum(axis=-1, keepdims=True),
        arity=arity,
        alphabet=alphabet,
        missing=missing,
    )


def _alphabet(
    strings: Sequence[Sequence[Hashable]], alphabet: Iterable[Hashable] | Alphabet | None, missing: Hashable | None
) -> Alphabet:
    if alphabet is not None:
        return alphabet if isinstance(alphabet, Alphabet) else Alphabet(alphabet)
    symbols: dict[Hashable, None] = {}
    for string in strings:
        symbols.update(dict.fromkeys(string.tolist() if isinstance(string, np.ndarray) else string))
    symbols.pop(missing, None)
    if not symbols:
        raise SchemaError("a hidden tree is fitted to strings with symbols; there are none")
    try:
        return Alphabet(sorted(symbols))  # type: ignore[type-var]
    except TypeError:
        return Alphabet(symbols)


def _checked_states(n_states: int | None) -> int:
    if isinstance(n_states, bool) or not isinstance(n_states, int | np.integer) or n_states < 1:
        raise SchemaError(f"the number of states must be an integer from 1, got {n_states!r}")
    return int(n_states)


def _check_numbers(restarts: int, smoothing: float, max_steps: int, tolerance: float) -> None:
    for name, value in (("restarts", restarts), ("max_steps", max_steps)):
        if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < 1:
            raise SchemaError(f"{name} must be an integer from 1, got {value!r}")
    for name, number in (("smoothing", smoothing), ("tolerance", tolerance)):
        if not np.isfinite(number) or number < 0:
            raise SchemaError(f"{name} must be a finite number from 0 on, got {number!r}")
