"""What every public value shows of itself: text that fits a screen, and in notebooks small HTML without foreign markup.

To add a value, name it in `VALUES`; `test_every_public_class_with_fields_is_here` says which are lacking.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
from collections.abc import Callable
from html.parser import HTMLParser
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.base.names import a, several

HOSTILE = '<script>alert("x")</script>&<b> --> ]]>'
LINES, CHARACTERS = 12, 1000
BYTES_OF_HTML, BYTES_OF_DRAWING = 20_000, 500_000
MANY = 60


def wide_network(n: int, hostile: str) -> fn.BayesianNetwork:
    """A chain of n variables whose names and states are hostile to HTML, and long."""
    variables = [fn.Variable(f"{hostile}{v}{'y' * 200}", [f"{hostile}{s}" for s in range(3)]) for v in range(n)]
    names = [variable.name for variable in variables]
    rows = [[0.5, 0.3, 0.2], [0.2, 0.5, 0.3], [0.3, 0.2, 0.5]]
    parents = {name: [before] for before, name in pairwise(names)}
    return fn.BayesianNetwork.from_tables(
        variables, parents, {name: rows if name in parents else rows[0] for name in names}
    )


def turned(net: fn.BayesianNetwork) -> fn.Table:
    """Rows that do not come from the network: the states of its rows in another order."""
    rows = net.sample(400, seed=2)
    return fn.Table.adopt(rows.variables, [(column + v) % 3 for v, column in enumerate(rows.codes)])


def mixed_network(n: int, hostile: str) -> fn.BayesianNetwork:
    """A label with many states, and as many numbers as it has, each of another mean in each state."""
    label = fn.Variable(hostile, [f"{hostile}{s}" for s in range(n)])
    numbers = [fn.Continuous(f"{hostile}{v}") for v in range(3)]
    of = {"intercept": np.arange(n), "coefficients": np.zeros((n, 0)), "sd": np.ones(n)}
    tables: dict[str, Any] = {label.name: np.full(n, 1 / n)} | {number.name: of for number in numbers}
    return fn.BayesianNetwork.from_tables([label, *numbers], {number.name: [hostile] for number in numbers}, tables)


NET = wide_network(MANY, HOSTILE)
TABLE = NET.sample(400, seed=1)
OTHER = turned(NET)
NUMBERS = np.random.default_rng(1).normal(size=(400, MANY))
NAMES = [f"{HOSTILE}{v}" for v in range(MANY)]
SMALL = wide_network(4, HOSTILE)
MIXED = mixed_network(MANY, HOSTILE)
FEW = SMALL.sample(300, seed=1)
DEPENDENCY = fn.DependencyNetwork.from_joint(SMALL)
STRINGS = ["".join(row) for row in np.random.default_rng(2).choice(list("abc"), size=(30, 40))]
HMM = fn.HiddenMarkovModel([0.5, 0.5], np.full((2, 2), 0.5), np.full((2, 3), 1 / 3), alphabet="abc")
GRAPH = fn.UndirectedGraph.from_edges(NAMES, list(pairwise(NAMES)))
KERNEL = fn.kernels.FisherKernel(SMALL)
HOLES = fn.independence.missingness(
    {name: [None if (i + j) % 7 == 0 else f"{HOSTILE}{i % 2}" for i in range(400)] for j, name in enumerate(NAMES)}
)


def found(name: str) -> Any:
    """The value of that name, of which another is a part."""
    return value(name)


VALUES: dict[str, Callable[[], Any]] = {
    "Variable": lambda: fn.Variable(HOSTILE, [f"{HOSTILE}{s}" for s in range(5000)]),
    "Continuous": lambda: fn.Continuous(HOSTILE),
    "Table": lambda: TABLE,
    "Table of one cell": lambda: fn.Table.from_frame({HOSTILE: [HOSTILE]}),
    "Dag": lambda: NET.dag,
    "Cpdag": lambda: fn.graphs.cpdag(NET.dag),
    "DirectedGraph": lambda: fn.DependencyNetwork.from_joint(NET).graph,
    "Links": lambda: NET.dag.links(),
    "UndirectedGraph": lambda: GRAPH,
    "BayesianNetwork": lambda: NET,
    "DependencyNetwork": lambda: fn.DependencyNetwork.from_joint(NET),
    "MarkovNetwork": lambda: fn.MarkovNetwork(SMALL.variables, [(SMALL.names[:2], np.ones((3, 3)))]),
    "GaussianMarkovNetwork": lambda: fn.GaussianMarkovNetwork(NAMES, np.zeros(MANY), np.eye(MANY)),
    "FullTable": lambda: NET.conditionals[1],
    "Split": lambda: fn.models.Split(0, tuple(range(3000)), tuple(range(3000))),
    "HiddenMarkovModel": lambda: HMM,
    "NumericHiddenMarkovModel": lambda: fn.NumericHiddenMarkovModel(
        np.full(99, 1 / 99),
        np.full((99, 99), 1 / 99),
        fn.models.GaussianEmission(np.zeros((99, 99)), np.ones((99, 99))),
    ),
    "HmmCounts": lambda: HMM.expected_counts(STRINGS),
    "Alphabet": lambda: fn.models.Alphabet(range(3000)),
    "Alignment": lambda: fn.models.Alignment(["one"] * 99, ["AC-T"] * 99),
    "NamedTree": lambda: fn.models.NamedTree((-1, *([0] * 999)), ("", *map(str, range(999))), (None,) * 1000),
    "NamedStrings": lambda: fn.files.NamedStrings(("n",) * 99, ("s" * 999,) * 99, ("",) * 99),
    "Scatter": lambda: fn.data.as_scatter(NUMBERS),
    "Statistic": lambda: TABLE.statistics([tuple(range(6))])[0],
    "Families": lambda: fn.scores.Families.from_pairs([(0, [1])] * 999),
    "Rules": lambda: fn.learn.Rules.of(NET.names),
    "Step": lambda: fn.learn.Step("add", "one", "other", 1.0),
    "SearchResult": lambda: fn.learn.structure(TABLE, search="hill-climb", max_parents=1),
    "Effect": lambda: fn.explain.effect(_one_arc()[0], _one_arc()[1], "a", "b", n=2, seed=1),
    "PcResult": lambda: fn.learn.pc(TABLE.select(TABLE.names[:6])),
    "BestGraphs": lambda: fn.learn.best_graphs(TABLE.select(TABLE.names[:6]), within=1.0, max_parents=1),
    "EdgeStrengths": lambda: fn.learn.edge_strengths(TABLE, 2, search="hill-climb", max_parents=1, seed=1),
    "CrossValidation": lambda: fn.learn.cross_validate(FEW, folds=2, seed=1),
    "Likelihood": lambda: fn.learn.Likelihood.of(SMALL, FEW),
    "PredictionQuality": lambda: fn.learn.PredictionQuality.of(np.full((9, 2), 0.5), np.zeros(9, int)),
    "StationaryDivergence": lambda: fn.compare.stationary_divergence(np.full((3,) * 4, 3.0**-4), DEPENDENCY),
    "TwoSampleResult": lambda: fn.compare.two_sample_test(
        TABLE, OTHER, fn.kernels.FisherKernel(NET), permutations=19, seed=1
    ),
    "ScoreTestResult": lambda: fn.compare.score_test(fn.kernels.FisherKernel(NET), OTHER, reference="chi-square"),
    "ChangeResult": lambda: fn.compare.explain_change(TABLE, OTHER, NET, permutations=19, resamples=2),
    "Changes": lambda: fn.compare.explain_changes([TABLE, OTHER], NET, permutations=19, resamples=2),
    "MonitorResult": lambda: fn.compare.Monitor(TABLE, NET, permutations=19, resamples=2).update(OTHER),
    "FalsifyResult": lambda: fn.compare.falsify(NET, TABLE, permutations=19),
    "Dependence": lambda: found("FalsifyResult").independences[0],
    "MissingChange": lambda: fn.compare.MissingChange("smoke", 0.02, 0.1, 0.001),
    "ChangeResult in doubt": lambda: fn.compare.explain_change(FEW, turned(SMALL), permutations=19, resamples=2),
    "Share": lambda: found("TwoSampleResult").by_configuration[0],
    "Term": lambda: fn.compare.two_sample_test(TABLE, OTHER, permutations=19, seed=1).terms[0],
    "NumberChange": lambda: fn.compare.NumberChange("x", (1.0, 2.0, 3.0), (2.0, 3.0, 4.0)),
    "VariableChange": lambda: found("ChangeResult").by_variable[NET.names[0]],
    "ConfigurationChange": lambda: found("ChangeResult").by_configuration[0],
    "InputSearchResult": lambda: fn.learn.local_structure(TABLE),
    "MarkovBlankets": lambda: fn.learn.markov_blankets(NUMBERS, test="fisher-z", names=NAMES),
    "EmResult": lambda: fn.learn.baum_welch(STRINGS, n_states=2, seed=1, max_steps=3),
    "NumberDistribution": lambda: MIXED.query(MIXED.names[-1]),
    "MixedDistribution": lambda: MIXED.query(),
    "Beside": lambda: SMALL.query(SMALL.names[0], given={SMALL.names[1]: SMALL.variables[1].states[0]}).beside(FEW),
    "Clusters": lambda: fn.learn.clusters(FEW, 3, restarts=1, seed=1, max_steps=5),
    "HiddenChowLiu": lambda: fn.learn.hidden_chow_liu(FEW, 2, max_passes=2, seed=1),
    "Diagnosis": lambda: fn.infer.diagnose(DEPENDENCY, chains=2, n=40_000, thin=20, seed=1),
    "Estimate": lambda: fn.infer.estimate(DEPENDENCY, SMALL.names, n=4000, seed=1),
    "Distribution": lambda: NET.query(NET.names[0], given=dict.fromkeys(NET.names[1:], f"{HOSTILE}0")),
    "Distribution of several": lambda: SMALL.query(SMALL.names),
    "NormalDistribution": lambda: fn.GaussianMarkovNetwork(NAMES, np.zeros(MANY), np.eye(MANY)).query(
        given={NAMES[0]: 1.0}
    ),
    "JunctionTree": lambda: fn.infer.JunctionTree(NET),
    "Selection": lambda: fn.select.random_subset(TABLE, 300, seed=1),
    "Selection by a kernel": lambda: fn.select.greedy_mmd(KERNEL, FEW, 100, n_starts=1, seed=1),
    "DistanceByK": lambda: fn.select.distance_by_k(KERNEL, FEW, n_random=5, seed=1),
    "Nearest": lambda: fn.select.nearest(fn.kernels.SpectrumKernel(2), ["abab", "ba"] * 50),
    "Similar": lambda: fn.select.similar(KERNEL, FEW, 0, n=200),
    "TestResult": lambda: fn.independence.TestResult(0.5, 0.1),
    "PermutationResult": lambda: fn.independence.knn_test(NUMBERS[:, 0], NUMBERS[:, 1], permutations=20, seed=1),
    "ContingencyResult": lambda: fn.independence.GSquared(TABLE)(0, 1, ()),
    "MissingnessResult": lambda: HOLES,
    "ColumnMissingness": lambda: HOLES.columns[0],
    "MissingnessTest": lambda: HOLES.columns[0].strongest,
    "Fitted": lambda: fn.learn.fit(FEW, "chow-liu"),
    "Influence": lambda: fn.explain.rows(found("Fitted").model, FEW, query=SMALL.names[0]),
    "Without": lambda: found("Influence").without([0]),
    "GroupInfluence": lambda: found("Influence").by(SMALL.names[1])[0],
    "RowSet": lambda: fn.explain.arc(*_one_arc()).smallest_set(most=299),
    "BlockValue": lambda: fn.explain.value_of(found("Fitted").model, FEW, SMALL.names[0], for_=FEW)[0],
    "Mislabelled": lambda: fn.explain.mislabelled(FEW, SMALL.names[0]),
    "FisherKernel": lambda: KERNEL,
    "Report": lambda: fn.report(FEW, SMALL, title=HOSTILE),
}


def _one_arc() -> tuple[Any, ...]:
    rows = {"a": [0, 1] * 20, "b": [0, 1] * 20}
    return fn.Dag.from_edges(["a", "b"], [("a", "b")]), rows, "a", "b"


@functools.cache
def value(name: str) -> Any:
    return VALUES[name]()


IN_NOTEBOOKS = """Variable Table Dag Cpdag UndirectedGraph BayesianNetwork DependencyNetwork MarkovNetwork
GaussianMarkovNetwork SearchResult Selection EdgeStrengths CrossValidation InputSearchResult MarkovBlankets Similar
Diagnosis EmResult TestResult TwoSampleResult ScoreTestResult ChangeResult Distribution NormalDistribution Clusters
MissingnessResult DistanceByK"""
DRAWN = "Dag Cpdag UndirectedGraph BayesianNetwork DependencyNetwork MarkovNetwork GaussianMarkovNetwork"
each = pytest.mark.parametrize("name", VALUES)


@each
def test_a_repr_fits_a_screen_and_begins_with_the_class(name: str) -> None:
    shown = repr(value(name))
    assert len(shown) <= CHARACTERS
    assert len(shown.splitlines()) <= LINES
    assert shown.startswith((type(value(name)).__name__, "P("))
    assert "object at 0x" not in shown


@each
def test_a_result_says_what_it_holds(name: str) -> None:
    """As facts in order, and as JSON, in which nothing is NaN."""
    shown = value(name)
    if not hasattr(shown, "facts"):
        pytest.skip("it is no result")
    facts = shown.facts()
    assert all(isinstance(fact.label, str) and isinstance(fact.unit, str) for fact in facts)
    held = json.loads(shown.to_json(), parse_constant=lambda word: pytest.fail(word))
    assert isinstance(held, dict)
    assert held


def test_every_public_class_with_fields_is_here() -> None:
    """Searches, scores and other sets of options are as short as their few fields."""
    packages = [getattr(fn, name) for name in fn.__all__ if inspect.ismodule(getattr(fn, name))]
    named = [getattr(package, name) for package in packages for name in package.__all__]
    public = {kind for kind in named if inspect.isclass(kind)}
    with_fields = {kind.__name__ for kind in public if dataclasses.is_dataclass(kind)}
    options = {*fn.scores.__all__, "HillClimb", "Tabu", "Order", "Exact", "TreeSearch"} - {"Families"}
    assert with_fields - options <= {type(value(name)).__name__ for name in VALUES}


class Tags(HTMLParser):
    """The tags and the text of HTML."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.text = ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: object) -> None:
        self.tags.add(tag)

    def handle_data(self, data: str) -> None:
        self.text += data


