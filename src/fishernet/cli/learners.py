"""What ``fishernet learn`` learns: one `Learner` per kind of network or graph, all of them in `LEARNERS`."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar

from fishernet import learn as library
from fishernet.base.errors import FishernetError, ZeroProbabilityError
from fishernet.base.names import several
from fishernet.base.progress import Progress
from fishernet.base.vocabulary import IncompleteName, Rule, spelled, word
from fishernet.cli.models import is_gaussian
from fishernet.cli.options import NODE_AVERAGE, RULES, TUNING, option_of, taken
from fishernet.cli.terminal import (
    Facts,
    Line,
    aligned,
    edge_lines,
    number,
    seconds_words,
    shown,
    summary_last,
)
from fishernet.data import Source, Table, categorical_source
from fishernet.graphs import Dag
from fishernet.learn import Likelihood, PredictionQuality
from fishernet.learn.blankets import CONTINUOUS, DISCRETE
from fishernet.learn.blankets import RULES as BLANKET_RULES
from fishernet.learn.fitting import KINDS, check_smoothing, fit_conditionals
from fishernet.learn.local_learning import counted, known_cells
from fishernet.learn.structures import usual_name
from fishernet.models import DependencyNetwork
from fishernet.scores import Families, local_scores, named_score

TESTS = (*CONTINUOUS, *DISCRETE)
FRACTIONAL = "fractional"  # the score of numbers, with which "bn" is another kind of network
SEARCHED = RULES | {"search", "score", "max_parents", "max_seconds", "checkpoint", "holdout", *TUNING}
FITTED = frozenset({"smoothing", "ess", "conditionals", "holdout"})


class Learner(ABC):
    """Learns one kind of network: finds the structure in some rows, and fits the network to any.

    It is made with a seed and those of the options that it takes that were given.
    """

    called: ClassVar[str]
    """The network in words, with the option that asks for it."""
    takes: ClassVar[frozenset[str]]
    endings: ClassVar[Sequence[str]] = (".json", ".dot", ".graphml")
    """Of the files that it can be written to."""
    holdout: ClassVar[float] = 0.2
    """The default share of the rows that is held out."""
    measure: ClassVar[str] = "log-likelihood"
    """By which rows held out are predicted."""
    kept: ClassVar[str] = "arcs"
    """What stays when the parameters are fitted again."""
    from_counts: ClassVar[bool] = True
    """Whether statistics are enough to learn from; otherwise it takes the rows."""
    numbers: str = ""
    """What takes columns of numbers, for messages; without it a table of states is read."""
    mixes: bool = False
    """Whether it takes numbers that stand beside states as they are."""

    @abstractmethod
    def find(self, table: Table, progress: Progress) -> None:
        """Search for the structure."""

    @abstractmethod
    def fit(self, table: Table) -> Any:
        """Return the network of this structure, fitted to some rows."""

    @abstractmethod
    def facts(self, network: Any, training: Table, held_out: Table) -> dict[str, Any]:
        """Return what was found, and how well it predicts the rows held out."""

    def lines(self, facts: Facts) -> list[Line]:
        """Return what was found and what it took."""
        return edge_lines("arcs", "->", facts["arcs"])

    def text(self, facts: Facts) -> Iterator[str]:
        """Yield the facts as lines for people."""
        parts = f"{facts['training_rows']:,} to learn from, {facts['held_out_rows']:,} held out"
        yield from summary_last(
            [
                ("rows", f"{facts['rows']:,} ({parts})"),
                *column_lines(facts),
                *self.lines(facts),
                ("parameters", f"{facts['parameters']:,}"),
                (f"held-out {self.measure}", self.held_out_words(facts)),
                *([("beyond the arcs", facts["beyond"]["said"])] if facts.get("beyond") else []),
                *self.last_lines(facts, f", parameters fitted again on all {several(facts['rows'], 'row')}"),
            ]
        )

    def held_out_words(self, facts: Facts, how: str = "") -> str:
        """Return how well the rows held out are predicted, and how that was measured."""
        if not facts["held_out_rows"]:
            return "none, no rows were held out"
        impossible = facts.get("impossible_rows", 0)
        told = (
            f" ({several(impossible, 'row has', 'rows have')} probability 0; --smoothing above 0 helps)"
            if impossible
            else ""
        )
        fact = f"held_out_{self.measure.replace('-', '_')}_per_row"
        return f"{number(facts[fact])} per row{how}{facts['comparable']}{told}"

    def last_lines(self, facts: Facts, again: str = "") -> list[Line]:
        """Return how long each part took, and where the network was saved and drawn, if it was."""
        saved = None if facts["model"] is None else f"{facts['model']}: these {self.kept}{again}"
        lines = [("seconds", seconds_words(facts)), ("saved", saved), ("drawn", facts["plot"])]
        return [(word, told) for word, told in lines if told is not None]


MOST_NAMES = 6
KIND_ENDS = r"\(| of "  # of a scale's words; describe says all of them


def column_lines(facts: Facts) -> list[Line]:
    """Return what was decided about the columns, a line a kind."""
    lines = [("variables", f"{len(facts['variables']):,} (fishernet describe {facts['table']} shows each column)")]
    lines += [
        (f"  {kind}", f"{len(names):,}: {_first([*map(shown, names)])}") for kind, names in facts["columns"].items()
    ]
    scales = [f"{shown(name)} as {re.split(KIND_ENDS, scale)[0]}" for name, scale in facts["scales"].items()]
    lines += [("  scales", _first(scales))] if scales else []
    return lines + [("  missing cells", told) for told in facts["plan"]]


def _first(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join([*names[:MOST_NAMES], *([f"... {more:,} more"] if more > 0 else [])])


def _predicted(network: Any, held_out: Table) -> dict[str, Any]:
    likelihood = Likelihood.of(network, held_out)
    impossible = {} if is_gaussian(network) else {"impossible_rows": likelihood.impossible}  # a density is nowhere 0
    return {"held_out_log_likelihood_per_row": likelihood.per_row, **impossible}


class _Tree(Learner):
    """A tree over all variables, found in one step; the first of those with arcs."""

    called = "a tree (--model chow-liu)"
    takes = FITTED | {"missing"}
    endings: ClassVar[Sequence[str]] = (".json", ".bif", ".xdsl", ".uai", ".dot", ".graphml")
    search: Callable[..., Dag] = staticmethod(library.chow_liu)

    def __init__(
        self,
        seed: int,  # noqa: ARG002 - nothing is drawn
        missing: str | None = None,
        score: str = "bic",
        **fitting: Any,
    ) -> None:
        kind = word(fitting.pop("conditionals", "table"), "conditionals", KINDS)
        if kind != "table":
            KINDS[kind](1.0, {"score": score})  # a score that does not go with it is refused before anything is read
            fitting |= {"conditionals": kind, "score": score}
            if missing is not None:
                shared = f"--conditionals {kind}"
                raise FishernetError(f"{shared} needs complete rows; it does not go with --missing {missing}")
        self.fitting, self.missing = fitting, missing
        self.dag: Dag

    def find(self, table: Table, progress: Progress) -> None:  # noqa: ARG002 - it is over before a bar could be drawn
        self.dag = self.search(table, missing=self.missing)

    def fit(self, table: Table) -> Any:
        return library.parameters(self.dag, table, **self.fitting)

    def facts(self, network: Any, training: Table, held_out: Table) -> dict[str, Any]:  # noqa: ARG002
        found = {"arcs": self.dag.edges, "missing": self.missing, "parameters": network.n_parameters}
        return {**found, **_predicted(network, held_out)}

    def held_out_words(self, facts: Facts, how: str = "") -> str:
        summed = facts["missing"] and facts["missing_cells"]
        return super().held_out_words(facts, ", missing cells summed out" if summed else how)


class _Classifier(_Tree):
    """The arcs by which one variable is predicted from all others."""

    takes = _Tree.takes | {"target"}
    arcs: ClassVar[Callable[..., Dag]]

    def __init__(self, seed: int, target: str | None = None, k: int | None = None, **fitting: Any) -> None:
        super().__init__(seed, **fitting)
        if target is None:
            kind = self.called.partition("(")[2].rstrip(")")
            raise FishernetError(f"{kind} needs --target COLUMN, the class to be predicted")
        self.target = target
        self.search = partial(type(self).arcs, target=target, **taken({"k": k}))

    def facts(self, network: Any, training: Table, held_out: Table) -> dict[str, Any]:
        quality = self.quality(network, held_out)
        return super().facts(network, training, held_out) | {
            "target": self.target,
            "held_out_accuracy": quality and quality.accuracy,
            "held_out_log_loss": quality and quality.log_loss,
        }

    def last_lines(self, facts: Facts, again: str = "") -> list[Line]:
        accuracy, loss = facts["held_out_accuracy"], facts["held_out_log_loss"]
        told = None if accuracy is None else f"accuracy {accuracy:.4f}, log-loss {number(loss)} nats per row"
        lines = super().last_lines(facts, again)
        return lines if told is None else [(f"held-out {shown(self.target)}", told), *lines]

    def quality(self, network: Any, rows: Table) -> PredictionQuality | None:
        """Return how well the class is predicted; None without rows, or where one is impossible whatever its class."""
        try:
            return PredictionQuality.of(
                network.predict_proba(rows, self.target), rows.column(self.target), rows.weights
            )
        except ZeroProbabilityError:
            return None


class _NaiveBayes(_Classifier):
    called, arcs = "a naive Bayes classifier (--model naive-bayes)", library.naive_bayes
    mixes = True


class _Tan(_Classifier):
    called, arcs = "a tree-augmented classifier (--model tan)", library.tan


class _Kdb(_Classifier):
    called, arcs = "a k-dependence classifier (--model kdb)", library.kdb
    takes = _Classifier.takes | {"k"}


class _Bayesian(_Tree):
    """The arcs of a Bayesian network, by a search."""

    called = "a Bayesian network (--model bn)"
    takes = SEARCHED | FITTED | {"missing"}

    def __init__(
        self, seed: int, score: str | None = None, missing: IncompleteName | None = None, **options: Any
    ) -> None:
        super().__init__(seed, missing, score or "bic", **{name: options.pop(name) for name in FITTED & set(options)})
        self.options: dict[str, Any] = {"score": score, "seed": seed, "missing": missing, **options}
        self.mixes = options.get("search") != "exact" and (score is None or named_score(score).mixes)

    def find(self, table: Table, progress: Progress) -> None:
        self.found = library.structure(table, progress=progress, **self.options)
        self.dag = self.found.dag

    def facts(self, network: Any, training: Table, held_out: Table) -> dict[str, Any]:
        own = self.missing == NODE_AVERAGE and training.has_missing
        return super().facts(network, training, held_out) | {
            "score": NODE_AVERAGE if own else self.options["score"] or usual_name(training),
            "score_value": self.found.score,
            "local_scores": self.found.n_scores,
            "steps": len(self.found.steps),
            "finished": self.found.finished,
            "bound": self.found.bound,
            "gap": self.found.gap,
            "proof": self.found.proof,
        }

    def lines(self, facts: Facts) -> list[Line]:
        end = "" if facts["finished"] else "; stopped by --max-seconds, this is the best so far"
        end += f"; {facts['proof']}" if facts["proof"] else ""
        search = f"{facts['steps']:,} steps, {facts['local_scores']:,} distinct local scores{end}"
        return [*super().lines(facts), _score_line(facts), ("search", search)]


class _BayesianOfNumbers(_Bayesian):
    """The same of linear-Gaussian variables."""

    called = "a Bayesian network of numbers (--score fractional)"
    takes = SEARCHED - {"max_cells"}
    endings = (".json", ".dot", ".graphml")
    from_counts = False
    numbers = "--score fractional"


def _score_line(facts: Facts) -> Line:
    return f"{facts['score']} score", f"{number(facts['score_value'])} on the rows to learn from"


class _Dependency(Learner):
    """The inputs of every variable; on one table this is `fishernet.learn.dependency_network`."""

    called = "a dependency network (--model dn)"
    takes = frozenset({"score", "search", "smoothing", "holdout", "max_inputs", "missing"})
    measure = "pseudo-log-likelihood"
    kept = "inputs"

    def __init__(
        self,
        seed: int,
        score: str = "bic",
        smoothing: float | str = "zeros",
        missing: IncompleteName | None = None,
        **options: Any,
    ) -> None:
        check_smoothing(smoothing, None)
        self.smoothing, self.missing = smoothing, missing
        self.options: dict[str, Any] = {"score": score, "seed": seed, **options}

    def find(self, table: Table, progress: Progress) -> None:
        self.score = named_score(self.options["score"])
        self.counts = table, self.counted(table, progress)
        self.found = library.local_structure(self.counts[1], missing=self.missing, progress=progress, **self.options)

    def counted(self, table: Table, progress: Progress | None = None) -> Source:
        """Return what is learned from some rows."""
        return counted(categorical_source(table), self.missing, self.score, progress)

    def fit(self, table: Table) -> DependencyNetwork:
        source = self.counts[1] if table is self.counts[0] else self.counted(table)
        known = known_cells(source)
        families = [(*inputs, child) for child, inputs in enumerate(self.found.inputs)]
        conditionals = fit_conditionals(known, families, smoothing=self.smoothing)
        return DependencyNetwork(source.variables, conditionals, n_rows=source.total, allow_zeros=self.smoothing == 0)

    def facts(self, network: DependencyNetwork, training: Table, held_out: Table) -> dict[str, Any]:
        found, names = self.found, self.found.names
        complete, source = held_out.drop_missing(), known_cells(self.counts[1])
        likelihood = Likelihood.of_rows(network.pseudo_log_likelihood(complete), complete.weights)
        own = self.missing == NODE_AVERAGE and training.has_missing
        return {
            "inputs": {name: [names[v] for v in inputs] for name, inputs in zip(names, found.inputs, strict=True)},
            "entropies": dict(zip(names, entropies(source, [()] * len(names)), strict=True)),
            "conditional_entropies": dict(zip(names, entropies(source, found.inputs), strict=True)),
            "missing": self.missing,
            "parameters": network.n_parameters,
            "score": NODE_AVERAGE if own else self.options["score"],
            "score_value": float(found.scores.sum()),
            "local_scores": found.n_scores,
            "candidates": found.n_candidates,
            "steps": found.steps,
            "held_out_complete_rows": complete.total,
            "held_out_pseudo_log_likelihood_per_row": likelihood.per_row,
            "impossible_rows": likelihood.impossible,
        }

    def held_out_words(self, facts: Facts, how: str = "") -> str:
        complete = facts["held_out_complete_rows"]
        if facts["held_out_rows"] and not complete:
            return "none, each held-out row has a missing cell"
        few = f", of the {several(complete, 'complete row')}" if complete < facts["held_out_rows"] else how
        return super().held_out_words(facts, few)

    def lines(self, facts: Facts) -> list[Line]:
        looked = f"{facts['steps']:,} steps, {facts['candidates']:,} candidates looked at"
        return [
            ("inputs", f"{sum(map(len, facts['inputs'].values())):,}"),
            _score_line(facts),
            ("search", f"{looked}, {facts['local_scores']:,} distinct local scores"),
        ]

    def text(self, facts: Facts) -> Iterator[str]:
        yield "entropies in nats on the rows to learn from: of each variable X, and given its inputs"
        table = [("variable", "H(X)", "H(X|inputs)", "inputs")]
        for name, inputs in facts["inputs"].items():
            alone, given = facts["entropies"][name], facts["conditional_entropies"][name]
            table.append((shown(name), number(alone), number(given), ", ".join(map(shown, inputs))))
        yield from aligned(table)
        yield ""
        yield from super().text(facts)


def entropies(source: Source, inputs: Sequence[Sequence[int]]) -> list[float]:
    """Return the empirical entropy of every variable given its inputs, in nats; not below 0 by rounding.

    Where cells are missing it is that of the rows in which the variable and its inputs are known.
    """
    logs = local_scores(source, Families.from_pairs(enumerate(inputs)), named_score("loglik"))
    totals = [float(source.total)] * len(inputs)
    if source.by_set:
        statistics = source.statistics([tuple(sorted((*of, v))) for v, of in enumerate(inputs)])
        totals = [max(1.0, float(statistic.total)) for statistic in statistics]
    return [max(0.0, -float(log) / total) for log, total in zip(logs, totals, strict=True)]


class _Gaussian(Learner):
    """The edges of a Gaussian Markov network."""

    called = "a Gaussian Markov network (--model gaussian)"
    takes = frozenset({"rule", "prior", "holdout"})
    kept = "edges"
    from_counts = False
    numbers = "--model gaussian"

    def __init__(self, seed: int, **options: Any) -> None:  # noqa: ARG002 - nothing is drawn
        self.options: dict[str, Any] = {"rule": "hc", "prior": True, **options}

    def find(self, table: Table, progress: Progress) -> None:
        self.graph = library.gaussian_graph(table, progress=progress, **self.options)

    def fit(self, table: Table) -> Any:
        return library.gaussian_network(table, self.graph)

    def facts(self, network: Any, training: Table, held_out: Table) -> dict[str, Any]:  # noqa: ARG002
        edges, correlations = self.graph.edges, network.partial_correlations
        where = {name: position for position, name in enumerate(self.graph.names)}
        return {
            "edges": edges,
            "partial_correlations": [float(correlations[where[a], where[b]]) for a, b in edges],
            **self.options,
            "parameters": network.n_parameters,
            **_predicted(network, held_out),
        }

    def lines(self, facts: Facts) -> list[Line]:
        correlations = [f"partial correlation {number(r)}" for r in facts["partial_correlations"]]
        return edge_lines("edges", "-", facts["edges"], correlations)


class _Markov(Learner):
    """The Markov blanket of every variable by tests, and the graph that they make."""

    called = "a graph found by tests (--model markov)"
    takes = frozenset({"test", "alpha", "rule", "search", "k", "permutations", "scheme", "max_rows", "max_seconds"})
    from_counts = False
    holdout = 0.0  # the graph gives nothing that could predict rows
    kept = "edges"

    def __init__(self, seed: int, test: str = "knn-mi", rule: str = "and", **options: Any) -> None:
        test = word(test, "test", TESTS)
        self.rule: Rule = word(rule, "rule", BLANKET_RULES)
        for name in ("k", "permutations", "scheme"):
            if test != "knn-mi" and name in options:
                raise FishernetError(f"--{name} is for --test knn-mi; it does not go with --test {test}")
        self.numbers = f"--test {test}" if test in CONTINUOUS else ""
        self.options: dict[str, Any] = {"test": test, "alpha": 0.05, "search": "iamb", "seed": seed, **options}

    def find(self, table: Table, progress: Progress) -> None:
        self.found = library.markov_blankets(table, progress=progress, **self.options)
        self.graph = self.found.graph(self.rule)

    def fit(self, table: Table) -> Any:  # noqa: ARG002 - it has no parameters
        return self.graph

    def facts(self, network: Any, training: Table, held_out: Table) -> dict[str, Any]:  # noqa: ARG002
        asked = {name: self.options[name] for name in ("test", "alpha", "search")}
        if self.found.unfinished:
            asked["unfinished"] = list(self.found.unfinished)  # the note says what that means
        return {"edges": network.edges, **asked, "rule": self.rule, "tests": self.found.n_tests}

    def text(self, facts: Facts) -> Iterator[str]:
        asked = f"{facts['test']}, alpha {facts['alpha']:g}, rule {facts['rule']}"
        yield from summary_last(
            [
                ("rows", f"{facts['rows']:,}"),
                *column_lines(facts),
                *edge_lines("edges", "-", facts["edges"]),
                ("tests", f"{facts['tests']:,} ({asked})"),
                *self.last_lines(facts),
            ]
        )


LEARNERS: dict[str, type[Learner]] = {
    "bn": _Bayesian,
    "dn": _Dependency,
    "naive-bayes": _NaiveBayes,
    "tan": _Tan,
    "kdb": _Kdb,
    "chow-liu": _Tree,
    "gaussian": _Gaussian,
    "markov": _Markov,
    FRACTIONAL: _BayesianOfNumbers,
}


def learner_of(kind: str, given: dict[str, Any], seed: int) -> Learner:
    """Return the learner of a kind with the options that were given; raise FishernetError when it takes one not."""
    given = given | {name: spelled(given[name]) for name in ("score", "search") if name in given}
    fractional = given.get("score") == FRACTIONAL
    if fractional and kind != "bn":
        numbers = f"{_Bayesian.called} of numbers"
        raise FishernetError(f"--score {FRACTIONAL} is for {numbers}; it does not go with {LEARNERS[kind].called}")
    make: Any = LEARNERS[FRACTIONAL if fractional else kind]
    for name, value in given.items():
        if name not in make.takes:
            other = next(learner for learner in LEARNERS.values() if name in learner.takes)
            said = {"prior": "--no-prior", "missing": f"--missing {value}"} if value is not True else {}
            word = said.get(name, option_of(name))
            raise FishernetError(f"{word} is for {other.called}; it does not go with {make.called}")
    learner: Learner = make(seed, **{name: value for name, value in given.items() if name != "holdout"})
    return learner
