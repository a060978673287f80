from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

import fishernet as fn
from fishernet.cli import demo
from fishernet.learn import hold_out
from tests.cli.running import good


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    """What the demo finds, run once and as a module."""
    ended = subprocess.run(
        [sys.executable, "-m", "fishernet.cli.demo", "--json"], check=True, capture_output=True, encoding="utf-8"
    )
    assert ended.stderr == ""
    facts: dict[str, Any] = json.loads(ended.stdout)
    return facts


def test_the_numbers_are_the_library_s(told: dict[str, Any]) -> None:
    facts = told
    assert list(facts) == ["nursery", "letter"]
    letter = fn.datasets.load("letter", bins=4, binning="equal-width")
    for name, table in (("nursery", fn.datasets.load("nursery")), ("letter", letter)):
        training, held_out = hold_out(table, 0.5, seed=0)
        found = fn.learn.structure(training, score="bic")
        net = fn.learn.parameters(found.dag, training)
        assert facts[name]["rows"] == 2 * facts[name]["training_rows"] == table.n_rows
        assert facts[name]["variables"] == len(table.variables)
        assert facts[name]["arcs"] == [list(edge) for edge in found.dag.edges]
        assert facts[name]["bic"] == found.score
        assert facts[name]["held_out_log_likelihood_per_row"] == net.log_prob(held_out).mean()
        assert list(facts[name]["seconds"]) == ["load", "learn", "fit", "score"]


def test_the_rows_that_stand_in_are_the_library_s(told: dict[str, Any]) -> None:
    facts = told["nursery"]["selection"]
    training, held_out = hold_out(fn.datasets.load("nursery"), 0.5, seed=0)
    net = fn.learn.bayesian_network(training)
    chosen = {
        "fisher_mmd": fn.select.greedy_mmd(fn.kernels.FisherKernel(net), training, 200, seed=0),
        "chi_square": fn.select.greedy_chi_square(training, 200, seed=0),
    }
    for name, selection in chosen.items():
        refitted = fn.learn.parameters(net.dag, training[selection.indices])
        assert facts[name] == -refitted.log_prob(held_out).mean()
    assert facts["all"] == -net.log_prob(held_out).mean()
    # what Leppä-aho et al. (2020) find in their Fig. 1, by a margin of several standard deviations
    assert facts["all"] < facts["fisher_mmd"] < facts["chi_square"]
    assert facts["fisher_mmd"] < facts["random_mean"] - 2 * facts["random_sd"]


def test_it_runs_as_a_command_and_prints_a_table(told: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(demo, "TABLES", dict.fromkeys(told))
    found = iter(told.values())
    monkeypatch.setattr(demo, "_facts_of", lambda _: next(found))
    out = good("demo").out
    lines = {line[:31].strip(): line[31:].split() for line in out.splitlines()}
    assert lines["rows"] == ["12,960", "20,000"]
    assert lines["variables"] == ["9", "17"]
    assert "nursery: " in out
    assert max(map(len, out.splitlines())) <= 110
    assert {"arcs", "BIC (nats)", "held-out log-likelihood per row", "seconds to learn"} <= set(lines)
