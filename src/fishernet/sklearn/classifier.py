"""A Bayesian network as a classifier of scikit-learn."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from fishernet.base import check
from fishernet.base.errors import FishernetError
from fishernet.base.vocabulary import BinningName, ClassifierName, ScoreName, TrainingName, word
from fishernet.data import Table, Variable
from fishernet.data.options import Bins
from fishernet.data.variable import code_dtype, mixes_numbers
from fishernet.explain import rows as rows_behind
from fishernet.graphs import Dag
from fishernet.infer import predict_proba
from fishernet.learn import dag, kdb, naive_bayes, parameters, tan
from fishernet.learn.missing.ways import MISSING
from fishernet.learn.numbers.preparing import prepared
from fishernet.learn.structures import SEARCHES
from fishernet.models import BayesianNetwork
from fishernet.scores import Score
from fishernet.sklearn.columns import (
    Array,
    Columns,
    KnownRows,
    feature_columns,
    feature_names,
    filled,
    positive_weights,
    rows_of,
    target_name,
    training_columns,
    whole_weights,
)

STRUCTURES: dict[str, Callable[..., Dag]] = {
    "naive-bayes": lambda source, target, k, **missing: naive_bayes(source, target, **missing),  # noqa: ARG005
    "tan": lambda source, target, k, **missing: tan(source, target, **missing),  # noqa: ARG005
    "kdb": kdb,
}
FILL = "fill"


class BayesianNetworkClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A Bayesian network over the features and the class, which predicts the class.

    Numbers are cut into bins, or with ``bins=None`` kept. X is an array, or a pandas, polars or pyarrow frame, whose
    columns may hold text, numbers and truth values. Cells that are missing (None, NaN) when predicting are summed out
    exactly, as are labels that were never seen in training.

    Parameters
    ----------
    structure : {"naive-bayes", "tan", "kdb"} or the name of a search
        Naive Bayes, tree-augmented naive Bayes, a k-dependence classifier (`fishernet.learn.kdb`), or a general network
        found by that search of `fishernet.learn.dag`, as "hill-climb" or "exact".
    k : int
        For "kdb": how many features may be parents of one feature.
    structure_score : str or Score, optional
        What a search maximizes; as for `fishernet.learn.structure`, where None is "bic" of columns with labels.
    smoothing : float, "snml" or "zeros"
        What is added to counts; see `fishernet.learn.parameters`. With 0 rows may become impossible, which raises.
    bins : int, "auto", mapping from column to one of these or to cut points, or None
        Numeric columns are cut into at most this many bins, and columns with no more distinct numbers keep them as
        states; "auto" takes the histogram of least description length, which is made for densities and tells classes
        apart less well; None cuts none, so that numbers have regressions, on scales, in each configuration of labels.
        The columns of an array are called x0, x1, ...
    binning : {"quantile", "equal-width"}
        How an int in `bins` is turned into cut points.
    missing : {"fill", "em", "node-average"}
        How cells that are missing in training are learned from. "em": all that is known of each row counts, in the
        structure and, by expectation and maximization, in the parameters; right where cells are missing at random
        (whether one is may depend on what is known of its row). "node-average": the structure goes by the rows that are
        complete in the columns compared, the parameters are those of "em". "fill", the fastest: the parameters of a
        family are fitted to the rows that have all of its cells; for the structure, missing cells are filled with
        labels drawn given the class (the same ones each time); where numbers are kept, it is what `learn.structure`
        takes by default.
    influences : bool
        Whether `fit` computes `influences_`.

    Attributes
    ----------
    classes_ : (n_classes,) ndarray
        The classes, sorted.
    network_ : BayesianNetwork
        Over the features and the class, which comes last; its variables hold states and cut points.
    dag_ : Dag
        Its structure.
    target_name_ : str
        The class's name in the network: that of y if it has one, otherwise "class".
    influences_ : (n_rows,) ndarray
        Only with ``influences=True``: by how much one more row like each row of training changes the mean
        log-probability of the classes of all of them, given the features, in nats (`fishernet.explain.rows`; the
        structure is held). Rows with the lowest, below 0, make the others' classes less probable. 0 for rows of
        weight 0.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only where X was a frame with names.

    Notes
    -----
    Rows of weight 0 are left out, with the labels that occur in them alone. The states that a categorical column of
    pandas declares are states whether they occur or not.

    Examples
    --------
    >>> import fishernet as fn
    >>> from fishernet.sklearn import BayesianNetworkClassifier
    >>> train, test = fn.datasets.load("nursery").split(0.5, seed=1)
    >>> def features(table):
    ...     return table.to_frame().drop_columns("class")
    >>> y = train.to_frame()["class"].to_pylist()
    >>> model = BayesianNetworkClassifier("tan").fit(features(train), y)
    >>> bool(model.score(features(test), test.to_frame()["class"].to_pylist()) > 0.92)
    True
    """

    def __init__(
        self,
        structure: ClassifierName = "tan",
        *,
        k: int = 3,
        structure_score: ScoreName | Score | None = None,
        smoothing: float | str = 1.0,
        bins: Bins | None = 5,
        binning: BinningName = "quantile",
        missing: TrainingName = "fill",
        influences: bool = False,
    ) -> None:
        self.structure = structure
        self.k = k
        self.structure_score = structure_score
        self.smoothing = smoothing
        self.bins = bins
        self.binning = binning
        self.missing = missing
        self.influences = influences

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn the structure and the parameters.

        Parameters
        ----------
        X : (n_rows, n_features) array or frame
        y : (n_rows,) array
            The classes, at least two.
        sample_weight : (n_rows,) array, optional
            How many rows each row stands for; any numbers from 0 on.

        Raises
        ------
        ValueError
            When shapes or values do not fit, there is one class only, or all columns have only missing cells.
        TypeError
            When X is sparse, or a cell is no label.
        """
        self._structure()
        missing: str = word(self.missing, "missing", (FILL, *MISSING))
        columns, classes = training_columns(self, X, y)
        unit, weights = 1.0, None
        if sample_weight is not None:
            given = positive_weights(sample_weight, X)
            columns, classes = rows_of(columns, given > 0), classes[given > 0]
            weights, unit = whole_weights(given[given > 0])
        self.target_name_: str = target_name(y, feature_names(self))
        table = self._training_table(columns, classes, weights)
        source: Any = KnownRows(table, unit)
        numbers = mixes_numbers(table.variables)
        if numbers or (table.has_missing and missing != FILL):
            source = table if unit == 1 else _in_units(table, unit)
            self.dag_: Dag = self._learned(source, **({} if missing == FILL else {"missing": missing}))
        else:
            complete = filled(table, target=len(table.variables) - 1)
            self.dag_ = self._learned(complete if unit == 1 else KnownRows(complete, unit))
        self.network_: BayesianNetwork = parameters(self.dag_, source, smoothing=self.smoothing)
        if check.flag(self.influences, "influences"):
            counting = np.ones(len(y), dtype=bool) if weights is None else np.asarray(sample_weight) > 0
            self.influences_: npt.NDArray[np.float64] = np.zeros(len(counting))
            self.influences_[counting] = self._influences(table if unit == 1 else _in_units(table, unit))
        return self

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the probability of each class, (n_rows, n_classes), in the order of `classes_`.

        Parameters
        ----------
        X : (n_rows, n_features) array or frame
            Cells may be missing, and labels need not have occurred in training.

        Raises
        ------
        ZeroProbabilityError
            When a row is impossible whatever its class, as may happen with smoothing=0.
        """
        check_is_fitted(self)
        columns = dict(zip(feature_names(self), feature_columns(self, X, reset=False), strict=True))
        known = self.network_.variables[:-1]
        table = Table.from_frame(columns, schema=known, missing="keep", unknown="missing", na_values=())
        return np.asarray(predict_proba(self.network_, table, self.target_name_))

    def predict(self, X: Any) -> Array:
        """Return the most probable class of each row, (n_rows,); of equally probable ones the first.

        Parameters
        ----------
        X : (n_rows, n_features) array or frame
        """
        probabilities = self.predict_proba(X)
        found: Array = self.classes_[probabilities.argmax(axis=1)]
        return found

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        tags.input_tags.categorical = True
        return tags

    def _training_table(self, columns: Columns, classes: Array, weights: npt.NDArray[np.int64] | None) -> Table:
        """Return the table of the features and, last, the class."""
        labels, codes = np.unique(classes, return_inverse=True)
        self.classes_: Array = labels
        if len(self.classes_) < 2:
            only = self.classes_.tolist()[0]
            raise FishernetError(f"y holds one class only, {only!r}; a classifier needs at least two")
        frame = dict(zip(feature_names(self), columns, strict=True))
        counted = None if weights is None else target_name(None, frame, "weights")
        if counted is not None:
            frame[counted] = weights
        reading: dict[str, Any] = {"bins": self.bins, "binning": self.binning, "missing": "keep", "na_values": ()}
        features = Table.from_frame(frame, weights=counted, **reading)
        target = Variable(self.target_name_, self.classes_.tolist())
        codes = codes.astype(code_dtype(target.cardinality))
        table = Table.adopt([*features.variables, target], [*features.codes, codes], weights=features.weights)
        return prepared(table, {})

    def _influences(self, table: Table) -> npt.NDArray[np.float64]:
        """Return what each row does for the classes of all given the features: for both, less for the features."""
        *features, classes = table.variables
        columns = [*table.codes[:-1], classes.missing_column(table.n_rows)]
        without = Table.adopt([*features, classes], columns, weights=table.weights, n_rows=table.n_rows)
        of_both, of_features = (rows_behind(self.network_, table, log_prob=of) for of in (table, without))
        return np.asarray(of_both.values - of_features.values)

    def _structure(self) -> str:
        """Return the name of the structure as it is spelled here."""
        found: str = word(self.structure, "structure", [*STRUCTURES, *SEARCHES])
        return found

    def _learned(self, source: Any, **missing: Any) -> Dag:
        structure: Any = self._structure()
        if structure in STRUCTURES:
            return STRUCTURES[structure](source, self.target_name_, self.k, **missing)
        return dag(source, search=structure, score=self.structure_score, **missing)


def _in_units(table: Table, unit: float) -> Table:
    """Return a table whose weights are so many times what one of them stands for."""
    assert table.weights is not None
    return Table.adopt(table.variables, table.codes, weights=table.weights * unit, n_rows=table.n_rows)
