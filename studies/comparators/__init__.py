"""What the studies of undirected graphs compare with, through libraries that others keep; for studies only.

Every comparator says with ``available()`` whether it can run here and with ``missing()`` what it lacks: scikit-learn
for the methods with an L1 penalty, causal-learn for the kernel tests, R with its package space for SPACE.

`graphical_lasso`, `lasso_neighbourhoods` and `space` go from columns to an undirected graph, `nonparanormal` from
columns to columns, and `Kcit` and `Rcit` are tests for `fishernet.learn.markov_graph`.
"""

from studies.comparators.glasso import graphical_lasso
from studies.comparators.kernel_tests import Kcit, Rcit
from studies.comparators.neighbourhoods import lasso_neighbourhoods
from studies.comparators.nonparanormal import nonparanormal
from studies.comparators.partial_correlations import space

__all__ = ["Kcit", "Rcit", "graphical_lasso", "lasso_neighbourhoods", "nonparanormal", "space"]
