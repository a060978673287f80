"""The page's inference, run by Node.js."""

from __future__ import annotations

import json
import shutil
import subprocess
from importlib.resources import files
from typing import Any

import pytest

ASSETS = files("fishernet.report") / "assets"
PROGRAM = """
const { treeOf } = require(process.argv[1]);
const { network, cases } = JSON.parse(require("fs").readFileSync(0, "utf8"));
const tree = treeOf(network);
const answers = cases.map(({ seen, done }) => {
  const known = [new Map(seen), new Map(done)];
  const { logEvidence, marginals } = tree.propagate(...known);
  const { logProbability, states } = tree.explain(...known);
  return { logEvidence, logProbability, states, marginals: marginals && marginals.map((m) => Array.from(m)) };
});
console.log(JSON.stringify(answers));
"""


def answers(network: dict[str, Any], cases: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return what the page answers to cases of what is seen and done, lists of (variable, state) each."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("Node.js is not installed")
    said = json.dumps({"network": network, "cases": cases})
    run = subprocess.run(
        [node, "-e", PROGRAM, str(ASSETS / "inference.js")], input=said, capture_output=True, text=True, check=True
    )
    found: list[dict[str, Any]] = json.loads(run.stdout)
    return found
