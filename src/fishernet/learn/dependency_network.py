"""Learning dependency networks: every variable by itself (P2, section 4)."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.counts import CountSource, as_source
from fishernet.errors import FishernetError, SchemaError
from fishernet.learn.input_search import InputSearch
from fishernet.learn.parameters import cell_weights, check_smoothing, fit_conditionals, normalized
from fishernet.learn.search import score_families
from fishernet.learn.tree_inputs import TreeGrower
from fishernet.models import DependencyNetwork, TreeConditional
from fishernet.progress import Progress, Reporter
from fishernet.random import Seed, generator
from fishernet.scores import LocalScores, PenalizedLikelihood, Score, named_score
from fishernet.table import Table
from fishernet.table.variable import listed

SEARCHES: dict[str, dict[str, int]] = {"greedy": {}, "tabu": {"patience": 10, "tenure": 5}}


@dataclass(frozen=True, eq=False)
class InputsFound:
    """The inputs that a search chose for every variable.

    Attributes
    ----------
    names : tuple of str
        The variables.
    inputs : tuple of tuples of int
        Ascending positions of each one's inputs.
    scores : (n_variables,) float64
        Their local scores in nats; P2's costs are these divided by minus the number of rows.
    n_candidates : int
        How many families were looked at, as P2's Table 4 counts: each variable alone, then every addition and removal
        of every iteration.
    n_scores : int
        How many distinct families were scored.
    steps : int
        How many iterations the longest search took.
    seconds : float
        How long it took.
    """

    names: tuple[str, ...]
    inputs: tuple[tuple[int, ...], ...]
    scores: npt.NDArray[np.float64]
    n_candidates: int
    n_scores: int
    steps: int
    seconds: float

    def to_frame(self) -> pa.Table:
        """Return one row a variable, with its inputs' names and its score, as a pyarrow Table."""
        of = [[self.names[v] for v in inputs] for inputs in self.inputs]
        return pa.table({"variable": list(self.names), "inputs": of, "score": self.scores})


def local_structure(
    table: Table | CountSource,
    *,
    score: str | Score = "mdl",
    search: str = "greedy",
    max_inputs: int | None = None,
    last_step: bool = False,
    seed: Seed = None,
    progress: Progress | None = None,
    **options: Any,
) -> InputsFound:
    """Choose the inputs of every variable of a dependency network, and say how they were found.

    Parameters
    ----------
    table : Table or CountSource
        The data, without missing cells.
    score : str or Score
        What is maximized for each variable: "mdl" (alias "bic"), "aic", "loglik".
    search : {"greedy", "tabu"}
        "greedy": single additions and removals while they better the score (P2, Algorithm 6). "tabu": goes on with the
        best change that is not the undoing of one of the last five, until ten in a row have not bettered the best.
    max_inputs : int, optional
        At most this many inputs a variable.
    last_step : bool
        Take all other variables as inputs where that scores higher still (and max_inputs allows it), which guarantees
        convergence to the true distribution (P2, 4.3) and hardly ever happens.
    seed : None, int or numpy.random.Generator
        For searches that draw; these do not.
    progress : callable, optional
        ``progress(what, done, None)``, in iterations.
    **options
        The score's own hyperparameters.

    Returns
    -------
    InputsFound

    Raises
    ------
    MissingValueError
        When a cell is missing.
    SchemaError
        When there are no variables.

    Examples
    --------
    >>> import fishernet as fn
    >>> found = fn.learn.local_structure(fn.datasets.load("asia").sample(2000, seed=1))
    >>> found.names[2], [found.names[v] for v in found.inputs[2]]
    ('smoke', ['lung', 'bronc'])
    """
    generator(seed)  # a bad seed is refused, whether the search draws or not
    began = time.monotonic()
    source = as_source(table)
    if not source.variables:
        raise SchemaError("the table has no columns to learn from")
    if search not in SEARCHES:
        raise FishernetError(f"unknown search {search!r}; there are {listed(SEARCHES)}")
    most = checked_most(max_inputs)
    walk = InputSearch(len(source.variables), max_inputs=most, last_step=bool(last_step), **SEARCHES[search])
    scores = LocalScores(source, named_score(score, **options))
    reporter = Reporter(progress, "choosing inputs")
    families = walk.wanted()
    while len(families):
        walk.tell(score_families(families, scores, lambda: reporter.step(walk.steps)))
        families = walk.wanted()
    reporter.finish(walk.steps)
    return InputsFound(
        names=tuple(variable.name for variable in source.variables),
        inputs=walk.inputs,
        scores=walk.scores,
        n_candidates=walk.n_candidates,
        n_scores=scores.n_distinct,
        steps=walk.steps,
        seconds=time.monotonic() - began,
    )


