"""Drawings of graphs.

Matplotlib draws, and is imported when something is drawn: ``pip install "fishernet[plot]"`` brings it along.
"""

from fishernet.plot.drawing import check_output, graph, write_graph

__all__ = ["check_output", "graph", "write_graph"]
