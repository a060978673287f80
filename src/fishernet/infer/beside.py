"""An answer beside the rows of a table: the model's probability, the table's own share, and whether they disagree."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base.display import Framed, aligned
from fishernet.base.names import cut, several
from fishernet.data.frames.answering import cells_frame
from fishernet.data.given import code_of
from fishernet.data.matching import Data, as_data, as_table, is_frame, is_table
from fishernet.data.variable import State, Variable

Array = npt.NDArray[np.float64]

ALPHA = 1e-3  # of the test of one share
MARK = "*"
MOST_SHOWN = 20  # rows of a table that str() shows
LONGEST = 30  # characters of a label that str() shows
MARKED = (
    f"{MARK} the rows disagree: were the probability right, a share so far from it came in 1 of 1,000 tables at most"
)


def title(names: Sequence[str], given: Mapping[str, State]) -> str:
    """Return what is asked and given, in short: ``lung, bronc | xray = 'yes'``."""
    known = ", ".join(f"{cut(name, LONGEST)} = {cut(repr(state), LONGEST)}" for name, state in list(given.items())[:6])
    more = f", ... {len(given):,} in all" if len(given) > 6 else ""
    asked = ", ".join(cut(name, LONGEST) for name in names[:6]) + (", ..." if len(names) > 6 else "")
    return f"{asked}{' | ' if given else ''}{known}{more}"


def lines_of(title: str, header: Sequence[str], rows: Iterator[Sequence[str]], n_rows: int) -> str:
    """Return a table of the first rows below its title, as text."""
    lines = aligned([header, *itertools.islice(rows, MOST_SHOWN)])
    more = [f"... and {several(n_rows - MOST_SHOWN, 'more row')}"] if n_rows > MOST_SHOWN else []
    return "\n".join([title, *lines, *more])


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Beside(Framed):
    """The answer of a model beside a table's rows that are as what is given; made by `Distribution.beside`.

    A probability and a share disagree where the exact binomial test of the share is below 0.001 on either side
    together (Clopper and Pearson, 1934). Each is tested by itself, and of 1,000 right ones about one is marked. Weights
    that are fractions count as so many rows as tell as much, the squared sum over the sum of squares (Kish, 1965).

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> rows = asia.sample(1000, seed=1)
    >>> print(asia.query("bronc", given={"smoke": "yes"}).beside(rows))
    P(bronc | smoke = 'yes'), beside 482 of 1,000 rows
    bronc  probability  share of rows
    yes    0.6          0.572614
    no     0.4          0.427386
    """

    variables: tuple[Variable, ...]
    """The variables that were asked for."""
    given: Mapping[str, State]
    """The states that were given, by name."""
    probabilities: Array
    """The model's probabilities, one axis per variable."""
    shares: Array
    """Of the same shape: the table's shares, by weight; NaN where no row is as what is given."""
    differs: npt.NDArray[np.bool_]
    """Of the same shape: which probabilities and shares disagree."""
    n_rows: int
    """The rows that are as what is given and know what was asked for."""
    n_effective: float
    """How many rows without weights tell as much: the sum of counts, or Kish's number of fractions."""
    n_missing: int
    """The rows left out since a cell is missing that was given or asked for, while all others are as given."""
    n_all: int
    """All rows of the table."""

    @classmethod
    def of(
        cls,
        variables: tuple[Variable, ...],
        probabilities: Array,
        known: Sequence[Variable],
        given: Mapping[str, State],
        data: Data,
    ) -> Beside:
        """Return probabilities of variables, given states of others, beside the rows of a table or data frame."""
        if not (is_table(data) or is_frame(data)):
            as_data(data, "an answer beside its rows")  # raises
        every = {variable.name: variable for variable in (*variables, *known)}
        table = as_table(data, tuple(every.values()), unknown="missing")
        fits, lacks = np.ones(table.n_rows, dtype=bool), np.zeros(table.n_rows, dtype=bool)
        for variable in known:
            column = table.column(variable.name)
            absent = variable.missing(column)
            fits &= absent | (column == code_of(variable, given[variable.name]))
            lacks |= absent
        for variable in variables:
            lacks |= variable.missing(table.column(variable.name))
        rows = fits & ~lacks
        weights = np.ones(table.n_rows) if table.weights is None else table.weights.astype(np.float64)
        shape = tuple(variable.cardinality for variable in variables)
        codes = [table.column(variable.name)[rows].astype(np.intp) for variable in variables]
        cells = np.ravel_multi_index(codes, shape) if codes else np.zeros(np.count_nonzero(rows), dtype=np.intp)
        sums = np.bincount(cells, weights[rows], minlength=int(np.prod(shape))).reshape(shape)
        total = float(weights[rows].sum())
        n = total
        if table.has_fractions and total > 0:
            n = total**2 / float((weights[rows] ** 2).sum())
        shares = sums / total if total > 0 else np.full(shape, np.nan)
        differs = _differ(probabilities, shares, n) if total > 0 else np.zeros(shape, dtype=bool)
        counts = int(np.count_nonzero(rows)), n, int(np.count_nonzero(fits & lacks)), table.n_rows
        return cls(variables, dict(given), probabilities, shares, differs, *counts)

    @property
    def told(self) -> str:
        """The rows behind the shares, in words."""
        as_much = f", by weight {self.n_effective:.6g}" if self._is_weighted else ""
        left = f"; {self.n_missing:,} more left out for a missing cell" if self.n_missing else ""
        return f"{self.n_rows:,} of {several(self.n_all, 'row')}{as_much}{left}"

    @property
    def _is_weighted(self) -> bool:
        return abs(self.n_effective - self.n_rows) > 1e-9 * self.n_rows

    def to_frame(self) -> pa.Table:
        """Return one row per probability: the labels, ``probability``, ``share`` and ``differs``."""
        return cells_frame(self.variables, probability=self.probabilities, share=self.shares).append_column(
            "differs", pa.array(self.differs.ravel())
        )

    def __repr__(self) -> str:
        names = [variable.name for variable in self.variables]
        return (
            f"Beside({title(names, self.given)}: {self.told}, {int(self.differs.sum())} of {self.differs.size} differ)"
        )

    def __str__(self) -> str:
        names = [variable.name for variable in self.variables]
        labels = itertools.product(*(variable.states for variable in self.variables))
        numbers = zip(self.probabilities.ravel().tolist(), shares_shown(self.shares, self.differs), strict=True)
        rows = (
            [*(cut(str(label), LONGEST) for label in of), f"{p:.6g}", share]
            for of, (p, share) in zip(labels, numbers, strict=True)
        )
        head = f"P({title(names, self.given)}), beside {self.told}"
        text = lines_of(head, [*names, "probability", "share of rows"], rows, self.differs.size)
        return "\n".join([text, *([MARKED] if self.differs.any() else [])])


