"""Learning dependency networks: each variable separately (Takabatake and Akaho, 2021, section 4).

The inputs of a variable are chosen greedily (their Algorithm 6) or by tabu search: from no inputs, every variable takes
the best of all single additions and removals while that raises its score. All variables move side by side: the search
wants the candidates of all that are not finished in one call. A tie is a difference below max(1e-9, 1e-12 |score|)
nats; ties go to additions before removals, then to the first candidate in the order of the variables.

Or a decision tree grows (`shared_rows.trees`).
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal, Unpack

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base import check
from fishernet.base.display import Framed
from fishernet.base.errors import FishernetError, warn
from fishernet.base.names import several, shown
from fishernet.base.progress import Progress, Reporter, Watch
from fishernet.base.random import Seed, generator
from fishernet.base.vocabulary import IncompleteName, InputSearchName, ScoreName, SplitsName, word
from fishernet.data import Source, Table, categorical_source
from fishernet.data.matching import as_data
from fishernet.data.variable import require_categorical
from fishernet.learn.conditional_fits import fit_conditionals
from fishernet.learn.fitting import bayesian_network, check_smoothing
from fishernet.learn.missing.incomplete import AvailableCases, ExpectedCounts
from fishernet.learn.missing.ways import MISSING, nearly_empty, way_with_missing
from fishernet.learn.rules import MAX_CELLS, Rules
from fishernet.learn.search import Scorer, column_names, first_best, joined_families, score_in_parts, tie
from fishernet.learn.shared_rows.trees import TreeGrower, leaf_price
from fishernet.models import DependencyNetwork, TreeConditional
from fishernet.models.conditionals.full_table import cell_weights, normalized
from fishernet.scores import Families, LocalScores, Score, named_score
from fishernet.scores.named import ScoreKeywords
from fishernet.scores.node_average import NodeAverage

Array = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int32]


@dataclass(slots=True)
class Node:
    """Where the search of one variable is."""

    variable: int
    inputs: tuple[int, ...] = ()
    score: float = float("nan")
    best_inputs: tuple[int, ...] = ()
    best_score: float = float("-inf")
    candidates: Positions = field(default_factory=lambda: np.zeros(0, np.int32))
    """The variables whose addition or removal was asked for, in the order of the ties."""
    forbidden_until: dict[int, int] = field(default_factory=dict)
    """Tabu: the step before which a variable must not be toggled again."""
    idle: int = 0
    """Steps since the best score was bettered."""
    finished: bool = False


@dataclass(frozen=True, eq=False, repr=False)
class InputSearchResult(Framed):
    """The inputs that a search chose for every variable."""

    names: tuple[str, ...]
    """The variables."""
    inputs: tuple[tuple[int, ...], ...]
    """Ascending positions of each one's inputs."""
    scores: npt.NDArray[np.float64]
    """(n_variables,): their local scores in nats; the costs of Takabatake and Akaho (2021) are these divided by
    minus the number of rows."""
    n_candidates: int
    """How many families were considered, as Takabatake and Akaho (2021, Table 4) count: each variable alone, then every
    addition and removal of every iteration."""
    n_scores: int
    """How many distinct families were scored."""
    steps: int
    """How many iterations the longest search took."""
    seconds: float
    """How long it took."""

    def __repr__(self) -> str:
        size = f"{several(len(self.names), 'variable')}, {several(sum(map(len, self.inputs)), 'input')}"
        work = f"{several(self.steps, 'step')}, {several(self.n_scores, 'local score')}, {self.seconds:.2f} s"
        return f"InputSearchResult({size}, score {float(self.scores.sum()):,.4f}; {work})"

    def to_frame(self) -> pa.Table:
        """Return one row a variable, with its inputs' names and its score, as a pyarrow Table."""
        of = [[self.names[v] for v in inputs] for inputs in self.inputs]
        return pa.table({"variable": list(self.names), "inputs": of, "score": self.scores})


