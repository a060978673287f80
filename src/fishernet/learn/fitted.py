"""Learning a network of any kind, and saying how well it predicts rows that were held out.

A kind of network finds its structure in some rows, and is fitted to any: so it is judged by rows that it has not seen,
and kept with the parameters of all. `fit` does that for a table; the command and the report say what its result says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Unpack, cast

import pyarrow as pa

from fishernet.base.display import Fact, Framed, aligned
from fishernet.base.progress import Progress
from fishernet.data import Table, categorical_source
from fishernet.data.matching import as_data
from fishernet.learn.cross_validation import hold_out
from fishernet.learn.keywords import FitKeywords
from fishernet.learn.learners import Learner, learner_of
from fishernet.learn.missing.ways import way_with_missing
from fishernet.learn.numbers.preparing import prepared
from fishernet.scores import named_score

HELD_OUT = {
    "held_out_log_likelihood_per_row": ("held-out log-likelihood", "nats per row"),
    "held_out_pseudo_log_likelihood_per_row": ("held-out pseudo-log-likelihood", "nats per row"),
    "held_out_accuracy": ("held-out accuracy", ""),
    "held_out_log_loss": ("held-out log-loss", "nats per row"),
    "impossible_rows": ("impossible rows", ""),
}


@dataclass(frozen=True, eq=False, repr=False)
class Fitted(Framed):
    """A network, and how well what was learned predicts rows that were held out; made by `fishernet.learn.fit`."""

    model: Any
    """The network or graph, with its structure, and parameters of all rows."""
    trained: Any
    """The same with the parameters of the rows that were learned from alone, as it was judged."""
    held_out: Table
    """The rows that were held out."""
    known: Mapping[str, Any] = field(default_factory=dict)
    """What was found, by name, as `to_dict` gives it."""

    def facts(self) -> tuple[Fact, ...]:
        """Return what is to be said, in order: labels, values and units."""
        return tuple(_facts(self.known))

    def to_dict(self) -> dict[str, Any]:
        """Return what was found, by name, as the command prints it in JSON."""
        return dict(self.known)

    def to_frame(self) -> pa.Table:
        """Return the facts as a pyarrow Table of text: ``fact``, ``value`` and ``unit``."""
        rows = [(fact.label, _shown(fact.value), fact.unit) for fact in self.facts()]
        columns = zip(*rows, strict=True)
        return pa.table({name: list(column) for name, column in zip(("fact", "value", "unit"), columns, strict=True)})

    def __repr__(self) -> str:
        return f"Fitted({self.model!r})"

    def __str__(self) -> str:
        """Return the facts, a line each."""
        return "\n".join(aligned([(f.label, f"{_shown(f.value)} {f.unit}".rstrip()) for f in self.facts()]))


def _shown(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:,.6g}"
    return f"{value:,}" if isinstance(value, int) and not isinstance(value, bool) else str(value)


def _facts(known: Mapping[str, Any]) -> Iterator[Fact]:
    """Yield the facts of what is known; counts of what is listed."""
    yield Fact("rows", known["rows"])
    yield Fact("rows to learn from", known["training_rows"])
    yield Fact("rows held out", known["held_out_rows"])
    for name in ("arcs", "edges"):
        if name in known:
            yield Fact(name, len(known[name]))
    if "inputs" in known:
        yield Fact("inputs", sum(map(len, known["inputs"].values())))
    if "hidden_states" in known:
        yield Fact("states of each hidden variable", known["hidden_states"])
    if "score" in known:
        yield Fact(f"{known['score']} score", known["score_value"], "nats")
    if known.get("proof"):
        yield Fact("of all graphs", known["proof"])
    if "parameters" in known:
        yield Fact("parameters", known["parameters"])
    for name, (label, unit) in HELD_OUT.items():
        if known["held_out_rows"] and known.get(name) is not None:
            yield Fact(label, known[name], unit)
    if "tests" in known:
        yield Fact("tests", known["tests"])


def fit(
    table: Any,
    model: str = "bn",
    *,
    target: str | None = None,
    holdout: float = 0.2,
    seed: int = 0,
    progress: Progress = False,
    **options: Unpack[FitKeywords],
) -> Fitted:
    """Learn a network of any kind from a part of the rows, judge it by the others, and fit it to all.

    The structure is that of the rows that were learned from; only the parameters are those of all.

    Parameters
    ----------
    table : Table or data frame
        Taken as it is: numbers stand beside states, or are cut where the kind takes states alone, and missing cells are
        dealt with as `fishernet.learn.bayesian_network` does.
    model : {"bn", "dn", "naive-bayes", "tan", "kdb", "chow-liu", "hidden-chow-liu", "gaussian", "markov"}
        A Bayesian network, a dependency network, a classifier, a tree, a tree of hidden variables, a Gaussian Markov
        network, or a graph found by tests of independence.
    target : str, optional
        The class, which a classifier needs.
    holdout : float
        The share of the rows that is held out; none for "markov", whose graph predicts no row.
    seed : int
        For the rows that are held out, restarts and permutations.
    progress : callable or bool
        Told of the search; True draws a bar.
    **options
        Those of the functions that learn such networks: score, search, smoothing, conditionals, rule, test, ...

    Returns
    -------
    Fitted
        ``model`` of all rows, ``trained`` and ``held_out``, and what was found as ``facts()``, ``to_dict()`` and text.

    Raises
    ------
    FishernetError
        When an option does not go with the kind, which says with which it does.

    Examples
    --------
    >>> import fishernet as fn
    >>> found = fn.learn.fit(fn.datasets.load("nursery"), "tan", target="class")
    >>> found.model
    BayesianNetwork(9 variables, 15 arcs, 344 parameters, fitted on 12,960 rows)
    >>> [(fact.label, fact.value) for fact in found.facts()][:4]
    [('rows', 12960), ('rows to learn from', 10368), ('rows held out', 2592), ('arcs', 15)]
    """
    asked: dict[str, Any] = {"target": target, **options}
    given = {name: value for name, value in asked.items() if value is not None}
    learner = learner_of(model, given, seed)
    rows = _ready(as_data(table, "fit"), learner)
    way = way_with_missing(rows, given.get("missing"), named_score(given["score"]) if "score" in given else None)
    learner = learner_of(model, {**given, **learner.defaults(rows, given, way)}, seed)
    training, held_out = hold_out(rows, holdout if "holdout" in learner.takes else 0.0, seed=seed)
    learner.find(training, progress)
    trained = learner.fit(training)
    counts = {"rows": rows.total, "training_rows": training.total, "held_out_rows": held_out.total}
    return Fitted(learner.fit(rows), trained, held_out, {**counts, **learner.facts(trained, training, held_out)})


def _ready(table: Table, learner: Learner) -> Table:
    """Return a table as a kind of network takes it."""
    if learner.of_numbers:
        return table
    return prepared(learner.labelled(table)) if learner.mixes else cast(Table, categorical_source(table))
