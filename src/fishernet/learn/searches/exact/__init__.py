"""Exact search: the network with the highest score of all.

Two ways lead there. While memory allows it, dynamic programming over all subsets of the variables (`tables`), whose
time and memory are known beforehand. Beyond, the parent sets that may be best are found first, most others being ruled
out by bounds (`parent_sets`), and with few of them a shortest-path search needs to see few subsets (`sparse`).
"""

from fishernet.learn.searches.exact.search import exact_search

__all__ = ["exact_search"]
