"""What the report says of how things were done."""

from __future__ import annotations

HEAD = """# Sequences and profiles: kernels of generative models in a support vector machine

Computed by `{how}` on {cores} core(s). Every kernel is made a cosine, k(x, y) / sqrt(k(x, x) k(y, y)), and goes into \
`SVC(kernel="precomputed")`. The cost C (of {costs}) and, where a method has settings, its setting are chosen by \
{inner} folds within the training rows; what is reported was not looked at for it. ± is the standard error over the \
outer folds or seeds as if they were independent; folds share training rows, so theirs is too small. Models that are \
learned are learned of training rows alone, without their classes.

*Tempered* is the cosine to the power that makes the mean of its logarithms over pairs -1, just as the edit distance \
is used as exp(-d / mean d). Probabilities of pairs of long strings fall off so fast that the matrix of cosines is \
nearly the identity (smallest eigenvalue 1), of which a support vector machine learns little. A power of a kernel \
need not be a kernel, nor need the edit distance's: the smallest eigenvalue of the last matrix used is in the tables, \
below zero where it is none. The means are over all pairs, those of test rows included, which needs no classes."""

ANCESTORS = """## Toy: mutants of four ancestors

Four random DNA strings of length 40, 25 mutants each: letters are substituted at the rate, inserted and deleted each \
at a quarter of it (EXPERIMENTS' 0.1 and 0.05 are the first row). Five folds the other way round, {n} strings to train \
on and the rest to test; {seeds} seeds. The pair HMM is `pair_hmm_dna(divergence=0.8)`."""

TREES = """## Toy: genes gained once in a tree

A random binary tree of 24 leaves a seed. A gene of the one class was gained at a random inner node of the larger \
clade below the root, and each leaf flipped with probability 0.05; in the other class each leaf's column of such \
profiles is permuted among the genes, so that every leaf alone is as before. {training} profiles to train on, {test} \
to test, half of each class; {seeds} seeds. Tree kernel: birth and death 0.1 a branch, on the true tree."""

WINDOWS = """## Promoters and splice junctions

{folds} stratified folds, the same for all methods. Repeated windows are left out, and of more than {rows} a seeded \
sample is taken. Pair HMM: `pair_hmm_dna`, divergence chosen; HMM Fisher: Baum-Welch of the training strings, number \
of states chosen, no metric (`"practical"`); Markov Fisher: order chosen, likewise. All windows are cut at the same \
place of the signal. Alignments of whole windows (pair HMM, edit distance) profit from it, the others know nothing of \
it: *equal positions*, the share of positions with the same letter, shows what it is worth. Windows of one class \
that overlap (cut out of one long string) favour kernels of \
substrings: such pairs are in training and test."""

GLOBINS = """## Globins

{n} globins ({counts}) against {shuffled} shuffles of them (of the same letters and lengths) and, apart from these, \
{others} fibronectin type III domains, which are shorter and hence easy. Each family is tested in turn: the profile \
HMM is made of the rows of the alignment of four globins that are not of it, the machine trained on the other families \
and half of the negatives, and tested on the family and the other half. Area under the ROC curve; the log-odds are \
against the letters' shares in the alignment. Fisher scores are those of emissions. The pseudo-count is that of the \
profile's moves (`transition_smoothing`): 1 is the default, which three rows are few for; no fold chose between them."""

APART = """The three families told apart by an SVM, seven folds; the profile is of all four rows."""

PROFILES = """## Phylogenetic profiles

{genes} genes of two pathways, {first} of AMPK and {second} of mTOR, in {species} species; two genes without a pathway \
in their name repeat others and are left out. {repetitions} time(s) {folds} folds, which share rows, so that the \
errors are too small. There is no tree of the species with the data: the tree is that of average linkage of the \
columns by the genes in which they differ, without the classes. Birth and death a branch are chosen. The pathways are \
no phylogenetic classes as the functional classes of Vert's yeast genes are, which are not public here."""
