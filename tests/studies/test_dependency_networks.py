"""The study of dependency networks, on tiny sizes: facts of the paper and of arithmetic."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import fishernet as fn
from studies.dependency_networks import exactly, measures, truths
from studies.dependency_networks import experiments as study
from studies.dependency_networks.truths import PRINTED, DataSet, Truth, data_sets, ising
from studies.study import Run
from tests.networks import random_network


@pytest.fixture(scope="module")
def grid() -> Truth:
    return ising(3, 3)


@pytest.fixture(scope="module")
def learned(grid: Truth) -> study.Learned:
    return study.learn(DataSet("tiny", grid, grid.model.sample(20_000, seed=1)))


def test_ising_gives_each_state_what_its_energy_says() -> None:
    """exp(J sum over the edges), by enumeration."""
    height, width, coupling = 2, 3, 0.7
    edges = [((r, c), (r, c + 1)) for r in range(height) for c in range(width - 1)]
    edges += [((r, c), (r + 1, c)) for r in range(height - 1) for c in range(width)]
    weights = np.empty((2,) * 6)
    for state in product((0, 1), repeat=6):
        spin = 2 * np.array(state).reshape(height, width) - 1
        weights[state] = np.exp(coupling * sum(spin[a] * spin[b] for a, b in edges))
    np.testing.assert_allclose(ising(height, width, coupling).joint(), weights / weights.sum(), rtol=1e-12)


def test_ising_5x5_at_the_coupling_of_the_study_has_the_printed_conditional_entropy() -> None:
    p = fn.infer.marginal(ising(5, 5).model, ["X0", "X1", "X5"])
    given = -(p * np.log(p / p.sum(axis=0))).sum()
    assert f"{given:.2f}" == PRINTED["Ising5x5L"][1][2]


def test_bn20_37_file_counts_its_rows_with_the_first_parent_fastest(tmp_path: Path) -> None:
    ones = [[0.3], [0.6], [0.1, 0.2, 0.3, 0.4]]
    held = {"parents": [[], [], [0, 1]], "p_x1_given_parents": ones}
    (tmp_path / "bn20-37.json").write_text(json.dumps(held))
    joint = truths.read_bn20_37(tmp_path / "bn20-37.json").joint()
    assert joint[1, 0, 1] / joint[1, 0].sum() == pytest.approx(0.2, rel=1e-12)
    assert joint[0, 1, 1] / joint[0, 1].sum() == pytest.approx(0.3, rel=1e-12)


def test_kl_of_rows_is_the_librarys_where_the_truth_is_a_bayesian_network() -> None:
    net = random_network(5, [2, 3, 2, 4])
    rows = net.sample(300, seed=2)
    assert measures.kl_of_rows(rows, Truth("random", net)) == pytest.approx(fn.compare.kl(rows, net), rel=1e-12)


@pytest.mark.parametrize("kind", ["bayesian", "markov"])
def test_exact_kl_is_that_of_the_joint_arrays(kind: str) -> None:
    net = random_network(6, [2] * 6, sharp=2.0)
    truth = ising(2, 3) if kind == "markov" else Truth("other", random_network(7, [2] * 6, sharp=2.0))
    renamed = fn.BayesianNetwork.from_tables(
        truth.model.variables,
        {f"{truth.names[v]}": [truth.names[p] for p in c.parents] for v, c in enumerate(net.conditionals)},
        {truth.names[v]: c.table() for v, c in enumerate(net.conditionals)},
    )
    joint = fn.infer.marginal(renamed, renamed.names)
    expected = fn.compare.kl(joint, truth.joint())
    assert measures.exact_kl(renamed, truth) == pytest.approx(expected, rel=1e-10)
    assert measures.exact_kl(joint, truth) == pytest.approx(expected, rel=1e-10)


def test_kl_of_the_truth_to_the_manifolds_is_that_of_its_joint_array(grid: Truth) -> None:
    dn = fn.learn.dependency_network(grid.model.sample(500, seed=3))
    joint = grid.joint()
    expected = [fn.compare.kl_to_manifold(joint, dn, name) for name in dn.names]
    np.testing.assert_allclose(measures.truth_to_manifolds(grid, dn), expected, rtol=1e-9)


def test_divergences_of_many_states_are_right_to_three_percent(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = ising(3, 4)
    for n in (1_000, 100_000):
        dn = fn.learn.dependency_network(truth.model.sample(n, seed=5))
        exact = measures.exact_kl(measures.stationary(dn), truth)
        monkeypatch.setattr(measures, "MANY", 2**10)
        assert measures.exact_kl(measures.stationary(dn), truth) == pytest.approx(exact, rel=0.03)
        monkeypatch.undo()


def test_conditional_divergence_is_the_librarys() -> None:
    rng = np.random.default_rng(8)
    p, q = rng.dirichlet(np.ones(32), size=2).reshape(2, *[2] * 5)
    expected = fn.compare.full_conditional_divergence(p, q)
    assert measures.conditional_divergence(p, q) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("n", [1, 40, 400])
def test_conditional_divergence_of_rows_is_the_librarys(n: int) -> None:
    net = random_network(10, [2, 3, 2, 4])
    q = np.random.default_rng(11).dirichlet(np.ones(48)).reshape(2, 3, 2, 4)
    rows = net.sample(n, seed=12)
    expected = fn.compare.full_conditional_divergence(rows, q)
    assert measures.rows_conditional_divergence(rows, q) == pytest.approx(expected, rel=1e-10, abs=1e-13)


def test_mean_to_manifolds_is_the_librarys_inconsistency() -> None:
    dn = fn.learn.dependency_network(ising(2, 3).model.sample(200, seed=4))
    pi = fn.infer.stationary(dn)
    assert measures.mean_to_manifolds(pi, dn) == pytest.approx(fn.compare.inconsistency_of_conditionals(dn), rel=1e-9)


def test_acyclic_neighbours_are_those_of_enumeration() -> None:
    """Every graph one change away that `fn.Dag` takes."""
    rng = np.random.default_rng(9)
    n = 5
    for _ in range(30):
        arcs = np.triu(rng.random((n, n)) < 0.5, 1)
        order = rng.permutation(n)
        arcs = arcs[np.ix_(order, order)]
        count = 0
        for a, b in product(range(n), repeat=2):
            if a == b or arcs[b, a]:
                continue
            changed = arcs.copy()
            changed[a, b] = not arcs[a, b]
            count += is_acyclic(changed)  # an addition or a removal
            if arcs[a, b]:
                changed[b, a] = True
                count += is_acyclic(changed)  # a reversal
        assert measures.acyclic_neighbours(arcs) == count


def is_acyclic(arcs: np.ndarray[tuple[int, int], np.dtype[np.bool_]]) -> bool:
    """Whether no power of the matrix has a closed path."""
    steps = arcs.astype(np.int64)
    return not any(np.trace(np.linalg.matrix_power(steps, k)) for k in range(1, len(arcs) + 1))


def test_the_empty_graph_and_one_step_are_counted_as_algorithm_7_evaluates_them() -> None:
    """Three nodes: the empty graph, 6 additions, then 4 additions of other arcs, 1 removal and 1 reversal."""
    step = fn.learn.Step("add", "a", "b", 1.0)
    assert measures.candidates_of_climb(["a", "b", "c"], [step]) == 1 + 6 + (4 + 1 + 1)


@pytest.mark.parametrize("name", sorted(PRINTED))
def test_printed_evaluations_are_n_and_n_less_one_per_iteration(name: str) -> None:
    n = 20 if name.startswith("BN") else 25
    assert (PRINTED[name][2][0] - n) % (n - 1) == 0


def test_the_large_ising_set_takes_the_printed_evaluations() -> None:
    large = data_sets([ising(5, 5)])[1]
    assert fn.learn.local_structure(large.rows).n_candidates == PRINTED["Ising5x5L"][2][0] == 2545


def test_training_rows_are_farther_from_the_manifolds_than_the_truth(learned: study.Learned) -> None:
    """The paper's observation under Table 2 that the conditionals are not overfitted."""
    training, truth = study.manifolds_of(learned)
    assert (training > truth).all()
    assert (truth >= 0).all()


