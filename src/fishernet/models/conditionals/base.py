"""The conditional of a child given its parents: the seam on which networks stand.

A *grouped* conditional maps each configuration of the parents to a group and each group to a row of probabilities. In a
full table the group is the configuration itself; a merged table or a tree shares rows. `contexts` says which
configurations a group holds, as disjoint boxes, so that P(group) is a sum of marginals without enumerating
configurations. A linear-Gaussian conditional has no groups: its child and parents are numbers.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import SchemaError, StateSpaceError, ZeroProbabilityError
from fishernet.base.fields import Fields
from fishernet.base.names import listed, several
from fishernet.base.value import Value
from fishernet.data import Table, Variable
from fishernet.data.frames.answering import cells_frame
from fishernet.data.variable import Column, checked_variables

MOST_CELLS = 2**28
ROUNDING = 1e-9  # how far a row of probabilities may be from 1
LEAST_SEEN = 0.5  # expected rows of a cell behind a pseudo-count, below which it was not seen
LARGEST = 1 + 1e-9  # what a probability in a file may be, with rounding

Probabilities = npt.NDArray[np.float64]


class CoreForm(NamedTuple):
    """How the core finds the group of a row: by the configuration of the parents, by a map from it, or by a tree."""

    parents: npt.NDArray[np.int32]
    n_groups: int
    group_of: npt.NDArray[np.int32] | None = None
    """The group of each configuration, the last parent fastest; None: each is a group of its own."""
    nodes: tuple[npt.NDArray[np.int32], npt.NDArray[np.int32], npt.NDArray[np.int32]] | None = None
    """Each node's variable (-1: a leaf), its group or first branch; and the branches. None: no tree."""

    def add_to(self, conditionals: _core.Conditionals, child: int) -> None:
        """Add it to what looks up groups and cells."""
        if self.nodes is None:
            conditionals.add(child, self.parents, self.n_groups, self.group_of)
        else:
            conditionals.add_tree(child, self.parents, self.n_groups, *self.nodes)

    def add_to_sampler(self, sampler: _core.GibbsSampler, probabilities: Probabilities) -> None:
        """Add it to what updates variables."""
        if self.nodes is None:
            sampler.add_table(self.parents, probabilities, self.group_of)
        else:
            sampler.add_tree(self.parents, probabilities, *self.nodes)


