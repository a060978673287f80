"""What structures and parameters are learned from, a set of variables at a time, and how rows in memory give it."""

from fishernet.data.statistics.statistic import Numbers, States, Statistic, most_dense_cells, occurring

__all__ = ["Numbers", "States", "Statistic", "most_dense_cells", "occurring"]
