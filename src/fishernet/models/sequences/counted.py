"""Models of strings whose parameters are shares of what the strings use of them."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar, Self

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.models.model import WithoutVariables

Numbers = npt.NDArray[np.float64]


class CountedModel(WithoutVariables):
    """A model of strings whose parameters are tables of probabilities; a string counts how often it uses each.

    Examples
    --------
    >>> import fishernet as fn
    >>> chain = fn.MarkovChain("ab", 1, [[0.9, 0.1], [0.5, 0.5]])
    >>> chain.total_counts(chain.encode(["aab"])).reshape(2, 2)
    array([[1., 1.],
           [0., 0.]])
    """

    __slots__ = ()

    has_hidden_states: ClassVar[bool]
    """Whether counts are only expected, since nobody sees the states."""

    @property
    @abstractmethod
    def probability_tables(self) -> tuple[Numbers, ...]:
        """Its parameters, as tables whose rows are distributions."""

    @abstractmethod
    def _of_tables(self, tables: Sequence[Numbers]) -> Self:
        """Return the model with other parameters, which have the shapes of its own."""

    @abstractmethod
    def encode(self, strings: Any) -> Any:
        """Return strings as the codes of their symbols."""

    @abstractmethod
    def counts(self, strings: Any) -> Any:
        """Return how often each string uses each parameter, (n, cells of `probability_tables`)."""

    @abstractmethod
    def total_counts(self, encoded: Any) -> Numbers:
        """Return the sums of `counts` over strings that `encode` gave, (cells,)."""

    def with_probability_tables(self, tables: Sequence[npt.ArrayLike]) -> Self:
        """Return the model with other parameters.

        Parameters
        ----------
        tables : sequence of arrays
            As `probability_tables`.

        Raises
        ------
        SchemaError
            When they have other shapes, or a row is no distribution.

        Examples
        --------
        >>> import fishernet as fn
        >>> hmm = fn.learn.hidden_markov_model(["aab", "abb"], n_states=2, seed=1)
        >>> hmm.with_probability_tables(hmm.probability_tables) == hmm
        True
        """
        given = [check.numbers(table, "each of tables") for table in check.items(tables, "tables", "arrays")]
        shapes, own = [table.shape for table in given], [table.shape for table in self.probability_tables]
        if shapes != own:
            raise SchemaError(f"tables have the shapes {shapes}; those of the model have {own}", parameter="tables")
        return self._of_tables(given)