def test_a_bayesian_network_is_fitted_by_plain_frequencies_where_they_exist() -> None:
    dag = fn.Dag.from_edges(["v0", "v1"], [("v0", "v1")])
    full = fn.Table.from_codes([[0, 0], [0, 1], [1, 1]])
    net, how = study.fit_bn(dag, full)
    assert how == "Eq. 25"
    np.testing.assert_array_equal(net.conditionals[1].probabilities, [[0.5, 0.5], [0.0, 1.0]])
    variables = [fn.Variable("v0", [0, 1]), fn.Variable("v1", [0, 1])]
    _, how = study.fit_bn(dag, fn.Table.from_codes([[0, 0], [0, 1]], variables))
    assert how == "Algorithm 5"


@pytest.mark.parametrize("n", [50, 1_000])
def test_theorem_3_holds_in_the_reports_numbers(n: int) -> None:
    _, left, bound, of_training, bound_of_training, inconsistency = study.ending(ising(2, 3), n)
    assert 0 < left <= bound
    assert 0 < of_training <= bound_of_training
    assert inconsistency > 0


def test_networks_of_any_size_have_two_near_parents() -> None:
    parents = truths.random_network(60).dag.parents
    assert [len(of) for of in parents] == [0, 1, *[2] * 58]
    assert all(v - 20 <= p < v for v, of in enumerate(parents) for p in of)


