"""Ready models for the pair HMM kernel: two strings as descendants of one ancestor.

A *match* state is a symbol of the ancestor, drawn from the background; each string gets a symbol that evolved from it
for half of the time between the two. In the one *gap* state there is no ancestor: each string, independently, has a
symbol of the background with probability `gap_symbol` and otherwise none, so that most visits give nothing or a symbol
to one string, which is an insertion there or a deletion in the other. (Given the state, what the strings get is
independent: a state that inserts into the first string only would not give a kernel.) After every state both strings
may stop.

The model is made so that, of what can be *seen* (columns of an alignment with a symbol in some string), a match is
followed by a gap with probability `gap_open` and a gap by a gap with probability `gap_extend`, unless the strings stop.

Substitutions are those of a reversible process, of which each string has half: for amino acids from the BLOSUM62
scores.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import shown
from fishernet.models.sequences.alphabet import NAMED, ROUNDING, Alphabet, Numbers, checked_numbers, checked_rows
from fishernet.models.sequences.hidden_markov_model import HiddenMarkovModel

AMINO_ACIDS = "ARNDCQEGHILKMFPSTWYV"

# Log-odds in half bits, below the diagonal and on it [1]_.
BLOSUM62 = """
 4
-1  5
-2  0  6
-2 -2  1  6
 0 -3 -3 -3  9
-1  1  0  0 -3  5
-1  0  0  2 -4  2  5
 0 -2  0 -1 -3 -2 -2  6
-2  0  1 -1 -3  0  0 -2  8
-1 -3 -3 -3 -1 -3 -3 -4 -3  4
-1 -2 -3 -4 -1 -2 -3 -4 -3  2  4
-1  2  0 -1 -3  1  1 -2 -1 -3 -2  5
-1 -1 -2 -3 -1  0 -2 -3 -2  1  2 -1  5
-2 -3 -3 -3 -2 -3 -3 -3 -1  0  0 -3  0  6
-1 -2 -2 -1 -3 -1 -1 -2 -2 -3 -3 -1 -2 -4  7
 1 -1  1  0 -1  0  0  0 -1 -2 -2  0 -1 -2 -1  4
 0 -1  0 -1 -1 -1 -1 -2 -2 -1 -1 -1 -1 -2 -1  1  5
-3 -3 -4 -4 -2 -2 -3 -2 -2 -3 -2 -3 -1  1 -4 -3 -2 11
-2 -2 -2 -3 -2 -1 -2 -3  2 -1 -1 -2 -1  3 -3 -2 -2  2  7
 0 -3 -3 -3 -1 -2 -2 -3 -3  3  1 -2  1 -1 -2 -2  0 -3 -1  4
