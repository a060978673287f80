"""Networks: variables, each with a conditional; what all kinds share."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet import _core
from fishernet.base import check
from fishernet.base.display import MOST_ROWS, DrawnModel, table_html
from fishernet.base.errors import SchemaError
from fishernet.base.names import Pair, check_names, listed, positions, several, shown
from fishernet.base.value import Value
from fishernet.data import Table, Variable
from fishernet.data.variable import Column, checked_variables
from fishernet.infer.conditioned import Queried
from fishernet.models.conditionals.base import Conditional, Probabilities
from fishernet.models.conditionals.conditional_gaussian import ConditionalGaussian
from fishernet.models.conditionals.full_table import FullTable
from fishernet.models.model import Values, rows_fitted_to, rows_of

MOST_LINES = 60  # of a network in words


class Network(Queried, DrawnModel, Value):
    """Variables and their conditionals, one each, in the same order. The graph is what a kind of network makes of them.

    SchemaError when they do not fit. `n_rows` is the number of rows it was fitted on, or the sum of their weights.
    """

    __slots__ = ("_continuous", "_in_python", "_logs", "_native", "conditionals", "n_rows", "names", "variables")

    variables: tuple[Variable, ...]
    """The variables, in the order of the conditionals."""
    names: tuple[str, ...]
    """The variables' names."""
    conditionals: tuple[Conditional, ...]
    """One per variable."""
    n_rows: int | float | None
    """The number of rows it was fitted on, or the sum of their weights; None when it was built from tables."""

    def __init__(
        self, variables: Sequence[Column], conditionals: Sequence[Conditional], *, n_rows: float | None = None
    ) -> None:
        variables = checked_variables(variables)
        names = tuple(variable.name for variable in variables)
        conditionals = check.items(conditionals, "conditionals", "conditionals")
        if len(conditionals) != len(variables):
            sizes = f"{several(len(variables), 'variable')} and {several(len(conditionals), 'conditional')}"
            raise SchemaError(f"{sizes}: each variable needs one conditional")
        for position, conditional in enumerate(conditionals):
            if position in conditional.parents or len(set(conditional.parents)) < len(conditional.parents):
                raise SchemaError(f"{names[position]!r} is its own parent, or has a parent twice")
            wanted = tuple(variables[v] for v in (*conditional.parents, position))
            if conditional.child != position or conditional.variables != wanted:
                raise SchemaError(f"conditional {position} ({conditional!r}) must be that of {names[position]!r}")
        self._set(
            variables=tuple(variables),
            names=names,
            conditionals=tuple(conditionals),
            n_rows=rows_fitted_to(n_rows),
        )
        self._continuous = tuple(v for v, variable in enumerate(variables) if variable.is_continuous)
        self._native: _core.Conditionals | None = None
        self._in_python = False
        self._logs: list[Probabilities] | None = None

    @property
    def is_continuous(self) -> bool:
        """Whether its variables are numbers, all of them."""
        return self.values == "numbers"

    @property
    def values(self) -> Values:
        """What the cells of its tables hold: "states", "numbers", or "mixed"."""
        if not self._continuous:
            return "states"
        return "numbers" if len(self._continuous) == len(self.variables) else "mixed"

    @property
    def n_parameters(self) -> int:
        """The number of free parameters of all conditionals: ``groups (r - 1)`` of one of states."""
        return sum(conditional.n_parameters for conditional in self.conditionals)

    @property
    def edges(self) -> tuple[Pair, ...]:
        """The arcs as pairs of names (parent, child), sorted by the child's position, then by the parent's."""
        names = self.names
        pairs = zip(names, self.conditionals, strict=True)
        return tuple([(names[parent], name) for name, own in pairs for parent in sorted(own.parents)])

    def parents(self, name: str) -> tuple[str, ...]:
        """Return the names of one variable's parents (of a dependency network: its inputs).

        Parameters
        ----------
        name : str

        Raises
        ------
        SchemaError
            When there is no such variable.
        """
        return tuple(self.names[parent] for parent in sorted(self.conditional(name).parents))

    def cpt(self, name: str) -> pa.Table:
        """Return the conditional probability table of one variable with labels.

        Parameters
        ----------
        name : str

        Returns
        -------
        pyarrow.Table
            One row per configuration of the parents and state: a column per parent, one of the variable, and
            ``probability``. Of a continuous variable its regression: the columns ``term`` and ``value``.
            ``.to_pandas()`` makes a data frame of it.

        Raises
        ------
        SchemaError
            When there is no such variable.

        Examples
        --------
        >>> import fishernet as fn
        >>> net = fn.datasets.load("asia")
        >>> net.parents("bronc")
        ('smoke',)
        >>> net.cpt("bronc").to_pylist()[0]
        {'smoke': 'yes', 'bronc': 'yes', 'probability': 0.6}
        """
        return self.conditional(name).to_frame()

    def conditional(self, name: str) -> Conditional:
        """Return the conditional of one variable."""
        return self.conditionals[positions(self.names, [name])[0]]

    def __repr__(self) -> str:
        n_arcs = sum(len(conditional.parents) for conditional in self.conditionals)
        size = f"{several(len(self.variables), 'variable')}, {several(n_arcs, 'arc')}"
        fitted = "" if self.n_rows is None else f", fitted on {several(self.n_rows, 'row')}"
        return f"{type(self).__name__}({size}, {several(self.n_parameters, 'parameter')}{fitted})"

    def __str__(self) -> str:
        """Return the title and a line for each of the first variables: its name, its number of states, its parents."""
        width = max(map(len, self.names), default=0)
        lines = [repr(self)]
        for variable, conditional in list(zip(self.variables, self.conditionals, strict=True))[:MOST_LINES]:
            parents = ", ".join(self.names[p] for p in conditional.parents)
            states = "number" if variable.is_continuous else several(variable.cardinality, "state")
            lines.append(f"  {variable.name:<{width}}  {states:>10}" + (f"  <- {parents}" if parents else ""))
        if len(self.names) > MOST_LINES:
            lines.append(f"  ... and {several(len(self.names) - MOST_LINES, 'more variable')}")
        return "\n".join(lines)

    def _plain_html(self) -> str:
        rows = [
            (
                variable.name,
                "number" if variable.is_continuous else several(variable.cardinality, "state"),
                ", ".join(self.parents(variable.name)),
            )
            for variable in self.variables[:MOST_ROWS]
        ]
        return table_html(("variable", "states", "parents"), rows, len(self.names))

    def _parts(self) -> tuple[Any, ...]:
        return self.variables, self.conditionals

    def _options(self) -> dict[str, Any]:
        return {"n_rows": self.n_rows}

    # -------------------------------------------------------------------------------------------- what it computes

    def rows(self, data: Any, *, complete_for: str | None = None) -> Table:
        """Return data as a table of the network's variables; `complete_for` says what needs complete rows, if any."""
        return rows_of(self.variables, data, complete_for=complete_for)

    def log_prob_terms(self, table: Any) -> npt.NDArray[np.float64]:
        """Return the log-probability of each cell given its parents, (n_rows, n_variables) float64 in nats.

        A low term tells why a row is odd.
        """
        return self._complete_terms(self.rows(table, complete_for="log_prob_terms"))

    def _complete_terms(self, rows: Table) -> npt.NDArray[np.float64]:
        """Return the terms of rows without missing cells."""
        native = self._core_form()
        if native is not None:
            return native.look_up(rows.native, self._log_tables, False)
        terms = np.empty((rows.n_rows, len(self.variables)))
        for position, conditional in enumerate(self.conditionals):
            terms[:, position] = conditional.log_prob(rows)
        return terms

    # ---------------------------------------------------------------------------------------------- for the core

    @property
    def scopes(self) -> tuple[tuple[int, ...], ...]:
        """The positions of each conditional's parents, and of its child."""
        return tuple((*conditional.parents, conditional.child) for conditional in self.conditionals)

    @property
    def runs_in_core(self) -> bool:
        """Whether the core has a form of every conditional; otherwise they are asked one by one."""
        return self._core_form() is not None

    @property
    def flat(self) -> _core.Conditionals:
        """The conditionals as the core looks them up, made once; SchemaError names one that the core has no form of."""
        native = self._core_form()
        if native is None:
            lacking = next(c for c in self.conditionals if c.core_form() is None)
            raise SchemaError(f"{lacking!r} has no table of probabilities, and this needs one for every variable")
        return native

    def _core_form(self) -> _core.Conditionals | None:
        if self._native is None and not self._in_python:
            native = _core.Conditionals(np.array([v.cardinality for v in self.variables], dtype=np.int64))
            for conditional in self.conditionals:
                form = conditional.core_form()
                if form is None:
                    self._in_python = True
                    return None
                form.add_to(native, conditional.child)
            self._native = native
        return self._native

    @property
    def _log_tables(self) -> list[Probabilities]:
        if self._logs is None:
            with np.errstate(divide="ignore"):  # log 0 = -inf is what is meant
                self._logs = [np.log(c.probabilities) for c in self.conditionals]
        return self._logs


