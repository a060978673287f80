"""The study of dependency networks, on tiny sizes: facts of P2 and of arithmetic."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import numpy as np
import pytest

import fishernet as fn
from studies.dependency_networks import clamping, growth, measures, orbits, sizes, tables, theorem_3, trees
from studies.dependency_networks.__main__ import main, parser
from studies.dependency_networks.published import PUBLISHED
from studies.dependency_networks.truths import DataSet, Truth, bn20_37, data_sets, ising
from tests.networks import random_network


@pytest.fixture(scope="module")
def grid() -> Truth:
    return ising(3, 3)


@pytest.fixture(scope="module")
def learned(grid: Truth) -> tables.Learned:
    return tables.learn(DataSet("tiny", grid, grid.model.sample(20_000, seed=1)))


# ------------------------------------------------------------------------------------------------ truths and measures


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
    assert round(float(given), 2) == PUBLISHED["Ising5x5L"].entropy_given_0


def test_bn20_37_file_counts_its_rows_with_the_first_parent_fastest(tmp_path: Path) -> None:
    ones = [[0.3], [0.6], [0.1, 0.2, 0.3, 0.4]]
    (tmp_path / "reference").mkdir()
    held = {"parents": [[], [], [0, 1]], "p_x1_given_parents": ones}
    (tmp_path / "reference" / "bn20-37.json").write_text(json.dumps(held))
    truth = bn20_37(tmp_path)
    assert truth is not None
    joint = truth.joint()
    assert joint[1, 0, 1] / joint[1, 0].sum() == pytest.approx(0.2, rel=1e-12)
    assert joint[0, 1, 1] / joint[0, 1].sum() == pytest.approx(0.3, rel=1e-12)


@pytest.mark.parametrize("folder", [None, Path("no-such-folder")])
def test_without_its_file_there_is_no_bn20_37(folder: Path | None) -> None:
    assert bn20_37(folder) is None


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
    assert theorem_3.mean_to_manifolds(pi, dn) == pytest.approx(fn.compare.inconsistency(dn), rel=1e-9)


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


# -------------------------------------------------------------------------------------------------------- the tables


def test_evaluations_are_n_and_n_less_one_per_iteration(learned: tables.Learned) -> None:
    """On the whole grid's structure every node adds its neighbours and stops: 24 additions and 9 last looks."""
    n = 9
    neighbours = sum(map(len, learned.data.truth.blankets))
    assert learned.found.inputs == tuple(tuple(sorted(of)) for of in learned.data.truth.blankets)
    assert learned.found.n_candidates == n + (n - 1) * (neighbours + n)


@pytest.mark.parametrize("name", sorted(PUBLISHED))
def test_printed_evaluations_are_n_and_n_less_one_per_iteration(name: str) -> None:
    n = 20 if name.startswith("BN") else 25
    assert (PUBLISHED[name].evaluations_dn - n) % (n - 1) == 0


def test_the_large_ising_set_takes_the_printed_evaluations() -> None:
    large = data_sets([ising(5, 5)])[1]
    assert fn.learn.local_structure(large.rows).n_candidates == PUBLISHED["Ising5x5L"].evaluations_dn == 2545


def test_more_output_rows_are_nearer_to_the_truth(learned: tables.Learned) -> None:
    at = tables.accuracy(learned, n_rows=(200, 20_000))
    assert max(at.dn[1]) < min(at.dn[0])
    assert max(at.bn[1]) < min(at.bn[0])


def test_training_rows_are_farther_from_the_manifolds_than_the_truth(learned: tables.Learned) -> None:
    """P2's observation under Table 2 that the conditionals are not overfitted."""
    found = tables.manifolds(learned)
    assert (found.training > found.truth).all()
    assert (found.truth >= 0).all()


def test_a_bayesian_network_is_fitted_by_plain_frequencies_where_they_exist() -> None:
    dag = fn.Dag.from_edges(["v0", "v1"], [("v0", "v1")])
    full = fn.Table.from_codes([[0, 0], [0, 1], [1, 1]])
    net, how = tables.fit_bn(dag, full)
    assert how == "Eq. 25"
    np.testing.assert_array_equal(net.conditionals[1].probabilities, [[0.5, 0.5], [0.0, 1.0]])
    variables = [fn.Variable("v0", [0, 1]), fn.Variable("v1", [0, 1])]
    _, how = tables.fit_bn(dag, fn.Table.from_codes([[0, 0], [0, 1]], variables))
    assert how == "Algorithm 5"


# ------------------------------------------------------------------------------------------------- beyond the tables


def test_more_training_rows_come_nearer_to_the_truth() -> None:
    few, many = (sizes.at_size(ising(2, 3), n, exact=True, output_rows=1_000) for n in (100, 10_000))
    assert many.exact_dn < few.exact_dn
    assert many.exact_bn < few.exact_bn
    assert many.to_manifolds < few.to_manifolds


@pytest.mark.parametrize("n", [50, 1_000])
def test_theorem_3_holds_in_the_reports_numbers(n: int) -> None:
    at = theorem_3.ending(ising(2, 3), n)
    assert 0 < at.divergence <= at.bound
    assert 0 < at.training_divergence <= at.training_bound
    assert at.inconsistency > 0


def test_theorem_3_is_computed_alike_for_many_states(monkeypatch: pytest.MonkeyPatch) -> None:
    by_library = theorem_3.ending(ising(2, 3), 200)
    monkeypatch.setattr(theorem_3, "LARGEST_JOINT", 1)
    by_study = theorem_3.ending(ising(2, 3), 200)
    found, expected = (
        np.array([at.divergence, at.training_divergence, at.inconsistency]) for at in (by_study, by_library)
    )
    np.testing.assert_allclose(found, expected, rtol=1e-9)


