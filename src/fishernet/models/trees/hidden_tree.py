"""A hidden tree model: states at the inner nodes of a fixed tree, symbols at its leaves.

The model, its scores and its kernel are those of Shawe-Taylor and Cristianini (2004, sections 12.1.6 and 12.2.2).
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.display import Brief
from fishernet.base.errors import SchemaError, StateSpaceError
from fishernet.base.names import several, shown
from fishernet.base.random import Seed, draw_count, stream_key
from fishernet.models.sequences.alphabet import (
    SKIP,
    Alphabet,
    Numbers,
    alphabet_of_columns,
    checked_numbers,
    checked_rows,
    of_symbols,
    require_symbol,
    with_sets,
)
from fishernet.models.sequences.counted import CountedModel
from fishernet.models.sequences.hmm_counts import require_possible, uses
from fishernet.models.trees.shape import Nested, TreeShape

MOST_STRINGS = 2**12  # that the information is a sum over


def checked_tables(values: npt.ArrayLike, what: str, shape: tuple[int | None, ...]) -> Numbers:
    """Return a table, or several along a first axis; rows sum to 1."""
    values = check.numbers(values, what)
    if values.ndim == 3:
        shape = (None, *shape)
    return checked_rows(values, what, shape)


def checked_arity(arity: Sequence[int] | npt.NDArray[np.integer] | None, n_states: int) -> npt.NDArray[np.int64] | None:
    """Return the number of children in each state, or None."""
    if arity is None:
        return None
    return _whole(arity, "arity", n_states, 2**31, f"numbers of children, got {shown(arity)}")


def checked_branches(
    tables: Sequence[int] | npt.NDArray[np.integer] | None, shape: TreeShape, transition: Numbers, emission: Numbers
) -> npt.NDArray[np.int32]:
    """Return the table of every branch."""
    sizes = {part.shape[0] for part in (transition, emission) if part.ndim == 3}
    if len(sizes) > 1:
        raise SchemaError(f"transition has {transition.shape[0]} tables and emission {emission.shape[0]}")
    if not sizes:
        if tables is not None:
            raise SchemaError("branch_tables needs transition or emission with a first axis of tables")
        return np.zeros(shape.n_branches, np.int32)
    (n_tables,) = sizes
    if tables is None:
        most = int(shape.n_children.max())
        if most > n_tables:
            raise SchemaError(f"a node has {most} children, and there are tables for {n_tables} positions")
        return shape.positions
    numbers = f"numbers of tables from 0 to {n_tables - 1}"
    return _whole(tables, "branch_tables", shape.n_branches, n_tables - 1, numbers, np.int32)


def _whole(
    values: npt.ArrayLike, name: str, size: int, most: int, what: str, dtype: type = np.int64
) -> npt.NDArray[Any]:
    """Return so many integers from 0, read-only."""
    numbers = checked_numbers(values, name, (size,))
    if (numbers != np.floor(numbers)).any() or (numbers > most).any():
        raise SchemaError(f"{name} must hold {what}")
    whole: npt.NDArray[Any] = numbers.astype(dtype)
    whole.flags.writeable = False
    return whole


@dataclass(frozen=True, eq=False, repr=False)
class TreeCounts(Brief):
    """Expected numbers of events, given strings; they add over parts of the data."""

    root: Numbers
    """(n_states,) how often the root was in each state."""
    transition: Numbers
    """Of the shape of the model's: how often a child was in state b below a node in state a."""
    emission: Numbers
    """Of the shape of the model's: how often a leaf had symbol s below state a; missing symbols do not count."""
    log_likelihood: float
    """The sum of the strings' log-probabilities, in nats."""


def draw_symbols(model: HiddenTree, n: int, draws: np.random.Generator) -> npt.NDArray[np.int32]:
    """Return the codes of n strings, (n, n_leaves); given that the arities are met, where there are some."""
    shape = model.shape
    mass = met_mass(model)
    states: dict[int, npt.NDArray[np.intp]] = {0: _drawn(np.tile(model.root * mass[0], (n, 1)), draws)}
    codes = np.empty((n, shape.n_leaves), np.int32)
    for node in range(shape.n_nodes):
        above = states.pop(node)
        for branch, child in shape.children(node):
            if child < 0:
                codes[:, ~child] = _drawn(table_of(model.emission, model, branch)[above], draws)
            else:
                states[child] = _drawn((table_of(model.transition, model, branch) * mass[child])[above], draws)
    return codes


