"""A model and a graph of a user's own, each written in one place and inheriting nothing, work in every part.

What is asked of them is `fishernet.models.Model` and `fishernet.graphs.Graph`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest

import fishernet as fn
from fishernet.base.fields import Fields
from fishernet.files.model_file import KINDS, Kind
from fishernet.graphs import Graph, Links
from fishernet.models import LikelihoodModel
from tests.cli.running import facts_of, good

# ----------------------------------------------------------------------------------------------- a graph of one's own


@dataclass(frozen=True)
class Chain:
    """Every variable is a parent of the next one."""

    names: tuple[str, ...]

    def links(self) -> Links:
        n = len(self.names)
        return Links.of_parents([[v - 1] if v else [] for v in range(n)], layered=True)


# ----------------------------------------------------------------------------------------------- a model of one's own


@dataclass(frozen=True)
class Coins:
    """Independent binary variables, P(second state) = p; its parameters are the p."""

    names: tuple[str, ...]
    p: tuple[float, ...]

    kind = "row of coins"
    values = "states"
    likelihood = "exact"
    inference = "none"
    conditionals = ()

    @property
    def variables(self) -> tuple[fn.Variable, ...]:
        return tuple(fn.Variable(name, ["tails", "heads"]) for name in self.names)

    @property
    def graph(self) -> Chain:
        return Chain(self.names)  # more than it needs

    def log_prob(self, data: Any) -> Any:
        return np.where(self._codes(data), np.log(self.p), np.log1p(-np.array(self.p))).sum(axis=1)

    def fisher_scores(self, data: Any) -> Any:
        return np.where(self._codes(data), 1 / np.array(self.p), -1 / (1 - np.array(self.p)))

    def fisher_information(self) -> Any:
        return np.diag(1 / (np.array(self.p) * (1 - np.array(self.p))))

    def sample(self, n: int, *, seed: Any = None) -> fn.Table:
        random = np.random.default_rng(seed)
        return fn.Table.from_codes((random.random((n, len(self.p))) < self.p).astype(int), self.variables)

    def _codes(self, data: Any) -> Any:
        table = fn.Table.from_frame(data, schema=self.variables) if not isinstance(data, fn.Table) else data
        return np.stack([table.column(name) for name in self.names], axis=1) == 1


def coin_fields(model: Coins) -> dict[str, object]:
    return {"names": list(model.names), "p": list(model.p)}


def read_coins(fields: Fields) -> Coins:
    return Coins(tuple(fields.take("names")), tuple(fields.take("p")))  # type: ignore[arg-type]


CHAIN = Chain(("a", "b", "c"))
MODEL = Coins(("a", "b", "c"), (0.2, 0.5, 0.7))
DAG = fn.Dag.from_edges(["a", "b", "c"], [("a", "b"), ("b", "c")])
TABLE = MODEL.sample(300, seed=1)


@pytest.fixture
def registered() -> Iterator[None]:
    """One entry in the table of kinds lets files hold the model."""
    KINDS["Coins"] = Kind(Coins, coin_fields, read_coins)
    yield
    del KINDS["Coins"]


def test_they_follow_the_protocols() -> None:
    graph: Graph = CHAIN
    model: LikelihoodModel = MODEL  # type: ignore[assignment]  # mypy takes class attributes for str
    assert graph.links() == DAG.links()
    assert model.graph == graph


@pytest.mark.parametrize("given", [CHAIN, MODEL], ids=["graph", "model"])
def test_graphs_are_drawn_written_and_compared(given: Any, tmp_path: Path) -> None:
    assert set(fn.graphs.to_networkx(given).edges) == {("a", "b"), ("b", "c")}
    assert fn.shd(given, DAG) == 0
    assert fn.shd(given, fn.Dag.from_edges(["a", "b", "c"], [("a", "b"), ("c", "b")])) == 2
    for name in ("own.svg", "dag.svg"):
        fn.plot.write_graph(given if name == "own.svg" else DAG, tmp_path / name)
    assert (tmp_path / "own.svg").read_bytes() == (tmp_path / "dag.svg").read_bytes()
    fn.save(given, tmp_path / "own.dot")
    assert '"a" -> "b"' in (tmp_path / "own.dot").read_text()
    fn.save(given, tmp_path / "own.graphml")
    assert set(nx.read_graphml(tmp_path / "own.graphml").edges) == {("a", "b"), ("b", "c")}


def test_a_graph_of_ones_own_is_reported_on_and_guides_explanations() -> None:
    report = fn.report(TABLE, CHAIN)
    assert report.model.graph == DAG
    found = fn.compare.explain_change(TABLE, MODEL.sample(300, seed=2), CHAIN, permutations=19, resamples=2, seed=1)
    assert found.graphs[0][0] == DAG


def test_the_kernel_of_a_model_of_ones_own_is_that_of_the_same_network() -> None:
    tables = {name: [1 - p, p] for name, p in zip(MODEL.names, MODEL.p, strict=True)}
    net = fn.BayesianNetwork.from_tables(MODEL.variables, {}, tables)
    own, same = fn.kernels.FisherKernel(MODEL), fn.kernels.FisherKernel(net)
    rows = TABLE[:40]
    np.testing.assert_allclose(own(rows), same(rows), rtol=1e-9, atol=1e-9)
    chosen = fn.select.greedy_mmd(own, TABLE, 5, n_starts=5, seed=1)
    assert chosen.distance == pytest.approx(fn.select.greedy_mmd(same, TABLE, 5, n_starts=5, seed=1).distance)
    other = MODEL.sample(200, seed=3)
    found = fn.compare.two_sample_test(TABLE, other, own, permutations=99, seed=1)
    assert found.p_value == fn.compare.two_sample_test(TABLE, other, same, permutations=99, seed=1).p_value


def test_a_model_of_ones_own_has_divergences() -> None:
    p, q = np.array(MODEL.p), np.array([0.3, 0.5, 0.6])
    by_hand = (p * np.log(p / q) + (1 - p) * np.log((1 - p) / (1 - q))).sum()
    assert fn.compare.kl(MODEL, Coins(MODEL.names, tuple(q))) == pytest.approx(by_hand)
    assert fn.compare.full_conditional_divergence(MODEL, Coins(MODEL.names, tuple(q))) == pytest.approx(by_hand / 3)


def test_a_model_of_ones_own_is_reported_on() -> None:
    report = fn.report(TABLE, MODEL, target="a")
    assert report.model is MODEL
    assert set(report.left_out) == {"odd", "prediction", "inference"}
    assert "a row of coins" in report.left_out["odd"]


@pytest.mark.usefixtures("registered")
def test_a_model_of_ones_own_is_filed_and_works_on_the_command_line(tmp_path: Path) -> None:
    path, table = tmp_path / "coins.json", tmp_path / "rows.csv"
    fn.save(MODEL, path)
    assert fn.load(path) == MODEL
    fn.write_table(TABLE, table)
    scored = facts_of("score", path, table)
    assert scored["log_likelihood"] == pytest.approx(MODEL.log_prob(TABLE).sum())
    assert facts_of("convert", path, tmp_path / "coins.dot")["arcs"] == 2
    assert facts_of("compare-graphs", path, path)["shd"] == 0
    assert facts_of("select", path, table, "-k", "3")["k"] == 3
    assert good("sample", path, "-n", "4").out.startswith("a,b,c")
    good("report", table, "--model", path, "-o", tmp_path / "page.html")
    assert json.loads(path.read_text())["kind"] == "Coins"
