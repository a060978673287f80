"""What a race is, and the topics that races belong to."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from benchmarks.data import CsvFile
from benchmarks.workers.job import Job


@dataclass(frozen=True)
class Target:
    """What a race is to show."""

    ratio: float | None = None
    """How many times faster than `against` we want to be, each at its best setting."""
    against: tuple[str, ...] = ("pyAgrum", "pgmpy", "bnlearn")
    """Contenders, in all their forms, or one form of one (see `who`)."""
    seconds: float | None = None
    """What we want to stay below."""
    extra_bytes: float | None = None
    """Peak memory beyond the table that we want to stay below."""
    slowdown: float | None = None
    """How many times slower than on the idle machine we may be."""
    rate: float | None = None
    """How many of what a result counts we want to do a second."""
    score: float | None = None
    """What the graph that we find is to score at least."""
    times: float | None = None
    """How many times as long as `form` of ours `timed` may take."""
    form: str = ""
    timed: str = ""


@dataclass(frozen=True)
class Race:
    """One job that several contenders run."""

    topic: str
    title: str
    job: Job
    entrants: tuple[str, ...]
    targets: tuple[Target, ...] = ()
    busy: bool = False
    """Whether a core is kept busy meanwhile."""
    forms: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The ways in which an entrant runs the job, where it has several."""
    skipped: Mapping[str, str] = field(default_factory=dict)
    """Entrants, or one form of one (see `who`), that do not start, and why."""
    remarks: tuple[str, ...] = ()
    """What the report says of the race below the times."""
    csv: CsvFile | None = None


TOPICS = {
    "import": "Importing",
    "read": "Reading a CSV file",
    "hill-climb": "Hill climbing",
    "fit": "Parameter fit",
    "log-prob": "Log-likelihood of every row",
    "sample": "Forward sampling",
    "inference": "Marginals of all families",
    "kernel": "Kernel matrix",
    "selection": "Selecting rows",
    "gibbs": "Gibbs sampling",
    "dependency-network": "Learning a dependency network",
    "stationary": "Stationary distribution of a dependency network",
    "firing": "Firing a dependency network",
    "exact": "Exact structure search",
    "local-scores": "Local scores of all small families",
    "order": "Search over orders of the variables",
    "scores": "Hill climbing under other scores",
    "many-variables": "Hill climbing over thousands of variables",
    "classifier": "Classifiers",
    "edge-strengths": "Strengths of edges",
    "forward-backward": "Forward and backward in a hidden Markov model",
    "baum-welch": "Baum-Welch",
    "string-kernel": "Kernel matrices of strings",
    "tree-kernel": "Kernel matrices of profiles",
    "gaussian-graph": "Undirected graph of Gaussian columns",
    "gaussian-network": "Gaussian network of a given graph",
    "knn-test": "Permutation test by nearest neighbours",
    "markov-graph": "Undirected graph by nearest neighbours",
    "busy": "Hill climbing beside a process that holds a core",
}
"""The names that ``--only`` takes, and their headings."""


def who(contender: str, form: str) -> str:
    """Return the name of a contender that runs a job in one of its forms."""
    return f"{contender} ({form})" if form else contender
