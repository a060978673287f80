"""DoWhy beside `explain_change`, on a few pairs of tables: ``python -m studies.drift.dowhy [REPETITIONS]``.

DoWhy is handed what it asks for and nobody knows: the true graph, and the variable that was changed as its target. It
tests every mechanism upstream of the target, and shares out the divergence of the target's marginal. One call takes ten
seconds to minutes, which is why it is not part of the study's run. Needs ``dowhy`` (0.14) beside this library.
"""

from __future__ import annotations

import importlib
import sys
import time
import warnings
from typing import Any

import numpy as np

import fishernet as fn
from studies.drift.changes import DEPENDENCE, FREE
from studies.drift.experiments import alarm, changed_pair


def upstream(table: fn.Table, names: list[str]) -> Any:
    """Return columns of text, as DoWhy takes categories."""
    columns = dict(zip(table.names, table.codes, strict=True))
    return importlib.import_module("pandas").DataFrame({name: columns[name].astype(str) for name in names})


def distribution_change(target: str, before: fn.Table, after: fn.Table) -> tuple[str, list[str]]:
    """Return the variable with the largest share, and the mechanisms that DoWhy's tests call changed."""
    gcm = importlib.import_module("dowhy.gcm")
    gcm.config.disable_progress_bars()
    gcm.config.set_default_n_jobs(1)
    names = sorted({*alarm().dag.ancestors(target), target})
    graph = importlib.import_module("networkx").DiGraph()
    graph.add_nodes_from(names)
    graph.add_edges_from(arc for arc in alarm().dag.edges if set(arc) <= set(names))
    old, new = upstream(before, names), upstream(after, names)
    model = gcm.ProbabilisticCausalModel(graph)
    gcm.auto.assign_causal_mechanisms(model, old)
    shares, changed, *_ = gcm.distribution_change(model, old, new, target, return_additional_info=True)
    largest = max(shares, key=lambda name: abs(float(np.asarray(shares[name]).ravel()[0])))
    return largest, [name for name, is_changed in changed.items() if is_changed]


def main(repetitions: int) -> None:
    """Print a line per pair of tables."""
    warnings.simplefilter("ignore")
    for repetition in range(repetitions):
        for kind in (FREE, DEPENDENCE):
            name, before, after = changed_pair(kind, 0.05, repetition)
            began = time.perf_counter()
            largest, changed = distribution_change(name, before, after)
            seconds = time.perf_counter() - began
            print(f"{kind}: {name}; largest share {largest}; changed: {changed}; {seconds:.0f} s", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 3)
