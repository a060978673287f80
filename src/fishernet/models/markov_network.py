"""A Markov network: a distribution proportional to a product of factors that are not negative."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.display import DrawnModel
from fishernet.base.errors import SchemaError, StateSpaceError
from fishernet.base.names import Pair, check_names, listed, positions, several
from fishernet.base.random import Seed, draw_count, stream_key
from fishernet.base.value import Value
from fishernet.data import Table, Variable, as_table
from fishernet.data.variable import Column, checked_variables
from fishernet.graphs import UndirectedGraph
from fishernet.infer.evidence import impossible
from fishernet.infer.factors import MAX_TABLE, planned
from fishernet.infer.prediction import Predicting
from fishernet.infer.pseudo_gibbs import Scan, draw_rows, native_sampler
from fishernet.models.conditionals.base import Conditional
from fishernet.models.conditionals.product import Factor, full_conditionals


class MarkovNetwork(Predicting, DrawnModel, Value):
    """A Markov network over categorical variables; immutable.

    Parameters
    ----------
    variables : sequence of Variable
        Names are unique.
    factors : sequence of (names, array) pairs
        Each array has one axis per name, and finite numbers that are not negative (potentials). A potential of zero:
        impossible.

    Raises
    ------
    SchemaError
        When names or shapes do not fit, or a number is negative or not finite.

    Examples
    --------
    >>> import fishernet as fn
    >>> a, b = fn.Variable("a", ["down", "up"]), fn.Variable("b", ["down", "up"])
    >>> pair = fn.MarkovNetwork([a, b], [(("a", "b"), [[2.0, 1.0], [1.0, 2.0]])])
    >>> pair
    MarkovNetwork(2 variables, 1 factor)
    >>> fn.infer.marginal(pair, ["a", "b"]).round(3)
    array([[0.333, 0.167],
           [0.167, 0.333]])
    """

    __slots__ = ("_factors", "_native", "names", "variables")

    variables: tuple[Variable, ...]
    """The variables."""
    names: tuple[str, ...]
    """The variables' names."""

    def __init__(self, variables: Sequence[Column], factors: Iterable[tuple[Iterable[str], npt.ArrayLike]]) -> None:
        variables = checked_variables(variables)
        self._set(variables=variables, names=tuple(variable.name for variable in variables))
        numbers = [variable.name for variable in variables if variable.is_continuous]
        if numbers:
            raise SchemaError(
                f"a Markov network needs categorical variables, and {listed(numbers)} is continuous; use a "
                "GaussianMarkovNetwork for numbers"
            )
        places = {name: v for v, name in enumerate(self.names)}
        self._factors = tuple(
            _checked_factor(self.variables, self.names, places, *_pair(factor))
            for factor in check.items(factors, "factors", "pairs (names, array)")
        )
        self._native: _core.Factors | None = None

    kind: ClassVar[str] = "Markov network"
    """What it is called."""
    values: ClassVar[Literal["states"]] = "states"
    """The cells of its tables hold states."""
    likelihood: ClassVar[Literal["none"]] = "none"
    """Its potentials are not normalized; `fishernet.infer.log_evidence` gives probabilities."""
    inference: ClassVar[Literal["factors"]] = "factors"
    """Questions are answered by its factors."""
    conditionals: ClassVar[tuple[Conditional, ...]] = ()
    """None: it is made of factors."""

    @property
    def potentials(self) -> tuple[tuple[tuple[str, ...], npt.NDArray[np.float64]], ...]:
        """The factors: the names of the axes, and the numbers."""
        return tuple((tuple(self.names[v] for v in axes), values) for axes, values in self._factors)

    @property
    def graph(self) -> UndirectedGraph:
        """The graph that joins variables of one factor."""
        pairs = {pair for axes, _ in self._factors for pair in itertools.combinations(sorted(axes), 2)}
        return UndirectedGraph.from_edges(self.names, [(self.names[a], self.names[b]) for a, b in sorted(pairs)])

    @property
    def edges(self) -> tuple[Pair, ...]:
        """The edges of its graph as pairs of names."""
        return self.graph.edges

    def log_potential(self, table: Any) -> npt.NDArray[np.float64]:
        """Return the sum of the logarithms of the factors at each row, (n_rows,) float64 in nats; -inf if impossible.

        `fishernet.infer.log_partition` less than this is the row's log-probability.
        """
        rows = as_table(table, self.variables, complete_for="log_potential")
        total = np.zeros(rows.n_rows)
        for axes, values in self._factors:
            with np.errstate(divide="ignore"):
                total += np.log(values)[tuple(rows.codes[v].astype(np.int64) for v in axes)]
        return total

    def sample(self, n: int, *, seed: Seed = None, max_table: int = MAX_TABLE, burn_in: int | None = None) -> Table:
        """Draw rows: exactly by a junction tree where its tables fit, by Gibbs sampling otherwise.

        Parameters
        ----------
        n : int
            How many rows.
        seed : None, int or numpy.random.Generator
        max_table : int
            How many cells (8 bytes each) the tree's tables may have together.
        burn_in : int, optional
            Updates before the first row of Gibbs sampling: 100 n_variables.

        Returns
        -------
        Table
            Independent rows from the junction tree; successive states, n_variables updates apart, from Gibbs sampling.

        Raises
        ------
        StateSpaceError
            When the tree's tables do not fit and a potential is zero: Gibbs sampling, which changes one variable at a
            time, may then never come from one possible state to another.
        ZeroProbabilityError
            When every state has a potential of zero.
        """
        rows = draw_count(n)
        try:
            plan = planned(self, [], [], [], max_table, tree=True)
        except StateSpaceError as error:
            if any((values == 0).any() for _, values in self._factors):
                remedy = "raise the limit (8 bytes per cell); Gibbs sampling needs potentials above zero"
                what = "the junction tree's tables"
                raise StateSpaceError(
                    what, cells=error.cells, limit=error.limit, remedy=remedy, parameter="max_table"
                ) from error
            conditionals = full_conditionals(self.variables, self._factors)
            burn = 100 * len(self.variables) if burn_in is None else burn_in
            sampler = native_sampler(self.variables, conditionals)
            scan = Scan.of(self.variables, "random", None, None)
            return draw_rows(self.variables, sampler, rows, scan, burn_in=burn, seed=seed)
        columns = plan.sample(np.zeros(len(self.variables), dtype=np.int32), [], rows, stream_key(seed))
        if len(columns) < len(self.variables):
            raise impossible(None)
        return Table.adopt(self.variables, columns, n_rows=rows)

    @property
    def factors(self) -> _core.Factors:
        """The factors, which inference multiplies; made once."""
        if self._native is None:
            native = _core.Factors(np.array([v.cardinality for v in self.variables], dtype=np.int64))
            for axes, values in self._factors:
                native.add(np.array(axes, dtype=np.int32), values.reshape(-1), False)
            self._native = native
        return self._native

    @property
    def scopes(self) -> tuple[tuple[int, ...], ...]:
        """The positions of each factor's axes."""
        return tuple(axes for axes, _ in self._factors)

    @property
    def is_normalized(self) -> bool:
        """False: the factors' product need not sum to 1."""
        return False

    def factor_tables(self) -> tuple[Factor, ...]:
        """Return the positions of each factor's axes, and its values."""
        return self._factors

    def __repr__(self) -> str:
        return f"MarkovNetwork({several(len(self.variables), 'variable')}, {several(len(self._factors), 'factor')})"

    def _parts(self) -> tuple[Any, ...]:
        return self.variables, self.potentials


