"""The rows behind an answer, as a page holds them: what a reader who asks why is answered from, in JavaScript.

One more row changes the logarithm of an answer by the sum over its cells of ``(V - theta sum(V)) / pull``
(`fishernet.explain`): V is the answer's derivative by the logarithms of a configuration's probabilities theta, from the
page's own clique tree, and pull the rows that each cell weighs. So the page needs the weight of every configuration
and, to name rows, their states; rows that are equal have equal influence, and stand there once.
"""

from __future__ import annotations

import base64
import warnings
from typing import Any

import numpy as np

from fishernet.base.errors import FishernetWarning
from fishernet.data import Table
from fishernet.explain.responses import OfTables
from fishernet.kernels.rows import distinct_rows
from fishernet.reports.blocks import Fields, base64_of
from fishernet.reports.network import PageNetwork
from fishernet.reports.sections import paragraph

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
    return found | (_kinds(table) if rows else {})


def _kinds(table: Table) -> Fields:
    """Return the rows that differ, the most frequent first: the first row of each, how many, and its states."""
    distinct, kind = distinct_rows(table)
    counts, first = np.bincount(kind), np.unique(kind, return_index=True)[1]
    order = np.lexsort((first, -counts))[: max(1, MOST_CELLS // len(table.names))]
    states = [base64.b64encode(codes[order].astype("<u4").tobytes()).decode("ascii") for codes in distinct.codes]
    return {
        "kinds": {"first": first[order].tolist(), "counts": counts[order].tolist(), "states": states, "all": len(first)}
    }


WHY = """<p>One row more changes an answer a little; by how much says which rows are behind it. An influence of 0.01
means that one more such row makes it more probable by about a hundredth of its probability.</p>
<p class="buttons"><label>Why <select id="why-variable"></select></label>
<label>= <select id="why-state"></select></label></p>
<p id="why-said" role="status" aria-live="polite"></p><div id="why-shown"></div>"""


def why(network: PageNetwork, target: str | None) -> str:
    """Return where a reader asks which rows are behind an answer; nothing where that cannot be told."""
    if network.behind is None:
        return ""
    at = network.names.index(target) if target in network.names else -1
    kinds = network.behind.get("kinds")
    said = ""
    if kinds and len(kinds["first"]) < kinds["all"]:
        said = f"The page holds the {len(kinds['first']):,} most frequent of {kinds['all']:,} different rows."
    head = f'<section id="why" aria-labelledby="why-h" data-target="{at}" hidden>'
    return f'{head}<h2 id="why-h">Which rows make it so?</h2>{WHY}{said and paragraph(said)}</section>'
