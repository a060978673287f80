"""What the columns of rows that lie in many places are, as one table of all rows would have it.

Every place says what there is to know of its columns (`fishernet.data.parts.tally`); the sum is decided on by the code
that decides on columns in memory. The rows are looked at once more where rows with missing cells are left out, since
that depends on which columns stay, and where bins are to hold equally many of very many numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Protocol

import numpy as np

from fishernet.data.arrays import weight_unit
from fishernet.data.arrow import frame_columns
from fishernet.data.encoding.bins import quantile_cuts
from fishernet.data.encoding.cells import Columns, SourceColumn
from fishernet.data.encoding.encode import Decision, chosen_columns, found_columns, missing_cells, stays_continuous
from fishernet.data.options import Options
from fishernet.data.parts.tally import Kept, PartTally, columns_kept, tally_part
from fishernet.data.statistics import ranks
from fishernet.data.variable import Column


class Places(Protocol):
    """Where parts of the data are worked on: in this process, or by the workers of a cluster."""

    def hold(self, parts: Sequence[Any], function: Callable[[Any], Any]) -> list[Any]:
        """Return handles of a function's answers for parts that are not read yet; the answers stay where they are."""
        ...

    def each_own(self, held: Sequence[Any], functions: Sequence[Callable[[Any], Any]]) -> list[Any]:
        """Return handles of the answers of a function of its own for each that is held; they stay where they are."""
        ...

    def sum(self, held: Sequence[Any], function: Callable[[Any], Any], *, any_order: bool = False) -> Any:
        """Return the sum of a function's answers for what is held, added in an order that depends on nothing else.

        `any_order` says that the sum is the same, to the last bit, in whatever order they are added.
        """
        ...

    def each(self, held: Sequence[Any], function: Callable[[Any], Any]) -> Iterator[Any]:
        """Return a function's answers for what is held, in its order."""
        ...


@dataclass(frozen=True)
class FoundVariables:
    """The variables of all parts, why they are so, and how many cells are missing."""

    variables: tuple[Column, ...]
    decisions: tuple[Decision, ...]


def found_variables(places: Places, parts: Sequence[Any], options: Options) -> FoundVariables:
    """Return what `Table.from_frame` would make of the columns of all parts, read as frames or as columns."""
    first = _tallied(places, parts, options, None)
    decisions: list[Decision] = []
    cells = chosen_columns([tally.column() for tally in first.columns], options, decisions)
    missing = missing_cells(cells, first.n_rows, options)
    kept, second = Kept({column.name: column.unit for column in cells}), first
    dropped = options.missing == "drop" and bool(missing)
    if dropped:
        second = _tallied(places, parts, options, kept)
        cells = [tally.column() for tally in second.columns]
    options = _with_ranks(places, parts, cells, options, kept, second)
    weights = None if second.weight is None else np.zeros(0, dtype=np.int64)  # rows weigh; how much is told already
    found = found_columns(cells, weights, missing, options, decisions, dropped=dropped)
    return FoundVariables(tuple([one.variable for one in found]), tuple(decisions))


def _tallied(places: Places, parts: Sequence[Any], options: Options, kept: Kept | None) -> PartTally:
    tally: PartTally = places.sum(places.hold(parts, partial(_tally_frame, options=options, kept=kept)), _itself)
    return tally


def _tally_frame(frame: Any, options: Options, kept: Kept | None) -> PartTally:
    return tally_part(part_columns(frame, options), options, kept)


def part_columns(part: Any, options: Options) -> Columns:
    """Return the columns of a part that the options ask for; it is a frame, or columns that are read already."""
    if not isinstance(part, Columns):
        return frame_columns(part, options)
    chosen = set(options.choose([column.name for column in part.cells]))
    cells = [c for c in part.cells if c.name in chosen or (c.is_weights and options.takes_marked_weights(c.name))]
    return Columns(cells, part.n_rows)


def _itself(answer: Any) -> Any:
    return answer


def _with_ranks(
    places: Places, parts: Sequence[Any], cells: Sequence[SourceColumn], options: Options, kept: Kept, tally: PartTally
) -> Options:
    """Return options that say where to cut the columns whose tallies are not enough to find that."""
    weighted = tally.weight is not None
    wanted = {column.name: n for column in cells if (n := _n_ranked_bins(column, options, weighted=weighted))}
    if not wanted:
        return options
    unit = None if tally.weight is None or tally.whole else weight_unit(tally.weight)
    of = partial(
        _ladders_of_frame, options=options, kept=kept, names=tuple(wanted), unit=unit, weighed=bool(tally.weight)
    )
    everywhere = partial(places.sum, places.hold(parts, of))
    cuts: dict[str | None, Any] = dict(options.bins) if isinstance(options.bins, dict) else {None: options.bins}
    for name, n_bins in wanted.items():
        few = ranks.gathered(everywhere, name)
        if few.values is None or few.counts is None:
            cuts[name] = tuple(ranks.quantile_cuts(everywhere, name, n_bins))
        else:
            cuts[name] = tuple(quantile_cuts(few.values, few.counts, n_bins))
    return replace(options, bins=cuts)


def _n_ranked_bins(column: SourceColumn, options: Options, *, weighted: bool) -> int | None:
    """Return into how many bins of equally many rows a column is to be cut; None where its tally tells, or none are."""
    n_bins = options.asked_cut(column.name, numbers=column.is_plain_number)
    if not isinstance(n_bins, int) or options.binning != "quantile" or stays_continuous(column, options):
        return None
    coded = column.coded
    heavy = coded.counts(np.zeros(0, dtype=np.int64)) > 0
    numbers = np.unique(coded.label_numbers[heavy if heavy.any() else slice(None)])
    few = len(numbers) <= n_bins or (coded.holds_all and not weighted)
    return None if few or not np.isfinite(numbers).all() else n_bins


def _ladders_of_frame(
    frame: Any, options: Options, kept: Kept, names: Sequence[str], unit: float | None, *, weighed: bool
) -> dict[str, ranks.Ladder]:
    cells, weights, _ = columns_kept(part_columns(frame, options), options, kept)
    return ranks.ladders(cells, weights if weighed else None, names, unit)
