"""The study of qNML, on tiny sizes: facts of P4 and of arithmetic."""

from __future__ import annotations

import json
from itertools import combinations, permutations, product
from math import comb, log
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

import fishernet as fn
from studies.pool import Pool, pool
from studies.qnml import equivalent_sample_size as ess
from studies.qnml import nml, prediction, structure, tables, ties, verdict
from studies.qnml.__main__ import main
from studies.qnml.criteria import CRITERIA, fit, learn
from studies.qnml.published import ASIA, PRINTED, curves
from studies.qnml.report import Options
from tests.networks import random_network

HERE = Pool(None)
UNIONS = [name for name in nml.SHAPES if name not in (nml.STAR, nml.COLLIDER)]


def brute_force_penalty(dag: fn.Dag, n: int) -> float:
    """P4's Eq. 4.3 as it stands: every data matrix of binary variables, its likelihood by relative frequencies."""
    total = 0.0
    for cells in product((0, 1), repeat=n * len(dag.names)):
        rows = np.array(cells).reshape(n, -1)
        likelihood = 1.0
        for row in rows:
            for v, parents in enumerate(dag.parents):
                alike = (rows[:, parents] == row[list(parents)]).all(axis=1)
                likelihood *= (rows[alike, v] == row[v]).mean()
        total += likelihood
    return log(total)


