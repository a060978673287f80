"""The names of choices and options: how they may be spelled, and what those of other libraries are called here.

A name is taken in capitals too, and with underscores for hyphens. `ELSEWHERE` and `OPTIONS` are what people type who
come from bnlearn, pgmpy, pyAgrum, causal-learn, scikit-learn or hmmlearn; they are answered, not taken.
"""

from __future__ import annotations

import difflib
from collections.abc import Collection, Iterable
from typing import Any, Literal

from fishernet.base.errors import FishernetError
from fishernet.base.names import listed, shown

# What editors complete and checkers know; other spellings are taken as well.
ScoreName = Literal["loglik", "bic", "mdl", "aic", "hqc", "bdeu", "k2", "bdq", "fnml", "qnml", "fractional"]
SearchName = Literal["order", "tabu", "hill-climb", "exact"]
IncompleteName = Literal["em", "node-average"]
TrainingName = Literal["fill", "em", "node-average"]
InputSearchName = Literal["greedy", "tabu"]
SplitsName = Literal["binary", "multiway"]
ConditionalsName = Literal["table", "tree", "merged"]
BlanketSearchName = Literal["iamb", "inter-iamb"]
TestName = Literal["knn-mi", "fisher-z", "g-squared", "chi-squared"]
MetricName = Literal["invariant", "practical", "empirical"]
SimilarityName = Literal[
    "overlap", "eskin", "of", "iof", "goodall1", "goodall2", "goodall3", "goodall4", "lin", "condist"
]
Rule = Literal["and", "or"]
ScanName = Literal["random", "ordered"]
SchemeName = Literal["simple", "local"]
GroupMethodName = Literal["auto", "tree", "elimination", "sample"]
GWishartMethodName = Literal["auto", "direct"]
DecodeMethodName = Literal["viterbi", "posterior"]
BinningName = Literal["quantile", "equal-width"]
MissingName = Literal["error", "drop", "state", "keep"]
UnknownName = Literal["error", "missing"]
ClassifierName = Literal["naive-bayes", "nb", "tan", "kdb", "order", "tabu", "hill-climb", "exact"]
MeasureName = Literal["fisher", "log-probability"]
PrototypeName = Literal["mmd-critic", "protodash", "mmd", "kernel-thinning"]
ClimbingRule = Literal["hc", "and", "or"]

_NUMBERS = "of columns of numbers the score is 'fractional'"
_TESTS = "fn.learn.markov_graph learns by tests of independence, an undirected graph"
_HYBRID = "'order' and 'tabu' with candidates=10 search among the likeliest neighbours"
_ORDERS = "the nearest is 'order', and fn.graphs.cpdag(dag) is the class of a Dag"
_ORDER = "the nearest is 'order', which finds the order of the variables too"
_MIXED = "columns of numbers beside states are cut into bins; of numbers alone the score is 'fractional'"

ELSEWHERE: dict[str, dict[str, str]] = {
    "score": {
        **dict.fromkeys(("bge", "bic-g", "aic-g", "loglik-g", "ebic-g", "bic-gauss", "aic-gauss"), _NUMBERS),
        **dict.fromkeys(("bic-cg", "aic-cg", "loglik-cg"), _MIXED),
        **dict.fromkeys(("bd", "bde", "bds", "mbde", "bdla", "bdj", "bdeuscore"), "the nearest is 'bdeu'"),
        **dict.fromkeys(("log-likelihood", "ll", "loglikelihood", "log2likelihood"), "it is called 'loglik'"),
        **dict.fromkeys(("bic-d", "bicscore", "ebic"), "the nearest is 'bic'"),
        **dict.fromkeys(("aic-d", "aicscore"), "it is called 'aic'"),
        "k2score": "it is called 'k2'",
        "nml": "it is called 'fnml', or 'qnml'",
    },
    "search": {
        **dict.fromkeys(("hc", "hillclimb", "hill-climbing", "hillclimbsearch"), "it is called 'hill-climb'"),
        **dict.fromkeys(("ges", "fges", "boss", "grasp"), _ORDERS),
        **dict.fromkeys(("pc", "pc-stable", "gs", "fci", "grow-shrink", "si-hiton-pc", "mmpc"), _TESTS),
        **dict.fromkeys(("fast-iamb", "iamb-fdr"), "fn.learn.markov_graph has 'iamb' and 'inter-iamb'"),
        **dict.fromkeys(("iamb", "inter-iamb"), "it is a search of fn.learn.markov_graph"),
        **dict.fromkeys(("mmhc", "rsmax2", "h2pc"), _HYBRID),
        **dict.fromkeys(("k2", "k2search", "k2-search", "greedy-search"), _ORDER),
        **dict.fromkeys(("tabu-search", "tabulist", "local-search-with-tabu-list"), "it is called 'tabu'"),
        **dict.fromkeys(("gobnilp", "dp", "astar", "a-star", "exhaustive", "exhaustivesearch"), "it is called 'exact'"),
        **dict.fromkeys(("chow-liu", "chowliu", "cl"), "it is fn.learn.chow_liu(table)"),
        "tan": "it is fn.learn.tan(table, target)",
        "naive-bayes": "it is fn.learn.naive_bayes(table, target)",
        "miic": _TESTS,
    },
    "test": {
        **dict.fromkeys(("mi", "g2", "g-sq", "gsq", "g", "log-likelihood"), "it is called 'g-squared'"),
        **dict.fromkeys(("x2", "chi2", "chisq", "chi-square", "chi-sq", "pearson-x2"), "it is called 'chi-squared'"),
        **dict.fromkeys(("zf", "fisherz", "cor", "pearsonr", "mi-g", "parcorr"), "the nearest is 'fisher-z'"),
        **dict.fromkeys(("kci", "cmi-knn", "cmiknn", "gcm", "rcot", "hsic"), "the nearest is 'knn-mi'"),
    },
    "structure": {"chow-liu": "'tan' is a tree below the class", "hc": "it is called 'hill-climb'"},
}  # fmt: skip

