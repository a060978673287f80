"""The calls that pages for users of other libraries put side by side can be made, one table row after the other."""

from __future__ import annotations

import importlib
import pickle
import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fishernet as fn

DOCS = Path(__file__).parents[1] / "docs"
KNOWN = {"smoke": "yes", "xray": "yes"}
COINS = ["HHTHHHTTTT", "TTHTTHH"]


def rows(page: str) -> list[tuple[str, str, str]]:
    """Job, what the other library is called with, and what this one is."""
    text = (DOCS / f"coming-from-{page}.md").read_text(encoding="utf-8")
    found = [tuple(cell.strip() for cell in line.split("|")[1:-1]) for line in text.splitlines() if line[:2] == "| "]
    assert all(len(row) == 3 for row in found)
    return [(job, theirs, ours) for job, theirs, ours in found[1:]]


def make(calls: list[str], names: dict[str, Any]) -> None:
    for call in calls:
        exec(call, names)


def codes(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


@pytest.fixture(scope="module")
def asia() -> dict[str, Any]:
    df = fn.datasets.load("asia").sample(2000, seed=1).to_pandas()
    net = fn.learn.bayesian_network(df)
    numbers = {"a": np.linspace(0, 1, 30), "b": np.random.default_rng(1).normal(size=30)}
    return {"fn": fn, "df": df, "net": net, "dag": net.dag, "known": KNOWN, "numbers": numbers}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, asia: dict[str, Any]) -> Path:
    monkeypatch.chdir(tmp_path)
    asia["df"].to_csv("t.csv", index=False)
    return tmp_path


@pytest.mark.parametrize(
    ("page", "job", "ours"),
    [(page, job, ours) for page in ("pyagrum", "pgmpy", "bnlearn") for job, _, ours in rows(page)],
)
def test_our_calls_on_a_table(page: str, job: str, ours: str, asia: dict[str, Any], folder: Path) -> None:
    assert codes(ours) or "](" in ours
    make(codes(ours), dict(asia))


@pytest.mark.parametrize(("job", "ours"), [(job, ours) for job, _, ours in rows("hmmlearn")])
def test_our_calls_on_strings(job: str, ours: str, folder: Path) -> None:
    hmm = fn.HiddenMarkovModel([0.6, 0.4], [[0.9, 0.1], [0.2, 0.8]], [[0.7, 0.3], [0.2, 0.8]], alphabet="HT")
    make(codes(ours), {"fn": fn, "hmm": hmm, "strings": COINS})


def test_calls_of_pyagrum(asia: dict[str, Any], folder: Path) -> None:
    gum = pytest.importorskip("pyagrum")
    names = {**asia, "gum": gum}
    for _, theirs, _ in rows("pyagrum"):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            make(codes(theirs), names)


def test_calls_of_hmmlearn(folder: Path) -> None:
    hmm = pytest.importorskip("hmmlearn.hmm")
    h = hmm.CategoricalHMM(2)
    h.startprob_, h.transmat_ = np.array([0.6, 0.4]), np.array([[0.9, 0.1], [0.2, 0.8]])
    h.emissionprob_ = np.array([[0.7, 0.3], [0.2, 0.8]])
    names = {"h": h, "CategoricalHMM": hmm.CategoricalHMM, "pickle": pickle}
    names |= {
        "X": np.array([["HT".index(s)] for coin in COINS for s in coin]),
        "lengths": [len(coin) for coin in COINS],
    }
    for _, theirs, _ in rows("hmmlearn"):
        make(codes(theirs), names)


def test_calls_of_pgmpy(asia: dict[str, Any], folder: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        pytest.importorskip("pgmpy")
        names = dict(asia)
        for module in ("estimators", "models", "inference", "readwrite", "factors.discrete"):
            names |= vars(importlib.import_module(f"pgmpy.{module}"))
        names["model"] = names["DiscreteBayesianNetwork"](asia["net"].edges)
        names["model"].fit(asia["df"])
        for _, theirs, _ in rows("pgmpy"):
            make(codes(theirs), names)