def test_a_cost_is_measured_in_a_process_of_its_own_where_there_is_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    found = study.costs((10, 20), n_rows=500)
    assert [at.n for at in found] == [10, 20]
    for at in found:
        dn = fn.learn.dependency_network(truths.random_network(at.n).sample(500, seed=701))
        assert at.inputs == np.mean([len(of) for of in dn.inputs])
        assert at.candidates is not None
        assert (at.candidates - at.n) % (at.n - 1) == 0  # n, and n - 1 per iteration
    if found[0].peak_bytes:
        monkeypatch.setattr(measures, "memory", lambda *_: 10**6)
        assert [at.n for at in study.costs((10, 20), n_rows=500)] == [10]


def grown(e: float) -> list[study.Cost]:
    return [study.Cost(n, 2.0, None, 3e-6 * 2.0 * n**e, None) for n in (10, 200, 400, 1_000)]


def test_the_exponent_and_the_unit_of_exact_powers_are_found() -> None:
    assert study.growth(grown(1.7))[0] == pytest.approx(1.7, rel=1e-9)
    slow_start = [study.Cost(10, 2.0, None, 5.0, None), *grown(2.0)[1:]]  # what a call costs by itself does not count
    assert study.growth(slow_start) == pytest.approx((2.0, 3e-6), rel=1e-9)


@pytest.fixture(scope="module")
def moved() -> tuple[study.Orbit, study.Orbit]:
    truth = ising(2, 3)
    return study.orbit(fn.DependencyNetwork.from_joint(truth.model)), study.orbit(study.pseudo_network(truth))


def test_actual_gibbs_sampling_never_moves_away_from_its_end(moved: tuple[study.Orbit, study.Orbit]) -> None:
    """Each update is an m-projection on a manifold through the end (Theorem 2 and the Pythagorean relation)."""
    actual = moved[0]
    assert (np.diff(actual.to_centre) <= 1e-12).all()
    assert actual.to_centre[-1] < 1e-6
    np.testing.assert_allclose(actual.radius, 0, atol=1e-12)


