"""What one wants to know of a table before anything is learned: copies, odd values, columns that are empty or even."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.names import listed, several
from fishernet.data.variable import Column

Codes = npt.NDArray[Any]
Known = Sequence[tuple[Column, Codes]]

MOST_ROWS = 2**21  # of more, some are looked at
SOME_CELLS = 20_000  # among which the most frequent number is looked for
SOME_ROWS = 2000  # that rule most pairs of columns out
MOST_TOLD = 5  # columns of which the same is said one by one
MOST_PAIRED = 100  # columns that are held beside one another
ROWS_OF_A_STATE = 5  # at least, in the mean: otherwise anything follows from a column
MOST_OF_ONE = 0.95  # of the rows
MOST_LACKING = 0.5  # of the cells
SPIKE = 0.3  # of the rows
FAR = 1.0  # how much farther a number is from the others than these are from one another, in the range of these
MIX = np.uint64(0x9E3779B97F4A7C15)


def alerts_of(
    variables: Sequence[Column],
    columns: Sequence[Codes],
    n_rows: int,
    most_rows: int = MOST_ROWS,
    *,
    whole: bool = True,
) -> tuple[str, ...]:
    """Return a sentence for each thing that is odd about a table's rows and columns; of many rows it looks at some.

    `whole` says that the table has all columns of its source: otherwise rows that are equal in it may differ there.
    """
    if not n_rows:
        return ()
    known, found, looked_at = list(zip(variables, columns, strict=True)), [], n_rows
    if n_rows > most_rows:
        step = -(-n_rows // most_rows)
        begins = np.arange(0, n_rows - step + 1, step)  # one row from each stretch, at random: rows may come in periods
        rows = begins + np.random.default_rng(0).integers(0, step, len(begins))
        known, looked_at = [(variable, column[rows]) for variable, column in known], len(rows)
        found.append(f"of {n_rows:,} rows {looked_at:,} were looked at for what is odd")
    n_rows = looked_at
    found += [*_copies(known, n_rows, whole=whole), *_lacking(known, n_rows), *_even(known), *_strange(known)]
    return (*found, *_following(known, n_rows))


def _copies(known: Known, n_rows: int, *, whole: bool) -> Iterator[str]:
    if not known:
        return
    keys = np.zeros(n_rows, dtype=np.uint64)
    for _, column in known:
        bits = (column + 0.0).view(np.uint64) if column.dtype.kind == "f" else column.astype(np.uint64)
        keys ^= bits
        keys *= MIX
        keys ^= keys >> np.uint64(29)
    keys.sort()
    copies = int(np.count_nonzero(keys[1:] == keys[:-1]))
    where = "" if whole else " in the columns that are kept"
    if copies:
        said = several(copies, "row is a copy", "rows are copies")
        yield f"{said} of another row{where} ({copies / n_rows:.2g} of all)"


def _told(found: Sequence[tuple[str, str]], together: str) -> Iterator[str]:
    """Yield the sentence of each of some columns; of many, one for all."""
    if len(found) <= MOST_TOLD:
        yield from (sentence for _, sentence in found)
    else:
        yield f"{len(found):,} columns {together}: {listed([name for name, _ in found])}"


def _lacking(known: Known, n_rows: int) -> Iterator[str]:
    found = []
    for variable, column in known:
        share = np.count_nonzero(variable.missing(column)) / n_rows
        if share > MOST_LACKING:
            what = "is empty" if share == 1 else f"lacks {share:.0%} of its cells"
            found.append((variable.name, f"{variable.name!r} {what}"))
    yield from _told(found, f"lack more than {MOST_LACKING:.0%} of their cells")


def _even(known: Known) -> Iterator[str]:
    """Yield columns that are the same in all rows, or in nearly all."""
    constant: list[str] = []
    marks: list[str] = []  # one value or nothing
    nearly = []
    for variable, column in known:
        if variable.is_continuous:
            cells = column[~variable.missing(column)]
            if len(cells) and cells.min() == cells.max():
                constant.append(variable.name)
            continue
        counts = np.bincount(column, minlength=variable.cardinality + 1)[: variable.cardinality]
        if not counts.any():
            continue
        if counts.max() == counts.sum():
            (constant if counts.sum() == len(column) else marks).append(variable.name)
        elif counts.max() > MOST_OF_ONE * counts.sum():
            state = variable.states[int(counts.argmax())]
            share = counts.max() / counts.sum()
            nearly.append((variable.name, f"{variable.name!r} is {state!r} in {share:.1%} of the rows that know it"))
    yield from _told(nearly, f"are the same in more than {MOST_OF_ONE:.0%} of the rows that know them")
    if constant:
        yield f"{listed(constant)} {'is' if len(constant) == 1 else 'are'} the same in all rows"
    if marks:
        hold = "holds" if len(marks) == 1 else "hold"
        remedy = "take missing cells as a state (missing='state', --missing state)"
        yield f"{listed(marks)} {hold} one value or nothing: if nothing means no, {remedy}"


def _strange(known: Known) -> Iterator[str]:
    """Yield numbers that stand for many rows, or that are far from all others more than once."""
    spikes = []
    for variable, column in known:
        if not variable.is_continuous or variable.unit is not None:
            continue
        cells = column[~variable.missing(column)]
        low, high = (float(cells.min()), float(cells.max())) if len(cells) else (0.0, 0.0)
        inside = cells[(cells > low) & (cells < high)]
        if not len(inside):
            continue
        values, counts = np.unique(cells[:: -(-len(cells) // SOME_CELLS)], return_counts=True)
        most = float(values[counts.argmax()])
        share = np.count_nonzero(cells == most) / len(cells)
        if share > SPIKE:
            spikes.append((variable.name, f"{variable.name!r} is {most:g} in {share:.0%} of the rows that know it"))
        first, last = float(inside.min()), float(inside.max())
        for far, near, other in ((high, last, low), (low, first, high)):
            rest, n = abs(near - other), int(np.count_nonzero(cells == far))
            if n > 1 and 0 < FAR * rest < abs(far - near):
                span = f"{min(near, other):g} to {max(near, other):g}"
                option = shlex.quote(f"{variable.name}={far:g}")
                remedy = f"na_values={{{variable.name!r}: ['{far:g}']}}, --na-values {option}"
                rows = several(n, "row")
                yield (
                    f"{variable.name!r} is {far:g} in {rows}, far from the others ({span}): perhaps a word for missing "
                    f"({remedy})"
                )
    yield from _told(spikes, f"have one number in more than {SPIKE:.0%} of the rows that know them")


def _following(known: Known, n_rows: int) -> Iterator[str]:
    """Yield columns that say the same as another, or follow from it."""
    told = [(variable, column) for variable, column in known if _differs(variable, column)]
    if len(told) > MOST_PAIRED:
        return
    some = np.linspace(0, n_rows - 1, min(n_rows, SOME_ROWS)).astype(np.int64)
    sampled = [(variable, column[some]) for variable, column in told]

    def follows(one: int, other: int) -> bool:
        of_numbers = told[one][0].is_continuous
        test: Callable[..., bool] = _is_line if of_numbers else _is_function
        return (
            of_numbers == told[other][0].is_continuous
            and test(*sampled[one], *sampled[other])
            and test(*told[one], *told[other])
        )

    names = [variable.name for variable, _ in told]
    same: set[int] = set()  # as one before them
    for one in range(len(told)):
        if one in same:
            continue
        others = [v for v in range(len(told)) if v != one and v not in same and follows(one, v)]
        alike = [v for v in others if v > one and follows(v, one)]
        after = [v for v in others if v not in alike]
        same.update(alike)
        of_numbers = told[one][0].is_continuous
        if alike:
            verb, what = "is" if len(alike) == 1 else "are", "units" if of_numbers else "words"
            yield f"{listed([names[v] for v in alike])} {verb} {names[one]!r} in other {what}"
        if after and not of_numbers:
            verb = "follows" if len(after) == 1 else "follow"
            yield f"{listed([names[v] for v in after])} {verb} from {names[one]!r}"


def _differs(variable: Column, column: Codes) -> bool:
    cells = column[~variable.missing(column)]
    return len(cells) > 0 and bool(cells.min() != cells.max())


def _is_function(one: Column, a: Codes, other: Column, b: Codes) -> bool:
    """Whether one label tells the other; not of labels that few rows share."""
    both = ~(one.missing(a) | other.missing(b))
    if not both.any():
        return False
    states = one.cardinality
    if len(a) < ROWS_OF_A_STATE * states or states * other.cardinality > 2**22:
        return False
    pairs = np.bincount(a[both].astype(np.int64) * other.cardinality + b[both], minlength=states * other.cardinality)
    present = pairs.reshape(states, other.cardinality) > 0
    return bool((present.sum(axis=1) <= 1).all() and present.any(axis=0).sum() > 1)


def _up_to_one(numbers: Codes) -> Codes:
    """Return finite numbers times a power of two, so that their squares are neither infinite nor 0."""
    return np.asarray(np.ldexp(numbers, -np.frexp(np.abs(numbers).max())[1]))


def _is_line(one: Column, a: Codes, other: Column, b: Codes) -> bool:
    """Whether one number is the other, but for a factor and a constant."""
    both = ~(one.missing(a) | other.missing(b))
    x, y = a[both], b[both]
    if len(x) < 3 or not (np.isfinite(x).all() and np.isfinite(y).all()):
        return False
    x, y = (z - z.mean() for z in (_up_to_one(x), _up_to_one(y)))
    squares, products = float(x @ x), float(x @ y)
    if not squares:
        return False
    rest = y - products / squares * x
    return bool(np.abs(rest).max() <= 1e-9 * np.abs(y).max())