@pytest.mark.parametrize("name", nml.SHAPES)
def test_exact_penalty_is_the_sum_over_all_data_matrices(name: str) -> None:
    dag = nml.shape(name)
    for n in (1, 3):
        assert nml.by_enumeration(dag, n).exact == pytest.approx(brute_force_penalty(dag, n), abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_closed_forms_are_the_enumeration(n: int) -> None:
    """All figures: the exact penalty, the means and the range of the others."""
    for closed, name in ((nml.of_star(n), nml.STAR), (nml.of_collider(n), nml.COLLIDER)):
        listed = nml.by_enumeration(nml.shape(name), n)
        for field in ("exact", "qnml", "fnml", "fnml_range", "bic"):
            assert getattr(closed, field) == pytest.approx(getattr(listed, field), abs=1e-10)


@pytest.mark.parametrize("name", UNIONS)
def test_qnml_is_exact_on_unions_of_tournaments(name: str) -> None:
    """P4, section 4.2.2."""
    at = nml.by_enumeration(nml.shape(name), 6)
    assert at.qnml == pytest.approx(at.exact, abs=1e-12)


@pytest.mark.parametrize("name", [nml.STAR, nml.COLLIDER])
def test_qnml_is_not_exact_on_other_graphs(name: str) -> None:
    at = nml.by_enumeration(nml.shape(name), 6)
    assert abs(at.qnml - at.exact) > 0.05


@pytest.mark.parametrize("name", nml.SHAPES)
def test_fnml_is_exact_on_the_empty_graph_only(name: str) -> None:
    """P4, section 4.2.2."""
    at = nml.by_enumeration(nml.shape(name), 6)
    assert (abs(at.fnml - at.exact) < 1e-12) == (not nml.shape(name).edges)


@pytest.mark.parametrize(("name", "free"), [("A  B", 2), ("A -> B", 3), (nml.STAR, 5), (nml.COLLIDER, 6)])
def test_bic_takes_half_a_logarithm_a_free_parameter(name: str, free: int) -> None:
    assert nml.by_enumeration(nml.shape(name), 5).bic == pytest.approx(free / 2 * log(5), rel=1e-12)


@pytest.mark.parametrize(("n", "cells"), [(0, 3), (5, 1), (4, 3), (3, 8)])
def test_compositions_are_all_vectors_of_counts_once(n: int, cells: int) -> None:
    rows = nml.compositions(n, cells)
    assert rows.shape == (comb(n + cells - 1, cells - 1), cells)
    assert len({tuple(row) for row in rows}) == len(rows)
    assert (rows.sum(axis=1) == n).all()
    assert rows.min() >= 0


@pytest.mark.parametrize(("n", "expected"), [(1, 1), (2, 3), (3, 13), (4, 73)])
def test_the_unions_of_tournaments_are_as_many_as_the_sets_of_lists(n: int, expected: int) -> None:
    """OEIS A000262: the acyclic tournaments are the orders, and so their unions the sets of lists."""
    names = "ABCD"[:n]
    found = {
        edges
        for order in permutations(names)
        for k in range(comb(n, 2) + 1)
        for edges in map(frozenset, combinations(combinations(order, 2), k))
    }
    dags = [fn.Dag.from_edges(list(names), sorted(edges)) for edges in found]
    assert sum(map(nml.is_union_of_tournaments, dags)) == expected


def test_equal_distances_have_one_rank_and_the_next_larger_the_next() -> None:
    found = structure.Recovery(("Asia",), (10,), np.array([[[[3, 1, 1, 2]], [[0, 0, 0, 0]]]]))
    np.testing.assert_allclose(found.ranks, [[2, 1, 1, 1.5]])


def test_means_and_errors_are_over_the_repetitions() -> None:
    shd = np.array([[[[0, 1, 2, 3]], [[2, 1, 4, 5]]]])
    found = structure.Recovery(("Asia",), (10,), shd)
    np.testing.assert_allclose(found.mean, [[[1, 1, 3, 4]]])
    np.testing.assert_allclose(found.error, [[[1, 0, 1, 1]]])  # sd sqrt(2), over sqrt(2)


def test_a_single_repetition_has_no_error() -> None:
    assert np.isnan(structure.Recovery(("Asia",), (10,), np.ones((1, 1, 1, 4), dtype=np.int64)).error).all()


def test_recovery_does_not_depend_on_the_number_of_processes() -> None:
    alone = structure.recover(["Asia"], None, [20, 200], 3, HERE)
    with pool(2) as two:
        np.testing.assert_array_equal(structure.recover(["Asia"], None, [20, 200], 3, two).shd, alone.shd)
    assert alone.shd.shape == (1, 3, 2, 4)


def test_every_repetition_and_size_has_its_own_rows() -> None:
    found = structure.recover(["Asia"], None, [50, 60], 8, HERE).shd[0]
    assert len({tuple(row) for row in found.reshape(8, -1)}) > 4
    assert (found[:, 0] != found[:, 1]).any()


def test_more_rows_bring_the_networks_nearer() -> None:
    found = structure.recover(["Asia"], None, [20, 5_000], 5, HERE)
    bic = CRITERIA.index("BIC")
    assert found.mean[0, 1, bic] < found.mean[0, 0, bic] - 2


def test_a_constant_parent_is_free_for_fnml_alone() -> None:
    """What the report says of ties: its one configuration that occurs has the regret of all rows."""
    cells = np.column_stack([np.zeros(8), [0, 1] * 4]).astype(int)
    rows = fn.Table.from_codes(cells, [fn.Variable(name, [0, 1]) for name in "ab"])
    gains = {
        c: fn.local_score(rows, "b", ["a"], c.lower()) - fn.local_score(rows, "b", [], c.lower()) for c in CRITERIA
    }
    assert gains["fNML"] == pytest.approx(0, abs=1e-12)
    assert max(gains["BIC"], gains["qNML"]) < -0.1


def test_columns_that_are_equal_leave_the_choice_to_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """A -> B -> C, all alike: one tree of three equal columns has distance 0, the others 2.

    BDeu takes the triangle, though it fits no better: it is not regular (P4, section 4.1.1, after Suzuki).
    """
    variables = [fn.Variable(name, [0, 1]) for name in "ABC"]
    cpts = {"A": np.full(2, 0.5), "B": np.eye(2), "C": np.eye(2)}
    net = fn.BayesianNetwork.from_tables(variables, {"B": ["A"], "C": ["B"]}, cpts)
    monkeypatch.setattr(ties, "network", lambda *_: net)
    least, mean, most = ties.orders(ties.Task(None, 50, 0))
    np.testing.assert_array_equal(least, [1, 0, 0, 0])
    np.testing.assert_array_equal(most, [1, 2, 2, 2])
    assert ((mean[1:] > 0) & (mean[1:] < 2)).all()


def test_without_ties_the_order_of_the_columns_is_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    net = random_network(3, [2, 3, 2, 2])
    monkeypatch.setattr(ties, "network", lambda *_: net)
    least, mean, most = ties.orders(ties.Task(None, 5_000, 0))
    np.testing.assert_array_equal(least, most)
    np.testing.assert_array_equal(least, mean)


def test_to_bdeu_all_parents_with_a_configuration_a_row_are_the_same() -> None:
    """What the report says of large networks: each row costs log r, be it two parents or three."""
    cells = [[*map(int, f"{row:03b}"), row % 3 % 2] for row in (0, 3, 4, 7)]
    rows = fn.Table.from_codes(cells, [fn.Variable(name, [0, 1]) for name in "abcd"])
    for parents in ("ab", "ac", "abc"):
        assert fn.local_score(rows, "d", parents, "bdeu") == pytest.approx(-4 * log(2), rel=1e-12)


def test_only_asia_is_there_without_a_folder(tmp_path: Path) -> None:
    assert structure.available(None) == ("Asia",)
    (tmp_path / "networks").mkdir()
    (tmp_path / "networks" / "survey.bif.gz").touch()
    assert structure.available(tmp_path) == ("Asia", "Survey")


def test_there_are_28_sizes_from_10_to_10_000() -> None:
    assert (len(structure.SIZES), structure.SIZES[0], structure.SIZES[-1]) == (28, 10, 10_000)


def uci(folder: Path, name: str, text: str) -> Path:
    (folder / "uci").mkdir(exist_ok=True)
    (folder / "uci" / name).write_text(text)
    return folder


def test_numbers_are_cut_into_three_equal_widths_closed_on_the_right(tmp_path: Path) -> None:
    lines = "x,class\n0,7\n3,8\n3.5,9\n6,10\n6.5,7\n9,7\n"
    table = prediction.read.__wrapped__("Iris", uci(tmp_path, "iris.csv", lines))
    assert table.column("x").tolist() == [0, 0, 1, 1, 2, 2]
    assert table.variables[1].states == ("10", "7", "8", "9")


def test_few_numbers_stay_as_they_are_and_incomplete_rows_go(tmp_path: Path) -> None:
    table = prediction.read.__wrapped__("Iris", uci(tmp_path, "iris.csv", "x,class\n0,a\n5,b\n?,a\n6,b\n0,?\n"))
    assert table.variables[0].states == (0, 5, 6)
    assert table.n_rows == 3


def test_the_states_of_balance_are_not_cut(tmp_path: Path) -> None:
    text = "x,class\n" + "".join(f"{x},L\n" for x in range(1, 6))
    assert prediction.read.__wrapped__("Balance", uci(tmp_path, "balance-scale.csv", text)).cardinalities == (5, 1)


def test_the_class_of_abalone_is_cut(tmp_path: Path) -> None:
    text = "x,class\n" + "".join(f"a,{rings}\n" for rings in range(1, 10))
    table = prediction.read.__wrapped__("Abalone", uci(tmp_path, "abalone.csv", text))
    assert table.column("class").tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]