@dataclass(frozen=True)
class InputSearch:
    """The search for the inputs of all variables (Takabatake and Akaho, 2021)."""

    patience: int = 0
    """How many steps in a row may fail to better the best inputs: 0 is Algorithm 6, more is tabu search."""
    tenure: int = 0
    """For how many steps a variable that was added or removed stays as it is."""
    last_step: bool = False
    """End with the whole rest as inputs where that scores higher (section 4.3), if the limits allow it."""

    def run(self, scorer: Scorer, rules: Rules, watch: Watch) -> InputSearchResult:
        """Choose inputs within the limits of the rules."""
        n = len(rules.names)
        nodes = [Node(v) for v in range(n)]
        steps, n_candidates = 0, n

        def look() -> None:  # these searches have no deadline
            watch.look(steps)

        def ask(families: Families) -> Array:
            return score_in_parts(scorer, families, look)

        for node, score in zip(nodes, ask(Families.from_pairs((v, ()) for v in range(n))).tolist(), strict=True):
            node.score = node.best_score = score
            node.finished = min(rules.max_parents, n - 1) <= 0
        while walking := [node for node in nodes if not node.finished]:
            families = joined_families([_candidates(node, rules) for node in walking])
            scores = ask(families)
            n_candidates += len(families)
            steps += 1
            ends = np.cumsum([len(node.candidates) for node in walking])
            for node, own in zip(walking, np.split(scores, ends[:-1]), strict=True):
                self._move(node, own, steps)
        fits = rules.max_parents >= n - 1 and float(np.prod(rules.states)) <= rules.max_cells
        if self.last_step and fits and n:
            n_candidates += n
            steps += 1
            barred = rules.forbidden | np.eye(n, dtype=bool)
            rests = [(node, tuple(np.flatnonzero(~barred[:, node.variable]).tolist())) for node in nodes]
            scores = ask(Families.from_pairs((node.variable, rest) for node, rest in rests))
            for (node, rest), score in zip(rests, scores.tolist(), strict=True):
                if score > node.best_score + tie(score, node.best_score):
                    node.best_inputs, node.best_score = rest, score
        watch.finish(steps)
        inputs = tuple(node.best_inputs for node in nodes)
        best = np.array([node.best_score for node in nodes])
        return InputSearchResult(rules.names, inputs, best, n_candidates, scorer.n_distinct, steps, watch.seconds)

    def _move(self, node: Node, scores: Array, step: int) -> None:
        allowed = scores
        if node.forbidden_until:
            barred = np.array([node.forbidden_until.get(int(c), 0) > step for c in node.candidates])
            barred &= scores <= node.best_score + tie(0.0, node.best_score)  # what is better than ever is free
            allowed = np.where(barred, -np.inf, scores)
        if not len(allowed) or np.isneginf(allowed.max()):
            node.finished = True
            return
        best = first_best(allowed, node.score)
        score = float(scores[best])
        improves = score > node.score + tie(score, node.score)
        if not improves and not self.patience:
            node.finished = True
            return
        toggled = int(node.candidates[best])
        node.inputs = tuple(sorted(set(node.inputs) ^ {toggled}))
        node.score = score
        node.forbidden_until[toggled] = step + 1 + self.tenure
        if score > node.best_score + tie(score, node.best_score):
            node.best_inputs, node.best_score, node.idle = node.inputs, score, 0
        else:
            node.idle += 1
        node.finished = self.patience > 0 and node.idle >= self.patience


def _candidates(node: Node, rules: Rules) -> Families:
    """Return the families that toggling one variable makes: additions, then removals."""
    inputs = np.array(node.inputs, dtype=np.int32)
    room = rules.max_cells / rules.states[[node.variable, *node.inputs]].prod()
    may = rules.states <= room
    may &= ~rules.forbidden[:, node.variable]
    may[[node.variable, *node.inputs]] = False
    added = np.flatnonzero(may).astype(np.int32) if len(inputs) < rules.max_parents else np.zeros(0, np.int32)
    node.candidates = np.concatenate([added, inputs])
    longer = np.sort(np.column_stack([np.tile(inputs, (len(added), 1)), added]), axis=1)
    shorter = [np.delete(inputs, i) for i in range(len(inputs))]
    sizes = np.concatenate([np.full(len(added), len(inputs) + 1), np.full(len(inputs), len(inputs) - 1)])
    return Families(
        np.full(len(node.candidates), node.variable, dtype=np.int32),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.concatenate([longer.ravel(), *shorter]).astype(np.int32),
    )


SEARCHES = {"greedy": InputSearch(), "tabu": InputSearch(patience=10, tenure=5)}


