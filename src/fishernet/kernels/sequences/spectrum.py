"""The p-spectrum kernel: the inner product of the counts of all substrings of one length.

It is what the Fisher kernel of a Markov chain of order k - 1 with equal probabilities consists of (Shawe-Taylor and
Cristianini, 2004, Example 12.32), and the usual kernel to compare others of strings with.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import Any

import numpy as np

from fishernet.base import check
from fishernet.base.errors import SchemaError, StateSpaceError
from fishernet.base.names import several
from fishernet.data.matching import listed_items
from fishernet.kernels.features import (
    Features,
    Matrix,
    check_cells,
    checked_length,
    inner,
    squared_lengths,
    weighted_mean,
)
from fishernet.kernels.kernel import BaseKernel, OfFeatures
from fishernet.models.sequences.alphabet import Alphabet
from fishernet.models.sequences.alphabet import Strings as Encoded
from fishernet.models.sequences.ambiguous_steps import known_steps

Strings = Sequence[Sequence[Hashable]]

MOST_SUBSTRINGS = 2**62
MOST_MEANT = 2**26
MOST_COLUMNS = 2**31 - 1
DENSE = 0.02  # a share of entries from which a product of full matrices is faster


class SpectrumKernel(BaseKernel):
    """The p-spectrum kernel of strings [1]_.

    Parameters
    ----------
    k : int
        The length of the substrings, from 1. A shorter string has none, and its kernel with every string is 0.
    alphabet : iterable of symbols, or Alphabet, optional
        With it the kernel has features, one a possible substring. Without it the symbols are those of the strings at
        hand. A substring with letters that may be one of several symbols (of "dna", say) counts as the mean of all
        substrings that it may be.
    unknown : {"error", "skip", "any"} or symbol, optional
        What to do about a symbol that is not in the alphabet, as for `Alphabet`.

    Raises
    ------
    SchemaError
        When k is no integer from 1.
    StateSpaceError
        When there are more than 2**62 possible substrings.

    References
    ----------
    .. [1] C. Leslie, E. Eskin and W. S. Noble, "The spectrum kernel: a string kernel for SVM protein classification",
       PSB 2002.

    Examples
    --------
    >>> import fishernet as fn
    >>> fn.kernels.SpectrumKernel(2)(["abab", "ba"])
    array([[5., 1.],
           [1., 1.]])
    >>> fn.kernels.SpectrumKernel(2, "ab").features(["abab"]).toarray()
    array([[0., 2., 1., 0.]])
    """

    def __new__(
        cls,
        k: int,  # noqa: ARG004
        alphabet: Iterable[Hashable] | Alphabet | None = None,
        *,
        unknown: Hashable | None = None,  # noqa: ARG004
    ) -> SpectrumKernel:
        """Make the kind with features where the alphabet is known."""
        return super().__new__(SpectrumFeatures if cls is SpectrumKernel and alphabet is not None else cls)

    def __init__(
        self, k: int, alphabet: Iterable[Hashable] | Alphabet | None = None, *, unknown: Hashable | None = None
    ) -> None:
        self.k: int = check.integer(k, "k", least=1)
        if alphabet is None and unknown is not None:
            raise SchemaError("without an alphabet no symbol is unknown; say alphabet=", parameter="alphabet")
        self.alphabet: Alphabet | None = None if alphabet is None else Alphabet.of(alphabet, unknown=unknown)

    def __getnewargs__(self) -> tuple[int, Alphabet | None]:
        return self.k, self.alphabet

    def __call__(self, X: Strings, Y: Strings | None = None) -> Matrix:
        """Return the kernel of all pairs of strings, (n, m) float64.

        Raises
        ------
        UnknownStateError
            When a symbol is not in the alphabet.
        """
        X, Y = listed_items(X), None if Y is None else listed_items(Y)
        check_cells(len(X) * len(X if Y is None else Y), "the kernel matrix")
        counts = self._occurring([*X, *([] if Y is None else Y)])
        if counts.nnz > DENSE * counts.shape[0] * counts.shape[1]:
            counts = counts.toarray()
        return inner(counts[: len(X)], None if Y is None else counts[len(X) :])

    def diag(self, X: Strings) -> Matrix:
        """Return the kernel of each string with itself, (n,) float64."""
        return squared_lengths(self._occurring(listed_items(X)))

    def __repr__(self) -> str:
        return f"{SpectrumKernel.__name__}({self.k}{'' if self.alphabet is None else f', {self.alphabet!r}'})"

    def _occurring(self, X: Strings) -> Features:
        """Return the counts of the substrings that occur, (n, n_occurring)."""
        n_rows = checked_length(X, "X")
        alphabet = self.alphabet
        if alphabet is None:
            alphabet = Alphabet.seen(X) if any(checked_length(x, "each string") for x in X) else Alphabet([0])
        owners, numbers, weights = self._substrings(X, alphabet)
        there, columns = np.unique(numbers, return_inverse=True)
        return _counted(owners, columns, weights, (n_rows, len(there)))

    def _substrings(self, X: Strings, alphabet: Alphabet) -> tuple[Any, Any, Any]:
        """Return the string, the number and the weight of every substring."""
        n_possible = len(alphabet) ** self.k
        if n_possible > MOST_SUBSTRINGS:
            what = f"the substrings of {self.k} of {several(len(alphabet), 'symbol')}"
            raise StateSpaceError(what, cells=n_possible, limit=MOST_SUBSTRINGS, remedy="take shorter ones")
        encoded = alphabet.encode(X)
        owners, numbers = known_steps(encoded, (len(alphabet),) * self.k, len(alphabet))
        if encoded.sets is None:
            return owners, numbers, np.ones(len(owners))
        others = _unclear(encoded, self.k, alphabet)
        joined = [np.concatenate(parts) for parts in zip((owners, numbers, np.ones(len(owners))), others, strict=True)]
        return joined[0], joined[1], joined[2]


class SpectrumFeatures(OfFeatures, SpectrumKernel):
    """The p-spectrum kernel over a known alphabet: one feature a possible substring."""

    alphabet: Alphabet

    @property
    def dimension(self) -> int:
        """The number of features, n_symbols ** k."""
        return int(len(self.alphabet) ** self.k)

    def features(self, X: Strings) -> Features:
        """Return the counts of all substrings, (n, dimension) scipy.sparse.csr_array, in the alphabet's order.

        Raises
        ------
        UnknownStateError
            When a symbol is not in the alphabet.
        StateSpaceError
            When there are 2**31 possible substrings or more.
        """
        if self.dimension > MOST_COLUMNS:
            remedy = "call the kernel, which needs only those that occur"
            raise StateSpaceError("the features", cells=self.dimension, limit=MOST_COLUMNS, remedy=remedy)
        strings = listed_items(X)
        owners, numbers, weights = self._substrings(strings, self.alphabet)
        return _counted(owners, numbers, weights, (len(strings), self.dimension))

    def mean_features(self, X: Strings) -> Matrix:
        """Return the mean of the strings' features, (dimension,) float64."""
        strings = listed_items(X)
        return weighted_mean(self.features(strings), strings)


