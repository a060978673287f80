"""Diagnosing chains, and estimates with their Monte Carlo error."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import fishernet as fn
from fishernet.infer.gibbs import effective_size, split_r_hat

A, B = fn.Variable("a", ["no", "yes"]), fn.Variable("b", ["no", "yes"])


def pair(stay: float) -> fn.DependencyNetwork:
    """Two variables that copy each other: the nearer to 1, the slower the chain moves."""
    copy = [[stay, 1 - stay], [1 - stay, stay]]
    return fn.DependencyNetwork.from_tables([A, B], {"a": ["b"], "b": ["a"]}, {"a": copy, "b": copy})


def test_the_effective_size_of_an_autoregressive_chain_is_known() -> None:
    """Of x_t = rho x_(t-1) + noise it is n (1 - rho) / (1 + rho)."""
    rng = np.random.default_rng(0)
    for rho in (0.0, 0.5, 0.9):
        chains = np.zeros((4, 50_000))
        noise = rng.normal(size=chains.shape)
        for t in range(1, chains.shape[1]):
            chains[:, t] = rho * chains[:, t - 1] + noise[:, t]
        expected = chains.size * (1 - rho) / (1 + rho)
        assert effective_size(chains) == pytest.approx(expected, rel=0.1)
        assert split_r_hat(chains) == pytest.approx(1, abs=0.005)


def test_r_hat_is_what_its_definition_says() -> None:
    rng = np.random.default_rng(1)
    chains = rng.normal(size=(3, 100)) + np.array([[0.0], [1.0], [5.0]])
    halves = np.concatenate([chains[:, :50], chains[:, 50:]])
    within = halves.var(axis=1, ddof=1).mean()
    between = 50 * halves.mean(axis=1).var(ddof=1)
    assert split_r_hat(chains) == pytest.approx(np.sqrt((49 / 50 * within + between / 50) / within))


def test_chains_that_do_not_move_are_warned_of() -> None:
    with pytest.warns(fn.FishernetWarning, match="not mixed"):
        found = fn.infer.diagnose(pair(0.9999), n=1600, chains=16, burn_in=0, seed=2)
    assert not found.mixed
    assert found.r_hat.max() > 1.1


def test_a_chain_that_mixes_has_standard_errors_that_hold() -> None:
    """The stationary probability of every state is 1/2; the errors should be about as large as they are said to be."""
    off = []
    for seed in range(30):
        found = fn.infer.diagnose(pair(0.8), n=4000, seed=seed)
        assert found.mixed
        off.append((found.probabilities[0][0] - 0.5) / found.standard_errors[0][0])
    assert 0.6 < np.std(off) < 1.6


def test_what_is_given_is_not_judged_and_the_seed_repeats() -> None:
    found = fn.infer.diagnose(pair(0.7), n=800, given={"a": "yes"}, seed=3)
    assert found.names == ("b",)
    assert found.to_frame().column_names[0] == "variable"
    assert fn.infer.diagnose(pair(0.7), n=800, given={"a": "yes"}, seed=found.seed).rows == found.rows


def test_estimates_are_within_their_errors_of_the_stationary_distribution() -> None:
    rng = np.random.default_rng(4)
    variables = [fn.Variable(f"v{i}", ["x", "y", "z"][: 2 + i % 2]) for i in range(4)]
    inputs = {f"v{i}": [f"v{(i + 1) % 4}", f"v{(i + 2) % 4}"] for i in range(4)}
    shape = [v.cardinality for v in variables]
    tables = {
        f"v{i}": rng.dirichlet(np.ones(shape[i]), size=(shape[(i + 1) % 4], shape[(i + 2) % 4])) for i in range(4)
    }
    dn = fn.DependencyNetwork.from_tables(variables, inputs, tables)
    exact = fn.infer.stationary(dn, given={"v3": "z"}).sum(axis=1)
    found = fn.infer.estimate(dn, ["v0", "v2"], given={"v3": "z"}, n=200_000, seed=5)
    assert (np.abs(found.probabilities - exact) < 5 * found.standard_errors).all()
    assert found.standard_errors.max() < 0.01
    np.testing.assert_array_equal(
        fn.infer.marginal(dn, ["v0", "v2"], given={"v3": "z"}, n=200_000, seed=5), found.probabilities
    )


def test_rare_evidence_is_warned_of() -> None:
    rare = fn.DependencyNetwork.from_tables([A, B], {"b": ["a"]}, {"a": [1 - 1e-6, 1e-6], "b": [[0.5, 0.5]] * 2})
    with pytest.warns(fn.FishernetWarning, match="rare"):
        fn.infer.estimate(rare, ["b"], given={"a": "yes"}, n=2000, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fn.infer.estimate(rare, ["b"], given={"a": "no"}, n=2000, seed=1)


def test_a_clamped_variable_has_all_its_mass_at_its_state() -> None:
    found = fn.infer.estimate(pair(0.8), ["b", "a"], given={"a": "yes"}, n=4000, seed=1)
    assert found.probabilities[:, 0].sum() == 0
    assert found.probabilities.sum() == pytest.approx(1)


def test_bad_input_is_refused() -> None:
    dn = pair(0.8)
    asia = fn.datasets.load("asia")
    for call in (
        lambda: fn.infer.diagnose(asia),  # type: ignore[arg-type]
        lambda: fn.infer.diagnose(dn, chains=1),
        lambda: fn.infer.diagnose(dn, n=10),
        lambda: fn.infer.estimate(asia, ["lung"], scan="ordered"),
        lambda: fn.infer.estimate(dn, ["a"], n=10),
        lambda: fn.infer.estimate(dn, ["a", "a"]),
        lambda: fn.infer.estimate(dn, ["nobody"]),
        lambda: fn.infer.estimate(dn, ["a"], chains=0),
        lambda: fn.infer.marginal(dn, ["a"], likelihood={"a": [1, 2]}),
        lambda: fn.infer.marginal(asia, ["lung"], n=1000),
        lambda: fn.infer.estimate(dn, ["a"], given={"a": "yes", "b": "no"}),
    ):
        with pytest.raises(fn.FishernetError):
            call()
