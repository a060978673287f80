"""Long streams: what is made of them lies on the disk, and is what a table gives."""

from __future__ import annotations

import gc
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import fishernet as fn
from fishernet.base.random import poisson_draws
from fishernet.data.encoding import bins, cells
from fishernet.data.statistics import moments, ranks
from fishernet.data.streams import packing, spool
from fishernet.data.streams import stream as streams
from fishernet.learn import resampling

N = 3000


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let what is done to long tables be done to short ones."""
    monkeypatch.setattr(streams, "MOST_COPIED", 1000)
    monkeypatch.setattr(packing, "LEAST_ROWS", 500)
    monkeypatch.setattr(cells, "MOST_KEPT", 500)
    monkeypatch.setattr(bins, "MOST_SORTED", 500)
    monkeypatch.setattr(ranks, "MOST_GATHERED", 64)


def frame(*, weighted: bool = False) -> dict[str, Any]:
    rng = np.random.default_rng(2)
    x = rng.normal(size=N)
    found = {
        "x": x,
        "y": 100 + x + rng.normal(size=N),
        "z": np.where(rng.random(N) < 0.1, np.nan, rng.exponential(size=N)),
        "i": rng.integers(-(10**6), 10**6, N),
        "a": np.array(["no", "yes"])[rng.integers(0, 2, N)],
        "b": np.array(["low", "mid", "high"])[rng.integers(0, 3, N)],
    }
    return found | ({"w": rng.integers(0, 3, N)} if weighted else {})


def pair(weighted: bool = False, **how: Any) -> tuple[fn.Table, fn.Stream]:
    held = frame(weighted=weighted)
    how |= {"weights": "w"} if weighted else {}
    return fn.Table.from_frame(held, **how), fn.scan(pa.table(held), **how)


@pytest.mark.parametrize("most_aside", [0, 50_000, 2**31])
@pytest.mark.parametrize("cache", [None, "memory"])
@pytest.mark.parametrize("once", [False, True])
def test_what_is_put_aside_or_read_again_is_the_same(
    most_aside: int, cache: Any, once: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spool, "MOST_KEPT", 0)
    monkeypatch.setattr(spool, "MOST_ASIDE", most_aside)
    held = pa.table(frame())
    for i in range(3):
        fn.write_table(fn.Table.from_frame(held[1000 * i : 1000 * (i + 1)]), tmp_path / f"{i}.csv")
    source: Any = iter(held.to_batches(500)) if once else tmp_path
    assert fn.scan(source, cache=cache) == fn.Table.from_frame(held)


PARTS: dict[str, Callable[[Any], fn.Table]] = {
    "a mask": lambda t: t[np.arange(t.n_rows) % 3 > 0],
    "positions": lambda t: t[np.random.default_rng(1).integers(-t.n_rows, t.n_rows, 2 * t.n_rows)],
    "every second": lambda t: t[::-2],
    "a long slice": lambda t: t[100:2900],
    "columns": lambda t: t.select(["b", "x"]),
    "a half": lambda t: t.split(0.5, seed=1)[0],
    "complete rows": lambda t: t.drop_missing(),
    "bins": lambda t: t.discretize({"x": 4, "z": 3, "i": [0.0]}),
    "other states": lambda t: t.conform([fn.Variable("b", ["mid", "low", "high"]), fn.Continuous("y")]),
}


@pytest.mark.parametrize("part", PARTS.values(), ids=PARTS)
@pytest.mark.parametrize("weighted", [False, True])
def test_a_long_part_is_a_stream_with_the_rows_of_a_table(part: Callable[[Any], Any], weighted: bool) -> None:
    table, stream = pair(weighted)
    expected, found = part(table), part(stream)
    assert found == expected
    assert type(found) is fn.Stream
    assert [v for v in found.variables if not v.is_continuous] == [v for v in expected.variables if not v.is_continuous]


def test_what_was_picked_goes_with_its_stream() -> None:
    _, stream = pair()
    picked = stream[np.arange(0, N, 2)]
    folder = picked.folder
    assert isinstance(folder, Path)
    assert folder.is_dir()
    del picked
    gc.collect()
    assert not folder.exists()


def test_a_stranger_is_told_by_its_row_in_the_stream(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fishernet.data.arrays.row_blocks.__defaults__", (700,))
    labels = np.array(["no"] * 2000 + ["maybe"] + ["no"] * 999)
    stream = fn.scan(pa.table({"a": labels}))
    with pytest.raises(fn.UnknownStateError, match="row 2000") as told:
        stream.conform([fn.Variable("a", ["no", "yes"])])
    assert told.value.row == 2000
    assert stream.conform([fn.Variable("a", ["no", "yes"])], unknown="missing").missing_counts() == {"a": 1}


@pytest.mark.parametrize(
    "how",
    [
        {"bins": 4},
        {"bins": 7, "binning": "equal-width"},
        {"bins": {"x": [0.0, 1.0], "z": [0.5], "i": 3}},
        {"bins": 4, "missing": "state"},
        {"bins": 4, "missing": "drop"},
        {"missing": "drop"},
        {},
    ],
)
@pytest.mark.parametrize("weighted", [False, True])
def test_long_columns_are_encoded_as_short_ones(how: Any, weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    table, stream = pair(weighted, **how)
    monkeypatch.setattr(cells, "MOST_KEPT", 2**22)
    monkeypatch.setattr(bins, "MOST_SORTED", 2**22)
    held = frame(weighted=weighted)
    expected = fn.Table.from_frame(held, **how, weights="w" if weighted else None)
    for found in (table, stream):
        assert found == expected
        assert str(found.describe()) == str(expected.describe())
        for one, other in zip(found.variables, expected.variables, strict=True):
            assert getattr(one, "bounds", None) == getattr(other, "bounds", None)


def test_infinite_numbers_are_cut_as_in_memory() -> None:
    x = np.random.default_rng(1).normal(size=N)
    x[7] = np.inf
    stream, table = fn.scan(pa.table({"x": x}), bins=3), fn.Table.from_frame({"x": x}, bins=3)
    assert stream.variables == table.variables
    assert stream.rows_digest() == table.rows_digest()


@pytest.mark.parametrize("weighted", [False, True])
def test_means_and_scatters_of_blocks_are_those_of_all_rows(weighted: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    table, stream = pair(weighted)
    sets = [(0, 1), (0, 1, 2), (2,), (0, 4), (0, 1, 2, 4, 5), (3, 5)]
    whole = table.statistics(sets)
    monkeypatch.setattr(moments, "SUMMED_ROWS", 128)
    again = fn.Table.adopt(table.variables, table.codes, weights=table.weights)  # which keeps no blocks yet
    for one, other, of_stream in zip(whole, again.statistics(sets), stream.statistics(sets), strict=True):
        assert other.total == one.total
        assert other.left_out == one.left_out
        np.testing.assert_allclose(other.mean, one.mean, rtol=1e-12)
        np.testing.assert_allclose(other.scatter, one.scatter, rtol=1e-9, atol=1e-9)
        for name in ("counts", "mean", "scatter"):
            np.testing.assert_array_equal(getattr(of_stream, name), getattr(other, name))


def test_learning_from_a_long_stream_is_learning_from_the_table() -> None:
    net = fn.datasets.load("asia")
    table = net.sample(N, seed=4)
    stream = fn.scan(table.to_frame(), schema=table.variables)
    one, other = (fn.learn.cross_validate(t, folds=3, search="hill-climb", seed=1) for t in (table, stream))
    np.testing.assert_array_equal(one.log_prob, other.log_prob)
    np.testing.assert_array_equal(one.fold, other.fold)
    scheme: Any
    for scheme in ("multinomial", "poisson"):
        first, second = (fn.learn.edge_strengths(t, 4, seed=1, scheme=scheme) for t in (table, stream))
        np.testing.assert_array_equal(first.strength, second.strength)
        np.testing.assert_array_equal(first.direction, second.direction)
    kernel = fn.kernels.FisherKernel(net)
    np.testing.assert_array_equal(kernel.mean_features(stream), kernel.mean_features(table))


@pytest.mark.parametrize("weighted", [False, True])
def test_poisson_samples_are_the_same_wherever_rows_lie(weighted: bool) -> None:
    table = fn.datasets.load("asia").sample(900, seed=4)
    if weighted:
        table = fn.Table(table.variables, table.codes, weights=np.random.default_rng(1).integers(0, 5, 900))
    parts = fn.data.Blocks([table[:7], table[7:501], table[501:]])
    first, second = (fn.learn.edge_strengths(t, 5, seed=3, scheme="poisson") for t in (table, parts))
    np.testing.assert_array_equal(first.strength, second.strength)
    np.testing.assert_array_equal(first.direction, second.direction)
    assert fn.learn.edge_strengths(parts, 5, seed=3).strength.tolist() == first.strength.tolist()
    with pytest.raises(fn.SchemaError, match="poisson"):
        fn.learn.edge_strengths(parts, 5, scheme="multinomial")


def test_a_poisson_sample_counts_rows_by_chance() -> None:
    table = fn.Table.from_codes(np.zeros((100_000, 1), dtype=int), [fn.Variable("a", [0, 1])])
    drawn = resampling._Weigh(5, 0)(table, 0).weights
    assert drawn is not None
    shares = np.bincount(drawn, minlength=5)[:5] / 100_000
    np.testing.assert_allclose(shares, np.exp(-1) / np.array([1, 1, 2, 6, 24]), atol=0.006)


@pytest.mark.parametrize("mean", [3, 4096, 5000, 10**9])
def test_poisson_numbers_of_any_mean_have_it(mean: int) -> None:
    found = poisson_draws(np.full(20_000, mean), 1, 2, 7, 20_000)
    assert found.min() >= 0
    assert abs(found.mean() - mean) < 5 * np.sqrt(mean / 20_000)
    assert abs(found.var() / mean - 1) < 0.06
    np.testing.assert_array_equal(poisson_draws(np.full(11, mean), 1, 2, 1008, 11), found[1001:1012])