# ---------------------------------------------------------------------------------------------------- learning time


def test_networks_of_any_size_have_two_near_parents() -> None:
    parents = growth.random_network(60).dag.parents
    assert [len(of) for of in parents] == [0, 1, *[2] * 58]
    assert all(v - growth.REACH <= p < v for v, of in enumerate(parents) for p in of)


def test_a_cost_is_measured_in_a_process_of_its_own() -> None:
    found, left_out = growth.costs((10, 20), n_rows=500)
    assert [at.n for at in found] == [10, 20]
    assert not left_out
    for at in found:
        dn = fn.learn.dependency_network(growth.random_network(at.n).sample(500, seed=growth.ROW_SEED))
        assert at.inputs == np.mean([len(of) for of in dn.inputs])
        assert at.candidates is not None
        assert (at.candidates - at.n) % (at.n - 1) == 0  # n, and n - 1 per iteration
        assert at.seconds > 0


def test_a_size_for_which_there_is_not_the_memory_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    before = growth.Cost(100, 2.0, None, 1.0, 10**6)
    monkeypatch.setattr(growth, "available_bytes", lambda: 4 * 10**6 + 1)
    assert growth.fits(before, 200)
    assert not growth.fits(before, 201)


def grown(e: float) -> list[growth.Cost]:
    return [growth.Cost(n, 2.0, None, 3e-6 * 2.0 * n**e, None) for n in (10, 200, 400, 1_000)]


def test_the_exponent_and_the_unit_of_exact_powers_are_found() -> None:
    assert growth.exponent(grown(1.7)) == pytest.approx(1.7, rel=1e-9)
    assert growth.unit(grown(2.0)) == pytest.approx(3e-6, rel=1e-9)


def test_what_a_call_costs_by_itself_does_not_count() -> None:
    slow_start = [growth.Cost(10, 2.0, None, 5.0, None), *grown(2.0)[1:]]
    assert growth.exponent(slow_start) == pytest.approx(2.0, rel=1e-9)


@pytest.fixture(scope="module")
def moved() -> tuple[orbits.Orbit, orbits.Orbit]:
    actual, pseudo = orbits.networks(ising(2, 3))
    return orbits.orbit(actual), orbits.orbit(pseudo)


def test_actual_gibbs_sampling_never_moves_away_from_its_end(moved: tuple[orbits.Orbit, orbits.Orbit]) -> None:
    """Each firing is an m-projection on a manifold through the end (Theorem 2 and the Pythagorean relation)."""
    actual = moved[0]
    assert (np.diff(actual.to_centre) <= 1e-12).all()
    assert actual.to_centre[-1] < 1e-6
    np.testing.assert_allclose(actual.radius, 0, atol=1e-12)


def test_pseudo_gibbs_sampling_ends_in_a_cycle(moved: tuple[orbits.Orbit, orbits.Orbit]) -> None:
    pseudo = moved[1]
    assert pseudo.to_cycle[-1] < 1e-4
    assert (pseudo.radius > 1e-6).all()


def test_the_cycle_lies_on_the_manifold_of_the_last_fired_and_averages_to_eq_7(
    moved: tuple[orbits.Orbit, orbits.Orbit],
) -> None:
    pseudo = moved[1]
    np.testing.assert_allclose(pseudo.to_manifold, 0, atol=1e-12)
    assert (pseudo.to_other_manifolds > 1e-6).all()
    assert pseudo.average_error < 1e-10


def test_conditioning_and_clamping_agree_if_and_only_if_a_joint_distribution_exists() -> None:
    truth = ising(2, 3)
    consistent = clamping.gaps(truth, fn.DependencyNetwork.from_joint(truth.model), 1)
    assert len(consistent) == 2 * 6
    np.testing.assert_allclose([[at.between, at.of_clamping] for at in consistent], 0, atol=1e-10)
    odd = clamping.gaps(truth, fn.learn.dependency_network(truth.model.sample(100, seed=5)), 2)
    assert len(odd) == 4 * 15
    assert sum(at.probability for at in odd) == pytest.approx(15, rel=1e-12)
    assert max(at.between for at in odd) > 1e-6


# ------------------------------------------------------------------------------------------------ the command line


def test_the_report_goes_to_the_documentation_unless_said_otherwise() -> None:
    assert parser().parse_args([]).output == Path("docs/studies/dependency-networks.md")


def test_the_large_state_space_is_not_computed_quickly(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["--quick", "--ising-stationary"])
    assert "leave --quick out" in capsys.readouterr().err


@pytest.mark.slow
def test_the_quick_report_has_every_part(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main(["--quick", "--output", str(tmp_path / "new" / "report.md")])
    text = (tmp_path / "new" / "report.md").read_text()
    assert "BN20-37 is left out" in text
    for title in ("Table 1", "Table 2", "Table 3", "Table 4", "Theorem 3", "Figs. 3 and 4", "2.4.1", "Learning time"):
        assert title in text
    assert "It holds in 12 of 12 cases." in text
    assert str(tmp_path) not in text
    capsys.readouterr()


def test_trees_and_direct_inputs_come_near_the_truth() -> None:
    direct, tree = trees.learn_both(ising(2, 3), 20_000, output_rows=2_000)
    assert (direct.inputs, tree.inputs) == ("direct", "tree")
    assert max(direct.to_manifolds, tree.to_manifolds) < 0.01
