"""A hidden tree model: states at the inner nodes of a fixed tree, symbols at its leaves (P3, 12.1.6)."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.errors import FishernetError, SchemaError
from fishernet.models.sequences.alphabet import Alphabet
from fishernet.models.sequences.checks import Numbers, checked_rows
from fishernet.models.trees.checks import checked_arity, checked_branches, checked_tables
from fishernet.models.trees.counts import TreeCounts, check_possible, times
from fishernet.models.trees.drawing import draw_symbols
from fishernet.models.trees.shape import Nested, TreeShape
from fishernet.random import Seed, stream_key

Strings = Iterable[Sequence[Hashable]]
Codes = npt.NDArray[np.int32]


class HiddenTree:
    """A hidden tree model; immutable.

    The root draws a state, every inner node below it a state given its parent's, and every leaf a symbol given the
    state of the node above it. A string is the leaves' symbols.

    Parameters
    ----------
    tree : nested lists
        An integer is a leaf: the position of its symbol in the string. A list is an inner node.
    root : (n_states,) array
        P(state of the root).
    transition : (n_states, n_states) array, or (n_tables, n_states, n_states)
        ``transition[a, b]`` is P(b | a), from a node to a child of it. With a first axis: a table for each position
        among the children (or what `branch_tables` says).
    emission : (n_states, n_symbols) array, or (n_tables, n_states, n_symbols)
        ``emission[a, s]`` is P(symbol s of a leaf | state a of the node above it). With a first axis as `transition`.
    arity : sequence of int, optional
        The number of children that a node in each state has (12.1.6). A labelling in which a node has another number
        has probability 0, and the rest is not renormalized: strings then have a total mass below 1.
    alphabet : iterable of symbols, or Alphabet, optional
        0, 1, ... without it.
    missing : symbol, optional
        Stands in strings for a symbol that is not known; what it may be is summed out.
    branch_tables : sequence of int, optional
        Which table each branch has, one a branch in the order of `TreeShape`: node by node, depth first, and the
        children of a node in their order.

    Raises
    ------
    SchemaError
        When shapes do not fit, a number is negative or not finite, a row does not sum to 1, a leaf is in the tree twice
        or missing, or no labelling of the nodes has the arities.

    Examples
    --------
    A gene is there (1) or not (0) in an ancestor, and may be lost or gained on the way to each of four species:

    >>> import fishernet as fn
    >>> move = [[0.7, 0.3], [0.1, 0.9]]
    >>> tree = fn.HiddenTree([[0, 1], [2, 3]], [0.4, 0.6], move, move)
    >>> tree
    HiddenTree(4 leaves, 3 inner nodes, 2 states, 2 symbols)
    >>> import numpy as np
    >>> np.exp(tree.log_prob([[0, 0, 0, 0], [1, 1, 1, 1]])).round(7)
    array([0.0499048, 0.3642408])
    """

    __slots__ = (
        "__weakref__",
        "_alphabet",
        "_arity",
        "_branch_tables",
        "_codes",
        "_emission",
        "_missing",
        "_native",
        "_root",
        "_shape",
        "_transition",
    )

    def __init__(
        self,
        tree: Nested,
        root: npt.ArrayLike,
        transition: npt.ArrayLike,
        emission: npt.ArrayLike,
        *,
        arity: Sequence[int] | npt.NDArray[np.integer] | None = None,
        alphabet: Iterable[Hashable] | Alphabet | None = None,
        missing: Hashable | None = None,
        branch_tables: Sequence[int] | npt.NDArray[np.integer] | None = None,
    ) -> None:
        self._shape = tree if isinstance(tree, TreeShape) else TreeShape.from_nested(tree)
        self._root = checked_rows(root, "root", (None,))
        n = len(self._root)
        self._transition = checked_tables(transition, "transition", (n, n))
        self._emission = checked_tables(emission, "emission", (n, None))
        self._arity = checked_arity(arity, n)
        self._branch_tables = checked_branches(branch_tables, self._shape, self._transition, self._emission)
        self._set_symbols(alphabet, missing)
        self._native = self._make_native()
        if not np.isfinite(self._total_mass()):
            raise SchemaError("no labelling of the tree's nodes has the arities: every string would be impossible")

    def _set_symbols(self, alphabet: Iterable[Hashable] | Alphabet | None, missing: Hashable | None) -> None:
        n_symbols = self._emission.shape[-1]
        if alphabet is None:
            alphabet = range(n_symbols)
        self._alphabet = alphabet if isinstance(alphabet, Alphabet) else Alphabet(alphabet)
        if len(self._alphabet) != n_symbols:
            raise SchemaError(f"the alphabet has {len(self._alphabet)} symbols, and emission columns for {n_symbols}")
        self._missing = missing
        if missing is None:
            self._codes = self._alphabet
        elif missing in self._alphabet.symbols:
            raise SchemaError(f"{missing!r} cannot stand for a missing symbol: it is in the alphabet")
        else:
            self._codes = Alphabet([*self._alphabet.symbols, missing], unknown=self._alphabet.unknown)

    def _make_native(self) -> _core.TreeModel:
        transition, emission = (part[None] if part.ndim == 2 else part for part in (self._transition, self._emission))
        n_tables = max(len(transition), len(emission))
        shape, n = self._shape, self.n_states
        allowed = np.ones((shape.n_nodes, n), np.uint8)
        if self._arity is not None:
            allowed = (shape.n_children[:, None] == self._arity).astype(np.uint8)
        return _core.TreeModel(
            shape.first,
            shape.child,
            self._branch_tables,
            allowed,
            self._root,
            np.ascontiguousarray(np.broadcast_to(transition, (n_tables, n, n))),
            np.ascontiguousarray(np.broadcast_to(emission, (n_tables, n, emission.shape[2]))),
        )

    def _total_mass(self) -> float:
        unknown = np.full((1, self.n_leaves), len(self._alphabet), np.int32)
        return float(self._native.log_prob(unknown)[0])

    @property
    def shape(self) -> TreeShape:
        """The tree."""
        return self._shape

    @property
    def n_leaves(self) -> int:
        """The length of the strings."""
        return self._shape.n_leaves

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self._root)

    @property
    def n_parameters(self) -> int:
        """The number of parameters: the columns of `fisher_scores`."""
        return self._emission.size + self._transition.size + self._root.size

    @property
    def alphabet(self) -> Alphabet:
        """The symbols."""
        return self._alphabet

    @property
    def missing(self) -> Hashable | None:
        """What stands for a symbol that is not known, or None."""
        return self._missing

    @property
    def root(self) -> Numbers:
        """(n_states,) P(state of the root)."""
        return self._root

    @property
    def transition(self) -> Numbers:
        """P(b | a) in row a, column b; with a first axis of tables where it was given so."""
        return self._transition

    @property
    def emission(self) -> Numbers:
        """P(symbol | a) in row a; with a first axis of tables where it was given so."""
        return self._emission

    @property
    def arity(self) -> npt.NDArray[np.int64] | None:
        """(n_states,) the number of children of a node in each state, or None."""
        return self._arity

    @property
    def branch_tables(self) -> npt.NDArray[np.int32]:
        """(n_branches,) which table each branch has."""
        return self._branch_tables

    @property
    def native(self) -> _core.TreeModel:
        """The same model as the core sees it."""
        return self._native

    def __repr__(self) -> str:
        shape = self._shape
        return (
            f"HiddenTree({shape.n_leaves} leaves, {shape.n_nodes} inner nodes, {self.n_states} states, "
            f"{len(self._alphabet)} symbols)"
        )

    def encode(self, strings: Strings) -> Codes:
        """Return strings as codes, (n, n_leaves) int32; a missing symbol's code is the number of symbols.

        Raises
        ------
        SchemaError
            When a string has another length than the tree has leaves.
        UnknownStateError
            When a symbol is not in the alphabet.
        """
        encoded = self._codes.encode(strings)
        wrong = encoded.lengths != self.n_leaves
        if wrong.any():
            number = int(np.argmax(wrong))
            raise SchemaError(
                f"string {number} has {encoded.lengths[number]} symbols, and the tree {self.n_leaves} leaves"
            )
        return encoded.codes.reshape(len(encoded), self.n_leaves)

    def log_prob(self, strings: Strings) -> Numbers:
        """Return the log-probability of each string.

        Parameters
        ----------
        strings : list of strings
            Each a str or a sequence of symbols, as long as the tree has leaves.

        Returns
        -------
        (n,) float64
            In nats; -inf for what is impossible.

        Raises
        ------
        SchemaError, UnknownStateError
            As `encode`.
        """
        return self._native.log_prob(self.encode(strings))

    def sample(self, n: int, *, seed: Seed = None) -> list[str | list[object]]:
        """Draw strings; with arities, given that they are met.

        Parameters
        ----------
        n : int
            How many strings.
        seed : None, int or numpy.random.Generator

        Returns
        -------
        list
            Strings: str where all symbols are single characters, otherwise lists of symbols.
        """
        if n < 0:
            raise FishernetError(f"the number of strings must be at least 0, got {n}")
        draws = np.random.Generator(np.random.Philox(key=stream_key(seed)))
        codes = draw_symbols(self, n, draws)
        return [self._alphabet.string(row) for row in codes.tolist()]

    def posterior(self, strings: Strings) -> Numbers:
        """Return P(state of each inner node | string).

        Returns
        -------
        (n, n_nodes, n_states) float64
            Nodes depth first, the root first.

        Raises
        ------
        ZeroProbabilityError
            When a string is impossible.
        """
        codes = self.encode(strings)
        found = self._native.posteriors(codes).reshape(len(codes), self._shape.n_nodes, self.n_states)
        check_possible(found[:, 0].sum(axis=1) == 0)
        return found

    def expected_counts(self, strings: Strings) -> TreeCounts:
        """Return how often each event is expected in the strings, all together.

        Returns
        -------
        TreeCounts
            They add over parts of the data.

        Raises
        ------
        ZeroProbabilityError
            When a string is impossible.
        """
        return self.counts_of_codes(self.encode(strings))

    def counts_of_codes(self, codes: Codes) -> TreeCounts:
        """Return `expected_counts` of strings that `encode` gave."""
        quotients, log_prob = self._native.quotients(codes, False)
        check_possible(np.isneginf(log_prob))
        emission, transition, root = self._parts(quotients.sum(axis=0))
        return TreeCounts(
            times(root, self._root),
            times(transition, self._transition),
            times(emission, self._emission),
            float(log_prob.sum()),
        )

    def fisher_scores(self, strings: Strings) -> Numbers:
        """Return the derivatives of each string's log-probability by the parameters.

        Parameters are "unconstrained, then normalized", at normalized values (P3, 12.2.2): the derivative by theta is
        the expected count divided by theta, less the expected number of times its row was used.

        Returns
        -------
        (n, n_parameters) float64
            Columns: emission [table, state, symbol], transition [table, from, to], root, each in C order. The
            derivative by a parameter that is 0 is what it is beside it; beyond the range of doubles it is inf.

        Raises
        ------
        ZeroProbabilityError
            When a string is impossible.
        """
        quotients, log_prob = self._native.quotients(self.encode(strings), True)
        check_possible(np.isneginf(log_prob))
        parts = zip(self._parts(quotients), (self._emission, self._transition, self._root), strict=True)
        scores = [part - times(part, theta).sum(axis=-1, keepdims=True) for part, theta in parts]
        return np.hstack([part.reshape(len(log_prob), math.prod(part.shape[1:])) for part in scores])

    def _parts(self, quotients: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Divide columns into those of emission, transition and root; a shared table's are summed."""
        n = self.n_states
        lead, columns = quotients.shape[:-1], quotients.shape[-1]
        n_symbols = len(self._alphabet)
        n_tables = (columns - n) // (n * (n_symbols + n))
        ends = np.cumsum([n_tables * n * n_symbols, n_tables * n * n])
        emission, transition, root = np.split(quotients, ends, axis=-1)
        emission = emission.reshape(*lead, n_tables, n, n_symbols)
        transition = transition.reshape(*lead, n_tables, n, n)
        if self._emission.ndim == 2:
            emission = emission.sum(axis=-3)
        if self._transition.ndim == 2:
            transition = transition.sum(axis=-3)
        return emission, transition, root
