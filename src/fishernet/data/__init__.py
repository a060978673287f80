"""Data: what a column is, tables in memory and in files, and the statistics from which everything is learned.

A `Variable` has a name and states, a `Continuous` column numbers; a `Table` holds codes, the states' positions, and
float64. `read_table` and `Table.from_frame` look every label up once; from then on there are codes. `Source` is what a
learner knows of the data, `Statistic` its answer for a set of variables. Tables are sources, and so is a `Scatter`, the
moments of columns of numbers, and `Blocks`, rows in several places. `scan` reads what does not fit into memory:
a `Stream` is a table on the disk.
"""

from fishernet.data.blocks import Blocks
from fishernet.data.formats.databases import read_query
from fishernet.data.matching import as_table
from fishernet.data.moments import Scatter, as_scatter
from fishernet.data.reading import read_table
from fishernet.data.source import Source, as_source, categorical_source
from fishernet.data.statistics import Statistic
from fishernet.data.streams import Stream, scan
from fishernet.data.table import Table
from fishernet.data.variable import Column, Continuous, State, Variable
from fishernet.data.writing import write_table

__all__ = [
    "Blocks",
    "Column",
    "Continuous",
    "Scatter",
    "Source",
    "State",
    "Statistic",
    "Stream",
    "Table",
    "Variable",
    "as_scatter",
    "as_source",
    "as_table",
    "categorical_source",
    "read_query",
    "read_table",
    "scan",
    "write_table",
]


def __dir__() -> list[str]:
    return __all__
