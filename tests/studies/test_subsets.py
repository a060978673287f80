"""What the studies of few rows share: halves, weights, and the arithmetic of trials, against facts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from studies import subsets
from studies.study import Run, Table
from studies.subsets import Trials


@pytest.fixture
def table() -> fn.Table:
    asia = fn.datasets.load("asia")
    assert isinstance(asia, fn.BayesianNetwork)
    return asia.sample(120, seed=1)


def test_halves_are_a_partition_and_differ_by_split() -> None:
    table = fn.Table.from_codes(np.arange(31)[:, None])
    for split in range(3):
        train, test = subsets.halves(table, split)
        assert (train.n_rows, test.n_rows) == (15, 16)
        both = np.concatenate([train.column("v0"), test.column("v0")])
        np.testing.assert_array_equal(np.sort(both), np.arange(31))
    first, second = (subsets.halves(table, split)[0].column("v0").tolist() for split in (0, 1))
    assert first != second


def test_numbers_are_cut_into_four_equal_widths_and_missing_is_a_state(tmp_path: Path) -> None:
    path = tmp_path / "it.csv"
    path.write_text("x,few,class\n0,1,1\n1,2,2\n3,1,3\n5,1,4\n7,1,5\n8,?,6\n")
    table = subsets.read_table("it", path)
    assert table.column("x").tolist() == [0, 0, 1, 2, 3, 3]
    assert table.cardinalities == (4, 3, 6)
    assert subsets.read_table("it", path, numbers=True).cardinalities == (4, 3, 4)
    assert subsets.read_table("it", path, without="few").names == ("x", "class")


def test_whole_numbers_that_would_be_states_are_cut_and_the_class_is_not(tmp_path: Path) -> None:
    path = tmp_path / "it.csv"
    path.write_text("x,hair,class\n" + "".join(f"{row % 10},{row % 3 == 0},{row % 7}\n" for row in range(700)))
    assert fn.read_table(path).cardinalities == (10, 2, 7)
    assert subsets.read_table.__wrapped__("it", path).cardinalities == (4, 2, 7)
    assert subsets.read_table.__wrapped__("it", path, True).cardinalities == (4, 2, 4)


def test_without_data_there_are_the_two_tables_that_come_with_the_library(tmp_path: Path) -> None:
    assert list(subsets.three(Run())) == ["letter", "nursery"]
    (tmp_path / "uci").mkdir()
    (tmp_path / "uci" / "waveform-5000.csv.gz").touch()
    assert list(subsets.three(Run(data=tmp_path))) == ["letter", "nursery", "waveform-5000"]
    assert set(subsets.read_table("nursery", None).cardinalities) == {2, 3, 4, 5}


def test_weights_add_up_to_the_rows_chosen_from(table: fn.Table) -> None:
    kernel = fn.kernels.FisherKernel(fn.datasets.load("asia"))
    chosen = fn.select.greedy_mmd(kernel, table, 10, seed=1)
    found = subsets.copies(chosen, ("N/k", "nearest"))
    alike, nearest = found["N/k"].weights, found["nearest"].weights
    assert alike is not None
    assert nearest is not None
    np.testing.assert_allclose(alike, np.full(10, 12.0))
    distances = np.array([
        [kernel.diag(table[[i]])[0] + kernel.diag(table[[j]])[0] - 2 * kernel(table[[i]], table[[j]])[0, 0]
         for j in chosen.indices]
        for i in range(table.n_rows)
    ])  # fmt: skip
    near = np.argmax(distances <= distances.min(axis=1, keepdims=True) + 1e-9, axis=1)
    np.testing.assert_array_equal(nearest, np.bincount(near, minlength=10))
    dashed = fn.select.protodash(kernel, table, 10)
    own = subsets.copies(dashed, ("own",))["own"].weights
    assert dashed.weights is not None
    assert own is not None
    assert own.sum() == pytest.approx(120, rel=1e-9)
    np.testing.assert_allclose(own * dashed.weights.sum(), dashed.weights * 120, rtol=1e-9)


def test_a_trial_refits_on_the_chosen_rows_and_measures_on_others(table: fn.Table) -> None:
    """One column, so that the only parameter is a frequency: (ones + 1) / (rows + 2), and N/k only undoes the +1."""
    ones = fn.Table.from_codes(np.repeat([0, 1], [60, 20])[:, None])
    empty = fn.Dag(["v0"], [[]])

    def share(model: fn.BayesianNetwork) -> list[float]:
        return [float(model.conditional("v0").probabilities.ravel()[1])]

    found = subsets.trial(ones, empty, share, [8], 0, subsets=3, weigh=2, patient=0)
    assert found["all"] == [pytest.approx(21 / 82)]
    assert found["parameters"] == 1
    (at,) = found["sizes"]
    for way in ("MMD", "chi-square", "MMD-critic", "thinning"):
        assert at[way] == [pytest.approx(3 / 10)]
    assert at["MMD, N/k"] == at["MMD, nearest"] == [pytest.approx(21 / 82)]
    counts = 10 * np.array(at["random"]) - 1
    np.testing.assert_allclose(counts, np.round(counts), atol=1e-9)
    assert at["random, N/k"] == [pytest.approx(float((10 * counts[:2] + 1).mean() / 82))]
    assert "protodash" not in at
    assert set(at["seconds"]) == set(subsets.CHOICES) - {"protodash"}


def made(random: list[list[float]], **others: float) -> dict[str, Any]:
    at = {"random": [[x] for x in random[0]], "seconds": {"MMD": 2.0}, **{k: [v] for k, v in others.items()}}
    return {"all": [1.0], "sizes": [at]}


def test_rows_of_tables_are_means_over_splits_of_paired_differences() -> None:
    ways = {"chi-square": 4.0, "MMD-critic": 3.0, "thinning": 2.0}
    trials = Trials([made([[3.0, 5.0]], MMD=3.0, **ways), made([[7.0, 9.0]], MMD=4.0, **ways)])
    k, everything, random, spread, chi, mmd, *_, dash = subsets.loss_row(trials, 0, 50, beyond=True)
    assert (k, everything) == (50, 1.0)
    assert random == {"mean": 5.0, "error": pytest.approx(2.0)}
    assert spread == pytest.approx(2**0.5)
    assert (chi["mean"], mmd["mean"], dash) == (3.0, 2.5, None)
    assert subsets.loss_row(trials, 0, 50)[5]["mean"] == 3.5
    _, random, chi, critic, thinning, wins, share = subsets.margin_row(trials, 0, 50)
    assert [cell["mean"] for cell in (random, chi, critic, thinning)] == [2.5, 0.5, -0.5, -1.5]
    assert random["error"] == pytest.approx(1.5)
    assert wins == [2, 1, 0, 0]
    assert share == 25.0  # the subset with 3.0 in the first split
    assert np.isnan(trials.of("protodash", 0)).all()
    assert trials.seconds("MMD", 0).tolist() == [2.0, 2.0]


def test_bars_are_the_deviation_of_random_subsets_and_otherwise_errors() -> None:
    cell = {"mean": 2.0, "error": 0.5}
    ways = ["random", "(sd)", *subsets.CHOICES, "all rows"]
    losses = Table(
        "losses", ["table", "k", *ways], [["a", 10, cell, 0.75, *[cell] * 5, 1.0], ["b", 10, cell, 1, *[cell] * 5, 1.0]]
    )
    heads = ["table", *subsets.WEIGHT_COLUMNS]
    weights = Table("weights", heads, [[name, 10, 1.0, *[cell] * (len(heads) - 3)] for name in "ab"])
    found = subsets.panels(losses, weights, table="a")
    assert list(found) == ["a"]
    errors = {line.name: line.points("error")[1] for line in found["a"]}
    assert errors == {name: [0.75] if name == "random" else [0.5] for name in subsets.LOOKS}
    level = subsets.panels(losses, weights, all_rows=True, table="b")["b"][-1]
    assert (level.name, level.points()) == ("all rows", ([10], [1.0]))
    looks = [(look["marker"], str(look["linestyle"])) for look in subsets.LOOKS.values()]
    assert len({marker for marker, _ in looks}) == len({style for _, style in looks}) == len(looks)
