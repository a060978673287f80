"""Whether an answer is right: one module a kind of answer."""

from benchmarks.checks.classifiers import judge_kdb, judge_naive_bayes, judge_tan
from benchmarks.checks.dependency_networks import judge_dependency_network, judge_fire, judge_stationary
from benchmarks.checks.gaussian import judge_gaussian_graph, judge_gaussian_network
from benchmarks.checks.graphs import judge_graphs
from benchmarks.checks.independence import judge_knn_test, judge_markov_graph
from benchmarks.checks.inference import judge_families
from benchmarks.checks.kernels import judge_gram
from benchmarks.checks.models import judge_fit, judge_gibbs, judge_log_prob, judge_reading, judge_sample
from benchmarks.checks.selection import judge_selection, judge_starts
from benchmarks.checks.sequences import (
    judge_baum_welch,
    judge_expected_counts,
    judge_forward_backward,
    judge_hmm_gram,
    judge_pair_hmm_gram,
    judge_tree_gram,
)
from benchmarks.checks.structures import judge_edge_strengths, judge_local_scores, judge_order, judge_structure
from benchmarks.checks.verdict import Verdict

__all__ = [
    "Verdict",
    "judge_baum_welch",
    "judge_dependency_network",
    "judge_edge_strengths",
    "judge_expected_counts",
    "judge_families",
    "judge_fire",
    "judge_fit",
    "judge_forward_backward",
    "judge_gaussian_graph",
    "judge_gaussian_network",
    "judge_gibbs",
    "judge_gram",
    "judge_graphs",
    "judge_hmm_gram",
    "judge_kdb",
    "judge_knn_test",
    "judge_local_scores",
    "judge_log_prob",
    "judge_markov_graph",
    "judge_naive_bayes",
    "judge_order",
    "judge_pair_hmm_gram",
    "judge_reading",
    "judge_sample",
    "judge_selection",
    "judge_starts",
    "judge_stationary",
    "judge_structure",
    "judge_tan",
    "judge_tree_gram",
]
