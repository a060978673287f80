"""Which rows of two tables are behind the change of a conditional: the table is a parent that it has or has not."""

from __future__ import annotations

from typing import Any, Unpack

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError
from fishernet.base.names import cut, listed, unused_name
from fishernet.base.vocabulary import ScoreName
from fishernet.data import Table, Variable
from fishernet.data.options import AUTO, Bins
from fishernet.data.pooling import pooled, stacked
from fishernet.explain.arcs import ArcGain, behind_gain
from fishernet.explain.influence import Influence
from fishernet.graphs.graph import Graph, WithGraph, directed_arcs, graph_of
from fishernet.learn.numbers.preparing import prepared
from fishernet.scores import Score
from fishernet.scores.named import ScoreKeywords

Codes = npt.NDArray[np.integer[Any]]
SIDES = ("before", "after")


def change(
    before: Any,
    after: Any,
    variable: str,
    graph: Graph | WithGraph,
    *,
    score: ScoreName | Score = "bic",
    bins: Bins | None = None,
    **options: Unpack[ScoreKeywords],
) -> Influence:
    """Return how much each row of two tables speaks for a change of a variable's conditional.

    The evidence is what the score gains where the variable has a conditional of its own in each table, with the
    parents that it has in the graph: the rows that make it up are those whose state is more probable by their own
    table's conditional than by both tables' together. What it loses without a row is exact: the scores are computed
    again.

    Parameters
    ----------
    before, after : Table or data frame
        Two tables of the same columns; others than those of the graph may be there, to group the rows by.
    variable : str
        The variable whose conditional is asked about.
    graph : Dag, a network with one, or a ChangeResult
        Which parents it has; of what `fishernet.compare.explain_change` found, those in the best graph.
    score, **options
        As for `fishernet.score`.
    bins : int, or mapping from column to int or to cut points; optional
        As for `fishernet.learn.structure`. Numbers above a variable with labels are cut into bins in any case.

    Returns
    -------
    Influence
        Of the rows before, and then those after. ``answer`` is the gain in nats, above 0 where the score is for a
        change; ``by(column)`` says what is left of it without the rows of each label, in both tables, and
        ``smallest_set()`` are rows without which nothing speaks for a change.

    Raises
    ------
    SchemaError
        When a table has no row, or they or the graph lack the variable.

    See Also
    --------
    fishernet.compare.explain_change : which conditionals changed.

    Examples
    --------
    >>> import fishernet as fn, pandas as pd
    >>> asia = fn.datasets.load("asia")
    >>> cured = fn.infer.intervene(asia, {"bronc": "no"})
    >>> before = asia.sample(600, seed=1).to_pandas().assign(clinic=["A", "B"] * 300)
    >>> same = asia.sample(300, seed=2).to_pandas().assign(clinic="A")
    >>> after = pd.concat([same, cured.sample(300, seed=3).to_pandas().assign(clinic="B")])
    >>> why = fn.explain.change(before, after, "bronc", asia)
    >>> round(why.answer, 1), {group.label: round(group.without, 1) for group in why.by("clinic")}
    (15.2, {'B': -4.3, 'A': 98.6})
    """
    one, other = pooled(before, after, "explain.change")
    for name, table in zip(SIDES, (one, other), strict=True):
        if not table.n_rows:
            raise SchemaError(f"the table {name} has no rows", parameter=name)
    dag = graph_of(graph)
    if variable not in dag.names:
        raise SchemaError(f"the graph has no variable {variable!r}; it has {listed(dag.names)}", parameter="variable")
    rows = stacked([one, other])
    parents = [name for name, child in directed_arcs(dag, "graph") if child == variable and name in rows.names]
    family = _family(rows.select([variable, *parents]), bins)
    side = Variable(unused_name("table", set(rows.names)), SIDES)
    side_of = np.repeat(np.arange(2, dtype=side.dtype), [one.n_rows, other.n_rows])
    said = f"what a conditional of its own in each table adds to the score of {cut(variable, 30)}"
    names = [*family.names[1:], side.name]
    gain = ArcGain(_beside(side, side_of, family), variable, names, side.name, score, options, said)
    return behind_gain(gain, _beside(side, side_of, rows))


def _family(rows: Table, bins: Bins | None) -> Table:
    """Return a variable and its parents as a network has them."""
    child, *_ = rows.names
    found = prepared(rows, bins, keep=[child])
    if found.variables[0].is_continuous:
        return found
    numbers: dict[str, Any] = {variable.name: AUTO for variable in found.variables if variable.is_continuous}
    return found.discretize(numbers)


def _beside(variable: Variable, codes: Codes, rows: Table) -> Table:
    """Return a table with one more column, the first."""
    columns = [codes, *rows.codes]
    return Table.adopt([variable, *rows.variables], columns, weights=rows.weights, n_rows=rows.n_rows)
