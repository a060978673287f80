"""What the parts of the study of qNML share: the scores, the networks and the published curves."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

import numpy as np

import fishernet as fn
from studies.study import Run

CRITERIA = ("BDeu", "BIC", "fNML", "qNML")  # in the order of the published tables
NAN = (np.nan,) * len(CRITERIA)
NETWORKS = ("Asia", "Cancer", "Earthquake", "Sachs", "Survey")

Curves = Mapping[tuple[str, int], Sequence[float]]


def published(run: Run) -> Curves:
    """Return the published means of the scores, by network (or "rank") and size, or by table and percentage."""
    structure, prediction = (run.file("reference", f"qnml-{name}.json") for name in ("structure", "prediction"))
    found: dict[tuple[str, int], Sequence[float]] = {}
    if structure is not None:
        held = json.loads(structure.read_text())
        for name, of in {**held["shd"], "rank": held["rank"]}.items():
            rows = zip(*(of[criterion] for criterion in CRITERIA), strict=True)
            found |= {(name, n): row for n, row in zip(held["sample_sizes"], rows, strict=True)}
    if prediction is not None:
        for name, of in json.loads(prediction.read_text()).items():
            rows = zip(*(of["pred"][criterion] for criterion in CRITERIA), strict=True)
            found |= {(name, 10 * i): row for i, row in enumerate(rows, 1)}
    return found


@cache
def network(name: str, path: Path | None) -> fn.BayesianNetwork:
    """Return a network: Asia comes with the library, the others with the data."""
    if path is not None:
        return fn.read_bif(path)
    found = fn.datasets.load(name.lower())
    assert isinstance(found, fn.BayesianNetwork)
    return found


def networks(run: Run) -> dict[str, Path | None]:
    """Return the networks that are there, Asia always."""
    files = {name: run.file("networks", f"{name.lower()}.bif.gz") for name in NETWORKS[1:]}
    return {"Asia": None, **{name: path for name, path in files.items() if path is not None}}
