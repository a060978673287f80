"""The page's inference, run by Node.js."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from typing import Any

import pytest

ASSETS = files("fishernet.reports") / "assets"
SCRIPTS = ("inference.js", "numbers.js")
PROGRAM = """
const fs = require("fs");
const source = process.argv.slice(1).map((path) => fs.readFileSync(path, "utf8")).join("");
const modelOf = require("vm").runInThisContext(`(() => { ${source} return answering; })()`);
const { network, cases } = JSON.parse(fs.readFileSync(0, "utf8"));
const tree = modelOf(network);
const answers = cases.map(({ seen, done }) => {
  const known = [new Map(seen), new Map(done)];
  const { logEvidence, marginals, mixtures } = tree.propagate(...known);
  const { logProbability, states } = tree.explain(...known);
  const numbers = (mixtures || []).map((of) => of && { ...of.summary(), densities: densities(of) });
  const shares = marginals && marginals.map((m) => m && Array.from(m));
  return { logEvidence, logProbability, states, marginals: shares, numbers };
});
function densities(of) {
  return [0.01, 0.3, 0.8].map((q) => [of.quantile(q), of.density(of.quantile(q))]);
}
console.log(JSON.stringify(answers));
"""


def answers(network: dict[str, Any], cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what the page answers to cases of what is seen and done, lists of (variable, state or number) each.

    Of numbers that are not known there are mean, sd, median, the ends of the 90 % interval, and three densities.
    """
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not installed")
    said = json.dumps({"network": network, "cases": cases})
    run = subprocess.run(
        [node, "-e", PROGRAM, *(str(ASSETS / name) for name in SCRIPTS)],
        input=said,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    found: list[dict[str, Any]] = json.loads(run.stdout)
    return found
