"""Tables with dependences, and networks learned from them."""

from __future__ import annotations

from pathlib import Path

import pytest

import fishernet as fn
from tests.cli.running import ASIA, ROWS, chain, patients, saved


@pytest.fixture
def csv(tmp_path: Path) -> Path:
    """Return a table of 100 rows."""
    return patients(tmp_path)


@pytest.fixture
def model(csv: Path) -> Path:
    """Return a network fitted on that table."""
    return saved(fn.learn.bayesian_network(fn.read_table(csv)), csv.with_name("model.json"))


@pytest.fixture
def dependency(csv: Path) -> Path:
    """Return a dependency network fitted on that table."""
    return saved(fn.learn.dependency_network(fn.read_table(csv)), csv.with_name("dependency.json"))


@pytest.fixture
def asia(tmp_path: Path) -> Path:
    """Return the network of that name."""
    return saved(ASIA, tmp_path / "asia.json")


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    """Return 200 rows drawn from it."""
    fn.write_table(ROWS, tmp_path / "rows.csv")
    return tmp_path / "rows.csv"


@pytest.fixture
def numbers(tmp_path: Path) -> Path:
    """Return a table of numbers."""
    chain().to_csv(tmp_path / "numbers.csv", index=False)
    return tmp_path / "numbers.csv"
