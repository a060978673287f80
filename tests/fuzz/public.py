"""Calls of everything public: what is asked for by the names of the parameters, and then something else instead."""

from __future__ import annotations

import functools
import importlib
import inspect
import pkgutil
import random
import tempfile
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

import fishernet as fn
from fishernet.files import read_newick
from tests.fuzz import hostile
from tests.fuzz.case import Case

# What the library calls itself: what they are given was checked where it came in. Results are filled by it alone.
SEAMS = {
    *("Conditional", "Grouped", "Score", "PenalizedLikelihood", "Kernel", "LogKernel", "FeatureKernel", "Source"),
    *("Scorer", "Search", "IndependenceTest", "Families", "LocalScores", "Statistic", "Rules", "ExpectedCounts"),
    *("Graph", "Links", "Model", "LikelihoodModel", "HmmCounts"),
    *("StationaryDivergence", "CrossValidation", "Likelihood", "PredictionQuality", "ContingencyResult"),
    *("PermutationResult", "TestResult", "Diagnosis", "Estimate", "MarkovBlankets", "EdgeStrengths", "EmResult"),
    *("InputSearchResult", "SearchResult", "Step"),
    *("Clusters", "HiddenChowLiu"),
    *("BestGraphs", "Effect", "PcResult", "Beside", "Changes", "FalsifyResult", "MonitorResult"),
    *("Fitted", "Influence", "GroupInfluence", "RowSet", "Without", "Mislabelled", "BlockValue"),
    *(
        "TwoSampleResult",
        "ScoreTestResult",
        "ChangeResult",
        "VariableChange",
        "NumberChange",
        "ConfigurationChange",
        "Share",
        "Term",
    ),
    *("MissingnessResult", "ColumnMissingness", "MissingnessTest"),
    *(
        "Selection",
        "Report",
        "DistanceByK",
        "Similar",
        "Nearest",
        "Distribution",
        "NormalDistribution",
        "local_scores",
        "named_score",
    ),
}
INNER = {
    *("adopt", "of_columns", "in_core", "run", "family_scores", "statistics", "source", "terms", "rule", "joint"),
    *("price", "most_parents", "for_core", "factor_tables", "rows", "probabilities_given_rest", "intervened", "fit"),
    *("any_missing", "as_codes", "missing", "labels", "check", "require_complete", "log_prob_terms", "counts_of_codes"),
    *(
        "missing_column",
        "log_densities",
        "expected",
        "with_emissions",
        "read",
        "log_unit",
        "rounded_from",
        "log_density",
    ),
    *("association", "contexts", "core_form", "describe_group", "draw", "factor", "from_fields", "groups", "group_map"),
    *("information", "refuse_zeros", "score_entries", "scores", "sum_by_group", "zero_probability", "add_to_sampler"),
    *("as_regression", "log_probabilities", "to_fields", "count", "index", "nodes", "native_for", "passes", "numbers"),
    "predict_interval",
}
"""Methods of public classes that only the library calls, that others wrote, or that are for numbers."""

NET = fn.datasets.load("asia")
TABLE = NET.sample(60, seed=1)
DAG = NET.dag
GRAPH = fn.UndirectedGraph.from_edges(["a", "b", "c"], [("a", "b"), ("b", "c")])
NUMBERS = np.random.default_rng(0).normal(size=(40, 3))
DN = fn.DependencyNetwork.from_joint(fn.learn.bayesian_network(TABLE.select(["asia", "tub", "smoke"])))
SMALL = TABLE.select(["asia", "tub", "smoke"])
CHOSEN = fn.select.mmd_critic(fn.kernels.FisherKernel(NET), TABLE, 3)
CLUSTERS = fn.learn.clusters(SMALL, 2, restarts=1, seed=1)
DRIFT = fn.compare.two_sample_test(TABLE[:30], TABLE[30:], fn.kernels.FisherKernel(NET), permutations=19, seed=1)
CHANGED = fn.compare.explain_change(NET, fn.infer.intervene(NET, {"smoke": "yes"}))
with warnings.catch_warnings():
    warnings.simplefilter("ignore", fn.FishernetWarning)
    CHAINS = fn.infer.diagnose(DN, n=40, seed=1)
