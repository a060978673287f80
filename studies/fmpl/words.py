"""The report's sentences that do not depend on what was found."""

from __future__ import annotations

TITLE = "# Gaussian Markov networks by FMPL: the experiments of P4, section 3.1.6"

SET_UP = (
    "P4 is Leppä-aho, *Methods for learning directed and undirected graphical models*; its section 3.1.6 summarises "
    "the experiments of Leppä-aho, Pensar, Roos and Corander, *Learning Gaussian graphical models with fractional "
    "marginal pseudo-likelihood*, IJAR 2017, as figures without numbers. **AND**, **OR** and **HC** are the three "
    "graphs of our `fn.learn.gaussian_graph`, with its prior on the sizes of Markov blankets (Beta(1/2, 1/2) on the "
    "probability of an edge, among d - 1); **no prior** is without. **glasso** is the graphical lasso of "
    "scikit-learn, its penalty the one of ten, down to a tenth, with the smallest extended BIC (gamma 0.5); **NBS** "
    "neighbourhood selection by scikit-learn's lasso (alpha 0.05, AND); **SPACE** is R's package. The distance is "
    "Hamming's: edges to add plus edges to delete; ± is the standard error of a mean. Seconds are the processor's, "
    "all threads together. A dash is what was not run: the number of data sets behind a cell, where it is not that "
    "of the section, stands in brackets."
)

CHOICES = (
    "The network of 64 variables is a grid of four by four, four cliques of four, a circle of sixteen and two stars "
    "of eight: 78 edges, as many as P4's; larger ones are unconnected copies, up to 1,024 variables and 1,248 edges. "
    "P4 does not print its graph. Every data set has a precision of its own, drawn from the G-Wishart distribution "
    "of the graph (3 degrees of freedom, identity scale)."
)

RECOVERY = "## {variables} variables, {edges} edges\n\n{data_sets} data sets a cell."
FIGURE_1 = "![Hamming distance by the number of rows: AND and the methods with an L1 penalty]({path})"
FIGURE_2 = "![Hamming distance by the number of rows: AND, OR and HC]({path})"

FIGURES = (
    "## Figures 3.1 and 3.2\n\nMean distances; bars are standard errors. The first is AND beside the methods with an "
    "L1 penalty, the second the three graphs of FMPL."
)

TIMES = (
    "## Seconds a graph\n\nAt {n:,} rows; the sums of products are made anew for every graph. P4 has half a second "
    "for 64 variables and a couple of minutes for 1,024."
)

PREDICTION = (
    "## Prediction\n\nEvery column is predicted from its neighbours in a learned graph by least squares, half of the "
    "rows for learning and half for the test; mean squared errors over all columns, in units of the training "
    "variance, and edges in brackets; {splits} splits. The data of P4 are not said: these are drawn ones ({rows} "
    "rows of the network of 64 variables), and two tables that scikit-learn carries, without columns that hardly "
    "vary or that others make up."
)

PUBLISHED = (
    "## The authors' program\n\nPrecision and recall that the authors' own program found on data that a seed makes "
    "again (PROBIC/l1-inconsistency: two inputs, ten outputs, 100 rows, thirteen sizes of noise), without the prior. "
    "Ours are the same, to the sixth digit, on"
)
WITHOUT_DATA = "`--data FOLDER` was not given, or lacks `reference/fmpl-n100.json`: the authors' figures are left out."
