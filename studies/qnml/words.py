"""The report's sentences that do not depend on what was found."""

from __future__ import annotations

TITLE = "# qNML: the experiments of P4, section 4.2.3"

SET_UP = (
    "P4 is Leppä-aho, *Methods for learning directed and undirected graphical models*; its section 4.2.3 summarises "
    "the experiments of Silander, Leppä-aho, Jääsaari and Roos, *Quotient normalized maximum likelihood criterion for "
    "learning Bayesian network structures*, AISTATS 2018, which is meant by *published*. Four scores are compared: "
    "BDeu with equivalent sample size 1, BIC, fNML (its sum over the configurations of parents that occur) and qNML "
    "(regrets of the full products of the numbers of states). Every network is the best one, by exact search "
    '(`search="{search}"`). Natural logarithms throughout. Published figures stand in brackets; ± is the standard '
    "error of ours. The published curves were read off the vector figures of the paper's source, its tables are as "
    "printed. Regrets here are exact; the authors' program takes the Szpankowski-Weinberger approximation for the "
    "larger ones, which moves scores by less than a tenth of a nat."
)

WITHOUT_DATA = (
    "`--data FOLDER` was not given: of the networks only Asia comes with the library, of the tables none that the "
    "paper has; nursery stands in, for which nothing is published."
)

STRUCTURE = (
    "## Structure recovery\n\n"
    "{repetitions} data sets of each size are drawn from each network, all independent; the structural Hamming "
    "distance is that between the completed partially directed graphs. P4 speaks of seven networks and sizes up to "
    "10^3, the paper's source of five and up to 10^4, and so do the curves; the study follows these. A variable has "
    "all the states that its network declares, seen or not.\n\n"
    "On few rows networks that are not equivalent often have the same score: columns may be equal, or constant. Here "
    "the columns are put in random order, so that such ties do not favour the order of the true network, and between "
    "equal scores fewer parents are taken. What the published runs (1,000 data sets) did is not known. It matters most "
    "for fNML: a parent that is constant in the data changes neither its likelihood nor its penalty, whereas BIC and "
    "qNML count its declared states."
)

RANKS = (
    "### Average rank by the number of rows\n\n"
    "The smallest distance has rank 1, the next larger one 2 and so on, equal distances the same rank; means over "
    "networks and data sets. The published averages are near these, and not near those of ranks that leave places out "
    "after a tie or share them, whose sums are larger."
)

DISTANCES = "### Mean distance"

TIES = (
    "### Ties\n\n"
    "{network}, {data_sets} data sets of each size: the least, the mean and the largest distance over all orders of "
    "the columns, by which ties are broken; means over the data sets. Distances in between are a matter of the search, "
    "not of the scores."
)

PREDICTION = (
    "## Prediction\n\n"
    "The rows of a table are permuted, the first 10, ..., 90 % trained on and the mean -log P of the others measured. "
    "Parameters are BDeu's own, (N_ijk + 1 / (r q)) normalized, for its networks, and sequential NML's for the others. "
    "Numbers are put into three bins of equal width (fewer where there are fewer numbers), the class stays as it is, "
    "rows with a missing cell are left out. Two tables are otherwise, since only so can -log P be what is published: "
    "the states of balance-scale are five a column, not three, and the class of abalone, a number of rings, is cut "
    "into bins. Adult is the part of it that is for training, by the same reasoning. The paper does not say what it "
    "did with missing cells; in breast-cancer and adult its -log P is mostly between ours and that with a state of "
    "their own, as it would be if only the cells were left out. Glass and breast-w lack a column here, the number of "
    "the row and of the patient, which the paper's have. Ranks are over shares and permutations; ties share the mean "
    "of their ranks, since the printed ranks of a row sum to 10, as they would not if ties had the lower one."
)

LEFT_OUT = "Of the paper's twenty tables these are not there: {names}."

PARAMETERS = (
    "## Parsimony\n\n"
    "The mean number of free parameters, sum of q (r - 1), of the networks learned from the smallest share. The text "
    "says 10 % of the rows; the numbers of rows in the printed table are 20 % for some tables, and those are followed. "
    "Networks of thousands of parameters are matters of ties, too: to BDeu with ess = 1 all sets of parents are the "
    "same, log r a row, that have a configuration of their own for each row, and the smallest of them are taken here."
)

ESS = (
    "## BDeu by its equivalent sample size\n\n"
    "The best network for the same {rows:,} rows of Asia (8 arcs, 18 parameters), for every equivalent sample size; "
    "the other scores have no setting. P4, section 4.1.1, cites that anything from an empty to a full graph may come "
    "of it."
)

PENALTY = (
    "## The penalty of qNML and that of exact NML\n\n"
    "Binary variables. The exact penalty is the logarithm of the sum of the maximized likelihood over all data sets of "
    "so many rows (Eq. 4.3), by enumeration of the vectors of counts. qNML's is the same where the graph is a union of "
    "unconnected tournaments (P4, section 4.2.2). fNML's depends on the data: the mean, weighted by the graph's own "
    "NML distribution, and the range."
)

DIFFERENCES = (
    "On the two graphs that are no unions of tournaments, the sum over a child is known in closed form, and more rows "
    "can be summed over: what each penalty is above the exact one, in nats."
)