STRINGS = ["abba", "ab", "b", "aab"]
HALF = [[0.5, 0.5], [0.25, 0.75]]
HMM = fn.HiddenMarkovModel([0.5, 0.5], HALF, HALF, alphabet="ab")
CHAIN = fn.MarkovChain("ab", 1, HALF)
EMISSION = fn.models.GaussianEmission([0.0, 3.0], [1.0, 0.5])
NUMERIC = fn.NumericHiddenMarkovModel([0.5, 0.5], HALF, EMISSION)
TREE = fn.HiddenTree([[0, 1], 2], [0.4, 0.6], HALF, HALF, alphabet="ab")
GAUSSIAN = fn.Gaussian(0.5, 2.0)
MIXTURE = fn.GaussianMixture([0.5, 0.5], [0.0, 1.0], 1.0)
GMN = fn.GaussianMarkovNetwork(["a", "b", "c"], [0, 0, 0], np.eye(3))
KERNEL = fn.kernels.FisherKernel(NET)
NEWICK = "((a:0.1,b:0.2):0.3,c:0.1);"
ROW = [fn.Variable("x", ["no", "yes"]), fn.Variable("y", [1, 2])]
MARKOV = fn.MarkovNetwork(ROW, [(["x", "y"], HALF)])
ONE = fn.models.FullTable(0, (), ROW[:1], [[0.5, 0.5]])
TWO = fn.models.FullTable(1, (0,), ROW, [[0.5, 0.5], [0.1, 0.9]])


@functools.cache
def named_tree() -> Any:
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "tree.nwk").write_text(NEWICK)
        return read_newick(Path(folder, "tree.nwk"))


def _named(**values: Any) -> dict[str, Any]:
    return values