"""

# Frequencies of the amino acids in proteins, in the order of AMINO_ACIDS [2]_.
FREQUENCIES = """
.07805 .05129 .04487 .05364 .01925 .04264 .06295 .07377 .02199 .05142
.09019 .05744 .02243 .03856 .05203 .07120 .05841 .01330 .03216 .06441
"""


def blosum_joint() -> Numbers:
    """Return P(one string has i, the other j) behind the BLOSUM62 scores, (20, 20).

    The scores are ``log(q_ij / (p_i p_j)) / scale`` for frequencies p; the scale is the one with which q sums to 1
    [3]_. The sums of the rows of q are then close to p, and not equal, for the scores are rounded.

    References
    ----------
    .. [1] Henikoff and Henikoff (1992), Amino acid substitution matrices from protein blocks, PNAS 89, 10915.
    .. [2] Robinson and Robinson (1991), Distribution of glutamine and asparagine residues, PNAS 88, 8880.
    .. [3] Karlin and Altschul (1990), Methods for assessing the statistical significance of molecular sequence
       features, PNAS 87, 2264.
    """
    lower = [np.array(line.split(), np.float64) for line in BLOSUM62.split("\n") if line]
    scores = np.zeros((len(AMINO_ACIDS), len(AMINO_ACIDS)))
    for row, values in enumerate(lower):
        scores[row, : row + 1] = scores[: row + 1, row] = values
    p = np.array(FREQUENCIES.split(), np.float64)
    independent = np.outer(p, p) / p.sum() ** 2
    scale = 1.0  # beyond the root of a convex function: Newton's steps fall to it
    for _ in range(30):
        joint = independent * np.exp(scale * scores)
        scale -= float((joint.sum() - 1) / (joint * scores).sum())
    normal: Numbers = joint / joint.sum()
    return normal


NEGATIVE = 1e-9  # what rounding may leave of an eigenvalue or a probability below 0
TOTAL = 1e-6  # how far the sum of a table may be from 1: it may have been printed


def half_way(joint: npt.ArrayLike) -> tuple[Numbers, Numbers]:
    """Return the frequencies of the symbols, and P(symbol | ancestor) half-way between two strings.

    With ``joint[i, j] = p_i P(j | i)`` symmetric, the answer is p and the square root H of P, so that two descendants
    of one ancestor have the joint distribution ``sum_a p_a H[a, i] H[a, j] = joint[i, j]``.
    """
    table = checked_numbers(joint, "joint", (None, None))
    if table.shape[0] != table.shape[1]:
        raise SchemaError(f"joint must be square, got the shape {table.shape}")
    if abs(table.sum() - 1) > TOTAL:
        raise SchemaError(f"joint sums to {table.sum():.12g}, not to 1")
    uneven = np.abs(table - table.T)
    if uneven.max() > ROUNDING:
        i, j = (int(k) for k in np.unravel_index(int(np.argmax(uneven)), table.shape))
        raise SchemaError(
            f"joint is not symmetric: {table[i, j]:.6g} at {(i, j)}, {table[j, i]:.6g} at {(j, i)}; a substitution "
            "process that has no direction in time is needed"
        )
    table = (table + table.T) / (2 * table.sum())
    frequencies = table.sum(axis=1)
    if (frequencies == 0).any():
        raise SchemaError(f"symbol {int(np.argmin(frequencies))} of joint has probability 0; leave it out")
    roots = np.sqrt(frequencies)
    values, vectors = np.linalg.eigh(table / np.outer(roots, roots))
    if values[0] < -NEGATIVE:
        raise SchemaError(
            f"joint is not positive semidefinite (its correlations have the eigenvalue {values[0]:.6g}): no two "
            "strings that were made independently from one ancestor by the same process have it"
        )
    half = _back(vectors * np.sqrt(np.maximum(values, 0)) @ vectors.T, roots)
    if half.min() < -NEGATIVE:
        i, j = (int(k) for k in np.unravel_index(int(np.argmin(half)), half.shape))
        raise SchemaError(
            f"half-way, symbol {j} has the probability {half[i, j]:.6g} given the ancestor {i}: joint belongs to no "
            "process that runs evenly in time; smooth it, or take one of a greater divergence"
        )
    return frequencies, _distributions(half)


def after(exchange: npt.ArrayLike, frequencies: npt.ArrayLike, divergence: float) -> tuple[Numbers, Numbers]:
    """Return the frequencies, and P(symbol | ancestor) after `divergence` substitutions per position, on average.

    The rate from i to j is in proportion to ``exchange[i, j] frequencies[j]``; the exchange rates are symmetric.
    """
    p = checked_rows(frequencies, "frequencies", (len(np.asarray(exchange)),))
    if (p == 0).any():
        raise SchemaError(f"frequencies must be positive, got 0 for symbol {int(np.argmin(p))}")
    check.number(divergence, "divergence", least=0, error=SchemaError)
    rates = np.array(exchange, np.float64) * p
    np.fill_diagonal(rates, 0)
    leaving = rates.sum(axis=1)
    rates -= np.diag(leaving)
    rates /= p @ leaving
    roots = np.sqrt(p)
    symmetric = roots[:, None] * rates / roots
    values, vectors = np.linalg.eigh((symmetric + symmetric.T) / 2)
    return p, _distributions(_back(vectors * np.exp(values * divergence) @ vectors.T, roots))


def exchange_of(joint: Numbers) -> tuple[Numbers, Numbers]:
    """Return the exchange rates and the frequencies of the process behind a symmetric joint distribution.

    Its generator is the logarithm of P(j | i); rates that come out negative, as rounded tables have them, are taken
    for 0.
    """
    frequencies = joint.sum(axis=1)
    roots = np.sqrt(frequencies)
    values, vectors = np.linalg.eigh(joint / np.outer(roots, roots))
    rates = vectors * np.log(values) @ vectors.T / np.outer(roots, roots)
    return np.maximum((rates + rates.T) / 2, 0), frequencies


def _back(symmetric: Numbers, roots: Numbers) -> Numbers:
    matrix: Numbers = symmetric * roots / roots[:, None]
    return matrix


def _distributions(rows: Numbers) -> Numbers:
    """Return rows without what rounding left below 0, summing to 1."""
    positive = np.maximum(rows, 0)
    scaled: Numbers = positive / positive.sum(axis=1, keepdims=True)
    return scaled


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
        Default: 0, 1, ...
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
    .. [1] J. Shawe-Taylor and N. Cristianini, "Kernel methods for pattern analysis", 2004, example 12.12.

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
        Substitutions per position between the two strings, on average.
    kappa : float
        How much faster transitions (A and G, C and T) are than transversions; 1 with equal frequencies is Jukes and
        Cantor's process.
    frequencies : (4,) array
        Of A, C, G and T.
    gap_open, gap_extend, gap_symbol, stop : float
        See `pair_hmm_from_substitutions`.
    unknown : {"error", "skip", "any"} or symbol, optional
        What to do about letters beside those of IUPAC, as for `Alphabet`; by default they are an error.

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
    kappa = check.number(kappa, "kappa", above=0, error=SchemaError)
    divergence = check.number(divergence, "divergence", least=0, error=SchemaError)
    alike = np.array([[(a in PURINES) == (b in PURINES) for b in DNA] for a in DNA])
    p, half = after(np.where(alike, kappa, 1.0), frequencies, divergence / 2)
    return _with_gaps(p, half, Alphabet("dna", unknown=unknown), (gap_open, gap_extend, gap_symbol, stop))


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
        Substitutions per position between the two strings, on average; by default that of BLOSUM62, about 1.4. Then the
        process whose rates BLOSUM62 has runs longer or shorter (its two smallest rates, negative because scores are
        rounded, are taken for 0).
    gap_open, gap_extend, gap_symbol, stop : float
        See `pair_hmm_from_substitutions`.
    unknown : {"error", "skip", "any"} or symbol, optional
        What to do about letters beside those of IUPAC, as for `Alphabet`; by default they are an error.

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
        divergence = check.number(divergence, "divergence", least=0, error=SchemaError)
        frequencies, half = after(*exchange_of(joint), divergence / 2)
    return _with_gaps(
        frequencies,
        half,
        Alphabet(AMINO_ACIDS, unknown=unknown, ambiguous=NAMED["protein"][1], folds=True),
        (gap_open, gap_extend, gap_symbol, stop),
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
        if not check.is_number(value) or not (0 <= value < 1 if least else 0 < value < 1):
            raise SchemaError(
                f"{name} must be {'from 0 to' if least else 'above 0 and'} below 1, got {shown(value)}", parameter=name
            )
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
