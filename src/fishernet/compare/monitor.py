"""Batch after batch against a reference, with alarms of which few are ever false, however long one looks.

Each batch is tested against the reference: each conditional given its parents, by a graph that was learned once, and
the share of missing cells of each column. The k-th batch may spend a part of the level, ``1 / log2(k + 1) - 1 / log2(k
+ 2)``; these parts add up to 1 over all batches, so the probability that any is ever wrongly called changed is at most
the level. That holds whatever joins the batches, which matters here: all are compared with the same reference, and if
it was unusual, all differ from it. For the same reason the evidence of batches is not multiplied (as e-values of
independent tests may be). The parts fall hardly faster than ``1 / k``: the hundredth batch still has 1 / 3100 of the
level, where ``1 / k ** 2`` would leave it 1 / 16,000.

A test by drawn tables has no p-value below one in so many draws, and late batches would find nothing. It is therefore
joined with an exact bound without draws (`conditionals.state_tests.log_evidence`).
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base.display import Framed
from fishernet.base.errors import SchemaError
from fishernet.base.names import several
from fishernet.base.random import Seed
from fishernet.compare.change import Options, families_of_tables
from fishernet.compare.conditionals.families import Families, Family
from fishernet.compare.conditionals.mixed_families import family_counts
from fishernet.compare.conditionals.orders import families_of
from fishernet.compare.corrections import Outcome, holm_sidak
from fishernet.compare.graph_of_tables import given_graph, graph_of_tables, in_order, shared_with_graph
from fishernet.compare.missing_shares import MissingChange, missing_changes
from fishernet.compare.monitor_state import MonitorState
from fishernet.compare.shares import first_names
from fishernet.data import State, Table
from fishernet.data.matching import as_data
from fishernet.data.numbers import LARGEST
from fishernet.data.options import Bins
from fishernet.data.pooling import whole_rows, with_new_state
from fishernet.data.variable import Column
from fishernet.graphs import Dag, Graph
from fishernet.graphs.graph import HasGraph, graph_of
from fishernet.learn.numbers.preparing import prepared

Array = npt.NDArray[np.float64]

PURPOSE = "Monitor"
OF_BOUND = 0.1  # the part of the bound without draws in a joined p-value
OF_MISSING = 0.5  # the part of a batch's level that its missing cells have


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class MonitorResult(Framed):
    """What a monitor says of one batch.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> monitor = fn.compare.Monitor(asia.sample(2000, seed=1), asia)
    >>> monitor.update(fn.infer.intervene(asia, {"smoke": "yes"}).sample(300, seed=2))
    MonitorResult(batch 1 of 300 rows: changed: smoke)
    """

    batch: int
    """Its number, from 1."""
    n_rows: int
    """How many rows it has."""
    level: float
    """The part of the level that was spent on it."""
    p_values: Mapping[str, float]
    """Of each conditional given its parents, corrected for all variables; NaN where the batch can tell nothing."""
    nats: Mapping[str, tuple[float, float, float]]
    """By how many nats each conditional changed whose test says so, with the 95 % interval."""
    min_effect: float
    """The smallest effect that counts, in nats."""
    missing: tuple[MissingChange, ...]
    """The columns whose share of missing cells changed; one that vanished or was emptied is among them."""
    new_labels: Mapping[str, Mapping[State, int]]
    """The labels that the reference lacks, by column, with their rows; no alarm by themselves."""
    vanished: tuple[str, ...]
    """The reference's columns that the batch lacks, or that hold something else there."""
    new_columns: tuple[str, ...]
    """The batch's columns that the reference lacks; nothing is said of them."""

    def __repr__(self) -> str:
        told = [
            ("changed", self.changed()),
            ("share of missing cells changed", [of.variable for of in self.missing]),
            ("new labels", tuple(self.new_labels)),
            ("vanished", self.vanished),
            ("new columns", self.new_columns),
        ]
        said = "; ".join(f"{what}: {first_names(names)}" for what, names in told if names)
        return f"MonitorResult(batch {self.batch} of {several(self.n_rows, 'row')}: {said or 'no alarm'})"

    @property
    def alarm(self) -> bool:
        """Whether a conditional or a share of missing cells changed, or a column vanished."""
        return bool(self.changed() or self.missing or self.vanished)

    def changed(self) -> tuple[str, ...]:
        """Return the variables whose conditional changed, those that carry most first."""
        found = [name for name, (_, low, _) in self.nats.items() if low >= self.min_effect]
        return tuple(sorted(found, key=lambda name: (-self.nats[name][0], name)))

    def untested(self) -> tuple[str, ...]:
        """Return the variables of which the batch can tell nothing."""
        return tuple(name for name, p in self.p_values.items() if math.isnan(p))

    def to_frame(self) -> pa.Table:
        """Return one row a variable."""
        changed = set(self.changed())
        none = (math.nan,) * 3
        parts = [self.nats.get(name, none) for name in self.p_values]
        return pa.table(
            {
                "batch": [self.batch] * len(parts),
                "variable": list(self.p_values),
                "p_corrected": list(self.p_values.values()),
                "changed": [name in changed for name in self.p_values],
                **{word: [part[k] for part in parts] for k, word in enumerate(("nats", "low", "high"))},
            }
        )