def test_the_names_of_yeast_are_left_out(tmp_path: Path) -> None:
    table = prediction.read.__wrapped__("Yeast", uci(tmp_path, "yeast.csv", "name,x,class\nq,1,a\nr,2,b\n"))
    assert table.names == ("x", "class")


def test_only_tables_with_a_file_are_there(tmp_path: Path) -> None:
    uci(tmp_path, "wine.csv", "")
    assert prediction.available(tmp_path) == ("Wine",)
    assert prediction.available(None) == ()


def test_bdeu_predicts_with_its_own_parameters_and_the_others_with_sequential_nml() -> None:
    """(N_k + ess / (r q)) normalized; e(n) (n + 1) normalized with e(n) = ((n + 1) / n)^n, e(0) = 1."""
    rows = fn.Table.from_codes([[0], [0], [1]], [fn.Variable("x", ["a", "b", "c"])])
    empty = fn.Dag(["x"], [[]])
    for criterion in CRITERIA:
        weights = np.array([(3 / 2) ** 2 * 3, 2 * 2, 1]) if criterion != "BDeu" else np.array([2, 1, 0]) + 1 / 3
        found = fit(empty, rows, criterion).conditional("x").probabilities.ravel()
        np.testing.assert_allclose(found, weights / weights.sum(), rtol=1e-12)


