"""Two passes over rows that lie in many places: what their columns are, as one table of all rows would have it.

Every place says what there is to know of its columns; `fishernet.data.decide` decides by the sum, and every place
encodes its own rows. The points at which numbers are cut are found from all places without gathering the numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from fishernet.data.arrow import frame_columns
from fishernet.data.blocks.blocks import Blocks, common_unit, cut_held, facts_of, weighed_in
from fishernet.data.blocks.places import Places
from fishernet.data.column_summary import TableSummary
from fishernet.data.decide import Decided, Decision
from fishernet.data.encode import (
    Kept,
    decided_by,
    encode_part,
    summary_of_part,
    told_of_bins,
    with_missing_states,
)
from fishernet.data.encoding.bins import is_cut
from fishernet.data.encoding.cells import Columns
from fishernet.data.meeting import Met, Strangers, met_by, strangers
from fishernet.data.options import Options
from fishernet.data.pooling import stacked
from fishernet.data.table import Table
from fishernet.data.variable import Column

MOST_BYTES = 2**28  # of the columns of parts that are put together


@dataclass(frozen=True)
class EncodedParts:
    """Handles of tables, their variables, and why these are so."""

    held: Sequence[Any]
    variables: Sequence[Column]
    decisions: Sequence[Decision]


def encoded_parts(places: Places, parts: Sequence[Any], options: Options) -> EncodedParts:
    """Return handles of parts as tables; each is read as a frame or as columns."""
    if options.schema is not None:
        met = met_by(places.sum(places.hold(parts, partial(_strangers, options=options)), _itself), options)
        held = places.hold(parts, partial(_part, options=options, decided=None, met=met))
        return EncodedParts(held, options.schema, ())

    def summary(kept: Kept | None) -> TableSummary:
        found: TableSummary = places.sum(places.hold(parts, partial(_summary, options=options, kept=kept)), _itself)
        return found

    decided = decided_by(summary, options)
    held = places.hold(parts, partial(_part, options=options, decided=decided))
    if not any(is_cut(variable, options) for variable in decided.variables) and options.missing != "state":
        return EncodedParts(held, decided.variables, decided.decisions)
    return _cut(places, held, decided, options)


def blocks_of(places: Places, readers: Sequence[Any], options: Options, *, keep: bool = False) -> Blocks:
    """Return parts as one source, small ones put together while there is one for each that can work at once.

    Parameters
    ----------
    places : Places
    readers : sequence
        What reads each part, in the order of the rows: something to call, or a task of Dask. It gives a frame, or
        `Columns`.
    options : Options
        What is asked of the columns.
    keep : bool
        Whether what was read is kept until it is encoded, and not read again.
    """
    found = encoded_parts(places, places.tasks(readers, keep=keep), options)
    facts = list(places.each(found.held, facts_of))
    unit = common_unit(facts)
    most = min(MOST_BYTES, -(-sum(one.n_bytes for one in facts) // places.n_threads))
    groups = neighbours([one.n_bytes for one in facts], most)
    held = found.held
    if unit or len(groups) < len(held):
        held = places.together(held, groups, partial(_stacked, unit=unit))
        facts = list(places.each(held, facts_of))
    return Blocks.adopt(places, held, found.variables, facts, found.decisions)


def neighbours(sizes: Sequence[int], most: int) -> list[slice]:
    """Return neighbours whose sizes sum to so much at most, but for those that are larger alone."""
    groups, begin, size = [], 0, 0
    for i, one in enumerate(sizes):
        if i > begin and size + one > most:
            groups.append(slice(begin, i))
            begin, size = i, 0
        size += one
    return [*groups, slice(begin, len(sizes))]


def _stacked(*tables: Table, unit: float) -> Table:
    return weighed_in(tables[0] if len(tables) == 1 else stacked(tables), unit)


def _cut(places: Places, held: Sequence[Any], decided: Decided, options: Options) -> EncodedParts:
    """Return the tables of parts with their numbers cut into bins, and states for missing cells where asked for."""
    variables, cut = cut_held(places, held, decided.variables, options)
    if options.missing == "state":
        variables = with_missing_states(variables, decided.missing)
        cut = places.each_own(cut, [partial(_with_states, variables=tuple(variables))] * len(cut))
    return EncodedParts(cut, variables, told_of_bins(decided.decisions, variables))


def _part_columns(part: Any, options: Options) -> Columns:
    """Return the columns of a part that the options ask for; it is a frame, or columns that are read already."""
    if not isinstance(part, Columns):
        return frame_columns(part, options)
    chosen = set(options.choose([column.name for column in part.cells]))
    cells = [c for c in part.cells if c.name in chosen or (c.is_weights and options.takes_marked_weights(c.name))]
    return Columns(cells, part.n_rows)


def _summary(part: Any, options: Options, kept: Kept | None) -> TableSummary:
    return summary_of_part(_part_columns(part, options), options, kept)


def _itself(answer: Any) -> Any:
    return answer


def _strangers(part: Any, options: Options) -> Strangers:
    return strangers(_part_columns(part, options), options)


def _part(part: Any, options: Options, decided: Decided | None, met: Met | None = None) -> Table:
    found = encode_part(_part_columns(part, options), options, decided, met, is_whole=True)
    return Table.adopt(found.variables, found.columns, weights=found.weights, n_rows=found.n_rows)


def _with_states(table: Table, variables: Sequence[Column]) -> Table:
    columns = [column.astype(v.dtype, copy=False) for v, column in zip(variables, table.codes, strict=True)]
    return Table.adopt(variables, columns, weights=table.weights, n_rows=table.n_rows)
