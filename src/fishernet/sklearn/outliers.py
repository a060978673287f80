"""Rows that are unlike those of training, by a Bayesian network of their columns.

A network tells in two ways how usual a row is: by its log-probability, and by the Fisher kernel of the row with itself
(`fishernet.kernels.fisher.row_terms`).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import OutlierMixin
from sklearn.utils.validation import check_is_fitted

from fishernet.base.errors import FishernetError
from fishernet.base.names import shown
from fishernet.base.random import Seed
from fishernet.base.vocabulary import BinningName, MeasureName, ScoreName, SearchName, word
from fishernet.data.options import Bins
from fishernet.kernels.fisher.row_terms import RowTerms
from fishernet.models import BayesianNetwork
from fishernet.scores import Score
from fishernet.sklearn.columns import feature_columns
from fishernet.sklearn.networks import SeenByNetwork

Matrix = npt.NDArray[np.float64]
MEASURES = ("fisher", "log-probability")


class BayesianNetworkOutlierDetector(OutlierMixin, SeenByNetwork):  # type: ignore[misc]
    """Tells rows that are unlike those of training, by a Bayesian network that is learned from them or given.

    X is an array, or a pandas, polars or pyarrow frame, whose columns may hold text, numbers and truth values. A row is
    odd where a cell is rare given the others, even if each cell alone is common.

    Parameters
    ----------
    network : BayesianNetwork, optional
        As for `FisherFeatures`. Without it a network is learned.
    measure : {"fisher", "log-probability"}
        How usual a row is: minus the Fisher kernel of the row with itself, in which a single rare cell weighs much, or
        its log-probability, in which many cells that are a little rare add up.
    contamination : float
        The share of the rows of training that are taken for outliers, above 0 and at most 0.5; fewer where rows tie.
    structure, structure_score, options
        The search that finds the arcs, what it maximizes, and what `fishernet.learn.structure` takes besides.
    smoothing, bins, binning, random_state
        As for `FisherFeatures`.

    Attributes
    ----------
    network_ : BayesianNetwork
        Of the columns; those that are all the same number are not in it.
    offset_ : float
        Rows of lower scores are outliers.
    n_samples_fit_ : int
        The number of rows of training.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only where X was a frame with names.

    Notes
    -----
    Where cells are missing the score is the one expected of the completed row, so that rows with holes are not more
    usual on average, nor less, than others. The log-density of a number is that on its scale. A label that training did
    not have counts as a state of probability ``1 / (n_samples_fit_ + 1)`` of a variable without parents. Where numbers
    are cut into bins, those beyond the numbers of training fall in the outer ones. A row that a given network deems
    impossible has the score -inf.

    Examples
    --------
    >>> import fishernet as fn
    >>> from fishernet.sklearn import BayesianNetworkOutlierDetector
    >>> frame = fn.datasets.load("asia").sample(5000, seed=1).to_pandas()
    >>> detector = BayesianNetworkOutlierDetector(contamination=0.02).fit(frame)
    >>> odd = frame.head(1).assign(tub="no", lung="no", either="yes")  # "either" is "tub or lung"
    >>> detector.predict(frame.head(1)), detector.predict(odd)
    (array([1]), array([-1]))
    >>> detector.network_.names[detector.terms(odd)[0].argmin()]  # which cell makes it odd
    'either'
    """

    def __init__(
        self,
        network: BayesianNetwork | None = None,
        *,
        measure: MeasureName = "fisher",
        contamination: float = 0.05,
        structure: SearchName = "order",
        structure_score: ScoreName | Score | None = None,
        smoothing: float | str = 1.0,
        bins: Bins | None = None,
        binning: BinningName = "quantile",
        options: Mapping[str, Any] | None = None,
        random_state: Seed = None,
    ) -> None:
        how: dict[str, Any] = {"structure": structure, "structure_score": structure_score, "smoothing": smoothing}
        super().__init__(network, **how, bins=bins, binning=binning, options=options)
        self.measure = measure
        self.contamination = contamination
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn the network, or match the columns to the given one, and find the threshold; y is ignored.

        Raises
        ------
        ValueError
            When shapes or values do not fit, or an option is unknown.
        """
        measure = word(self.measure, "measure", MEASURES)
        share = self.contamination
        if isinstance(share, bool | str) or share is None or not 0 < share <= 0.5:
            raise FishernetError(
                f"contamination must be a number above 0 and at most 0.5, got {shown(share)}", parameter="contamination"
            )
        self._fit_network(X, None)
        self._terms = RowTerms(self.network_, measure, self.random_state)
        self.n_samples_fit_: int = self._rows(X).n_rows
        scores = self.score_samples(X)
        self.offset_: float = float(np.percentile(scores, 100 * share, method="higher"))
        return self

    def score_samples(self, X: Any) -> Matrix:
        """Return how usual each row is, (n_rows,); the lower, the odder.

        Parameters
        ----------
        X : (n_rows, n_features) array or frame
            Cells may be missing, and labels need not have occurred in training.
        """
        scores: Matrix = self.terms(X).sum(axis=1)
        return scores

    def decision_function(self, X: Any) -> Matrix:
        """Return the scores less `offset_`, (n_rows,): negative for outliers."""
        scores = self.score_samples(X)
        return np.subtract(scores, self.offset_, out=scores, where=np.isfinite(scores))

    def predict(self, X: Any) -> npt.NDArray[np.int64]:
        """Return -1 for outliers and 1 for other rows, (n_rows,)."""
        return np.where(self.decision_function(X) < 0, -1, 1)

    def terms(self, X: Any) -> Matrix:
        """Return what each variable of `network_` adds to the score, (n_rows, n_variables): which cell makes it odd."""
        check_is_fitted(self)
        columns = feature_columns(self, X, reset=False)
        rows = self._encoded(columns)
        possible = np.flatnonzero(~np.isneginf(self.network_.log_prob(rows)))
        found = np.full((rows.n_rows, len(rows.variables)), -np.inf)
        found[possible] = self._terms(rows if len(possible) == rows.n_rows else rows[possible])
        unseen = self._unseen(columns, rows)
        n = self.n_samples_fit_
        found[unseen] = -np.log(n + 1.0) if word(self.measure, "measure", MEASURES) == "log-probability" else -float(n)
        return found
