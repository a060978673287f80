"""Every field of a model file is checked, and what is wrong is said with file and place."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import fishernet as fn
from fishernet.files.model_file import KINDS
from fishernet.models import FullTable, Split, TreeConditional
from tests.files.examples import EXAMPLES, MOVE, A

Edit = Callable[[dict[str, Any]], Any]


def place(*keys: Any, value: Any = None) -> Edit:
    """An edit that sets one value deep inside."""

    def edit(described: dict[str, Any]) -> None:
        inner: Any = described
        for key in keys[:-1]:
            inner = inner[key]
        inner[keys[-1]] = value

    return edit


def nodes(described: dict[str, Any]) -> list[Any]:
    """The nodes of the tree of c."""
    found: list[Any] = next(c for c in described["conditionals"] if c["child"] == "c")["nodes"]
    return found


OLDER = {
    "format": "fishernet",
    "version": 1,
    "kind": "GaussianBayesianNetwork",
    "variables": [
        {"name": "a", "parents": [1, 2], "intercept": 0.1, "coefficients": [1 / 3, -2], "sd": 1},
        {"name": "b", "parents": [], "intercept": 2, "coefficients": [], "sd": 1e-300},
        {"name": "c", "parents": [1], "intercept": 5e-324, "coefficients": [0], "sd": 0.2},
    ],
}
FACTOR = ("conditionals", 2, "factors", 0)
EDITS: dict[str, list[tuple[Edit, str]]] = {
    "merged": [
        (place("format", value="other"), 'this is no model file: it lacks "format": "fishernet"'),
        (place("format", value=None), "this is no model file"),
        (
            place("version", value=3),
            "version 3 of the format was written by a newer fishernet; this one reads 2; update fishernet",
        ),
        (place("version", value=0), "there is no version 0 of the format; this fishernet reads version 2"),
        (place("version", value="1"), "version: expected an integer from 0, got '1'"),
        (place("version", value=True), "version: expected an integer from 0, got True"),
        (place("kind", value="Forest"), "unknown kind of model 'Forest'; known are 'BayesianNetwork'"),
        (place("kind", value=1), "kind: expected a text, got 1"),
        (place("comment", value="mine"), "there is the unknown field 'comment'"),
        (place("variables", value=None), "variables: expected a list, got null"),
        (place("n_rows", value=-1), r"n_rows: expected a number from 0, got -1"),
        (place("n_rows", value="2"), r"n_rows: expected a number from 0, got '2'"),
        (lambda d: d.pop("n_rows"), r"the field 'n_rows' is missing"),
        (lambda d: d.pop("variables"), r"the field 'variables' is missing"),
        (place("variables", value={}), r"variables: expected a list, got an object"),
        (place("variables", 1, value=3), r"variables\[1\]: expected an object with fields, got 3"),
        (place("variables", 0, "name", value=3), r"variables\[0\]\.name: expected a text, got 3"),
        (place("variables", 0, "name", value="b"), r"the name 'b' appears more than once|expected 'b'"),
        (place("variables", 0, "states", value=[]), r"variables\[0\]: variable 'a' has no states"),
        (place("variables", 0, "states", 1, value=None), r"variables\[0\]\.states\[1\]: null is no state"),
        (place("variables", 0, "states", 1, value=["y"]), r"variables\[0\]\.states\[1\]: a list of 1 is no state"),
        (place("variables", 0, "states", 1, value="x"), r"variables\[0\]: .*the state 'x' appears more than once"),
        (place("variables", 0, "states", 1, value="\ud800"), r"states\[1\]: '\\ud800' is no state"),
        (place("variables", 0, "states", 1, value=float("inf")), r"variables\[0\]: .*inf cannot be a state"),
        (place("variables", 1, "cuts", value=[1.0, 2.0]), r"variables\[1\]: .*2 bins need 1 cuts, got 2"),
        (place("variables", 1, "cuts", value=["1"]), r"variables\[1\]\.cuts: expected numbers, got '1'"),
        (lambda d: d["variables"][0].pop("cuts"), r"variables\[0\]: the field 'cuts' is missing"),
        (place("variables", 0, "extra", value=1), r"variables\[0\]: there is the unknown field 'extra'"),
        (lambda d: d["conditionals"].pop(), r"conditionals: 1 conditional for 2 variables"),
        (
            place("conditionals", 0, "kind", value="Tree"),
            r"conditionals\[0\]\.kind: unknown kind 'Tree'; known are Cond",
        ),
        (place("conditionals", 0, "child", value="b"), r"conditionals\[0\]\.child: expected 'a', .*; got 'b'"),
        (place("conditionals", 0, "more", value=1), r"conditionals\[0\]: there is the unknown field 'more'"),
        (place("conditionals", 1, "parents", 0, value="c"), r"conditionals\[1\]\.parents\[0\]: 'c' is no variable"),
        (place("conditionals", 1, "parents", 0, value=0), r"conditionals\[1\]\.parents\[0\]: 0 is no variable"),
        (place("conditionals", 1, "parents", value="a"), r"conditionals\[1\]\.parents: expected a list, got 'a'"),
        (place("conditionals", 0, "parents", value=["b"]), r"conditionals\[0\]: .*2 configurations"),
        (place("conditionals", 0, "probabilities", value=[]), r"conditionals\[0\]: .*\(0, 2\) probabilities"),
        (place("conditionals", 0, "probabilities", value=[1]), r"probabilities\[0\]: expected a list of 2 .*, got 1"),
        (place("conditionals", 0, "probabilities", 0, value=[1.0]), r"probabilities\[0\]: expected a list of 2"),
        (place("conditionals", 0, "probabilities", 0, value=[1, True]), r"\.probabilities: expected numbers, got True"),
        (place("conditionals", 0, "probabilities", 0, value=["1", 0]), r"\.probabilities: expected numbers, got '1'"),
        (place("conditionals", 0, "probabilities", 0, value=[1, None]), r"\.probabilities: expected numbers, got null"),
        (place("conditionals", 0, "probabilities", 0, value=[10**400, 0]), r"\.probabilities: a number is too large"),
        (place("conditionals", 0, "probabilities", 0, value=[1e308, 1e308]), r"\[0\]\[0\]: 1e\+308 is no probability"),
        (place("conditionals", 0, "probabilities", 0, value=[1.5, -0.5]), r"\[0\]\[0\]: 1\.5 is no probability"),
        (place("conditionals", 0, "probabilities", 0, value=[0.5, -0.5]), r"\[0\]\[1\]: -0\.5 is no probability"),
        (place("conditionals", 0, "probabilities", 0, value=[0.5, 0.4999]), r"conditionals\[0\]: .*sums to 0\.9999"),
        (place("conditionals", 1, "group_of", value=[0]), r"\[1\]\.group_of: 1 group for 2 configurations"),
        (place("conditionals", 1, "group_of", 1, value=1), r"group_of\[1\]: expected a group from 0 to 0, got 1"),
        (place("conditionals", 1, "group_of", 1, value=-1), r"group_of\[1\]: expected a group from 0 to 0, got -1"),
        (place("conditionals", 1, "group_of", 1, value=2**70), r"group_of\[1\]: expected a group from 0 to 0"),
        (place("conditionals", 1, "group_of", 1, value=False), r"group_of\[1\]: expected a group .*, got False"),
        (place("conditionals", 1, "probabilities", value=[[0.5, 0.5]] * 2), r"conditionals\[1\]: .*each of the groups"),
    ],
    "dependency network": [
        (lambda d: d.pop("allow_zeros"), r"the field 'allow_zeros' is missing"),
        (place("allow_zeros", value=1), r"allow_zeros: expected true or false, got 1"),
        (place("allow_zeros", value=None), r"allow_zeros: expected true or false, got null"),
        (place("n_rows", value=-1), r"n_rows: expected a number from 0, got -1"),
        (lambda d: d["conditionals"].pop(), r"conditionals: 2 conditionals for 3 variables"),
        (place("variables", 0, "name", value="b"), r"'b' appears more than once|expected 'b'"),
        (place("conditionals", 0, "parents", value=["a"]), r"conditionals\[0\]\.parents: 'a' is among its own inputs"),
        (place("conditionals", 0, "parents", value=["b", "b"]), r"conditionals\[0\]\.parents\[1\]: 'b' appears more"),
        (place("conditionals", 2, "parents", value=["a", "c"]), r"factors\[1\]\.variables\[1\]: 'b' is no variable"),
        (place("conditionals", 2, "parents", value=["a", "b", "b"]), r"conditionals\[2\]\.parents\[2\]: 'b' appears"),
        (lambda d: d["conditionals"][2].pop("factors"), r"conditionals\[2\]: the field 'factors' is missing"),
        (place("conditionals", 2, "factors", value=[]), r"conditionals\[2\]\.factors: there are no factors"),
        (place("conditionals", 2, "factors", value="a"), r"conditionals\[2\]\.factors: expected a list, got 'a'"),
        (place("conditionals", 2, "probabilities", value=[]), r"conditionals\[2\]: .*unknown field 'probabilities'"),
        (place(*FACTOR, value=3), r"conditionals\[2\]\.factors\[0\]: expected an object with fields, got 3"),
        (place(*FACTOR, "more", value=3), r"conditionals\[2\]\.factors\[0\]: there is the unknown field 'more'"),
        (place(*FACTOR, "variables", value=["c", "c"]), r"factors\[0\]\.variables\[1\]: 'c' appears more than once"),
        (place(*FACTOR, "variables", 1, value="d"), r"factors\[0\]\.variables\[1\]: 'd' is no variable; there are"),
        (place(*FACTOR, "variables", 1, value=0), r"factors\[0\]\.variables\[1\]: 0 is no variable"),
        (
            place(*FACTOR, value={"variables": ["a"], "values": [1, 2]}),
            r"conditionals\[2\]\.factors\[0\]\.variables: the factor is not over the child 'c'",
        ),
        (place(*FACTOR, "values", value=[1.0]), r"factors\[0\]\.values: 1 values for 6 configurations"),
        (place(*FACTOR, "values", 2, value="1"), r"factors\[0\]\.values: expected numbers, got '1'"),
        (place(*FACTOR, "values", 2, value=True), r"factors\[0\]\.values: expected numbers, got True"),
        (place(*FACTOR, "values", 2, value=10**400), r"factors\[0\]\.values: a number is too large"),
        (place(*FACTOR, "values", 2, value=-1), r"factors\[0\]\.values: a value is negative or not finite"),
        (place(*FACTOR, "values", 2, value=float("inf")), r"factors\[0\]\.values: a value is negative or not finite"),
        (place(*FACTOR, "values", 2, value=0), r"a factor of 'c' has a zero"),
        (
            place("conditionals", 0, "probabilities", 0, value=[0, 1]),
            r"'a' has state 'x' with probability 0 given b = 2",
        ),
    ],
    "Markov network": [
        (lambda d: d.pop("potentials"), r"the field 'potentials' is missing"),
        (lambda d: d.pop("variables"), r"the field 'variables' is missing"),
        (place("potentials", value={}), r"potentials: expected a list, got an object"),
        (place("potentials", 1, value=3), r"potentials\[1\]: expected an object with fields, got 3"),
        (place("potentials", 1, "more", value=3), r"potentials\[1\]: there is the unknown field 'more'"),
        (place("potentials", 0, "variables", 0, value="c"), r"potentials\[0\]\.variables\[0\]: 'c' is no variable"),
        (place("potentials", 0, "variables", 0, value="a"), r"potentials\[0\]\.variables\[1\]: 'a' appears more than"),
        (place("potentials", 0, "values", value=[1]), r"potentials\[0\]\.values: 1 values for 6 configurations"),
        (place("potentials", 0, "values", 3, value=None), r"potentials\[0\]\.values: expected numbers, got null"),
        (
            place("potentials", 1, "values", 1, value=-1),
            r"potentials\[1\]: .*finite numbers that are not negative",
        ),
        (place("variables", 0, "name", value="b"), r"the name 'b' appears more than once|'b' appears"),
        (place("variables", 0, "states", value=[]), r"variables\[0\]: variable 'a' has no states"),
    ],
    "Gaussian Markov network": [
        (lambda d: d.pop("edges"), "the field 'edges' is missing"),
        (place("names", 1, value="a"), "'a' appears more than once"),
        (place("names", 1, value=3), r"names\[1\]: expected a text, got 3"),
        (place("names", 1, value="\ud800"), r"names\[1\]: .* surrogate"),
        (place("mean", value=[1]), r"the mean must have shape \(3,\)"),
        (place("mean", 0, value=True), "mean: expected numbers, got True"),
        (place("precision", value=[1]), "precision: 1 number for 3 variables"),
        (place("precision", 1, value=0), "must be positive"),
        (place("edges", 0, value=[0, 2]), r"edges\[0\]: expected \[position, position, number\], got a list of 2"),
        (place("edges", 0, value=[0, True, 1]), r"edges\[0\]: expected \[position"),
        (place("edges", 0, value=[2, 0, 1]), r"edges\[0\]: the positions must be ascending and below 3"),
        (place("edges", 0, value=[0, 3, 1]), r"edges\[0\]: the positions must be ascending and below 3"),
        (place("edges", 0, 2, value="x"), r"edges\[0\]: expected numbers, got 'x'"),
        (place("edges", 0, 2, value=0), r"edges\[0\]: an edge has an entry that is not 0"),
        (place("edges", 0, 2, value=50), "must be positive definite"),
        (lambda d: d["edges"].append([0, 2, 1]), r"edges\[1\]: the edge .* appears twice"),
    ],
    "older Gaussian network": [
        (lambda d: d.pop("variables"), "the field 'variables' is missing"),
        (place("variables", 0, value=3), r"variables\[0\]: expected an object"),
        (place("variables", 0, "more", value=3), r"variables\[0\]: there is the unknown field 'more'"),
        (place("variables", 0, "name", value="b"), "'b' appears more than once"),
        (place("variables", 0, "parents", value=[2, 1]), r"variables\[0\]\.parents: expected ascending positions"),
        (place("variables", 0, "parents", value=[1, "c"]), r"variables\[0\]\.parents: expected ascending positions"),
        (place("variables", 0, "parents", value=[1, 3]), "the position 3 is not from 0 to 2"),
        (place("variables", 1, "parents", value=[0]), "the edges close a cycle"),
        (place("variables", 0, "coefficients", value=[1]), r"coefficients of 'a' must have shape \(2,\)"),
        (place("variables", 0, "coefficients", value=["x", 1]), r"variables\[0\]\.coefficients: expected numbers"),
        (place("variables", 0, "intercept", value=None), r"variables\[0\]\.intercept: expected numbers, got null"),
        (place("variables", 2, "sd", value=0), "standard deviation of 'c' must be positive"),
    ],
    "graph": [
        (place("names", value=["a", "b", 3]), r"names\[2\]: expected a text, got 3"),
        (place("names", value=["a", "b", "\ud800"]), r"names\[2\]: .* holds half of a surrogate pair"),
        (place("names", value=["a", "b", "a"]), "'a' appears more than once"),
        (place("names", value="abc"), "names: expected a list"),
        (
            place("edges", value=[[0, 2], [0, 3]]),
            r"edges\[1\]: the positions must be ascending and below 3, got 0 and 3",
        ),
        (place("edges", value=[[1, 0]]), r"edges\[0\]: the positions must be ascending"),
        (place("edges", value=[[-1, 0]]), r"edges\[0\]: the positions must be ascending"),
        (place("edges", value=[[1, 1]]), r"edges\[0\]: the positions must be ascending"),
        (place("edges", value=[[0, 1, 2]]), r"edges\[0\]: expected \[position, position\], got a list of 3"),
        (place("edges", value=[[0, 1.0]]), r"edges\[0\]: expected \[position, position\]"),
        (place("edges", value=[[True, 2]]), r"edges\[0\]: expected \[position, position\]"),
        (place("edges", value=[[0, 1], [0, 1]]), "more than once"),
        (place("more", value=1), "unknown field 'more'"),
    ],
    "hidden Markov": [
        (place("initial", value=[0.5, 0.75]), "initial sums to 1.25"),
        (place("initial", value=[0.5, "x"]), "initial: expected numbers"),
        (place("transition", value=[[0.5, 0.25]]), "transition: expected 2 rows"),
        (place("transition", value=[[0.5, 0.25], 3]), r"transition\[1\]: expected a list of 2"),
        (place("emission", value=[[1.0], [1.0]]), r"emission\[0\]: expected a list of 2"),
        (place("emission", value=[[1.0, None], [0.5, 0.5]]), r"emission\[0\]: expected numbers"),
        (place("final", value=[0.25]), "final: expected 2 numbers"),
        (place("alphabet", value=[]), "expected one alphabet"),
        (place("alphabet", value=[{"symbols": ["a", None], "unknown": None}]), r"symbols\[1\]: null is no symbol"),
        (place("alphabet", value=[{"symbols": ["a", "b"], "unknown": 2}]), "expected a position from 0 to 1"),
        (place("alphabet", value=[{"symbols": ["a", "a"], "unknown": None}]), "twice"),
    ],
    "hidden Markov of numbers": [
        (place("initial", value=[0.5, 0.75]), "initial sums to 1.25"),
        (place("transition", value=[[0.5, 0.5]]), "transition: expected 2 rows"),
        (place("emissions", value=[]), "needs an emission"),
        (place("emissions", 0, "kind", value="Gaussian"), r"emissions\[0\].kind: unknown emission 'Gaussian'"),
        (place("emissions", 0, "names", value=["a", 1]), r"emissions\[0\].names\[1\]: expected a name"),
        (place("emissions", 0, "sd", value=[[[1.0, 0.0]], [[1.0, 1.0]]]), r"emissions\[0\]: .*must be positive"),
        (place("emissions", 0, "sd", value=[[["1", 1.0]], [[1.0, 1.0]]]), r"emissions\[0\].sd: expected numbers"),
        (place("emissions", 0, "sd", value=[[[1.0]], [[1.0, 1.0]]]), r"emissions\[0\]: sd must be an array"),
        (place("emissions", 0, "weights", value=[[0.5], [1.0]]), r"emissions\[0\]: .*sums to 0.5"),
        (place("emissions", 1, "rate", value=[[1.0]]), "is for 1 state"),
        (place("emissions", 1, "names", value=["a"]), "two emissions have the column 'a'"),
        (place("emissions", 2, "labels", value=["x"]), r"emissions\[2\]: 1 label for 2 columns"),
        (place("emissions", 2, "more", value=1), "unknown field 'more'"),
    ],
    "chain": [
        (place("order", value=-1), "order: expected an integer from 0"),
        (place("order", value=0), "start: expected 1 entries"),
        (place("order", value=40), "lower order"),
        (place("end", value=1), "end: expected true or false"),
        (place("end", value=False), r"transition\[0\]: expected a list of 2 numbers, got a list of 3"),
        (place("start", value=[1.0]), "start: expected 2 entries, one a context, got 1"),
        (place("start", value=[0.5, 0.6]), "start sums to 1.1"),
        (place("start", value=["x", 1]), "expected numbers, got 'x'"),
        (place("transition", value=[[0.5, 0.25, 0.25]]), "transition: expected 2 rows, one a context"),
        (place("transition", value=[[0.5, 0.25, 0.25], [1.0, 0.0, None]]), "expected numbers, got null"),
        (place("transition", value=[[0.5, 0.25, 0.25], [1.0, 0.0, 0.1]]), "row 1 of transition sums to 1.1"),
        (place("alphabet", value=[]), "expected one alphabet, got 0"),
    ],
    "hidden tree with arities": [
        (lambda d: d.update({"nodes": []}), "each node but the first must be the child of one node"),
        (lambda d: d.update({"nodes": [[4, 2], [1, 4]]}), "each node but the first must be the child of one"),
        (lambda d: d.update({"nodes": [[4, 2], [1, 1]]}), "the leaf 1 is in the tree twice"),
        (lambda d: d.update({"nodes": [[4, 2], "x"]}), r"nodes\[1\]: expected integers from 0, got 'x'"),
        (lambda d: d.update({"nodes": [[4, 2], [1, -1]]}), r"nodes\[1\]: expected integers from 0, got -1"),
        (lambda d: d.update({"nodes": [[0, 2], []]}), "the tree has an inner node without children"),
        (
            lambda d: d.update({"alphabet": [{"symbols": ["A", None, 2.5], "unknown": 0}]}),
            r"symbols\[1\]: null is no symbol",
        ),
        (
            lambda d: d.update({"alphabet": [{"symbols": ["A", "A", 2.5], "unknown": 0}]}),
            "the symbol 'A' is in the alphabet twice",
        ),
        (
            lambda d: d.update({"alphabet": [{"symbols": ["A", 1, 2.5], "unknown": 3}]}),
            "expected a position from 0 to 2",
        ),
        (lambda d: d.update({"alphabet": []}), "expected one alphabet, got 0"),
        (lambda d: d.update({"missing": "A"}), "it is in the alphabet"),
        (lambda d: d.update({"missing": [1]}), r"is no symbol: a text, a number or a truth value"),
        (lambda d: d.update({"arity": [5, 5]}), "no labelling of the tree's nodes has the arities"),
        (lambda d: d.update({"arity": [2, 1.0]}), "arity: expected integers from 0, got 1.0"),
        (lambda d: d.update({"branch_tables": [0, 0, 0, 0]}), "branch_tables needs transition or emission"),
        (lambda d: d.update({"root": [0.5, 0.6]}), "root sums to 1.1"),
        (lambda d: d.update({"root": [0.5, True]}), "root: expected numbers, got True"),
        (lambda d: d.update({"transition": [[0.9, 0.1], [0.5]]}), "transition: the lists inside differ in length"),
        (lambda d: d.update({"transition": [[0.9, 0.1], 0.5]}), "transition: the lists inside differ in length"),
        (lambda d: d.update({"emission": []}), "emission must have shape"),
        (lambda d: d.update({"comment": 1}), "there is the unknown field 'comment'"),
    ],
    "dependency network of trees": [
        (lambda d: nodes(d).clear(), "needs a node"),
        (lambda d: nodes(d)[0].update(variable="nobody"), "nobody"),
        (lambda d: nodes(d)[0].update(to=[1, 2]), "for the 3 states"),
        (lambda d: nodes(d)[0].update(to=[0, 1, 2]), "expected a node"),
        (lambda d: nodes(d)[0].update(to=[1, 99, 2]), "99"),
        (lambda d: nodes(d).append({"leaf": 7}), "nothing leads"),
        (lambda d: nodes(d)[-1].update(leaf=9), "leaves"),
    ],
    "normal": [
        (place("sd", value=-1.0), "standard deviation must be a finite, positive number"),
        (place("sd", value="wide"), "sd: expected numbers, got 'wide'"),
    ],
}
CASES = [(name, number) for name, edits in EDITS.items() for number in range(len(edits))]


def described(name: str, folder: Path) -> dict[str, Any]:
    """What the file of a model says."""
    if name == "older Gaussian network":
        return json.loads(json.dumps(OLDER))  # type: ignore[no-any-return]
    fn.save(EXAMPLES[name], folder / "saved.json")
    return json.loads((folder / "saved.json").read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def test_every_kind_is_edited() -> None:
    assert {type(EXAMPLES[name]).__name__ for name in EDITS if name in EXAMPLES} | {"GaussianMixture"} == set(KINDS)


@pytest.mark.parametrize(("name", "number"), CASES)
def test_every_field_is_checked(name: str, number: int, tmp_path: Path) -> None:
    edit, message = EDITS[name][number]
    fields = described(name, tmp_path)
    edit(fields)
    path = tmp_path / "edited.json"
    path.write_text(json.dumps(fields).replace("Infinity", "1e999"), encoding="utf-8")  # JSON has no other infinity
    with pytest.raises(fn.FileFormatError, match=message) as caught:
        fn.load(path)
    assert caught.value.path == str(path)


def test_causes_are_kept(tmp_path: Path) -> None:
    cyclic = described("merged", tmp_path)
    cyclic["conditionals"][0] |= {"parents": ["b"], "probabilities": [[0.5, 0.5]] * 2}
    zeros = described("dependency network", tmp_path)
    zeros["conditionals"][0]["probabilities"][0] = [0, 1]
    for fields, cause in ((cyclic, fn.CycleError), (zeros, fn.ZeroProbabilityError)):
        (tmp_path / "a.json").write_text(json.dumps(fields))
        with pytest.raises(fn.FileFormatError, match=r"a\.json: .*(cycle: a -> b -> a|probability 0)") as caught:
            fn.load(tmp_path / "a.json")
        assert isinstance(caught.value.__cause__, cause)


class OwnTable(FullTable):
    """A conditional that the file does not know."""


def test_an_unknown_kind_of_conditional_is_refused(tmp_path: Path) -> None:
    net = fn.BayesianNetwork([A], [OwnTable(0, (), [A], [[0.5, 0.5]])])
    message = "'a' is an OwnTable; what can be saved: ConditionalGaussian, FullTable, MergedTable"
    with pytest.raises(fn.SchemaError, match=message):
        fn.save(net, tmp_path / "a.json")


def test_a_deep_tree_is_no_deep_file(tmp_path: Path) -> None:
    n = 120
    variables = [fn.Variable(f"v{i}", ["a", "b"]) for i in range(n)]
    tree: Split | int = 0
    for v in range(1, n):
        tree = Split(v, (0, 1), (tree, v))
    chain = TreeConditional(0, range(1, n), [*variables[1:], variables[0]], tree, [[0.5, 0.5]] * n)
    others = [TreeConditional(v, (), [variables[v]], 0, [[0.5, 0.5]]) for v in range(1, n)]
    dn = fn.DependencyNetwork(variables, [chain, *others])
    nested: list[Any] = [4999]
    for leaf in range(4998, -1, -1):
        nested = [leaf, nested]
    hidden = fn.HiddenTree(nested, [0.4, 0.6], MOVE, MOVE)
    fn.save(dn, tmp_path / "model.json")
    assert fn.load(tmp_path / "model.json") == dn
    fn.save(hidden, tmp_path / "hidden.json")
    assert fn.load(tmp_path / "hidden.json").shape.child.tolist() == hidden.shape.child.tolist()


@pytest.mark.parametrize("depth", [4, 65, 200])
def test_lists_that_are_nested_too_deep(tmp_path: Path, depth: int) -> None:
    fields = json.dumps(described("hidden tree with arities", tmp_path))
    path = tmp_path / "deep.json"
    path.write_text(fields.replace("[0.25, 0.75]", "[" * depth + "0.5" + "]" * depth), encoding="utf-8")
    with pytest.raises(fn.FileFormatError, match="root: lists are nested more than 3 deep"):
        fn.load(path)
