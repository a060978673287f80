"""Fitting a hidden tree model by expectation and maximization."""

from __future__ import annotations

import time
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.progress import Progress
from fishernet.base.random import Seed, fixed_seed
from fishernet.learn.em import Effort, EmResult, Numbers, chosen_alphabet, fit, random_emission, shares
from fishernet.models import HiddenTree
from fishernet.models.sequences.alphabet import Alphabet
from fishernet.models.trees.hidden_tree import Codes, TreeCounts
from fishernet.models.trees.shape import Nested, TreeShape

Strings = Iterable[Sequence[Hashable]]


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
) -> EmResult[HiddenTree]:
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
    progress : callable or True, optional
        True for a bar, or ``progress(what, done, total)``, in steps.

    Returns
    -------
    EmResult

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
    effort = Effort(restarts, smoothing, max_steps, tolerance)
    listed = strings if isinstance(strings, str) else list(strings)
    repeated: int | None = None
    if start is not None:
        if any(given is not None for given in (n_states, alphabet, arity, missing)) or not shared:
            raise SchemaError("n_states, alphabet, arity, missing and shared are those of `start`; leave them out")
        starts = [start]
    else:
        repeated = fixed_seed(seed)
        random = np.random.default_rng(repeated)
        shape = TreeShape.of(tree)
        known = chosen_alphabet(listed, alphabet, but=missing)
        size = check.integer(n_states, "n_states", least=1)
        starts = [_random_model(shape, listed, known, size, shared, arity, missing, random) for _ in range(restarts)]
    codes = starts[0].encode(listed)
    if not len(codes):
        raise SchemaError("a hidden tree is fitted to strings; there is none")
    return fit(
        starts,
        TreeSteps(codes, float(smoothing)),
        effort,
        codes.size,
        what="fitting a hidden tree",
        began=began,
        seed=repeated,
        progress=progress,
    )


@dataclass(frozen=True)
class TreeSteps:
    """The steps for some strings.

    Attributes
    ----------
    codes : (n_strings, n_leaves) array
    smoothing : float
    """

    codes: Codes
    smoothing: float

    def expected(self, model: HiddenTree) -> tuple[float, TreeCounts]:
        """Return the log-likelihood, and the expected counts summed over the strings."""
        counts = model.counts_of_codes(self.codes)
        return counts.log_likelihood, counts

    def parameters(self, model: HiddenTree) -> Iterable[Numbers]:
        """Return all parameters."""
        return model.root, model.transition, model.emission

    def maximized(self, model: HiddenTree, counts: TreeCounts) -> HiddenTree:
        """Return the model that maximizes the expected log-likelihood of summed counts."""
        several = model.transition.ndim == 3 or model.emission.ndim == 3
        return HiddenTree(
            model.shape,
            shares(counts.root, model.root, self.smoothing),
            shares(counts.transition, model.transition, self.smoothing),
            shares(counts.emission, model.emission, self.smoothing),
            arity=model.arity,
            alphabet=model.alphabet,
            missing=model.missing,
            branch_tables=model.branch_tables if several else None,
        )


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
    emission = random_emission(frequency, (*lead, n_states), random)
    return HiddenTree(
        shape,
        random.dirichlet(np.full(n_states, 5.0)),
        random.dirichlet(np.ones(n_states), (*lead, n_states)),
        emission,
        arity=arity,
        alphabet=alphabet,
        missing=missing,
    )
