"""The rows behind an answer, as a page holds them: what a reader who asks why is answered from, in JavaScript.

One more row changes the logarithm of an answer by the sum over its cells of ``(V - theta sum(V)) / pull``
(`fishernet.explain`): V is the answer's derivative by the logarithms of a configuration's probabilities theta, from the
page's own clique tree, and pull the rows that each cell weighs. So the page needs the weight of every configuration
and, to name rows, their states; rows that are equal have equal influence, and stand there once.
"""

from __future__ import annotations

import base64
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FishernetWarning
from fishernet.data import Table
from fishernet.explain.responses import OfTables
from fishernet.reports.blocks import Fields, base64_of

MOST_CELLS = 60_000  # of the rows in a page


def behind_answers(model: Any, table: Table, *, rows: bool) -> Fields | None:
    """Return what the page needs; None for networks of other than full tables, and for other rows than they are of.

    Without `rows`, no row is in it, and the page says on which configurations an answer rests.
    """
    if model.inference != "factors" or not model.conditionals or table.has_missing or not table.n_rows:
        return None
    if any(of.group_map() is not None for of in model.conditionals):
        return None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FishernetWarning)  # of a network of other rows, which has no answer here
        response = OfTables(model, table, None)
    if response.smoothing is None:
        return None
    found: Fields = {
        "weights": [base64_of(pulls.sum(axis=1)) for pulls in response.pulls],
        "rows": [base64_of(np.asarray(counts, dtype=np.float64).sum(axis=1)) for counts in response.counts],
    }
    return found | (_kinds(table.codes) if rows else {})


def _kinds(codes: Sequence[npt.NDArray[Any]]) -> Fields:
    """Return the rows that differ, the most frequent first: the first row of each, how many, and its states."""
    stacked = np.stack([np.asarray(column, dtype=np.uint32) for column in codes], axis=1)
    _, first, counts = np.unique(stacked, axis=0, return_index=True, return_counts=True)
    most = max(1, MOST_CELLS // stacked.shape[1])
    order = np.lexsort((first, -counts))[:most]
    states = [base64.b64encode(column[first[order]].astype("<u2").tobytes()).decode("ascii") for column in stacked.T]
    return {
        "kinds": {"first": first[order].tolist(), "counts": counts[order].tolist(), "states": states, "all": len(first)}
    }
