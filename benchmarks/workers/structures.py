"""Our tasks on structures: searches, local scores, classifiers and the strength of edges."""

from __future__ import annotations

from itertools import chain, combinations

import numpy as np

import fishernet as fn
from benchmarks.workers.job import Job, Result, digest
from benchmarks.workers.timing import measure
from fishernet.data import as_source
from fishernet.learn import SearchResult
from fishernet.scores import Families, LocalScores, named_score


def graph_result(dag: fn.Dag) -> Result:
    """Return the part of a result that a graph is told by."""
    parents = [list(positions) for positions in dag.parents]
    return {"parents": parents, "digest": digest([i for row in parents for i in (len(row), *row)])}


def told(n_families: int, seconds: float) -> str:
    """Return how many families were scored, and what one took."""
    return f"{n_families:,}".replace(",", " ") + f" families, {seconds / n_families * 1e9:.0f} ns each"


def structure(job: Job) -> Result:
    """Search for a structure."""
    codes, score = job.read_codes(), job.form or job.score

    def search(table: fn.Table) -> SearchResult:
        return fn.learn.structure(table, score=score, search=job.search, candidates=job.candidates)

    timing = measure(lambda: fn.Table.from_codes(codes), search, repeats=job.repeats)
    found, seconds = timing.answer, float(np.median(timing.seconds))
    return (
        timing.as_result()
        | graph_result(found.dag)
        | {
            "criterion": score,
            "score": found.score,
            "count": found.n_scores,
            "note": told(found.n_scores, seconds),
        }
    )


def order(job: Job) -> Result:
    """Search over orders of the variables, where others climb."""
    return structure(job) | {"tabu": True}


def local_scores(job: Job) -> Result:
    """Score all families of so many parents at most, child after child, smaller sets first."""
    codes, families, score = job.read_codes(), small_families(len(job.names), job.most), named_score(job.score)
    timing = measure(
        lambda: LocalScores(as_source(fn.Table.from_codes(codes)), score),
        lambda scores: scores(families),
        repeats=job.repeats,
    )
    timing.answer.tofile(job.output)
    note = told(len(families), float(np.median(timing.seconds)))
    return timing.as_result() | {"digest": digest(timing.answer), "note": note}


def small_families(n: int, most: int) -> Families:
    """Return all families of at most so many parents."""
    children, parents, sizes = [], [], []
    for child in range(n):
        others = [v for v in range(n) if v != child]
        for size in range(most + 1):
            sets = list(combinations(others, size))
            parents.append(np.fromiter(chain.from_iterable(sets), np.int32, size * len(sets)))
            children.append(np.full(len(sets), child, np.int32))
            sizes.append(np.full(len(sets), size, np.int64))
    offsets = np.concatenate([[0], np.cumsum(np.concatenate(sizes))]).astype(np.int64)
    return Families(np.concatenate(children), offsets, np.concatenate(parents))


def tan(job: Job) -> Result:
    codes, target = job.read_codes(), job.names[job.target]
    timing = measure(lambda: fn.Table.from_codes(codes), lambda table: fn.learn.tan(table, target), repeats=job.repeats)
    return timing.as_result() | graph_result(timing.answer)


def kdb(job: Job) -> Result:
    codes, target = job.read_codes(), job.names[job.target]
    timing = measure(
        lambda: fn.Table.from_codes(codes), lambda table: fn.learn.kdb(table, target, job.k), repeats=job.repeats
    )
    return timing.as_result() | graph_result(timing.answer)


def naive_bayes(job: Job) -> Result:
    """Fit the classifier that scikit-learn's users see, and predict its own rows."""
    from fishernet.sklearn import BayesianNetworkClassifier

    codes = job.read_codes()
    features, target = np.ascontiguousarray(codes[:, job.features]), codes[:, job.target]

    def fit_and_predict(model: BayesianNetworkClassifier) -> np.ndarray:
        return np.asarray(model.fit(features, target).predict_proba(features))

    timing = measure(
        lambda: BayesianNetworkClassifier("nb", smoothing=job.smoothing, bins=None),
        fit_and_predict,
        repeats=job.repeats,
    )
    timing.answer.tofile(job.output)
    return timing.as_result() | {"smoothed_classes": True, "digest": digest(timing.answer)}


def edge_strengths(job: Job) -> Result:
    codes = job.read_codes()
    timing = measure(
        lambda: fn.Table.from_codes(codes),
        lambda table: fn.learn.edge_strengths(table, job.n_samples, score=job.score, seed=job.seed),
        repeats=job.repeats,
    )
    found = timing.answer
    each = float(np.median(timing.seconds)) / job.n_samples
    return timing.as_result() | {
        "strength": found.strength.tolist(),
        "digest": digest(np.stack([found.strength, found.direction])),
        "note": f"{each * 1e3:.2f} ms a sample",
    }


TASKS = {
    "structure": structure,
    "order": order,
    "local_scores": local_scores,
    "tan": tan,
    "kdb": kdb,
    "naive_bayes": naive_bayes,
    "edge_strengths": edge_strengths,
}