def local_structure(
    table: Any,
    *,
    score: ScoreName | Score = "mdl",
    search: InputSearchName = "greedy",
    max_inputs: int | None = None,
    max_cells: float | None = MAX_CELLS,
    last_step: bool = False,
    missing: IncompleteName | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
    **options: Unpack[ScoreKeywords],
) -> InputSearchResult:
    """Choose the inputs of every variable of a dependency network, and say how they were found.

    Parameters
    ----------
    table : Table, data frame or Source
        The data. Cells of a Table or a frame may be missing; a column that lacks over nine tenths of its cells is no
        input, with a warning.
    score : str or Score
        What is maximized for each variable: "mdl" (alias "bic"), "aic", "loglik".
    search : {"greedy", "tabu"}
        "greedy": single additions and removals while they better the score ([1]_, Algorithm 6). "tabu": goes on with
        the best change that is not the undoing of one of the last five, until ten in a row have not bettered the best.
    max_inputs : int, optional
        At most this many inputs per variable.
    max_cells : float, optional
        At most this many cells per conditional: states of the variable times configurations of its inputs; default
        2**24. None means no limit.
    last_step : bool
        Take all other variables as inputs where that scores higher still (and the limits allow it), which guarantees
        convergence to the true distribution ([1]_, section 4.3) and hardly ever happens.
    missing : {"em", "node-average"}, optional
        How a table with missing cells is learned from. "em": from the counts expected under a Bayesian network, which
        structural EM finds first (`structure`); right where cells are missing at random. "node-average": the inputs of
        a variable are scored on the rows in which they are known (no other `score` then); fast, and right where cells
        are missing completely at random. Default: "em" for up to 200,000 cells or 50,000 missing ones, and for
        other scores than "mdl".
    seed : None, int or numpy.random.Generator
        For searches that draw; these do not.
    progress : callable or True, optional
        True for a bar, or ``progress(what, done, None)``, in iterations.
    **options
        The score's own hyperparameters.

    Returns
    -------
    InputSearchResult

    Raises
    ------
    MissingValueError
        When a source that is no table lacks cells.
    SchemaError
        When there are no variables.

    References
    ----------
    .. [1] K. Takabatake and S. Akaho, "Reconsidering dependency networks from an information geometry perspective",
       2021.

    Examples
    --------
    >>> import fishernet as fn
    >>> found = fn.learn.local_structure(fn.datasets.load("asia").sample(2000, seed=1))
    >>> found.names[2], [found.names[v] for v in found.inputs[2]]
    ('smoke', ['lung', 'bronc'])
    """
    generator(seed)  # a bad seed is refused, whether the search draws or not
    how = named_score(score, **options)
    source = counted(categorical_source(table), missing, how, progress)
    names = column_names(source)
    search = word(search, "search", SEARCHES)
    most = check.optional_integer(max_inputs, "max_inputs", least=0)
    states = [variable.cardinality for variable in source.variables]
    barred = [(parent, child) for parent in nearly_empty(source) for child in names if child != parent]
    rules = Rules.of(names, states=states, max_parents=most, max_cells=max_cells, forbidden=barred)
    rules = rules.of_columns(source.variables) if source.has_missing else rules
    scorer = LocalScores(source, NodeAverage() if source.has_missing else how)
    searching = replace(SEARCHES[search], last_step=check.flag(last_step, "last_step"))
    return searching.run(scorer, rules, Watch(progress, "choosing inputs"))


def known_cells(source: Source) -> Source:
    """Return the same, but of a table that lacks cells the counts of the rows that are complete in each set."""
    return AvailableCases(source) if source.has_missing else source


def counted(source: Any, missing: str | None, score: Score, progress: Progress | None = None) -> Source:
    """Return what a dependency network is learned from: expected counts, where "em" deals with a table's missing cells.

    They are those under a Bayesian network that is learned for that.
    """
    if way_with_missing(source, missing, score) != "em":
        return source  # type: ignore[no-any-return]
    return ExpectedCounts(bayesian_network(source, missing="em", progress=progress), source)


