from __future__ import annotations

from pathlib import Path

import pytest

import fishernet as fn
from fishernet.cli.models import check_model_output, read_model, write_model
from fishernet.cli.terminal import ending
from tests.networks import random_network


@pytest.mark.parametrize("name", ["m.json", "m.JSON", "m.json.gz", "m.bif", "m.bif.gz"])
def test_a_model_is_written_and_read_by_its_ending(tmp_path: Path, name: str) -> None:
    net = random_network(1, [3, 2, 4])
    write_model(net, tmp_path / name)
    assert read_model(tmp_path / name) == net
    reader = fn.read_bif if "bif" in name else fn.load
    assert reader(tmp_path / name) == net


def test_endings() -> None:
    names = {"a.json": ".json", "a.b.BIF": ".bif", "a.CSV.GZ": ".csv", "a": "", ".json": "", "a.gz": ""}
    assert {name: ending(Path(name)) for name in names} == names


def test_other_endings_are_refused_before_any_work(tmp_path: Path) -> None:
    with pytest.raises(fn.FileFormatError, match=r"x\.txt: a model is written to a file ending in \.json or \.bif"):
        check_model_output(tmp_path / "x.txt")
    with pytest.raises(fn.FileFormatError, match=r"a model is read from a file ending in \.json or \.bif"):
        read_model(tmp_path / "x.csv")
