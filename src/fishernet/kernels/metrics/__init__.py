"""What stands between two rows' scores in a Fisher kernel.

Three metrics, one file each for Bayesian networks, and one file for all other models.
"""

from collections.abc import Callable, Sequence

from fishernet.errors import SchemaError
from fishernet.kernels.kernel import Matrix
from fishernet.kernels.metrics.empirical import Empirical
from fishernet.kernels.metrics.invariant import Invariant
from fishernet.kernels.metrics.metric import Metric, weighted_mean
from fishernet.kernels.metrics.practical import Practical
from fishernet.kernels.metrics.scores import ScoredModel, Scores, score_metric
from fishernet.models import BayesianNetwork
from fishernet.table import Table

Groups = Callable[[], Sequence[Matrix]]  # the probabilities of the groups, found when they are needed

__all__ = [
    "METRICS",
    "Empirical",
    "Invariant",
    "Metric",
    "Practical",
    "ScoredModel",
    "Scores",
    "score_metric",
    "weighted_mean",
]


def _empirical(model: BayesianNetwork, _groups: Groups, reference: Table | None) -> Metric:
    if reference is None:
        raise SchemaError("the metric 'empirical' needs reference rows")
    return Empirical(model, reference)


METRICS: dict[str, Callable[[BayesianNetwork, Groups, Table | None], Metric]] = {
    "invariant": lambda model, groups, _reference: Invariant(model, groups()),
    "practical": lambda model, _groups, _reference: Practical(model),
    "empirical": _empirical,
}
