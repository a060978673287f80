"""Learning: what turns counts into structures and parameters.

A structure is found by a `Search`, which is given somebody to score families, rules and a watch; parameters are fitted
to counts. To add a search, write a frozen dataclass that follows `fishernet.learn.search.Search`, name it in
`fishernet.learn.structures.SEARCHES` and join ``tests/contracts/test_searches.py``; its fields are its options. A
dependency network chooses the inputs of each variable separately (`local_structure`), an undirected graph its Markov
blankets (`markov_blankets`). Configurations of parents may share rows of probabilities (`shared_rows`).
"""

from fishernet.learn.blankets import MarkovBlankets, markov_blankets, markov_graph
from fishernet.learn.classifiers import chow_liu, kdb, naive_bayes, tan
from fishernet.learn.clustering import Clusters, clusters
from fishernet.learn.constraints import PcResult, pc
from fishernet.learn.cross_validation import CrossValidation, Likelihood, PredictionQuality, cross_validate, hold_out
from fishernet.learn.em import EmResult
from fishernet.learn.exact import Exact
from fishernet.learn.fitted import Fitted, fit
from fishernet.learn.fitting import bayesian_network, gaussian_network, parameters
from fishernet.learn.hidden_columns import HiddenChowLiu, hidden_chow_liu
from fishernet.learn.hidden_trees import hidden_tree, hidden_tree_fit
from fishernet.learn.hill_climb import HillClimb, Tabu
from fishernet.learn.local_learning import InputSearchResult, dependency_network, local_structure
from fishernet.learn.missing.incomplete import ExpectedCounts, em_fit
from fishernet.learn.near_best import BestGraphs, best_graphs
from fishernet.learn.order import Order
from fishernet.learn.posterior import edge_probabilities
from fishernet.learn.pseudo_likelihood import discrete_markov_graph, gaussian_graph
from fishernet.learn.resampling import EdgeStrengths, edge_strengths, edges_by_chance
from fishernet.learn.rules import Rules
from fishernet.learn.search import Scorer, Search, SearchResult, Step
from fishernet.learn.sequences import baum_welch, hidden_markov_model, markov_chain
from fishernet.learn.shared_rows.merging import merge_rows
from fishernet.learn.structures import dag, structure
from fishernet.learn.tree_search import TreeSearch

__all__ = [
    "BestGraphs",
    "Clusters",
    "CrossValidation",
    "EdgeStrengths",
    "EmResult",
    "Exact",
    "ExpectedCounts",
    "Fitted",
    "HiddenChowLiu",
    "HillClimb",
    "InputSearchResult",
    "Likelihood",
    "MarkovBlankets",
    "Order",
    "PcResult",
    "PredictionQuality",
    "Rules",
    "Scorer",
    "Search",
    "SearchResult",
    "Step",
    "Tabu",
    "TreeSearch",
    "baum_welch",
    "bayesian_network",
    "best_graphs",
    "chow_liu",
    "clusters",
    "cross_validate",
    "dag",
    "dependency_network",
    "discrete_markov_graph",
    "edge_probabilities",
    "edge_strengths",
    "edges_by_chance",
    "em_fit",
    "fit",
    "gaussian_graph",
    "gaussian_network",
    "hidden_chow_liu",
    "hidden_markov_model",
    "hidden_tree",
    "hidden_tree_fit",
    "hold_out",
    "kdb",
    "local_structure",
    "markov_blankets",
    "markov_chain",
    "markov_graph",
    "merge_rows",
    "naive_bayes",
    "parameters",
    "pc",
    "structure",
    "tan",
]


def __dir__() -> list[str]:
    return __all__