USUAL: dict[str, Any] = {
    **dict.fromkeys(("table", "data", "frame"), TABLE),
    **dict.fromkeys(("X", "x", "y", "z", "Y", "source"), NUMBERS),
    **dict.fromkeys(("strings", "sequences"), STRINGS),
    **dict.fromkeys(("net", "model", "network", "p"), NET),
    **dict.fromkeys(("dn", "q"), DN),
    **dict.fromkeys(("a", "b", "graph", "dag", "other"), DAG),
    **_named(names=["asia", "smoke"], name="asia", target="lung", child="lung", parents=["smoke"], variable="asia"),
    **_named(variables=ROW, states={"smoke": "yes"}, edges=[("x", "y")], weights=None, column="asia", state="yes"),
    **_named(n=5, k=3, r=2, seed=1, order=1, mean=0.0, sd=1.0, fraction=0.5, holdout=0.5, row=0, length=4, bins=2),
    **_named(tree=[[0, 1], 2], root=[0.4, 0.6], transition=HALF, emission=HALF, initial=[0.5, 0.5], alphabet="ab"),
    **_named(
        codes=TABLE.codes[0][:, None], kernel=KERNEL, indices=[0, 3], conditionals=[ONE, TWO], n_states=2, hmm=HMM
    ),
    **_named(symbols="ab", rows=["AC-", "ACD"], prior=[0.5, 0.5], joint=[[0.3, 0.2], [0.2, 0.3]], probabilities=HALF),
    **_named(values=[0.5, 1.5], bandwidth=1.0, tables={"x": HALF[0], "y": HALF}, inputs={"y": ["x"]}, chosen=[0, 1]),
    **_named(models=[GAUSSIAN, MIXTURE], sds=[1.0] * 8, intercepts=[0.0] * 8, blanket=[1], sets=[(0,), (0, 1)]),
    **_named(
        given={"smoke": "yes"},
        score="bic",
        purpose="a test",
        test="g-squared",
        path="/no such folder/file",
        unknown="skip",
    ),
    **_named(before=TABLE[:30], after=TABLE[30:], why={"smoke": "told"}),
}
COEFFICIENTS = [[1.0] * len(parents) for parents in DAG.parents]
OWN: dict[str, dict[str, Any]] = {
    **{key: {"n_states": 2, "restarts": 1} for key in ("baum_welch",)},
    **{key: {"length": 3} for key in ("HiddenMarkovModel.fisher_information", "MarkovChain.fisher_information")},
    **{key: {"length": 3} for key in ("HiddenMarkovModel.sample", "MarkovChain.sample")},
    **{f"NumericHiddenMarkovModel.{key}": {"length": 3} for key in ("sample", "sample_with_states")},
    **{key: {"X": TABLE, "test": "g-squared"} for key in ("markov_blankets", "markov_graph")},
    "BayesianNetwork.from_tables": {"parents": {"y": ["x"]}},
    "BayesianNetwork.from_regressions": {"coefficients": COEFFICIENTS},
    "Cpdag": {"names": ["a", "b"], "directed": [], "undirected": [("a", "b")]},
    "Dag": {"names": ["a", "b"], "parents": [[], [0]]},
    "Dag.from_edges": {"names": ["x", "y"]},
    "Dag.from_networkx": {"graph": fn.graphs.to_networkx(DAG)},
    "Dag.is_d_separated": {"a": ["asia"], "b": ["smoke"]},
    "Dag.adjustment_sets": {"x": "smoke", "y": "dysp"},
    "Dag.front_door_sets": {"x": "smoke", "y": "dysp"},
    "Dag.instruments": {"x": "smoke", "y": "dysp"},
    "Dag.is_valid_adjustment": {"x": "smoke", "y": "dysp"},
    "best_graphs": {"table": SMALL},
    "edge_probabilities": {"table": SMALL, "max_sweeps": 3},
    "coreset": {"k": 3},
    "effect": {"x": "smoke", "y": "dysp", "n": 2},
    "pc": {"data": TABLE},
    "GaussianMarkovNetwork": {"names": ["a", "b"], "mean": [0.0, 0.0], "precision": [[1.0, 0.0], [0.0, 2.0]]},
    "GaussianMarkovNetwork.conditional_covariance": {"names": ["a"], "given": ["b"]},
    "GaussianMarkovNetwork.predict": {"names": ["a"]},
    "GaussianMixture": {"weights": [0.5, 0.5], "means": [0.0, 1.0]},
    "HiddenMarkovModel.from_hmmlearn": {"model": None},
    "NumericHiddenMarkovModel": {"emission": EMISSION},
    "NumericHiddenMarkovModel.from_hmmlearn": {"model": None},
    "GaussianEmission": {"intercept": [0.0, 1.0], "sd": [1.0, 2.0]},
    "GaussianEmission.from_covariance": {"mean": [[0.0]], "covariance": [[[1.0]]]},
    "PoissonEmission": {"rate": [1.0, 2.0]},
    "LabelEmission": {"labels": ["u", "v"]},
    "MarkovNetwork": {"factors": [(["x", "y"], HALF)]},
    "Table": {"columns": [np.array([0, 1], np.uint8), np.array([1, 0], np.uint8)]},
    "Table.select": {"names": ["asia"]},
    "Table.conform": {"variables": TABLE.variables},
    "Table.discretize": {"bins": 2},
    "Table.from_codes": {"variables": None},
    "UndirectedGraph": {"names": ["a", "b"], "adjacency": [[1], [0]]},
    "UndirectedGraph.from_edges": {"names": ["x", "y"]},
    "UndirectedGraph.from_networkx": {"graph": fn.graphs.to_networkx(GRAPH)},
    "UndirectedGraph.is_separated": {"a": ["a"], "b": ["c"], "given": ["b"]},
    "UndirectedGraph.neighbors": {"name": "a"},
    "Variable": {"states": ["no", "yes"]},
    "as_table": {"variables": TABLE.variables},
    "hamming": {"a": GRAPH, "b": GRAPH},
    "log_partition": {"network": MARKOV},
    "full_conditional_divergence": {"p": fn.learn.bayesian_network(SMALL), "q": DN},
    "NamedTree.branch_lengths": {"columns": ["a", "b", "c"]},
    "NamedTree.shape": {"columns": ["a", "b", "c"]},
    "Alphabet.meaning": {"code": 0},
    "Alphabet.with_ambiguous": {"letters": {"n": "ab"}},
    "Table.__getitem__": {"rows": [0, 1]},
    "Blocks": {"tables": [TABLE[:20], TABLE[20:]]},
    "Scatter.of": {"source": fn.Table.from_frame({"a": NUMBERS[:, 0]})},
    "Scatter": {"n": 5, "mean": [0.0, 0.0], "S": [[1.0, 0.0], [0.0, 1.0]]},
    "datasets.load": {"name": "asia"},
    "NamedStrings": {"names": ["x"], "strings": ["ab"], "descriptions": ["one"]},
    "is_chordal": {"graph": GRAPH},
    "entropy": {"x": NUMBERS[:, 0]},
    "fmpl": {"child": 0, "blanket": [1]},
    "g_wishart": {"graph": GRAPH, "n": 2},
    "gaussian_network": {"graph": fn.UndirectedGraph.from_edges(["x0", "x1", "x2"], [])},
    "HiddenTreeKernel": {"tree": TREE},
    "PrunedTreeKernel": {"tree": TREE},
    "HiddenBinomialKernel": {"prior": [0.5, 0.5], "emission": HALF},
    "CountKernel": {"model": HMM},
    "mmd": {"X": TABLE, "Y": TABLE},
    "set_kernel": {"X": TABLE, "Y": TABLE},
    "hidden_tree": {"strings": ["aba", "bba"], "n_states": 2, "restarts": 1},
    "hidden_tree_fit": {"strings": ["aba", "bba"], "n_states": 2, "restarts": 1},
    "hidden_markov_model": {"n_states": 2, "restarts": 1},
    "Alphabet.decode": {"codes": [0, 1]},
    "Alphabet.string": {"codes": [0, 1]},
    **{f"{type(m).__name__}.with_probability_tables": {"tables": m.probability_tables} for m in (HMM, CHAIN, TREE)},
    **{f"{type(m).__name__}.total_counts": {"encoded": m.encode([m.alphabet.symbols])} for m in (HMM, CHAIN)},
    "HiddenTree.total_counts": {"codes": TREE.encode(TREE.sample(2, seed=1))},
    "Table.places": {"names": TABLE.names[:2]},
    "FullTable": {"child": 1, "parents": (0,), "variables": ROW},
    "MergedTable": {"child": 1, "parents": (0,), "variables": ROW, "group_of": [0, 1]},
    "TreeConditional": {"child": 1, "parents": (), "variables": ROW[1:], "tree": 0, "probabilities": [[0.5, 0.5]]},
    "ProductConditional": {"child": 1, "parents": (0,), "variables": ROW, "factors": [((1, 0), HALF)]},
    "ConditionalGaussian": {
        "child": 0,
        "parents": (),
        "variables": [fn.Continuous("x")],
        "intercept": 0.0,
        "coefficients": [],
    },
    "Split": {"variable": 0, "branches": [0, 1], "children": [0, 1]},
    "birth_death_tree": {"tree": named_tree()},
    "NamedTree": {"parents": [-1, 0, 0], "names": ["r", "a", "b"], "lengths": [0.0, 1.0, 1.0]},
    "NamedTree.restricted": {"names": ["a", "b"]},
    "profile_hmm": {"alignment": ["AC-", "ACD"]},
    "stationary_divergence": {"p": fn.learn.bayesian_network(SMALL)},
    "project_on_manifold": {"p": fn.learn.bayesian_network(SMALL)},
    "kl": {"p": NET, "q": NET},
    "kl_to_manifold": {"p": fn.learn.bayesian_network(SMALL)},
    "diagnose": {"n": 200},
    "estimate": {"names": ["asia"], "n": 400, "given": {"smoke": "no"}},
    "distance_by_k": {"ks": [1, 3], "n_random": 2},
    "plot.distance_by_k": {"ax": Figure().add_subplot()},
    "plot.selection": {"chosen": CHOSEN, "ax": Figure().add_subplot()},
    "plot.clusters": {"found": CLUSTERS, "ax": Figure().add_subplot()},
    "calibration": {"truth": ["a", "b"], "probabilities": HALF, "ax": Figure().add_subplot()},
    "roc": {"truth": ["a", "b"], "probabilities": HALF, "ax": Figure().add_subplot()},
    "chains": {"found": CHAINS, "ax": Figure().add_subplot()},
    "plot.change": {"found": CHANGED, "ax": Figure().add_subplot()},
    "write_change": {"found": CHANGED},
    "conditional": {"ax": Figure().add_subplot()},
    "difference": {"ax": Figure().add_subplot()},
    "drift": {"found": DRIFT, "ax": Figure().add_subplot()},
    "em": {"found": fn.learn.baum_welch(["ab", "ba"], n_states=2, restarts=1, seed=1), "ax": Figure().add_subplot()},
    "gram": {"data": TABLE[:20], "ax": Figure().add_subplot()},
    "graph": {"ax": Figure().add_subplot()},
    "log_probability": {"ax": Figure().add_subplot()},
    "marginals": {"ax": Figure().add_subplot()},
    "rows": {"data": TABLE[:20], "ax": Figure().add_subplot()},
    "search": {"ax": Figure().add_subplot()},
    "theme": {"name": "dark"},
    "write": {"picture": Figure()},
    "clusters": {"table": SMALL, "n_clusters": 2, "restarts": 2},
    "cross_validate": {"table": SMALL, "search": "hill-climb", "folds": 2},
    "edge_strengths": {"table": SMALL, "n": 2},
    "edges_by_chance": {"table": SMALL, "n": 2},
    "knn_test": {"x": NUMBERS[:, 0], "y": NUMBERS[:, 1], "permutations": 5},
    "fisher_z_test": {"x": NUMBERS[:, 0], "y": NUMBERS[:, 1]},
    "regret": {"n": 5, "r": 3},
    "set_threads": {"n": 1},
    "Rbf": {"kernel": KERNEL},
    "influence": {"why": fn.explain.rows(NET, TABLE, query=NET.names[0], n_rows=100)},
    "arc": {"graph": NET, "table": TABLE, "parent": NET.edges[0][0], "child": NET.edges[0][1]},
    "change": {"before": TABLE[:30], "after": TABLE[30:], "variable": NET.edges[0][1], "graph": NET},
    "falsify": {"graph": NET, "table": TABLE, "permutations": 19},
    "explain_changes": {"tables": [TABLE[:30], TABLE[30:]], "net": NET, "permutations": 19, "resamples": 2},
    "Monitor": {"reference": TABLE, "net": NET, "permutations": 19, "resamples": 2},
    "MissingChange": {"variable": "asia", "before": 0.1, "after": 0.2, "p_corrected": 0.01},
    "Dependence": {"first": "a", "second": "b", "given": (), "nats": 0.1, "p_value": 0.5, "p_corrected": 1.0},
}