def test_log_loss_is_that_of_the_rows_that_were_not_trained_on(tmp_path: Path) -> None:
    """One variable, always `a`: one state has probability 1, so 10 rows cost nothing; a second one is never seen."""
    uci(tmp_path, "iris.csv", "class\n" + "a\n" * 9 + "b\n")
    for repetition in range(5):
        task = prediction.Task("Iris", tmp_path, (50,), repetition)
        losses, parameters = prediction.repeat(task)
        order = np.random.default_rng([prediction.SEED, repetition]).permutation(10)
        trained_on_b, n = 9 in order[:5], 5
        seen = np.array([4, 1]) if trained_on_b else np.array([5, 0])
        test = np.array([5, 0]) if trained_on_b else np.array([4, 1])
        bdeu = np.log((seen + 1 / 2) / (n + 1))
        weights = np.array([((k + 1) / k) ** k * (k + 1) if k else 1.0 for k in seen])
        snml = np.log(weights / weights.sum())
        expected = [-(test @ bdeu) / 5, *[-(test @ snml) / 5] * 3]
        np.testing.assert_allclose(losses, [expected], rtol=1e-12)
        np.testing.assert_array_equal(parameters, np.ones((1, 4)))


def test_ties_of_log_losses_share_the_mean_rank() -> None:
    losses = np.array([[[2.0, 1.0, 1.0 + 1e-12, 3.0]]])
    found = prediction.Predicted("Iris", 10, (3,), (10,), losses, losses)
    np.testing.assert_allclose(found.mean_ranks, [3, 1.5, 1.5, 4])


def test_shares_are_of_one_permutation(tmp_path: Path) -> None:
    """What is trained on at 90 % of the rows holds what is trained on at 10 %, so equal repetitions are equal."""
    uci(tmp_path, "iris.csv", "x,class\n" + "".join(f"{k % 2},{'ab'[k // 2 % 2]}\n" for k in range(20)))
    both = prediction.predict("Iris", tmp_path, (10, 90), 3, HERE)
    late = prediction.predict("Iris", tmp_path, (90,), 3, HERE)
    np.testing.assert_array_equal(both.losses[:, 1:], late.losses)


def test_a_large_equivalent_sample_size_fills_the_graph() -> None:
    """P4, section 4.1.1, after Silander et al. 2007."""
    truth = structure.network("Asia", None)
    few, many = ess.by_ess(truth, [1e-3, 1e4], n_rows=300)
    assert few.arcs < 0.3 * comb(8, 2)
    assert many.arcs > 0.8 * comb(8, 2)


def test_the_value_of_what_is_chosen_is_its_score() -> None:
    truth = structure.network("Asia", None)
    rows = truth.sample(200, seed=1)
    dag = learn(rows, "BDeu", ess=7.0)
    found = ess.chosen(rows, truth, "BDeu", ess=7.0)
    assert found.score == fn.score(dag, rows, "bdeu", ess=7.0)
    assert (found.arcs, found.shd) == (dag.n_edges, fn.shd(dag, truth.dag))


def test_printed_ranks_of_a_data_set_sum_to_ten() -> None:
    """Four ranks, ties not below their mean; two digits each are printed."""
    assert len(PRINTED) == 20
    for of in PRINTED.values():
        assert sum(of.ranks) == pytest.approx(10, abs=0.021)


def test_printed_ranks_have_the_printed_means() -> None:
    means = np.mean([of.ranks for of in PRINTED.values()], axis=0)
    np.testing.assert_allclose(means, [2.95, 2.57, 2.10, 2.37], atol=0.006)


def test_curves_are_read_by_criterion(tmp_path: Path) -> None:
    (tmp_path / "reference").mkdir()
    by_criterion = {"qNML": [4.0, 8.0], "fNML": [3.0, 7.0], "BIC": [2.0, 6.0], "BDeu": [1.0, 5.0]}
    held = {"sample_sizes": [10, 20], "rank": by_criterion, "shd": {"Cancer": by_criterion}}
    (tmp_path / "reference" / "qnml-structure.json").write_text(json.dumps(held))
    (tmp_path / "reference" / "qnml-prediction.json").write_text(json.dumps({"Iris": {"pred": by_criterion}}))
    found = curves(tmp_path)
    np.testing.assert_array_equal(found.average_ranks((20,)), [[5, 6, 7, 8]])
    np.testing.assert_array_equal(found.distances("Cancer", (10, 30)), [[1, 2, 3, 4], [np.nan] * 4])
    np.testing.assert_array_equal(found.log_losses("Iris", (20,)), [[5, 6, 7, 8]])


