"""Transformers of strings: Gram matrices for ``kernel="precomputed"``, and Fisher features for any estimator.

X is a list or an array of strings, or a column of a frame; a string is a str or a sequence of symbols. Fisher features
are the scores of a generative model (Shawe-Taylor and Cristianini, 2004, section 12.2). Symbols that training did not
have are summed out unless `unknown` says otherwise, so that a rare symbol in a test fold ends no cross-validation.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from fishernet.base.errors import SchemaError
from fishernet.base.vocabulary import MetricName, word
from fishernet.data.matching import listed_items
from fishernet.kernels import FisherKernel, Kernel, Normalized
from fishernet.kernels.fisher.kernel import METRICS
from fishernet.kernels.kernel import is_kernel
from fishernet.learn import hidden_markov_model, markov_chain
from fishernet.models.sequences.alphabet import ANY, ERROR

Strings = list[Any]  # each a str or a sequence of symbols


class OfStrings(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """A transformer whose X is a list of strings."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.string = True
        tags.input_tags.two_d_array = False
        tags.input_tags.one_d_array = True
        return tags


def listed_strings(X: Any) -> Strings:
    """Return the strings of a list, an array or a column of a data frame; raise SchemaError for anything else."""
    strings = listed_items(X)
    if not strings:
        raise SchemaError("at least one string is needed")
    for number, string in enumerate(strings):
        if not isinstance(string, str | list | tuple | np.ndarray):
            raise SchemaError(f"string {number} is {string!r}, neither a text nor a list of symbols")
    return strings


def with_policy(model: Any, unknown: Any) -> Any:
    """Return a model that treats unknown symbols as asked (`unknown`), unless it has a way of its own already."""
    refuses = hasattr(model, "with_unknown") and model.alphabet.unknown is None
    return model.with_unknown(unknown) if refuses and unknown != ERROR else model


def own_policy(options: dict[str, Any]) -> dict[str, Any]:
    """Return options without the policy where the alphabet has one of its own."""
    kept = options["alphabet"]
    return options | {"unknown": None} if getattr(kept, "unknown", None) is not None else options


class KernelTransformer(OfStrings):
    """The kernel of strings with the strings of training: what comes before ``SVC(kernel="precomputed")``.

    Parameters
    ----------
    kernel : Kernel, or function that makes one
        A function is given the strings of training, and may learn a model of them.
    normalize : bool
        Take the cosine, ``k(x, y) / sqrt(k(x, x) k(y, y))``.

    Attributes
    ----------
    kernel_ : Kernel
        The kernel that is used.
    strings_ : list
        The strings of training.

    Examples
    --------
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.svm import SVC
    >>> import fishernet as fn
    >>> from fishernet.sklearn import KernelTransformer
    >>> model = make_pipeline(KernelTransformer(fn.kernels.SpectrumKernel(2)), SVC(kernel="precomputed"))
    >>> model.fit(["abab", "baba", "aabb", "bbaa"], [0, 0, 1, 1]).predict(["ababab", "aaabbb"])
    array([0, 1])
    """

    def __init__(self, kernel: Any, *, normalize: bool = False) -> None:
        self.kernel = kernel
        self.normalize = normalize

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Keep the strings of training, and make the kernel; y is ignored."""
        self.strings_: Strings = listed_strings(X)
        kernel = self.kernel
        if not is_kernel(kernel) and callable(kernel):
            kernel = kernel(self.strings_)
        if not is_kernel(kernel):
            raise SchemaError(f"a kernel or a function that makes one is needed, not {type(kernel).__name__}")
        self.kernel_: Kernel = Normalized(kernel) if self.normalize else kernel
        return self

    def transform(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the kernel of each string with each string of training, (n, n_training) float64."""
        check_is_fitted(self)
        return self.kernel_(listed_strings(X), self.strings_)

    def fit_transform(self, X: Any, y: Any = None, **options: Any) -> npt.NDArray[np.float64]:
        """Return the kernel of the strings of training with one another, exactly symmetric."""
        self.fit(X, y, **options)
        return self.kernel_(self.strings_)

    @property
    def _n_features_out(self) -> int:
        return len(self.strings_)


class Scored(OfStrings, ABC):
    """What these transformers share: fit finds a model, transform gives the features of its Fisher kernel."""

    metric: MetricName
    length: int | None
    unknown: Any

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn the model of some strings, and the matrix between the scores; y is ignored."""
        strings = listed_strings(X)
        self.model_: Any = with_policy(self._found(strings), self.unknown)
        metric = word(self.metric, "metric", METRICS, error=SchemaError)
        self.kernel_: FisherKernel = FisherKernel(
            self.model_,
            metric=metric,
            reference=strings if metric == "empirical" else None,
            length=self.length,
            seed=getattr(self, "random_state", None),
        )
        self._n_features_out = self.kernel_.dimension
        return self

    def transform(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the features of each string, (n, n_features) float64; the model must deem each possible."""
        check_is_fitted(self)
        features: npt.NDArray[np.float64] = self.kernel_.features(listed_strings(X))
        return features

    @abstractmethod
    def _found(self, strings: Strings) -> Any:
        """Return the model whose scores are taken."""


