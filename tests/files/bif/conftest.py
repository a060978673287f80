"""Reading BIF from a str."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from fishernet import BayesianNetwork
from fishernet.files import read_bif

Read = Callable[[str], BayesianNetwork]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def from_text(text: str) -> BayesianNetwork:
        path = tmp_path / "net.bif"
        path.write_bytes(text.encode())
        return read_bif(path)

    return from_text
