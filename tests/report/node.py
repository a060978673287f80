"""The page's inference, run by Node.js."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from typing import Any

import pytest

ASSETS = files("fishernet.reports") / "assets"
SCRIPTS = ("inference.js", "numbers.js", "why.js")
PROGRAM = """
const fs = require("fs");
const source = process.argv.slice(1).map((path) => fs.readFileSync(path, "utf8")).join("");
const [modelOf, Why] = require("vm").runInThisContext(`(() => { ${source} return [answering, Why]; })()`);
const { network, cases, asked } = JSON.parse(fs.readFileSync(0, "utf8"));
const tree = modelOf(network);
const known = ({ seen, done }) => [new Map(seen), new Map(done)];
const explained = (question) => {
  const cells = why.cells(tree.propagate(...known(question)), ...known(question), question.v, question.state);
  const values = cells && why.kinds ? Array.from(why.ofKinds(cells)) : null;
  return cells && { values, configurations: why.configurations(cells) };
};
const answered = (question) => {
  const { logEvidence, marginals, mixtures } = tree.propagate(...known(question));
  const { logProbability, states } = tree.explain(...known(question));
  const numbers = (mixtures || []).map((of) => of && { ...of.summary(), densities: densities(of) });
  const shares = marginals && marginals.map((m) => m && Array.from(m));
  return { logEvidence, logProbability, states, marginals: shares, numbers };
};
const why = asked && new Why(tree, network);
console.log(JSON.stringify(asked ? asked.map(explained) : cases.map(answered)));
function densities(of) {
  return [0.01, 0.3, 0.8].map((q) => [of.quantile(q), of.density(of.quantile(q))]);
}
"""


def answers(network: dict[str, Any], cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what the page answers to cases of what is seen and done, lists of (variable, state or number) each.

    Of numbers that are not known there are mean, sd, median, the ends of the 90 % interval, and three densities.
    """
    return _run({"network": network, "cases": cases})


def influences(network: dict[str, Any], asked: list[dict[str, Any]]) -> list[dict[str, Any] | None]:
    """Return what the page answers to questions why: the influence of each kind of row, and the configurations."""
    return _run({"network": network, "asked": asked})


def _run(given: dict[str, Any]) -> list[Any]:
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not installed")
    said = json.dumps(given)
    run = subprocess.run(
        [node, "-e", PROGRAM, *(str(ASSETS / name) for name in SCRIPTS)],
        input=said,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found: list[Any] = json.loads(run.stdout)
    return found
