"""The report's sentences that do not depend on what was found."""

from __future__ import annotations

TITLE = "# Dependency networks: the experiments of P2"

SET_UP = (
    "P2 is Takabatake and Akaho, *Reconsidering dependency networks from an information geometry perspective*. DN "
    "is the dependency network: Algorithm 6 with MDL, Algorithm 5 (zero counts become one), random scan, burn-in "
    "and thinning of n firings. BN is the Bayesian network: Algorithm 7 with MDL, parameters by Eq. 25 (plain "
    "frequencies), or by Algorithm 5 where a configuration of parents never occurs. Sets S have 1,000 and sets L "
    "100,000 rows, drawn exactly and with fixed seeds. Ising5x5 is p(x) in proportion to exp(J sum s_i s_j) over "
    "the edges of the grid, free boundary, s = 2x - 1, J = {coupling}; P2 does not print J. Natural logarithms "
    "throughout."
)

BN_IS_HERE = (
    "BN20-37 is a stand-in: P2 shows its network in a figure only. Ours has 20 nodes, 37 edges, the inputs that P2 "
    "prints for X0 in set L as its Markov blanket, and entropies of X0 near the printed ones; its other figures need "
    "not agree with P2's."
)

BN_IS_LEFT_OUT = (
    "BN20-37 is left out: `--data FOLDER`, which should hold `reference/bn20-37.json`, was not given or lacks it."
)

TABLE_4 = (
    "### Table 4: evaluations and time\n\n"
    "Evaluations of the dependency network are n + (n - 1) per iteration of a node (P2 counts the first, empty "
    "set too). Those of the Bayesian network are acyclic graphs, the empty one included; P2's rule is not known "
    "(it may count reversals and cyclic candidates otherwise). Distinct local scores are what the library "
    "computes for it. Times hold structure and parameters, the median of three; CPU time adds up the cores."
)

SIZES = (
    "## Accuracy by the size of the training set (not in P2)\n\n"
    "Means over three training sets. *KL of output*: 100,000 rows, whose own noise is most of it; *exact KL*: of "
    "the stationary distribution, and of the Bayesian network itself, to the truth, without noise. Successive "
    "output rows of a dependency network depend on one another, so that its output may stay above rows drawn "
    "independently however well it learned."
)

THEOREM_3 = (
    "## Where the sampler ends, and Theorem 3 (not in P2)\n\n"
    "The stationary distribution pi of the random scan, computed and not sampled (asked for to 1e-8 in total "
    "variation, and to 1e-6 or 1e-4 where that was not reached). Theorem 3: FC(p, pi) is at most the mean of "
    "KL(p, E_i), for the truth p\\* and for the training rows alike. Inconsistency is the mean of KL(pi, E_i): 0 "
    "if and only if one joint distribution has all the conditionals."
)

MOVEMENT = (
    "## The ordered scan (Figs. 3 and 4 as numbers)\n\n"
    "Ising2x4 (8 binary variables), from the state of all zeros. *Actual* Gibbs sampling fires the truth's own "
    "conditionals, whose manifolds meet in one point: KL(pt, centre) {falls}. *Pseudo*: conditionals learned from "
    "{rows} rows. The distribution does not come to rest but goes around a cycle pi_0, ..., pi_7 (pi_i: before "
    "X_i fires), whose average is the centre (Eq. 7). TV is total variation."
)

CLAMPING = (
    "## Conditioning and clamping (P2, 2.4.1)\n\n"
    "Every piece of evidence on one or two variables of Ising2x4, means weighted by its probability. "
    "*Conditioned*: the free stationary distribution given the evidence; *clamped*: the stationary distribution "
    "with the evidence held fixed. They agree where a joint distribution exists; a learned network has none, and "
    "the gap closes with more training rows."
)

TREES = (
    "## Trees against direct inputs (P2, section 6; not in its experiments)\n\n"
    "A conditional may share its rows among configurations: a decision tree, grown and pruned by the same score, has a "
    "row a leaf. Both are learned from the same rows."
)

TREES_OF_LETTER = (
    "On a real table, letter in four bins a column, learned from one half: with trees a conditional can ask many "
    "variables, each only where it matters."
)

LEARNING_TIME = (
    "## Learning time (not in P2)\n\n"
    "Structure and parameters from {rows:,} rows of random binary Bayesian networks, in which every variable has two "
    "parents among the twenty before it. Algorithm 6 looks at n - 1 changes for every input that a variable gets, so "
    "time should grow as n^2 times the inputs of a variable. Elapsed time, the fastest of three calls (calls of 10 s "
    "and more: the only one); memory is the peak of a process of its own, all included. Candidates are counted as in "
    "Table 4, where that does not take minutes."
)
