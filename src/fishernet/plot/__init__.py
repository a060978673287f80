"""Drawings of graphs, of what marks clusters, of rows that were chosen, and of what changed between tables.

Matplotlib draws, and is imported when something is drawn: ``pip install "fishernet[plot]"`` brings it along.
"""

from fishernet.plot.changes import change, write_change
from fishernet.plot.chosen_rows import selection
from fishernet.plot.distances import distance_by_k
from fishernet.plot.drawing import check_output, graph, write_graph
from fishernet.plot.heat_map import clusters

__all__ = [
    "change",
    "check_output",
    "clusters",
    "distance_by_k",
    "graph",
    "selection",
    "write_change",
    "write_graph",
]
