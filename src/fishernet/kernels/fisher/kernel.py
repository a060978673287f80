"""The Fisher kernel of a model: the inner product of two rows' scores under the inverse of the Fisher information.

``K(x, y) = s(x)' I^-1 s(y)`` (Shawe-Taylor and Cristianini, 2004, Definition 12.27). A hidden Markov model, a Markov
chain or a Gaussian gives its scores, and the matrix between them is made in `metrics`. For a Bayesian network it has a
closed form (Leppä-aho et al., 2020, Theorem 1), a sum over the variables: variable i adds nothing where the parents'
configurations differ, and ``([x_i = y_i] / theta_ijk - 1) / P(j)`` where both are j. It is the inner product of the
features::

    phi_ijk(x) = [parents of i in x are j] ([x_i = k] - theta_ijk) / sqrt(P(j) theta_ijk)

(a group of configurations in place of j where a conditional lets some share a row: that is the kernel of the model with
these parameters tied). The mean feature under the network is 0, and the expected ``K(x, x)`` is the number of free
parameters. Of full tables it does not depend on which of several equivalent graphs carries the distribution (Theorem
4); groups are a statement of their own, which turning an arc does not keep.

That kernel sees a table through the counts of its families alone: two tables with equal counts of every variable with
its parents are at distance 0, however different their rows.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import a
from fishernet.base.random import Seed
from fishernet.base.vocabulary import GroupMethodName, MetricName, word
from fishernet.data.source import is_statistics
from fishernet.infer import group_probabilities as infer_group_probabilities
from fishernet.kernels.features import Features, Matrix
from fishernet.kernels.fisher.invariant import Invariant
from fishernet.kernels.fisher.metrics import Asked, Empirical, Metric, Practical, score_metric
from fishernet.kernels.fisher.mixed import MixedInvariant
from fishernet.kernels.fisher.observed import observed_metric
from fishernet.kernels.fisher.scored_model import ScoredModel
from fishernet.kernels.kernel import ModelKernel, OfFeatures
from fishernet.kernels.parts import FeatureParts
from fishernet.kernels.row_sums import RowSums
from fishernet.kernels.rows import Rows
from fishernet.models import BayesianNetwork

METRICS = ("invariant", "practical", "empirical")

Groups = Callable[[], Sequence[Matrix]]  # the probabilities of the groups, found when they are needed
Hidden = str | Iterable[str] | None
Built = tuple[Metric, Callable[[Any], Rows], tuple[str, ...]]  # what computes it, what reads rows, what is hidden


class FisherKernel(OfFeatures):
    """The Fisher kernel of a model with a likelihood and its derivatives.

    Parameters
    ----------
    model : BayesianNetwork, HiddenMarkovModel, MarkovChain, Gaussian, ...
        Any model with `log_prob` and `fisher_scores`. The kernel takes what these take: tables, lists of strings, or
        arrays and frames of numbers.
    metric : {"invariant", "practical", "empirical"}
        The matrix between the scores: the inverse of the model's Fisher information [1]_, none (the dot product), or
        the pseudo-inverse of the scores' second moments over `reference`. The information is exact for a Bayesian
        network [2]_ and where the model has `fisher_information`; otherwise it is the mean over strings that the model
        draws.
    reference : Table, or what the model takes, optional
        The rows for "empirical".
    group_probabilities : str or list of arrays
        For a Bayesian network: the probabilities of the groups of the parents' configurations, one array a variable;
        or how `fishernet.infer.group_probabilities` shall find them.
    seed : None, int or numpy.random.Generator
        Where something is sampled.
    parameters : sequence of str, optional
        For a model whose `fisher_scores` takes some kinds of parameters alone, such as ``["emission"]``.
    length : int, optional
        For "invariant", where the model does not say how long strings are: those that it is to represent.
    n_samples : int, optional
        How many are drawn where the information is simulated; 10 000 without it.
    cutoff : float, optional
        Parameters of rows that are normalized are redundant, and the matrix singular: eigenvalues up to `cutoff` times
        the largest count as 0, after every parameter was scaled to variance 1; 1e-10 without it. Not for a Bayesian
        network of which all is observed, whose parameters are free.
    hidden : iterable of str, optional
        Variables of a Bayesian network that are not observed: the kernel is that of the likelihood of the others
        (Notes). With ``hidden=()`` none are, and cells of rows may be missing all the same.

    Raises
    ------
    SchemaError
        When the model has no scores, or an option does not fit.
    ZeroProbabilityError
        In calls, for a row that is impossible.

    See Also
    --------
    HiddenVariableKernel : the kernel of all variables, averaged over what is not known of each row (other than this one
        with `hidden`: it also rewards hidden states that are the same for both rows).

    Notes
    -----
    With `hidden`, the score of a row is the expected score of the completed row (Fisher's identity), and the
    information that of the observed variables. Around hidden variables that are joined by families it is a sum over the
    states of the observed ones, while these have at most 2^20 joint states, and otherwise the mean over `n_samples`
    rows that the network draws. Where hidden variables leave parameters open it is singular: in units of what a
    complete row would tell, eigenvalues up to `cutoff` count as 0. Numbering hidden states in another way changes
    nothing under the metrics "invariant" and "empirical".

    References
    ----------
    .. [1] J. Shawe-Taylor and N. Cristianini, "Kernel methods for pattern analysis", 2004, Definition 12.27.
    .. [2] J. Leppä-aho, T. Silander and T. Roos, "Bayesian network Fisher kernel for categorical feature spaces",
       Behaviormetrika 47, 2020, Definition 1 and Theorem 1.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> k = fn.kernels.FisherKernel(asia)
    >>> rows = asia.sample(1000, seed=1)
    >>> k(rows[:3]).shape
    (3, 3)
    >>> phi = k.features(rows[:3])
    >>> bool(abs(phi @ phi.T - k(rows[:3])).max() < 1e-9)
    True
    >>> observed = fn.kernels.FisherKernel(asia, hidden=["either", "smoke"])
    >>> observed(rows[:3]).shape
    (3, 3)
    """

    def __init__(
        self,
        model: Any,
        *,
        metric: MetricName = "invariant",
        reference: Rows | None = None,
        group_probabilities: GroupMethodName | Sequence[npt.ArrayLike] = "auto",
        seed: Seed = None,
        parameters: Sequence[str] | None = None,
        length: int | None = None,
        n_samples: int | None = None,
        cutoff: float | None = None,
        hidden: str | Iterable[str] | None = None,
    ) -> None:
        known = ScoredModel(model)
        name = word(metric, "metric", METRICS, error=SchemaError)
        asked = Asked(name, reference, parameters, length, n_samples, cutoff, seed)
        self._model, self._seed, self._has_hidden = known, seed, hidden is not None
        self._groups = _Groups(known, group_probabilities, seed)
        mode = "scores" if known.tables is None else "tables" if hidden is None else "observed"
        if known.mixed is not None and name == "invariant" and hidden is None:
            mode = "mixed"
        self._metric, self._rows, self._hidden = BUILDERS[mode](known, asked, self._groups, hidden)

    @property
    def model(self) -> Any:
        """The model."""
        return self._model.model

    @property
    def metric(self) -> str:
        """The name of the metric."""
        return self._metric.name

    @property
    def hidden(self) -> tuple[str, ...]:
        """The names of the hidden variables."""
        return self._hidden

    @property
    def group_probabilities(self) -> tuple[Matrix, ...]:
        """P(group of the parents' configurations), one (groups,) array a variable; found when first needed."""
        return self._groups()

    @property
    def dimension(self) -> int:
        """The number of features."""
        return self._metric.dimension

    @property
    def standardized(self) -> ModelKernel | None:
        """The kernel itself with the metric "invariant": its features have mean 0 and variance 1 under the model."""
        return self if self.metric == "invariant" else None

    @property
    def takes_statistics(self) -> bool:
        """Whether `mean_features` takes a source of statistics."""
        return self._metric.takes_statistics

    def smallest_expected(self, n_rows: float) -> float | None:
        """Return the least number of so many rows that the model expects in a cell; None where it has no cells."""
        return self._metric.smallest_expected(check.number(n_rows, "n_rows", least=0))

    def fewest_regressed(self, n_rows: float) -> float:
        """Return how many of so many rows the model expects behind the regression that has fewest, or infinity."""
        return self._metric.fewest_regressed(check.number(n_rows, "n_rows", least=0))

    def with_model(self, model: Any) -> FisherKernel:
        """Return the kernel with the metric "invariant" of another model, with as many variables hidden."""
        return FisherKernel(model, hidden=self.hidden if self._has_hidden else None, seed=self._seed)

    def rows(self, X: Any) -> Rows:
        """Return data as rows of the model: of a network a table of its variables, in which no state is missing.

        With `hidden`, the columns of hidden variables are missing, and other cells may be.
        """
        return self._rows(X)

    def row_sums(self, rows: Rows) -> RowSums:
        """Return what choosing and comparing rows asks of the kernel on these rows."""
        return self._metric.row_sums(rows)

    def __call__(self, X: Rows, Y: Rows | None = None) -> Matrix:
        """Return the kernel of all pairs of rows.

        Parameters
        ----------
        X : Table of n rows, or (n, n_variables) array of codes; or n strings, or what else the model takes
        Y : the same of m rows, optional
            Without it, Y is X.

        Returns
        -------
        (n, m) float64

        Raises
        ------
        SchemaError, UnknownStateError, MissingValueError
            When a table or a string does not fit the model.
        ZeroProbabilityError
            When a row has a state or a configuration of probability zero, or a string is impossible.
        """
        return self._metric(*self._pair(X, Y))

    def diag(self, X: Rows) -> Matrix:
        """Return the kernel of each row with itself, (n,) float64: large for rows that are rare in some way."""
        return self._metric.diag(self.rows(X))

    @property
    def feature_parts(self) -> FeatureParts | None:
        """Whose each feature is: the variable's, and where it has tables the configuration's; None where they mix."""
        return self._metric.feature_parts

    @property
    def term_names(self) -> tuple[str, ...]:
        """The variables, where the kernel is a sum over them whose `terms` it can give."""
        return self._model.names if self._metric.has_terms else ()

    def terms(self, X: Rows, Y: Rows | None = None) -> Matrix:
        """Return what each variable adds to the kernel of each pair of rows, (n_variables, n, m) float64.

        Raises
        ------
        FishernetError
            Under the metric "empirical", which mixes the variables; and of models that have none.
        """
        return self._metric.terms(*self._pair(X, Y))

    def features(self, X: Rows) -> Features:
        """Return the features of each row.

        Returns
        -------
        (n, dimension) scipy.sparse.csr_array
            ``k(X, Y) == F(X) @ F(Y).T``. Ordered by variable, group and state. Under the metric "empirical", and of
            other models than Bayesian networks, a dense array.
        """
        return self._metric.features(self.rows(X))

    def mean_features(self, X: Rows) -> Matrix:
        """Return the mean of the rows' features, (dimension,) float64, from counts; rows count by their weights.

        A network's tables with the metric "invariant" take a source of statistics as well.

        Raises
        ------
        SchemaError
            When there is no row of positive weight.
        """
        if self.takes_statistics and is_statistics(X):
            return self._metric.mean_of_statistics(X)
        return self._metric.mean_features(self.rows(X))

    def __repr__(self) -> str:
        hidden = f", hidden={list(self.hidden)}" if self._has_hidden else ""
        return f"FisherKernel({self.model!r}, metric={self._metric.name!r}{hidden})"

    def _pair(self, X: Rows, Y: Rows | None) -> tuple[Rows, Rows | None]:
        """Return both as the model wants them; None for Y where it is X."""
        first = self.rows(X)
        second = None if Y is None else self.rows(Y)
        return first, None if second is first else second


class _Groups:
    """The probabilities of the groups of a network's configurations: given, or found when they are first needed."""

    def __init__(self, model: ScoredModel, given: GroupMethodName | Sequence[npt.ArrayLike], seed: Seed) -> None:
        self._model, self._seed = model, seed
        self._method: GroupMethodName = cast(GroupMethodName, given) if isinstance(given, str) else "auto"
        self.are_chosen = not isinstance(given, str) or given != "auto"
        self._known: tuple[Matrix, ...] | None = None
        if model.tables is not None and not isinstance(given, str):
            self._known = tuple(_checked_probabilities(model.tables, given))

    def __call__(self) -> tuple[Matrix, ...]:
        """Return one (groups,) array a variable."""
        if self._model.tables is None:
            raise SchemaError(f"group probabilities are a Bayesian network's; {a(self._model.kind)} has none")
        if self._known is None:
            found = infer_group_probabilities(self._model.tables, method=self._method, seed=self._seed)
            self._known = tuple(found)
        return self._known


def _of_scores(model: ScoredModel, asked: Asked, groups: _Groups, hidden: Hidden) -> Built:
    """Return the kernel of a model by its scores."""
    if hidden is not None:
        raise SchemaError(f"hidden= needs a BayesianNetwork of tables, not {model.model!r}", parameter="hidden")
    if groups.are_chosen:
        groups()  # says that the model has none
    rows = None if _reference(asked) is None else model.rows(asked.reference)
    return score_metric(model, replace(asked, reference=rows)), model.rows, ()


def _of_tables(model: ScoredModel, asked: Asked, groups: _Groups, hidden: Hidden) -> Built:  # noqa: ARG001
    """Return the kernel of a network's tables, all of whose variables are observed."""
    _refuse(asked, "parameters", "length", "n_samples", "cutoff")
    assert model.tables is not None
    if _reference(asked) is not None:
        return Empirical(model.tables, model.rows(asked.reference)), model.rows, ()
    metric = Practical(model.tables) if asked.metric == "practical" else Invariant(model.tables, groups())
    return metric, model.rows, ()


def _of_labels_and_numbers(model: ScoredModel, asked: Asked, groups: _Groups, hidden: Hidden) -> Built:  # noqa: ARG001
    """Return the kernel of a network of labels and numbers."""
    _refuse(asked, "parameters", "length", "n_samples", "cutoff")
    _reference(asked)
    assert model.mixed is not None
    if groups.are_chosen:
        groups()  # says that it has none
    return MixedInvariant(model.mixed), model.rows, ()


def _of_observed(model: ScoredModel, asked: Asked, groups: _Groups, hidden: Hidden) -> Built:
    """Return the kernel of the likelihood of what is observed."""
    _refuse(asked, "parameters", "length")
    _reference(asked)
    assert model.tables is not None
    assert hidden is not None
    metric = observed_metric(model.tables, asked, hidden, groups)
    return metric, metric.rows, metric.hidden


BUILDERS: dict[str, Callable[[ScoredModel, Asked, _Groups, Hidden], Built]] = {
    "scores": _of_scores,
    "tables": _of_tables,
    "observed": _of_observed,
    "mixed": _of_labels_and_numbers,
}


def _refuse(asked: Asked, *options: str) -> None:
    """Refuse options that are not for a network's tables."""
    given = [name for name, value in vars(asked).items() if name in options and value is not None]
    if given:
        raise SchemaError(f"the Fisher kernel of a Bayesian network takes no {given[0]}")


def _reference(asked: Asked) -> Rows | None:
    """Return the reference rows, which the metric "empirical" needs and no other takes."""
    if asked.reference is not None and asked.metric != "empirical":
        raise SchemaError(f"reference rows are for the metric 'empirical'; {asked.metric!r} takes none")
    if asked.reference is None and asked.metric == "empirical":
        raise SchemaError("the metric 'empirical' needs reference rows")
    return asked.reference


def _checked_probabilities(model: BayesianNetwork, given: Any) -> list[Matrix]:
    arrays = [
        check.numbers(values, "group_probabilities") for values in check.items(given, "group_probabilities", "arrays")
    ]
    if len(arrays) != len(model.variables):
        raise SchemaError(f"{len(model.variables)} arrays of group probabilities are needed, got {len(arrays)}")
    for variable, conditional, values in zip(model.variables, model.conditionals, arrays, strict=True):
        n_groups = conditional.probabilities.shape[0]
        if values.shape != (n_groups,):
            raise SchemaError(f"the group probabilities of {variable.name!r} must be ({n_groups},), got {values.shape}")
        if not np.isfinite(values).all() or (values < 0).any():
            raise SchemaError(f"the group probabilities of {variable.name!r} must be finite and not negative")
    return arrays
