"""What a worker is: a process that reads one job, times it and writes one result.

Every contender, ours and the peers', is such a process, so that threads, caches and memory of one never touch another.
A worker is called as ``WORKER JOB.json RESULT.json``. This module is the Python workers' half of that protocol; it
needs NumPy alone, because the peers live in an environment without fishernet.

Tables travel as raw bytes, one code a byte, one column after another, and are named v0, v1, ...: the same codes for
everyone. Networks travel as ``parents`` (ascending positions) and flat ``tables`` in the order [parents ..., state].
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Result = dict[str, Any]


@dataclass(frozen=True)
class Job:
    """One piece of work. Fields that a task does not need keep their defaults."""

    task: str
    """"hill_climb", "fit", "log_prob", "sample", "gibbs", "read", "import", "families", "gram", "select", "starts",
    "dependency_network", "stationary", "fire", "structure", "order", "local_scores", "tan", "kdb", "naive_bayes",
    "edge_strengths", "forward_backward", "expected_counts", "baum_welch", "hmm_gram",
    "pair_hmm_gram", "tree_gram", "knn_test", "markov_graph", "gaussian_graph", "gaussian_network"."""
    form: str = ""
    """In which of its ways a library shall do it, where the race has several for it."""
    threads: int = 0
    """0: whatever the library does by itself."""
    repeats: int = 5
    n_rows: int = 0
    cardinalities: Sequence[int] = ()
    codes: str = ""
    """File of the table; for "sample", the file that the sampled table is written to."""
    output: str = ""
    """File of this run alone, for an answer that is too large for its result."""
    parents: Sequence[Sequence[int]] = ()
    """Of every variable, ascending: the graph of a network, or the inputs of a dependency network; for "markov_graph"
    and "gaussian_graph" the neighbours in the true graph, for "gaussian_network" those in the given one."""
    tables: Sequence[Sequence[float]] = ()
    """The conditional of every variable, flat; only "sample", "gibbs", "families", "stationary" and "fire" have
    them. On strings: the parts of a hidden Markov model (initial, transition, emission and, where it stops, final; with
    the empty symbol emission has a column more) or of a hidden tree (root, transition, emission)."""
    n_states: int = 0
    """Of that model."""
    numbers: str = ""
    """File of a table of numbers, float64."""
    n_columns: int = 0
    """Of that table."""
    permutations: int = 0
    """How many "knn_test" and "markov_graph" make."""
    scheme: str = "simple"
    """How "knn_test" permutes: "simple" or "local"."""
    tree: Sequence[Any] = ()
    """Nested lists of the leaves' places."""
    steps: int = 0
    """How many "baum_welch" makes."""
    given: Sequence[tuple[int, int]] = ()
    """What "families" knows: pairs of a variable and its code."""
    smoothing: float = 1.0
    """Pseudo-count a cell of a network that is fitted to the table."""
    score: str = "bic"
    """What "structure", "order" and "local_scores" score by; a form of "structure" is a score, and goes first."""
    search: str = "hill-climb"
    """How "structure" searches."""
    candidates: int | None = None
    """Among how many others "structure" looks for a variable's parents; None: among all."""
    most: int = 0
    """How many parents the families of "local_scores" have at most."""
    target: int = 0
    """The class, for "tan", "kdb" and "naive_bayes"."""
    n_samples: int = 0
    """From how many samples "edge_strengths" learns."""
    ess: float = 10.0
    """Equivalent sample size, for libraries that know no pseudo-count a cell."""
    seed: int = 0
    n_entries: int = 0
    """How many entries of its matrix "gram" shall tell."""
    criterion: str = ""
    """What "select" and "starts" make small: "mmd" or "chi-square"."""
    k: int = 0
    """How many rows they choose; for "kdb", how many features are parents of one; for "knn_test" and
    "markov_graph", which neighbour."""
    n_starts: int = 0
    """Of how many random subsets they begin with the best."""
    csv: str = ""
    """File that "read" reads."""
    labels: Sequence[Sequence[str]] = ()
    """The label of every code of every column of that file, in small letters."""
    module: str = ""
    """What "import" imports."""

    @property
    def names(self) -> list[str]:
        """The variables' names."""
        return [f"v{i}" for i in range(len(self.cardinalities))]

    @property
    def arcs(self) -> list[tuple[int, int]]:
        """Pairs of positions, from parent to child."""
        return [(parent, child) for child, parents in enumerate(self.parents) for parent in parents]

    def read_codes(self) -> npt.NDArray[np.uint8]:
        """Return the table, (n_rows, n_variables), columns contiguous."""
        return np.fromfile(self.codes, dtype=np.uint8).reshape(len(self.cardinalities), self.n_rows).T

    def read_numbers(self) -> npt.NDArray[np.float64]:
        """Return the table of numbers, (n_rows, n_columns)."""
        return np.fromfile(self.numbers).reshape(self.n_rows, self.n_columns)

    @property
    def features(self) -> list[int]:
        """The variables other than the class."""
        return [v for v in range(len(self.cardinalities)) if v != self.target]

    def family(self, child: int) -> tuple[int, ...]:
        """Return a variable's parents and the variable itself."""
        return (*self.parents[child], child)

    def free(self, child: int) -> tuple[int, ...]:
        """Return the members of a family that are not given."""
        known = {v for v, _ in self.given}
        return tuple(v for v in self.family(child) if v not in known)

    def shape(self, child: int) -> tuple[int, ...]:
        """Return the axes of a variable's table: the states of its parents, then its own."""
        return tuple(self.cardinalities[i] for i in self.family(child))

    def table(self, child: int) -> npt.NDArray[np.float64]:
        """Return the conditional of a variable, [parents ..., state]."""
        return np.array(self.tables[child], dtype=np.float64).reshape(self.shape(child))

    def read_tables(self) -> list[npt.NDArray[np.float64]]:
        """Return the parts of a model of strings: a vector by state, two matrices of a row a state, then vectors."""
        parts = [np.array(part, dtype=np.float64) for part in self.tables]
        return [part.reshape(self.n_states, -1) if k in (1, 2) else part for k, part in enumerate(parts)]

    def with_given(self, child: int, marginal: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Return the marginal of a family from that of its free members: what is given has all mass at its code."""
        codes = dict(self.given)
        whole = np.zeros(self.shape(child))
        whole[tuple(codes.get(v, slice(None)) for v in self.family(child))] = marginal
        return whole

    def entries(self) -> npt.NDArray[np.int64]:
        """Return the pairs of rows whose entries of the matrix are told, (n_entries, 2)."""
        return np.random.default_rng(self.seed).integers(self.n_rows, size=(self.n_entries, 2))

    def write_marginals(self, marginals: Sequence[npt.NDArray[np.float64]]) -> None:
        """Write the marginals of all families, [parents ..., state], one after another."""
        np.concatenate([np.asarray(table, dtype=np.float64).ravel() for table in marginals]).tofile(self.output)

    def read_marginals(self, output: str) -> list[npt.NDArray[np.float64]]:
        """Return the marginals of all families that a run wrote, each with the axes [parents ..., state]."""
        shapes = [self.shape(child) for child in range(len(self.cardinalities))]
        ends = np.cumsum([np.prod(shape, dtype=np.int64) for shape in shapes])
        parts = np.split(np.fromfile(output), ends[:-1])
        return [part.reshape(shape) for part, shape in zip(parts, shapes, strict=True)]


def write_codes(path: str, codes: npt.NDArray[Any]) -> None:
    """Write a table, (n_rows, n_variables), as bytes, one column after another."""
    np.ascontiguousarray(codes.T, dtype=np.uint8).tofile(path)


def write_numbers(path: Path, numbers: npt.NDArray[np.float64]) -> None:
    """Write a table of numbers, (n_rows, n_columns), row after row."""
    np.ascontiguousarray(numbers, dtype=np.float64).tofile(path)


def digest(array: npt.ArrayLike) -> str:
    """Return a short name of the exact bits of an array."""
    return hashlib.sha256(np.ascontiguousarray(array).reshape(-1).data).hexdigest()[:16]


def column_digest(codes: Sequence[npt.NDArray[Any]]) -> str:
    """Return the digest of a table given column by column."""
    return digest(np.stack([np.asarray(column, dtype=np.uint8) for column in codes]))


def main(tasks: Mapping[str, Callable[[Job], Result]], set_threads: Callable[[int], object] | None = None) -> None:
    """Run the job named on the command line, with the threads it asks for, and write its result."""
    job_path, result_path = sys.argv[1:3]
    job = Job(**json.loads(Path(job_path).read_text()))
    if set_threads is not None and job.threads:
        set_threads(job.threads)
    Path(result_path).write_text(json.dumps(tasks[job.task](job)))