def conditionals_from_tables(
    variables: Sequence[Column],
    parents: Mapping[str, Iterable[str]],
    tables: Mapping[str, npt.ArrayLike],
    *,
    tolerance: float,
    called: str,
) -> list[Conditional]:
    """Return one conditional per variable; see `BayesianNetwork.from_tables`. `called`: what the parents are called."""
    variables = checked_variables(variables)
    names = [variable.name for variable in variables]
    where = {name: position for position, name in enumerate(names)}
    of_names: dict[str, tuple[str, ...]] = {}
    for name, of in parents.items():
        if isinstance(of, str):
            raise SchemaError(f"the {called} of {name!r} must be a sequence of names, not one str ({of!r})")
        of_names[name] = check.items(of, f"the {called} of {shown(name)}")
    positions(names, [*of_names, *tables, *(parent for of in of_names.values() for parent in of)])
    lacking = [name for name in names if name not in tables]
    if lacking:
        raise SchemaError(f"no table for {listed(lacking)}")
    conditionals: list[Conditional] = []
    for child, variable in enumerate(variables):
        family = tuple(where[name] for name in of_names.get(variable.name, ()))
        check_names([names[p] for p in (*family, child)])
        if variable.is_continuous:
            parts = _regression_parts(tables[variable.name], variable.name)
            conditionals.append(ConditionalGaussian(child, family, [variables[v] for v in (*family, child)], *parts))
            continue
        shape = tuple(variables[v].cardinality for v in (*family, child))
        table = check.numbers(tables[variable.name], f"the table of {variable.name!r}")
        if table.shape != shape:
            raise SchemaError(
                f"the table of {variable.name!r} has shape {table.shape}; its {called} and its states need {shape}"
            )
        rows = table.reshape(-1, shape[-1])
        conditionals.append(
            FullTable(child, family, [variables[v] for v in (*family, child)], rows, tolerance=tolerance)
        )
    return conditionals


def _regression_parts(of: Any, name: str) -> tuple[npt.ArrayLike, ...]:
    """Return the intercept, the coefficients and the standard deviation that are given of a number."""
    parts = ("intercept", "coefficients", "sd")
    if not isinstance(of, Mapping) or set(of) != set(parts):
        got = f"a mapping of {listed(list(of))}" if isinstance(of, Mapping) and of else f"{type(of).__name__}"
        raise SchemaError(
            f"{name!r} is continuous: its regression is a mapping of 'intercept', 'coefficients' and 'sd', not {got}"
        )
    return tuple(of[part] for part in parts)
