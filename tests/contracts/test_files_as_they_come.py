"""Exported files that are made with known truth: columns of one kind each, and files of mixed kinds and layouts."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

import fishernet as fn
from studies.exports import MIXED, READERS, Export, N, count, exports, is_right

FILES = list(exports())


@pytest.mark.parametrize("export", FILES, ids=lambda export: export.name)
def test_a_file_is_read_as_it_is_meant(export: Export, tmp_path: Path) -> None:
    path = export.written(tmp_path)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        table = fn.read_table(path)
        stream = fn.scan(path)
    assert stream == table
    assert table.n_rows == N
    assert table.names == tuple(export.columns)
    for variable, (name, column) in zip(table.variables, export.columns.items(), strict=True):
        if column.states is None:
            assert variable.is_continuous, variable
            assert variable.unit == column.unit
            np.testing.assert_allclose(table.column(name), column.meant, rtol=1e-12)
        else:
            assert variable.states == column.states
            assert table[name].tolist() == column.meant


def test_readers_are_judged_alike(tmp_path: Path) -> None:
    """All columns of ours are right, some of pandas', and a column of other numbers is wrong."""
    mixed = FILES[-MIXED:]
    assert all(count(READERS["fishernet"], one, tmp_path) == len(one.columns) for one in mixed[:5])
    assert 0 < sum(count(READERS["pandas"], one, tmp_path) for one in mixed) < sum(len(one.columns) for one in mixed)
    made = FILES[0].columns["plain"]
    assert is_right(made.meant, made)
    assert not is_right([x + 1 for x in made.meant], made)
    assert not is_right(made.cells, made)
