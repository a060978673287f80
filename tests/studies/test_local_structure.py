"""The study of shared rows, on a part of a table: facts of likelihoods and of counting parameters."""

from __future__ import annotations

import numpy as np
import pytest

import fishernet as fn
from studies import local_structure as study


def test_the_models_share_one_graph_and_the_likelihoods_are_those_of_rows_held_out() -> None:
    training, held_out = fn.datasets.load("nursery")[::8].split(0.5, seed=1)
    found = study.measured(training, held_out, "bic")
    dag = fn.learn.dag(training, search="tabu")
    assert (found["arcs"], found["most parents"]) == (dag.n_edges, max(map(len, dag.parents)))
    full, merged = fn.learn.parameters(dag, training), fn.learn.parameters(dag, training, conditionals="merged")
    for model, net in (("table", full), ("merged", merged)):
        assert found[f"parameters, {model}"] == net.n_parameters <= full.n_parameters
        assert found[f"log-likelihood, {model}"] == pytest.approx(net.log_prob(held_out).mean(), rel=1e-12)
    assert found["parameters, tree"] <= full.n_parameters


@pytest.mark.parametrize(("step", "seed", "of_few_rows"), [(40, 2, True), (80, 1, False)])
def test_what_merged_rows_lose_in_unlikely_cells_is_added_up_cell_by_cell(
    step: int, seed: int, of_few_rows: bool
) -> None:
    training, held_out = fn.datasets.load("nursery")[::step].split(0.5, seed=seed)
    found = study.measured(training, held_out, "aic")
    dag = fn.learn.structure(training, score="aic", search="tabu", max_parents=8).dag
    nets = [fn.learn.parameters(dag, training, conditionals=how) for how in ("table", "merged")]
    unlikely, few = 0.0, 0.0
    for row in range(held_out.n_rows):
        one = held_out[row : row + 1]
        logs = [net.log_prob_terms(one)[0] for net in nets]
        for v, name in enumerate(dag.names):
            if np.exp(logs[1][v]) < study.UNLIKELY:
                alike = np.ones(training.n_rows, bool)
                for parent in dag.parents[v]:
                    alike &= training.codes[parent] == one.codes[parent][0]
                unlikely += logs[0][v] - logs[1][v]
                few += (logs[0][v] - logs[1][v]) * (alike.sum() <= study.FEW)
            assert name == held_out.names[v]
    assert unlikely > 0
    assert (few > 0) == of_few_rows
    assert found["unlikely"] == pytest.approx(unlikely / held_out.n_rows, abs=1e-12)
    assert found["unlikely, few rows"] == pytest.approx(few / held_out.n_rows, abs=1e-12)


def test_each_row_is_held_out_once() -> None:
    table = fn.datasets.load("nursery")[:103]
    pairs = list(study.in_folds(table))
    assert sum(held_out.n_rows for _, held_out in pairs) == 103
    assert {training.n_rows + held_out.n_rows for training, held_out in pairs} == {103}