@pytest.mark.parametrize("name", [*IN_NOTEBOOKS.split(), "Distribution of several", "Table of one cell"])
def test_html_is_small_and_takes_no_markup_from_labels(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("fishernet.base.display._drawers", [])
    monkeypatch.setattr("fishernet.base.display._pages", [])
    shown = value(name)._repr_html_()
    assert len(shown) <= BYTES_OF_HTML
    found = Tags(shown)
    assert found.tags <= {"div", "p", "b", "table", "tr", "th", "td"}
    assert found.text.count("<script>") == shown.count("&lt;script&gt;")


def test_what_people_look_at_in_notebooks_has_html() -> None:
    for name in IN_NOTEBOOKS.split():
        assert value(name)._repr_html_().startswith("<div>"), name
    assert HOSTILE.partition("x")[0] in Tags(value("Table of one cell")._repr_html_()).text


@pytest.mark.parametrize("name", DRAWN.split())
def test_graphs_are_drawn_where_matplotlib_is(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("matplotlib")
    monkeypatch.setattr("fishernet.base.display._pages", [])
    drawn = value(name)._repr_svg_()
    assert drawn.startswith("<svg")
    assert "script" not in Tags(drawn).tags
    assert len(drawn) <= BYTES_OF_DRAWING
    assert drawn in value(name)._repr_html_()
    monkeypatch.setattr("fishernet.plot.drawing.has_matplotlib", lambda: False)
    assert value(name)._repr_svg_() is None
    assert "<svg" not in value(name)._repr_html_()


@pytest.mark.parametrize("name", ["BayesianNetwork", "MarkovNetwork", "Report"])
def test_pages_stand_in_frames_and_take_no_markup_from_labels(name: str) -> None:
    shown = value(name)._repr_html_()
    assert shown.startswith("<div>")
    assert Tags(shown).tags == {"div", "p", "b", "iframe"}
    assert len(shown) <= BYTES_OF_DRAWING


def test_what_cannot_be_drawn_is_not() -> None:
    large = fn.Dag([f"v{i}" for i in range(5000)], [()] * 5000)
    assert large._repr_svg_() is None
    assert fn.Dag([], [])._repr_svg_() is None
    assert Tags(fn.Dag([], [])._repr_html_()).tags


@pytest.mark.parametrize(
    ("n", "words", "shown"),
    [
        (1, ("row",), "1 row"),
        (0, ("row",), "0 rows"),
        (1000, ("leaf", "leaves"), "1,000 leaves"),
        (2.5, ("row",), "2.5 rows"),
    ],
)
def test_one_thing_is_singular(n: float, words: tuple[str, ...], shown: str) -> None:
    assert several(n, *words) == shown


@pytest.mark.parametrize(
    "noun", ["an EdgeStrengths", "an UndirectedGraph", "an InputSearchResult", "a Dag", "a Uniform", "an int"]
)
def test_the_article_goes_by_the_noun(noun: str) -> None:
    assert a(noun.split()[1]) == noun
