"""How the columns of a source are written where a model's variables are: what all parts of it say together.

A model meets its columns as other people write them. `strangers` are what a part of the rows has otherwise than the
schema: text where there are numbers, labels that a variable lacks. They add, and `met_by` decides on the sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import islice

from fishernet.data.column_summary import TableSummary, summarized
from fishernet.data.encoding.alike import MOST_STRANGE, Codes, states_alike, tell, with_cuts
from fishernet.data.encoding.cells import Columns, SourceColumn
from fishernet.data.encoding.readings import Reading
from fishernet.data.encoding.recode import UNKNOWN, looked_up
from fishernet.data.options import Options
from fishernet.data.variable import State


@dataclass(frozen=True)
class Met:
    """How the columns of a schema are written in all parts together.

    Attributes
    ----------
    readings : dict
        How text is read as numbers, by column, where that is otherwise than Python writes them.
    alike : dict
        The codes of labels that are a state in other signs, by column, in the order of the states of `with_cuts`.
    """

    readings: dict[str, Reading] = field(default_factory=dict)
    alike: dict[str, Codes] = field(default_factory=dict)


@dataclass(frozen=True)
class Strangers:
    """What some rows have otherwise than a schema; two of them add.

    Attributes
    ----------
    texts : TableSummary
        Of columns that are text, and for which the schema has numbers.
    columns : dict
        The names of variables, by those of the columns that stand for them.
    labels : dict
        The labels that a variable lacks, by its name.
    taken : dict
        The codes of the labels that it has, by its name.
    cut : set
        The variables whose states say where the numbers of the column are cut.
    """

    texts: TableSummary
    columns: dict[str, str]
    labels: dict[str, frozenset[State]]
    taken: dict[str, frozenset[int]]
    cut: frozenset[str]

    def __bool__(self) -> bool:
        """Whether there is anything."""
        return bool(self.texts.columns or self.columns or self.cut or any(self.labels.values()))

    def __add__(self, other: Strangers) -> Strangers:
        labels = {name: self.labels[name] | other.labels[name] for name in self.labels}
        return Strangers(
            self.texts + other.texts,
            self.columns,
            {name: frozenset(islice(every, MOST_STRANGE + 1)) for name, every in labels.items()},
            {name: self.taken[name] | other.taken[name] for name in self.taken},
            self.cut | other.cut,
        )


def renamed(cells: Sequence[SourceColumn], options: Options) -> list[SourceColumn]:
    """Return columns by the names that the schema has for them."""
    alike = options.columns_alike([column.name for column in cells if not column.is_weights])
    return [replace(column, name=alike[column.name]) if column.name in alike else column for column in cells]


def strangers(source: Columns, options: Options) -> Strangers:
    """Return what a part has otherwise than the schema."""
    wanted = {variable.name: with_cuts(variable) for variable in options.schema or ()}
    numeric = {name for name, variable in wanted.items() if variable.is_continuous or variable.cuts is not None}
    cells = [column for column in renamed(source.cells, options) if column.name in wanted]
    texts = [c for c in cells if c.name in numeric and not c.holds_numbers and not c.declared]
    own = {variable.name for variable in options.schema or () if variable.cuts is not None}
    labels: dict[str, frozenset[State]] = {}
    taken: dict[str, frozenset[int]] = {}
    cut: set[str] = set()
    for column in cells:
        variable = wanted[column.name]
        if variable.is_continuous:
            continue
        if column.holds_numbers and variable.cuts is not None:
            cut |= {column.name} - own
            labels[column.name], taken[column.name] = frozenset(), frozenset()
            continue
        coded = column.coded
        codes = looked_up(coded, variable).tolist()
        labels[column.name] = frozenset(
            [label for label, code in zip(coded.labels.tolist(), codes, strict=True) if code == UNKNOWN]
        )
        taken[column.name] = frozenset(codes) - {UNKNOWN}
    columns = options.columns_alike([column.name for column in source.cells if not column.is_weights])
    return Strangers(summarized(texts, None, source.n_rows, options), columns, labels, taken, frozenset(cut))


def met_by(found: Strangers, options: Options) -> Met:
    """Return how columns are written, by what all parts have otherwise than the schema; tell what is taken for what."""
    read = {column.name: column.as_read().reading for column in found.texts.columns}
    readings = {name: reading for name, reading in read.items() if reading is not None}
    wanted = {variable.name: with_cuts(variable) for variable in options.schema or ()}
    alike: dict[str, Codes] = {}
    for name, labels in found.labels.items():
        variable = wanted[name]
        if labels and not variable.is_continuous:
            alike[name] = states_alike(variable, labels, found.taken[name])
    told = {name: {label: wanted[name].states[code] for label, code in codes.items()} for name, codes in alike.items()}
    own = {variable.name for variable in options.schema or () if variable.cuts is not None}
    cut = found.cut | {name for name, reading in readings.items() if name not in own and wanted[name].cuts}
    tell(found.columns, told, [wanted[name] for name in wanted if name in cut])
    return Met(readings, alike)