def _itself(made: Any) -> Any:
    return made


INSTANCES: dict[str, Callable[[], Any]] = {
    **{type(made).__name__: partial(_itself, made) for made in (NET, TABLE, DAG, GRAPH, DN, HMM, CHAIN, TREE)},
    **{type(made).__name__: partial(_itself, made) for made in (GAUSSIAN, MIXTURE, GMN, MARKOV, KERNEL, NUMERIC)},
    "Alphabet": lambda: fn.models.Alphabet("ab"),
    "Continuous": lambda: fn.Continuous("x"),
    "Cpdag": lambda: fn.graphs.cpdag(DAG),
    "CountKernel": lambda: fn.kernels.CountKernel(HMM),
    "HiddenBinomialKernel": lambda: fn.kernels.HiddenBinomialKernel([0.5, 0.5], HALF),
    "HiddenTreeKernel": lambda: fn.kernels.HiddenTreeKernel(TREE),
    "HmmKernel": lambda: fn.kernels.HmmKernel(HMM),
    "JunctionTree": lambda: fn.infer.JunctionTree(NET),
    "MarginalizationKernel": lambda: fn.kernels.MarginalizationKernel([GAUSSIAN, MIXTURE], [0.5, 0.5]),
    "NamedTree": named_tree,
    "Normalized": lambda: fn.kernels.Normalized(KERNEL),
    "PrunedTreeKernel": lambda: fn.kernels.PrunedTreeKernel(TREE),
    "Rbf": lambda: fn.kernels.Rbf(KERNEL, 1.0),
    "Scatter": lambda: fn.data.Scatter.from_data(NUMBERS),
    "SpectrumKernel": lambda: fn.kernels.SpectrumKernel(2),
    "Variable": lambda: fn.Variable("asia", ["no", "yes"]),
}
ROWS: dict[str, Any] = {
    **{key: ["abba", "bbab"] for key in ("HmmKernel", "CountKernel", "SpectrumKernel")},
    **{key: ["aba", "bbb"] for key in ("HiddenTreeKernel", "PrunedTreeKernel", "HiddenTree")},
    **dict.fromkeys(("Gaussian", "GaussianMixture", "MarginalizationKernel"), NUMBERS[:, 0]),
    **dict.fromkeys(("FisherKernel", "Normalized", "Rbf"), TABLE),
    "HiddenBinomialKernel": [[0, 1], [1, 1]],
    "NumericHiddenMarkovModel": [[0.5, 2.0], [None]],
    "DependencyNetwork": SMALL,
    "MarkovNetwork": {"x": ["no", "yes"], "y": [2, 1]},
}
"""What the methods of a class are given for its rows, strings or observations."""
MISSING = object()
TWICE = {"fishernet.datasets.load": "datasets.load", "fishernet.plot.clusters": "plot.clusters"}
TWICE |= {f"fishernet.plot.{name}": f"plot.{name}" for name in ("change", "distance_by_k", "selection")}
"""Names that another part has as well."""