def test_the_cycle_lies_on_the_manifold_of_the_last_fired_and_averages_to_eq_7(
    moved: tuple[study.Orbit, study.Orbit],
) -> None:
    pseudo = moved[1]
    np.testing.assert_allclose(pseudo.to_manifold, 0, atol=1e-12)
    assert (pseudo.to_other_manifolds > 1e-6).all()
    assert pseudo.average_error < 1e-10


def test_conditioning_and_clamping_agree_if_and_only_if_a_joint_distribution_exists() -> None:
    truth = ising(2, 3)
    consistent = study.gaps(truth, fn.DependencyNetwork.from_joint(truth.model), 1)
    assert len(consistent) == 2 * 6
    np.testing.assert_allclose(consistent[:, [1, 3]], 0, atol=1e-10)
    odd = study.gaps(truth, fn.learn.dependency_network(truth.model.sample(100, seed=5)), 2)
    assert len(odd) == 4 * 15
    assert odd[:, 0].sum() == pytest.approx(15, rel=1e-12)
    assert odd[:, 1].max() > 1e-6


@pytest.mark.slow
def test_the_quick_form_has_every_part_and_theorem_3_holds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    costs = [study.cost(n, 500) for n in (20, 30, 40)]
    monkeypatch.setattr(study, "costs", lambda _: costs)  # in this process, of few variables
    monkeypatch.setattr(exactly, "SMALL", exactly.SMALL[:5])  # of which the quick form takes every fourth
    monkeypatch.setattr(study, "OTHER", study.OTHER[:1])
    monkeypatch.setattr(study, "BY_SIZE", study.BY_SIZE[:1])
    monkeypatch.setattr(study, "OUTPUT_ROWS", 10_000)
    monkeypatch.setattr(study, "sizes_of", lambda _: [100, 1_000])
    gaps, letter = study.gaps, study.trees_of_letter
    monkeypatch.setattr(study, "trees_of_letter", lambda n: letter(n // 4))
    monkeypatch.setattr(study, "gaps", lambda truth, dn, _: gaps(truth, dn, 1))  # two take long, and are tested above
    tables = {table.name: table for table in study.compute(Run("quick"))}
    assert len(tables) == 17
    rows = [row[3:7] for row in tables["theorem-3"].rows]
    assert all(left <= bound and of_rows <= bound_of_rows for left, bound, of_rows, bound_of_rows in rows)
    study.draw(tables, lambda name: tmp_path / f"{name}.svg")
    assert {path.stem for path in tmp_path.iterdir()} == {"growth", "exact", "firings", "ways"}


def test_with_cycles_algorithm_7_has_as_many_candidates_as_pairs_and_arcs() -> None:
    """Three nodes: 6 additions; then, with one arc, 5 additions, one of them a cycle, 1 removal and 1 reversal."""
    step = fn.learn.Step("add", "a", "b", 1.0)
    assert measures.all_candidates_of_climb(3, [step]) == 6 + (5 + 1 + 1)


@pytest.mark.parametrize("name", ["random 1", "glass 0", "Ising3x4, J = 0.2"])
def test_exact_divergences_are_those_of_the_joint_arrays(name: str) -> None:
    truth = exactly.truth_of(name)
    assert len(truth.names) == 12
    dn_kl, bn_kl, dn_back, bn_back, *_ = exactly.exactly(name, 2_000, 1)
    rows = truth.model.sample(2_000, seed=1)
    pi = fn.infer.stationary(fn.learn.dependency_network(rows, score="mdl", smoothing="zeros"))
    p = truth.joint()
    assert dn_kl == pytest.approx(fn.compare.kl(pi, p), rel=1e-4)
    assert dn_back == pytest.approx(fn.compare.kl(p, pi), rel=1e-4)
    assert bn_kl > 0
    assert bn_back > 0
