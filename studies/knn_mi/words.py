"""The report's sentences that do not depend on what was found."""

from __future__ import annotations

TITLE = "# Markov networks by nearest neighbours: the experiments of P4, section 3.2.4"

SET_UP = (
    "P4 is Leppä-aho, *Methods for learning directed and undirected graphical models*; its section 3.2.4 summarises "
    "the experiments of Leppä-aho, Räisänen, Yang and Roos, *Learning non-parametric Markov networks with mutual "
    'information*, PGM 2018, as figures without numbers. **knnMI** is our `fn.learn.markov_graph(test="knn-mi")`: '
    "IAMB, AND, k = {k}, {permutations} simple permutations, level {alpha}, and P4's rule that skips permutations "
    "where Fisher's z accepts and the estimate is below {skip} nats. **fisherZ**, **KCIT** and **RCIT** go with the "
    "same search; their candidates are ordered by p-value. **NPN_glasso** and **NPN_mb** are the graphical lasso "
    "(extended BIC, gamma 0.5, over ten penalties down to a tenth, as in the R package huge) and neighbourhood "
    "selection (AND) after the nonparanormal transformation. The graphical lasso and the lasso are scikit-learn's, "
    "KCIT and RCIT causal-learn's (its widths; KCIT by the gamma approximation, RCIT with {features} random features "
    "of what is given). The distance is Hamming's: edges to add plus edges to delete; ± is the standard error of a "
    "mean. Seconds are the processor's, all threads together. A "
    "dash is what was not run: KCIT takes time that grows with the cube of the number of rows, and was given fewer "
    "data sets and fewer rows, as the tables say (in brackets). They are the first ones of those of the other methods."
)

CHOICES = (
    "P4 does not print the network's edges and functions, nor how the copies of the larger one are joined: they are "
    "chosen here, so that only the order of the methods can be compared with P4, not the distances."
)

SMALL = (
    "## Seven nodes, eight edges (Fig. 3.3)\n\n"
    "The parents of the nodes 0 to 6 are -, 0, 01, 2, 23, 4, 4: chordal. Linear: coefficients between 0.7 and 0.9 in "
    "absolute value; non-linear: cosine, absolute value, sine, logarithm and a quotient of squares. The noise of every "
    "node is standard normal, uniform between -1 and 1, or t with two degrees of freedom. {repetitions} data sets a "
    "cell; where there are fewer, their number stands in brackets."
)

LARGE = (
    "## Twenty-one nodes\n\n"
    "Three unconnected copies of the seven, non-linear: 24 edges. {repetitions} data set(s) a cell."
)

NONPARANORMAL = (
    "## Nonparanormal networks\n\n"
    "A random graph a data set, of ten or twenty nodes with two neighbours each in the mean; the precision is drawn "
    "from the G-Wishart distribution of the graph with three degrees of freedom, so that some edges are too weak to be "
    "seen. Every column is put through sign(x) |x|^3. {repetitions} data set(s) a cell."
)

SCHEMES = (
    "## Simple and local permutations\n\n"
    "The share of tests that reject at the level {alpha}, {tests} tests a cell, {permutations} permutations, on the "
    "same data under both schemes; local permutations take y of one of the {k_perm} rows nearest in z. Under "
    "independence the share should be {nominal:.3f}, the largest p-value of so many permutations that rejects. Where "
    "nothing is given there is only the simple scheme, which is exact: rows are then exchangeable. Noise is standard "
    "normal."
)
LOCAL_LEARNING = (
    "Learning with either scheme, the seven nodes again (mean distance over the six kinds of data; where nothing is "
    "given, local is simple):"
)

PROTEINS = (
    "## Proteins\n\n"
    "Sachs et al. (Science 2005): intensities of {columns} proteins of a signalling pathway in {rows} cells under one "
    "condition, in logarithms (`sachs-observational`). Up to {tied:.0%} of a column's rows share their value with "
    "another row, for intensities have three digits; ties are counted as the formula says. What is found is held "
    "against {arcs} arcs that biologists agree on (the compilation's list), without directions ({skeleton} pairs), and "
    "with those joined that act on a third protein together ({moral} pairs), as the undirected graph of such a network "
    "has it. The list is no truth: such cells do not show all of it, and dependence by other ways is not in it."
)
WITHOUT_DATA = "`--data FOLDER` was not given, or its `bio/` lacks the cells: the proteins are left out."
