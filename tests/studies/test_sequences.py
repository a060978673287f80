"""The study of sequences, on tiny sizes: facts of arithmetic and of how the toys are drawn."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fishernet as fn
from studies import sequences as study
from studies.study import Run


def levenshtein(a: str, b: str) -> int:
    """Return the edit distance by its definition."""

    @cache
    def of(i: int, j: int) -> int:
        if min(i, j) == 0:
            return i + j
        return min(of(i - 1, j) + 1, of(i, j - 1) + 1, of(i - 1, j - 1) + (a[i - 1] != b[j - 1]))

    return of(len(a), len(b))


@settings(max_examples=30, deadline=None)
@given(st.lists(st.text("ACGT", max_size=7), min_size=2, max_size=5))
def test_edit_distances_are_those_of_the_definition(drawn: list[str]) -> None:
    expected = [[levenshtein(a, b) for b in drawn] for a in drawn]
    np.testing.assert_array_equal(study.edit_distances(drawn), expected)


def test_cosines_from_logarithms_are_the_normalized_kernel() -> None:
    drawn = ["ACGTACGT", "ACGACGT", "TTTTT"]
    (found,) = study.pair_hmm(drawn, (0.4,))
    kernel = fn.kernels.Normalized(fn.kernels.PairHmmKernel(fn.models.pair_hmm_dna(divergence=0.4)))
    np.testing.assert_allclose(found.gram(np.arange(2)), kernel(drawn), rtol=1e-9)


def test_tempered_cosines_have_the_mean_logarithm_minus_one() -> None:
    (found,) = study.pair_hmm(["ACGTACGT", "ACGACGT", "TTTTT"], (0.4,), power=True)
    logs = np.log(found.gram(np.arange(2)))
    np.testing.assert_allclose(np.diag(logs), 0, atol=1e-12)
    assert logs[np.triu_indices(3, 1)].mean() == pytest.approx(-1, rel=1e-9)


def test_equal_positions_are_counted() -> None:
    (found,) = study.positions(["ACGT", "ACCC", "TTTT"])
    np.testing.assert_allclose(found.gram(np.arange(1)), [[1, 0.5, 0.25], [0.5, 1, 0], [0.25, 0, 1]], rtol=1e-12)


def test_models_are_learned_of_training_rows_alone() -> None:
    """Other strings in the test rows leave the matrix of the training rows as it is."""
    train = np.arange(3)
    for models in (study.CHAINS, study.HMMS):
        both = (["ACGTACGT", "AACCGGTT", "TTTACGAA", last] for last in ("CCCC", "GTGTAA"))
        one, other = (study.learned_fisher(strings, models)[0].gram(train) for strings in both)
        np.testing.assert_allclose(one[:3, :3], other[:3, :3], rtol=1e-9)


def test_a_perfect_kernel_is_chosen_and_makes_no_error() -> None:
    y = np.repeat([0, 1], 20)
    perfect = np.equal.outer(y, y).astype(np.float64)
    candidates = [study.fixed(np.ones((40, 40)), "useless"), study.fixed(perfect, "perfect")]
    for auc in (False, True):
        found = study.evaluate(lambda: candidates, y, study.folds(y, 4, seed=1), auc=auc)
        np.testing.assert_array_equal(found.values, np.ones(4))
        assert {label.split(",")[0] for label in found.chosen} == {"perfect"}


def test_a_row_has_the_favourite_choice_and_methods_are_pooled_by_their_means() -> None:
    one = study.Result(np.array([0.0, 1.0]), ["a", "b"], -1.0, 2.0)
    both = study.pooled([one, study.Result(np.array([2.0]), ["b"], 0.5, 3.0)])
    assert both.cells == [{"mean": 1.25, "error": pytest.approx(0.75)}, "b (2 of 3)", -1.0, 5.0]


def test_a_random_tree_has_its_leaves_and_is_binary() -> None:
    tree = study.random_tree(np.random.default_rng(1), 24)
    assert len(tree.leaves) == 24
    children = np.bincount([parent for parent in tree.parents if parent >= 0], minlength=len(tree.parents))
    assert set(children.tolist()) == {0, 2}


def test_both_classes_of_profiles_have_the_same_leaves_in_the_mean() -> None:
    """The second class is a permutation of each column of profiles of the first kind."""
    tree = study.random_tree(np.random.default_rng(2), 12)
    gained = study.gained_once(tree, 4_000, np.random.default_rng(3))
    again = np.random.default_rng(4).permuted(gained, axis=0)
    np.testing.assert_array_equal(again.sum(axis=0), gained.sum(axis=0))
    flips = study.FLIP
    outside = gained.mean(axis=0).min()  # leaves beside the clade: only flipped
    assert outside == pytest.approx(flips, abs=4 * (flips / 4_000) ** 0.5)


def test_species_that_share_genes_are_siblings() -> None:
    cells = np.array([[1, 0, 1, 0], [1, 0, 1, 0], [0, 1, 0, 1], [1, 1, 1, 0]])
    tree = study.clustered(study.Profiles(["a", "b", "c", "d"], cells, np.zeros(4, dtype=np.int64)))
    parent = dict(zip(tree.names, tree.parents, strict=True))
    assert parent["a"] == parent["c"]
    assert parent["b"] == parent["d"] != parent["a"]


def test_windows_are_read_once_and_ambiguous_letters_replaced(tmp_path: Path) -> None:
    long = "ACGTTGCAACGTTGCAACGTT"
    path = tmp_path / "it.csv"
    path.write_text(f"name,sequence,class\na,{long}A,x\nb,{long}A,x\nc,{long}n,x\nd,{'AT' * 11},y\n")
    found = study.read_windows(path)
    assert set(found.strings) == {"AT" * 11, f"{long}A"}
    assert found.replaced == 1
    assert found.overlaps() == {"x": 1.0, "y": 0.0}


def test_families_are_told_by_their_names() -> None:
    names = ["MYG_HORSE", "HBA2_BOSMU", "HBAZ_HORSE", "HBE_PONPY", "GLB5_PETMA"]
    assert [study.family_of(name) for name in names] == ["myoglobin", "alpha", "alpha", "beta", "none"]


@pytest.mark.slow
def test_the_quick_form_needs_no_data(tmp_path: Path) -> None:
    pytest.importorskip("matplotlib")
    tables = {table.name: table for table in study.compute(Run("quick", asked_repetitions=1))}
    assert set(tables) == {"ancestors", "trees"}
    study.draw(tables, lambda name: tmp_path / f"{name}.svg")
    assert {path.stem for path in tmp_path.iterdir()} == {"ancestors"}
