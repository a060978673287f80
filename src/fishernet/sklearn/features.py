"""The Fisher kernel's features of the rows of a table, for any estimator of scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted

from fishernet.base.random import Seed
from fishernet.base.vocabulary import BinningName, ClassifierName, ScoreName
from fishernet.data.options import Bins
from fishernet.kernels import HiddenVariableKernel
from fishernet.models import BayesianNetwork
from fishernet.scores import Score
from fishernet.sklearn.networks import SeenByNetwork, cell_names

MOST_INDICES = np.iinfo(np.int32).max


class FisherFeatures(TransformerMixin, SeenByNetwork):  # type: ignore[misc]
    """The features of the Fisher kernel of a Bayesian network, which is learned from X or given.

    A feature is a state of a variable in a configuration of its parents, or how far a number is off what its parents
    say. So a linear model of the features sees the dependences that the network has found, as one of one-hot columns
    does not. X is an array, or a pandas, polars or
    pyarrow frame, whose columns may hold text, numbers and truth values. Where cells are missing (None, NaN) a row has
    the features that are expected given the rest of it, and so it has for labels that were never seen in training.

    Parameters
    ----------
    network : BayesianNetwork, optional
        Of labels, numbers or both. Columns of frames are matched to its variables by name, others are ignored; an array
        has its variables in their order, and whole numbers in it are codes. Without it a network is learned.
    structure : the name of a search, or {"kdb", "tan", "naive-bayes"}
        How the arcs between the features are learned: by that search of `fishernet.learn.structure`, which does not
        look at y; or with the classes y, as in `BayesianNetworkClassifier`, of which the arcs between features stay.
        For a linear classifier "kdb" is often much better, since it finds which features matter together for the class.
    k : int
        For "kdb": how many features may be parents of one feature.
    structure_score : str or Score, optional
        What a search maximizes; as for `fishernet.learn.structure`, where None is "bic" of columns with labels.
    smoothing : float, "snml" or "zeros"
        What is added to counts; see `fishernet.learn.parameters`. With 0 rows may become impossible, which raises.
    bins : int, "auto", mapping from column to one of these or to cut points, or None
        By default numbers have regressions, on scales, in each configuration of labels, but for columns of which a
        tenth of the rows is one number, and but for structures that go by the classes: these take five bins. An int
        cuts numeric columns into at most so many bins, and columns with no more distinct numbers keep them as states;
        "auto" takes the histogram of least description length; ``{"age": 4}`` cuts one column. The columns of an array
        are called x0, x1, ...
    binning : {"quantile", "equal-width"}
        How an int in `bins` is turned into cut points.
    options : mapping, optional
        What `fishernet.learn.structure` takes besides, as ``{"max_parents": 2, "missing": "em"}``.
    sparse_output : bool
        Whether features are a scipy.sparse.csr_array, or a dense array. Where `set_output` asks for a frame they are
        dense.
    random_state : None, int or numpy.random.Generator
        For networks that are too large for exact inference, whose configurations' probabilities are sampled.

    Attributes
    ----------
    network_ : BayesianNetwork
        Its variables hold states and cut points.
    kernel_ : HiddenVariableKernel
        The kernel whose features they are: of complete rows it is the `FisherKernel`.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only where X was a frame with names.

    See Also
    --------
    ModelFisherFeatures : for strings, and for any model with Fisher scores.

    Notes
    -----
    Features of rare states in rare configurations are large, ``1 / sqrt(P(j) theta_jk)``, at which LinearSVC may take
    long to converge. `sklearn.preprocessing.MaxAbsScaler`, or `Normalizer` (cosines), in between keep them sparse.

    Columns of text with very many labels are taken for identifiers and left out, with a warning.

    References
    ----------
    .. [1] T. Jaakkola and D. Haussler, "Exploiting generative models in discriminative classifiers", 1999;
       J. Leppä-aho, T. Silander and T. Roos, "Bayesian network Fisher kernel for categorical feature spaces",
       Behaviormetrika 47, 2020.

    Examples
    --------
    >>> import fishernet as fn
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import MaxAbsScaler
    >>> from sklearn.svm import LinearSVC
    >>> from fishernet.sklearn import FisherFeatures
    >>> train, test = (part.to_pandas() for part in fn.datasets.load("nursery").split(0.5, seed=1))
    >>> model = make_pipeline(FisherFeatures(structure="kdb", k=2), MaxAbsScaler(), LinearSVC())
    >>> model = model.fit(train.drop(columns="class"), train["class"])
    >>> bool(model.score(test.drop(columns="class"), test["class"]) > 0.98)
    True
    >>> asia = fn.datasets.load("asia")
    >>> FisherFeatures(asia).fit(asia.sample(9, seed=1).to_pandas()).get_feature_names_out()[-8:-4]
    array(['dysp | bronc=yes, either=yes: yes',
           'dysp | bronc=yes, either=yes: no',
           'dysp | bronc=yes, either=no: yes',
           'dysp | bronc=yes, either=no: no'], dtype=object)
    """

    def __init__(
        self,
        network: BayesianNetwork | None = None,
        *,
        structure: ClassifierName = "order",
        k: int = 2,
        structure_score: ScoreName | Score | None = None,
        smoothing: float | str = 1.0,
        bins: Bins | None = None,
        binning: BinningName = "quantile",
        options: Mapping[str, Any] | None = None,
        sparse_output: bool = True,
        random_state: Seed = None,
    ) -> None:
        how: dict[str, Any] = {"structure": structure, "structure_score": structure_score, "smoothing": smoothing}
        super().__init__(network, **how, bins=bins, binning=binning, options=options)
        self.k = k
        self.sparse_output = sparse_output
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn the network, or match the columns to the given one.

        Parameters
        ----------
        X : (n_rows, n_features) array or frame
        y : (n_rows,) array, optional
            The classes; looked at for the structures "kdb", "tan" and "naive-bayes" alone.

        Raises
        ------
        ValueError
            When shapes or values do not fit, the structure is for states and there are numbers, or an option is
            unknown.
        """
        self._fit_network(X, y)
        self.kernel_: HiddenVariableKernel = HiddenVariableKernel(self.network_, seed=self.random_state)
        self._n_features_out = self.kernel_.dimension
        return self

    def transform(self, X: Any) -> Any:
        """Return the features of each row, (n_rows, ``kernel_.dimension``) scipy.sparse.csr_array or ndarray.

        Parameters
        ----------
        X : (n_rows, n_features) array or frame
            Cells may be missing, and labels need not have occurred in training.

        Raises
        ------
        ZeroProbabilityError
            When a row is impossible, as may happen with smoothing=0.
        """
        rows = self._rows(X)
        features = self.kernel_.features(rows)
        if not self.sparse_output or _get_output_config("transform", self)["dense"] != "default":
            return features.toarray()
        if max(features.nnz, *features.shape) <= MOST_INDICES:  # liblinear, for one, takes no others
            features.indices = features.indices.astype(np.int32)
            features.indptr = features.indptr.astype(np.int32)
        return features

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Return a name for each feature, (dimension,) of str: "dysp | bronc=yes, either=no: yes".

        Parameters
        ----------
        input_features : sequence of str, optional
            Names for the columns of an array.
        """
        check_is_fitted(self)
        given = _check_feature_names_in(self, input_features)
        columns = [] if self.network is not None or hasattr(self, "feature_names_in_") else given
        return cell_names(self.network_, {f"x{i}": str(name) for i, name in enumerate(columns)})
