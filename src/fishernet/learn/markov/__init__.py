"""Undirected graphs, by tests of independence (`markov_graph`) or by marginal pseudo-likelihood.

First every variable's Markov blanket by itself, then one graph from the blankets.
"""

from fishernet.learn.markov.discrete import discrete_markov_graph
from fishernet.learn.markov.gaussian_graph import gaussian_graph
from fishernet.learn.markov.gaussian_network import gaussian_network
from fishernet.learn.markov.markov_graph import BlanketsFound, markov_blankets, markov_graph

__all__ = [
    "BlanketsFound",
    "discrete_markov_graph",
    "gaussian_graph",
    "gaussian_network",
    "markov_blankets",
    "markov_graph",
]
