"""The study of nearest neighbours, on tiny sizes: facts about its data and arithmetic."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy import stats

import fishernet as fn
from studies import graphs
from studies import knn_mi as study
from studies.study import Run

LINES = ("knnMI", "fisherZ")


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_the_small_graph_is_the_moral_graph_of_its_dag_and_chordal() -> None:
    """Eight edges, two triangles and a fork, as the thesis says."""
    _, graph = study.SevenNodes(True, "Gaussian").draw(5, 0)
    dag = fn.Dag(graph.names, study.PARENTS)
    assert fn.graphs.moral(dag) == graph
    assert graph.n_edges == 8
    assert fn.graphs.is_chordal(graph)


def test_copies_are_not_joined() -> None:
    rows, graph = study.SevenNodes(False, "uniform", copies=3).draw(40, 0)
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
    rows, _ = study.SevenNodes(True, "Gaussian").draw(200_000, 0)
    np.testing.assert_allclose(np.cov(rows.T), inverse @ inverse.T, rtol=0.03, atol=0.03)


def test_non_linear_nodes_are_functions_of_their_parents_and_noise() -> None:
    rows, _ = study.SevenNodes(False, "uniform").draw(2_000, 0)
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
    assert stats.kstest(study.NOISES[name](rng(), 5_000), law.cdf).pvalue > 1e-3


@pytest.mark.parametrize("d", [10, 20])
def test_random_graphs_have_two_neighbours_a_node(d: int) -> None:
    graphs = [study.random_graph(d, rng(seed)) for seed in range(200)]
    assert len({graph.edges for graph in graphs}) > 190
    assert np.mean([2 * graph.n_edges / d for graph in graphs]) == pytest.approx(2, abs=0.2)


def test_nonparanormal_rows_are_powers_of_gaussian_ones_without_other_edges() -> None:
    """Cube roots have partial correlations of zero where there is no edge, and mostly others where there is one."""
    rows, graph = study.Nonparanormal(6).draw(300_000, 3)
    precision = np.linalg.inv(np.cov(np.cbrt(rows).T))
    partial = -precision / np.sqrt(np.outer(np.diag(precision), np.diag(precision)))
    far = {(f"v{i}", f"v{j}") for i, j in np.argwhere(np.triu(np.abs(partial) > 0.01, 1))}
    assert far <= set(graph.edges)
    assert 2 * len(far) > graph.n_edges > 2


Found = dict[tuple[str, int, str], list[list[float]]]


def recovered(
    truth: study.SevenNodes, n: int, limits: graphs.Limits, monkeypatch: pytest.MonkeyPatch, run: Run | None = None
) -> Found:
    monkeypatch.setattr(graphs, "available", lambda _: list(LINES))
    return study.recover(run or Run(), [truth], [n], 2, limits)


def test_the_gaussian_test_finds_the_linear_graph_and_nearest_neighbours_the_other() -> None:
    """What the thesis expects, on 500 rows of uniform noise."""
    for linear, least, most in ((True, 0, 2), (False, 4, 99)):
        (knn, *_), (z, *_) = study.learn(study.SevenNodes(linear, "uniform"), 500, 0, LINES)
        assert least <= z <= most
        assert linear or knn <= 2


def test_limits_leave_methods_out_and_change_no_data(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = study.SevenNodes(True, "Gaussian")

    def distances(limits: graphs.Limits) -> list[list[float]]:
        found = recovered(truth, 60, limits, monkeypatch)
        return [[d for d, *_ in found[truth.name, 60, method]] for method in LINES]

    whole = distances({})
    assert [len(of) for of in whole] == [2, 2]
    assert distances({"knnMI": [(50, 2)]}) == [[], whole[1]]
    assert distances({"knnMI": [(50, 2), (60, 1)]}) == [whole[0][:1], whole[1]]
    assert [graphs.sets({"KCIT": [(50, 9), (60, 3)]}, "KCIT", n, 5) for n in (40, 50, 60, 61)] == [5, 5, 3, 0]


def test_what_is_kept_of_few_data_sets_serves_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    truth, run = study.SevenNodes(True, "uniform"), Run(keep=tmp_path / "kept.jsonl")
    few = recovered(truth, 60, {"knnMI": [(60, 1)]}, monkeypatch, run)
    monkeypatch.setitem(study.METHODS, "fisherZ", None)  # must not be called again
    more = recovered(truth, 60, {}, monkeypatch, run)
    assert more[truth.name, 60, "fisherZ"] == few[truth.name, 60, "fisherZ"]
    assert more[truth.name, 60, "knnMI"][:1] == few[truth.name, 60, "knnMI"]
    assert len((tmp_path / "kept.jsonl").read_text().splitlines()) == 4


def test_wrong_edges_lack_or_are_too_many(monkeypatch: pytest.MonkeyPatch) -> None:
    truth = study.SevenNodes(True, "Gaussian")
    complete = fn.UndirectedGraph([f"v{v}" for v in range(7)], [[u for u in range(7) if u != v] for v in range(7)])
    empty = fn.UndirectedGraph([f"v{v}" for v in range(7)], [[]] * 7)
    monkeypatch.setattr(study, "METHODS", {"all": lambda X, seed: complete, "none": lambda X, seed: empty})
    (most, _, lacking), (none, _, missed) = study.learn(truth, 20, 0, ["all", "none"])
    assert (most, lacking) == (21 - 8, 0)
    assert (none, missed) == (8, 8)


def test_differences_are_those_of_the_same_data_sets() -> None:
    """Of kinds with 3 and 2 pairs; the standard error is that of a stratified mean."""
    found: Found = {
        ("a", 9, "knnMI"): [[1, 0, 0], [2, 0, 0], [4, 0, 1]],
        ("a", 9, "x"): [[2, 0, 0], [2, 0, 1], [9, 0, 4]],
        ("b", 9, "knnMI"): [[5, 0, 0], [5, 0, 0], [7, 0, 0]],
        ("b", 9, "x"): [[4, 0, 4], [8, 0, 0]],
    }
    one, other = [1, 0, 5], [-1, 3]
    assert [graphs.differences(found, data, 9, "x", "knnMI") for data in "ab"] == [one, other]
    ((*head, cell),) = graphs.paired_rows(found, {"both": "ab"}, ["x"], "knnMI")
    assert head == ["both", 9, 6]
    assert cell["mean"] == pytest.approx(8 / 5)
    assert cell["n"] == 5
    assert cell["error"] == pytest.approx(np.sqrt(3 * np.var(one, ddof=1) + 2 * np.var(other, ddof=1)) / 5)
    assert graphs.sign_rows(found, {"both": "ab"}, ["x"], "knnMI") == [["both", 9, "3 / 1 / 1"]]
    assert graphs.error_rows(found, {"b": "b"}, ["knnMI", "x"]) == [["b", 9, "0.0 + 5.7", "2.0 + 4.0"]]
    whole = graphs.with_methods(found, ["x", "y"])
    assert graphs.sign_rows(whole | found, {"b": "b"}, ["y"], "knnMI") == [["b", 9, None]]
    assert graphs.over_strata([[1.0], [2.0, 4.0]]) == {"mean": pytest.approx(7 / 3)}
    assert graphs.over_strata([[], []]) is None


def test_shares_have_the_error_of_the_mean_of_their_numbers() -> None:
    numbers = [1] * 3 + [-1] * 2 + [0] * 7
    expected = {"mean": np.mean(numbers), "error": np.std(numbers) / np.sqrt(12)}
    assert study.share(3, 2, 12) == pytest.approx(expected)


def test_null_data_are_independent_given_z_and_the_others_are_not() -> None:
    """By the linear test, of what regression on z and on its functions leaves."""
    for names, independent in ((study.NULLS, True), (study.DEPENDENCES, False)):
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
    whole, parts = (study.rates(Run(), "it", chosen, {40: 12}, at_once=n).rows for n in (12, 5))
    assert whole == parts
    assert whole[0][2:] == [None, None]
    simple, local, difference = (cell["mean"] for cell in whole[1][1:])
    assert all(0 <= share < 0.6 for share in (simple, local))
    assert difference == pytest.approx(simple - local)


def test_proteins_are_read_in_logarithms_with_the_moral_graph(tmp_path: Path) -> None:
    a, b, c, d = rng().normal(size=(4, 60))
    rows = np.exp(np.column_stack([a, a + 0.5 * b, c, a + c + 0.3 * d]))
    lines = ["a,b,c,d", *(",".join(map(repr, row)) for row in rows.tolist())]
    (tmp_path / "sachs-observational.csv").write_text("\n".join(lines))
    (tmp_path / "sachs-consensus-edges.csv").write_text("from,to\na,b\na,d\nc,d\n")
    held = study.read_proteins(tmp_path)
    assert held.names == list("abcd")
    np.testing.assert_allclose(held.rows[:, 0], a, rtol=1e-12)
    assert held.pairs(moral=True) - held.pairs(moral=False) == {frozenset("ac")}
    edges, agreed, of_moral, far, far_from_moral, _ = study.learn_proteins(tmp_path, "fisherZ", 0)
    assert far == edges + 3 - 2 * agreed
    assert far_from_moral == edges + 4 - 2 * of_moral


@pytest.mark.slow
def test_the_quick_form_has_all_tables_and_figures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(study, "SIZES", (40, 60))
    monkeypatch.setattr(graphs, "available", lambda _: list(LINES))
    tables = {table.name: table for table in study.compute(Run("quick", asked_repetitions=1))}
    study.draw(tables, lambda name: tmp_path / f"{name}.svg")
    assert {path.stem for path in tmp_path.iterdir()} == {"large", "nonparanormal", "paired", "schemes", "seven"}
    assert [row[2] for row in tables["seven-paired"].rows] == [1] * 12 + [3] * 4