def _pair(factor: Any) -> tuple[Any, Any]:
    pair = check.items(factor, "each of factors", "two things: names and an array")
    if len(pair) != 2:
        raise SchemaError(f"each of factors must be a pair (names, array), not {several(len(pair), 'thing')}")
    return pair[0], pair[1]


def _checked_factor(
    variables: tuple[Variable, ...],
    names: tuple[str, ...],
    places: dict[str, int],
    of: Iterable[str],
    values: npt.ArrayLike,
) -> Factor:
    if isinstance(of, str):
        raise SchemaError(f"the names of a factor must be a sequence, not one str ({of!r})")
    wanted = list(of)
    try:
        axes = tuple(places[name] for name in wanted)
    except (KeyError, TypeError):
        axes = positions(names, wanted)  # says which name it is
    check_names([names[v] for v in axes])
    array = np.array(values, dtype=np.float64, order="C")
    shape = tuple(variables[v].cardinality for v in axes)
    shown = ", ".join(names[v] for v in axes)
    if array.shape != shape:
        raise SchemaError(f"the factor of {shown} has shape {array.shape}; its variables need {shape}")
    if not np.isfinite(array).all() or (array < 0).any():
        raise SchemaError(f"the factor of {shown} must have finite numbers that are not negative")
    array.flags.writeable = False
    return axes, array
