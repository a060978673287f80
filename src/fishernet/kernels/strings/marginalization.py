"""The marginalization kernel of a list of models (P3, definition 12.4)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fishernet.errors import SchemaError
from fishernet.kernels.kernel import Matrix
from fishernet.kernels.strings.log_kernel import LogMadeKernel
from fishernet.models.sequences.checks import checked_rows


class DataModel(Protocol):
    """What gives data a probability."""

    def log_prob(self, data: Any, /) -> Any:
        """Return log P(x) of each item, (n,)."""
        ...


class MarginalizationKernel(LogMadeKernel):
    """The probability that one model, drawn from a prior, gives both items: ``sum_m P(m) P(x | m) P(z | m)``.

    Parameters
    ----------
    models : sequence of models
        Each with ``log_prob``: hidden Markov models, trees, networks, or anything of your own.
    prior : (n_models,) array
        P(m).
    log : bool
        Return log k.

    Raises
    ------
    SchemaError
        When there are no models, one has no ``log_prob``, there is not one prior each, or the prior does not sum to 1;
        when called, and a model does not give one number for each item.

    References
    ----------
    .. [1] P3, definition 12.4.

    Examples
    --------
    >>> import fishernet as fn
    >>> import numpy as np
    >>> class Coin:
    ...     def __init__(self, p):
    ...         self.p = p
    ...
    ...     def log_prob(self, tosses):
    ...         return np.log([self.p if toss == "h" else 1 - self.p for toss in tosses])
    >>> fn.kernels.MarginalizationKernel([Coin(0.1), Coin(0.9)], [0.5, 0.5])(["h", "t"]).round(2)
    array([[0.41, 0.09],
           [0.09, 0.41]])
    """

    def __init__(self, models: Sequence[DataModel], prior: npt.ArrayLike, *, log: bool = False) -> None:
        super().__init__(log=log)
        self.models = tuple(models)
        if not self.models:
            raise SchemaError("a marginalization kernel needs models")
        for number, model in enumerate(self.models):
            if not hasattr(model, "log_prob"):
                raise SchemaError(f"model {number}, a {type(model).__name__}, has no log_prob")
        self.prior = checked_rows(prior, "prior", (len(self.models),))

    def log_matrix(self, X: Any, Y: Any = None) -> Matrix:
        """Return log k for all pairs, (n, m) float64; -inf where k is 0."""
        of_x = self._log_probs(X)
        of_y = of_x if Y is None else self._log_probs(Y)
        return self._summed([x[:, None] + y for x, y in zip(of_x, of_y, strict=True)])

    def log_diag(self, X: Any) -> Matrix:
        """Return log k of each item with itself, (n,) float64."""
        return self._summed([x + x for x in self._log_probs(X)])

    def __repr__(self) -> str:
        return f"MarginalizationKernel({len(self.models)} models)"

    def _log_probs(self, X: Any) -> list[Matrix]:
        """Return log P(x | m), one array a model."""
        values = [np.asarray(model.log_prob(X), np.float64) for model in self.models]
        shapes = {value.shape for value in values}
        if len(shapes) > 1 or len(next(iter(shapes))) != 1:
            raise SchemaError(f"log_prob of the models must give one number an item, got the shapes {sorted(shapes)}")
        return values

    def _summed(self, terms: list[Matrix]) -> Matrix:
        total = np.full(terms[0].shape, -np.inf)
        for weight, term in zip(self.prior, terms, strict=True):
            if weight > 0:
                total = np.logaddexp(total, np.log(weight) + term)
        return total