def dependency_network(
    table: Table | CountSource,
    *,
    score: str | Score = "mdl",
    inputs: str = "direct",
    search: str = "greedy",
    max_inputs: int | None = None,
    smoothing: float | str = "zeros",
    splits: str = "binary",
    last_step: bool = False,
    seed: Seed = None,
    progress: Progress | None = None,
    **options: Any,
) -> DependencyNetwork:
    """Learn a dependency network: the inputs of every variable, then its conditional.

    Parameters
    ----------
    table : Table or CountSource
        The data, without missing cells.
    score, search, max_inputs, last_step, seed, progress, **options
        As for `local_structure`.
    inputs : {"direct", "tree"}
        What a conditional looks at: the input variables themselves, or a decision tree over them (P2, section 6), grown
        and pruned by the same score; its leaves share rows of probabilities. Trees need a Table.
    smoothing : "zeros", float or "snml"
        "zeros": zero counts become one (P2, Algorithm 5), so that the chain is ergodic. A number is a pseudo-count; 0
        gives plain frequencies (Algorithm 4), whose zeros may leave the chain without a stationary distribution.
    splits : {"binary", "multiway"}
        How trees divide states: a set of them against the rest, or each by itself.

    Returns
    -------
    DependencyNetwork

    Raises
    ------
    MissingValueError
        When a cell is missing.
    ZeroProbabilityError
        When smoothing is 0 and a configuration of inputs never occurs.

    Examples
    --------
    >>> import fishernet as fn
    >>> fn.learn.dependency_network(fn.datasets.load("nursery")).n_rows
    12960
    """
    if inputs not in ("direct", "tree"):
        raise FishernetError(f"unknown inputs {inputs!r}; there are 'direct', 'tree'")
    check_smoothing(smoothing, None)
    plain = not isinstance(smoothing, str) and smoothing == 0
    if inputs == "tree":
        generator(seed)
        trees = _grow_trees(table, named_score(score, **options), checked_most(max_inputs), splits, smoothing, progress)
        return DependencyNetwork(as_source(table).variables, trees, n_rows=as_source(table).n_rows, allow_zeros=plain)
    source = as_source(table)
    found = local_structure(
        source,
        score=score,
        search=search,
        max_inputs=max_inputs,
        last_step=last_step,
        seed=seed,
        progress=progress,
        **options,
    )
    families = [(*of, v) for v, of in enumerate(found.inputs)]
    conditionals = fit_conditionals(source, families, smoothing, None)
    return DependencyNetwork(source.variables, conditionals, n_rows=source.n_rows, allow_zeros=plain)


def checked_most(max_inputs: object) -> int | None:
    """Return a limit on inputs.

    Raises
    ------
    FishernetError
        When it is neither None nor an integer from 0 on.
    """
    if max_inputs is None:
        return None
    if isinstance(max_inputs, bool) or not isinstance(max_inputs, int | np.integer) or max_inputs < 0:
        raise FishernetError(f"max_inputs must be a non-negative integer or None, got {max_inputs!r}")
    return int(max_inputs)


def _grow_trees(
    table: Table | CountSource,
    score: Score,
    max_inputs: int | None,
    splits: str,
    smoothing: float | str,
    progress: Progress | None,
) -> list[TreeConditional]:
    if not isinstance(table, Table):
        raise SchemaError(f"trees are grown on the rows of a Table, not on {type(table).__name__}")
    if not isinstance(score, PenalizedLikelihood):
        raise FishernetError("trees are grown by a penalized likelihood: 'mdl' ('bic'), 'aic' or 'loglik'")
    table.require_complete("growing trees")
    source = as_source(table)
    if not source.variables:
        raise SchemaError("the table has no columns to learn from")
    grower = TreeGrower(table, score.price(source.n_rows), splits=splits, max_inputs=max_inputs)
    reporter = Reporter(progress, "growing trees")
    conditionals = []
    for child in range(len(source.variables)):
        grown = grower.grow(child)
        variables = [source.variables[v] for v in (*grown.inputs, child)]
        rows = normalized(cell_weights(grown.counts, smoothing, None), [variables[-1]])
        conditionals.append(TreeConditional(child, grown.inputs, variables, grown.tree, rows))
        reporter.step(child + 1, len(source.variables))
    reporter.finish(len(source.variables))
    return conditionals