class ModelFisherFeatures(Scored):
    """The features of the Fisher kernel of a given or learned model.

    Parameters
    ----------
    model : model with `fisher_scores`, or function that learns one
        A function is given the strings of training, and `options` as keywords.
    options : dict, optional
        For the function; a grid search may go over several.
    unknown : {"any", "skip", "error"} or symbol
        What to do about a symbol that the model does not know, as often in the test folds of a cross-validation: sum it
        out, leave it out of its string, refuse it, or take it for this one symbol.
        A model that has a policy of its own keeps it.
    metric : {"practical", "empirical", "invariant"}
        See `fishernet.kernels.FisherKernel`; the reference rows of "empirical" are the strings of training.
    length : int, optional
        The length of string that "invariant" is for, where the model does not say how long strings are.
    random_state : None, int or numpy.random.Generator
        Where the information is simulated.

    Attributes
    ----------
    model_ : the model
    kernel_ : FisherKernel

    See Also
    --------
    FisherFeatures : for tables.

    Examples
    --------
    >>> import fishernet as fn
    >>> from fishernet.sklearn import ModelFisherFeatures
    >>> features = ModelFisherFeatures(fn.learn.markov_chain, options={"order": 1})
    >>> features.fit_transform(["abab", "aabb"]).shape
    (2, 4)
    """

    def __init__(
        self,
        model: Any,
        *,
        options: Mapping[str, Any] | None = None,
        unknown: Any = ANY,
        metric: MetricName = "practical",
        length: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.model = model
        self.options = options
        self.unknown = unknown
        self.metric = metric
        self.length = length
        self.random_state = random_state

    def _found(self, strings: Strings) -> Any:
        if hasattr(self.model, "fisher_scores"):
            return self.model
        learn: Callable[..., Any] = self.model
        return learn(strings, **(self.options or {}))


class MarkovFisherFeatures(Scored):
    """The features of the Fisher kernel of a Markov chain that is learned by counts.

    Parameters
    ----------
    order, smoothing, alphabet, end
        As for `fishernet.learn.markov_chain`.
    unknown : {"any", "skip", "error"} or symbol
        What to do about a symbol outside the alphabet, as often in the test folds of a cross-validation: sum it
        out, leave it out of its string, refuse it, or take it for this one symbol.
    metric : {"practical", "empirical", "invariant"}
        See `fishernet.kernels.FisherKernel`; the reference rows of "empirical" are the strings of training.
    length : int, optional
        The length of string that "invariant" is for, where there is no end symbol.

    Attributes
    ----------
    model_ : MarkovChain
    kernel_ : FisherKernel

    Examples
    --------
    >>> from fishernet.sklearn import MarkovFisherFeatures
    >>> MarkovFisherFeatures(order=2).fit_transform(["abab", "aabb"]).shape
    (2, 8)
    """

    def __init__(
        self,
        order: int = 1,
        *,
        smoothing: float = 1.0,
        alphabet: Any = None,
        unknown: Any = ANY,
        end: bool = False,
        metric: MetricName = "practical",
        length: int | None = None,
    ) -> None:
        self.order = order
        self.smoothing = smoothing
        self.alphabet = alphabet
        self.unknown = unknown
        self.end = end
        self.metric = metric
        self.length = length

    def _found(self, strings: Strings) -> Any:
        options = {name: getattr(self, name) for name in ("order", "smoothing", "alphabet", "unknown", "end")}
        return markov_chain(strings, **own_policy(options))


class HmmFisherFeatures(Scored):
    """The features of the Fisher kernel of a hidden Markov model that is learned by Baum-Welch.

    Parameters
    ----------
    n_states, smoothing, alphabet, final, restarts
        As for `fishernet.learn.hidden_markov_model`.
    unknown : {"any", "skip", "error"} or symbol
        What to do about a symbol outside the alphabet, as often in the test folds of a cross-validation: sum it
        out, leave it out of its string, refuse it, or take it for this one symbol.
    metric : {"practical", "empirical", "invariant"}
        See `fishernet.kernels.FisherKernel`; the reference rows of "empirical" are the strings of training.
    length : int, optional
        The length of string that "invariant" is for, where there is no final state.
    random_state : None, int or numpy.random.Generator
        Of the restarts, and where the information is simulated.

    Attributes
    ----------
    model_ : HiddenMarkovModel
    kernel_ : FisherKernel

    Examples
    --------
    >>> from fishernet.sklearn import HmmFisherFeatures
    >>> HmmFisherFeatures(n_states=2, random_state=1).fit_transform(["abab", "aabb"]).shape
    (2, 10)
    """

    def __init__(
        self,
        n_states: int = 2,
        *,
        smoothing: float = 0.01,
        alphabet: Any = None,
        unknown: Any = ANY,
        final: bool = False,
        restarts: int = 5,
        metric: MetricName = "practical",
        length: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_states = n_states
        self.smoothing = smoothing
        self.alphabet = alphabet
        self.unknown = unknown
        self.final = final
        self.restarts = restarts
        self.metric = metric
        self.length = length
        self.random_state = random_state

    def _found(self, strings: Strings) -> Any:
        names = ("n_states", "smoothing", "alphabet", "unknown", "final", "restarts")
        options = {name: getattr(self, name) for name in names}
        return hidden_markov_model(strings, seed=self.random_state, **own_policy(options))
