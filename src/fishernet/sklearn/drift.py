"""Whether new rows come from where those of training came from, and which rows speak against it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import warn
from fishernet.base.names import counted
from fishernet.base.random import Seed
from fishernet.base.vocabulary import BinningName, ScoreName, SearchName
from fishernet.compare import TwoSampleResult, two_sample_test
from fishernet.data import Table
from fishernet.data.options import Bins
from fishernet.data.pooling import NEW, stacked, with_new_state
from fishernet.kernels import FisherKernel, HiddenVariableKernel
from fishernet.kernels.fisher.hidden_variables import row_kernel
from fishernet.learn import parameters
from fishernet.models import BayesianNetwork
from fishernet.scores import Score
from fishernet.sklearn.columns import feature_columns
from fishernet.sklearn.networks import SeenByNetwork


class BayesianNetworkDriftDetector(SeenByNetwork):
    """Tells whether a batch of rows comes from where the rows of training came from.

    X is an array, or a pandas, polars or pyarrow frame, whose columns may hold text, numbers and truth values; cells
    may be missing.

    Parameters
    ----------
    network : BayesianNetwork, optional
        As for `FisherFeatures`; fitted to other rows than those of `fit` and of the batches. Without it the rows of
        training give states and cut points, and each test learns a network from training and batch together, as it must
        to be exact.
    permutations : int
        Of each test, as for `fishernet.compare.two_sample_test`.
    structure, structure_score, options
        The search that finds the arcs for `witness`, what it maximizes, and what `fishernet.learn.structure` takes
        besides.
    smoothing, bins, binning, random_state
        As for `FisherFeatures`.

    Attributes
    ----------
    network_ : BayesianNetwork
        Its variables hold states and cut points.
    reference_ : Table
        The rows of training as the network sees them.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only where X was a frame with names.

    Notes
    -----
    Labels that training did not have are one state in `detect`, which no row of training has, and are warned of with
    their number; in `witness` they are missing cells.

    Examples
    --------
    >>> import fishernet as fn
    >>> from fishernet.sklearn import BayesianNetworkDriftDetector
    >>> asia = fn.datasets.load("asia")
    >>> detector = BayesianNetworkDriftDetector(asia, random_state=1).fit(asia.sample(1000, seed=1).to_pandas())
    >>> smokers = fn.infer.intervene(asia, {"smoke": "yes"}).sample(500, seed=2).to_pandas()
    >>> detector.detect(smokers).changed()
    ('smoke',)
    """

    def __init__(
        self,
        network: BayesianNetwork | None = None,
        *,
        permutations: int = 999,
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
        self.permutations = permutations
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Keep the rows of training as the network sees them; y is ignored.

        Raises
        ------
        ValueError
            When shapes or values do not fit, or an option is unknown.
        """
        self._fit_network(X, None)
        self.reference_: Table = self._rows(X)
        return self

    def detect(self, X: Any) -> TwoSampleResult:
        """Test whether a batch comes from where training came from: a p-value, and which variables tell them apart.

        Parameters
        ----------
        X : (n_rows, n_features) array or frame
        """
        columns = feature_columns(self, X, reset=False)
        batch = self._encoded(columns)
        new = self._unseen(columns, batch)
        if new.any():
            reference, batch = self._with_new_labels(batch, new)
            kernel = None if self.network is None else self._kernel_of_both(reference, batch)
        else:
            reference = self.reference_
            kernel = None if self.network is None else HiddenVariableKernel(self.network_, seed=0)
        how: dict[str, Any] = {"permutations": self.permutations, "seed": self.random_state}
        return two_sample_test(reference, batch, kernel, **how)

    def _kernel_of_both(self, reference: Table, batch: Table) -> FisherKernel | HiddenVariableKernel:
        """Return the kernel of the given graph, fitted to both tables: the network lacks the state of new labels."""
        rows = stacked([reference, batch])
        em: dict[str, Any] = {"seed": 0} if rows.has_missing else {}
        return row_kernel(parameters(self.network_.dag, rows, smoothing=1.0, **em), reference, batch, seed=0)

    def _with_new_labels(self, batch: Table, new: npt.NDArray[np.bool_]) -> tuple[Table, Table]:
        """Return training and batch with one more state for labels that training does not have, and warn of them."""
        counts = {v.name: int(n) for v, n in zip(batch.variables, new.sum(axis=0), strict=True) if n}
        warn(f"labels that training does not have are one state {NEW!r} in the test: {counted(counts)}")
        reference, wide = with_new_state(self.reference_, counts), with_new_state(batch, counts)
        columns = [
            np.where(of_new, variable.cardinality - 1, codes).astype(codes.dtype) if variable.name in counts else codes
            for variable, codes, of_new in zip(wide.variables, wide.codes, new.T, strict=True)
        ]
        return reference, Table(wide.variables, columns)

    def witness(self, X: Any) -> npt.NDArray[np.float64]:
        """Return how much each row of a batch is like training and unlike the batch, (n_rows,); drift is in the lowest.

        It is the row's mean Fisher kernel with the rows of training, less that with the rows of the batch, of which the
        maximum mean discrepancy is made; so it depends on the other rows of the batch.

        Parameters
        ----------
        X : (n_rows, n_features) array or frame
        """
        batch = self._rows(X)
        kernel = HiddenVariableKernel(self.network_, seed=0)
        features = kernel.features(batch)
        between = kernel.mean_features(self.reference_) - np.asarray(features.mean(axis=0)).ravel()
        return np.asarray(features @ between)