def shares_shown(shares: Array, differs: npt.NDArray[np.bool_]) -> list[str]:
    """Return shares as text, a mark behind those that disagree with the model; the last variable fastest."""
    pairs = zip(np.ravel(shares).tolist(), np.ravel(differs).tolist(), strict=True)
    return ["no rows" if math.isnan(share) else f"{share:.6g}{f' {MARK}' if far else ''}" for share, far in pairs]


def _differ(probabilities: Array, shares: Array, n: float) -> npt.NDArray[np.bool_]:
    """Return which shares of n rows the exact binomial test refuses; hits need not be whole."""
    from scipy.special import betainc  # slow to import, and needed by few calls

    p = np.clip(probabilities, 0.0, 1.0)
    hits = shares * n
    # P(X >= k) = I_p(k, n - k + 1) and P(X <= k) = I_(1-p)(n - k, k + 1)
    with np.errstate(all="ignore"):
        above: Any = np.where(hits > 0, betainc(np.maximum(hits, 1e-300), n - hits + 1, p), 1.0)
        below: Any = np.where(hits < n, betainc(np.maximum(n - hits, 1e-300), hits + 1, 1 - p), 1.0)
    found: npt.NDArray[np.bool_] = np.minimum(above, below) < ALPHA / 2
    return found
