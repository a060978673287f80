"""Kinds of networks: what finds each in some rows, fits it to any, and says what was found.

To add a kind, write a `Learner` and name it in `LEARNERS`: `fishernet.learn.fit` and ``fishernet learn`` know it then.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar, cast

from fishernet.base.errors import FishernetError, ZeroProbabilityError
from fishernet.base.progress import Progress
from fishernet.base.vocabulary import IncompleteName, Rule, spelled, word
from fishernet.data import Source, Table, categorical_source
from fishernet.graphs import Dag
from fishernet.learn.blankets import CONTINUOUS, DISCRETE, markov_blankets
from fishernet.learn.blankets import RULES as BLANKET_RULES
from fishernet.learn.classifiers import chow_liu, kdb, naive_bayes, tan, with_label
from fishernet.learn.conditional_fits import fit_conditionals
from fishernet.learn.cross_validation import Likelihood, PredictionQuality
from fishernet.learn.fitting import KINDS, check_smoothing, gaussian_network, may_begin, parameters
from fishernet.learn.hidden_columns import ESS, hidden_chow_liu
from fishernet.learn.local_learning import counted, known_cells, local_structure
from fishernet.learn.missing.incomplete import em_fit
from fishernet.learn.pseudo_likelihood import gaussian_graph
from fishernet.learn.resampling import edges_by_chance
from fishernet.learn.structures import structure, usual_name
from fishernet.models import BayesianNetwork, DependencyNetwork
from fishernet.scores import Families, local_scores, named_score

TESTS = (*CONTINUOUS, *DISCRETE)
FRACTIONAL = "fractional"  # the score of numbers, with which "bn" is another kind of network
NODE_AVERAGE = "node-average"  # a way to learn from missing cells with a score of its own
RULES = frozenset({"required", "forbidden", "tiers"})
TUNING = frozenset({"candidates", "restarts", "perturb", "tenure", "patience", "max_cells", "max_memory"})
SEARCHED = RULES | TUNING | {"search", "score", "max_parents", "max_seconds", "checkpoint", "holdout"}
FITTED = frozenset({"smoothing", "ess", "conditionals", "holdout"})


class OptionOfOthersError(FishernetError):
    """An option was given to a kind of network that does not take it.

    Attributes
    ----------
    option, value
        The option, and what was given.
    other, own : type of Learner
        A kind that takes it, and the one that was asked for.
    """

    def __init__(self, option: str, value: Any, other: type[Learner], own: type[Learner]) -> None:
        super().__init__(f"{option} is for {other.named()}; it does not go with {own.named()}", parameter=option)
        self.option: str = option
        self.value: Any = value
        self.other: type[Learner] = other
        self.own: type[Learner] = own


class Learner(ABC):
    """Learns one kind of network: finds the structure in some rows, and fits the network to any.

    It is made with a seed and those of the options that it takes that were given.
    """

    called: ClassVar[str]
    """The network in words."""
    asked_by: ClassVar[tuple[str, str]]
    """The option that asks for it, and its value."""
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
    of_numbers: bool = False
    """Whether it takes columns of numbers alone; otherwise numbers are cut."""
    mixes: bool = False
    """Whether it takes numbers that stand beside states as they are."""

    @classmethod
    def named(cls) -> str:
        """Return the network in words, and what asks for it."""
        option, value = cls.asked_by
        return f"{cls.called} ({option}={value!r})"

    @property
    def numbers_asked_by(self) -> tuple[str, str]:
        """The option because of which it takes numbers, and its value."""
        return self.asked_by

    def defaults(self, rows: Table, given: Mapping[str, Any], way: str | None) -> dict[str, Any]:  # noqa: ARG002
        """Return what it is to be told of a table beside what was given: what is done about missing cells."""
        return {"missing": way} if way is not None and "missing" in self.takes else {}

    def labelled(self, table: Table) -> Table:
        """Return a table in which what has to have labels has some."""
        return table

    @abstractmethod
    def find(self, table: Table, progress: Progress) -> None:
        """Search for the structure."""

    @abstractmethod
    def fit(self, table: Table) -> Any:
        """Return the network of this structure, fitted to some rows."""

    def by_chance(self, table: Table, n: int) -> float | None:  # noqa: ARG002
        """Return the mean number of arcs in n tables whose columns are shuffled; None where it is not known."""
        return None

    @abstractmethod
    def facts(self, network: Any, training: Table, held_out: Table) -> dict[str, Any]:
        """Return what was found, and how well it predicts the rows held out."""


def _predicted(network: Any, held_out: Table) -> dict[str, Any]:
    likelihood = Likelihood.of(network, held_out)
    impossible = {} if network.values == "numbers" else {"impossible_rows": likelihood.impossible}  # a density is not 0
    return {
        "held_out_log_likelihood_per_row": likelihood.per_row,
        "held_out_log_likelihood_per_row_of_others": likelihood.per_row_of_others,
        **impossible,
    }


class Tree(Learner):
    """A tree over all variables, found in one step; the first of those with arcs."""

    called, asked_by = "a tree", ("model", "chow-liu")
    takes = FITTED | {"missing"}
    endings: ClassVar[Sequence[str]] = (
        *(".json", ".bif", ".xdsl", ".net", ".dsc", ".xmlbif", ".bifxml", ".xml", ".uai", ".dot", ".graphml"),
    )
    mixes = True
    search: Callable[..., Dag] = staticmethod(chow_liu)

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
                shared = f"conditionals={kind!r} needs complete rows; it does not go with missing={missing!r}"
                raise FishernetError(shared, parameter="missing")
        self.fitting, self.missing = fitting, missing
        self.dag: Dag
        self.last: BayesianNetwork | None = None

    def find(self, table: Table, progress: Progress) -> None:  # noqa: ARG002 - it is over before a bar could be drawn
        """Search for the structure."""
        self.dag = self.search(table, missing=self.missing)

    def fit(self, table: Table) -> Any:
        """Return the network of this structure, fitted to some rows: by EM, from where the last fit ended."""
        begins = "conditionals" not in self.fitting and may_begin(self.last, self.dag, table)
        going_on: dict[str, Any] = {"start": self.last} if begins else {}
        self.last = parameters(self.dag, table, **self.fitting, **going_on)
        return self.last

    def facts(self, network: Any, training: Table, held_out: Table) -> dict[str, Any]:  # noqa: ARG002
        """Return what was found, and how well it predicts the rows held out."""
        found = {"arcs": self.dag.edges, "missing": self.missing, "parameters": network.n_parameters}
        return {**found, **_predicted(network, held_out)}


class Classifier(Tree):
    """The arcs by which one variable is predicted from all others."""

    takes = Tree.takes | {"target"}
    arcs: ClassVar[Callable[..., Dag]]

    def __init__(self, seed: int, target: str | None = None, k: int | None = None, **fitting: Any) -> None:
        super().__init__(seed, **fitting)
        if target is None:
            raise FishernetError(f"{self.called} needs a target, the class to be predicted", parameter="target")
        self.target = target
        self.search = partial(type(self).arcs, target=target, **({} if k is None else {"k": k}))

    def facts(self, network: Any, training: Table, held_out: Table) -> dict[str, Any]:
        """Return what was found, and how well it predicts the rows held out."""
        quality = self.quality(network, held_out)
        return super().facts(network, training, held_out) | {
            "target": self.target,
            "held_out_accuracy": quality and quality.accuracy,
            "held_out_log_loss": quality and quality.log_loss,
        }

    def labelled(self, table: Table) -> Table:
        """Return a table in which the class has labels."""
        return cast(Table, with_label(table, self.target))

    def quality(self, network: Any, rows: Table) -> PredictionQuality | None:
        """Return how well the class is predicted; None without rows, or where one is impossible whatever its class."""
        try:
            return PredictionQuality.of(
                network.predict_proba(rows, self.target), rows.column(self.target), rows.weights
            )
        except ZeroProbabilityError:
            return None


class NaiveBayes(Classifier):
    """The class as the only parent of everything else."""

    called, asked_by, arcs = "a naive Bayes classifier", ("model", "naive-bayes"), naive_bayes


class Tan(Classifier):
    """A tree over the other variables below the class."""

    called, asked_by, arcs = "a tree-augmented classifier", ("model", "tan"), tan


class Kdb(Classifier):
    """Some more parents for each variable besides the class."""

    called, asked_by, arcs = "a k-dependence classifier", ("model", "kdb"), kdb
    takes = Classifier.takes | {"k"}


class Bayesian(Tree):
    """The arcs of a Bayesian network, by a search."""

    called, asked_by = "a Bayesian network", ("model", "bn")
    takes = SEARCHED | FITTED | {"missing"}

    def __init__(
        self, seed: int, score: str | None = None, missing: IncompleteName | None = None, **options: Any
    ) -> None:
        super().__init__(seed, missing, score or "bic", **{name: options.pop(name) for name in FITTED & set(options)})
        self.options: dict[str, Any] = {"score": score, "seed": seed, "missing": missing, **options}
        self.mixes = options.get("search") != "exact" and (score is None or named_score(score).mixes)

    def find(self, table: Table, progress: Progress) -> None:
        """Search for the structure."""
        self.found = structure(table, progress=progress, **self.options)
        self.dag = self.found.dag

    def facts(self, network: Any, training: Table, held_out: Table) -> dict[str, Any]:
        """Return what was found, and how well it predicts the rows held out."""
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

    def by_chance(self, table: Table, n: int) -> float:
        """Return the mean number of arcs in n such tables."""
        left_out = ("checkpoint", "max_seconds")
        return edges_by_chance(table, n, **{name: x for name, x in self.options.items() if name not in left_out})

    def defaults(self, rows: Table, given: Mapping[str, Any], way: str | None) -> dict[str, Any]:
        """Return that, and the score of numbers where there is nothing else."""
        numbers = "score" not in given and all(variable.is_continuous for variable in rows.variables)
        return super().defaults(rows, given, way) | ({"score": FRACTIONAL} if numbers else {})


class BayesianOfNumbers(Bayesian):
    """The same of linear-Gaussian variables."""

    called, asked_by = "a Bayesian network of numbers", ("score", FRACTIONAL)
    takes = SEARCHED - {"max_cells"}
    endings = (".json", ".dot", ".graphml")
    from_counts = False
    of_numbers = True


class Dependency(Learner):
    """The inputs of every variable; on one table this is `fishernet.learn.dependency_network`."""

    called, asked_by = "a dependency network", ("model", "dn")
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
        """Search for the structure."""
        self.score = named_score(self.options["score"])
        self.counts: tuple[Table, Source] = table, self.counted(table, progress)
        self.found = local_structure(self.counts[1], missing=self.missing, progress=progress, **self.options)

    def counted(self, table: Table, progress: Progress | None = None) -> Source:
        """Return what is learned from some rows."""
        return counted(categorical_source(table), self.missing, self.score, progress)

    def fit(self, table: Table) -> DependencyNetwork:
        """Return the network of this structure, fitted to some rows."""
        source = self.counts[1] if table is self.counts[0] else self.counted(table)
        known = known_cells(source)
        families = [(*inputs, child) for child, inputs in enumerate(self.found.inputs)]
        conditionals = fit_conditionals(known, families, smoothing=self.smoothing)
        return DependencyNetwork(source.variables, conditionals, n_rows=source.total, allow_zeros=self.smoothing == 0)

    def facts(self, network: DependencyNetwork, training: Table, held_out: Table) -> dict[str, Any]:
        """Return what was found, and how well it predicts the rows held out."""
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


class Gaussian(Learner):
    """The edges of a Gaussian Markov network."""

    called, asked_by = "a Gaussian Markov network", ("model", "gaussian")
    takes = frozenset({"rule", "prior", "holdout"})
    kept = "edges"
    from_counts = False
    of_numbers = True

    def __init__(self, seed: int, **options: Any) -> None:  # noqa: ARG002 - nothing is drawn
        self.options: dict[str, Any] = {"rule": "hc", "prior": True, **options}

    def find(self, table: Table, progress: Progress) -> None:
        """Search for the structure."""
        self.graph = gaussian_graph(table, progress=progress, **self.options)

    def fit(self, table: Table) -> Any:
        """Return the network of this structure, fitted to some rows."""
        return gaussian_network(table, self.graph)

    def facts(self, network: Any, training: Table, held_out: Table) -> dict[str, Any]:  # noqa: ARG002
        """Return what was found, and how well it predicts the rows held out."""
        edges, correlations = self.graph.edges, network.partial_correlations
        where = {name: position for position, name in enumerate(self.graph.names)}
        return {
            "edges": edges,
            "partial_correlations": [float(correlations[where[a], where[b]]) for a, b in edges],
            **self.options,
            "parameters": network.n_parameters,
            **_predicted(network, held_out),
        }


class Markov(Learner):
    """The Markov blanket of every variable by tests, and the graph that they make."""

    called, asked_by = "a graph found by tests", ("model", "markov")
    takes = frozenset({"test", "alpha", "rule", "search", "k", "permutations", "scheme", "max_rows", "max_seconds"})
    from_counts = False
    holdout = 0.0  # the graph gives nothing that could predict rows
    kept = "edges"

    def __init__(self, seed: int, test: str = "knn-mi", rule: str = "and", **options: Any) -> None:
        test = word(test, "test", TESTS)
        self.rule: Rule = word(rule, "rule", BLANKET_RULES)
        for name in ("k", "permutations", "scheme"):
            if test != "knn-mi" and name in options:
                message = f"{name} is for test='knn-mi'; it does not go with test={test!r}"
                raise FishernetError(message, parameter=name)
        self.of_numbers = test in CONTINUOUS
        self.options: dict[str, Any] = {"test": test, "alpha": 0.05, "search": "iamb", "seed": seed, **options}

    @property
    def numbers_asked_by(self) -> tuple[str, str]:
        """The test."""
        return "test", self.options["test"]

    def find(self, table: Table, progress: Progress) -> None:
        """Search for the structure."""
        self.found = markov_blankets(table, progress=progress, **self.options)
        self.graph = self.found.graph(self.rule)

    def fit(self, table: Table) -> Any:  # noqa: ARG002 - it has no parameters
        """Return the network of this structure, fitted to some rows."""
        return self.graph

    def facts(self, network: Any, training: Table, held_out: Table) -> dict[str, Any]:  # noqa: ARG002
        """Return what was found, and how well it predicts the rows held out."""
        asked = {name: self.options[name] for name in ("test", "alpha", "search")}
        if self.found.unfinished:
            asked["unfinished"] = list(self.found.unfinished)  # the note says what that means
        return {"edges": network.edges, **asked, "rule": self.rule, "tests": self.found.n_tests}


class TreeOfHidden(Learner):
    """A tree of hidden variables above the columns."""

    called, asked_by = "a hidden Chow-Liu tree", ("model", "hidden-chow-liu")
    takes = frozenset({"n_states", "ess", "max_seconds", "holdout"})
    endings = Tree.endings
    kept = "states"
    from_counts = False

    def __init__(self, seed: int, ess: float = ESS, **options: Any) -> None:
        self.ess = ess
        self.options: dict[str, Any] = {"seed": seed, "ess": ess, **options}

    def find(self, table: Table, progress: Progress) -> None:
        """Search for the structure."""
        self.rows, self.found = table, hidden_chow_liu(table, progress=progress, **self.options)

    def fit(self, table: Table) -> BayesianNetwork:
        """Return the network of this structure, fitted to some rows: others lead on from where the search ended."""
        start = self.found.model
        if table is self.rows:
            return start
        hidden = {variable.name: variable.cardinality for variable in start.variables if variable.hidden}
        seen = table.conform([variable for variable in start.variables if not variable.hidden])
        going_on: dict[str, Any] = {"start": start, "ess": self.ess, "max_steps": 2, "accelerate": False}
        return em_fit(start.dag, seen, hidden=hidden, **going_on).model

    def facts(self, network: Any, training: Table, held_out: Table) -> dict[str, Any]:  # noqa: ARG002
        """Return what was found, and how well it predicts the rows held out."""
        found = {"hidden_states": self.found.n_states, "held_out_by_states": dict(self.found.held_out)}
        found |= {"missing": None, "finished": self.found.finished, "parameters": network.n_parameters}
        return {"edges": self.found.edges, **found, **_predicted(network, held_out)}


LEARNERS: dict[str, type[Learner]] = {
    "bn": Bayesian,
    "dn": Dependency,
    "naive-bayes": NaiveBayes,
    "tan": Tan,
    "kdb": Kdb,
    "chow-liu": Tree,
    "hidden-chow-liu": TreeOfHidden,
    "gaussian": Gaussian,
    "markov": Markov,
    FRACTIONAL: BayesianOfNumbers,
}


def learner_of(kind: str, given: Mapping[str, Any], seed: int) -> Learner:
    """Return the learner of a kind with the options that were given; OptionOfOthersError when it takes one not."""
    given = {**given, **{name: spelled(given[name]) for name in ("score", "search") if name in given}}
    make: Any = LEARNERS[word(kind, "model", [name for name in LEARNERS if name != FRACTIONAL])]
    if given.get("score") == FRACTIONAL:
        if make is not Bayesian:
            raise OptionOfOthersError("score", FRACTIONAL, BayesianOfNumbers, make)
        make = BayesianOfNumbers
    for name, value in given.items():
        if name not in make.takes:
            other = next((learner for learner in LEARNERS.values() if name in learner.takes), None)
            if other is None:
                raise TypeError(f"fit() got an unexpected keyword argument {name!r}")
            raise OptionOfOthersError(name, value, other, make)
    learner: Learner = make(seed, **{name: value for name, value in given.items() if name != "holdout"})
    return learner
