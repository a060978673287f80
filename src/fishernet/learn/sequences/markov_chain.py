"""Fitting a Markov chain to the counts of its steps (P3, remark 12.33)."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
import numpy.typing as npt

from fishernet.errors import FishernetError, ZeroProbabilityError
from fishernet.models import MarkovChain
from fishernet.models.sequences.alphabet import Alphabet, Strings
from fishernet.models.sequences.markov_chain import table_shape
from fishernet.models.sequences.windows import windows, with_end

Counts = npt.NDArray[np.float64]


def markov_chain(
    sequences: Iterable[Sequence[Hashable]],
    *,
    order: int,
    alphabet: Iterable[Hashable] | Alphabet | None = None,
    smoothing: float = 1.0,
    end: bool = False,
) -> MarkovChain:
    """Fit a Markov chain by counts.

    Parameters
    ----------
    sequences : iterable of strings
        Each a str or a sequence of symbols.
    order : int
        The length of a context, from 0.
    alphabet : iterable of symbols, or Alphabet, optional
        The symbols that occur without it, sorted.
    smoothing : float
        Added to the count of every symbol after every context, and of every first context.
    end : bool
        Whether strings stop by an end symbol; its probability after a context is fitted too.

    Returns
    -------
    MarkovChain
        Its `start` is the smoothed share of each context among the strings' first `order` symbols.

    Raises
    ------
    SchemaError, UnknownStateError
        When the order is none, or a symbol is not in the alphabet.
    StateSpaceError
        When the table would have more than 2**28 cells.
    ZeroProbabilityError
        When nothing is added and a context never occurs.

    Examples
    --------
    >>> import fishernet as fn
    >>> chain = fn.learn.markov_chain(["aab", "aba"], order=1, smoothing=0)
    >>> chain.transition.round(3)
    array([[0.333, 0.667],
           [1.   , 0.   ]])
    """
    if isinstance(smoothing, bool) or not isinstance(smoothing, int | float | np.number) or not 0 <= smoothing < np.inf:
        raise FishernetError(f"smoothing must be a number from 0 on, got {smoothing!r}")
    strings = sequences if isinstance(sequences, str) else list(sequences)
    if alphabet is None:
        alphabet = Alphabet.seen(strings)
    elif not isinstance(alphabet, Alphabet):
        alphabet = Alphabet(alphabet)
    shape = table_shape(len(alphabet), order, end)
    encoded = alphabet.encode(strings)
    _, cells = windows(with_end(encoded, len(alphabet)) if end else encoded, shape)
    weights = _counted(cells, shape) + float(smoothing)
    sums = weights.sum(axis=-1, keepdims=True)
    if not sums.all():
        raise _unseen(alphabet, sums)
    first = _counted(_first_contexts(encoded, shape[:-1]), shape[:-1]) + float(smoothing)
    start = first / first.sum() if first.sum() > 0 else None
    return MarkovChain(alphabet, order, weights / sums, end=end, start=start)


def _counted(numbers: npt.NDArray[np.int64], shape: tuple[int, ...]) -> Counts:
    n_cells = int(np.prod(shape, dtype=np.int64))
    return np.bincount(numbers, minlength=n_cells).astype(np.float64).reshape(shape)


def _first_contexts(encoded: Strings, shape: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Return the first context of each string that has one."""
    firsts = encoded.offsets[:-1][encoded.lengths >= len(shape)]
    numbers = np.zeros(len(firsts), np.int64)
    for place, base in enumerate(shape):
        numbers = numbers * base + encoded.codes[firsts + place]
    return numbers


def _unseen(alphabet: Alphabet, sums: Counts) -> ZeroProbabilityError:
    never = np.argwhere(sums[..., 0] == 0)
    context = alphabet.string(never[0].tolist())
    return ZeroProbabilityError(
        f"{len(never)} contexts never occur before a symbol, the first is {context!r}; use smoothing > 0 or a lower "
        "order",
        variable="the next symbol",
        configuration=dict(zip(map(str, range(len(context))), context, strict=True)),
    )