def met_mass(model: HiddenTree) -> Numbers:
    """Return P(everything from a node on has its arity | its state), (n_nodes, n_states), up to a factor per node."""
    shape = model.shape
    mass = np.ones((shape.n_nodes, len(model.root)))
    if model.arity is None:
        return mass
    for node in range(shape.n_nodes - 1, -1, -1):
        for branch, child in shape.children(node):
            if child >= 0:
                mass[node] *= table_of(model.transition, model, branch) @ mass[child]
                mass[node] /= max(mass[node].max(), np.finfo(float).tiny)  # so that depth does not underflow
        mass[node] *= model.arity == shape.n_children[node]
    return mass


def table_of(tables: Numbers, model: HiddenTree, branch: int) -> Numbers:
    """Return the table of a branch."""
    table: Numbers = tables if tables.ndim == 2 else tables[model.branch_tables[branch]]
    return table


def _drawn(weights: Numbers, draws: np.random.Generator) -> npt.NDArray[np.intp]:
    """Return a column for each row of weights."""
    sums = np.cumsum(weights, axis=1)
    points = draws.random(len(weights)) * sums[:, -1]
    columns: npt.NDArray[np.intp] = np.sum(points[:, None] >= sums, axis=1)
    last = weights.shape[1] - 1 - np.argmax(weights[:, ::-1] > 0, axis=1)  # rounding must not give what cannot be
    possible: npt.NDArray[np.intp] = np.minimum(columns, last)
    return possible


Strings = Iterable[Sequence[Hashable]]
Codes = npt.NDArray[np.int32]


