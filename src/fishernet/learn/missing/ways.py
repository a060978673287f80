"""Which way a learner takes with missing cells: "em" or "node-average"; and which columns are no key to others."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy.typing as npt

from fishernet.base.errors import FishernetError, SchemaError, warn
from fishernet.base.names import listed
from fishernet.base.vocabulary import IncompleteName, word
from fishernet.data import Source, Table
from fishernet.data.variable import Column, mixes_numbers
from fishernet.scores import Score, named_score
from fishernet.scores.likelihood import Bic

MISSING = ("em", "node-average")
BY_AVERAGE = (None, Bic(), Bic(prior=True))  # scores in whose place the node-average likelihood is maximized
MOST_CELLS_OF_EM, MOST_LACKING_OF_EM = 200_000, 50_000  # of which either is enough
LEAST_KNOWN = 0.1  # share of cells that a column needs to be a parent


def way_with_missing(source: Source, asked: str | None, score: Score | None = None) -> IncompleteName | None:
    """Return how a source's missing cells are dealt with; None where there are none.

    Without a wish it is "em" for up to 200,000 cells or 50,000 missing ones, and for scores other than BIC, and
    "node-average" otherwise. That has a score of its own, where one is maximized. A source that has no rows knows
    "node-average" alone. It is none for numbers alone under their own score, which goes by moments that EM finds, and
    for numbers under others that have neither rows nor BIC: families are scored on the rows that are complete in them.
    """
    way: IncompleteName | None = None if asked is None else word(asked, "missing", MISSING)
    if way == "node-average" and score not in BY_AVERAGE:
        raise FishernetError(
            "the node-average likelihood is a score of its own; other scores go with missing='em'", parameter="missing"
        )
    if not source.has_missing:
        return None
    if all(variable.is_continuous for variable in source.variables):
        if way == "em" and score in BY_AVERAGE[1:]:
            raise FishernetError(
                "EM of numbers alone goes with score='fractional', the default; BIC of them goes with "
                "missing='node-average'",
                parameter="missing",
            )
        return "node-average" if score in BY_AVERAGE[1:] else None
    if source.rows is None:
        if way == "em" or not (score in BY_AVERAGE or mixes_numbers(source.variables)):
            raise SchemaError(
                "EM needs the rows; of statistics alone learn by score='bic', and leave missing out",
                parameter="missing",
            )
        return "node-average" if score in BY_AVERAGE else None
    return way or ("em" if score not in BY_AVERAGE or _few(source.rows) else "node-average")


def way_of_scores(source: Source, score: str | Score | None) -> IncompleteName | None:
    """Return the way with missing cells where graphs are held against each other by their scores: never EM."""
    if not source.has_missing or all(variable.is_continuous for variable in source.variables):
        return None
    if score is not None and named_score(score) not in BY_AVERAGE:
        raise FishernetError(
            "where labels are missing, graphs are compared by the node-average likelihood: leave score out, or take "
            "the rows that are complete (table.drop_missing())",
            parameter="score",
        )
    return "node-average"


def _few(rows: Table) -> bool:
    """Whether EM goes through the rows in seconds."""
    few_cells = rows.n_rows * len(rows.variables) <= MOST_CELLS_OF_EM
    return few_cells or sum(rows.missing_counts().values()) <= MOST_LACKING_OF_EM


def enough_known(variable: Column, known: npt.NDArray[Any]) -> bool:
    """Return whether known cells are enough to learn of a column: one, or of numbers two that differ."""
    return len(known) > 0 and (not variable.is_continuous or bool(known.min() < known.max()))


def nearly_empty(source: Source, needed: Collection[str] = ()) -> list[str]:
    """Return the columns from which no arc leads, with a warning: by EM they would become parents of many others.

    They are those that are nearly empty, but for the columns needed: the caller wants an arc from these. Of expected
    counts there is no warning: it came when the network was learned that they are expected under.
    """
    rows = source.observed
    if rows is None or not rows.has_missing:
        return []
    missing, n = rows.missing_counts(), rows.n_rows
    found = [v for v in source.names if v not in needed and n - missing.get(v, 0) < LEAST_KNOWN * n]
    if found and source.rows is not None:
        what = f"{listed(found)} {'lacks' if len(found) == 1 else 'lack'} over 90 % of the cells"
        warn(f"{what}, and no arc leads from there to other columns")
    return found
