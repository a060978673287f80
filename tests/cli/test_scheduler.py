"""``--scheduler``: what the workers of a cluster read and count is what one file in memory gives."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
import pytest

import fishernet as fn
from fishernet.cli.tables import clusters
from tests.cli.running import facts_of, good, refused, saved, written
from tests.cli.test_streams import PEOPLE

distributed: Any = pytest.importorskip("dask.distributed")
pytest.importorskip("dask.dataframe")

pytestmark = pytest.mark.filterwarnings("ignore:::distributed", "ignore:::dask")
STATES = {name: PEOPLE[name] for name in ("ward", "smokes", "cough")}


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    """Return the address of a scheduler of two processes."""
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        yield cluster.scheduler_address


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with one file of each format, and folders with the same rows in three files."""
    folder = tmp_path_factory.mktemp("cluster")
    frame = pa.table(PEOPLE)
    for ending in ("parquet", "arrow", "csv"):
        (folder / ending).mkdir()
        pieces = [("one", frame), *((f"{ending}/part-{i}", frame.slice(i * 300, 300)) for i in range(3))]
        for name, piece in pieces:
            path = folder / f"{name}.{ending}"
            if ending == "csv":
                piece.to_pandas().to_csv(path, index=False)
            elif ending == "arrow":
                feather.write_feather(piece, path)
            else:
                pq.write_table(piece, path)
    saved(fn.learn.bayesian_network(fn.Table.from_frame(PEOPLE, bins=3)), folder / "model.json")
    return folder


def of_all(facts: dict[str, Any]) -> dict[str, Any]:
    """Return facts without those that name files or times, and those that need the rows."""
    apart = ("table", "seconds", "model", "missingness", "beyond", "bound", "gap", "proof", "alerts")
    return {name: fact for name, fact in facts.items() if name not in apart}


@pytest.mark.parametrize(  # how files are read does not depend on the model, nor the model on how they are read
    ("words", "ending"),
    [
        ("", "parquet"),
        ("", "csv"),
        ("--score qnml --search hill-climb", "csv"),
        ("--model dn", "parquet"),
        ("--model tan --target cough", "parquet"),
        ("--model chow-liu", "csv"),
    ],
)
def test_learn(tables: Path, address: str, tmp_path: Path, ending: str, words: str) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    words += " --bins 3"
    expected = facts_of("learn", tables / f"one.{ending}", *words.split(), "--holdout", 0, "-o", first)
    found = facts_of("learn", tables / ending, *words.split(), "--scheduler", address, "-o", second)
    assert of_all(found) == of_all(expected)
    assert second.read_bytes() == first.read_bytes()


@pytest.mark.parametrize("ending", ["parquet", "arrow", "csv"])
def test_describe(tables: Path, address: str, ending: str) -> None:
    for words in ([], ["--bins", "4", "--exclude", "ward"]):
        expected = of_all(facts_of("describe", tables / f"one.{ending}", *words))
        found = of_all(facts_of("describe", tables / ending, *words, "--scheduler", address))
        plan = found.pop("plan")
        expected.pop("plan")
        assert found == expected
        assert any(line.startswith("numbers are cut into bins") for line in plan) == (not words)  # where the rows are


def test_score_keeps_the_order_of_the_rows(tables: Path, address: str, tmp_path: Path) -> None:
    first, second = tmp_path / "first.txt", tmp_path / "second.txt"
    model, one, many = tables / "model.json", tables / "one.parquet", tables / "parquet" / "part-*.parquet"
    good("score", model, one, "--rows", "-o", first)
    good("score", model, many, "--rows", "-o", second, "--scheduler", address)
    assert first.read_bytes() == second.read_bytes()
    for words in (["--score", "bic"], ["--rows"]):
        expected = facts_of("score", model, one, *words)
        assert of_all(facts_of("score", model, many, *words, "--scheduler", address)) == of_all(expected)


def test_states_that_a_model_does_not_have_are_named_with_their_file(
    tables: Path, address: str, tmp_path: Path
) -> None:
    path = written(tmp_path / "odd.csv", (tables / "one.csv").read_text().replace("w2", "w9"))
    message = refused("score", tables / "model.json", path, "--scheduler", address)
    assert message.startswith("partition 0")
    assert "the label 'w9' is not among the states" in message


REFUSED = [
    (
        "learn TABLES/one.parquet --holdout 0.3",
        "--holdout 0.3 needs the rows, which the workers of a cluster keep; leave --holdout or --scheduler out",
    ),
    ("learn TABLES/one.parquet --missing em", "--missing em needs the rows, which the workers of a cluster keep"),
    ("learn TABLES/one.parquet --model gaussian", "a Gaussian Markov network (--model gaussian) needs the rows"),
    ("learn TABLES/one.parquet --model markov", "a graph found by tests (--model markov) needs the rows"),
    ("learn TABLES/one.parquet --score fractional", "(--score fractional) needs the rows"),
    ("learn TABLES/one.parquet --scan", "--scan is for files that are read here; it does not go with --scheduler"),
    ("learn TABLES/one.parquet --no-scan", "--no-scan is for files that are read here"),
    ("describe TABLES/one.parquet --cache STORE", "--cache is for files that are read here"),
    ("score TABLES/model.json TABLES/one.parquet --terms", "--terms needs the rows"),
    ("score TABLES/one.parquet --folds 3", "--folds needs the rows"),
    ("describe TABLES/nowhere", "nowhere: there is no such file or folder"),
    ("describe TABLES/model.json", "a cluster reads Parquet, Arrow and text files, of one kind"),
    ("describe BROKEN.parquet", "BROKEN.parquet: is no Parquet file, or a broken one ("),
]


@pytest.mark.parametrize(("line", "said"), REFUSED)
def test_what_a_cluster_cannot_do_is_one_sentence(
    tables: Path, address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    written(tmp_path / "BROKEN.parquet", "PAR1 and no more")
    words = [word.replace("TABLES", str(tables)) for word in line.split()]
    assert said in refused(*words, "--scheduler", address)


def test_cells_of_text_are_told_apart_as_in_files_that_are_read_here(tmp_path: Path) -> None:
    tabs = written(tmp_path / "tabs.txt", "a\tb\nx\t1\n")
    assert list(clusters._frame(tabs, [tabs], {}).columns) == ["a", "b"]
    semicolons = written(tmp_path / "semicolons.csv", "a;b\nx;1\n")
    assert list(clusters._frame(semicolons, [semicolons], {"delimiter": ";"}).columns) == ["a", "b"]
    with pytest.raises(fn.FileFormatError, match="is not laid out plainly"):
        clusters._frame(semicolons, [semicolons], {})
    commas = written(tmp_path / "commas.csv", "a,b\nx,1\n")
    with pytest.raises(fn.FileFormatError, match="only some of them end in .csv"):
        clusters._frame(tmp_path, [commas, tabs], {})


def test_a_scheduler_that_is_not_there(tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(clusters, "SECONDS", 1)
    message = refused("describe", tables / "one.csv", "--scheduler", "tcp://127.0.0.1:9")
    assert message == (
        "the Dask scheduler tcp://127.0.0.1:9 cannot be reached: nothing answered within 1 seconds (option --scheduler)"
    )
    assert "--scheduler takes an address as tcp://host:8786, not 'nope://x'" in refused(
        "describe", tables / "one.csv", "--scheduler", "nope://x"
    )


def test_without_dask_it_is_said_what_to_install(tables: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    message = refused("describe", tables / "one.csv", "--scheduler", "tcp://127.0.0.1:9")
    assert message.startswith("--scheduler needs Dask (")
    assert message.endswith('pip install "fishernet[dask]"')
