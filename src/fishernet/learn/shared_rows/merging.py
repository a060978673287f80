"""Networks whose configurations of parents share rows of probabilities where the data say so."""

from __future__ import annotations

from typing import Any, Unpack

from fishernet.base.errors import SchemaError
from fishernet.base.progress import Progress, Reporter
from fishernet.base.vocabulary import ScoreName
from fishernet.data import Source
from fishernet.data.source import is_statistics
from fishernet.data.variable import require_categorical
from fishernet.learn.conditional_fits import fit_conditionals
from fishernet.learn.fitting import check_smoothing
from fishernet.learn.missing.incomplete import AvailableCases, least_total
from fishernet.learn.shared_rows.agglomeration import MergedFit
from fishernet.models import BayesianNetwork
from fishernet.scores import Score, named_score
from fishernet.scores.named import Hyperparameters


def merge_rows(
    net: BayesianNetwork,
    table: Any,
    score: ScoreName | Score = "bic",
    *,
    smoothing: float | str = 1.0,
    ess: float | None = None,
    progress: Progress | None = None,
    **options: Unpack[Hyperparameters],
) -> BayesianNetwork:
    """Let configurations of parents share a row of probabilities where that raises a score, and fit the rows again.

    For every variable, the two groups of configurations whose merging raises its local score most become one, until no
    merging raises it [1]_. The score never falls, and the model has fewer parameters. Its Fisher kernel sees rows as
    similar whose configurations are in one group, where that of full tables sees 0.

    Parameters
    ----------
    net : BayesianNetwork
        Its graph is kept; its probabilities, and groups that it has, are not looked at. Of categorical variables.
    table : Table, data frame, array of codes or Source
        The data, without missing cells: variables are matched by name. Of rows with missing cells,
        `ExpectedCounts` is a source.
    score : str or Score
        What is maximized: "bic" (alias "mdl"), "aic", "hqc", "loglik", "k2", "bdeu", "bdq", "fnml", "qnml", of the
        child with one parent: the group. In "bdeu" a group has the imagined rows of its configurations.
    smoothing, ess
        As for `parameters`. A pseudo-count is added to each cell of a group once; the equivalent sample size is
        divided evenly among the configurations, and a group has what its members have.
    progress : callable or True, optional
        True for a bar, or ``progress(what, done, total)``.
    **options
        The score's own hyperparameters.

    Returns
    -------
    BayesianNetwork
        With a `MergedTable` where rows were merged, and a `FullTable` elsewhere. Configurations that never occur join
        the group that has most rows among the configurations that differ from theirs in one parent's state, otherwise
        the largest; under "bdeu" they stay together, and join a group, or none, as the score says.

    Raises
    ------
    MissingValueError
        When a cell is missing.
    SchemaError
        When variables lack, have other states, or are continuous.
    FishernetError
        When the score is not defined for groups.

    References
    ----------
    .. [1] D. M. Chickering, D. Heckerman and C. Meek, "A Bayesian approach to learning Bayesian networks with local
       structure", UAI 1997.

    Examples
    --------
    >>> import fishernet as fn
    >>> rows = fn.datasets.load("asia").sample(20_000, seed=1)
    >>> net = fn.learn.merge_rows(fn.datasets.load("asia"), rows)
    >>> net.conditional("either").group_of.tolist()  # lung or tub
    [[0, 0], [0, 1]]
    """
    check_smoothing(smoothing, ess)
    require_categorical(net.variables, "merging rows")
    how = named_score(score, **options)
    source = _matched(net, table)
    where = source.places(net.names)
    merging = MergedFit(how, source.total)
    reporter = Reporter(progress, "merging rows")
    conditionals, statistics = [], []
    for done, conditional in enumerate(net.conditionals):
        places = (*conditional.parents, conditional.child)
        family = tuple(where[v] for v in places)
        statistics += (own := source.statistics([tuple(sorted(family))]))
        of_counts: Any = {"kind": merging, "statistics": own, "smoothing": smoothing, "ess": ess}
        conditionals += fit_conditionals(source, [family], [places], **of_counts)
        reporter.step(done + 1, len(net.conditionals))
    reporter.finish(len(net.conditionals))
    complete = least_total(statistics) if source.by_set else None
    return BayesianNetwork(net.variables, conditionals, n_rows=source.total, n_complete=complete)


def _matched(net: BayesianNetwork, data: Any) -> Source:
    """Return data as a source of a network's variables; SchemaError where states are others."""
    if not is_statistics(data):
        rows = net.rows(data)
        return AvailableCases(rows) if rows.has_missing else rows
    source: Source = data
    by_name = {variable.name: variable for variable in source.variables}
    other = [v.name for v in net.variables if v.name in by_name and by_name[v.name] != v]
    if other:
        raise SchemaError(f"column {other[0]!r} of the source has other states than the network's variable")
    return source
