"""What commands do with models whose variables have no states, and with graphs."""

from __future__ import annotations

from pathlib import Path

import pytest

import fishernet as fn
from tests.cli.running import good, refused


@pytest.fixture
def others(tmp_path: Path) -> list[Path]:
    """Return models without states, one of each kind."""
    dag = fn.Dag.from_edges(["a", "b"], [("a", "b")])
    models = {
        "graph": fn.UndirectedGraph.from_edges(["a", "b"], [("a", "b")]),
        "markov": fn.GaussianMarkovNetwork(["a", "b"], [0, 0], [[2, 1], [1, 2]]),
        "bayesian": fn.BayesianNetwork.from_regressions(dag, [0, 0], [[], [1]], [1, 1]),
        "mixture": fn.GaussianMixture([1.0], [0.0], 1.0),
    }
    for name, model in models.items():
        fn.save(model, tmp_path / f"{name}.json")
    return [tmp_path / f"{name}.json" for name in models]


def test_models_without_states_are_refused_where_states_are_needed(others: list[Path], csv: Path) -> None:
    for path in others:
        for words in (["query", path, "a"], ["select", path, csv, "-k", 2], ["similar", path, csv, "--row", 0]):
            assert f"{path}: this is a" in refused(*words)


def test_graphs_and_mixtures_are_refused_where_a_network_is_needed(others: list[Path], csv: Path) -> None:
    for path in (others[0], others[3]):
        for words in (["score", path, csv], ["sample", path, "-n", 2], ["predict", path, csv, "--target", "a"]):
            assert f"{path}: this is a" in refused(*words)


def test_models_without_states_are_converted(others: list[Path], tmp_path: Path) -> None:
    counts = [{"edges": 1}, {"edges": 1}, {"arcs": 1}]
    for path, count in zip(others[:3], counts, strict=True):
        facts = good("convert", path, tmp_path / "out.json.gz", "--json").facts
        assert fn.load(tmp_path / "out.json.gz") == fn.load(path)
        assert facts["variables"] == 2
        assert count.items() <= facts.items()
        assert "only a Bayesian network can be turned into .bif" in refused("convert", path, tmp_path / "out.bif")
    assert "what can be converted is a Bayesian network" in refused("convert", others[3], tmp_path / "out.json")
