"""The study of nearest neighbours, on tiny sizes: facts of EXPERIMENTS and of arithmetic."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from scipy import stats

import fishernet as fn
from studies.kept import Kept
from studies.knn_mi import methods, proteins, recovery, report, schemes, truths, verdict
from studies.knn_mi.__main__ import main
from studies.knn_mi.options import FORMS, Options
from studies.knn_mi.recovery import Limit, Plan
from studies.pool import Pool

HERE = Kept(Pool(None))
LINES = ("knnMI", "fisherZ")


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_the_small_graph_is_the_moral_graph_of_its_dag_and_chordal() -> None:
    """EXPERIMENTS 2: eight edges, two triangles and a fork."""
    _, graph = truths.SevenNodes(True, "Gaussian").draw(5, rng())
    dag = fn.Dag(graph.names, truths.PARENTS)
    assert fn.graphs.moral(dag) == graph
    assert graph.n_edges == 8
    assert fn.graphs.is_chordal(graph)


def test_copies_are_not_joined() -> None:
    rows, graph = truths.SevenNodes(False, "uniform", copies=3).draw(40, rng())
    assert rows.shape == (40, 21)
    assert graph.n_edges == 24
    assert [len(part) for part in graph.components()] == [7, 7, 7]


def test_linear_rows_have_the_covariance_of_their_coefficients() -> None:
    """X = B X + e, so the covariance is (I - B)^-1 (I - B)^-T."""
    b = np.zeros((7, 7))
    for child, parent, weight in [(1, 0, 0.8), (2, 0, 0.7), (2, 1, -0.8), (3, 2, 0.9), (4, 2, 0.8), (4, 3, 0.7),
                                  (5, 4, 0.8), (6, 4, -0.9)]:  # fmt: skip
        b[child, parent] = weight
    inverse = np.linalg.inv(np.eye(7) - b)
    rows, _ = truths.SevenNodes(True, "Gaussian").draw(200_000, rng())
    np.testing.assert_allclose(np.cov(rows.T), inverse @ inverse.T, rtol=0.03, atol=0.03)


def test_non_linear_nodes_are_functions_of_their_parents_and_noise() -> None:
    rows, _ = truths.SevenNodes(False, "uniform").draw(2_000, rng())
    x = rows.T
    expected = [
        0 * x[0],
        2 * np.cos(x[0]),
        2 * np.abs(x[0]) + 1.5 * np.sin(2 * x[1]),
        2 * np.log(np.abs(x[2]) + 0.1),
        2 * np.cos(x[2]) + x[3] ** 2 / (1 + np.abs(x[3])),
        3 * np.sin(x[4]),
        1.5 * np.abs(x[4]),
    ]
    for column, mean in zip(x, expected, strict=True):
        noise = column - mean
        assert np.abs(noise).max() <= 1
        assert stats.kstest(noise, stats.uniform(-1, 2).cdf).pvalue > 1e-3


@pytest.mark.parametrize(
    ("name", "law"), [("Gaussian", stats.norm), ("uniform", stats.uniform(-1, 2)), ("t, 2 d.f.", stats.t(2))]
)
def test_noises_are_those_of_the_thesis(name: str, law: stats.rv_continuous) -> None:
    assert stats.kstest(truths.NOISES[name](rng(), 5_000), law.cdf).pvalue > 1e-3


@pytest.mark.parametrize("d", [10, 20])
def test_random_graphs_have_two_neighbours_a_node(d: int) -> None:
    graphs = [truths.random_graph(d, rng(seed)) for seed in range(200)]
    assert len({graph.edges for graph in graphs}) > 190
    assert np.mean([2 * graph.n_edges / d for graph in graphs]) == pytest.approx(truths.MEAN_DEGREE, abs=0.2)


def test_nonparanormal_rows_are_powers_of_gaussian_ones_without_other_edges() -> None:
    """Cube roots have partial correlations of zero where there is no edge, and mostly others where there is one."""
    rows, graph = truths.Nonparanormal(6).draw(300_000, rng(3))
    precision = np.linalg.inv(np.cov(np.cbrt(rows).T))
    partial = -precision / np.sqrt(np.outer(np.diag(precision), np.diag(precision)))
    far = {(f"v{i}", f"v{j}") for i, j in np.argwhere(np.triu(np.abs(partial) > 0.01, 1))}
    assert far <= set(graph.edges)
    assert 2 * len(far) > graph.n_edges > 2


def test_the_gaussian_test_finds_the_linear_graph_and_nearest_neighbours_the_other() -> None:
    """What P4 expects, on 500 rows of uniform noise."""
    pair = (truths.SevenNodes(True, "uniform"), truths.SevenNodes(False, "uniform"))
    found = recovery.recover(Plan(pair, (500,), 2, LINES, {}), HERE)
    assert found.at(0, "fisherZ")[0] <= 2
    assert found.at(1, "knnMI")[0] <= 2
    assert found.at(1, "fisherZ")[0] >= 4


def test_limits_leave_methods_out_and_change_no_data() -> None:
    truth = (truths.SevenNodes(True, "Gaussian"),)
    whole = recovery.recover(Plan(truth, (60, 90), 2, LINES, {}), HERE)
    part = recovery.recover(Plan(truth, (60, 90), 2, LINES, {"knnMI": Limit(60, 1)}), HERE)
    np.testing.assert_array_equal(np.isnan(part.distances[0, :, :, 0]), [[False, True], [True, True]])
    np.testing.assert_array_equal(part.distances[0, :, :, 1], whole.distances[0, :, :, 1])
    assert part.distances[0, 0, 0, 0] == whole.distances[0, 0, 0, 0]


def test_means_and_errors_are_of_the_data_sets_that_there_are() -> None:
    distances = np.array([[[[1.0], [3.0], [np.nan]], [[4.0], [np.nan], [np.nan]], [[np.nan]] * 3]])
    plan = Plan((truths.SevenNodes(True, "Gaussian"),), (1, 2, 3), 3, ("knnMI",), {})
    found = recovery.Recovery(plan, distances, distances)
    np.testing.assert_array_equal(found.mean[0, :, 0], [2, 4, np.nan])
    np.testing.assert_allclose(found.error[0, :, 0], [stats.sem([1, 3]), np.nan, np.nan], rtol=1e-12)
    assert found.repetitions[0, :, 0].tolist() == [2, 1, 0]


def test_null_data_are_independent_given_z_and_the_others_are_not() -> None:
    """By the linear test, of what regression on z and on its functions leaves."""
    for names, independent in ((schemes.NULLS, True), (schemes.DEPENDENCES, False)):
        for name, draw in names.items():
            x, y, z = draw(rng(7), 20_000)
            left = []
            for column in (x, y):
                of = np.empty((len(x), 0)) if z is None else z.reshape(len(x), -1)
                basis = np.column_stack([np.ones(len(x)), of, of**2, np.cos(2 * of)])
                left.append(column - basis @ np.linalg.lstsq(basis, column, rcond=None)[0])
            one, two = (left, [left[0] ** 2, left[1]])
            p = min(stats.pearsonr(*one).pvalue, stats.pearsonr(*two).pvalue)
            assert (p > 1e-3) == independent, name


def test_rates_are_shares_and_cut_into_parts_they_are_the_same() -> None:
    chosen = ("no z", "z irrelevant")
    whole = schemes.rates(chosen, (40,), 12, HERE, at_once=12)
    parts = schemes.rates(chosen, (40,), 12, HERE, at_once=5)
    np.testing.assert_array_equal(whole.shares, parts.shares)
    assert np.isnan(whole.of("no z", "local")).all()
    assert ((whole.shares[1] >= 0) & (whole.shares[1] < 0.6)).all()


def test_ten_of_two_hundred_and_one_is_the_level_that_is_reached() -> None:
    assert verdict.NOMINAL <= methods.ALPHA < verdict.NOMINAL + 1 / 201


def test_what_is_kept_is_not_computed_again(tmp_path: Path) -> None:
    path = tmp_path / "new" / "kept.jsonl"
    made: list[int] = []

    def work(task: int) -> list[float]:
        made.append(task)
        return [task / 3]

    first = list(Kept(Pool(None), path).map(work, [1, 2]))
    again = list(Kept(Pool(None), path).map(work, [2, 3, 1]))
    assert first == [[1 / 3], [2 / 3]]
    assert again == [[2 / 3], [1.0], [1 / 3]]
    assert made == [1, 2, 3]
    assert len([json.loads(line) for line in path.read_text().splitlines()]) == 3


def write_proteins(folder: Path) -> None:
    a, b, c, d = np.random.default_rng(1).normal(size=(4, 60))
    rows = np.exp(np.column_stack([a, a + 0.5 * b, c, a + c + 0.3 * d]))
    folder.mkdir(parents=True)
    lines = ["a,b,c,d", *(",".join(map(repr, row)) for row in rows.tolist())]
    (folder / proteins.FILE).write_text("\n".join(lines))
    (folder / proteins.EDGES).write_text("from,to\na,b\na,d\nc,d\n")


def test_proteins_are_read_in_logarithms_with_the_moral_graph(tmp_path: Path) -> None:
    write_proteins(tmp_path / "bio")
    held = proteins.read(tmp_path / "bio")
    assert held is not None
    assert held.names == ("a", "b", "c", "d")
    np.testing.assert_allclose(held.rows[:, 0], np.random.default_rng(1).normal(size=(4, 60))[0], rtol=1e-12)
    assert held.moral - held.skeleton == {frozenset("ac")}
    assert held.tied == 0
    assert proteins.read(tmp_path) is None


@pytest.mark.parametrize("form", FORMS)
def test_every_plan_has_the_published_methods(form: str) -> None:
    options = Options(form)
    for plan in (options.small, options.large, options.nonparanormal):
        assert {"knnMI", "fisherZ", "KCIT", "RCIT", "NPN_glasso", "NPN_mb"} <= set(plan.methods)
        assert set(plan.sizes) <= {125, 250, 500, 1_000, 2_000}


class Tiny(Options):
    """The report's whole course in a few seconds."""

    @property
    def small(self) -> Plan:
        six = tuple(truths.SevenNodes(linear, noise) for linear in (True, False) for noise in truths.NOISES)
        return Plan(six, (40, 60), 1, (*LINES, "NPN_mb", methods.LOCAL), {"NPN_mb": Limit(0, 0)})

    @property
    def large(self) -> Plan:
        return Plan((truths.SevenNodes(False, "Gaussian", copies=2),), (40,), 2, LINES, {"knnMI": Limit(40, 1)})

    @property
    def nonparanormal(self) -> Plan:
        return Plan((truths.Nonparanormal(5),), (60,), 1, LINES, {})

    tests = 5
    test_sizes = (30,)


def test_the_report_has_all_sections_and_figures(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    write_proteins(tmp_path / "bio")
    text = report.report(Tiny("quick", data=tmp_path, figures=tmp_path / "figures"), lambda _: None)
    for section in ("Summary", "Seven nodes", "Twenty-one nodes", "Nonparanormal", "Simple and local", "Proteins"):
        assert f"## {section}" in text
    drawn = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert drawn == [f"knn-mi-{name}.svg" for name in ("large", "nonparanormal", "schemes", "seven")]
    for path in (tmp_path / "figures").iterdir():
        assert ElementTree.parse(path).getroot().tag.endswith("svg")
        assert f"(figures/{path.name})" in text
    assert " nan" not in text


def test_without_data_the_proteins_are_left_out(tmp_path: Path) -> None:
    text = report.report(Tiny("quick"), lambda _: None)
    assert "the proteins are left out" in text
    assert "![" not in text


@pytest.mark.parametrize("wrong", [["--repetitions", "0"], ["--processes", "0"], ["--quick", "--full"]])
def test_wrong_command_lines_are_refused(wrong: list[str]) -> None:
    with pytest.raises(SystemExit):
        main(wrong)
