"""Ready models for the pair HMM kernel: two strings as descendants of one ancestor (P3, example 12.12).

A *match* state is a symbol of the ancestor, drawn from the background; each string gets a symbol that evolved from it
for half of the time between the two. In the one *gap* state there is no ancestor: each string, independently, has a
symbol of the background with probability `gap_symbol` and otherwise none, so that most visits give nothing or a symbol
to one string, which is an insertion there or a deletion in the other. (Given the state, what the strings get is
independent: a state that inserts into the first string only would not give a kernel.) After every state both strings
may stop.

The model is made so that, of what can be *seen* (columns of an alignment with a symbol in some string), a match is
followed by a gap with probability `gap_open` and a gap by a gap with probability `gap_extend`, unless the strings stop.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
import numpy.typing as npt

from fishernet.errors import SchemaError
from fishernet.models.sequences.alphabet import Alphabet
from fishernet.models.sequences.checks import Numbers
from fishernet.models.sequences.hidden_markov_model import HiddenMarkovModel
from fishernet.models.sequences.ready.blosum import AMINO_ACIDS, blosum_joint
from fishernet.models.sequences.ready.substitutions import after, exchange_of, half_way

DNA = "ACGT"
PURINES = "AG"


def pair_hmm_from_substitutions(
    joint: npt.ArrayLike,
    alphabet: Iterable[Hashable] | Alphabet | None = None,
    *,
    gap_open: float = 0.05,
    gap_extend: float = 0.5,
    gap_symbol: float = 0.1,
    stop: float = 0.003,
) -> HiddenMarkovModel:
    """Return a model of two strings that descend from one, from a table of substitutions.

    Its states are the symbols of the ancestor, in the order of the alphabet, and the gap.

    Parameters
    ----------
    joint : (n, n) array
        P(one string has i, the other j) in a column; symmetric, positive semidefinite.
    alphabet : iterable of symbols, or Alphabet, optional
        0, 1, ... without it.
    gap_open, gap_extend : float
        The probability of a gap after a match, and after a gap, in what can be seen.
    gap_symbol : float
        The probability that a string has a symbol in the gap state, above 0. The smaller, the rarer are columns of two
        unrelated symbols.
    stop : float
        The probability that the strings end after a state, above 0.

    Raises
    ------
    SchemaError
        When the table is no symmetric distribution, is not positive semidefinite, or has a square root with negative
        entries; when a probability is out of range.

    References
    ----------
    .. [1] P3, 12.1.5 and example 12.12.

    Examples
    --------
    >>> import fishernet as fn
    >>> model = fn.models.pair_hmm_from_substitutions([[0.4, 0.1], [0.1, 0.4]], "RY")
    >>> cosine = fn.kernels.Normalized(fn.kernels.PairHmmKernel(model))
    >>> k = cosine(["RRYYR", "RRYR", "YYRRY"])
    >>> bool(k[0, 1] > k[0, 2])
    True
    """
    frequencies, half = half_way(joint)
    symbols = range(len(frequencies)) if alphabet is None else alphabet
    return _with_gaps(frequencies, half, symbols, (gap_open, gap_extend, gap_symbol, stop))


def pair_hmm_dna(
    *,
    divergence: float = 0.4,
    kappa: float = 2.0,
    frequencies: npt.ArrayLike = (0.25, 0.25, 0.25, 0.25),
    gap_open: float = 0.05,
    gap_extend: float = 0.5,
    gap_symbol: float = 0.1,
    stop: float = 0.003,
    unknown: str | None = None,
) -> HiddenMarkovModel:
    """Return a model of two DNA strings that descend from one, with the substitutions of Hasegawa, Kishino and Yano.

    Parameters
    ----------
    divergence : float
        Substitutions a position between the two strings, in the mean.
    kappa : float
        How much faster transitions (A and G, C and T) are than transversions; 1 with equal frequencies is Jukes and
        Cantor's process.
    frequencies : (4,) array
        Of A, C, G and T.
    gap_open, gap_extend, gap_symbol, stop : float
        See `pair_hmm_from_substitutions`.
    unknown : str, optional
        What other letters are taken for; without it they are an error.

    Raises
    ------
    SchemaError
        When a number is out of range.

    References
    ----------
    .. [1] Hasegawa, Kishino and Yano (1985), Dating of the human-ape splitting by a molecular clock of mitochondrial
       DNA, J Mol Evol 22, 160.

    Examples
    --------
    >>> import fishernet as fn
    >>> cosine = fn.kernels.Normalized(fn.kernels.PairHmmKernel(fn.models.pair_hmm_dna()))
    >>> k = cosine(["AACGTACTGACTA", "CGTAGAATA", "GGGTTTCCC"])
    >>> bool(k[0, 1] > k[0, 2])
    True
    """
    if not np.isfinite(kappa) or kappa <= 0:
        raise SchemaError(f"kappa must be finite and positive, got {kappa!r}")
    alike = np.array([[(a in PURINES) == (b in PURINES) for b in DNA] for a in DNA])
    p, half = after(np.where(alike, kappa, 1.0), frequencies, divergence / 2)
    return _with_gaps(p, half, Alphabet(DNA, unknown=unknown), (gap_open, gap_extend, gap_symbol, stop))


def pair_hmm_protein(
    *,
    divergence: float | None = None,
    gap_open: float = 0.02,
    gap_extend: float = 0.7,
    gap_symbol: float = 0.1,
    stop: float = 0.003,
    unknown: str | None = None,
) -> HiddenMarkovModel:
    """Return a model of two proteins that descend from one, with the substitutions behind BLOSUM62.

    Parameters
    ----------
    divergence : float, optional
        Substitutions a position between the two strings, in the mean; without it that of BLOSUM62, about 1.4. Then the
        process whose rates BLOSUM62 has runs longer or shorter (its two smallest rates, negative because scores are
        rounded, are taken for 0).
    gap_open, gap_extend, gap_symbol, stop : float
        See `pair_hmm_from_substitutions`.
    unknown : str, optional
        What letters beside the 20 amino acids are taken for; without it they are an error.

    Raises
    ------
    SchemaError
        When a number is out of range.

    References
    ----------
    .. [1] Henikoff and Henikoff (1992), Amino acid substitution matrices from protein blocks, PNAS 89, 10915.

    Examples
    --------
    >>> import fishernet as fn
    >>> cosine = fn.kernels.Normalized(fn.kernels.PairHmmKernel(fn.models.pair_hmm_protein()))
    >>> k = cosine(["HEAGAWGHEE", "PAWHEAE", "MKLVVLCSST"])
    >>> bool(k[0, 1] > k[0, 2])
    True
    """
    joint = blosum_joint()
    if divergence is None:
        frequencies, half = half_way(joint)
    else:
        frequencies, half = after(*exchange_of(joint), divergence / 2)
    return _with_gaps(
        frequencies, half, Alphabet(AMINO_ACIDS, unknown=unknown), (gap_open, gap_extend, gap_symbol, stop)
    )


def _with_gaps(
    frequencies: Numbers,
    half: Numbers,
    alphabet: Iterable[Hashable] | Alphabet,
    gaps: tuple[float, float, float, float],
) -> HiddenMarkovModel:
    """Return the model of matches and gaps."""
    n = len(frequencies)
    to_gap, gap_to_gap, going_on = _moves_to_gap(*gaps)
    gap_symbol, stop = gaps[2], gaps[3]
    rows = [[*(going_on - gap) * frequencies, gap] for gap in (to_gap, gap_to_gap)]
    emission = np.zeros((n + 1, n + 1))
    emission[:n, :n] = half
    emission[n] = [*gap_symbol * frequencies, 1 - gap_symbol]
    return HiddenMarkovModel(
        rows[0],
        [rows[0]] * n + [rows[1]],
        emission,
        alphabet=alphabet,
        final=np.full(n + 1, stop),
        empty=True,
    )


def _moves_to_gap(gap_open: float, gap_extend: float, gap_symbol: float, stop: float) -> tuple[float, float, float]:
    """Return P(gap | match), P(gap | gap) and P(going on), of visits, from what can be seen.

    With q the probability that a visit of the gap is not seen, a move g from gap to gap is seen as
    ``g (1 - q) / (1 - g q)``.
    """
    named = {"gap_open": gap_open, "gap_extend": gap_extend, "gap_symbol": gap_symbol, "stop": stop}
    for name, value in named.items():
        least = name.startswith("gap_") and name != "gap_symbol"
        if not (0 <= value < 1 if least else 0 < value < 1):
            raise SchemaError(f"{name} must be {'from 0 to' if least else 'above 0 and'} below 1, got {value!r}")
    going_on = 1 - stop
    unseen = (1 - gap_symbol) ** 2
    open_seen, extend_seen = gap_open * going_on, gap_extend * going_on
    seen_next = 1 - unseen + unseen * extend_seen
    moves = open_seen / seen_next, extend_seen / seen_next
    if max(moves) > going_on:
        name = "gap_open" if moves[0] > moves[1] else "gap_extend"
        raise SchemaError(
            f"{name}={named[name]:g} cannot be had with gap_symbol={gap_symbol:g}, stop={stop:g} and "
            f"gap_extend={gap_extend:g}: visits of the gap that are not seen would have to be more than all; take a "
            "larger gap_symbol"
        )
    return *moves, going_on
