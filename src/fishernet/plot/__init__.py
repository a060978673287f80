"""Drawings of graphs, and of what marks clusters.

Matplotlib draws, and is imported when something is drawn: ``pip install "fishernet[plot]"`` brings it along.
"""

from fishernet.plot.drawing import check_output, graph, write_graph
from fishernet.plot.heat_map import clusters

__all__ = ["check_output", "clusters", "graph", "write_graph"]