def packages() -> list[Any]:
    found = [
        importlib.import_module(f"fishernet.{info.name}") for info in pkgutil.iter_modules(fn.__path__) if info.ispkg
    ]
    return [fn, *(module for module in found if module.__name__.rpartition(".")[2] not in ("base", "cli", "sklearn"))]


@functools.cache
def targets() -> dict[str, tuple[str | None, Callable[..., Any]]]:
    """Return by name what is called: a function, a class, or a method with the class that has it."""
    found: dict[str, tuple[str | None, Callable[..., Any]]] = {}
    for module in packages():
        for name in module.__all__:
            made = getattr(module, name)
            if name in SEAMS or not getattr(made, "__module__", "").startswith("fishernet"):
                continue
            called = TWICE.get(f"{module.__name__}.{name}", name)
            if inspect.isfunction(made):
                found[called] = (None, made)
            elif inspect.isclass(made) and not issubclass(made, Exception):
                found[called] = (None, made)
                found |= _methods(name, made)
    return dict(sorted(found.items()))


def _methods(name: str, made: type) -> dict[str, tuple[str | None, Callable[..., Any]]]:
    found: dict[str, tuple[str | None, Callable[..., Any]]] = {}
    for method, of in inspect.getmembers(made):
        if (
            (method.startswith("_") and method not in ("__getitem__", "__call__"))
            or method in INNER
            or not callable(of)
        ):
            continue
        if isinstance(inspect.getattr_static(made, method), classmethod | staticmethod):
            found[f"{name}.{method}"] = (None, of)
        elif name in INSTANCES:
            found[f"{name}.{method}"] = (name, of)
    return found


