"""Scores by their names."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from typing import Any, TypedDict, Unpack

from fishernet.base import check
from fishernet.base.errors import FishernetError
from fishernet.base.names import check_names, listed, shown
from fishernet.base.vocabulary import ScoreName, refuse_options, word
from fishernet.graphs import Dag, UndirectedGraph
from fishernet.scores.available import scored_cells
from fishernet.scores.base import Families, Score
from fishernet.scores.dirichlet import K2, Bdeu, Bdq
from fishernet.scores.gaussian import Fractional
from fishernet.scores.likelihood import Aic, Bic, Hqc, LogLikelihood
from fishernet.scores.local import local_scores, total_score
from fishernet.scores.nml import Fnml, Qnml

SCORES: dict[str, Callable[..., Score]] = {
    "loglik": LogLikelihood,
    "bic": Bic,
    "mdl": Bic,
    "aic": Aic,
    "hqc": Hqc,
    "bdeu": Bdeu,
    "k2": K2,
    "bdq": Bdq,
    "fnml": Fnml,
    "qnml": Qnml,
}
CONTINUOUS_SCORES: dict[str, Callable[..., Score]] = {"fractional": Fractional}
NUMBERS = {"bdeu": "ess", "bdq": "alpha"}  # the one number that a name may carry, as in "bdeu:10"


class Hyperparameters(TypedDict, total=False):
    """Those of scores that no learner has for its parameters, too."""

    alpha: float
    center: bool
    prior: bool


class DirichletKeywords(TypedDict, total=False):
    """Those of scores with imagined rows."""

    ess: float
    alpha: float


class ScoreKeywords(Hyperparameters, total=False):
    """The hyperparameters of scores, which the scores describe."""

    ess: float


def named_score(score: str | Score, **options: Unpack[ScoreKeywords]) -> Score:
    """Return the score of a name, or the score itself.

    Parameters
    ----------
    score : str or Score
        One of `SCORES` or `CONTINUOUS_SCORES`; "bdeu:10" is "bdeu" with ``ess=10``, "bdq:0.5" is "bdq"
        with ``alpha=0.5``.
    **options
        The score's own hyperparameters.

    Raises
    ------
    FishernetError
        When the name or an option is unknown.
    """
    if not isinstance(score, str):
        if options:
            raise FishernetError(f"options {listed(options)} go with a score's name; this score is made already")
        if not isinstance(score, Score):
            raise FishernetError(
                f"a score is a name or a fishernet.scores.Score, not {type(score).__name__}; a class of your own names "
                "Score as its base, with joint and marginal",
                parameter="score",
            )
        return score
    name, colon, number = score.partition(":")
    known = SCORES | CONTINUOUS_SCORES
    asked: dict[str, Any] = {**options}
    name = word(name, "score", known)
    if colon:
        asked |= _carried(name, number)
    refuse_options(asked, inspect.signature(known[name]).parameters, f"the score {name!r}")
    return known[name](**asked)


def _carried(score: str, number: str) -> dict[str, float]:
    """Return the option that a score's name carries."""
    if score not in NUMBERS:
        raise FishernetError(f"score {score!r} takes no number, got {shown(number)} after the colon")
    try:
        return {NUMBERS[score]: float(number)}
    except ValueError:
        raise FishernetError(f"score {score!r} takes a number after the colon, got {shown(number)}") from None


def score(
    dag: Dag | UndirectedGraph, table: Any, score: ScoreName | Score = "bic", **options: Unpack[ScoreKeywords]
) -> float:
    """Return how good a structure is for some data: the sum of its local scores, in nats, higher is better.

    Structures are compared by it on the same table: with columns cut into other bins, scores are of other data.

    Parameters
    ----------
    dag : Dag or UndirectedGraph
        Its variables are matched to the table's by name. In an undirected graph a family is a variable with its
        neighbours, and the sum is a pseudo-likelihood's score: with "bdeu", the marginal pseudo-likelihood.
    table : Table, data frame or Source; for "fractional" also an (n, d) array or a Scatter
        The data.
    score : str or Score
        "loglik", "bic" (alias "mdl"), "aic", "hqc", "bdeu", "k2", "bdq", "fnml", "qnml"; of columns of numbers
        "fractional".
    **options
        The score's own hyperparameters: "bdeu" has ``ess=1.0``, "bdq" has ``alpha=1.0``, "fractional" has
        ``center=True``.

    Raises
    ------
    SchemaError
        When the table lacks a variable.
    MissingValueError
        When a source that is no table lacks cells.

    Warns
    -----
    FishernetWarning
        When cells of the table are missing: "bic" becomes the node-average likelihood [1]_, which `learn.structure`
        maximizes with ``missing="node-average"``. Any other score says what parents tell on the rows that are complete
        in a family, and adds the child's score without parents on the rows in which it is known. "fractional" is of the
        complete rows. Right where cells are missing completely at random.

    References
    ----------
    .. [1] T. Bodewes and M. Scutari, "Learning Bayesian networks from incomplete data with the node-average
       likelihood", 2021.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.Table.from_codes([[0, 0], [0, 0], [1, 1], [1, 1]])
    >>> dag = fn.Dag.from_edges(["v0", "v1"], [("v0", "v1")])
    >>> round(fn.score(dag, table, "loglik"), 6)  # 4 log(1/2): v1 copies v0
    -2.772589
    """
    source, how = scored_cells(table, named_score(score, **options))
    return total_score(source, dag, how)


def local_score(
    table: Any,
    child: str,
    parents: Iterable[str],
    score: ScoreName | Score = "bic",
    **options: Unpack[ScoreKeywords],
) -> float:
    """Return the score of one family, in nats, higher is better.

    Parameters
    ----------
    table : Table, data frame or Source; for "fractional" also an (n, d) array or a Scatter
        The data.
    child : str
        The child variable.
    parents : iterable of str
        Its parents, in any order.
    score, **options
        As for `score`.

    Raises
    ------
    SchemaError
        When a name is unknown, a parent is given twice, or the child is among its parents.
    MissingValueError
        When a source that is no table lacks cells; those of a table are dealt with as in `score`.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.Table.from_codes([[0, 0], [0, 0], [1, 1], [1, 1]])
    >>> fn.local_score(table, "v1", ["v0"], "loglik")
    0.0
    """
    data, how = scored_cells(table, named_score(score, **options))
    source = how.source(data)
    family_names = [child, *check.items(parents, "parents")]
    check_names(family_names)
    where = source.places(family_names)
    family = Families.from_pairs([(where[0], where[1:])])
    return float(local_scores(source, family, how)[0])
