"""The study of shared rows, on a part of a table: facts of likelihoods and of counting parameters."""

from __future__ import annotations

import pytest

import fishernet as fn
from studies import local_structure as study


def test_the_models_share_one_graph_and_the_likelihoods_are_those_of_rows_held_out() -> None:
    training, held_out = fn.datasets.load("nursery")[::8].split(0.5, seed=1)
    arcs, parents, n_full, full, n_tree, tree, n_merged, merged, *seconds = study.measured(training, held_out, "bic")
    dag = fn.learn.dag(training, search="tabu")
    assert (arcs, parents) == (dag.n_edges, max(map(len, dag.parents)))
    assert n_merged <= n_full
    assert n_tree <= n_full
    net = fn.learn.parameters(dag, training)
    assert (n_full, full) == (net.n_parameters, pytest.approx(net.log_prob(held_out).mean(), rel=1e-12))
    net = fn.learn.merge_rows(net, training)
    assert (n_merged, merged) == (net.n_parameters, pytest.approx(net.log_prob(held_out).mean(), rel=1e-12))
    assert tree < 0
    assert len(seconds) == 2