def dependency_network(
    table: Any,
    *,
    score: ScoreName | Score = "mdl",
    inputs: Literal["direct", "tree"] = "direct",
    search: InputSearchName = "greedy",
    max_inputs: int | None = None,
    max_cells: float | None = MAX_CELLS,
    smoothing: float | str = "zeros",
    splits: SplitsName = "binary",
    last_step: bool = False,
    missing: IncompleteName | None = None,
    seed: Seed = None,
    progress: Progress | None = None,
    **options: Unpack[ScoreKeywords],
) -> DependencyNetwork:
    """Learn a dependency network: the inputs of every variable, then its conditional.

    Parameters
    ----------
    table : Table, data frame or Source
        The data. Cells of a Table or a frame may be missing.
    score, search, max_inputs, max_cells, last_step, missing, seed, progress, **options
        As for `local_structure`; the parameters are fitted to the same counts as the inputs were found on.
    inputs : {"direct", "tree"}
        What a conditional looks at: the input variables themselves, or a decision tree over them [2]_, grown and pruned
        by the same score; its leaves share rows of probabilities. Trees need a Table. Where cells are missing, a tree
        is grown on the rows that know the variable and the inputs asked so far, with a warning; it does not ask a
        column that lacks over nine tenths of its cells.
    smoothing : "zeros", float or "snml"
        "zeros": zero counts become one ([1]_, Algorithm 5), so that the chain is ergodic. A number is a pseudo-count; 0
        gives plain frequencies (Algorithm 4), whose zeros may leave the chain without a stationary distribution.
    splits : {"binary", "multiway"}
        How trees divide states: a set of them against the rest, or a branch for each.

    Returns
    -------
    DependencyNetwork

    Raises
    ------
    MissingValueError
        When a source that is no table lacks cells.
    ZeroProbabilityError
        When smoothing is 0 and a configuration of inputs never occurs.

    References
    ----------
    .. [1] K. Takabatake and S. Akaho, "Reconsidering dependency networks from an information geometry perspective",
       2021.
    .. [2] D. Heckerman, D. M. Chickering, C. Meek, R. Rounthwaite and C. Kadie, "Dependency networks for inference,
       collaborative filtering, and data visualization", JMLR 1, 2000.

    Examples
    --------
    >>> import fishernet as fn
    >>> fn.learn.dependency_network(fn.datasets.load("nursery")).n_rows
    12960
    """
    if not isinstance(inputs, str) or inputs not in ("direct", "tree"):
        raise FishernetError(f"unknown inputs {shown(inputs)}; there are 'direct', 'tree'")
    check_smoothing(smoothing, None)
    plain = not isinstance(smoothing, str) and smoothing == 0
    if inputs == "tree":
        generator(seed)
        rows: Any = categorical_source(as_data(table, "growing trees"))
        if missing is not None and word(missing, "missing", MISSING) == "em" and rows.has_missing:
            raise FishernetError(
                "trees are grown on the rows complete in what they ask; missing='em' goes with inputs='direct'",
                parameter="missing",
            )
        most = check.optional_integer(max_inputs, "max_inputs", least=0)
        trees = _grow_trees(rows, named_score(score, **options), most, splits, smoothing, progress)
        return DependencyNetwork(rows.variables, trees, n_rows=rows.total, allow_zeros=plain)
    source = counted(categorical_source(table), missing, named_score(score, **options), progress)
    found = local_structure(
        source,
        score=score,
        search=search,
        max_inputs=max_inputs,
        max_cells=max_cells,
        last_step=last_step,
        missing=missing,
        seed=seed,
        progress=progress,
        **options,
    )
    families = [(*of, v) for v, of in enumerate(found.inputs)]
    conditionals = fit_conditionals(known_cells(source), families, smoothing=smoothing)
    return DependencyNetwork(source.variables, conditionals, n_rows=source.total, allow_zeros=plain)


def _grow_trees(
    table: Table,
    score: Score,
    max_inputs: int | None,
    splits: str,
    smoothing: float | str,
    progress: Progress | None,
) -> list[TreeConditional]:
    price = leaf_price(score, table.total)
    unasked = nearly_empty(table)
    if table.has_missing:
        warn("cells are missing: each tree is grown on the rows that know its variable and the inputs that it asks")
    of = require_categorical(table.variables, "growing trees")
    column_names(table)
    grower = TreeGrower(table, price, splits=splits, max_inputs=max_inputs)
    may_ask = np.tile([variable.name not in unasked for variable in of], (len(of), 1))
    reporter = Reporter(progress, "growing trees")
    conditionals = []
    for child, grown in enumerate(grower.grow(range(len(of)), may_ask)):
        variables = [of[v] for v in (*grown.inputs, child)]
        rows = normalized(cell_weights(grown.counts, smoothing, None), [variables[-1]])
        conditionals.append(TreeConditional(child, grown.inputs, variables, grown.tree, rows))
        reporter.step(child + 1, len(of))
    reporter.finish(len(of))
    return conditionals
