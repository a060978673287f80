"""Learning from a table again and again: from samples of its rows, or from parts of them."""

from fishernet.learn.resampling.bootstrap import EdgeStrengths, edge_strengths
from fishernet.learn.resampling.runs import repeat_runs, reusable

__all__ = ["EdgeStrengths", "edge_strengths", "repeat_runs", "reusable"]