def _unclear(strings: Encoded, k: int, alphabet: Alphabet) -> tuple[Any, Any, Any]:
    """Return the string, the number and the weight of all that substrings with sets of symbols may be."""
    n = len(alphabet)
    meant = [np.array([code]) for code in range(n)] + [np.flatnonzero(of) for of in alphabet.sets]
    places = np.flatnonzero(strings.codes >= n)
    starts = np.unique((places[:, None] - np.arange(k)).ravel())
    starts = starts[(starts >= 0) & (starts + k <= len(strings.codes))]
    of_string = np.repeat(np.arange(len(strings)), strings.lengths)
    starts = starts[of_string[starts] == of_string[starts + k - 1]] if len(starts) else starts
    sizes = np.array([len(of) for of in meant], np.float64)
    cells = np.prod([sizes[strings.codes[starts + place]] for place in range(k)], axis=0).sum()
    if cells > MOST_MEANT:
        remedy = "take shorter substrings, or leave such letters out (unknown='skip' with the plain alphabet)"
        raise StateSpaceError(
            "the substrings that unclear letters may mean", cells=cells, limit=MOST_MEANT, remedy=remedy
        )
    owners, numbers, weights = [np.zeros(0, np.int64)], [np.zeros(0, np.int64)], [np.zeros(0)]
    for first in starts.tolist():
        found = np.zeros(1, np.int64)
        for code in strings.codes[first : first + k].tolist():
            found = (found[:, None] * n + meant[code]).ravel()
        owners.append(np.full(len(found), of_string[first]))
        numbers.append(found)
        weights.append(np.full(len(found), 1 / len(found)))
    return np.concatenate(owners), np.concatenate(numbers), np.concatenate(weights)


def _counted(owners: Any, columns: Any, weights: Any, shape: tuple[int, int]) -> Features:
    import scipy.sparse as sp  # slow to import, and needed by few calls

    return sp.coo_array((weights, (owners, columns)), shape=shape).tocsr()
