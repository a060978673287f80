"""Count sources: what a learner knows of the data.

`CountSource` is the protocol, `Counts` the joint table of a set of variables, `as_source` turns a table into a source.
"""

from fishernet.counts.counts import Counts
from fishernet.counts.source import CountSource, TableCounts, as_source

__all__ = ["CountSource", "Counts", "TableCounts", "as_source"]
