"""A Bayesian network as a density of scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import DensityMixin

from fishernet.base.random import Seed
from fishernet.base.vocabulary import BinningName, ScoreName, SearchName
from fishernet.data import Table
from fishernet.data.options import Bins
from fishernet.models import BayesianNetwork
from fishernet.scores import Score
from fishernet.sklearn.columns import feature_columns
from fishernet.sklearn.networks import SeenByNetwork


class BayesianNetworkDensity(DensityMixin, SeenByNetwork):  # type: ignore[misc]
    """How probable rows are, by a Bayesian network that is learned from X or given; it can be sampled.

    X is an array, or a pandas, polars or pyarrow frame, whose columns may hold text, numbers and truth values. Numbers
    have regressions, on the scales on which they are most nearly normal, in each configuration of labels.

    Parameters
    ----------
    network : BayesianNetwork, optional
        As for `FisherFeatures`. Without it a network is learned.
    structure, structure_score, options
        The search that finds the arcs, what it maximizes, and what `fishernet.learn.structure` takes besides.
    smoothing, binning
        As for `FisherFeatures`.
    bins : int, "auto", mapping from column to one of these or to cut points, or None
        Which columns are cut into bins, whose probability then counts, not the density in them; by default none is.

    Attributes
    ----------
    network_ : BayesianNetwork
        Columns that are all the same number are not in it.
    n_samples_fit_ : int
        The number of rows of training.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only where X was a frame with names.

    Examples
    --------
    >>> import numpy as np
    >>> import pandas as pd
    >>> from fishernet.sklearn import BayesianNetworkDensity
    >>> rng = np.random.default_rng(1)
    >>> sex = rng.choice(["f", "m"], 1000)
    >>> rows = pd.DataFrame({"sex": sex, "height": np.where(sex == "m", 180, 167) + rng.normal(0, 6, 1000)})
    >>> density = BayesianNetworkDensity().fit(rows)
    >>> new = pd.DataFrame({"sex": ["f", "m", None], "height": [167.0, 167.0, 167.0]})
    >>> density.score_samples(new).round(1)
    array([-3.5, -5.6, -3.4])
    >>> density.sample(2, seed=1).names
    ('sex', 'height')
    """

    def __init__(
        self,
        network: BayesianNetwork | None = None,
        *,
        structure: SearchName = "order",
        structure_score: ScoreName | Score | None = None,
        smoothing: float | str = 1.0,
        bins: Bins | None = None,
        binning: BinningName = "quantile",
        options: Mapping[str, Any] | None = None,
    ) -> None:
        how: dict[str, Any] = {"structure": structure, "structure_score": structure_score, "smoothing": smoothing}
        super().__init__(network, **how, bins=bins, binning=binning, options=options)

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn the network, or match the columns to the given one; y is ignored.

        Raises
        ------
        ValueError
            When shapes or values do not fit, or an option is unknown.
        """
        self._fit_network(X, None)
        self.n_samples_fit_: int = self._rows(X).n_rows
        return self

    def score_samples(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the log-probability of each row, (n_rows,), in nats; of numbers the log-density.

        Parameters
        ----------
        X : (n_rows, n_features) array or frame
            Missing cells are summed and integrated out. A label that did not occur in training counts as one of
            probability ``1 / (n_samples_fit_ + 1)``.
        """
        rows = self._rows(X)
        unseen = self._unseen(feature_columns(self, X, reset=False), rows)
        return np.asarray(self.network_.log_prob(rows) - unseen.sum(axis=1) * np.log(self.n_samples_fit_ + 1.0))

    def score(self, X: Any, y: Any = None) -> float:  # noqa: ARG002
        """Return the mean log-probability of the rows; y is ignored."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples: int = 1, *, seed: Seed = None) -> Table:
        """Draw rows from the network.

        Parameters
        ----------
        n_samples : int
        seed : None, int or numpy.random.Generator

        Returns
        -------
        Table
        """
        return self.network_.sample(n_samples, seed=seed)
