"""The stationary distribution against dense matrices, known joints, and Eq. 12 of Takabatake and Akaho (2021)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import ConvergenceError, FishernetError, SchemaError, StateSpaceError, UnknownStateError
from tests.networks import random_network
from tests.reference.dependency import (
    Array,
    cardinalities_of,
    cycle,
    dependency_networks,
    projected,
    random_dependency_network,
    stationary_by_definition,
)

PROMISED = 1e-10  # the tolerance when none is given; the steps go on to a tenth of it


def total_variation(p: Array, q: Array) -> float:
    assert p.shape == q.shape
    return float(np.abs(p - q).sum() / 2)


def weights_of(n: int) -> Array:
    return np.random.default_rng(n).dirichlet(np.full(n, 3.0))


# --------------------------------------------------------------------------------- few states, solved by equations


SCANS: dict[str, dict[str, Any]] = {"random": {}, "weighted": {"weights": True}, "ordered": {"scan": "ordered"}}


def options_of(kind: str, n: int) -> dict[str, Any]:
    return SCANS[kind] | ({"weights": weights_of(n)} if kind == "weighted" else {})


@given(dependency_networks(most_variables=5), st.sampled_from(list(SCANS)), st.data())
def test_small_networks_end_where_the_matrix_says(dn: fn.DependencyNetwork, kind: str, data: st.DataObject) -> None:
    n = len(dn.variables)
    chosen = data.draw(st.sets(st.integers(0, n - 1), max_size=n - 1))
    clamped = {v: data.draw(st.integers(0, cardinalities_of(dn)[v] - 1)) for v in sorted(chosen)}
    options = options_of(kind, n)
    found = fn.infer.stationary(dn, given={f"v{v}": f"s{state}" for v, state in clamped.items()}, **options)
    assert total_variation(found, stationary_by_definition(dn, clamped=clamped, **options)) < 1e-11
    assert found.sum() == pytest.approx(1, rel=1e-13)
    assert (found >= 0).all()


def test_weights_by_name_are_weights_by_position() -> None:
    dn = random_dependency_network(0, [2, 3, 2])
    by_name = fn.infer.stationary(dn, weights={"v2": 0.5, "v0": 0.2, "v1": 0.3})
    np.testing.assert_array_equal(by_name, fn.infer.stationary(dn, weights=[0.2, 0.3, 0.5]))


def test_two_coins_that_disagree() -> None:
    """a copies b, b does the opposite of a: by symmetry every state is equally probable, whatever their errors."""
    a, b = fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1])
    tables = {"a": [[0.9, 0.1], [0.1, 0.9]], "b": [[0.1, 0.9], [0.9, 0.1]]}
    dn = fn.DependencyNetwork.from_tables([a, b], {"a": ["b"], "b": ["a"]}, tables)
    np.testing.assert_allclose(fn.infer.stationary(dn), np.full((2, 2), 0.25), rtol=1e-13)


def test_every_variable_but_one_may_be_clamped() -> None:
    dn = random_dependency_network(0, [2, 3, 2])
    found = fn.infer.stationary(dn, given={"v0": "s1", "v1": "s2"})
    conditional = dn.conditionals[2]
    state = {0: 1, 1: 2}
    np.testing.assert_allclose(found, conditional.table()[tuple(state[p] for p in conditional.parents)], rtol=1e-13)


# ------------------------------------------------------------------- more than 512 states, solved by iteration

LARGE: dict[str, list[int]] = {
    "ten binary": [2] * 10,
    "threes": [3] * 6,
    "fives": [5, 5, 5, 5],
    "mixed": [4, 1, 3, 2, 5, 1, 2, 3],
    "a long last axis": [3, 2, 200],
    "a long first axis": [180, 2, 2],
}


@pytest.mark.parametrize("cardinalities", LARGE.values(), ids=LARGE)
@pytest.mark.parametrize("kind", SCANS)
@pytest.mark.parametrize("merged", [False, True], ids=["full", "merged"])
def test_larger_networks_end_where_the_matrix_says(cardinalities: list[int], kind: str, merged: bool) -> None:
    dn = random_dependency_network(11, cardinalities, merged=merged)
    assert math.prod(cardinalities) > 512
    options = options_of(kind, len(cardinalities))
    assert total_variation(fn.infer.stationary(dn, **options), stationary_by_definition(dn, **options)) < PROMISED


@pytest.mark.parametrize("kind", SCANS)
def test_larger_clamped_networks_end_where_the_matrix_says(kind: str) -> None:
    dn = random_dependency_network(13, [2, 3, 2, 4, 3, 3, 2, 2, 2, 2], inputs=4)
    options = options_of(kind, 10)
    expected = stationary_by_definition(dn, clamped={3: 2, 7: 1}, **options)
    assert expected.size == 864
    assert total_variation(fn.infer.stationary(dn, given={"v3": "s2", "v7": "s1"}, **options), expected) < PROMISED


@pytest.mark.slow
def test_four_thousand_states() -> None:
    dn = random_dependency_network(14, [2, 3, 5, 2, 3, 2, 11, 1], inputs=4)
    expected = stationary_by_definition(dn)
    assert expected.size == 3960
    assert total_variation(fn.infer.stationary(dn), expected) < PROMISED


@pytest.mark.parametrize("scan", ["random", "ordered"])
@pytest.mark.parametrize("error", [1e-2, 1e-3])
def test_slow_chains(error: float, scan: str) -> None:
    """Ten variables that copy one another in a ring, a 0 wrongly in `error` and a 1 in 3 `error` of all updates.

    One update moves the mean of the ten by (error - 4 error mean) / 10: an eigenvalue of 1 - 4 error / 10, and 1/4 at
    the end.
    """
    variables = [fn.Variable(f"v{i}", [0, 1]) for i in range(10)]
    inputs = {f"v{i}": [f"v{(i + 1) % 10}"] for i in range(10)}
    noisy = [[1 - error, error], [3 * error, 1 - 3 * error]]
    dn = fn.DependencyNetwork.from_tables(variables, inputs, {v.name: noisy for v in variables})
    found = fn.infer.stationary(dn, scan=scan)  # type: ignore[arg-type]
    assert np.mean([found.take(1, axis=v).sum() for v in range(10)]) == pytest.approx(0.25, abs=PROMISED)
    assert total_variation(found, stationary_by_definition(dn, scan=scan)) < PROMISED


@pytest.mark.parametrize("tolerance", [1e-4, 1e-7, 1e-12])
def test_a_tolerance_is_kept(tolerance: float) -> None:
    dn = random_dependency_network(16, [2] * 10, inputs=3, sharp=0.5)
    error = total_variation(fn.infer.stationary(dn, tolerance=tolerance), stationary_by_definition(dn))
    assert error < tolerance


@pytest.mark.parametrize("scan", ["random", "ordered"])
@pytest.mark.parametrize(
    "cardinalities", [[2] * 14, [2] * 16, [3, 2, 5, 2, 3, 2, 5, 2, 3], [5, 1, 7, 3, 2, 1, 4, 6, 5]], ids=str
)
def test_full_conditionals_of_a_joint_end_in_the_joint(cardinalities: list[int], scan: str) -> None:
    """From 10 000 to 65 536 states, so in several tiles; an update leaves the joint as it is (ibid., Eq. 8)."""
    net = random_network(3, cardinalities, sharp=4.0)
    found = fn.infer.stationary(fn.DependencyNetwork.from_joint(net), scan=scan)  # type: ignore[arg-type]
    assert total_variation(found, fn.infer.marginal(net, net.names)) < 1e-10


def test_full_conditionals_given_evidence_end_in_the_posterior() -> None:
    net = random_network(4, [2] * 15, sharp=4.0)
    given_ = {"v3": "s1", "v14": "s0"}
    dn = fn.DependencyNetwork.from_joint(net)
    free = [name for name in net.names if name not in given_]
    posterior = fn.infer.marginal(net, free, given=given_)
    for scan in ("random", "ordered"):
        assert total_variation(fn.infer.stationary(dn, scan=scan, given=given_), posterior) < 1e-10


def test_a_large_inconsistent_network_is_where_eq_12_holds() -> None:
    """40 960 states: pi is the weighted average of its own projections."""
    dn = random_dependency_network(17, [2] * 11 + [4, 5], inputs=4)
    weights = weights_of(13)
    pi = fn.infer.stationary(dn, weights=weights)
    average = sum(share * projected(pi, dn, v) for v, share in enumerate(weights.tolist()))
    assert total_variation(pi, np.asarray(average)) < 1e-11


@given(dependency_networks(most_variables=4))
def test_the_cycle_closes(dn: fn.DependencyNetwork) -> None:
    """The reference itself: each pi_i is on the manifold of the variable updated before it."""
    around = [p.reshape(cardinalities_of(dn)) for p in cycle(dn)]
    for v, p in enumerate(around):
        np.testing.assert_allclose(projected(p, dn, (v - 1) % len(around)), p, atol=1e-12)


@pytest.mark.parametrize("scan", ["random", "ordered"])
def test_threads_give_equal_bits(scan: str) -> None:
    dn = random_dependency_network(18, [2] * 17, inputs=4)  # 131 072 states: more than the 100 000 of one thread
    found, before = [], fn.set_threads(1)
    for threads in (1, 2, 3):
        fn.set_threads(threads)
        found.append(fn.infer.stationary(dn, scan=scan).tobytes())  # type: ignore[arg-type]
    fn.set_threads(before)
    assert found[0] == found[1] == found[2]


# ----------------------------------------------------------------------------------------------------------- zeros


def copies(n: int, others: int = 0) -> fn.DependencyNetwork:
    """n variables that copy one another in a ring, so that neither all 0 nor all 1 is ever left; and some coins."""
    variables = [fn.Variable(f"v{i}", [0, 1]) for i in range(n + others)]
    inputs = {f"v{i}": [f"v{(i + 1) % n}"] for i in range(n)}
    tables = {f"v{i}": np.eye(2) if i < n else np.array([0.3, 0.7]) for i in range(n + others)}
    return fn.DependencyNetwork.from_tables(variables, inputs, tables, allow_zeros=True)


@pytest.mark.parametrize("scan", ["random", "ordered"])
@pytest.mark.parametrize(("n", "others"), [(2, 0), (5, 0), (2, 9), (11, 0)])
def test_a_chain_that_is_not_ergodic_has_no_one_distribution(n: int, others: int, scan: str) -> None:
    with pytest.raises(ConvergenceError, match="not unique|not ergodic"):
        fn.infer.stationary(copies(n, others), scan=scan)  # type: ignore[arg-type]


@pytest.mark.parametrize("n", [3, 11])
def test_a_variable_that_is_never_updated_leaves_no_one_distribution(n: int) -> None:
    dn = random_dependency_network(1, [2] * n)
    weights = np.full(n, 1 / (n - 1))
    weights[0] = 0
    with pytest.raises(ConvergenceError):
        fn.infer.stationary(dn, weights=weights)


@pytest.mark.parametrize(("n", "others"), [(5, 0), (2, 9)])
def test_clamping_what_cannot_move_makes_it_unique(n: int, others: int) -> None:
    found = fn.infer.stationary(copies(n, others), given={"v0": 1})
    shape = (2,) * (n - 1 + others)
    expected = np.zeros(shape)
    expected[(1,) * (n - 1)] = np.array(1.0) if not others else _coins(others)
    assert total_variation(found, expected) < 1e-10


def _coins(n: int) -> Array:
    joint = np.ones(())
    for _ in range(n):
        joint = np.multiply.outer(joint, np.array([0.3, 0.7]))
    return np.asarray(joint)


def test_zeros_that_leave_one_distribution_are_no_error() -> None:
    """A state that is left for ever has probability 0; a sweep may run around in a circle of states."""
    a, b = fn.Variable("a", [0, 1, 2]), fn.Variable("b", [0, 1])
    tables = {"a": np.array([[0.5, 0.5, 0], [0.2, 0.8, 0]]), "b": np.array([[0.4, 0.6], [0.9, 0.1], [0.5, 0.5]])}
    dn = fn.DependencyNetwork.from_tables([a, b], {"a": ["b"], "b": ["a"]}, tables, allow_zeros=True)
    for scan in ("random", "ordered"):
        found = fn.infer.stationary(dn, scan=scan)
        assert found[2] == pytest.approx(np.zeros(2), abs=1e-13)
        np.testing.assert_allclose(found, stationary_by_definition(dn, scan=scan), atol=1e-13)
    flip = {"a": np.eye(2), "b": np.eye(2)[::-1]}
    odd = fn.DependencyNetwork.from_tables(
        [b, fn.Variable("a", [0, 1])], {"a": ["b"], "b": ["a"]}, flip, allow_zeros=True
    )
    np.testing.assert_allclose(fn.infer.stationary(odd, scan="ordered"), np.full((2, 2), 0.25), atol=1e-13)


# ------------------------------------------------------------------------------------------------------- bad input


def test_too_many_states_are_refused_before_anything_is_made() -> None:
    variables = [fn.Variable(f"v{i}", [0, 1]) for i in range(40)]
    dn = fn.DependencyNetwork.from_tables(variables, {}, {v.name: [0.5, 0.5] for v in variables})
    with pytest.raises(StateSpaceError) as refused:
        fn.infer.stationary(dn)
    assert refused.value.cells == 2**40
    found = fn.infer.stationary(dn, given={f"v{i}": 0 for i in range(36)})
    np.testing.assert_allclose(found, np.full((2,) * 4, 1 / 16), rtol=1e-13)


def test_a_start_ends_where_the_scan_ends_and_the_nearer_the_sooner() -> None:
    dn = random_dependency_network(5, [2] * 11)
    expected = fn.infer.stationary(dn)
    far = np.random.default_rng(6).dirichlet(np.ones(2**11)).reshape(expected.shape)
    steps: dict[str, int] = {}
    for name, start in {"far": far, "near": 0.999 * expected + 0.001 * far, "there": 3 * expected}.items():
        told: list[int] = []
        found = fn.infer.stationary(dn, start=start, progress=lambda _, done, __, told=told: told.append(done))
        assert total_variation(found, expected) < 2 * PROMISED
        steps[name] = told[-1]
    assert steps["there"] < steps["near"] <= steps["far"]


def test_what_is_no_start_is_refused() -> None:
    dn = random_dependency_network(5, [2, 3, 2])
    for start, message in [
        (np.full((2, 2, 3), 1 / 12), r"one axis per free variable, in all \(2, 3, 2\); got \(2, 2, 3\)"),
        (np.full(12, 1 / 12), "one axis per free variable"),
        (np.full((2, 3, 2), -1.0), "finite, not negative and not all 0"),
        (np.zeros((2, 3, 2)), "not all 0"),
        (np.full((2, 3, 2), np.nan), "finite"),
        (np.full((2, 3, 2), np.inf), "finite"),
    ]:
        with pytest.raises(FishernetError, match=message) as raised:
            fn.infer.stationary(dn, start=start)
        assert raised.value.parameter == "start"


def test_too_few_steps_are_an_error_that_says_how_far_it_came() -> None:
    dn = random_dependency_network(15, [2] * 10, inputs=3, sharp=0.2)
    with pytest.raises(ConvergenceError, match="steps") as refused:
        fn.infer.stationary(dn, max_steps=25)
    assert refused.value.steps >= 10
    assert 0 < refused.value.residual < 1


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"scan": "sweep"}, FishernetError, "unknown scan 'sweep'"),
        ({"weights": [0.5, 0.6]}, FishernetError, "sum to 1"),
        ({"given": {"v0": "x"}}, UnknownStateError, "'x'"),
        ({"given": {"v0": "s0", "v1": "s0"}}, FishernetError, "every variable is given"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], error: type[FishernetError], message: str) -> None:
    with pytest.raises(error, match=message):
        fn.infer.stationary(random_dependency_network(0, [2, 2]), **options)


def test_it_is_of_a_dependency_network() -> None:
    with pytest.raises(SchemaError, match="not of BayesianNetwork"):
        fn.infer.stationary(random_network(0, [2, 2]))  # type: ignore[arg-type]


def test_progress_is_told_and_may_stop() -> None:
    dn = random_dependency_network(19, [2] * 10)
    calls: list[tuple[str, int, int | None]] = []
    fn.infer.stationary(dn, progress=lambda *call: calls.append(call))
    assert calls[-1][1] == calls[-1][2]

    def stop(what: str, done: int, total: int | None) -> None:
        raise RuntimeError("enough")

    with pytest.raises(RuntimeError, match="enough"):
        fn.infer.stationary(dn, progress=stop)


def test_a_single_wrong_estimate_of_the_gap_does_not_stop_it() -> None:
    """A learned 4 x 4 Ising model: one cycle shows an eigenvalue that is not there."""
    pair = np.exp(0.5 * np.array([[1.0, -1.0], [-1.0, 1.0]]))
    names = [f"x{i}" for i in range(16)]
    edges = [(i, i + 1) for i in range(16) if (i + 1) % 4] + [(i, i + 4) for i in range(12)]
    truth = fn.MarkovNetwork([fn.Variable(n, [0, 1]) for n in names], [((names[a], names[b]), pair) for a, b in edges])
    for seed in (301, 302, 303):
        dn = fn.learn.dependency_network(truth.sample(1000, seed=seed))
        found = fn.infer.stationary(dn)
        moved = sum(fn.compare.project_on_manifold(found, dn, name) for name in names) / 16
        assert np.abs(moved - found).sum() / 2 < 1e-12
