"""Fitting a hidden tree model by expectation and maximization."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.progress import Progress
from fishernet.base.random import Seed
from fishernet.data.matching import listed_items
from fishernet.learn.em import (
    MOST_STATES,
    Effort,
    EmResult,
    chosen_alphabet,
    fit,
    log_prior,
    random_emission,
    shares,
)
from fishernet.learn.keywords import HiddenTreeKeywords
from fishernet.models import HiddenTree
from fishernet.models.sequences.alphabet import Alphabet, evenly
from fishernet.models.trees.hidden_tree import Codes, TreeCounts
from fishernet.models.trees.shape import Nested, TreeShape

Strings = Iterable[Sequence[Hashable]]


def hidden_tree(tree: Nested, strings: Strings, **as_fit: Unpack[HiddenTreeKeywords]) -> HiddenTree:
    """Fit a hidden tree model to strings; all arguments, errors and sources are those of `hidden_tree_fit`.

    Examples
    --------
    >>> import fishernet as fn
    >>> profiles = ["1111", "1100", "0011", "0000", "1101", "0000", "1111"]
    >>> model = fn.learn.hidden_tree([[0, 1], [2, 3]], profiles, n_states=2, seed=1)
    >>> model
    HiddenTree(4 leaves, 3 inner nodes, 2 states, 2 symbols)
    """
    return hidden_tree_fit(tree, strings, **as_fit).model


def hidden_tree_fit(
    tree: Nested,
    strings: Strings,
    *,
    n_states: int | None = None,
    shared: bool = True,
    arity: Sequence[int] | None = None,
    alphabet: Iterable[Hashable] | Alphabet | None = None,
    unknown: Hashable | None = None,
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
    unknown : {"error", "any"} or symbol, optional
        What to do about a symbol that is not in the alphabet, now and later; not with `start`.
    missing : symbol, optional
        Stands for a symbol that is not known; not with `start`.
    start : HiddenTree, optional
        Where to begin, instead of at random: it fixes tree, states, alphabet, tables, arities and zeros.
    restarts, smoothing, max_steps, tolerance, seed, progress
        As for `baum_welch`.

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
       1977; J. Shawe-Taylor and N. Cristianini, "Kernel Methods for Pattern Analysis", 2004, sections 12.1.6 (the
       model) and 12.2.2 (Fisher scores, whose expected counts these are).

    Examples
    --------
    >>> import fishernet as fn
    >>> found = fn.learn.hidden_tree_fit([[0, 1], [2, 3]], ["1111", "1100", "0011", "0000"], n_states=2, seed=1)
    >>> found.model.n_states, found.trace[-1] >= found.trace[0]
    (2, True)
    """
    effort = Effort(restarts, max_steps, tolerance)
    check.number(smoothing, "smoothing", least=0)
    listed = listed_items(strings)
    pattern = start
    if pattern is None:
        n_states = check.integer(n_states, "n_states", least=1, most=MOST_STATES)
        known = chosen_alphabet(listed, alphabet, but=missing, unknown=unknown)
        uniform = np.full((1, len(known)), 1 / len(known))
        pattern = HiddenTree(TreeShape.of(tree), [1.0], [[1.0]], uniform, alphabet=known, missing=missing)
    elif any(given is not None for given in (n_states, alphabet, arity, missing, unknown)) or not shared:
        raise SchemaError("n_states, alphabet, arity, missing, unknown and shared are those of `start`; leave them out")
    codes = pattern.encode(listed)

    def drawn(random: np.random.Generator) -> HiddenTree:
        return _random_model(pattern, codes, n_states or 1, shared, arity, random)

    steps = TreeSteps(codes, float(smoothing))
    return fit("a hidden tree", steps, effort, start=start, drawn=drawn, seed=seed, progress=progress)


@dataclass(frozen=True)
class TreeSteps:
    """The steps for some strings."""

    codes: Codes
    """(n_strings, n_leaves)."""
    smoothing: float

    @property
    def size(self) -> int:
        """The number of symbols."""
        return self.codes.size

    def expected(self, model: HiddenTree) -> tuple[float, TreeCounts]:
        """Return the log-likelihood, and the expected counts summed over the strings."""
        counts = model.counts_of_codes(self.codes)
        return counts.log_likelihood, counts

    def log_prior(self, model: HiddenTree) -> float:
        """Return what the prior adds, over all parameters."""
        return log_prior((model.root, model.transition, model.emission), self.smoothing)

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
    pattern: HiddenTree,
    codes: Codes,
    n_states: int,
    shared: bool,
    arity: Sequence[int] | None,
    random: np.random.Generator,
) -> HiddenTree:
    """Return a random model on the tree of another whose symbols are about as frequent as in the strings."""
    shape, n_symbols = pattern.shape, len(pattern.alphabet)
    lead = () if check.flag(shared, "shared") else (int(shape.n_children.max()),)
    sets = pattern.alphabet.sets[:-1]
    n_codes = n_symbols + len(sets) + 1
    frequency = evenly(np.bincount(codes.ravel(), minlength=n_codes)[: n_codes - 1].astype(np.float64), sets) + 1.0
    emission = random_emission(frequency, (*lead, n_states), random)
    return HiddenTree(
        shape,
        random.dirichlet(np.full(n_states, 5.0)),
        random.dirichlet(np.ones(n_states), (*lead, n_states)),
        emission,
        arity=arity,
        alphabet=pattern.alphabet,
        missing=pattern.missing,
    )
