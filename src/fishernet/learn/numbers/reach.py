"""Whether what rows lack of labels and numbers can be summed out exactly.

Missing numbers that depend on one another have a regression in each joint state of the missing labels above any of
them: a row that lacks a dozen labels beside a dozen numbers has millions of those. Labels alone are summed out one
after the other.
"""

from __future__ import annotations

import warnings

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FishernetWarning
from fishernet.base.random import generator
from fishernet.data import Table
from fishernet.data.variable import mixes_numbers
from fishernet.infer.mixed import work_of_rows
from fishernet.learn.structures import structure

MOST_OF_ROW = 2.0**22  # states of missing labels, for each conditional: half a second
MOST_OF_ROWS = 2.0**26  # of all rows
MOST_ROWS = 3000  # of which a graph is learned
SEED = 0


def within_reach(rows: Table) -> bool:
    """Return whether all rows of a table can be answered for, by a graph of some of them."""
    if not (rows.has_missing and mixes_numbers(rows.variables)):
        return True
    if _enough(len(rows.variables) * _joint_states(rows)):
        return True
    some = np.sort(generator(SEED).permutation(rows.n_rows)[:MOST_ROWS])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FishernetWarning)  # the search for the network itself tells
        dag = structure(rows[some], search="hill-climb", missing="node-average").dag  # EM would sum out what rows lack
    return _enough(work_of_rows(rows, dag))


def _enough(work: npt.NDArray[np.float64]) -> bool:
    return bool(work.max() <= MOST_OF_ROW and work.sum() <= MOST_OF_ROWS)


def _joint_states(rows: Table) -> npt.NDArray[np.float64]:
    """Return how many joint states the labels have that a row lacks, where it lacks a number, (n_rows,)."""
    states, lacks_number = np.ones(rows.n_rows), np.zeros(rows.n_rows, dtype=bool)
    for variable, column in zip(rows.variables, rows.codes, strict=True):
        missing = variable.missing(column)
        if variable.is_continuous:
            lacks_number |= missing
        else:
            states[missing] = np.minimum(states[missing] * variable.cardinality, 2.0**100)
    return np.where(lacks_number, states, 1.0)
