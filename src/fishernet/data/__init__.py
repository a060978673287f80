"""Data: what a column is, tables in memory and in files, and the statistics from which everything is learned.

A `Variable` has a name and states, a `Continuous` column numbers; a `Table` holds codes, the states' positions, and
float64. `read_table` and `Table.from_frame` look every label up once; from then on there are codes. `CountSource` is
what a learner knows of the data, `Counts` its answer for a set of variables; `Scatter` takes their place for columns of
numbers.
"""

from fishernet.data.counts import Counts
from fishernet.data.matching import as_table
from fishernet.data.moments import Scatter, as_scatter
from fishernet.data.reading import read_table
from fishernet.data.source import CountSource, TableCounts, as_source
from fishernet.data.table import Table
from fishernet.data.variable import Column, Continuous, State, Variable
from fishernet.data.writing import write_table

__all__ = [
    "Column",
    "Continuous",
    "CountSource",
    "Counts",
    "Scatter",
    "State",
    "Table",
    "TableCounts",
    "Variable",
    "as_scatter",
    "as_source",
    "as_table",
    "read_table",
    "write_table",
]
