"""A table with dependences, and a network learned from it."""

from __future__ import annotations

from pathlib import Path

import pytest

import fishernet as fn

ROWS = [
    ("age", "smoke", "cough"),
    *[("young", "no", "no")] * 30,
    *[("young", "yes", "yes")] * 10,
    *[("old", "yes", "yes")] * 25,
    *[("old", "yes", "no")] * 5,
    *[("old", "no", "no")] * 20,
    *[("old", "no", "yes")] * 10,
]


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    """Return a table of 100 rows."""
    path = tmp_path / "patients.csv"
    path.write_text("".join(",".join(row) + "\n" for row in ROWS), encoding="utf-8")
    return path


@pytest.fixture
def model(csv: Path) -> Path:
    """Return a network fitted on that table."""
    path = csv.with_name("model.json")
    fn.save(fn.learn.bayesian_network(fn.read_table(csv)), path)
    return path


@pytest.fixture
def dependency(csv: Path) -> Path:
    """Return a dependency network fitted on that table."""
    path = csv.with_name("dependency.json")
    fn.save(fn.learn.dependency_network(fn.read_table(csv)), path)
    return path
