"""Races for structures: exact and other searches, scores, many variables, classifiers, and how sure an edge is."""

from __future__ import annotations

import importlib.util

from benchmarks.checks.scores import graph_score
from benchmarks.contenders import OURS
from benchmarks.data import Data, Tables
from benchmarks.races.race import Race, Target
from benchmarks.workers.job import Job

SCORES = ("bic", "qnml", "bdeu", "fnml", "k2")
NAMES = {"bic": "BIC", "fnml": "fNML"}
PEERS = ("pyAgrum", "pgmpy")

EXACT_SECONDS = {20: 6.0, 25: 480.0}
MOST_PARENTS = 4
N_CANDIDATES = 10
N_SAMPLES = 200

CLIMBS = "pyAgrum and pgmpy run their hill climbing here, as in the topic of that name."
BNLEARN = (
    "Where bnlearn is not available: its `tree.bayes` was measured elsewhere at 7.5 ms on such a table, hence the "
    "target of a third of that. The peers' times hold more than the structure; what, their remarks say."
)


def exact(tables: Tables, repeats: int, full: bool) -> list[Race]:
    """Race for the best graph of all; fNML prunes least, and 25 variables take minutes."""
    small, large = tables.mixed
    races = []
    for data, score in ((small, "fnml"), (small, "bic"), *([(large, "fnml")] if full else [])):
        targets = (Target(seconds=EXACT_SECONDS[len(data.cardinalities)]),) if score == "fnml" else ()
        job = Job("structure", search="exact", score=score, repeats=repeats, **data.fields)
        races.append(Race("exact", f"{data.title}, {NAMES[score]}", job, (OURS,), targets))
    return races


def local_scores(data: Data, repeats: int) -> list[Race]:
    """Score every family of at most four parents."""
    races = []
    for score in ("fnml", "bic"):
        job = Job("local_scores", score=score, most=MOST_PARENTS, repeats=repeats, **data.fields)
        title = f"{data.title}, up to {MOST_PARENTS} parents, {NAMES[score]}"
        races.append(Race("local-scores", title, job, (OURS,), (Target(seconds=6),)))
    return races


def order(tables: Tables, repeats: int) -> list[Race]:
    """Race our search over orders, with what it takes by default, against the climbs of others."""
    data = tables.alarm[1]
    job = Job("order", search="order", repeats=repeats, **data.fields)
    truth = graph_score(job.read_codes(), data.cardinalities, tables.network.parents, "bic")
    targets = (Target(score=truth), Target(ratio=1, against=PEERS))
    return [Race("order", data.title, job, (OURS, *PEERS), targets, remarks=(CLIMBS,))]


def scores(tables: Tables, repeats: int) -> list[Race]:
    """Climb under several scores; qNML is to cost little more than BIC."""
    races = []
    for data in (tables.letter, tables.medium, tables.alarm[1]):
        job = Job("structure", repeats=repeats, **data.fields)
        target = Target(times=1.5, timed="qnml", form="bic")
        races.append(Race("scores", data.title, job, (OURS,), (target,), forms={OURS: SCORES}))
    return races


def many_variables(tables: Tables, repeats: int) -> list[Race]:
    """Climb where a variable's parents are looked for among its candidates."""
    job = Job("structure", candidates=N_CANDIDATES, repeats=repeats, **tables.wider.fields)
    title = f"{tables.wider.title}, {N_CANDIDATES} candidates each"
    return [Race("many-variables", title, job, (OURS,), (Target(seconds=10), Target(extra_bytes=2e9)))]


def classifiers(data: Data, repeats: int) -> list[Race]:
    """Race for the structures of TAN and KDB, and with naive Bayes whole; the class is the last column."""
    fields = data.fields | {"target": len(data.cardinalities) - 1, "repeats": repeats}
    target = (Target(seconds=2.5e-3),)
    races = [
        Race("classifier", f"{data.title}: TAN", Job("tan", **fields), (OURS, *PEERS), target, remarks=(BNLEARN,)),
        Race("classifier", f"{data.title}: KDB(3)", Job("kdb", k=3, **fields), (OURS,), target),
    ]
    if importlib.util.find_spec("sklearn"):
        title = f"{data.title}: naive Bayes, fit and predict"
        races.append(Race("classifier", title, Job("naive_bayes", **fields), (OURS, "scikit-learn")))
    return races


def edge_strengths(data: Data, repeats: int) -> list[Race]:
    job = Job("edge_strengths", n_samples=N_SAMPLES, repeats=repeats, seed=1, **data.fields)
    return [Race("edge-strengths", f"{data.title}, {N_SAMPLES} samples", job, (OURS,))]
