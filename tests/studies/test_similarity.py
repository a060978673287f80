"""The study of similarities, on tiny tables: facts that hold of any of them."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

import fishernet as fn
from fishernet.kernels import Similarity
from studies import similarity
from studies.study import DOCS, Run, Table
from tests.networks import random_network

RESULTS = Path(__file__).parents[2] / DOCS / "results" / "similarity.json"


def fold(rows: fn.Table, classes: list[int], n_train: int) -> similarity.Fold:
    places = np.arange(len(classes))
    return similarity.Fold(rows, np.array(classes), places[:n_train], places[n_train:])


@pytest.fixture(scope="module")
def copies() -> similarity.Fold:
    """Rows of three classes, which agree within a class and in no cell beyond it; 30 of 45 are trained on."""
    classes = [k % 3 for k in range(45)]
    return fold(fn.Table.from_frame({name: [f"{name}{k}" for k in classes] for name in "xyz"}), classes, 30)


def test_classes_that_share_no_cell_are_told_apart_by_every_method(copies: similarity.Fold) -> None:
    found = similarity.classify(copies)
    for task in ("nearest", "five-nearest", "machine"):
        assert set(found[task]) == set(similarity.columns_of(task))
        assert set(found[task].values()) == {0.0}, task


def test_a_class_unlike_the_others_is_new_to_every_method_but_iof(copies: similarity.Fold) -> None:
    """By IOF a state that was seen at most once is like any other: new rows are as near as rows can be."""
    found = similarity.new_classes(copies)
    assert set(found) == set(similarity.columns_of("one-class"))
    assert found.pop("iof") == 0.5
    assert max(found.values()) == 0.0


def test_classes_are_not_seen_but_by_the_one_that_says_so(copies: similarity.Fold) -> None:
    """Other classes in training change no similarity; the rows tested are not learned from."""
    kernels, network = similarity.kernels_of(copies.rows[copies.train])
    assert network.names == copies.rows.names
    assert set(kernels) == set(similarity.METHODS)
    assert similarity.with_class(copies).names == (*copies.rows.names, "the class")
    assert similarity.with_class(copies).n_rows == len(copies.train)


def test_the_plain_fisher_kernel_goes_by_its_distance() -> None:
    rows = fn.Table.from_frame({"x": list("aaab"), "y": list("uvuv")})
    kernel = fn.kernels.FisherKernel(similarity.learned(rows))
    gram = kernel(rows)
    distances = gram.diagonal()[:, None] + gram.diagonal() - 2 * gram
    np.testing.assert_allclose(similarity.alike(kernel, similarity.DISTANCE, rows, rows), -distances, atol=1e-8)
    overlap = Similarity(rows, "overlap")
    np.testing.assert_allclose(similarity.alike(overlap, "overlap", rows, rows), overlap(rows), atol=1e-8)


def test_columns_on_their_own_scale_are_the_mean_of_the_terms_cosines() -> None:
    net = random_network(4, [2, 3, 4, 2])
    kernel, rows = fn.kernels.FisherKernel(net), net.sample(30, seed=1)
    terms = kernel.terms(rows)
    lengths = np.sqrt(np.einsum("vii->vi", terms))
    expected = (terms / (lengths[:, :, None] * lengths[:, None, :])).mean(axis=0)
    found = similarity.ByColumn(kernel)
    np.testing.assert_allclose(found(rows), expected, atol=1e-10)
    np.testing.assert_allclose(found(rows[:7], rows), expected[:7], atol=1e-10)
    np.testing.assert_allclose(found.diag(rows), 1.0)


def test_votes_go_to_the_most_and_of_several_to_the_nearest() -> None:
    classes = np.array([0, 1, 1, 2, 0])
    assert similarity.vote(classes, np.array([[0, 1, 2], [3, 0, 1], [1, 0, 3]])).tolist() == [1, 2, 1]
    assert similarity.vote(classes, np.array([[0, 1, 2, 3, 4]])).tolist() == [0]


def test_neighbours_are_the_most_alike_and_equal_ones_in_their_order() -> None:
    values = np.array([[0.1, 0.9, 0.9, 0.5]])
    assert similarity.neighbours(values, 3).tolist() == [[1, 2, 3]]


def test_ranks_are_shared_by_ties_and_differences_need_two_standard_errors() -> None:
    np.testing.assert_allclose(similarity.average_ranks(np.array([[1.0, 2.0, 2.0], [3.0, 2.0, 1.0]])), [2, 2.25, 1.75])
    assert similarity.beyond(np.array([1.0, 1.1, 0.9])) == 1
    assert similarity.beyond(np.array([-1.0, -1.1, -0.9])) == -1
    assert similarity.beyond(np.array([1.0, -1.0, 0.2])) == 0
    assert similarity.beyond(np.zeros(5)) == 0


def test_numbers_become_four_bins_missing_cells_a_state_and_small_classes_go(tmp_path: Path) -> None:
    lines = [f"{k}.5,{'?' if k == 3 else 'u'},{'p' if k < 20 else 'q' if k < 40 else 'r'}" for k in range(44)]
    path = tmp_path / "it.csv"
    path.write_text("\n".join(["number,word,class", *lines]) + "\n")
    rows, classes = similarity.read_table.__wrapped__("it", path, 1_000)
    assert rows.names == ("number", "word")
    assert [variable.cardinality for variable in rows.variables if not variable.is_continuous] == [4, 2]
    assert not rows.has_missing
    assert np.bincount(classes).tolist() == [20, 20]
    fewer, _ = similarity.read_table.__wrapped__("it", path, 40)
    assert len(fewer) <= 40


def test_every_row_is_tested_once_and_never_trained_on_at_once() -> None:
    folds = [similarity.fold_of(similarity.SHIPPED, None, 120, k) for k in range(similarity.FOLDS)]
    np.testing.assert_array_equal(np.sort(np.concatenate([one.test for one in folds])), np.arange(len(folds[0].rows)))
    assert all(not set(one.test) & set(one.train) for one in folds)


@pytest.fixture(scope="module")
def tables() -> dict[str, Table]:
    """The quick form, on the table that comes with the library."""
    return {table.name: table for table in similarity.compute(Run("quick"))}


def test_the_quick_form_needs_no_data(tables: dict[str, Table]) -> None:
    assert set(tables) == {"tables", *similarity.TASKS, "pairs", "supervised"}
    (row,) = tables["tables"].rows
    assert row[0] == similarity.SHIPPED
    for task in similarity.TASKS:
        first, means, _ = tables[task].rows
        assert [cell["mean"] for cell in first[1:]] == pytest.approx(means[1:])
        assert all(0 <= cell["mean"] <= 100 for cell in first[1:])
    pair = tables["pairs"].select(method="overlap")[0]
    of_methods = dict(zip(tables["nearest"].columns, tables["nearest"].rows[1], strict=True))
    above = of_methods["overlap"] - of_methods[similarity.COSINE]
    assert pair["its error above"]["mean"] == pytest.approx(above, abs=1e-9)


def test_figures_are_drawn_of_what_was_computed(tables: dict[str, Table], tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    similarity.draw(tables, lambda name: tmp_path / f"{name}.svg")
    assert [path.name for path in tmp_path.iterdir()] == ["pairs.svg"]


def test_the_report_is_of_at_least_fifteen_tables() -> None:
    held = json.loads(RESULTS.read_text())
    (described,) = [table for table in held["tables"] if table["name"] == "tables"]
    assert len(described["rows"]) >= 15
    assert held["form"] != "quick"


def test_cells_are_alike_by_what_the_classes_are_given_them() -> None:
    variables = [fn.Variable("a", [0, 1, 2]), fn.Variable("b", [0, 1])]
    rows = fn.Table.from_codes([[0, 0], [0, 1], [1, 0], [1, 1], [2, 0]], variables)
    classes = np.array([0, 0, 1, 1, 0])
    kernel = similarity.ValueDifference(rows, classes, 2)
    given_a = {0: (3 / 4, 1 / 4), 1: (1 / 4, 3 / 4), 2: (2 / 3, 1 / 3)}
    given_b = {0: (3 / 5, 2 / 5), 1: (1 / 2, 1 / 2)}
    for i, j in itertools.product(range(5), repeat=2):
        of_both = [
            (p - q) ** 2
            for shares, column in ((given_a, 0), (given_b, 1))
            for p, q in zip(shares[int(rows.codes[column][i])], shares[int(rows.codes[column][j])], strict=True)
        ]
        assert kernel(rows[[i]], rows[[j]])[0, 0] == pytest.approx(-sum(of_both), abs=1e-12)


def test_ways_that_see_classes_are_asked_of_the_same_folds() -> None:
    found = similarity.supervised_fold("nursery", None, 300, 0)
    assert set(found) == {
        f"{way}, {how}" for way in (similarity.WITH_CLASS, similarity.VALUE) for how in ("one", "five")
    } | {similarity.ITSELF}  # fmt: skip
    assert all(0 <= error < 0.5 for error in found.values())