def parameters(name: str) -> dict[str, Any]:
    """Return what is given by parameter: a valid value, or `MISSING` where it may be left out."""
    owner, of = targets()[name]
    given: dict[str, Any] = {}
    for parameter in list(inspect.signature(of).parameters.values())[owner is not None :]:
        if parameter.kind in (parameter.VAR_KEYWORD, parameter.VAR_POSITIONAL):
            continue
        required = parameter.default is parameter.empty
        given[parameter.name] = USUAL.get(parameter.name, MISSING) if required else MISSING
        if parameter.name in ("X", "Y", "table", "x", "strings", "sequences") and owner in ROWS and required:
            given[parameter.name] = ROWS[owner]
    given |= OWN.get(name, {})
    return given


def called(name: str, given: dict[str, Any]) -> Any:
    """Call a target with what is given, by position where it has to be."""
    owner, of = targets()[name]
    own = [INSTANCES[owner]()] if owner else []
    positional = [p.name for p in inspect.signature(of).parameters.values() if p.kind is p.POSITIONAL_ONLY][len(own) :]
    named = {key: value for key, value in given.items() if value is not MISSING}
    return of(*own, *(named.pop(key) for key in positional if key in named), **named)


def case(seed: int) -> Case:
    """Return the case of a seed."""
    draws = random.Random(f"public {seed}")
    name = draws.choice(list(targets()))
    given = parameters(name)
    lacking = [key for key, value in given.items() if value is MISSING and key in _required(name)]
    for key in lacking:
        given[key] = hostile.value(draws)
    changed = draws.sample(list(given), min(len(given), 1 + (draws.random() < 0.2)))
    for key in changed:
        valid = given[key]
        keep = valid is not MISSING and draws.random() < 0.5
        made = hostile.damaged(valid, draws) if keep else hostile.value(draws)
        given[key] = _within_reach(key, made)
    what = ", ".join(f"{key}={hostile.shown(given[key])}" for key in (*changed, *lacking))
    allowed = (TypeError, AttributeError, *([IndexError] if name == "Table.__getitem__" else []))  # of a list
    return Case(f"{name}({what})", lambda: called(name, given), allowed)


LONG = {"n", "restarts", "max_steps", "permutations", "n_starts", "chains", "thin", "burn_in", "sweeps", "folds"}


def _within_reach(key: str, made: Any) -> Any:
    """Return a hostile value, but none that only asks for long work, or for a file to be written."""
    if key == "path" and isinstance(made, str | bytes | int):
        return "/no such folder/file"
    if key == "progress" and callable(made):  # what a caller's function raises is the caller's
        return None
    return -int(made) if key in LONG and isinstance(made, int | np.integer) and made > 1000 else made


def _required(name: str) -> set[str]:
    signature = inspect.signature(targets()[name][1])
    return {p.name for p in signature.parameters.values() if p.default is p.empty}
