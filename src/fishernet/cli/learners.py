"""A Bayesian network learned on the command line.

A dependency network learned on the command line.

Networks of Gaussian variables learned on the command line, from columns of numbers.

An undirected graph learned by tests of independence on the command line.

Classifiers and trees learned on the command line: structures that are found in one step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from fishernet.base.errors import FishernetError, ZeroProbabilityError
from fishernet.base.names import listed
from fishernet.base.progress import Progress
from fishernet.cli.options import Likelihood, Reading, count_rows
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
from fishernet.cli.predict import Quality
from fishernet.cli.terminal import shown
from fishernet.data import Table, as_source
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


class BayesianLearner:
    """Finds the arcs of a Bayesian network in one table, and fits its parameters to any.

    Parameters
    ----------
    smoothing : str, optional
        A number, "snml" or "zeros"; 1 when not said.
    ess : float, optional
    search : str, optional
        "hill-climb" when not said.
    **options
        As for `fishernet.learn.structure`.
    """

    endings = (".json", ".bif")

    def __init__(
        self, *, smoothing: str | None, ess: float | None, search: str | None, score: str, **options: Any
    ) -> None:
        self._fit: Any = {"smoothing": 1.0 if smoothing is None else number_or_word(smoothing), "ess": ess}
        self._options: Any = {"score": score, "search": search or "hill-climb", **options}
        self._found: SearchResult

    def read(self, path: Path, reading: Reading) -> Table:
        """Read a table of states."""
        return reading.read(path)

    def find(self, table: Table, progress: Progress) -> None:
        """Search for the arcs."""
        self._found = structure(table, progress=progress, **self._options)

    def fit(self, table: Table) -> BayesianNetwork:
        """Return the network of these arcs, fitted to a table."""
        network: BayesianNetwork = parameters(self._found.dag, table, **self._fit)
        return network

    def facts(self, network: BayesianNetwork, training: Table, held_out: Table) -> dict[str, Any]:  # noqa: ARG002
        """Return what was found, and how well it predicts the rows held out."""
        found, likelihood = self._found, Likelihood.of(network, held_out)
        return {
            "arcs": found.dag.edges,
            "parameters": network.n_parameters,
            "score": self._options["score"],
            "score_value": found.score,
            "local_scores": found.n_scores,
            "steps": len(found.steps),
            "finished": found.finished,
            "held_out_log_likelihood_per_row": likelihood.per_row,
            "impossible_rows": likelihood.impossible,
        }

    def text(self, facts: Facts) -> Iterator[str]:
        """Yield the facts as lines for people."""
        yield from aligned(
            [
                *row_lines(facts),
                *search_lines(facts),
                ("parameters", f"{facts['parameters']:,}"),
                ("held-out log-likelihood", held_out_words(facts, "held_out_log_likelihood_per_row")),
                seconds_line(facts),
                *saved_lines(facts, "arcs"),
            ]
        )


def search_lines(facts: Facts) -> list[Line]:
    """Return the arcs that were found, their score, and what it took."""
    arcs = facts["arcs"]
    return [
        ("arcs", f"{len(arcs):,}"),
        *(("", f"{shown(parent)} -> {shown(child)}") for parent, child in arcs),
        (f"{facts['score']} score", f"{number(facts['score_value'])} on the rows to learn from"),
        ("search", f"{facts['steps']:,} steps, {facts['local_scores']:,} distinct local scores{_end(facts)}"),
    ]


def _end(facts: Facts) -> str:
    return "" if facts["finished"] else "; stopped by --max-seconds, this is the best so far"


class DependencyLearner:
    """Finds the inputs of every variable in one table, and fits the conditionals to any.

    On one table this is `fishernet.learn.dependency_network`.

    Parameters
    ----------
    smoothing : str, optional
        A number, "snml" or "zeros", which it is when not said.
    search : str, optional
        "greedy" when not said.
    **options
        As for `fishernet.learn.local_structure`.
    """

    endings = (".json",)

    def __init__(self, *, smoothing: str | None, search: str | None, score: str, **options: Any) -> None:
        self._smoothing = "zeros" if smoothing is None else number_or_word(smoothing)
        check_smoothing(self._smoothing, None)
        self._options: Any = {"score": score, "search": search or "greedy", **options}
        self._found: InputsFound

    def read(self, path: Path, reading: Reading) -> Table:
        """Read a table of states."""
        return reading.read(path)

    def find(self, table: Table, progress: Progress) -> None:
        """Search for the inputs."""
        self._found = local_structure(table, progress=progress, **self._options)

    def fit(self, table: Table) -> DependencyNetwork:
        """Return the network of these inputs, fitted to a table."""
        source = as_source(table)
        families = [(*inputs, child) for child, inputs in enumerate(self._found.inputs)]
        conditionals = fit_conditionals(source, families, self._smoothing, None)
        return DependencyNetwork(source.variables, conditionals, n_rows=source.n_rows, allow_zeros=self._smoothing == 0)

    def facts(self, network: DependencyNetwork, training: Table, held_out: Table) -> dict[str, Any]:
        """Return what was found, and how well it predicts the rows held out."""
        found = self._found
        likelihood = Likelihood.of_rows(network.pseudo_log_likelihood(held_out), held_out.weights)
        alone = entropies(training, [()] * len(found.names))
        given = entropies(training, found.inputs)
        return {
            "inputs": {
                name: [found.names[v] for v in inputs] for name, inputs in zip(found.names, found.inputs, strict=True)
            },
            "entropies": dict(zip(found.names, alone, strict=True)),
            "conditional_entropies": dict(zip(found.names, given, strict=True)),
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
        search = (
            f"{facts['steps']:,} steps, {facts['candidates']:,} candidates looked at, "
            f"{facts['local_scores']:,} distinct local scores"
        )
        yield from aligned(
            [
                *row_lines(facts),
                ("inputs", f"{sum(map(len, facts['inputs'].values())):,}"),
                (f"{facts['score']} score", f"{number(facts['score_value'])} on the rows to learn from"),
                ("search", search),
                ("parameters", f"{facts['parameters']:,}"),
                (
                    "held-out pseudo-log-likelihood",
                    held_out_words(facts, "held_out_pseudo_log_likelihood_per_row"),
                ),
                seconds_line(facts),
                *saved_lines(facts, "inputs"),
            ]
        )
        yield ""
        yield "entropies in nats on the rows to learn from: of each variable X, and given its inputs"
        yield from aligned([("variable", "H(X)", "H(X|inputs)", "inputs"), *_cells(facts)])


def entropies(table: Table, inputs: Sequence[Sequence[int]]) -> list[float]:
    """Return the empirical entropy of every variable given its inputs, in nats; not below 0 by rounding."""
    families = Families.from_pairs(enumerate(inputs))
    logs = local_scores(as_source(table), families, named_score("loglik"))
    return [max(0.0, -float(log) / count_rows(table)) for log in logs]


def _cells(facts: Facts) -> Iterator[tuple[str, str, str, str]]:
    for name, inputs in facts["inputs"].items():
        alone, given = facts["entropies"][name], facts["conditional_entropies"][name]
        yield shown(name), number(alone), number(given), ", ".join(map(shown, inputs))


class GaussianLearner:
    """Finds the graph of a Gaussian Markov network in some rows, and fits its precision to any.

    Parameters
    ----------
    seed : int
        Not used: nothing is drawn.
    rule : str, optional
        "hc", "and" or "or"; "hc" when not said.
    prior : bool, optional
        Whether edges are sparse beforehand; they are when not said.
    """

    endings = (".json",)

    def __init__(self, *, seed: int, rule: str | None = None, prior: bool | None = None) -> None:  # noqa: ARG002
        self._rule = rule or "hc"
        self._prior = True if prior is None else prior
        self._graph: UndirectedGraph

    def read(self, path: Path, reading: Reading) -> Table:
        """Read columns of numbers."""
        return reading.read_numbers(path, "a Gaussian Markov network")

    def find(self, rows: Table, progress: Progress) -> None:
        """Search for the graph."""
        self._graph = gaussian_graph(rows, rule=self._rule, prior=self._prior, progress=progress)

    def fit(self, rows: Table) -> GaussianMarkovNetwork:
        """Return the network with this graph that is most likely, given some rows."""
        return gaussian_network(rows, self._graph)

    def facts(
        self,
        network: GaussianMarkovNetwork,
        training: Table,  # noqa: ARG002
        held_out: Table,
    ) -> dict[str, Any]:
        """Return what was found, and how well it predicts the rows held out."""
        graph, correlations = self._graph, network.partial_correlations
        where = {name: position for position, name in enumerate(graph.names)}
        return {
            "edges": graph.edges,
            "partial_correlations": [float(correlations[where[a], where[b]]) for a, b in graph.edges],
            "rule": self._rule,
            "prior": self._prior,
            "parameters": network.n_parameters,
            "held_out_log_likelihood_per_row": _per_row(network, held_out),
        }

    def text(self, facts: Facts) -> Iterator[str]:
        """Yield the facts as lines for people."""
        yield from aligned(
            [
                *row_lines(facts),
                *edge_lines(facts["edges"], facts["partial_correlations"]),
                ("parameters", f"{facts['parameters']:,}"),
                ("held-out log-likelihood", held_out_words(facts, "held_out_log_likelihood_per_row")),
                seconds_line(facts),
                *saved_lines(facts, "edges"),
            ]
        )


class LinearLearner:
    """Finds the arcs of a Bayesian network of linear-Gaussian variables, and fits its parameters to any rows.

    Parameters
    ----------
    search : str, optional
        "hill-climb" when not said.
    **options
        As for `fishernet.learn.structure`.
    """

    endings = (".json",)

    def __init__(self, *, search: str | None, **options: Any) -> None:
        self._options: Any = {"search": search or "hill-climb", **options}
        self._found: SearchResult

    def read(self, path: Path, reading: Reading) -> Table:
        """Read columns of numbers."""
        return reading.read_numbers(path, "--score fractional")

    def find(self, rows: Table, progress: Progress) -> None:
        """Search for the arcs."""
        self._found = structure(rows, progress=progress, **self._options)

    def fit(self, rows: Table) -> BayesianNetwork:
        """Return the network with these arcs that is most likely, given some rows."""
        return parameters(self._found.dag, rows)

    def facts(
        self,
        network: BayesianNetwork,
        training: Table,  # noqa: ARG002
        held_out: Table,
    ) -> dict[str, Any]:
        """Return what was found, and how well it predicts the rows held out."""
        found = self._found
        return {
            "arcs": found.dag.edges,
            "parameters": network.n_parameters,
            "score": self._options["score"],
            "score_value": found.score,
            "local_scores": found.n_scores,
            "steps": len(found.steps),
            "finished": found.finished,
            "held_out_log_likelihood_per_row": _per_row(network, held_out),
        }

    def text(self, facts: Facts) -> Iterator[str]:
        """Yield the facts as lines for people."""
        yield from aligned(
            [
                *row_lines(facts),
                *search_lines(facts),
                ("parameters", f"{facts['parameters']:,}"),
                ("held-out log-likelihood", held_out_words(facts, "held_out_log_likelihood_per_row")),
                seconds_line(facts),
                *saved_lines(facts, "arcs"),
            ]
        )


def edge_lines(edges: Iterable[tuple[str, str]], correlations: Iterable[float] = ()) -> list[Line]:
    """Return how many edges there are, then the edges, with their partial correlations where these are known."""
    named = [f"{shown(one)} - {shown(other)}" for one, other in edges]
    known = [f"partial correlation {number(r)}" for r in correlations]
    lines = aligned(list(zip(named, known, strict=True))) if known else named
    return [("edges", f"{len(named):,}"), *(("", line) for line in lines)]


def _per_row(network: GaussianMarkovNetwork | BayesianNetwork, rows: Table) -> float:
    return Likelihood.of_rows(np.asarray(network.log_prob(rows)), None).per_row


TESTS = (*CONTINUOUS, *DISCRETE)


class MarkovLearner:
    """Finds the Markov blanket of every variable by tests, and the graph that they make.

    Parameters
    ----------
    seed : int
        For the permutations of "knn-mi".
    test : str, optional
        One of the `TESTS`; "knn-mi" when not said.
    rule : str, optional
        "and" or "or"; "and" when not said.
    **options
        As for `fishernet.learn.markov_graph`; None is its default.
    """

    endings = (".json",)

    def __init__(self, *, seed: int, test: str | None = None, rule: str | None = None, **options: Any) -> None:
        self._test, self._rule, self._seed = test or "knn-mi", rule or "and", seed
        if self._test not in TESTS:
            raise FishernetError(f"unknown test {test!r}; there are {listed(TESTS)}")
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
        if self._test in CONTINUOUS:
            return reading.read_numbers(path, f"--test {self._test}")
        return reading.read(path)

    def find(self, rows: Table, progress: Progress) -> None:
        """Search for the blankets, and make a graph of them."""
        self._found = markov_blankets(rows, test=self._test, seed=self._seed, progress=progress, **self._options)
        self._graph = self._found.graph(self._rule)

    def fit(self, rows: Table) -> UndirectedGraph:  # noqa: ARG002
        """Return the graph; it has no parameters."""
        return self._graph

    def facts(
        self,
        network: UndirectedGraph,
        training: Table,  # noqa: ARG002
        held_out: Table,  # noqa: ARG002
    ) -> dict[str, Any]:
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
                *edge_lines(facts["edges"]),
                ("tests", f"{facts['tests']:,} ({facts['test']}, alpha {facts['alpha']:g}, rule {facts['rule']})"),
                seconds_line(facts),
                *saved,
                *drawn_lines(facts),
            ]
        )


CLASSIFIERS: dict[str, Callable[..., Dag]] = {"naive-bayes": naive_bayes, "tan": tan, "kdb": kdb}


class TreeLearner:
    """Finds a tree over all variables, or a classifier, in one table, and fits its parameters to any.

    Parameters
    ----------
    kind : str
        "chow-liu", or one of the `CLASSIFIERS`.
    target : str, optional
        The class; every classifier needs one.
    k : int, optional
        For "kdb"; 3 when not said.
    smoothing : str, optional
        A number, "snml" or "zeros"; 1 when not said.
    ess : float, optional
    seed : int
        Not used: nothing is drawn.
    """

    endings = (".json", ".bif")

    def __init__(
        self,
        kind: str,
        *,
        smoothing: str | None,
        ess: float | None,
        seed: int,  # noqa: ARG002
        target: str | None = None,
        k: int | None = None,
    ) -> None:
        if kind in CLASSIFIERS and target is None:
            raise FishernetError(f"--model {kind} needs --target COLUMN, the class to be predicted")
        self._target = target
        self._find: Callable[[Table], Dag] = chow_liu
        if kind in CLASSIFIERS:
            self._find = partial(CLASSIFIERS[kind], target=target, **({} if k is None else {"k": k}))
        self._fit: Any = {"smoothing": 1.0 if smoothing is None else number_or_word(smoothing), "ess": ess}
        self._dag: Dag

    def read(self, path: Path, reading: Reading) -> Table:
        """Read a table of states."""
        return reading.read(path)

    def find(self, table: Table, progress: Progress) -> None:  # noqa: ARG002
        """Find the arcs; it is over before a bar could be drawn."""
        self._dag = self._find(table)

    def fit(self, table: Table) -> BayesianNetwork:
        """Return the network of these arcs, fitted to a table."""
        network: BayesianNetwork = parameters(self._dag, table, **self._fit)
        return network

    def facts(self, network: BayesianNetwork, training: Table, held_out: Table) -> dict[str, Any]:  # noqa: ARG002
        """Return what was found, and how well it predicts the rows held out."""
        likelihood = Likelihood.of(network, held_out)
        facts = {
            "arcs": self._dag.edges,
            "parameters": network.n_parameters,
            "held_out_log_likelihood_per_row": likelihood.per_row,
            "impossible_rows": likelihood.impossible,
        }
        if self._target is None:
            return facts
        quality = _quality(network, held_out, self._target)
        return facts | {
            "target": self._target,
            "held_out_accuracy": None if quality is None else quality.accuracy,
            "held_out_log_loss": None if quality is None else quality.log_loss,
        }

    def text(self, facts: Facts) -> Iterator[str]:
        """Yield the facts as lines for people."""
        arcs = facts["arcs"]
        yield from aligned(
            [
                *row_lines(facts),
                ("arcs", f"{len(arcs):,}"),
                *(("", f"{shown(parent)} -> {shown(child)}") for parent, child in arcs),
                ("parameters", f"{facts['parameters']:,}"),
                ("held-out log-likelihood", held_out_words(facts, "held_out_log_likelihood_per_row")),
                *_class_lines(facts),
                seconds_line(facts),
                *saved_lines(facts, "arcs"),
            ]
        )


LEARNERS: dict[str, Callable[..., TreeLearner]] = {
    kind: partial(TreeLearner, kind) for kind in (*CLASSIFIERS, "chow-liu")
}
FITTED = {"smoothing", "ess"}
TAKEN = {
    "naive-bayes": FITTED | {"target"},
    "tan": FITTED | {"target"},
    "kdb": FITTED | {"target", "k"},
    "chow-liu": FITTED,
}
NAMED = {
    "naive-bayes": "a naive Bayes classifier (--model naive-bayes)",
    "tan": "a tree-augmented classifier (--model tan)",
    "kdb": "a k-dependence classifier (--model kdb)",
    "chow-liu": "a tree (--model chow-liu)",
}


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