CALLED = "it is called "
SHORT = {"nb": "naive-bayes"}  # taken as well

OPTIONS = {
    **dict.fromkeys(("n_jobs", "num_threads", "n_threads", "nthread", "workers"), "fn.set_threads(n) sets the threads"),
    **dict.fromkeys(("random_state", "random_seed", "rng"), "it is called seed"),
    **dict.fromkeys(("verbose", "show_progress", "debug"), "progress=True shows a bar"),
    **dict.fromkeys(("max_indegree", "maxp", "max_in_degree", "indegree"), "it is called max_parents"),
    **dict.fromkeys(("blacklist", "black_list", "forbidden_edges"), "it is called forbidden"),
    **dict.fromkeys(("whitelist", "white_list", "fixed_edges", "required_edges"), "it is called required"),
    **dict.fromkeys(("scoring_method", "score_func", "scoretype", "method"), "a score is named by score"),
    **dict.fromkeys(("estimator", "methodtype", "algorithm"), "a search is named by search"),
    **dict.fromkeys(("equivalent_sample_size", "iss", "imaginary_sample_size"), "it is called ess"),
    **dict.fromkeys(("start_dag", "initial_dag"), "it is called start"),
    **dict.fromkeys(("tabu_length", "tabu"), "it is called tenure"),
    **dict.fromkeys(("max_time", "timeout", "time_limit"), "it is called max_seconds"),
    **dict.fromkeys(("restart", "n_restarts"), "it is called restarts"),
    **dict.fromkeys(("significance_level", "alpha_level"), "it is called alpha"),
    **dict.fromkeys(("max_iter", "n_iter", "epsilon", "tol"), "searches stop where nothing improves; see max_seconds"),
    "pseudo_counts": "it is called smoothing",
    "root": "it is for chow_liu alone",
}  # fmt: skip


def spelled(value: str) -> str:
    """Return a name as it is spelled here: in lower case, with hyphens."""
    name = value.strip().lower().replace("_", "-").replace(" ", "-")
    return SHORT.get(name, name)


def word(value: object, name: str, known: Collection[str], *, error: type[FishernetError] = FishernetError) -> Any:
    """Return one of the names that an argument knows, a literal, however it was spelled; the error lists them."""
    if isinstance(value, str) and spelled(value) in known:
        return spelled(value)
    message = f"unknown {name.replace('_', ' ')} {shown(value)}; there are {listed(known, most=20)}"
    raise error(message + _hint(value, name, known), parameter=name)


def _hint(value: object, name: str, known: Collection[str]) -> str:
    if not isinstance(value, str):
        return ""
    answer = ELSEWHERE.get(name, {}).get(spelled(value))
    if answer is None or (answer.startswith(CALLED) and answer.removeprefix(CALLED).strip("'") not in known):
        near = difflib.get_close_matches(spelled(value), known, n=1, cutoff=0.65)
        answer = f"did you mean {near[0]!r}?" if near else None
    return f"; {answer}" if answer else ""


def refuse_options(options: Iterable[str], known: Iterable[str], who: str) -> None:
    """Raise FishernetError when there are options that `who`, the last to be asked, does not take; with a hint."""
    takes = sorted(known)
    unknown = [name for name in options if name not in takes]
    if not unknown:
        return
    own = f"{who} takes {listed(takes)}" if takes else f"{who} takes none"
    near = difflib.get_close_matches(unknown[0], takes, n=1, cutoff=0.65)
    answer = OPTIONS.get(unknown[0]) or (f"did you mean {near[0]}?" if near else "")
    noun = "option" if len(unknown) == 1 else "options"
    message = f"neither this function nor {who} takes the {noun} {listed(unknown)}; {own}"
    raise FishernetError(f"{message}{answer and '; '}{answer}", parameter=unknown[0])
