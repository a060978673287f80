"""Gaussian Markov networks by fractional marginal pseudo-likelihood: the experiments of P4, section 3.1.6.

``python -m studies.fmpl`` learns networks of 64 to 1,024 variables by FMPL's three graphs and by methods with an L1
penalty, tells how many edges each has wrong and how long it took, and predicts every column from the others.
"""
