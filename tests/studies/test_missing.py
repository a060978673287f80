"""The study of missing cells: how cells are hidden, ways to learn, ties among neighbours, and other libraries."""

from __future__ import annotations

import warnings
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

import fishernet as fn
from studies.missing import __main__ as study
from studies.missing import experiments, peers, similarity, ways
from studies.missing.holes import MECHANISMS, ODDS, always_known, hidden_anywhere, lacking, probabilities, with_holes
from studies.study import Run

PAIR = [fn.Variable("a", ["x", "y"]), fn.Variable("b", [0, 1, 2])]


def pair(a: list[int], b: list[int]) -> fn.Table:
    """Return a table of two columns; 2 is a missing cell of a, 3 of b."""
    return fn.Table.adopt(PAIR, [np.array(a, dtype=np.uint8), np.array(b, dtype=np.uint8)])


@pytest.mark.parametrize("share", [0.05, 0.4, 0.9])
def test_cells_are_hidden_so_often_and_by_these_odds(share: float) -> None:
    inclined = np.arange(10) < 3
    p = probabilities(inclined, share)
    assert p.mean() == pytest.approx(share, rel=1e-9)
    odds = p / (1 - p)
    assert odds[0] / odds[9] == pytest.approx(ODDS, rel=1e-9)
    np.testing.assert_allclose(probabilities(np.zeros(5, dtype=bool), share), share, rtol=1e-9)


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_what_is_not_hidden_stays_and_a_quarter_is_never_hidden(mechanism: str) -> None:
    table = fn.datasets.load("asia").sample(4_000, seed=1)
    holes = with_holes(table, mechanism, 0.3, np.random.default_rng(2))  # type: ignore[arg-type]
    shares = [of.mean() for of in lacking(holes)]
    known = always_known(8, np.random.default_rng(2))
    assert [v for v in range(8) if shares[v] == 0] == known
    assert len(known) == 2
    np.testing.assert_allclose([s for s in shares if s], 0.3, atol=0.05)
    for now, before, none in zip(holes.codes, table.codes, lacking(holes), strict=True):
        np.testing.assert_array_equal(now[~none], before[~none])


def test_by_itself_or_by_a_known_column_a_cell_is_hidden() -> None:
    """Two equal fair coins, one always known: both mechanisms hide by the same odds; a third coin tells nothing."""
    rng = np.random.default_rng(3)
    coin, other = rng.integers(2, size=(2, 40_000), dtype=np.uint8)
    table = fn.Table.from_codes(np.column_stack([coin, coin, other, other]))
    for mechanism in ("MAR", "MNAR"):
        holes = with_holes(table, mechanism, 0.2, np.random.default_rng(5))
        for v in set(range(4)) - set(always_known(4, np.random.default_rng(5))):
            odds = [(none := lacking(holes)[v][table.codes[v] == state]).mean() / (1 - none.mean()) for state in (0, 1)]
            ratio = max(odds) / min(odds)
            driven = mechanism == "MNAR" or any(
                u in always_known(4, np.random.default_rng(5)) and u // 2 == v // 2 for u in range(4)
            )
            assert (5 < ratio < 16) if driven else ratio < 1.3


def test_a_state_of_its_own_is_taken_out_of_the_conditionals() -> None:
    """By hand: of the pairs that are known, pseudo-count one, given the graph a -> b."""
    holes = pair([0, 0, 0, 1, 1, 2, 0], [0, 0, 1, 2, 3, 1, 3])
    net = ways.own_state(holes, fn.Dag.from_edges(["a", "b"], [("a", "b")]))
    np.testing.assert_allclose(net.conditional("a").probabilities, [[5 / 8, 3 / 8]])
    np.testing.assert_allclose(net.conditional("b").probabilities, [[3 / 6, 2 / 6, 1 / 6], [1 / 4, 1 / 4, 2 / 4]])
    assert tuple(net.variables) == tuple(holes.variables)


def test_without_holes_all_ways_are_one() -> None:
    table = fn.datasets.load("asia").sample(500, seed=1)
    expected = ways.plain(table).log_prob(table)
    for name, learn in ways.WAYS.items():
        net = learn(table)
        assert net is not None
        if name == "available cases":  # by a climb
            assert net.dag == fn.learn.dag(table, search="hill-climb", max_parents=4)
        else:
            np.testing.assert_allclose(net.log_prob(table), expected, rtol=1e-9, err_msg=name)


def test_modes_fill_and_wrong_cells_are_counted() -> None:
    truth, holes = pair([0, 0, 1, 1], [2, 2, 0, 1]), pair([0, 0, 1, 2], [2, 2, 3, 3])
    filled = ways.filled_by_mode(holes)
    assert [column.tolist() for column in filled.codes] == [[0, 0, 1, 0], [2, 2, 2, 2]]
    assert ways.share_wrong(filled, holes, truth) == 1.0
    assert ways.share_wrong(truth, holes, truth) == 0.0
    assert np.isnan(ways.share_wrong(truth, truth, truth))
    assert ways.of_complete_rows(holes) is None


