"""Fisher features of strings: the scores of a generative model, as columns for any estimator (P3, section 12.2)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from fishernet.kernels import FisherKernel
from fishernet.learn import hidden_markov_model, markov_chain
from fishernet.sklearn.columns import OfStrings, Strings, listed_strings


class Scored(OfStrings, ABC):
    """What the transformers share: fit finds a model, transform gives the features of its Fisher kernel.

    Attributes
    ----------
    model_ : HiddenMarkovModel, MarkovChain or another model with `fisher_scores`
        The model whose scores are taken.
    kernel_ : FisherKernel
        Its kernel.
    """

    metric: str
    length: int | None

    def fit(self, X: Any, y: Any = None) -> Self:  # noqa: ARG002
        """Learn the model, and the matrix between the scores.

        Parameters
        ----------
        X : n strings
            A list, an array or a column of a frame; each a str or a sequence of symbols.
        y : ignored

        Raises
        ------
        SchemaError
            When X holds no strings, or an option does not fit.
        """
        strings = listed_strings(X)
        self.model_ = self._found(strings)
        self.kernel_ = FisherKernel(
            self.model_,
            metric=self.metric,
            reference=strings if self.metric == "empirical" else None,
            length=self.length,
            seed=getattr(self, "random_state", None),
        )
        self._n_features_out = self.kernel_.dimension
        return self

    def transform(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the features of each string, (n, n_features) float64.

        Parameters
        ----------
        X : n strings

        Raises
        ------
        UnknownStateError
            When a symbol is not in the model's alphabet.
        ZeroProbabilityError
            When a string is impossible.
        """
        check_is_fitted(self)
        features: npt.NDArray[np.float64] = self.kernel_.features(listed_strings(X))
        return features

    @abstractmethod
    def _found(self, strings: Strings) -> Any:
        """Return the model whose scores are taken."""


class FisherFeatures(Scored):
    """The features of the Fisher kernel of a given or learned model.

    Parameters
    ----------
    model : model with `fisher_scores`, or function that learns one
        A function is given the strings of training, and `options` as keywords.
    options : dict, optional
        For the function; a grid search may go over several.
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

    Examples
    --------
    >>> import fishernet as fn
    >>> from fishernet.sklearn import FisherFeatures
    >>> features = FisherFeatures(fn.learn.markov_chain, options={"order": 1})
    >>> features.fit_transform(["abab", "aabb"]).shape
    (2, 4)
    """

    def __init__(
        self,
        model: Any,
        *,
        options: Mapping[str, Any] | None = None,
        metric: str = "practical",
        length: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.model = model
        self.options = options
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
        end: bool = False,
        metric: str = "practical",
        length: int | None = None,
    ) -> None:
        self.order = order
        self.smoothing = smoothing
        self.alphabet = alphabet
        self.end = end
        self.metric = metric
        self.length = length

    def _found(self, strings: Strings) -> Any:
        return markov_chain(strings, order=self.order, smoothing=self.smoothing, alphabet=self.alphabet, end=self.end)


class HmmFisherFeatures(Scored):
    """The features of the Fisher kernel of a hidden Markov model that is learned by Baum-Welch.

    Parameters
    ----------
    n_states, smoothing, alphabet, final, restarts
        As for `fishernet.learn.hidden_markov_model`.
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
        final: bool = False,
        restarts: int = 5,
        metric: str = "practical",
        length: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.n_states = n_states
        self.smoothing = smoothing
        self.alphabet = alphabet
        self.final = final
        self.restarts = restarts
        self.metric = metric
        self.length = length
        self.random_state = random_state

    def _found(self, strings: Strings) -> Any:
        return hidden_markov_model(
            strings,
            n_states=self.n_states,
            smoothing=self.smoothing,
            alphabet=self.alphabet,
            final=self.final,
            restarts=self.restarts,
            seed=self.random_state,
        )
