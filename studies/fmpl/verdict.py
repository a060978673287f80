"""What was found beside what P4 says, in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from studies.fmpl.methods import OTHERS, OURS, WITHOUT
from studies.fmpl.prediction import ALL, NONE, Prediction
from studies.fmpl.published import Agreement
from studies.fmpl.recovery import Recovery


def best_at(found: Recovery, methods: Sequence[str], size: int) -> str | None:
    """Return the method with the smallest mean distance at a size; None where fewer than two learned."""
    there = {m: found.of(m)[size] for m in methods if m in found.methods and not np.isnan(found.of(m)[size])}
    return min(there, key=lambda m: there[m]) if len(there) > 1 else None


def beside_lasso(recoveries: Sequence[Recovery]) -> str:
    """Return how often AND and HC are nearer to the truth than the methods with an L1 penalty."""
    wins = dict.fromkeys(("AND", "HC"), 0)
    cells = 0
    last: dict[str, int] = {}
    for found in recoveries:
        for s in range(len(found.sizes)):
            if best_at(found, OTHERS, s) is None:
                continue
            cells += 1
            others = [found.of(m)[s] for m in OTHERS]
            for rule in wins:
                wins[rule] += bool(found.of(rule)[s] < np.nanmin(others))
            worst = max((m for m in OTHERS if not np.isnan(found.of(m)[s])), key=lambda m: found.of(m)[s])
            last[worst] = last.get(worst, 0) + 1
    if not cells:
        return "No method with an L1 penalty was there to compare with."
    tail = ", ".join(f"{method} at {count}" for method, count in last.items())
    return (
        "P4 has AND and HC generally nearer to the truth than all methods with an L1 penalty, and NBS last: here AND "
        f"is nearer than each of them at {wins['AND']} and HC at {wins['HC']} of the {cells} sizes at which several "
        f"were run; last among them is {tail}."
    )


def among_graphs(recoveries: Sequence[Recovery]) -> str:
    """Return which of the three graphs is best where."""
    said = []
    for found in recoveries:
        best = [best_at(found, OURS, s) for s in range(len(found.sizes))]
        counts = {rule: best.count(rule) for rule in OURS}
        said.append(f"{found.truth.n_variables:,}: " + ", ".join(f"{rule} {count}" for rule, count in counts.items()))
    return (
        "P4 has AND and HC close to each other and best in large networks, and OR good in small ones. Here each graph "
        f"is best at so many of the {len(recoveries[0].sizes)} numbers of rows, by the number of variables: "
        f"{'; '.join(said)}. The prior is written down in the paper behind P4, which is not among our sources; under a "
        "weaker one OR has more edges, and AND lacks fewer."
    )


def of_prior(recoveries: Sequence[Recovery]) -> str:
    """Return what the prior changes."""
    gains = []
    for found in recoveries:
        for rule, without in zip(OURS, WITHOUT, strict=True):
            if without in found.methods:
                gains.append((found.of(without) - found.of(rule))[0])
    better = sum(gain > 0 for gain in gains)
    n = recoveries[0].sizes[0]
    return f"At {n:,} rows the prior brings the graph nearer to the truth in {better} of {len(gains)} cases."


def prediction(found: Sequence[Prediction]) -> str:
    """Return which graph predicts best, by table."""
    said = []
    for one in found:
        errors = dict(zip(one.methods, one.errors.mean(axis=0), strict=True))
        graphs = {method: error for method, error in errors.items() if method not in (ALL, NONE)}
        best = min(graphs, key=lambda method: graphs[method])
        ours = min((rule for rule in OURS), key=lambda rule: graphs[rule])
        said.append(f"{one.table}: {best} ({graphs[best]:.3f}; of FMPL's graphs {ours}, {graphs[ours]:.3f})")
    return (
        f"P4 finds the methods similar in prediction, and OR the best of FMPL's graphs. Smallest error here, by table: "
        f"{'; '.join(said)}."
    )


def published(found: Agreement | None) -> str:
    """Return how far we agree with the authors' program."""
    if found is None:
        return ""
    return ", ".join(f"{rule} {same} of {found.data_sets}" for rule, same in found.same.items())
