from __future__ import annotations

import csv
import io
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import fishernet as fn
from tests.cli.running import HOSTILE, facts_of, good, written


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """Two groups by three answers, with a column of ids that reads like a number, and missing cells."""
    lines = ["id,a,b,c"]
    for i in range(120):
        group = "yes" if i % 3 else "no"
        odd = "no" if group == "yes" else "yes"
        cells = [odd if i % 10 == place else group for place in range(3)]
        lines.append(f"{i:03d},{','.join(cells)}")
    lines[5] = "004,,yes,yes"
    return written(tmp_path / "rows.csv", "\n".join(lines) + "\n")


LEAVING_OUT = ("--exclude", "id", "--restarts", 3)


def test_rows_come_as_they_are_with_their_cluster(table: Path) -> None:
    found = fn.learn.clusters(fn.read_table(table, exclude=["id"]), restarts=3, seed=0)
    ended = good("cluster", table, *LEAVING_OUT)
    header, *rows = ended.cells
    assert header == ["id", "a", "b", "c", "cluster", "probability"]
    assert [",".join(row[:4]) for row in rows] == table.read_text(encoding="utf-8").splitlines()[1:]
    assert [int(row[4]) for row in rows] == found.labels.tolist()
    assert [float(row[5]) for row in rows] == found.probabilities.max(axis=1).tolist()
    assert found.n_clusters == 2


def test_json_and_stderr_say_what_the_library_says(table: Path) -> None:
    found = fn.learn.clusters(fn.read_table(table, exclude=["id"]), 2, restarts=3, seed=4)
    words: list[Any] = ["cluster", table, "-k", 2, "--seed", 4, *LEAVING_OUT]
    facts = facts_of(*words)
    assert (facts["clusters"], facts["rows"], facts["seed"]) == (2, 120, 4)
    assert facts["shares"] == found.shares.tolist()
    assert facts["bic"] == {"2": found.scores[2]}
    assert facts["cluster"] == found.labels.tolist()
    assert facts["probabilities"] == found.probabilities.tolist()
    assert facts["markers"] == found.markers().to_pylist()
    first = found.markers(1).to_pylist()
    lines = good(*words, "--top", 1).err.splitlines()
    assert lines[0].split() == ["cluster", "share", "likelier", "than", "elsewhere"]
    for line, mark, share in zip(lines[1:3], first, found.shares, strict=True):
        assert f"{100 * share:.1f} %" in line
        assert f"{mark['variable']} = {mark['state']} ({100 * mark['inside']:.1f} %" in line
    assert lines[3].startswith("2 clusters, BIC 2: ")


def test_dropped_rows_are_not_written_and_weights_count(table: Path) -> None:
    kept = good("cluster", table, "--missing", "drop", *LEAVING_OUT).cells
    assert len(kept) == 120
    assert "004" not in [row[0] for row in kept]
    text = table.read_text(encoding="utf-8").splitlines()
    weighted = written(table, "\n".join([f"{text[0]},w", *(f"{line},{2 + i % 2}" for i, line in enumerate(text[1:]))]))
    facts = facts_of("cluster", weighted, "-k", 2, "--weights", "w", *LEAVING_OUT)
    weights = 2 + np.arange(120) % 2
    np.testing.assert_allclose(facts["shares"], np.average(facts["probabilities"], axis=0, weights=weights), rtol=1e-9)


def test_numbers_are_cut_and_written_as_they_are(tmp_path: Path) -> None:
    values = [f"{i % 2 * 10 + i * 0.0100:.4f}" for i in range(60)]
    path = written(tmp_path / "n.csv", "x,y\n" + "".join(f"{value},{'ab'[i % 2]}\n" for i, value in enumerate(values)))
    assert [row[0] for row in good("cluster", path, "--restarts", 2).cells[1:]] == values
    rows = good("cluster", path, "--bins", 2, "--structure", "TREE", "--restarts", 2).cells
    assert [row[0] for row in rows[1:]] == values
    assert {row[2] for row in rows[1:]} == {"0"}  # the tree alone says how they depend
    rows, out = good("cluster", path, "--bins", 2, "-k", 2).cells, tmp_path / "n.parquet"
    good("cluster", path, "--bins", 2, "-k", 2, "-o", out)
    frame = pq.read_table(out)
    assert frame.column_names == ["x", "y", "cluster", "probability"]
    assert frame["cluster"].to_pylist() == [int(row[2]) for row in rows[1:]]


def test_names_that_are_taken_and_hostile_labels(tmp_path: Path) -> None:
    lines = io.StringIO()
    csv.writer(lines).writerows([["cluster", "x,\ny"], *([label, label] for label in HOSTILE for _ in range(3))])
    path = tmp_path / "h.csv"
    path.write_bytes(lines.getvalue().encode())
    ended = good("cluster", path, "-k", 2, "--restarts", 2, "--categorical", "cluster")
    assert ended.cells[0] == ["cluster", "x,\ny", "cluster_", "probability"]
    assert all(line.isprintable() for line in ended.err.splitlines())
