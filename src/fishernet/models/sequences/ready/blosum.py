"""Substitutions of amino acids, from the BLOSUM62 scores."""

from __future__ import annotations

import numpy as np

from fishernet.models.sequences.checks import Numbers

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
