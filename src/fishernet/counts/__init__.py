"""Count sources: what a learner knows of the data.

`CountSource` is the protocol, `Counts` the joint table of a set of variables, `as_source` turns a table into a source.
`Scatter` is what takes the place of counts for columns of numbers.
"""

from fishernet.counts.counts import Counts
from fishernet.counts.scatter import Scatter, as_scatter
from fishernet.counts.source import CountSource, TableCounts, as_source

__all__ = ["CountSource", "Counts", "Scatter", "TableCounts", "as_scatter", "as_source"]