def test_cells_that_were_missing_before_are_not_judged() -> None:
    rows, holes = pair([0, 2, 1], [0, 1, 3]), pair([2, 2, 1], [3, 1, 3])
    assert experiments.wrong_known(pair([0, 0, 1], [1, 1, 1]), holes, rows) == 0.5


def test_rows_that_tie_count_in_part() -> None:
    likeness = np.array([[0.9, 0.5, 0.5, 0.5, 0.1]])
    np.testing.assert_allclose(similarity.nearest(likeness, 1), [[1, 0, 0, 0, 0]])
    np.testing.assert_allclose(similarity.nearest(likeness, 3), [[1, 2 / 3, 2 / 3, 2 / 3, 0]])
    np.testing.assert_allclose(similarity.nearest(likeness, 5), np.ones((1, 5)))
    assert similarity.agreement(likeness, likeness, 3) == pytest.approx(1, rel=1e-12)
    assert similarity.agreement(-likeness, likeness, 1) == 0
    labels = np.array([0, 1, 0, 0, 0])
    assert similarity.accuracy(np.minimum(likeness, 0.5), np.array([1]), labels) == pytest.approx(1 / 4, rel=1e-12)


def test_equal_cells_are_a_share_of_those_that_both_know() -> None:
    found = similarity.equal_cells(pair([0, 2], [1, 3]), pair([0, 1, 0], [1, 1, 3]))
    np.testing.assert_allclose(found, [[1, 0.5, 1], [0.5, 0.5, 0.5]])


def test_cosines_are_those_of_the_librarys_kernels() -> None:
    net = fn.datasets.load("asia")
    table = net.sample(30, seed=1)
    holes = hidden_anywhere(table, 0.3, np.random.default_rng(1))
    for kernel, rows in ((fn.kernels.FisherKernel(net), table), (fn.kernels.HiddenVariableKernel(net), holes)):
        expected = fn.kernels.Normalized(kernel)(rows[:10], rows[10:])
        np.testing.assert_allclose(similarity.cosines(kernel, rows[:10], rows[10:]), expected, atol=1e-9)


def test_clusters_of_a_drawn_mixture_have_their_shares_of_states() -> None:
    table, labels = similarity.mixture(20_000, np.random.default_rng(4))
    shares = np.random.default_rng(4).dirichlet(np.ones(3), size=(4, 12))
    for k in range(4):
        found = [np.bincount(codes[labels == k], minlength=3) / (labels == k).sum() for codes in table.codes]
        np.testing.assert_allclose(found, shares[k], atol=0.04)


@pytest.mark.parametrize(("library", "module"), [("pyAgrum", "pyagrum"), ("pgmpy", "pgmpy")])
def test_other_libraries_fit_what_they_say(library: str, module: str) -> None:
    """pyAgrum's EM ends where ours does, pgmpy's where a fit to the complete rows does."""
    if find_spec(module) is None:
        pytest.skip(f"{module} is not installed")
    net = fn.datasets.load("asia")
    holes = with_holes(net.sample(2_000, seed=1), "MCAR", 0.1, np.random.default_rng(1))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = peers.PEERS[library](net.dag, holes)
    assert found is not None
    if library == "pyAgrum":
        expected = fn.learn.em_fit(net.dag, holes).model.log_prob(holes).mean()
        assert found.log_prob(holes).mean() == pytest.approx(expected, abs=1e-3)
    else:
        expected = fn.learn.parameters(net.dag, holes.drop_missing()).log_prob(holes)
        np.testing.assert_allclose(found.log_prob(holes), expected, rtol=1e-6)


def contrast(colour: str) -> float:
    """Return the contrast with white, by the rules for accessible pages (WCAG 2.1)."""
    channels = [int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 1.05 / (0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2] + 0.05)


def test_lines_are_told_apart_without_colours() -> None:
    looks = {name: look for name, look in experiments.LOOKS.items() if name != "EM"}
    assert all(contrast(look["color"]) >= 4.5 for look in looks.values())
    assert len({look["marker"] for look in looks.values()}) == len({str(look["linestyle"]) for look in looks.values()})
    assert len({look["marker"] for look in looks.values()}) == len(looks)


@pytest.mark.slow
def test_the_quick_form_has_every_part(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(experiments, "ROWS", {"nursery": 5_000})
    monkeypatch.setattr(experiments, "TEST", 2_000)
    monkeypatch.setattr(similarity, "CLUSTERED", {"drawn mixture": (300, 4), "letter": (200, 8)})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of other libraries
        tables = {table.name: table for table in study.compute(Run("quick"))}
    assert set(tables) == {
        *("distances", "arcs", "losses", "parameters", "imputation", "peers"),
        *("neighbours-agreement", "neighbours-accuracy", "clusters-truth", "clusters-complete"),
    }
    for row in tables["losses"].select():
        assert row["structural EM"]["mean"] < row["mode"]["mean"] + 1
    experiments.draw(tables, lambda name: tmp_path / f"{name}.svg")
    assert {path.stem for path in tmp_path.iterdir()} == {"losses", "distances"}