class HiddenTree(CountedModel):
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
        Default: 0, 1, ... With "dna", "rna" or "protein", ambiguous letters are summed over what they may be.
    unknown : {"error", "any"} or symbol, optional
        What to do about a symbol that is not in the alphabet: as for `Alphabet`; none can be left out. "any" is as
        `missing`.
    missing : symbol, optional
        Stands in strings for a symbol that is not known; what it may be is summed out.
    branch_tables : sequence of int, optional
        Which table each branch has, one per branch in the order of `TreeShape`: node by node, depth first, and the
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
        "_codes",
        "alphabet",
        "arity",
        "branch_tables",
        "emission",
        "missing",
        "native",
        "root",
        "shape",
        "transition",
    )

    kind: ClassVar[str] = "hidden tree model"
    """What it is called."""
    values: ClassVar[Literal["symbols"]] = "symbols"
    """Its data are strings of symbols."""
    has_hidden_states: ClassVar[bool] = True
    """Its states are only expected."""
    shape: TreeShape
    """The tree."""
    alphabet: Alphabet
    """The symbols."""
    missing: Hashable | None
    """What stands for a symbol that is not known, or None."""
    root: Numbers
    """(n_states,) P(state of the root)."""
    transition: Numbers
    """P(b | a) in row a, column b; with a first axis of tables where it was given so."""
    emission: Numbers
    """P(symbol | a) in row a; with a first axis of tables where it was given so."""
    arity: npt.NDArray[np.int64] | None
    """(n_states,) the number of children of a node in each state, or None."""
    branch_tables: npt.NDArray[np.int32]
    """(n_branches,) which table each branch has."""
    native: _core.TreeModel
    """The same model as the core sees it."""

    def __init__(
        self,
        tree: Nested,
        root: npt.ArrayLike,
        transition: npt.ArrayLike,
        emission: npt.ArrayLike,
        *,
        arity: Sequence[int] | npt.NDArray[np.integer] | None = None,
        alphabet: Iterable[Hashable] | Alphabet | None = None,
        unknown: Hashable | None = None,
        missing: Hashable | None = None,
        branch_tables: Sequence[int] | npt.NDArray[np.integer] | None = None,
    ) -> None:
        shape = TreeShape.of(tree)
        start = checked_rows(root, "root", (None,))
        n = len(start)
        moves = checked_tables(transition, "transition", (n, n))
        symbols = checked_tables(emission, "emission", (n, None))
        self._set(
            shape=shape,
            root=start,
            transition=moves,
            emission=symbols,
            arity=checked_arity(arity, n),
            branch_tables=checked_branches(branch_tables, shape, moves, symbols),
            alphabet=alphabet_of_columns(alphabet, symbols.shape[-1], unknown),
            missing=missing,
        )
        self._codes = self.alphabet
        if missing is not None:
            require_symbol(missing)
            if missing in self.alphabet.symbols:
                raise SchemaError(f"{missing!r} cannot stand for a missing symbol: it is in the alphabet")
            self._codes = self.alphabet.with_ambiguous({missing: self.alphabet.symbols})
        if self._codes.unknown == SKIP and SKIP not in self.alphabet.symbols:
            raise SchemaError(
                "a string has a symbol for each leaf of the tree, so that none can be left out; unknown='any' sums an "
                "unknown one out",
                parameter="unknown",
            )
        self._set(native=self._make_native())
        anything = np.full((1, self.n_leaves), self._codes.code_of_any, np.int32)
        if not np.isfinite(self.native.log_prob(anything)[0]):  # the mass of all strings
            raise SchemaError("no labelling of the tree's nodes has the arities: every string would be impossible")

    def _make_native(self) -> _core.TreeModel:
        symbols = with_sets(self.emission, self._sets)
        transition, emission = (part[None] if part.ndim == 2 else part for part in (self.transition, symbols))
        n_tables = max(len(transition), len(emission))
        shape, n = self.shape, self.n_states
        allowed = np.ones((shape.n_nodes, n), np.uint8)
        if self.arity is not None:
            allowed = (shape.n_children[:, None] == self.arity).astype(np.uint8)
        return _core.TreeModel(
            shape.first,
            shape.child,
            self.branch_tables,
            allowed,
            self.root,
            np.ascontiguousarray(np.broadcast_to(transition, (n_tables, n, n))),
            np.ascontiguousarray(np.broadcast_to(emission, (n_tables, n, emission.shape[2]))),
        )

    @property
    def _sets(self) -> Numbers | None:
        """The sets of symbols that letters may mean, without that of all symbols: the core knows it anyway."""
        return self._codes.sets[:-1] if self._codes.has_sets else None

    def with_unknown(self, unknown: Hashable) -> Self:
        """Return the model with another way to deal with symbols that are not in its alphabet: "any" or "error"."""
        return type(self)(*self._parts(), **{**self._options(), "alphabet": self.alphabet.taking(unknown)})

    @property
    def n_leaves(self) -> int:
        """The length of the strings."""
        return self.shape.n_leaves

    @property
    def n_states(self) -> int:
        """The number of states."""
        return len(self.root)

    @property
    def n_parameters(self) -> int:
        """The number of parameters: the columns of `fisher_scores`."""
        return self.emission.size + self.transition.size + self.root.size

    def _parts(self) -> tuple[Any, ...]:
        return self.shape, self.root, self.transition, self.emission

    def _options(self) -> dict[str, Any]:
        tables = None if self.transition.ndim == self.emission.ndim == 2 else self.branch_tables
        return {"arity": self.arity, "alphabet": self.alphabet, "missing": self.missing, "branch_tables": tables}

    def __repr__(self) -> str:
        shape = self.shape
        return (
            f"HiddenTree({shape.n_leaves} leaves, {shape.n_nodes} inner nodes, {self.n_states} states, "
            f"{several(len(self.alphabet), 'symbol')})"
        )

    def encode(self, strings: Strings) -> Codes:
        """Return strings as codes, (n, n_leaves) int32; a missing symbol's code is the largest.

        From ``len(alphabet)`` on they are the alphabet's sets of symbols, of which the last has all.

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
        return self.native.log_prob(self.encode(strings))

    def sample(self, n: int, *, seed: Seed = None) -> list[str | list[object]]:
        """Draw strings, each a str where all symbols are single characters; with arities, given that they are met."""
        count = draw_count(n)
        draws = np.random.Generator(np.random.Philox(key=stream_key(seed)))
        codes = draw_symbols(self, count, draws)
        return [self.alphabet.string(row) for row in codes.tolist()]

    def posterior(self, strings: Strings) -> Numbers:
        """Return P(state of each inner node | string), (n, n_nodes, n_states); nodes depth first, the root first.

        Raises
        ------
        ZeroProbabilityError
            When a string is impossible.
        """
        codes = self.encode(strings)
        found = self.native.posteriors(codes).reshape(len(codes), self.shape.n_nodes, self.n_states)
        require_possible(found[:, 0].sum(axis=1) > 0)
        return found

    def expected_counts(self, strings: Strings) -> TreeCounts:
        """Return how often each event is expected in the strings, all together; none may be impossible."""
        return self.counts_of_codes(self.encode(strings))

    def counts_of_codes(self, codes: Codes) -> TreeCounts:
        """Return `expected_counts` of strings that `encode` gave."""
        quotients, log_prob = self.native.quotients(codes, False)
        require_possible(~np.isneginf(log_prob))
        emission, transition, root = self._by_kind(quotients.sum(axis=0))
        return TreeCounts(
            uses(root, self.root),
            uses(transition, self.transition),
            uses(emission, self.emission),
            float(log_prob.sum()),
        )

    @property
    def probability_tables(self) -> tuple[Numbers, ...]:
        """Its parameters as tables whose rows are distributions: of symbols, of children's states, of the root's."""
        of_states = self.emission, self.transition
        return (*[part.reshape(-1, part.shape[-1]) for part in of_states], self.root[None])

    def _of_tables(self, tables: Sequence[Numbers]) -> Self:
        emission, transition, root = tables
        moved = transition.reshape(self.transition.shape), emission.reshape(self.emission.shape)
        return type(self)(self.shape, root[0], *moved, **self._options())

    def counts(self, strings: Strings) -> Numbers:
        """Return how often each string is expected to use each parameter, (n, cells of `probability_tables`).

        Raises
        ------
        ZeroProbabilityError
            When a string is impossible.

        Examples
        --------
        >>> import fishernet as fn
        >>> tree = fn.HiddenTree([0, 1], [1, 0], [[0.8, 0.2], [0.3, 0.7]], [[0.9, 0.1], [0.2, 0.8]], alphabet="ab")
        >>> tree.counts(["ab"])  # two symbols, no inner branch, a root
        array([[1., 1., 0., 0., 0., 0., 0., 0., 1., 0.]])
        """
        quotients, log_prob = self.native.quotients(self.encode(strings), True)
        require_possible(~np.isneginf(log_prob))
        parts = zip(self._by_kind(quotients), (self.emission, self.transition, self.root), strict=True)
        return np.hstack([uses(part, theta).reshape(len(log_prob), theta.size) for part, theta in parts])

    def total_counts(self, codes: Codes) -> Numbers:
        """Return the sums of `counts` over strings that `encode` gave, (cells,)."""
        found = self.counts_of_codes(codes)
        return np.concatenate([found.emission.ravel(), found.transition.ravel(), found.root])

    def fisher_scores(self, strings: Strings) -> Numbers:
        """Return the derivatives of each string's log-probability by the parameters.

        Parameters are "unconstrained, then normalized", at normalized values: the derivative by theta is
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
        quotients, log_prob = self.native.quotients(self.encode(strings), True)
        require_possible(~np.isneginf(log_prob))
        parts = zip(self._by_kind(quotients), (self.emission, self.transition, self.root), strict=True)
        scores = [part - uses(part, theta).sum(axis=-1, keepdims=True) for part, theta in parts]
        return np.hstack([part.reshape(len(log_prob), math.prod(part.shape[1:])) for part in scores])

    def fisher_information(self) -> Numbers:
        """Return the expected product of the scores of one string, from all strings; with arities, given these.

        Returns
        -------
        (n_parameters, n_parameters) float64
            Singular, as the parametrization is redundant.

        Raises
        ------
        StateSpaceError
            When there are more than 2**12 strings.
        """
        n_symbols, length = len(self.alphabet), self.n_leaves
        if n_symbols**length > MOST_STRINGS:
            remedy = "use the second moments of the scores of a sample"
            raise StateSpaceError("the strings", cells=n_symbols**length, limit=MOST_STRINGS, remedy=remedy)
        codes = np.indices((n_symbols,) * length).reshape(length, -1).T
        strings = [self.alphabet.string(row) for row in codes.tolist()]
        p = np.exp(self.log_prob(strings))
        possible = np.flatnonzero(p)
        scores = self.fisher_scores([strings[place] for place in possible])
        return np.asarray((scores.T * (p[possible] / p.sum())) @ scores)

    def _by_kind(self, quotients: Numbers) -> tuple[Numbers, Numbers, Numbers]:
        """Divide columns into those of emission, transition and root; a shared table's are summed."""
        n = self.n_states
        lead, columns = quotients.shape[:-1], quotients.shape[-1]
        n_symbols = self._codes.code_of_any
        n_tables = (columns - n) // (n * (n_symbols + n))
        ends = np.cumsum([n_tables * n * n_symbols, n_tables * n * n])
        emission, transition, root = np.split(quotients, ends, axis=-1)
        emission = of_symbols(emission.reshape(*lead, n_tables, n, n_symbols), self._sets)
        transition = transition.reshape(*lead, n_tables, n, n)
        if self.emission.ndim == 2:
            emission = emission.sum(axis=-3)
        if self.transition.ndim == 2:
            transition = transition.sum(axis=-3)
        return emission, transition, root
