"""What ``fishernet learn --model`` makes of a table: one learner a kind of network, all of them in `LEARNERS`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

from fishernet.base import check
from fishernet.base.errors import FishernetError, ZeroProbabilityError
from fishernet.base.progress import Progress
from fishernet.cli.options import TUNING, Reading, option_of
from fishernet.cli.output import (
    Facts,
    Line,
    aligned,
    drawn_lines,
    held_out_words,
    number,
    number_or_word,
    row_lines,
    saved_lines,
    seconds_line,
)
from fishernet.cli.terminal import shown
from fishernet.compare import Likelihood, Quality
from fishernet.data import Table, categorical_source
from fishernet.graphs import Dag, UndirectedGraph
from fishernet.learn import (
    BlanketsFound,
    InputsFound,
    SearchResult,
    chow_liu,
    gaussian_graph,
    gaussian_network,
    kdb,
    local_structure,
    markov_blankets,
    naive_bayes,
    parameters,
    structure,
    tan,
)
from fishernet.learn.fit import check_smoothing, fit_conditionals
from fishernet.learn.markov_graph import CONTINUOUS, DISCRETE, RULES, check_rule
from fishernet.models import BayesianNetwork, DependencyNetwork, GaussianMarkovNetwork
from fishernet.scores import Families, local_scores, named_score

TESTS = (*CONTINUOUS, *DISCRETE)
SEARCHED = frozenset({"search", "max_parents", "max_seconds", "required", "forbidden", "tiers", *TUNING})
FITTED = frozenset({"smoothing", "ess", "holdout"})
CLASSIFIERS: dict[str, Callable[..., Dag]] = {"naive-bayes": naive_bayes, "tan": tan, "kdb": kdb}


class Learner(ABC):
    """Learns one kind of network.

    `read` the rows first; then `find` the structure in some, `fit` the network to any, and tell the `facts` of what
    was fitted, which `text` says to people. It is made with ``seed`` and the options that it `takes`; None is their
    default.
    """

    called: ClassVar[str]
    """The network in words, with the option that asks for it."""
    takes: ClassVar[frozenset[str]]
    endings: ClassVar[Sequence[str]] = (".json",)
    """Of the files that it can be written to."""
    holdout: ClassVar[float] = 0.2
    """The share of the rows that is held out when nothing is said."""
    measure: ClassVar[str] = "log-likelihood"
    """By which rows held out are predicted."""
    kept: ClassVar[str] = "arcs"
    """What stays when the parameters are fitted again."""

    def read(self, path: Path, reading: Reading) -> Table:
        """Read the rows of a file: a table of states, unless a learner takes numbers."""
        return reading.read(path)

    @abstractmethod
    def find(self, table: Table, progress: Progress) -> None:
        """Search for the structure."""

    @abstractmethod
    def fit(self, table: Table) -> Any:
        """Return the network of this structure, fitted to some rows."""

    @abstractmethod
    def facts(self, network: Any, training: Table, held_out: Table) -> dict[str, Any]:
        """Return what was found, and how well it predicts the rows held out."""

    def text(self, facts: Facts) -> Iterator[str]:
        """Yield the facts as lines for people."""
        fact = f"held_out_{self.measure.replace('-', '_')}_per_row"
        yield from aligned(
            [
                *row_lines(facts),
                *self.lines(facts),
                ("parameters", f"{facts['parameters']:,}"),
                (f"held-out {self.measure}", held_out_words(facts, fact)),
                *_class_lines(facts),
                seconds_line(facts),
                *saved_lines(facts, self.kept),
            ]
        )

    def lines(self, facts: Facts) -> list[Line]:
        """Return what was found and what it took."""
        return _edge_lines("arcs", "->", facts["arcs"])


def _edge_lines(word: str, sign: str, edges: Sequence[tuple[str, str]], also: Sequence[str] = ()) -> list[Line]:
    """Return how many edges there are, then the edges, each with what else is to be said of it."""
    named = [f"{shown(one)} {sign} {shown(other)}" for one, other in edges]
    lines = aligned(list(zip(named, also, strict=True))) if also else named
    return [(word, f"{len(named):,}"), *(("", line) for line in lines)]


def _predicted(network: Any, held_out: Table) -> dict[str, Any]:
    likelihood = Likelihood.of(network, held_out)
    return {"held_out_log_likelihood_per_row": likelihood.per_row, "impossible_rows": likelihood.impossible}


def _fitting(smoothing: str | None, ess: float | None) -> dict[str, Any]:
    return {"smoothing": 1.0 if smoothing is None else number_or_word(smoothing), "ess": ess}


class SearchLearner(Learner):
    """Finds the arcs of a Bayesian network of states in one table, and fits its parameters to any.

    The options are those of `fishernet.learn.structure` and `fishernet.learn.parameters`.
    """

    called = "a Bayesian network (--model bn)"
    takes = SEARCHED | FITTED | {"score"}
    endings: ClassVar[Sequence[str]] = (".json", ".bif")

    def __init__(self, *, search: str | None, score: str | None, **options: Any) -> None:
        fitting = {name: options.pop(name, None) for name in ("smoothing", "ess")}
        self._fit: dict[str, Any] = _fitting(**fitting)
        self._options: Any = {"score": score or "bic", "search": search or "order", **options}
        self._found: SearchResult

    def find(self, table: Table, progress: Progress) -> None:
        """Search for the arcs."""
        self._found = structure(table, progress=progress, **self._options)

    def fit(self, table: Table) -> Any:
        """Return the network of these arcs, fitted to a table."""
        return parameters(self._found.dag, table, **self._fit)

    def facts(self, network: Any, training: Table, held_out: Table) -> dict[str, Any]:  # noqa: ARG002
        """Return what was found, and how well it predicts the rows held out."""
        return {
            "arcs": self._found.dag.edges,
            "parameters": network.n_parameters,
            "score": self._options["score"],
            "score_value": self._found.score,
            "local_scores": self._found.n_scores,
            "steps": len(self._found.steps),
            "finished": self._found.finished,
            **_predicted(network, held_out),
        }

    def lines(self, facts: Facts) -> list[Line]:
        """Return the arcs that were found, their score, and what it took."""
        end = "" if facts["finished"] else "; stopped by --max-seconds, this is the best so far"
        return [
            *super().lines(facts),
            (f"{facts['score']} score", f"{number(facts['score_value'])} on the rows to learn from"),
            ("search", f"{facts['steps']:,} steps, {facts['local_scores']:,} distinct local scores{end}"),
        ]


class NumbersLearner(SearchLearner):
    """Finds the arcs of a Bayesian network of linear-Gaussian variables, and fits its parameters to any rows."""

    called = "a Bayesian network of numbers (--score fractional)"
    takes = SEARCHED | {"score", "holdout"}
    endings = (".json",)

    def read(self, path: Path, reading: Reading) -> Table:
        """Read columns of numbers."""
        return reading.read_numbers(path, "--score fractional")

    def facts(self, network: Any, training: Table, held_out: Table) -> dict[str, Any]:
        """Return what was found, and how well it predicts the rows held out."""
        return _without_impossible(super().facts(network, training, held_out))


def _without_impossible(facts: dict[str, Any]) -> dict[str, Any]:
    return {name: fact for name, fact in facts.items() if name != "impossible_rows"}  # a density is nowhere 0


class DependencyLearner(Learner):
    """Finds the inputs of every variable in one table, and fits the conditionals to any.

    On one table this is `fishernet.learn.dependency_network`.
    """

    called = "a dependency network (--model dn)"
    takes = frozenset({"score", "search", "smoothing", "holdout", "max_inputs"})
    measure = "pseudo-log-likelihood"
    kept = "inputs"

    def __init__(self, *, smoothing: str | None, search: str | None, score: str | None, **options: Any) -> None:
        self._smoothing = "zeros" if smoothing is None else number_or_word(smoothing)
        check_smoothing(self._smoothing, None)
        self._options: Any = {"score": score or "bic", "search": search or "greedy", **options}
        self._found: InputsFound

    def find(self, table: Table, progress: Progress) -> None:
        """Search for the inputs."""
        self._found = local_structure(table, progress=progress, **self._options)

    def fit(self, table: Table) -> DependencyNetwork:
        """Return the network of these inputs, fitted to a table."""
        source = categorical_source(table)
        families = [(*inputs, child) for child, inputs in enumerate(self._found.inputs)]
        conditionals = fit_conditionals(source, families, smoothing=self._smoothing)
        return DependencyNetwork(source.variables, conditionals, n_rows=source.total, allow_zeros=self._smoothing == 0)

    def facts(self, network: DependencyNetwork, training: Table, held_out: Table) -> dict[str, Any]:
        """Return what was found, and how well it predicts the rows held out."""
        found, names = self._found, self._found.names
        likelihood = Likelihood.of_rows(network.pseudo_log_likelihood(held_out), held_out.weights)
        return {
            "inputs": {name: [names[v] for v in inputs] for name, inputs in zip(names, found.inputs, strict=True)},
            "entropies": dict(zip(names, entropies(training, [()] * len(names)), strict=True)),
            "conditional_entropies": dict(zip(names, entropies(training, found.inputs), strict=True)),
            "parameters": network.n_parameters,
            "score": self._options["score"],
            "score_value": float(found.scores.sum()),
            "local_scores": found.n_scores,
            "candidates": found.n_candidates,
            "steps": found.steps,
            "held_out_pseudo_log_likelihood_per_row": likelihood.per_row,
            "impossible_rows": likelihood.impossible,
        }

    def text(self, facts: Facts) -> Iterator[str]:
        """Yield the facts as lines for people."""
        yield from super().text(facts)
        yield ""
        yield "entropies in nats on the rows to learn from: of each variable X, and given its inputs"
        yield from aligned([("variable", "H(X)", "H(X|inputs)", "inputs"), *_entropy_cells(facts)])

    def lines(self, facts: Facts) -> list[Line]:
        """Return how many inputs were found, their score, and what it took."""
        search = (
            f"{facts['steps']:,} steps, {facts['candidates']:,} candidates looked at, "
            f"{facts['local_scores']:,} distinct local scores"
        )
        return [
            ("inputs", f"{sum(map(len, facts['inputs'].values())):,}"),
            (f"{facts['score']} score", f"{number(facts['score_value'])} on the rows to learn from"),
            ("search", search),
        ]


def entropies(table: Table, inputs: Sequence[Sequence[int]]) -> list[float]:
    """Return the empirical entropy of every variable given its inputs, in nats; not below 0 by rounding."""
    logs = local_scores(categorical_source(table), Families.from_pairs(enumerate(inputs)), named_score("loglik"))
    return [max(0.0, -float(log) / table.total) for log in logs]


def _entropy_cells(facts: Facts) -> Iterator[tuple[str, str, str, str]]:
    for name, inputs in facts["inputs"].items():
        alone, given = facts["entropies"][name], facts["conditional_entropies"][name]
        yield shown(name), number(alone), number(given), ", ".join(map(shown, inputs))


class GaussianLearner(Learner):
    """Finds the graph of a Gaussian Markov network in some rows, and fits its precision to any."""

    called = "a Gaussian Markov network (--model gaussian)"
    takes = frozenset({"rule", "prior", "holdout"})
    kept = "edges"

    def __init__(self, *, seed: int, rule: str | None, prior: bool | None) -> None:  # noqa: ARG002 - nothing is drawn
        self._options: Any = {"rule": rule or "hc", "prior": True if prior is None else prior}
        self._graph: UndirectedGraph

    def read(self, path: Path, reading: Reading) -> Table:
        """Read columns of numbers."""
        return reading.read_numbers(path, "a Gaussian Markov network")

    def find(self, table: Table, progress: Progress) -> None:
        """Search for the graph."""
        self._graph = gaussian_graph(table, progress=progress, **self._options)

    def fit(self, table: Table) -> GaussianMarkovNetwork:
        """Return the network with this graph that is most likely, given some rows."""
        return gaussian_network(table, self._graph)

    def facts(self, network: GaussianMarkovNetwork, training: Table, held_out: Table) -> dict[str, Any]:  # noqa: ARG002
        """Return what was found, and how well it predicts the rows held out."""
        graph, correlations = self._graph, network.partial_correlations
        where = {name: position for position, name in enumerate(graph.names)}
        facts = {
            "edges": graph.edges,
            "partial_correlations": [float(correlations[where[a], where[b]]) for a, b in graph.edges],
            **self._options,
            "parameters": network.n_parameters,
            **_predicted(network, held_out),
        }
        return _without_impossible(facts)

    def lines(self, facts: Facts) -> list[Line]:
        """Return the edges with their partial correlations."""
        correlations = [f"partial correlation {number(r)}" for r in facts["partial_correlations"]]
        return _edge_lines("edges", "-", facts["edges"], correlations)


class MarkovLearner(Learner):
    """Finds the Markov blanket of every variable by tests, and the graph that they make.

    The options are those of `fishernet.learn.markov_graph`.
    """

    called = "a graph found by tests (--model markov)"
    takes = frozenset({"test", "alpha", "rule", "search", "k", "permutations", "scheme"})
    holdout = 0.0  # the graph gives nothing that could predict rows
    kept = "edges"

    def __init__(self, *, seed: int, test: str | None, rule: str | None, **options: Any) -> None:
        self._test, self._rule, self._seed = test or "knn-mi", rule or "and", seed
        check.word(self._test, "test", TESTS)
        check_rule(self._rule, RULES)
        given = {name: value for name, value in options.items() if value is not None}
        self._options: Any = {"alpha": 0.05, "search": "iamb", **given}
        for name in ("k", "permutations", "scheme"):
            if self._test != "knn-mi" and name in given:
                raise FishernetError(f"--{name} is for --test knn-mi; it does not go with --test {self._test}")
        self._found: BlanketsFound
        self._graph: UndirectedGraph

    def read(self, path: Path, reading: Reading) -> Table:
        """Read columns of numbers, or a table of states, as the test needs."""
        return reading.read_numbers(path, f"--test {self._test}") if self._test in CONTINUOUS else reading.read(path)

    def find(self, table: Table, progress: Progress) -> None:
        """Search for the blankets, and make a graph of them."""
        self._found = markov_blankets(table, test=self._test, seed=self._seed, progress=progress, **self._options)
        self._graph = self._found.graph(self._rule)

    def fit(self, table: Table) -> UndirectedGraph:  # noqa: ARG002
        """Return the graph; it has no parameters."""
        return self._graph

    def facts(self, network: UndirectedGraph, training: Table, held_out: Table) -> dict[str, Any]:  # noqa: ARG002
        """Return what was found."""
        return {
            "edges": network.edges,
            "test": self._test,
            "alpha": self._options["alpha"],
            "rule": self._rule,
            "search": self._options["search"],
            "tests": self._found.n_tests,
        }

    def text(self, facts: Facts) -> Iterator[str]:
        """Yield the facts as lines for people."""
        saved = [] if facts["model"] is None else [("saved", f"{facts['model']}: these edges")]
        yield from aligned(
            [
                ("rows", f"{facts['rows']:,}"),
                ("variables", f"{len(facts['variables']):,}"),
                *_edge_lines("edges", "-", facts["edges"]),
                ("tests", f"{facts['tests']:,} ({facts['test']}, alpha {facts['alpha']:g}, rule {facts['rule']})"),
                seconds_line(facts),
                *saved,
                *drawn_lines(facts),
            ]
        )


class TreeLearner(Learner):
    """Finds a tree over all variables in one table, in one step, and fits its parameters to any."""

    called = "a tree (--model chow-liu)"
    takes = FITTED
    endings = (".json", ".bif")

    def __init__(self, *, seed: int, smoothing: str | None, ess: float | None) -> None:  # noqa: ARG002 - nothing is drawn
        self._fit = _fitting(smoothing, ess)
        self._find: Callable[[Table], Dag] = chow_liu
        self._dag: Dag

    def find(self, table: Table, progress: Progress) -> None:  # noqa: ARG002
        """Find the arcs; it is over before a bar could be drawn."""
        self._dag = self._find(table)

    def fit(self, table: Table) -> Any:
        """Return the network of these arcs, fitted to a table."""
        return parameters(self._dag, table, **self._fit)

    def facts(self, network: BayesianNetwork, training: Table, held_out: Table) -> dict[str, Any]:  # noqa: ARG002
        """Return what was found, and how well it predicts the rows held out."""
        return {"arcs": self._dag.edges, "parameters": network.n_parameters, **_predicted(network, held_out)}


class ClassifierLearner(TreeLearner):
    """Finds a classifier, one of the `CLASSIFIERS`."""

    takes = FITTED | {"target"}
    kind: ClassVar[str]

    def __init__(self, *, target: str | None, k: int | None = None, **options: Any) -> None:
        if target is None:
            raise FishernetError(f"--model {self.kind} needs --target COLUMN, the class to be predicted")
        super().__init__(**options)
        self._target = target
        self._find = partial(CLASSIFIERS[self.kind], target=target, **({} if k is None else {"k": k}))

    def facts(self, network: BayesianNetwork, training: Table, held_out: Table) -> dict[str, Any]:
        """Return what was found, and how well it predicts the rows held out and their class."""
        quality = _quality(network, held_out, self._target)
        return super().facts(network, training, held_out) | {
            "target": self._target,
            "held_out_accuracy": None if quality is None else quality.accuracy,
            "held_out_log_loss": None if quality is None else quality.log_loss,
        }


class NaiveBayesLearner(ClassifierLearner):
    """Finds nothing: the class is the only parent of every feature."""

    kind, called = "naive-bayes", "a naive Bayes classifier (--model naive-bayes)"


class TanLearner(ClassifierLearner):
    """Finds a tree of the features below the class."""

    kind, called = "tan", "a tree-augmented classifier (--model tan)"


class KdbLearner(ClassifierLearner):
    """Finds up to k parents of every feature besides the class."""

    kind, called = "kdb", "a k-dependence classifier (--model kdb)"
    takes = ClassifierLearner.takes | {"k"}


def _quality(network: BayesianNetwork, rows: Table, target: str) -> Quality | None:
    """Return how well the class is predicted; None without rows, or where one is impossible whatever its class."""
    try:
        return Quality.of(network.predict_proba(rows, target), rows.column(target), rows.weights)
    except ZeroProbabilityError:
        return None


def _class_lines(facts: Facts) -> list[Line]:
    """Return how well the class is predicted in the rows held out."""
    if facts.get("held_out_accuracy") is None:
        return []
    told = f"accuracy {facts['held_out_accuracy']:.4f}, log-loss {number(facts['held_out_log_loss'])} nats a row"
    return [(f"held-out {shown(facts['target'])}", told)]


FRACTIONAL = "fractional"  # the score of numbers, with which "bn" is another kind of network
LEARNERS: dict[str, type[Learner]] = {
    "bn": SearchLearner,
    "dn": DependencyLearner,
    "naive-bayes": NaiveBayesLearner,
    "tan": TanLearner,
    "kdb": KdbLearner,
    "chow-liu": TreeLearner,
    "gaussian": GaussianLearner,
    "markov": MarkovLearner,
    FRACTIONAL: NumbersLearner,
}


def learner_of(kind: str, options: dict[str, Any], seed: int) -> Learner:
    """Return the learner of a kind, made with the options that it takes.

    Raises
    ------
    FishernetError
        When an option was given that only makes sense for other kinds of network.
    """
    score = options["score"]
    if score == FRACTIONAL and kind != "bn":
        numbers = f"{SearchLearner.called} of numbers"
        raise FishernetError(f"--score {FRACTIONAL} is for {numbers}; it does not go with {LEARNERS[kind].called}")
    make: Any = LEARNERS[FRACTIONAL if score == FRACTIONAL else kind]
    for name, value in options.items():
        if name not in make.takes and value is not None and value != []:
            other = next(learner for learner in LEARNERS.values() if name in learner.takes)
            option = "--no-prior" if value is False else option_of(name)
            raise FishernetError(f"{option} is for {other.called}; it does not go with {make.called}")
    return make(seed=seed, **{name: options[name] for name in make.takes - {"holdout"}})  # type: ignore[no-any-return]
