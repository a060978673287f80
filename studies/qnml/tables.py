"""The tables of the report, ours beside the published figures."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from studies.markdown import table
from studies.qnml.criteria import CRITERIA
from studies.qnml.equivalent_sample_size import Chosen
from studies.qnml.nml import SHAPES, Penalties, is_union_of_tournaments, shape
from studies.qnml.prediction import Predicted
from studies.qnml.published import PRINTED, Curves
from studies.qnml.structure import Recovery

Array = npt.NDArray[np.float64]

SHOWN = (10, 30, 100, 300, 1_000, 3_000, 10_000)
"""Sizes that the tables show; the figures show all."""
SHOWN_SHARES = (10, 50, 90)


def cell(value: float, error: float, published: float, digits: int = 2) -> str:
    """Return a mean with its standard error and, in brackets, what is published; what is not there is left out."""
    text = f"{value:,.{digits}f}"
    if not np.isnan(error):
        text += f" ± {error:,.{digits}f}"
    return text if np.isnan(published) else f"{text} ({published:,.{digits}f})"


def row(ours: Array, error: Array, published: Array, digits: int = 2) -> list[str]:
    """Return a cell a criterion."""
    return [cell(*three, digits) for three in zip(ours, error, published, strict=True)]


def rank_table(found: Recovery, published: Curves) -> str:
    """Return the average ranks of structure recovery at every size."""
    there = published.average_ranks(found.sizes)
    if len(found.networks) < 5:  # the published ranks are over five
        there = np.full_like(there, np.nan)
    ours = zip(found.sizes, found.ranks, found.rank_error, there, strict=True)
    return table(["rows", *CRITERIA], [[f"{n:,}", *row(*of)] for n, *of in ours])


def distance_table(found: Recovery, published: Curves) -> str:
    """Return the mean distances on every network at some of the sizes."""
    rows = []
    for i, network in enumerate(found.networks):
        there = published.distances(network, found.sizes)
        for k, n in enumerate(found.sizes):
            if n in SHOWN:
                rows.append([network, f"{n:,}", *row(found.mean[i, k], found.error[i, k], there[k])])
    return table(["network", "rows", *CRITERIA], rows)


def rank_in_prediction_table(found: Sequence[Predicted]) -> str:
    """Return the average ranks in prediction."""
    rows = []
    for one in found:
        of_set = PRINTED.get(one.name)
        there = np.array(of_set.ranks if of_set else [np.nan] * len(CRITERIA))
        states = " x ".join(map(str, sorted(set(one.cardinalities))))
        size = [f"{one.n_rows:,}", len(one.cardinalities), states, one.repetitions]
        rows.append([one.name, *size, *row(one.mean_ranks, np.full(len(CRITERIA), np.nan), there)])
    if len(found) > 1:
        ours = np.mean([one.mean_ranks for one in found], axis=0)
        there = np.mean([PRINTED[one.name].ranks for one in found if one.name in PRINTED], axis=0)
        rows.append(["mean", "", "", "", "", *row(ours, np.full(len(CRITERIA), np.nan), there)])
    return table(["table", "rows", "variables", "states", "permutations", *CRITERIA], rows)


def loss_table(found: Sequence[Predicted], published: Curves) -> str:
    """Return the log losses at some of the shares."""
    rows = []
    for one in found:
        there = published.log_losses(one.name, one.shares)
        for k, share in enumerate(one.shares):
            if share in SHOWN_SHARES:
                rows.append([one.name, f"{share} %", *row(one.mean[k], one.error[k], there[k])])
    return table(["table", "trained on", *CRITERIA], rows)


def parameter_table(found: Sequence[Predicted]) -> str:
    """Return the numbers of parameters at the share of the printed table, or the smallest there is."""
    rows = []
    for one in found:
        of_set = PRINTED.get(one.name)
        share = of_set.share if of_set and of_set.share in one.shares else one.shares[0]
        same = of_set is not None and share == of_set.share
        there = np.array(of_set.parameters if of_set and same else [np.nan] * len(CRITERIA))
        mean, error = parameters_at(one, share)
        rows.append([one.name, f"{share} %", *row(mean, error, there, digits=0)])
    return table(["table", "trained on", *CRITERIA], rows)


def parameters_at(one: Predicted, share: int) -> tuple[Array, Array]:
    """Return mean and standard error of the numbers of parameters, by criterion."""
    values = one.parameters[:, one.at(share)]
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.full(len(CRITERIA), np.nan)
    return np.asarray(values.mean(axis=0)), np.asarray(error)


def ess_table(by_ess: Sequence[Chosen], others: dict[str, Chosen]) -> str:
    """Return what BDeu chooses at whole powers of ten, and what the other criteria choose."""
    powers = [at for at in by_ess if at.ess is not None and np.log10(at.ess) % 1 == 0]
    rows = [[f"BDeu, {at.ess:g}", *_chosen(at)] for at in powers]
    rows += [[name, *_chosen(at)] for name, at in others.items()]
    return table(["score", "its value", "arcs", "parameters", "SHD"], rows)


def _chosen(at: Chosen) -> list[object]:
    return [f"{at.score:,.1f}", at.arcs, at.parameters, at.shd]


def penalty_table(found: dict[str, dict[int, Penalties]]) -> str:
    """Return the penalties of every graph at every number of rows."""
    rows = []
    for name in SHAPES:
        mark = "yes" if is_union_of_tournaments(shape(name)) else "no"
        for n, at in found[name].items():
            low, high = at.fnml_range
            fnml = f"{at.fnml:.4f} ({low:.3f} to {high:.3f})"
            rows.append([f"`{name}`", mark, n, f"{at.exact:.4f}", f"{at.qnml:.4f}", fnml, f"{at.bic:.4f}"])
    return table(["graph", "union of tournaments", "rows", "exact NML", "qNML", "fNML", "BIC"], rows)


def difference_table(found: dict[int, dict[str, Penalties]]) -> str:
    """Return by how much each penalty differs from the exact one."""
    rows = []
    for n, by_name in found.items():
        shown = [f"{value:+.3f}" for at in by_name.values() for value in differences(at).values()]
        rows.append([f"{n:,}", *[f"{at.exact:.3f}" for at in by_name.values()], *shown])
    heads = [f"{name} of `{graph}`" for graph in next(iter(found.values())) for name in ("qNML", "fNML", "BIC")]
    exact = [f"exact NML of `{graph}`" for graph in next(iter(found.values()))]
    return table(["rows", *exact, *heads], rows)


def differences(at: Penalties) -> dict[str, float]:
    """Return what each penalty is above the exact one."""
    return {"qNML": at.qnml - at.exact, "fNML": at.fnml - at.exact, "BIC": at.bic - at.exact}
