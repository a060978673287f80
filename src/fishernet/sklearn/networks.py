"""What estimators share that see rows by a Bayesian network of their columns, learned in fit or given.

Cells that are missing, and labels that the network does not have, are averaged over: what a row is said to have is
what is expected of it given the rest. So nothing but the rows' own cells decides about them, whatever lacks.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import a, listed, shown
from fishernet.base.vocabulary import BinningName, word
from fishernet.data import Table, Variable, as_table
from fishernet.data.options import Bins
from fishernet.data.variable import code_dtype
from fishernet.graphs import Dag
from fishernet.learn import bayesian_network, parameters
from fishernet.learn.numbers.preparing import prepared
from fishernet.learn.structures import SEARCHES
from fishernet.models import BayesianNetwork
from fishernet.sklearn.classifier import STRUCTURES
from fishernet.sklearn.columns import (
    Array,
    Columns,
    feature_columns,
    feature_names,
    filled,
    is_missing,
    listed_cells,
    target_name,
    training_columns,
)

FOR_STATES = 5  # bins of numbers, where a structure goes by the classes


class SeenByNetwork(BaseEstimator):  # type: ignore[misc]
    """An estimator whose `network_` is learned from X, or given; its rows are tables of the network's variables.

    Numbers that `bins` leaves as they are have regressions.
    """

    k: int

    def __init__(
        self,
        network: BayesianNetwork | None = None,
        *,
        structure: Any = "order",
        structure_score: Any = None,
        smoothing: float | str = 1.0,
        bins: Bins | None = None,
        binning: BinningName = "quantile",
        options: Mapping[str, Any] | None = None,
    ) -> None:
        self.network = network
        self.structure = structure
        self.structure_score = structure_score
        self.smoothing = smoothing
        self.bins = bins
        self.binning = binning
        self.options = options

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def _fit_network(self, X: Any, y: Any) -> None:
        """Find the network; X is validated, and y where the structure goes by it."""
        asked = word(self.structure, "structure", [*SEARCHES, *STRUCTURES])
        if self.network is not None:
            self._require_exact(self.network)
            self.network_: BayesianNetwork = self.network
            self._require_known(feature_columns(self, X, reset=True))
        elif asked in SEARCHES:
            self.network_ = self._searched(asked, self._training_table(feature_columns(self, X, reset=True)))
        else:
            self.network_ = self._by_class(asked, X, y)

    def _rows(self, X: Any) -> Table:
        """Return X as a table of the network's variables, in which labels that it does not have are missing."""
        check_is_fitted(self)
        return self._encoded(feature_columns(self, X, reset=False))

    def _encoded(self, columns: Columns) -> Table:
        """Return the features' columns as a table of the network's variables."""
        variables, named = self.network_.variables, self._named(columns)
        codes = self._by_position and not any(variable.is_continuous for variable in variables)
        if codes and all(getattr(cells, "dtype", np.dtype(object)).kind in "iu" for cells in columns):
            return as_table(np.stack(columns, axis=1), variables)  # the codes of states, as in every bare array
        return Table.from_frame(named, schema=variables, missing="keep", unknown="missing", na_values=())

    @property
    def _by_position(self) -> bool:
        """Whether columns without names are those of a given network, in its order."""
        return self.network is not None and not hasattr(self, "feature_names_in_")

    def _named(self, columns: Columns) -> dict[str, Any]:
        """Return the columns by the names of variables."""
        if not self._by_position:
            return dict(zip(feature_names(self), columns, strict=True))
        names = self.network_.names
        if len(columns) != len(names):
            raise SchemaError(
                f"an array has the network's columns, {listed(names)}; this one has {len(columns)} of them"
            )
        return dict(zip(names, columns, strict=True))

    def _unseen(self, columns: Columns, rows: Table) -> npt.NDArray[np.bool_]:
        """Return which cells hold labels that the network does not have, (n_rows, n_variables)."""
        unseen = np.zeros((rows.n_rows, len(rows.variables)), dtype=bool)
        named = self._named(columns)
        for place, variable in enumerate(rows.variables):
            lacking = np.flatnonzero(variable.missing(rows.codes[place]))
            if len(lacking):
                cells = listed_cells(named[variable.name])
                unseen[lacking, place] = [not is_missing(cells[row]) for row in lacking]
        return unseen

    def _require_exact(self, network: Any) -> None:
        tables = network.inference == "factors" and network.runs_in_core
        numbers = network.inference in ("normal", "mixed") and network.conditionals
        if network.likelihood != "exact" or not (tables or numbers):
            raise SchemaError(
                f"network must be a BayesianNetwork, not {a(network.kind)}; ModelFisherFeatures takes "
                "models of strings, and others with Fisher scores",
                parameter="network",
            )

    def _require_known(self, columns: Columns) -> None:
        """Raise SchemaError when no label at all of a column is one of the network's: it means something else."""
        rows = self._encoded(columns)
        everywhere = self._unseen(columns, rows).all(axis=0)
        if everywhere.any():
            variable = rows.variables[int(np.argmax(everywhere))]
            cell = listed_cells(self._named(columns)[variable.name])[0]
            raise SchemaError(
                f"no cell of the column {variable.name!r} is a state of the network's; the first is {shown(cell)}, and "
                f"the states are {listed(variable.states)}"
            )

    def _training_table(self, columns: Columns, *, states: bool = False) -> Table:
        """Return the table of training; with `states` numbers are cut, whatever is not said of them."""
        return self._prepared(self._as_read(columns, states=states))

    def _as_read(self, columns: Columns, *, states: bool = False) -> Table:
        """Return the table of training, before numbers beside labels are looked at."""
        bins = FOR_STATES if self.bins is None and states else self.bins
        reading: dict[str, Any] = {"bins": bins, "binning": self.binning, "missing": "keep", "na_values": ()}
        return Table.from_frame(dict(zip(feature_names(self), columns, strict=True)), **reading)

    def _prepared(self, table: Table) -> Table:
        return prepared(table, None if self.bins is None else {}, told=False)  # `network_` tells

    def _searched(self, search: str, table: Table) -> BayesianNetwork:
        how: dict[str, Any] = {"score": self.structure_score, "search": search, **(self.options or {})}
        return bayesian_network(table, smoothing=self.smoothing, bins={}, **how)

    def _by_class(self, structure: str, X: Any, y: Any) -> BayesianNetwork:
        """Return the network of the features with the arcs that they have below the class."""
        if self.options:
            raise FishernetError(
                f"options are for searches ({listed(SEARCHES)}); {structure!r} takes none", parameter="options"
            )
        if y is None:
            raise FishernetError(
                f"requires y to be passed, but the target y is None: the structure {structure!r} goes by the classes; "
                f"without them there are {listed(SEARCHES)}",
                parameter="structure",
            )
        columns, classes = training_columns(self, X, y)
        table = self._training_table(columns, states=True)
        target = target_name(None, table.names)
        whole = filled(_with_class(table, target, classes), len(table.variables))
        edges = STRUCTURES[structure](whole, target, self.k).edges
        kept = [(parent, child) for parent, child in edges if target not in (parent, child)]
        return parameters(Dag.from_edges(table.names, kept), table, smoothing=self.smoothing)