class Conditional(Value, ABC):
    """P(child given its parents); immutable."""

    __slots__ = ("child", "parents", "variables")

    child: int
    """Position of the child."""
    parents: tuple[int, ...]
    """Positions of the parents, in the order of the axes."""
    variables: tuple[Variable, ...]
    """The parents' variables, then the child's."""

    def __init__(self, child: int, parents: Sequence[int], variables: Sequence[Column]) -> None:
        of, positions = checked_variables(variables, unique=False), check.items(parents, "parents", "positions")
        above = tuple(check.integer(position, "each of parents", least=0) for position in positions)
        if len(of) != len(above) + 1:
            raise SchemaError(f"{several(len(above), 'parent')} and a child are not {several(len(of), 'variable')}")
        self._set(child=check.integer(child, "child", least=0), parents=above, variables=of)

    # ------------------------------------------------------------------------------------------ what each kind says

    @property
    @abstractmethod
    def n_parameters(self) -> int:
        """The number of free parameters."""

    @abstractmethod
    def log_prob(self, table: Table) -> npt.NDArray[np.float64]:
        """Return the log-probability (or density) of the child in each row given its parents, (n_rows,)."""

    @abstractmethod
    def draw(self, columns: Sequence[npt.NDArray[Any]], noise: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        """Return the child's column as a function of its parents and of standard normal numbers, (n_rows,).

        Of the columns of the model's variables, as a Table holds them, only the parents' are looked at. Independent
        noise makes independent draws.
        """

    @abstractmethod
    def scores(self, table: Table, out: npt.NDArray[np.float64] | None = None) -> npt.NDArray[np.float64]:
        """Return the derivatives of `log_prob` by the free parameters, (n_rows, n_parameters).

        They are written to `out`, an array of zeros, where there is one. ZeroProbabilityError when a row is impossible.
        """

    @abstractmethod
    def information(self, of_parents: Any) -> npt.NDArray[np.float64]:
        """Return the expected product of a row's scores: a block per group, (groups, r - 1, r - 1).

        Parameters
        ----------
        of_parents
            What the kind has to know of its parents' distribution: the probability of each group, or the moments of
            numbers (``fishernet.infer.parent_moments``).
        """

    def unsmoothed(self, rows: npt.NDArray[np.float64], smoothing: float) -> Self:  # noqa: ARG002
        """Return it as its rows are: without what smoothing added, and with variances that are right on average.

        Tables that a network draws to learn about its own fit are drawn so: rare states would otherwise be too
        frequent, and regressions of few rows too certain.

        Parameters
        ----------
        rows : (groups,)
            How many rows each group was fitted to.
        smoothing : float
            What was added, as for `fit`.
        """
        return self

    @abstractmethod
    def factor(self) -> tuple[tuple[int, ...], npt.NDArray[np.float64]]:
        """Return the positions of the axes and the values, as inference multiplies them; not of a density."""

    @abstractmethod
    def core_form(self) -> CoreForm | None:
        """Return what the core looks groups up by; None: Python is asked."""

    @abstractmethod
    def add_to_sampler(self, sampler: _core.GibbsSampler) -> None:
        """Add it to what updates variables in the core."""

    @abstractmethod
    def refuse_zeros(self, remedy: str) -> None:
        """Raise ZeroProbabilityError when a probability is zero; `remedy` ends the message."""

    @abstractmethod
    def to_fields(self) -> dict[str, object]:
        """Return what files hold of it beside its variables, as `json` writes it."""

    @classmethod
    @abstractmethod
    def from_fields(cls, fields: Fields, child: int, parents: Sequence[int], variables: Sequence[Variable]) -> Self:
        """Return the conditional of which a file holds these fields."""

    @abstractmethod
    def _arguments(self) -> tuple[Any, ...]:
        """Return what the constructor takes after child, parents and variables."""

    # -------------------------------------------------------------------------------------- what only grouped ones have

    @property
    def probabilities(self) -> Probabilities:
        """(groups, states) float64, read-only; each row sums to 1."""
        raise self._no_groups()

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        raise self._no_groups()

    def with_probabilities(self, probabilities: npt.NDArray[np.float64]) -> Self:
        """Return the same groups with other probabilities, (groups, states)."""
        *shape, _ = self._arguments()
        kind: Any = type(self)
        return kind(self.child, self.parents, self.variables, *shape, probabilities)  # type: ignore[no-any-return]

    def groups(self, table: Table) -> npt.NDArray[np.int64]:  # noqa: ARG002
        """Return the group of each row of a table that has the model's variables, (n_rows,) int64."""
        raise self._no_groups()

    def contexts(self, group: int) -> tuple[Mapping[int, tuple[int, ...]], ...]:  # noqa: ARG002
        """Return disjoint boxes {parent: states} whose union is the group; a parent not named has any state."""
        raise self._no_groups()

    def sum_by_group(self, of_configurations: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:  # noqa: ARG002
        """Return the sum over each group of one number per configuration, (groups,)."""
        raise self._no_groups()

    def score_entries(self, table: Table) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:  # noqa: ARG002
        """Return the r - 1 scores of each row that may not be 0, and their columns, both (n_rows, r - 1)."""
        raise self._no_groups()

    def zero_probability(self, group: int, state: int, who: str) -> ZeroProbabilityError:  # noqa: ARG002
        """Return the error for a state of probability zero in a group; `who` begins the message."""
        raise self._no_groups()

    def describe_group(self, group: int) -> dict[str, Any]:  # noqa: ARG002
        """Return the states of the parents in the first configuration of a group, by name."""
        raise self._no_groups()

    def impossible_configuration(self, group: int, who: str) -> ZeroProbabilityError:
        """Return the error for a configuration of the parents that has probability zero; `who` begins the message."""
        configuration = self.describe_group(group)
        return ZeroProbabilityError(
            f"{who} {shown_states(configuration)}, a configuration of the parents of {self.name!r} that has "
            "probability 0; fit the network with smoothing above 0",
            variable=self.name,
            configuration=configuration,
            parameter="smoothing",
        )

    def table(self) -> Probabilities:
        """Return the probabilities with one axis per parent and the child's last."""
        raise self._no_groups()

    def to_frame(self) -> pa.Table:
        """Return the probabilities with labels, one row per cell."""
        raise self._no_groups()

    def as_regression(self) -> tuple[float, npt.NDArray[np.float64], float]:
        """Return the intercept, the coefficients and the standard deviation of a linear-Gaussian conditional."""
        raise SchemaError(
            f"{self.name!r} is categorical; means, covariances and precisions are those of networks whose variables "
            "are all continuous"
        )

    def _no_groups(self) -> SchemaError:
        return SchemaError(
            f"{self.name!r} is continuous, and its conditional has no table of probabilities; bins=4 cuts its column "
            "into states when the data are read"
        )

    # ------------------------------------------------------------------------------------------- what all have alike

    @property
    def name(self) -> str:
        """The child's name."""
        return self.variables[-1].name

    def moved(self, child: int, parents: Sequence[int], variables: Sequence[Column] | None = None) -> Self:
        """Return the same conditional of variables at other positions, and of other names where variables are given."""
        return type(self)(child, parents, self.variables if variables is None else variables, *self._arguments())

    def _parts(self) -> tuple[Any, ...]:
        return self.child, self.parents, self.variables, *self._arguments()

    def __repr__(self) -> str:
        given = ", ".join(variable.name for variable in self.variables[:-1])
        return f"P({self.name}{' | ' if given else ''}{given})"


class Grouped(Conditional):
    """P(child given the group of its parents' configuration), of categorical variables.

    What is written here serves where each configuration is a group of its own.
    """

    __slots__ = ()

    def __init__(
        self,
        child: int,
        parents: Sequence[int],
        variables: Sequence[Column],
        probabilities: npt.ArrayLike | None = None,
        tolerance: float = ROUNDING,
    ) -> None:
        """Check the family and, where they are kept, the probabilities: `checked_probabilities` of the child."""
        super().__init__(child, parents, variables)
        numbers = [variable.name for variable in self.variables if variable.is_continuous]
        if numbers:
            raise SchemaError(
                f"the conditional of {self.name!r} needs categorical variables, and {listed(numbers)} has no states; "
                "bins=4 cuts its column into some"
            )
        if probabilities is not None:
            self._set(probabilities=checked_probabilities(probabilities, self.variables, tolerance=tolerance))

    @property
    @abstractmethod
    def probabilities(self) -> Probabilities:
        """(groups, states) float64, read-only; each row sums to 1."""

    def group_map(self) -> npt.NDArray[np.integer[Any]] | None:
        """Return the group of each configuration, the last parent fastest; None: each is a group of its own."""
        return None

    def unsmoothed(self, rows: npt.NDArray[np.float64], smoothing: float) -> Self:
        """Return it with the frequencies behind smoothed probabilities; where none was seen, as it is."""
        theta = self.probabilities
        counts = theta * (rows + smoothing * theta.shape[1])[:, None] - smoothing
        counts = np.where(counts < LEAST_SEEN, 0.0, counts)
        counts = np.where(counts.sum(axis=1, keepdims=True) > 0, counts, theta)
        return self.with_probabilities(counts / counts.sum(axis=1, keepdims=True))

    def groups(self, table: Table) -> npt.NDArray[np.int64]:
        """Return the group of each row of a table that has the model's variables, (n_rows,) int64."""
        if self.parents:
            table.select([variable.name for variable in self.variables[:-1]]).require_complete("a conditional")
        return self._groups_of([table.codes[p].astype(np.int64) for p in self.parents], table.n_rows)

    def contexts(self, group: int) -> tuple[Mapping[int, tuple[int, ...]], ...]:
        """Return disjoint boxes {parent: states} whose union is the group; a parent not named has any state."""
        if not self.parents:
            return ({},)
        states = np.unravel_index(group, self._shape[:-1])
        return ({parent: (int(state),) for parent, state in zip(self.parents, states, strict=True)},)

    def table(self) -> Probabilities:
        """Return the probabilities with one axis per parent and the child's last."""
        groups = self.group_map()
        if groups is None:
            return self.probabilities.reshape(self._shape)
        check_cells(self.variables, f"the conditional of {self.name!r}")
        return np.asarray(self.probabilities[groups].reshape(self._shape))

    def sum_by_group(self, of_configurations: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the sum over each group of one number per configuration, (groups,)."""
        groups = self.group_map()
        if groups is None:
            return of_configurations
        return np.bincount(groups, weights=of_configurations, minlength=self.n_groups).astype(np.float64)

    @property
    def n_groups(self) -> int:
        """The number of groups."""
        return int(self.probabilities.shape[0])

    @property
    def n_parameters(self) -> int:
        """``groups (r - 1)``: the last state's probability is what the others leave."""
        return self.n_groups * (self.variables[-1].cardinality - 1)

    def log_prob(self, table: Table) -> npt.NDArray[np.float64]:
        """Return the log-probability of the child in each row given its parents, (n_rows,); -inf: impossible."""
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(self.probabilities[self.groups(table), _states(self, table)]))

    def draw(self, columns: Sequence[npt.NDArray[Any]], noise: npt.NDArray[np.float64]) -> npt.NDArray[Any]:
        """Return codes of the child: where the normal distribution puts the noise, its cumulative share does."""
        from scipy.special import ndtr  # slow to import, and needed by few calls

        groups = self._groups_of([columns[p].astype(np.int64) for p in self.parents], len(noise))
        ends = np.cumsum(self.probabilities, axis=1)[groups]
        share = np.minimum(ndtr(noise), np.nextafter(1.0, 0.0))[:, None] * ends[:, -1:]
        codes: npt.NDArray[Any] = (ends <= share).sum(axis=1).astype(self.variables[-1].dtype)
        return codes

    def score_entries(self, table: Table) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.int64]]:
        """Return the r - 1 scores of each row that may not be 0, and their columns, both (n_rows, r - 1).

        The derivative by theta_jk, k below the last state, is 1 / theta in the row's own state, or -1 / theta of the
        last state in all others where that is the row's (Leppä-aho et al., 2020, Eq. 8).
        """
        group, state, theta = self._positive(table)
        free = np.arange(self.variables[-1].cardinality - 1)
        last = state == len(free)
        values = ((free == state[:, None]).astype(np.float64) - last[:, None]) / theta[:, None]
        return values, group[:, None] * len(free) + free

    def scores(self, table: Table, out: npt.NDArray[np.float64] | None = None) -> npt.NDArray[np.float64]:
        """Return the derivatives of `log_prob` by theta_jk, ordered by j, then k; see `Conditional.scores`."""
        scores = np.zeros((table.n_rows, self.n_parameters)) if out is None else out
        group, state, theta = self._positive(table)
        rows, last = np.arange(table.n_rows), state == self.variables[-1].cardinality - 1
        cells = scores.reshape(table.n_rows, self.n_groups, self.variables[-1].cardinality - 1)
        cells[rows[~last], group[~last], state[~last]] = 1 / theta[~last]
        cells[rows[last], group[last]] = -1 / theta[last, None]
        return scores

    def information(self, of_parents: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return a block per group, ``P(group j) (diag(1 / theta_jk) + 1 / theta_jr)``, (groups, r - 1, r - 1).

        `of_parents` has the probability of each group. ZeroProbabilityError when one that occurs has a state of
        probability 0.
        """
        theta, p = self.probabilities, of_parents
        zero: npt.NDArray[Any] = np.argwhere((theta == 0) & (p[:, None] > 0))
        if len(zero):
            group, state = map(int, zero[0])
            raise self.zero_probability(group, state, "the information divides by the probability of")
        safe = np.where(theta > 0, theta, 1.0)  # of groups that never occur: their blocks are zero anyway
        diagonal = np.eye(theta.shape[1] - 1) / safe[:, :-1, None]
        return np.asarray(p[:, None, None] * (diagonal + 1 / safe[:, -1, None, None]))

    def factor(self) -> tuple[tuple[int, ...], npt.NDArray[np.float64]]:
        """Return the positions of the parents and the child, and the table over them."""
        return (*self.parents, self.child), self.table()

    def core_form(self) -> CoreForm | None:
        """Return the map from configurations to groups."""
        groups = self.group_map()
        parents = np.array(self.parents, dtype=np.int32)
        return CoreForm(parents, self.n_groups, None if groups is None else groups.astype(np.int32))

    def add_to_sampler(self, sampler: _core.GibbsSampler) -> None:
        """Add it to what updates variables in the core."""
        form = self.core_form()
        assert form is not None
        form.add_to_sampler(sampler, self.probabilities)

    def refuse_zeros(self, remedy: str) -> None:
        """Raise ZeroProbabilityError when a probability is zero, naming configuration and state."""
        zeros = np.argwhere(self.probabilities == 0)
        if len(zeros):
            group, state = map(int, zeros[0])
            label = self.variables[-1].states[state]
            raise self._zero(group, state, f"{self.name!r} has state {label!r} with probability 0", remedy)

    def zero_probability(self, group: int, state: int, who: str) -> ZeroProbabilityError:
        """Return the error for a state of probability zero in a group; `who` begins the message."""
        what = f"{who} {self.name} = {self.variables[-1].states[state]!r}"
        remedy, then = "fit the network with smoothing above 0", ", which has probability 0"
        return self._zero(group, state, what, remedy, then, parameter="smoothing")

    def describe_group(self, group: int) -> dict[str, Any]:
        """Return the states of the parents in the first configuration of a group, by name."""
        box = self.contexts(group)[0]
        variables = dict(zip(self.parents, self.variables, strict=False))
        return {variables[p].name: variables[p].states[box[p][0]] for p in self.parents if p in box}

    def to_frame(self) -> pa.Table:
        """Return the table with labels: one row per cell, columns are the parents, the child and its probability."""
        return cells_frame(self.variables, probability=self.table())

    @property
    def _shape(self) -> tuple[int, ...]:
        return tuple(variable.cardinality for variable in self.variables)

    def _positive(self, table: Table) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Return group, state and probability of each row; raise ZeroProbabilityError when one is 0."""
        group, state = self.groups(table), _states(self, table)
        theta = self.probabilities[group, state]
        if (theta == 0).any():
            row = int(np.argmax(theta == 0))
            raise self.zero_probability(int(group[row]), int(state[row]), f"row {row} has")
        return group, state, theta

    def _groups_of(self, codes: Sequence[npt.NDArray[np.int64]], n_rows: int) -> npt.NDArray[np.int64]:
        """Return the group of each row, (n_rows,) int64, from the parents' codes."""
        if not codes:
            return np.zeros(n_rows, dtype=np.int64)
        configurations = np.ravel_multi_index(tuple(codes), self._shape[:-1]).astype(np.int64)
        groups = self.group_map()
        return configurations if groups is None else groups[configurations].astype(np.int64)

    def _zero(
        self, group: int, state: int, what: str, remedy: str, then: str = "", parameter: str | None = None
    ) -> ZeroProbabilityError:
        configuration = self.describe_group(group)
        given = f" given {shown_states(configuration)}" if configuration else ""
        return ZeroProbabilityError(
            f"{what}{given}{then}; {remedy}",
            variable=self.name,
            configuration=configuration,
            state=self.variables[-1].states[state],
            parameter=parameter,
        )


def shown_states(states: Mapping[str, Any]) -> str:
    """Return variables and their states for a message."""
    return ", ".join(f"{name} = {label!r}" for name, label in states.items())


def checked_probabilities(
    values: npt.ArrayLike, variables: Sequence[Column], *, tolerance: float = ROUNDING
) -> Probabilities:
    """Return probabilities of the last variable as a read-only (groups, states) array whose rows sum to 1.

    A row's sum may be off by the tolerance; rows off by more than 1e-9 are divided by their sum.
    """
    what, states = f"the conditional of {variables[-1].name!r}", variables[-1].cardinality
    table = check.numbers(values, "probabilities")
    check.number(tolerance, "tolerance", least=0)
    if table.ndim != 2 or table.shape[1] != states:
        raise SchemaError(f"{what}: probabilities must be (groups, states), (any, {states}); got shape {table.shape}")
    if not np.isfinite(table).all():
        raise SchemaError(f"{what}: a probability is not a finite number ({_first(table, ~np.isfinite(table))})")
    if (table < 0).any():
        raise SchemaError(f"{what}: a probability is negative ({_first(table, table < 0)})")
    with np.errstate(over="ignore"):  # a sum beyond all numbers is not 1 either
        sums = table.sum(axis=1)
    off = np.abs(sums - 1)
    if (off > tolerance).any():
        row = int(np.argmax(off))
        raise SchemaError(f"{what}: row {row} sums to {sums[row]:.12g}, not to 1")
    rounded = off > ROUNDING
    table[rounded] /= sums[rounded, None]
    table.flags.writeable = False
    return table


def _first(table: Probabilities, wrong: npt.NDArray[np.bool_]) -> str:
    row, state = np.argwhere(wrong)[0]
    return f"{table[row, state]} in row {row}, state {state}"


def _states(conditional: Conditional, table: Table) -> npt.NDArray[np.int64]:
    return table.codes[conditional.child].astype(np.int64)


def read_probabilities(fields: Fields, states: int) -> Probabilities:
    """Return the rows of probabilities of a file, (groups, states); whether they sum to 1 is not looked at."""
    rows = fields.rows("probabilities", states, "probabilities")
    wrong = ~((rows >= 0) & (rows <= LARGEST))  # also finds NaN
    if wrong.any():
        group, state = np.argwhere(wrong)[0]
        raise fields.wrong(f"{rows[group, state]} is no probability", f"probabilities[{group}][{state}]")
    return rows


def check_cells(variables: Sequence[Column], what: str, limit: int = MOST_CELLS) -> int:
    """Return the number of cells of a table over variables; StateSpaceError when there are more than the limit."""
    cells = math.prod(variable.cardinality for variable in variables)
    if cells > limit:
        raise StateSpaceError(what, cells=cells, limit=limit, remedy="give the variable fewer parents or merge states")
    return cells