class Monitor:
    """Compare batch after batch with a reference, as long as one likes.

    Parameters
    ----------
    reference : Table or data frame
        The rows that batches are compared with. Many more rows than a batch has are best: what is unusual in the
        reference stays.
    net : BayesianNetwork or Dag, optional
        The graph whose conditionals are tested. Without it, one is learned from the reference.
    level : float
        The probability, at most, that any batch is ever wrongly called changed, in any variable or share of missing
        cells. Each of the two has half of it.
    min_effect : float
        The smallest effect that counts, in nats, as for `explain_change`.
    permutations, resamples : int
        As for `explain_change`.
    bins : int, or mapping from column to int or to cut points; optional
        As for `two_sample_test`, at points of the reference.
    seed : None, int or numpy.random.Generator
    state : path, optional
        A file that says how many batches there were, by which graph and level, and what the reference is. It is written
        after each batch, all or nothing; where it is there, the monitor goes on where that one ended, so that the level
        holds over all batches of all processes.

    Raises
    ------
    SchemaError
        When the reference has no row, or the state is of another reference, graph or level.
    FileFormatError
        When the file of the state holds something else, or cannot be written.

    See Also
    --------
    explain_changes : of batches that are all there.

    Notes
    -----
    The level holds for tests that are exact: of states, rows that are independent, and a graph that was not learned
    from the reference; a learned one fits it a little better than other rows (see the page on comparing tables for what
    that does). The nats' interval is one of 95 % for each variable alone.

    A label that the reference lacks is one more state, in both tables. A column that the batch lacks counts as missing
    in all rows; its children in the graph are tested given their other parents.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> monitor = fn.compare.Monitor(asia.sample(2000, seed=1))
    >>> [monitor.update(asia.sample(300, seed=seed)).alarm for seed in (2, 3)]
    [False, False]
    >>> monitor.update(fn.infer.intervene(asia, {"bronc": "no"}).sample(300, seed=4)).changed()
    ('bronc',)
    """

    def __init__(
        self,
        reference: Any,
        net: Graph | HasGraph | None = None,
        *,
        level: float = 0.05,
        min_effect: float = 0.0,
        permutations: int = 999,
        resamples: int = 200,
        bins: Bins | None = None,
        seed: Seed = 0,
        state: str | os.PathLike[str] | None = None,
    ) -> None:
        self._options = Options.checked(permutations, resamples, level, min_effect, 1.0, seed)
        if net is not None:
            graph_of(net, "net")
        read = whole_rows(as_data(reference, PURPOSE), PURPOSE)
        if read.n_rows == 0:
            raise SchemaError("the reference has no rows")
        table = prepared(read, bins)
        if net is not None:
            net, (table,) = shared_with_graph(net, [table], [read], PURPOSE)
        self._variables, self._names = table.variables, table.names
        table = in_order(table)
        known = None if state is None else MonitorState.read(Path(state))
        if net is not None:
            self._dag = given_graph(net, table.names)
        else:
            self._dag = known.dag if known is not None else graph_of_tables([table]).dag
        self._batches = 0 if known is None else known.batches
        self._kept = None
        if state is not None:
            self._kept = MonitorState.of(self._batches, self._options.level, self._dag, table, Path(state))
            if known is not None:
                known.check(self._kept)
        self._reference = with_new_state(table)
        (self._counts,) = family_counts([self._reference])

    def __repr__(self) -> str:
        rows = several(self._reference.n_rows, "row")
        return f"Monitor({rows}, {several(len(self._names), 'variable')}; {several(self._batches, 'batch', 'batches')})"

    @property
    def graph(self) -> Dag:
        """The graph whose conditionals are tested."""
        return self._dag

    @property
    def batches(self) -> int:
        """How many batches there were."""
        return self._batches

    def update(self, batch: Any) -> MonitorResult:
        """Compare the next batch with the reference.

        Parameters
        ----------
        batch : Table or data frame
            One without rows tells nothing; it counts as a batch all the same.

        Returns
        -------
        MonitorResult

        Raises
        ------
        SchemaError
            When the batch has none of the reference's columns.
        """
        found = _Batch.of(whole_rows(as_data(batch, PURPOSE), PURPOSE), self._variables, self._reference.variables)
        self._batches += 1
        part = self._options.level * spent(self._batches)
        p_values, nats = self._tested(found.table, part * (1 - OF_MISSING))
        some = found.table.n_rows > 0
        if self._kept is not None:
            replace(self._kept, batches=self._batches).write()
        return MonitorResult(
            self._batches,
            found.table.n_rows,
            part,
            MappingProxyType({name: p_values[name] for name in self._names}),
            MappingProxyType(nats),
            self._options.min_effect,
            missing_changes(self._reference, found.table, part * OF_MISSING) if some else (),
            MappingProxyType(found.new_labels),
            found.vanished,
            found.new_columns,
        )

    def _tested(self, batch: Table, level: float) -> tuple[dict[str, float], dict[str, tuple[float, float, float]]]:
        """Return the corrected p-values, and the nats and intervals of those up to the level."""
        names = self._reference.names
        counts = (self._counts, self._counts.of(batch))
        families = families_of_tables((self._reference, batch), self._options, counts)
        lacking = batch.missing_counts()
        there = {v for v, name in enumerate(names) if lacking.get(name, 0) < batch.n_rows}
        of = families_of(tuple(tuple(sorted(there.intersection(parents))) for parents in self._dag.parents))
        families.prepare(of)
        corrected = holm_sidak([Outcome(_p_value(families, family)) for family in of])
        nats = {names[v]: families.nats(of[v]) for v in np.flatnonzero(corrected <= level)}
        return (
            dict(zip(names, corrected.tolist(), strict=True)),
            {name: (n.nats, n.low, n.high) for name, n in nats.items()},
        )


