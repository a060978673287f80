"""Pseudo-Gibbs sampling against the exact distribution where it ends, and against its definition row by row."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.base.errors import FishernetError, SchemaError, UnknownStateError
from fishernet.models import ProductConditional
from tests.networks import random_network
from tests.reference.dependency import (
    Array,
    assert_averages_to,
    assert_drawn_from,
    cardinalities_of,
    codes_of,
    cycle,
    joint_of,
    random_dependency_network,
    stationary_by_definition,
)

# ------------------------------------------------------------------------- where it ends: rows far from one another

NETWORKS: dict[str, tuple[int, list[int], dict[str, Any]]] = {
    "binary": (1, [2] * 5, {}),
    "unequal cardinalities": (2, [3, 2, 1, 4, 2], {}),
    "merged tables": (3, [2, 3, 2, 3], {"merged": True}),
    "binary, six inputs": (4, [2] * 8, {"inputs": 6}),
    "six inputs": (5, [2, 3, 2, 2, 2, 2, 3], {"inputs": 6}),
    "merged tables of six inputs": (6, [2, 3, 2, 2, 2, 2, 2], {"inputs": 6, "merged": True}),
    "binary, nine inputs": (7, [2] * 10, {"inputs": 9}),
    "merged tables of nine inputs": (8, [2] * 9 + [3], {"inputs": 9, "merged": True}),
}


def network(name: str) -> fn.DependencyNetwork:
    seed, cardinalities, options = NETWORKS[name]
    return random_dependency_network(seed, cardinalities, **options)


EVERY = pytest.mark.parametrize("name", NETWORKS)


def weights_of(dn: fn.DependencyNetwork) -> Array:
    return np.random.default_rng(0).dirichlet(np.full(len(dn.variables), 2.0))


@EVERY
@pytest.mark.parametrize("weighted", [False, True])
def test_a_random_scan_ends_in_the_stationary_distribution(name: str, weighted: bool) -> None:
    dn = network(name)
    weights = weights_of(dn) if weighted else None
    rows = dn.sample(60_000, weights=weights, thin=25 * len(dn.variables), burn_in=2000, seed=2)
    assert_drawn_from(codes_of(rows), stationary_by_definition(dn, weights=weights))


def test_weights_matter_where_no_joint_fits() -> None:
    """So that the test above can fail: the rows of a weighted scan are not those of a plain one."""
    dn = network("unequal cardinalities")
    rows = dn.sample(100_000, weights=weights_of(dn), thin=125, burn_in=2000, seed=2)
    with pytest.raises(AssertionError):
        assert_drawn_from(codes_of(rows), stationary_by_definition(dn))


@EVERY
def test_an_ordered_scan_ends_in_the_cycle(name: str) -> None:
    """Whole sweeps between the rows: every row finds the same pi_i of the cycle."""
    dn = network(name)
    n = len(dn.variables)
    around = cycle(dn)
    for place in (0, n - 1):
        rows = dn.sample(100_000, scan="ordered", thin=8 * n, burn_in=100 * n + place, seed=3)
        assert_drawn_from(codes_of(rows), around[place].reshape(cardinalities_of(dn)))


CLAMPED = pytest.mark.parametrize(
    ("name", "given"),
    [
        ("binary", {"v1": "s1"}),
        ("unequal cardinalities", {"v3": "s2", "v0": "s1"}),
        ("merged tables", {"v0": "s0"}),
        ("six inputs", {"v6": "s2", "v1": "s0"}),
        ("binary, nine inputs", {"v0": "s1", "v3": "s0", "v9": "s1"}),
    ],
)


@CLAMPED
@pytest.mark.parametrize("scan", ["random", "weighted", "ordered"])
def test_clamped_scans_end_where_the_free_variables_do(name: str, given: Mapping[str, str], scan: str) -> None:
    dn = network(name)
    clamped = {int(v[1:]): int(state[1:]) for v, state in given.items()}
    free = [v for v in range(len(dn.variables)) if v not in clamped]
    weights = weights_of(dn) if scan == "weighted" else None
    how: dict[str, Any] = {"scan": "ordered" if scan == "ordered" else "random", "weights": weights, "given": given}
    # whole sweeps between the rows of an ordered scan: every row finds the same distribution of the cycle
    rows = codes_of(dn.sample(50_000, thin=25 * len(free), burn_in=800 * len(free), seed=4, **how))
    assert all((rows[:, v] == state).all() for v, state in clamped.items())
    p = stationary_by_definition(dn, clamped=clamped, weights=weights)
    if scan == "ordered":
        p = cycle(dn, clamped)[0].reshape([cardinalities_of(dn)[v] for v in free])
    assert_drawn_from(rows[:, free], p)


# ------------------------------------------------------------------------------------------------------ raw output


@pytest.mark.parametrize("name", ["binary", "unequal cardinalities", "merged tables"])
@pytest.mark.parametrize("scan", ["random", "ordered"])
def test_raw_output_averages_to_equations_6_and_7(name: str, scan: str) -> None:
    dn = network(name)
    rows = dn.sample(2_000_000, scan=scan, burn_in=0, thin=1, seed=6)  # type: ignore[arg-type]
    assert_averages_to(codes_of(rows), stationary_by_definition(dn, scan=scan))


def test_raw_output_of_a_clamped_ordered_scan_averages_to_its_cycle() -> None:
    dn = network("unequal cardinalities")
    rows = dn.sample(2_000_000, scan="ordered", given={"v4": "s1"}, burn_in=0, thin=1, seed=6)
    assert_averages_to(codes_of(rows)[:, :4], stationary_by_definition(dn, scan="ordered", clamped={4: 1}))


START = {"v0": "s2", "v1": "s1", "v2": "s0", "v3": "s3", "v4": "s0"}
START_CODES = [2, 1, 0, 3, 0]


@pytest.mark.parametrize("name", ["unequal cardinalities", "binary, six inputs", "binary, nine inputs"])
def test_raw_rows_of_a_random_scan_differ_in_one_variable_at_most(name: str) -> None:
    changes = np.diff(codes_of(network(name).sample(20_000, burn_in=0, thin=1, seed=1)), axis=0) != 0
    assert changes.sum(axis=1).max() == 1
    several = np.array(cardinalities_of(network(name))) > 1
    assert (changes.any(axis=0) == several).all()


@pytest.mark.parametrize("name", ["unequal cardinalities", "binary, six inputs", "binary, nine inputs"])
@pytest.mark.parametrize(("given", "burn_in"), [({}, 0), ({}, 3), ({"v1": "s1", "v3": "s0"}, 0), ({"v0": "s0"}, 2)])
def test_raw_rows_of_an_ordered_scan_differ_in_the_variable_whose_turn_it_is(
    name: str, given: dict[str, str], burn_in: int
) -> None:
    dn = network(name)
    free = [v for v in range(len(dn.variables)) if f"v{v}" not in given]
    rows = codes_of(dn.sample(5000, scan="ordered", given=given, burn_in=burn_in, thin=1, seed=2))
    turns = np.array(free)[(burn_in + np.arange(4999)) % len(free)]
    changes = np.diff(rows, axis=0) != 0
    elsewhere = changes.copy()
    elsewhere[np.arange(4999), turns] = False
    assert not elsewhere.any()
    assert (changes.any(axis=0) == [v in free and r > 1 for v, r in enumerate(cardinalities_of(dn))]).all()


@pytest.mark.parametrize("thin", [2, 3, 7])
def test_thinning_counts_updates(thin: int) -> None:
    """Row t + 1 of an ordered scan differs from row t only in the variables whose turn came since."""
    dn = network("binary")
    changes = np.diff(codes_of(dn.sample(5000, scan="ordered", burn_in=0, thin=thin, seed=3)), axis=0) != 0
    updated = np.zeros_like(changes)
    for update in range(thin):
        updated[np.arange(4999), (np.arange(4999) * thin + update) % 5] = True
    assert not (changes & ~updated).any()
    assert changes.any(axis=0).all()
    changes = np.diff(codes_of(dn.sample(20_000, burn_in=0, thin=thin, seed=3)), axis=0) != 0
    assert changes.sum(axis=1).max() == min(thin, 5)


def test_burn_in_and_thinning_are_a_sweeps_worth_by_default() -> None:
    dn = network("unequal cardinalities")
    assert dn.sample(50, seed=1) == dn.sample(50, burn_in=5, thin=5, seed=1)
    assert dn.sample(50, chains=3, seed=1) == dn.sample(50, chains=3, burn_in=500, thin=5, seed=1)


def test_a_variable_of_weight_zero_is_never_updated() -> None:
    dn = network("binary")
    rows = codes_of(dn.sample(200_000, weights=[0.5, 0.0, 0.3, 0.2, 0.0], burn_in=0, thin=1, seed=1))
    changing = (np.diff(rows, axis=0) != 0).any(axis=0)
    assert changing.tolist() == [True, False, True, True, False]


def test_variables_are_updated_as_often_as_their_weights_say() -> None:
    """Coins of probability 1/2: an update changes its variable every other time."""
    variables = [fn.Variable(f"v{i}", [0, 1]) for i in range(4)]
    dn = fn.DependencyNetwork.from_tables(variables, {}, {v.name: [0.5, 0.5] for v in variables})
    by_name = {"v3": 0.05, "v0": 0.6, "v1": 0.35}  # v2 is not named: weight 0
    for weights, p in ((None, [0.25] * 4), (by_name, [0.6, 0.35, 0.0, 0.05])):
        changes = np.diff(codes_of(dn.sample(400_001, weights=weights, burn_in=0, thin=1, seed=9)), axis=0) != 0
        expected = np.array(p) / 2
        error = np.sqrt(expected * (1 - expected) / 400_000)
        assert (np.abs(changes.mean(axis=0) - expected) <= 5.5 * error).all()


# ---------------------------------------------------------------------------------------------------------- chains


def test_rows_come_chain_after_chain_from_their_own_starts() -> None:
    dn = network("unequal cardinalities")
    starts = fn.Table.from_codes([START_CODES, [0, 0, 0, 0, 0], [1, 1, 0, 2, 1]], dn.variables)
    rows = codes_of(dn.sample(300, chains=3, start=starts, burn_in=0, thin=1, seed=1))
    np.testing.assert_array_equal(rows[[0, 100, 200]], codes_of(starts))
    within = np.diff(rows.reshape(3, 100, -1), axis=1) != 0
    assert within.sum(axis=2).max() == 1
    start = fn.Table.from_codes([START_CODES], dn.variables)
    rows = codes_of(dn.sample(4, chains=4, start=start, burn_in=0, seed=1))
    assert rows.tolist() == [START_CODES] * 4
    assert dn.sample(40, chains=4, start=start, seed=1) == dn.sample(40, chains=4, start=START, seed=1)


def test_chains_go_different_ways() -> None:
    rows = codes_of(network("binary").sample(4000, chains=2, start={f"v{i}": "s0" for i in range(5)}, seed=1))
    assert (rows[:2000] != rows[2000:]).any(axis=1).mean() > 0.5


@pytest.mark.parametrize("scan", ["random", "ordered"])
def test_a_chain_depends_on_its_number_and_not_on_how_many_there_are(scan: str) -> None:
    dn = network("unequal cardinalities")
    options: dict[str, Any] = {"scan": scan, "start": START, "burn_in": 10, "thin": 3, "seed": 5}
    for how in (options, {**options, "start": None}):
        assert dn.sample(200, chains=2, **how) == dn.sample(500, chains=5, **how)[:200]


def test_what_a_start_does_not_say_is_random() -> None:
    dn = network("unequal cardinalities")
    rows = codes_of(dn.sample(6000, chains=6000, start={"v1": "s1"}, given={"v4": "s1"}, burn_in=0, seed=1))
    assert (rows[:, [1, 4]] == 1).all()
    assert_drawn_from(rows[:, [0, 3]], np.full((3, 4), 1 / 12))


def test_what_is_given_overrules_the_start() -> None:
    rows = codes_of(network("unequal cardinalities").sample(9, start=START, given={"v3": "s1"}, burn_in=0, seed=1))
    assert rows[0].tolist() == [2, 1, 0, 1, 0]
    assert (rows[:, 3] == 1).all()


@pytest.mark.parametrize("name", ["binary", "unequal cardinalities", "binary, nine inputs"])
def test_threads_do_not_change_a_row(name: str) -> None:
    dn, found, before = network(name), [], fn.set_threads(1)
    for threads in (1, 2, 3):
        fn.set_threads(threads)
        found.append([dn.sample(60_000, scan=scan, chains=7, seed=1) for scan in ("random", "ordered")])
    fn.set_threads(before)
    assert found[0] == found[1] == found[2]


# ------------------------------------------------------------------------------------------------- actual Gibbs


@pytest.mark.parametrize("scan", ["random", "ordered"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_the_full_conditionals_of_a_bayesian_network_give_back_its_joint(seed: int, scan: str) -> None:
    net = random_network(seed, [2, 3, 2, 3], sharp=3.0)
    dn = fn.DependencyNetwork.from_joint(net)
    rows = dn.sample(100_000, scan=scan, thin=80, burn_in=2000, seed=seed)  # type: ignore[arg-type]
    assert_drawn_from(codes_of(rows), joint_of(net))


def test_actual_gibbs_given_evidence_reproduces_the_junction_tree() -> None:
    net = random_network(5, [3, 2, 4, 2, 3, 2, 2], sharp=3.0)
    dn = fn.DependencyNetwork.from_joint(net)
    given = {"v2": "s3", "v5": "s0"}
    rows = codes_of(dn.sample(60_000, given=given, thin=100, burn_in=2000, seed=1))
    for pair in ((0, 1), (3, 4), (4, 6)):
        p = fn.infer.marginal(net, [f"v{v}" for v in pair], given=given)
        assert_drawn_from(rows[:, list(pair)], p)


@pytest.mark.parametrize("scale", [1.0, 1e-170, 1e170])
def test_only_ratios_of_factors_matter(scale: float) -> None:
    """Three factors of 1e-170 are below every float."""
    x = fn.Variable("x", ["u", "v", "w"])
    third = [0.2 ** (1 / 3) * scale, 0.5 ** (1 / 3) * scale, 0.3 ** (1 / 3) * scale]
    dn = fn.DependencyNetwork([x], [ProductConditional(0, (), [x], [((0,), third)] * 3)])
    assert_drawn_from(codes_of(dn.sample(50_000, seed=1)), np.array([0.2, 0.5, 0.3]))


# ---------------------------------------------------------------------------------------------- states and zeros


def test_impossible_states_are_never_drawn_and_rare_ones_are() -> None:
    x, y = fn.Variable("x", range(5)), fn.Variable("y", [0, 1])
    rare = np.array([[0, 1e-4, 1 - 1e-4, 0, 0], [0, 0, 1, 0, 0]])
    dn = fn.DependencyNetwork.from_tables([x, y], {"x": ["y"]}, {"x": rare, "y": np.full(2, 0.5)}, allow_zeros=True)
    rows = codes_of(dn.sample(400_000, thin=1, burn_in=100, seed=1))
    counts = np.bincount(rows[:, 0], minlength=5)
    assert counts[[0, 3, 4]].tolist() == [0, 0, 0]
    assert counts[1] > 0


def test_wide_codes() -> None:
    """300 states need two bytes."""
    x, y = fn.Variable("x", range(300)), fn.Variable("y", [0, 1])
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.full(300, 5.0))
    dn = fn.DependencyNetwork.from_tables([x, y], {"y": ["x"]}, {"x": p, "y": rng.dirichlet([3, 3], size=300)})
    rows = dn.sample(100_000, thin=30, seed=1)
    assert rows.codes[0].dtype == np.uint16
    assert_drawn_from(codes_of(rows)[:, :1], p)


# ------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"n": 0}, FishernetError, "n must be an integer"),
        ({"n": -5}, FishernetError, "n must be an integer"),
        ({"n": 2.5}, FishernetError, "n must be an integer"),
        ({"n": True}, FishernetError, "n must be an integer"),
        ({"thin": 0}, FishernetError, "thin"),
        ({"burn_in": -1}, FishernetError, "burn_in"),
        ({"chains": 0}, FishernetError, "chains"),
        ({"scan": "systematic"}, FishernetError, "unknown scan 'systematic'"),
        ({"weights": [0.5, 0.5]}, FishernetError, "one number per variable"),
        ({"weights": [0.5, 0.2, 0.1, 0.1, 0.2]}, FishernetError, "sum to 1"),
        ({"weights": [1.2, -0.2, 0, 0, 0]}, FishernetError, "not negative"),
        ({"weights": [float("nan"), 1, 0, 0, 0]}, FishernetError, "finite"),
        ({"weights": {"w": 1.0}}, SchemaError, "no variable 'w'"),
        ({"weights": [0.2] * 5, "scan": "ordered"}, FishernetError, "takes no weights"),
        ({"weights": [1, 0, 0, 0, 0], "given": {"v0": "s0"}}, FishernetError, "all have weight 0"),
        ({"given": {"v1": "s7"}}, UnknownStateError, "'s7'"),
        ({"given": {"w": "s0"}}, SchemaError, "no variable 'w'"),
        ({"given": [("v0", "s0")]}, SchemaError, "mapping"),
        ({"given": START}, FishernetError, "every variable is given"),
        ({"start": {"v1": "s7"}}, UnknownStateError, "'s7'"),
        ({"start": {"w": "s0"}}, SchemaError, "no variable 'w'"),
        ({"seed": -1}, FishernetError, "seed"),
    ],
)
def test_what_makes_no_sense_is_refused(options: dict[str, Any], error: type[FishernetError], message: str) -> None:
    dn = network("unequal cardinalities")
    with pytest.raises(error, match=message):
        dn.sample(**{"n": 10, **options})


def test_starts_that_do_not_fit_are_refused() -> None:
    dn = network("unequal cardinalities")
    two = fn.Table.from_codes([START_CODES] * 2, dn.variables)
    with pytest.raises(FishernetError, match="one row, or one for each of 3 chains"):
        dn.sample(9, chains=3, start=two)
    with pytest.raises(FishernetError, match="missing"):
        dn.sample(9, start=fn.Table.from_codes([[2, 1, 1, 3, 0]], dn.variables))
    with pytest.raises(SchemaError, match="lacks"):
        dn.sample(9, start=two[:1].select(["v0", "v1"]))