def test_without_a_folder_the_curves_of_asia_are_known() -> None:
    np.testing.assert_array_equal(curves(None).distances("Asia", (100,)), [ASIA[100]])
    assert np.isnan(curves(None).average_ranks((100,))).all()


@pytest.mark.parametrize(("here", "agrees"), [(1.0, True), (1.31, True), (1.32, False), (0.69, True), (0.68, False)])
def test_figures_agree_within_three_standard_errors_and_the_reading_of_a_curve(here: float, agrees: bool) -> None:
    assert verdict.Pair("it", here, 1.0, 0.1).agrees is agrees


def test_the_error_of_a_difference_is_that_of_both_means() -> None:
    """Ours has sd / sqrt(n), theirs sd / sqrt(1000)."""
    assert verdict.both_errors(2.0, 1_000) == pytest.approx(2.0 * 2**0.5, rel=1e-12)
    assert verdict.both_errors(float("nan"), 1) == np.inf


def test_claims_are_judged_by_the_average_ranks() -> None:
    """Distances in which qNML is the worst at 10 rows, and the only best one at 400 and 500."""
    shd = np.array([[[[1, 0, 1, 2], [2, 1, 3, 0], [1, 1, 1, 0]]]])
    worst, best, small = verdict.claims(structure.Recovery(("Asia",), (10, 400, 500), shd))
    assert worst.startswith("qNML is at 10 rows the worst")
    assert "best at 2 of 2" in best
    assert "best at 1 of 1" in small


def test_a_cell_holds_mean_error_and_published() -> None:
    assert tables.cell(1.234, 0.056, 1.2) == "1.23 ± 0.06 (1.20)"
    assert tables.cell(1.234, float("nan"), float("nan")) == "1.23"


def test_names_of_lines_keep_their_order_and_a_distance() -> None:
    pytest.importorskip("matplotlib")
    from studies.figures import APART, shifts

    ends = [0.0, 0.1, 5.0, 0.1]
    points = [72 * 4.0 * 0.78 / 10 * end for end in ends]
    at = [point + up for point, up in zip(points, shifts(ends, (0.0, 10.0)), strict=True)]
    assert [at.index(height) for height in sorted(at)] == [0, 1, 3, 2]
    assert min(b - a for a, b in zip(sorted(at), sorted(at)[1:], strict=False)) >= APART - 1e-9
    assert min(at) >= 0
    assert shifts(ends, (0.0, 10.0))[2] == pytest.approx(0, abs=1e-9)


def test_figures_are_shown_from_the_folder_below_the_report(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    from studies.qnml.drawing import curves as draw

    shown = Options(figures=tmp_path / "figures").draw("it", "What it is")
    assert shown is not None
    path, text = shown
    draw(path, [1, 10], np.ones((2, 4)), np.ones((2, 4)), x_name="rows", y_name="rank", title="it", log="x")
    assert ElementTree.parse(path).getroot().tag == "{http://www.w3.org/2000/svg}svg"
    assert text == f"![What it is]({path.relative_to(tmp_path)})"
    assert Options().draw("it", "What it is") is None


@pytest.mark.parametrize("wrong", [["--repetitions", "0"], ["--processes", "0"]])
def test_no_repetitions_and_no_processes_are_refused(wrong: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(wrong)
    assert "at least 1" in capsys.readouterr().err


@pytest.mark.slow
def test_the_quick_form_needs_no_data(tmp_path: Path) -> None:
    output = tmp_path / "new" / "report.md"
    main(["--quick", "--repetitions", "2", "--processes", "1", "--output", str(output)])
    text = output.read_text()
    assert "nothing is published" in text
    assert "5 unions of tournaments" in text
    assert not (output.parent / "figures").exists()