def spent(k: int) -> float:
    """Return the part of the level that the k-th batch may spend; the parts of all batches add up to 1."""
    return 1 / math.log2(k + 1) - 1 / math.log2(k + 2)


def _p_value(families: Families, family: Family) -> float:
    """Return the p-value of "this conditional did not change", joined with the bound without draws."""
    bound = families.p_value_bound(family) / OF_BOUND
    return float(np.minimum(min(1.0, bound), families.p_value(family) / (1 - OF_BOUND)))  # NaN stays


# ------------------------------------------------------------------------------------------------------- columns


@dataclass(frozen=True, eq=False)
class _Batch:
    """A batch in the columns of the reference."""

    table: Table
    new_labels: dict[str, dict[State, int]]
    vanished: tuple[str, ...]
    new_columns: tuple[str, ...]

    @classmethod
    def of(cls, batch: Table, variables: Sequence[Column], wanted: Sequence[Column]) -> _Batch:
        """Return a batch in the columns that are wanted: the variables, with one more state each, sorted."""
        if not set(batch.names) & {variable.name for variable in variables}:
            raise SchemaError("the batch has none of the reference's columns")
        of_reference = {variable.name: variable for variable in variables}
        columns, new_labels, vanished = [], {}, []
        for want in wanted:
            found = _cells(batch, of_reference[want.name])
            if found is None:
                vanished.append(want.name)
            absent = np.nan if want.is_continuous else want.cardinality
            cells, new = found or (np.full(batch.n_rows, absent), {})
            columns.append(cells if want.is_continuous else cells.astype(want.dtype))
            new_labels.update({want.name: new} if new else {})
        order = [variable.name for variable in variables]
        table = Table.adopt(wanted, columns, n_rows=batch.n_rows)
        return cls(
            table,
            {name: new_labels[name] for name in order if name in new_labels},
            tuple(name for name in order if name in vanished),
            tuple(name for name in batch.names if name not in of_reference),
        )


def _cells(batch: Table, variable: Column) -> tuple[npt.NDArray[Any], dict[State, int]] | None:
    """Return a column's codes, with one more for new labels and missing cells behind it, and these labels with counts.

    Numbers that are infinite or cannot be squared, which the reference lacks, are missing cells.
    None where the batch lacks the column, or it holds words in place of numbers.
    """
    if variable.name not in batch.names:
        return None
    try:
        own = batch.select([variable.name])
        cells = own.conform([variable], unknown="missing").codes[0]
    except SchemaError:
        return None
    have, was = own.variables[0], own.codes[0]
    new = variable.missing(cells) & ~have.missing(was)
    if variable.is_continuous:
        return None if new.any() else (np.where(np.abs(cells) <= LARGEST, cells, np.nan), {})
    found = np.where(new, variable.cardinality, np.where(variable.missing(cells), variable.cardinality + 1, cells))
    values, counts = np.unique(was[new], return_counts=True)
    labels = [_plain(value) if have.is_continuous else have.states[int(value)] for value in values.tolist()]
    return found, dict(zip(labels, counts.tolist(), strict=True))


def _plain(number: float) -> State:
    return int(number) if float(number).is_integer() else number