def _with_class(table: Table, name: str, classes: Array) -> Table:
    """Return a table with the classes as its last column."""
    labels, codes = np.unique(classes, return_inverse=True)
    if len(labels) < 2:
        raise FishernetError(
            f"y holds one class only, {labels.tolist()[0]!r}; what goes by the classes needs at least two"
        )
    target = Variable(name, labels.tolist())
    codes = codes.astype(code_dtype(target.cardinality))
    return Table.adopt([*table.variables, target], [*table.codes, codes], n_rows=table.n_rows)


def cell_names(network: BayesianNetwork, names: Mapping[str, str] | None = None) -> npt.NDArray[Any]:
    """Return a name for each feature, in the order of `fishernet.kernels.HiddenVariableKernel`, (dimension,).

    A state of a group of the parents' configurations is called "dysp | bronc=yes, either=no: yes". Where configurations
    are merged it is "dysp | bronc=yes/no: yes" or, where they are no box, the first with how many boxes there are
    besides. Those of a number, behind all states, are "height | sex=f: level", "height | sex=f: slope of age" (numbered
    where there are several, since these are uncorrelated) and "height | sex=f: spread". `names` are other names of
    variables.
    """
    called = dict(names or {})
    found: list[str] = []
    for conditional in sorted(network.conditionals, key=lambda one: one.variables[-1].is_continuous):
        child = conditional.variables[-1]
        if child.is_continuous:
            found += _names_of_number(conditional, called)
            continue
        above = dict(zip(conditional.parents, conditional.variables, strict=False))
        states = _labels(child.states)
        for group in range(conditional.n_groups):
            boxes = conditional.contexts(group)
            parts = [
                f"{called.get(above[p].name, above[p].name)}={_joined(above[p], boxes[0][p])}"
                for p in conditional.parents
                if p in boxes[0]
            ]
            more = f" (and {len(boxes) - 1} more)" if len(boxes) > 1 else ""
            given = f" | {', '.join(parts)}{more}" if parts else ""
            found += [f"{called.get(child.name, child.name)}{given}: {state}" for state in states]
    return np.asarray(found, dtype=object)


def _names_of_number(conditional: Any, called: Mapping[str, str]) -> list[str]:
    """Return the names of a number's features: the level, the slopes and the spread in each configuration."""
    child = conditional.variables[-1].name
    above = [variable.name for variable in conditional.variables[:-1] if variable.is_continuous]
    slopes = [f"slope of {called.get(above[0], above[0])}"] if len(above) == 1 else []
    slopes = slopes or [f"slope {k + 1}" for k in range(len(above))]
    found = []
    for group in range(conditional.n_groups):
        states = conditional.describe_group(group)
        labels = ", ".join(f"{called.get(name, name)}={state}" for name, state in states.items())
        given = f" | {labels}" if labels else ""
        found += [f"{called.get(child, child)}{given}: {what}" for what in ("level", *slopes, "spread")]
    return found


def _joined(variable: Variable, codes: tuple[int, ...]) -> str:
    labels = _labels(variable.states)
    return "/".join(labels[code] for code in codes)


def _labels(states: tuple[Any, ...]) -> list[str]:
    """Return states as text: quoted only where some would be alike."""
    plain = [str(state) for state in states]
    return plain if len(set(plain)) == len(plain) else [repr(state) for state in states]
