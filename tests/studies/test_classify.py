"""The study of classifiers fitted on few rows: its measures by their definition, on tiny sizes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import fishernet as fn
from studies import classify as study
from studies.study import Run


def test_error_and_log_loss_are_those_of_the_class_given_the_other_cells() -> None:
    """By Bayes' rule, from the joint probability of each row with each class."""
    table = fn.datasets.load("nursery")
    assert isinstance(table, fn.Table)
    test = table[np.arange(0, table.n_rows, 1_500)]
    model = fn.learn.parameters(study.CLASSIFIERS["TAN"](table), table)
    codes = np.column_stack(test.codes)
    joint = np.empty((len(codes), 5))
    for state in range(5):
        codes[:, -1] = state
        joint[:, state] = np.exp(model.log_prob(fn.Table.from_codes(codes, table.variables)))
    given = joint / joint.sum(axis=1, keepdims=True)
    truth = test.column("class")
    wrong = float(np.mean(given.argmax(axis=1) != truth))
    loss = -float(np.log(given[np.arange(len(truth)), truth]).mean())
    assert study.of_class(test)(model) == pytest.approx([wrong, loss], rel=1e-9)


def test_classifiers_are_those_of_the_paper() -> None:
    """A tree of the eight features beside the class; up to three features as parents."""
    table = fn.datasets.load("nursery")
    tan, kdb = (make(table) for make in study.CLASSIFIERS.values())
    assert (tan.n_edges, max(map(len, tan.parents))) == (8 + 7, 2)
    assert (kdb.n_edges, max(map(len, kdb.parents))) == (8 + 0 + 1 + 2 + 5 * 3, 4)


@pytest.mark.slow
def test_the_quick_form_needs_no_data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(study, "three", lambda _: {"nursery": None})
    tables = {table.name: table for table in study.compute(Run("quick", asked_repetitions=2))}
    assert set(tables) == {f"{name}{end}" for name in ("error", "log-loss") for end in ("", "-margins", "-weights")}
    for row in tables["error"].select(classifier="TAN"):
        assert row["all rows"] < row["MMD"]["mean"] + 0.02
        assert row["MMD"]["mean"] < row["random"]["mean"]
    study.draw(tables, lambda name: tmp_path / f"{name}.svg")
    assert len(list(tmp_path.iterdir())) == 4
