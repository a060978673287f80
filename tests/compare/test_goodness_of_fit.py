"""The score test of a network whose graph was learned: the bootstrap that learns again."""

from __future__ import annotations

import numpy as np
import pytest

import fishernet as fn
from fishernet.compare import score_test
from fishernet.kernels import FisherKernel
from tests.networks import random_network


def learned(rows: fn.Table) -> fn.BayesianNetwork:
    return fn.learn.bayesian_network(rows, seed=0)


def independent(n: int) -> fn.BayesianNetwork:
    """Return binary variables without arcs: every arc that is learned is there by chance."""
    variables = [fn.Variable(f"v{v}", [0, 1]) for v in range(n)]
    tables = {f"v{v}": np.array([0.4, 0.6]) for v in range(n)}
    return fn.BayesianNetwork.from_tables(variables, {f"v{v}": [] for v in range(n)}, tables)


def test_learning_again_forgives_arcs_that_are_there_by_chance() -> None:
    net = independent(5)
    with_arcs = [net.sample(60, seed=seed) for seed in range(100)]
    with_arcs = [rows for rows in with_arcs if learned(rows).dag.n_edges >= 1][:12]
    p_values = []
    for seed, rows in enumerate(with_arcs):
        kernel, other = FisherKernel(learned(rows)), net.sample(60, seed=1000 + seed)
        p_values.append([score_test(kernel, other, simulations=19, seed=1, fit=fit).p_value for fit in (None, learned)])
    as_known, again = np.array(p_values).T
    assert again.mean() > as_known.mean()
    assert again.mean() > 0.3


def test_the_statistic_is_that_without_it_and_the_names_stay() -> None:
    net = random_network(4, [2, 3, 2, 2])
    kernel = FisherKernel(learned(net.sample(300, seed=1)))
    rows = net.sample(300, seed=2)
    plain, again = (
        score_test(kernel, rows, reference="bootstrap", simulations=19, seed=3, fit=f) for f in (None, learned)
    )
    assert again.statistic == plain.statistic
    assert again.reference == "bootstrap"
    assert {name: share.statistic for name, share in again.by_variable.items()} == {
        name: share.statistic for name, share in plain.by_variable.items()
    }


def test_the_same_fit_gives_the_same_answer_as_without_it() -> None:
    net = random_network(4, [2, 3, 2, 2])
    model = fn.learn.parameters(net.dag, net.sample(300, seed=1))
    rows = net.sample(300, seed=2)
    kernel = FisherKernel(model)
    plain = score_test(kernel, rows, reference="bootstrap", simulations=19, seed=3)
    again = score_test(kernel, rows, simulations=19, seed=3, fit=lambda drawn: fn.learn.parameters(net.dag, drawn))
    assert again.p_value == plain.p_value
    assert again.by_variable == plain.by_variable
    assert again.by_configuration == plain.by_configuration


def test_a_change_is_found_and_named_all_the_same() -> None:
    asia = fn.datasets.load("asia")
    kernel = FisherKernel(learned(asia.sample(500, seed=1)))
    smokers = fn.infer.intervene(asia, {"smoke": "yes"}).sample(500, seed=2)
    found = score_test(kernel, smokers, simulations=19, seed=1, fit=learned)
    assert found.p_value == 1 / 20
    assert "smoke" in found.misfits()


def test_variables_may_come_in_another_order() -> None:
    net = random_network(5, [2, 3, 2])
    rows, other = net.sample(200, seed=1), net.sample(200, seed=2)
    names = list(reversed(net.names))

    def turned(drawn: fn.Table) -> fn.BayesianNetwork:
        return fn.learn.parameters(net.dag, drawn.select(names))

    kernel = FisherKernel(fn.learn.parameters(net.dag, rows))
    plain = score_test(kernel, other, reference="bootstrap", simulations=19, seed=3)
    again = score_test(kernel, other, simulations=19, seed=3, fit=turned)
    assert [share.p_value for share in again.by_variable.values()] == [
        share.p_value for share in plain.by_variable.values()
    ]


@pytest.mark.parametrize("more", [{"reference": "chi-square"}, {"n_fitted": 0}])
def test_without_a_bootstrap_that_fits_it_is_refused(more: dict[str, object]) -> None:
    net = random_network(4, [2, 2])
    kernel = FisherKernel(learned(net.sample(300, seed=1)))
    with pytest.raises(fn.SchemaError, match="fit says how"):
        score_test(kernel, net.sample(300, seed=2), fit=learned, **more)  # type: ignore[arg-type]
