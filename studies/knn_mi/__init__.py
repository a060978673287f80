"""Markov networks by mutual information from nearest neighbours: the experiments of P4, section 3.2.4.

``python -m studies.knn_mi`` learns networks with linear and with non-linear dependence by six methods, tells how many
edges each has wrong, and how often the permutation test errs under either scheme.
"""
