"""Networks of decision trees in model files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import fishernet as fn
from fishernet.models import Split, TreeConditional
from tests.models.test_tree_conditional import bayesian, dependency


@pytest.mark.parametrize("model", [dependency("tree"), bayesian("tree")], ids=repr)
def test_they_come_back_equal(model: fn.DependencyNetwork | fn.BayesianNetwork, tmp_path: Path) -> None:
    fn.save(model, tmp_path / "model.json")
    back = fn.load(tmp_path / "model.json")
    assert back == model
    assert [c.tree for c in back.conditionals] == [c.tree for c in model.conditionals]  # type: ignore[attr-defined]


def test_a_learned_tree_comes_back_equal(tmp_path: Path) -> None:
    dn = fn.learn.dependency_network(fn.datasets.load("nursery")[:4000], inputs="tree")
    fn.save(dn, tmp_path / "model.json")
    assert fn.load(tmp_path / "model.json") == dn


def test_a_deep_tree_is_no_deep_file(tmp_path: Path) -> None:
    n = 120
    variables = [fn.Variable(f"v{i}", ["a", "b"]) for i in range(n)]
    tree: Split | int = 0
    for v in range(1, n):
        tree = Split(v, (0, 1), (tree, v))
    chain = TreeConditional(0, range(1, n), [*variables[1:], variables[0]], tree, [[0.5, 0.5]] * n)
    others = [TreeConditional(v, (), [variables[v]], 0, [[0.5, 0.5]]) for v in range(1, n)]
    dn = fn.DependencyNetwork(variables, [chain, *others])
    fn.save(dn, tmp_path / "model.json")
    assert fn.load(tmp_path / "model.json") == dn


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda nodes: nodes.clear(), "needs a node"),
        (lambda nodes: nodes[0].update(variable="nobody"), "nobody"),
        (lambda nodes: nodes[0].update(to=[1, 2]), "for the 3 states"),
        (lambda nodes: nodes[0].update(to=[0, 1, 2]), "expected a node"),
        (lambda nodes: nodes[0].update(to=[1, 99, 2]), "99"),
        (lambda nodes: nodes.append({"leaf": 7}), "nothing leads"),
        (lambda nodes: nodes[-1].update(leaf=9), "leaves"),
    ],
)
def test_broken_trees_are_answered(change: Any, message: str, tmp_path: Path) -> None:
    fn.save(dependency("tree"), tmp_path / "model.json")
    stored = json.loads((tmp_path / "model.json").read_text())
    change(next(c for c in stored["conditionals"] if c["child"] == "c")["nodes"])
    (tmp_path / "model.json").write_text(json.dumps(stored))
    with pytest.raises(fn.FileFormatError, match=message):
        fn.load(tmp_path / "model.json")
