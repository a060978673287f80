"""The core checks what it is given: whatever does not fit is an error and never a crash."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from fishernet import _core

CODES = [np.array([0, 1, 1], np.uint8), np.array([2, 0, 1], np.uint8)]
CARDINALITIES = np.array([2, 3], np.int64)


def i32(*values: int) -> Any:
    return np.array(values, np.int32)


def i64(*values: int) -> Any:
    return np.array(values, np.int64)


def columns(**changed: Any) -> _core.Columns:
    arguments: dict[str, Any] = {"codes": CODES, "cardinalities": CARDINALITIES, "n_rows": 3, **changed}
    return _core.Columns(**arguments)


def forest(parents: Any, hidden: Any = (1, 1)) -> _core.HiddenForest:
    return _core.HiddenForest(columns(), parents, np.array(hidden, np.uint8))


def terms() -> _core.SetTerms:
    return _core.SetTerms(columns(), "likelihood", 0.5)


def sums(**changed: Any) -> _core.CellSums:
    arguments: dict[str, Any] = {"cardinalities": CARDINALITIES, "measure": "likelihood", "parameter": 0.5, "total": 3}
    return _core.CellSums(**(arguments | changed))


CELLS: Any = np.array([[0, 2], [1, 0], [1, 1]], np.uint32)


def scored(**changed: Any) -> Any:
    """The score of the second variable given the first, by counts of cells that occur."""
    arguments: dict[str, Any] = {"children": i32(1), "offsets": i64(0, 1), "parents": i32(0), "which": i64(0)}
    return sums().family_scores(**(arguments | {"counts": [i64(1, 1, 1)], "states": [CELLS]} | changed))


def summed(**changed: Any) -> Any:
    """f and g of the set of the second variable, by counts of all its cells."""
    arguments: dict[str, Any] = {"offsets": i64(0, 1), "members": i32(1), "counts": [i64(1, 1, 1)], "states": [None]}
    return sums().set_terms(**(arguments | {"of_child": i64(2)} | changed))


def trees(**changed: Any) -> Any:
    """The tree of the second variable on the first."""
    arguments: dict[str, Any] = {"table": columns(), "unit": 1.0, "children": [1], "may_ask": np.ones((1, 2), np.uint8)}
    prices: dict[str, Any] = {"price": 0.5, "split_price": 0.0, "multiway": False}
    given = arguments | prices | {"max_inputs": 1.0, "max_cells": 10.0} | changed
    return _core.grow_trees(**given | {"children": i32(*given["children"])})


def rules(**changed: Any) -> dict[str, Any]:
    no = np.zeros((2, 2), bool)
    limits = {"max_parents": 2, "states": np.array([2.0, 3.0]), "max_cells": 100.0}
    return {"start": [[], []], "forbidden": no, "required": no, **limits, **changed}


def search(**changed: Any) -> _core.HillClimb:
    return _core.HillClimb(**rules(**changed))


def orders(**changed: Any) -> _core.OrderSearch:
    draws = {"restarts": 1, "moves": [1], "steps": [1], "key": 0}
    limits = {"graphs": True, "pairs_among": 2, "wide": True, "patience": 3, "tenure": 1}
    return _core.OrderSearch(**rules(**{**draws, **limits, **changed}))


def exact(**changed: Any) -> _core.ExactSearch:
    given = rules(**changed)
    del given["start"]
    return _core.ExactSearch(columns(), "likelihood", 0.5, **given)


def three_variables() -> dict[str, Any]:
    no = np.zeros((3, 3), bool)
    return {"start": [[], [], []], "forbidden": no, "required": no, "states": np.ones(3)}


def model() -> _core.Conditionals:
    conditionals = _core.Conditionals(CARDINALITIES)
    conditionals.add(0, i32(), 1)
    conditionals.add(1, i32(0), 2)
    return conditionals


def factors() -> _core.Factors:
    product = _core.Factors(CARDINALITIES)
    product.add(i32(0), np.array([0.5, 0.5]), True)
    product.add(i32(0, 1), np.array([0.2, 0.3, 0.5, 1.0, 0.0, 0.0]), True)
    return product


def inference(**changed: Any) -> _core.Inference:
    arguments: dict[str, Any] = {"observed": [1], "soft": [], "targets": [[0]], "whole": False, "most": 1e6, **changed}
    return _core.Inference(factors(), **arguments)


def hidden_markov(**changed: Any) -> _core.HiddenMarkov:
    half = np.full((2, 2), 0.5)
    arguments: dict[str, Any] = {"initial": half[0], "transition": half, "emission": half}
    arguments |= {"empty": None, "final": None, "at_once": 0.0}
    return _core.HiddenMarkov(**(arguments | changed))


def best(**changed: Any) -> Any:
    half = np.full((2, 2), -1.0)
    arguments: dict[str, Any] = {"start": half[0], "moves": half, "emission": half, "end": half[0]}
    arguments |= {"codes": i32(0, 1), "offsets": i64(0, 2)}
    return _core.hmm_best(**(arguments | changed))


def cells() -> _core.Cells:
    return model().cells(columns())


def strings(**changed: Any) -> _core.StringModel:
    arguments: dict[str, Any] = {"emission": np.array([[0.5, 0.3], [0.1, 0.9]]), "empty": np.array([0.2, 0.0])}
    arguments |= {"initial": np.array([0.5, 0.5]), "end": np.ones(2), "nothing": 1.0, "group_starts": i64(0, 1, 2)}
    arguments |= {"starts": i64(0, 2, 3), "from_": i32(0, 1, 0), "weights": np.array([0.5, 0.5, 0.5])}
    return _core.StringModel(**(arguments | changed))


def pairs(**changed: Any) -> Any:
    arguments: dict[str, Any] = {"x_codes": i32(0, 1, 1), "x_offsets": i64(0, 1, 3), "x_of": i64(0, 1)}
    arguments |= {"y_codes": i32(1), "y_offsets": i64(0, 1), "y_of": i64(0, 0)}
    return strings().pairs(**(arguments | changed))


def none_of_parents() -> _core.Cells:
    columns_alone = _core.Conditionals(CARDINALITIES)
    columns_alone.add(0, i32(), 1)
    return columns_alone.cells(columns())


def distance(**changed: Any) -> _core.SwapSearch:
    values = np.ones(8)
    arguments: dict[str, Any] = {"distinct": cells(), "kind_of": i64(0, 1, 2), "counts": values, "total": 3.0, "k": 2}
    arguments |= {"inverse_theta": values, "inverse_group": values}
    return _core.search_distance(**(arguments | changed))


def drawn_divergences(**changed: Any) -> Any:
    arguments = {
        "earlier": np.full((1, 2), 0.5),
        "later": np.full((1, 2), 0.5),
        "sizes": i64(3),
        "shares": np.array([1.0]),
    }
    return _core.drawn_divergences(**(arguments | {"n_later": 3, "key": 0, "n_draws": 1} | changed))


def split_counts(**changed: Any) -> _core.SplitCounts:
    """Of six rows, three of which were added."""
    arguments: dict[str, Any] = {"like": cells(), "n_rows": 6, "n_first": 2, "key": 1, "first": 0, "count": 70}
    made = _core.SplitCounts(**(arguments | changed))
    made.add(cells())
    return made


def all_split_counts() -> _core.SplitCounts:
    made = split_counts()
    made.add(cells())
    return made


def tree(**changed: Any) -> _core.TreeModel:
    """Two leaves below node 1, one below the root."""
    even = np.full((1, 2, 2), 0.5)
    arguments: dict[str, Any] = {"first": i64(0, 2, 4), "child": i32(1, ~0, ~1, ~2), "table": i32(0, 0, 0, 0)}
    arguments |= {"allowed": np.ones((2, 2), np.uint8), "root": np.array([0.5, 0.5])}
    return _core.TreeModel(**(arguments | {"transition": even, "emission": even} | changed))


STRINGS: Any = np.array([[0, 1, 2], [1, 1, 0]], np.int32)


def neighbours(**changed: Any) -> _core.KnnInformation:
    points = np.array([[0.0, 1.0, 3.0, 4.5]])
    arguments: dict[str, Any] = {"x": points, "y": points, "z": np.empty((0, 4)), "k": 1, **changed}
    return _core.KnnInformation(**arguments)


def row_orders(*rows: list[int]) -> Any:
    return np.array(rows, np.int32)


TABLES: Any = [np.array([[0.5, 0.5]]), np.array([[0.2, 0.3, 0.5], [1.0, 0.0, 0.0]])]
WRONG: list[tuple[str, Callable[[], Any]]] = [
    ("splits of no row", lambda: split_counts(n_first=0)),
    ("splits that take every row", lambda: split_counts(n_first=6)),
    ("splits that begin inside", lambda: split_counts(first=1)),
    ("no split", lambda: split_counts(count=0)),
    ("more rows than are split", lambda: all_split_counts().add(cells())),
    ("fewer rows at once than are added", lambda: split_counts(n_rows=2, n_first=1)),
    ("rows of other cells", lambda: split_counts().add(none_of_parents())),
    ("distances before all rows are there", lambda: split_counts().distances(np.ones(8), np.ones(8), False)),
    ("values of other cells", lambda: all_split_counts().distances(np.ones(8), np.ones(7), False)),
    ("a code beyond", lambda: columns(cardinalities=i64(2, 1))),
    ("signed codes", lambda: columns(codes=[np.array([0, 1, 1]), CODES[1]])),
    ("two axes", lambda: columns(codes=[np.zeros((3, 1), np.uint8), CODES[1]])),
    ("no array", lambda: columns(codes=[[0, 1, 1], CODES[1]])),
    ("columns differ", lambda: columns(codes=[CODES[0], CODES[1][:2]])),
    ("too few rows said", lambda: columns(n_rows=2)),
    ("negative rows", lambda: columns(n_rows=-1)),
    ("no cardinality", lambda: columns(cardinalities=i64(2))),
    ("cardinality zero", lambda: columns(cardinalities=i64(0, 3))),
    ("weights of another length", lambda: columns(weights=i64(1, 1))),
    ("a negative weight", lambda: columns(weights=i64(1, -1, 1))),
    ("weights without end", lambda: columns(weights=i64(2**62, 2**62, 2**62))),
    ("a set out of range", lambda: _core.count(columns(), i64(0, 1), i32(2), 100)),
    ("a set that falls", lambda: _core.count(columns(), i64(0, 2), i32(1, 0), 100)),
    ("offsets that fall", lambda: _core.count(columns(), i64(0, 2, 1, 2), i32(0, 1), 100)),
    ("offsets too long", lambda: _core.count(columns(), i64(0, 3), i32(0, 1), 100)),
    ("no offsets", lambda: _core.count(columns(), i64(), i32(), 100)),
    ("groups of a column out of range", lambda: _core.group_counts(columns(), i32(2), i64(0, 1), i64(0))),
    ("groups of a column below 0", lambda: _core.group_counts(columns(), i32(-1), i64(0, 1), i64(0))),
    ("a row of a group out of range", lambda: _core.group_counts(columns(), i32(0), i64(0, 1), i64(3))),
    ("a row of a group below 0", lambda: _core.group_counts(columns(), i32(0), i64(0, 1), i64(-1))),
    ("groups without offsets", lambda: _core.group_counts(columns(), i32(0), i64(), i64())),
    ("groups that begin late", lambda: _core.group_counts(columns(), i32(0), i64(1, 1), i64(0))),
    ("groups beyond the rows", lambda: _core.group_counts(columns(), i32(0), i64(0, 2), i64(0))),
    ("groups of rows that fall", lambda: _core.group_counts(columns(), i32(0), i64(0, 2, 1), i64(0))),
    ("more marked than there are", lambda: _core.log_hypergeometric_tails(i64(2), i64(3), i64(1), i64(1))),
    ("more drawn than there are", lambda: _core.log_hypergeometric_tails(i64(2), i64(1), i64(3), i64(1))),
    ("less than none marked", lambda: _core.log_hypergeometric_tails(i64(2), i64(-1), i64(1), i64(1))),
    ("more than a double counts", lambda: _core.log_hypergeometric_tails(i64(2**54), i64(1), i64(1), i64(1))),
    ("tails of other lengths", lambda: _core.log_hypergeometric_tails(i64(2), i64(1), i64(1), i64())),
    ("trees of a child that is not there", lambda: trees(children=[2])),
    ("trees without a row of what they ask", lambda: trees(may_ask=np.ones((1, 1), np.uint8))),
    ("trees at a negative price", lambda: trees(price=-1.0)),
    ("splits at an infinite price", lambda: trees(split_price=np.inf)),
    ("trees of no unit", lambda: trees(unit=0.0)),
    ("trees of less than a cell", lambda: trees(max_cells=0.5)),
    ("a count below 0", lambda: _core.ConditionalTest(np.full((2, 1, 2), -1))),
    ("more rows than a double counts", lambda: _core.ConditionalTest(np.full((2, 1, 2), 2**52))),
    ("draws below 0", lambda: _core.ConditionalTest(np.full((2, 1, 2), 3)).p_values(0, -1)),
    ("dispersed draws below 0", lambda: _core.ConditionalTest(np.full((2, 1, 2), 3)).dispersed_p_values(0, -1)),
    ("draws of what tells nothing", lambda: _core.ConditionalTest(np.zeros((2, 1, 2), dtype=np.int64)).drawn(0, 1)),
    ("statistics of what tells nothing", lambda: _core.ConditionalTest(np.zeros((0, 0, 0), dtype=np.int64)).statistics),
    ("divergences of three groups", lambda: _core.ConditionalTest(np.full((3, 1, 2), 3)).divergences(0, 1)),
    ("draws of no later row", lambda: drawn_divergences(n_later=0)),
    ("draws of no earlier row", lambda: drawn_divergences(sizes=i64(0))),
    ("shares of other configurations", lambda: drawn_divergences(shares=np.array([0.5, 0.5]))),
    ("other states later", lambda: drawn_divergences(later=np.ones((1, 1)))),
    ("a probability above 1", lambda: drawn_divergences(shares=np.array([2.0]))),
    ("a probability that is none", lambda: drawn_divergences(earlier=np.full((1, 2), np.nan))),
    ("missing cells scored", lambda: _core.SetTerms(columns(cardinalities=i64(2, 2)), "likelihood", 0.0)),
    ("no such measure", lambda: _core.SetTerms(columns(), "bayes", 1.0)),
    ("a prior of nothing", lambda: _core.SetTerms(columns(), "bdeu", 0.0)),
    ("sums of no state", lambda: sums(cardinalities=i64(0, 3))),
    ("sums of too many states", lambda: sums(cardinalities=i64(2, 2**32))),
    ("sums of less than no row", lambda: sums(total=-1)),
    ("sums of more than a double counts", lambda: sums(total=2**53 + 1)),
    ("sums of no measure", lambda: sums(measure="bayes")),
    ("sums of no prior", lambda: sums(measure="bdq", parameter=0.0)),
    ("counts of a child out of range", lambda: scored(children=i32(2))),
    ("counts of family offsets", lambda: scored(offsets=i64(0, 2))),
    ("counts of no set", lambda: scored(which=i64())),
    ("counts of a set beyond", lambda: scored(which=i64(1))),
    ("counts of a set below 0", lambda: scored(which=i64(-1))),
    ("counts that are doubles", lambda: scored(counts=[np.ones(3)])),
    ("counts of two axes", lambda: scored(counts=[np.ones((1, 3), np.int64)])),
    ("counts that are no array", lambda: scored(counts=[[1, 1, 1]])),
    ("a negative count", lambda: scored(counts=[i64(3, 1, -1)])),
    ("too few counted", lambda: scored(counts=[i64(1, 0, 1)])),
    ("too many counted", lambda: scored(counts=[i64(1, 2**62, 2**62)])),
    ("fewer counts than cells", lambda: scored(counts=[i64(2, 1)])),
    ("fewer counts than all cells", lambda: scored(states=[None])),
    ("more counts than all cells", lambda: scored(counts=[i64(1, 1, 1, 0, 0, 0, 0)], states=[None])),
    ("no states at all", lambda: scored(states=[])),
    ("states of another width", lambda: scored(states=[np.zeros((3, 3), np.uint32)])),
    ("states of 64 bits", lambda: scored(states=[CELLS.astype(np.uint64)])),
    ("a state beyond", lambda: scored(states=[CELLS + np.uint32(1)])),
    ("one set of two families", lambda: scored(children=i32(1, 1), offsets=i64(0, 1, 1), which=i64(0, 0))),
    ("terms of a set out of range", lambda: summed(members=i32(2))),
    ("terms of set offsets", lambda: summed(offsets=i64(0, 2))),
    ("terms without counts", lambda: summed(counts=[], states=[])),
    ("terms of other counts", lambda: summed(members=i32(0))),
    ("terms of no state", lambda: summed(of_child=i64(0))),
    ("a price that is no number", lambda: _core.SetTerms(columns(), "likelihood", float("nan"))),
    ("nothing to rise", lambda: _core.log_rising(0.0, np.zeros(1))),
    ("a rise from nowhere", lambda: _core.log_rising(float("-inf"), np.ones(1))),
    ("nothing to rise by", lambda: _core.log_rising_each(np.zeros(1), np.zeros(1))),
    ("one rise from nowhere", lambda: _core.log_rising_each(np.array([0.0, np.nan]), np.ones(2))),
    ("rises without a start", lambda: _core.log_rising_each(np.zeros(1), np.ones(2))),
    ("negative draws", lambda: _core.regret(i64(-1), 2.0, 0.7)),
    ("no states", lambda: _core.regret(i64(1), 0.0, 0.0)),
    ("states without a logarithm", lambda: _core.regret(i64(1), float("inf"), float("inf"))),
    ("a child out of range", lambda: terms().family_scores(i32(2), i64(0, 0), i32())),
    ("a parent out of range", lambda: terms().family_scores(i32(0), i64(0, 1), i32(-1))),
    ("a child among its parents", lambda: terms().family_scores(i32(0), i64(0, 1), i32(0))),
    ("family offsets", lambda: terms().family_scores(i32(0), i64(0, 2), i32(1))),
    ("doubles for integers", lambda: terms().family_scores(np.array([0.0]), i64(0, 0), i32())),
    ("scores of other families", lambda: _core.FamilyCache().store(i32(0), i64(0, 0), i32(), np.zeros(2))),
    ("a forest without a parent for each", lambda: forest(i32(-1))),
    ("a forest's parent out of range", lambda: forest(i32(-1, 2))),
    ("a forest that goes round", lambda: forest(i32(1, 0))),
    ("a forest whose root was observed", lambda: forest(i32(-1, 0), [0, 1])),
    ("a forest with an observed parent", lambda: forest(i32(1, -1), [1, 0])),
    ("a forest with other tables", lambda: forest(i32(-1, 0)).log_prob(np.ones(7), 0, 3)),
    ("a forest's probabilities below 0", lambda: forest(i32(-1, 0)).log_prob(np.full(8, -0.1), 0, 3)),
    ("a forest's probabilities that are none", lambda: forest(i32(-1, 0)).log_prob(np.full(8, np.nan), 0, 3)),
    ("a forest's rows out of range", lambda: forest(i32(-1, 0)).log_prob(np.ones(8), 0, 4)),
    ("a forest with a weight too few", lambda: forest(i32(-1, 0)).expected(np.ones(8), np.ones(2), 0, 3)),
    ("a start out of range", lambda: search(start=[[5], []])),
    ("a start of itself", lambda: search(start=[[0], []])),
    ("a matrix of another size", lambda: search(forbidden=np.zeros((3, 3), bool))),
    ("too few scores", lambda: search().run(lambda *families: np.zeros(1), lambda steps: False)),
    ("a scorer of other variables", lambda: search(**three_variables()).run(terms(), lambda steps: False)),
    ("states of other variables", lambda: search(states=np.ones(3))),
    ("a variable without states", lambda: search(states=np.array([2.0, 0.0]))),
    ("states that are no number", lambda: search(states=np.array([2.0, np.nan]))),
    ("no cells at all", lambda: search(max_cells=0.0)),
    ("a start with a cycle", lambda: search(start=[[1], [0]])),
    ("a parent listed twice", lambda: search(start=[[], [0, 0]])),
    ("a start with a forbidden arc", lambda: search(start=[[], [0]], forbidden=np.ones((2, 2), bool))),
    ("a start without a required arc", lambda: search(required=np.eye(2, k=1, dtype=bool))),
    ("negative patience", lambda: search(patience=-1)),
    ("negative restarts", lambda: search(restarts=-1)),
    ("an order from a cycle", lambda: orders(start=[[1], [0]])),
    ("an order from a start out of range", lambda: orders(start=[[-1], []])),
    ("an order's matrix of another size", lambda: orders(required=np.zeros((1, 1), bool))),
    ("a negative perturbation of an order", lambda: orders(moves=[1, -1])),
    ("a negative number of families of an order", lambda: orders(most_families=-1)),
    ("a negative least number of restarts of an order", lambda: orders(least_restarts=-1)),
    ("no perturbation of a graph", lambda: orders(steps=[])),
    ("pairs among fewer than none", lambda: orders(pairs_among=-1)),
    ("too few scores for an order", lambda: orders().run(lambda *families: np.zeros(1), lambda steps: False)),
    ("an exact search with other states", lambda: exact(states=np.ones(1))),
    ("an exact search without cells", lambda: exact(max_cells=0.5)),
    ("states without symbols", lambda: strings(emission=np.zeros((2, 0)))),
    ("emission of other states", lambda: strings(emission=np.ones((3, 2)))),
    ("a state without an end", lambda: strings(end=np.ones(1))),
    ("negative emission", lambda: strings(emission=-np.ones((2, 2)))),
    ("weights that are no numbers", lambda: strings(weights=np.full(3, np.nan))),
    ("groups that are not all states", lambda: strings(group_starts=i64(0, 1))),
    ("no groups", lambda: strings(group_starts=i64())),
    ("groups that fall", lambda: strings(group_starts=i64(0, 3, 2))),
    ("moves into too few states", lambda: strings(starts=i64(0, 3))),
    ("moves without weights", lambda: strings(weights=np.ones(2))),
    ("a group out of range", lambda: strings(from_=i32(0, 1, 2))),
    ("a symbol out of range", lambda: pairs(x_codes=i32(0, 1, 2))),
    ("a negative symbol", lambda: pairs(y_codes=i32(-1))),
    ("strings beyond the codes", lambda: pairs(x_offsets=i64(0, 1, 4))),
    ("strings that fall", lambda: pairs(x_offsets=i64(0, 4, 3))),
    ("a string out of range", lambda: pairs(x_of=i64(0, 2))),
    ("pairs of one string", lambda: pairs(y_of=i64(0))),
    (
        "strings of two lengths",
        lambda: strings().equal_lengths(np.zeros((1, 2), np.int32), np.zeros((1, 3), np.int32), False),
    ),
    (
        "a matrix of other strings",
        lambda: strings().equal_lengths(np.zeros((1, 2), np.int32), np.zeros((2, 2), np.int32), True),
    ),
    ("codes in the diagonal out of range", lambda: strings().diagonal(np.full((1, 1), 2, np.int32))),
    ("a conditional of nobody", lambda: model().add(2, i32(), 1)),
    ("a parent of nobody", lambda: model().add(0, i32(7), 1)),
    ("groups that do not fit", lambda: model().add(1, i32(0), 5)),
    ("a map out of the groups", lambda: model().add(1, i32(0), 2, i32(0, 2))),
    ("a map too short", lambda: model().add(1, i32(0), 2, i32(0))),
    ("too many configurations", lambda: _core.Conditionals(i64(*[1000] * 12)).add(0, i32(*range(1, 12)), 1)),
    ("values of another shape", lambda: model().look_up(columns(), [TABLES[0], TABLES[0]], True)),
    ("too few values", lambda: model().look_up(columns(), TABLES[:1], True)),
    ("a table of other columns", lambda: _core.Conditionals(i64(2)).look_up(columns(), [], True)),
    ("a column of another cardinality", lambda: model().look_up(columns(cardinalities=i64(2, 4)), TABLES, True)),
    ("a target of nobody", lambda: model().target_values(columns(), TABLES, 2)),
    ("a conditional that is not there", lambda: model().groups(columns(), 2)),
    ("children before parents", lambda: model().sample(TABLES, i32(1, 0), 5, 1)),
    ("a variable twice", lambda: model().sample(TABLES, i32(0, 0), 5, 1)),
    ("a negative sample", lambda: model().sample(TABLES, i32(0, 1), -1, 1)),
    ("no threads", lambda: _core.set_threads(0)),
    ("a factor of nobody", lambda: factors().add(i32(2), np.ones(2), False)),
    ("a factor of one variable twice", lambda: factors().add(i32(0, 0), np.ones(4), False)),
    ("a factor too short", lambda: factors().add(i32(0), np.ones(1), False)),
    ("a negative factor", lambda: factors().add(i32(0), np.array([1.0, -1.0]), False)),
    ("a factor without end", lambda: factors().add(i32(0), np.array([1.0, np.inf]), False)),
    ("a second conditional", lambda: factors().add(i32(0), np.ones(2), True)),
    ("a factor that is too large", lambda: _core.Factors(i64(*[2**16] * 3)).add(i32(0, 1, 2), np.ones(1), False)),
    ("observed out of range", lambda: inference(observed=[2])),
    ("observed twice", lambda: inference(observed=[1, 1])),
    ("a soft one out of range", lambda: inference(soft=[-1])),
    ("an observed target", lambda: inference(targets=[[1]])),
    ("a target out of range", lambda: inference(targets=[[5]])),
    ("too few states", lambda: inference().run(i32(0), [])),
    ("a state out of range", lambda: inference().run(i32(0, 3), [])),
    ("likelihoods that nobody waits for", lambda: inference().run(i32(0, 0), [np.ones(2)])),
    ("no likelihood", lambda: inference(soft=[0]).run(i32(0, 0), [])),
    ("a likelihood too long", lambda: inference(soft=[0]).run(i32(0, 0), [np.ones(3)])),
    ("a negative likelihood", lambda: inference(soft=[0]).run(i32(0, 0), [np.array([1.0, -1.0])])),
    ("rows of two targets", lambda: inference(targets=[[0], []]).run_rows(np.zeros((1, 2), np.int32))),
    ("rows too short", lambda: inference().run_rows(np.zeros((1, 1), np.int32))),
    ("a plan that was given up", lambda: inference(most=1.0).run(i32(0, 0), [])),
    ("families given up", lambda: _core.FamilyPlan(factors(), [1], [], "auto", 1.0).run(i32(0, 0), [])),
    ("a maximum of a part", lambda: inference(targets=[]).maximize(i32(0, 0), [])),
    ("no such method", lambda: _core.FamilyPlan(factors(), [], [], "guess", 1e6)),
    ("families of potentials", lambda: _core.FamilyPlan(_core.Factors(CARDINALITIES), [], [], "auto", 1e6)),
    ("cells of other columns", lambda: model().cells(columns(cardinalities=i64(2, 4)))),
    ("weights of other rows", lambda: cells().counts(i64(1))),
    ("weights that are no integers", lambda: cells().counts(np.ones(3))),  # type: ignore[arg-type]
    ("factors of other rows", lambda: cells().sums(np.ones(2))),
    ("factors that are integers", lambda: cells().sums(i64(1, 2, 3))),
    ("terms for other cells", lambda: _core.gram(cells(), cells(), np.ones(7), np.ones(8))),
    ("rows of other conditionals", lambda: _core.gram(cells(), none_of_parents(), np.ones(8), np.ones(8))),
    ("a row that equals none", lambda: distance(kind_of=i64(0, 1, 3))),
    ("rows that weigh nothing", lambda: distance(total=0.0)),
    ("no rows to choose", lambda: distance(k=0)),
    ("more rows than there are", lambda: distance(k=4)),
    ("counts of other cells", lambda: distance(counts=np.ones(7))),
    ("a start too short", lambda: distance().set_start(i64(0))),
    ("a row twice", lambda: distance().set_start(i64(0, 0))),
    ("a row that is not there", lambda: distance().set_start(i64(0, 3))),
    ("no starts", lambda: distance().draw_start(1, 0)),
    ("a search without a start", lambda: distance().visit(0, 2)),
    ("a subset of more than all", lambda: _core.draw_subset(3, 4, 1, 0)),
    ("a tree without nodes", lambda: tree(first=i64(0))),
    ("edges that do not fit", lambda: tree(first=i64(0, 2, 5))),
    ("a node without children", lambda: tree(first=i64(0, 4, 4))),
    ("a child above its parent", lambda: tree(child=i32(1, ~0, 0, ~1))),
    ("a child twice", lambda: tree(child=i32(1, 1, ~0, ~1))),
    ("a leaf twice", lambda: tree(child=i32(1, ~0, ~1, ~1))),
    ("a leaf out of range", lambda: tree(child=i32(1, ~0, ~1, ~3))),
    ("a table out of range", lambda: tree(table=i32(0, 0, 1, 0))),
    ("too few tables", lambda: tree(table=i32(0))),
    ("nodes that do not know their states", lambda: tree(allowed=np.ones((1, 2), np.uint8))),
    ("tables of other states", lambda: tree(transition=np.full((1, 3, 3), 1 / 3))),
    ("emissions of other tables", lambda: tree(emission=np.full((2, 2, 2), 0.5))),
    ("a negative probability", lambda: tree(root=np.array([1.5, -0.5]))),
    ("strings of another length", lambda: tree().log_prob(STRINGS[:, :2].copy())),
    ("a symbol out of range", lambda: tree().log_prob(STRINGS + 1)),
    ("a negative symbol", lambda: tree().quotients(STRINGS - 1, True)),
    ("columns of another length", lambda: tree().gram(STRINGS, STRINGS[:, :2].copy(), 1.0, 0.0, False)),
    ("a weight out of range", lambda: tree().gram(STRINGS, None, 0.0, 1.0, False)),
    ("a weight that is no number", lambda: tree().diagonal(STRINGS, 1.0, float("nan"), False)),
    ("points of other rows", lambda: neighbours(y=np.zeros((1, 3)))),
    ("z of other rows", lambda: neighbours(z=np.empty((0, 3)))),
    ("no x", lambda: neighbours(x=np.empty((0, 4)))),
    ("a neighbour of none", lambda: neighbours(k=0)),
    ("a neighbour beyond the last", lambda: neighbours(k=4)),
    ("a number that is none", lambda: neighbours(x=np.array([[0.0, 1.0, np.nan, 2.0]]))),
    ("a number without end", lambda: neighbours(x=np.array([[0.0, 1.0, np.inf, 2.0]]))),
    ("points in single precision", lambda: neighbours(x=np.zeros((1, 4), np.float32))),
    ("an order of other rows", lambda: neighbours().estimate(row_orders([0, 1, 2]))),
    ("an order beyond the rows", lambda: neighbours().estimate(row_orders([0, 1, 2, 4]))),
    ("an order before the rows", lambda: neighbours().estimate(row_orders([0, 1, 2, -1]))),
    ("an order with a row twice", lambda: neighbours().estimate(row_orders([0, 1, 2, 2]))),
    ("an order of long integers", lambda: neighbours().estimate(np.array([[0, 1, 2, 3]]))),
    ("counts of two orders", lambda: neighbours().counts(row_orders([0, 1, 2, 3], [0, 1, 2, 3]))),
    ("nearest of none", lambda: _core.nearest_others(np.empty((0, 4)), 1)),
    ("more nearest than there are", lambda: _core.nearest_others(np.zeros((1, 4)), 4)),
    ("orders of nothing", lambda: _core.draw_orders(0, 1, 1, 0)),
    ("fewer orders than none", lambda: _core.draw_orders(3, -1, 1, 0)),
    ("near rows that are not there", lambda: _core.draw_local_orders(row_orders([1], [2]), 1, 1, 0)),
    ("too few degrees of freedom", lambda: _core.log_chi_square_tails(np.ones(2), i64(1))),
]


HALF, SILENT = np.full((2, 2), 0.5), np.zeros((2, 2))
WRONG += [
    ("fewer symbols than said", lambda: hidden_markov(n_single=3)),
    ("less than no symbols", lambda: hidden_markov(n_single=-2)),
    ("no state", lambda: hidden_markov(initial=np.zeros(0))),
    ("a transition of three states", lambda: hidden_markov(transition=np.ones((3, 3)))),
    ("a transition that is not square", lambda: hidden_markov(transition=np.ones((2, 3)))),
    ("an emission of three states", lambda: hidden_markov(emission=np.ones((3, 2)))),
    ("an emission of no symbol", lambda: hidden_markov(emission=np.ones((2, 0)))),
    ("an emission in Fortran order", lambda: hidden_markov(emission=np.asfortranarray(np.ones((2, 3))))),
    ("three empties", lambda: hidden_markov(empty=np.ones(3))),
    ("three finals", lambda: hidden_markov(final=np.ones(3))),
    ("a negative probability", lambda: hidden_markov(initial=np.array([-0.5, 1.5]))),
    ("a probability that is no number", lambda: hidden_markov(final=np.array([np.nan, 0.5]))),
    ("an infinite probability", lambda: hidden_markov(at_once=np.inf)),
    ("a singular model", lambda: hidden_markov(emission=SILENT, empty=np.ones(2)).log_prob(i32(), i64(0, 0))),
    ("a code that is no symbol", lambda: hidden_markov().log_prob(i32(0, 2), i64(0, 2))),
    ("a negative code", lambda: hidden_markov().posterior(i32(0, -1), i64(0, 2))),
    ("offsets beyond the codes", lambda: hidden_markov().log_prob(i32(0, 1), i64(0, 3))),
    ("no offsets", lambda: hidden_markov().log_prob(i32(), i64())),
    ("offsets that fall", lambda: hidden_markov().log_prob(i32(0, 1), i64(0, 2, 1, 2))),
    ("a block of no string", lambda: hidden_markov().derivatives(i32(0), i64(0, 1), 0, True)),
    ("fewer than no rows", lambda: hidden_markov().derivatives(i32(0), i64(0, 1), 1, True, -1)),
    ("logarithms of no state", lambda: best(start=np.zeros(0))),
    ("moves of three states", lambda: best(moves=np.zeros((3, 3)))),
    ("an emission of one state", lambda: best(emission=np.zeros((1, 2)))),
    ("an end of one state", lambda: best(end=np.zeros(1))),
    ("a code that has no logarithm", lambda: best(codes=i32(0, 2))),
]


TWO = np.array([[1.0, 0.5], [0.5, 1.0]])
SIZES = np.zeros(2)


def blankets(**changed: Any) -> Any:
    arguments: dict[str, Any] = {"products": TWO, "rank": 9, "of_size": SIZES, "weight": 1.0, "first": 0, "last": 2}
    return _core.find_blankets(**(arguments | changed))


def climb(**changed: Any) -> Any:
    arguments: dict[str, Any] = {"products": TWO, "rank": 9, "of_size": SIZES, "weight": 1.0}
    arguments |= {"edges": np.array([[0, 1]], np.int32)}
    return _core.climb_edges(**(arguments | changed))


def families(**changed: Any) -> Any:
    arguments: dict[str, Any] = {"products": TWO, "of_set": np.zeros(3), "weight": 1.0}
    arguments |= {"children": i32(0, 1), "offsets": i64(0, 0, 1), "parents": i32(0)}
    return _core.gaussian_family_scores(**(arguments | changed))


def subsets(**changed: Any) -> Any:
    arguments: dict[str, Any] = {"products": TWO, "of_set": np.zeros(3), "weight": 1.0}
    return _core.gaussian_subset_scores(**(arguments | changed))


def parent_sets() -> _core.ParentSets:
    square = np.zeros((2, 2), bool)
    return _core.ParentSets(1, square, square, np.ones(2), 9.0, np.full(2, np.inf), np.zeros(0), -1.0, 99, 0.0)


def told(**changed: Any) -> Any:
    arguments: dict[str, Any] = {"scores": np.zeros(1), "fits": np.zeros(0), "seconds": np.inf}
    return parent_sets().tell(**(arguments | changed))


def near(**changed: Any) -> Any:
    made = parent_sets()
    while len(wanted := made.wanted()[0]):
        made.tell(np.zeros(len(wanted)), np.zeros(0), np.inf)
    arguments: dict[str, Any] = {"sets": made, "within": 1.0, "most": 5, "equivalent": True}
    return _core.NearBest(**(arguments | changed))


def walks(**changed: Any) -> Any:
    arguments: dict[str, Any] = {"n": 2, "children": i32(0, 1, 1), "offsets": i64(0, 0, 0, 1), "parents": i32(0)}
    arguments |= {"scores": np.zeros(3), "key": 1}
    arguments |= {"start_children": i32(0, 1), "start_offsets": i64(0, 0, 1), "start_parents": i32(0)}
    return _core.LayerWalks(**(arguments | changed))


def wide_walks() -> Any:
    others = np.arange(1, 65, dtype=np.int32)
    children = np.concatenate([np.zeros(64, np.int32), np.arange(1, 65, dtype=np.int32)])
    offsets = np.concatenate([np.arange(65), np.full(64, 64)])
    starts = {"start_children": np.arange(65, dtype=np.int32), "start_offsets": np.zeros(66, np.int64)}
    arguments = {"children": children, "offsets": offsets, "parents": others, "scores": np.zeros(128)}
    return walks(n=65, start_parents=i32(), **arguments, **starts)


def labelled(has_gap: bool = False, **changed: Any) -> Any:
    table = _core.Columns([np.array([0, 2 if has_gap else 1], np.uint8), np.zeros(2, np.uint8)], i64(2, 1), 2)
    arguments: dict[str, Any] = {"table": table, "numbers": i32(1), "values": np.ones((2, 1)), "weights": None}
    return _core.LabelledNumbers(**(arguments | changed))


def of_rows(**changed: Any) -> Any:
    arguments: dict[str, Any] = {"cardinalities": i64(2, 1), "numbers": i32(1), "total": 2.0, "source": labelled()}
    return _core.MomentStore(**(arguments | changed))


WRONG += [
    ("no variable to walk over", lambda: walks(n=0)),
    ("no score of a family", lambda: walks(scores=np.zeros(2))),
    ("an infinite score", lambda: walks(scores=np.array([0, 0, np.inf]))),
    ("a family twice", lambda: walks(offsets=i64(0, 0, 0, 0), parents=i32())),
    ("too many other variables", lambda: wide_walks()),
    ("half a start", lambda: walks(start_children=i32(0), start_offsets=i64(0, 0), start_parents=i32())),
    ("no start", lambda: walks(start_children=i32(), start_offsets=i64(0), start_parents=i32())),
    ("a start out of order", lambda: walks(start_children=i32(1, 0), start_offsets=i64(0, 1, 1))),
    ("a start that is no choice", lambda: walks(start_offsets=i64(0, 1, 1), start_parents=i32(1))),
    (
        "a start with a cycle",
        lambda: walks(
            children=i32(0, 1, 0, 1),
            offsets=i64(0, 0, 0, 1, 2),
            parents=i32(1, 0),
            scores=np.zeros(4),
            start_offsets=i64(0, 1, 2),
            start_parents=i32(1, 0),
        ),
    ),
    ("walks that go back", lambda: walks().advance(-1)),
    ("graphs that are better than the best", lambda: near(within=-1.0)),
    ("graphs of any score", lambda: near(within=np.inf)),
    ("no graphs", lambda: near(most=0)),
    ("more scores than sets", lambda: told(scores=np.zeros(3))),
    ("fewer seconds than none", lambda: told(seconds=-1.0)),
    ("seconds that are no number", lambda: told(seconds=np.nan)),
    ("rows without numbers", lambda: labelled(values=np.ones((3, 1)))),
    ("numbers of no column", lambda: labelled(values=np.ones((2, 0)), numbers=i32())),
    ("a number that no table has", lambda: labelled(numbers=i32(2))),
    ("weights of other rows", lambda: labelled(weights=np.ones(3))),
    ("a label that is missing", lambda: labelled(has_gap=True)),
    ("rows of other states", lambda: of_rows(cardinalities=i64(3, 1))),
    ("rows of other columns", lambda: of_rows(cardinalities=i64(2, 1, 1))),
    ("rows of other numbers", lambda: of_rows(numbers=i32(0))),
    ("products that are not square", lambda: blankets(products=np.ones((2, 3)))),
    ("a product beyond 1", lambda: blankets(products=np.array([[1.0, 1.5], [1.5, 1.0]]))),
    ("a product that is no number", lambda: blankets(products=np.full((2, 2), np.nan))),
    ("products that are not scaled", lambda: blankets(products=np.eye(2) / 2)),
    ("a score of no size", lambda: blankets(of_size=np.zeros(0))),
    ("a size that is infinite", lambda: blankets(of_size=np.array([0.0, np.inf]))),
    ("a negative weight", lambda: blankets(weight=-1.0)),
    ("a column before the first", lambda: blankets(first=-1)),
    ("a column after the last", lambda: blankets(last=3)),
    ("an end before the beginning", lambda: blankets(first=2, last=1)),
    ("edges of three columns", lambda: climb(edges=np.zeros((1, 3), np.int32))),
    ("an edge from a column to itself", lambda: climb(edges=np.zeros((1, 2), np.int32))),
    ("an edge beyond the columns", lambda: climb(edges=np.array([[0, 2]], np.int32))),
    ("an edge twice", lambda: climb(edges=np.array([[0, 1], [0, 1]], np.int32))),
    ("a child out of range", lambda: families(children=i32(0, 2))),
    ("a family larger than the score knows", lambda: families(of_set=np.zeros(2))),
    ("offsets that do not fit", lambda: families(offsets=i64(0, 1))),
    ("all sets of too many columns", lambda: subsets(products=np.eye(33))),
    ("a weight that is no number", lambda: subsets(weight=np.nan)),
]


def mixed_model(**changed: Any) -> _core.MixedModel:
    """Return a label with two states, and a number that depends on it."""
    of_both: Any = [(False, [0], [], np.log([0.5, 0.5])), (True, [0], [], np.array([0.0, 1.0, 2.0, 1.0]))]
    arguments: dict[str, Any] = {"cardinalities": i64(2, 1), "conditionals": of_both, **changed}
    return _core.MixedModel(**arguments)


def mixed_gap(**changed: Any) -> _core.MixedGap:
    arguments: dict[str, Any] = {"model": mixed_model(), "missing": [0], "families": [0, 1], "soft": [], **changed}
    return _core.MixedGap(**arguments)


def mixed_joint(gap: _core.MixedGap | None = None, **changed: Any) -> Any:
    cells: Any = np.zeros((1, 2))
    arguments: dict[str, Any] = {"model": mixed_model(), "cells": cells, "rows": i64(0), "keep": [0], **changed}
    return (gap or mixed_gap()).joint(**arguments)


def mixed_sums(**changed: Any) -> Any:
    """Add what is expected of a row that lacks the label."""
    sums: Any = [
        (np.zeros(2), np.zeros((2, 0)), np.zeros((2, 0, 0))),
        (np.zeros(2), np.zeros((2, 1)), np.zeros((2, 1, 1))),
    ]
    given: dict[str, Any] = {"model": mixed_model(), "gaps": [(mixed_gap(), i64(0))], "cells": np.zeros((1, 2))}
    return _core.add_expected(**given | {"weights": np.ones(1), "origin": np.zeros(2), "sums": sums} | changed)


NO_VALUES: Any = [(False, [0], [], np.zeros(0)), (True, [0], [], np.zeros(0))]
MIXED_WRONG: list[Callable[[], Any]] = [
    lambda: mixed_model(cardinalities=i64(2)),
    lambda: mixed_model(cardinalities=i64(2, 0)),
    lambda: mixed_model(cardinalities=i64(3, 1)),
    lambda: mixed_model(conditionals=[(False, [0], [1], np.zeros(2)), (True, [], [], np.zeros(2))]),
    lambda: mixed_model(conditionals=[(False, [1, 0], [], np.zeros(2)), (True, [], [], np.zeros(2))]),
    lambda: mixed_gap(missing=[2]),
    lambda: mixed_gap(missing=[0, 0]),
    lambda: mixed_gap(families=[0, 5]),
    lambda: mixed_gap(missing=[1], families=[0]),
    lambda: mixed_gap(soft=[(1, np.zeros(1))]),
    lambda: mixed_gap(soft=[(0, np.zeros(3))]),
    lambda: mixed_joint(rows=i64(1)),
    lambda: mixed_joint(cells=np.zeros((1, 3))),
    lambda: mixed_joint(keep=[1]),
    lambda: mixed_joint(model=mixed_model(conditionals=NO_VALUES)),
    lambda: mixed_joint(mixed_gap(missing=[1]), cells=np.full((1, 2), 2.0), keep=[]),
    lambda: mixed_joint(mixed_gap(missing=[1]), cells=np.full((1, 2), np.nan), keep=[]),
    lambda: mixed_gap().mixture(mixed_model(), np.zeros((1, 2)), i64(0), [1], []),
    lambda: mixed_gap().completed(mixed_model(), np.zeros((1, 2)), i64(0), np.zeros((2, 1))),
    lambda: mixed_sums(sums=[]),
    lambda: mixed_sums(weights=np.ones(2)),
    lambda: mixed_sums(origin=np.ones(3)),
    lambda: mixed_sums(gaps=[(mixed_gap(), i64(1))]),
    lambda: _core.mixed_gaps(columns(), [[0]], True, -1),
    lambda: _core.mixed_gaps(columns(), [[0], [0]], True, -1),
    lambda: _core.mixed_gaps(columns(), [[0], [1]], True, 2),
]


@pytest.mark.parametrize("call", MIXED_WRONG)
def test_what_does_not_fit_gaps_of_labels_and_numbers_is_refused(call: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=r"."):
        call()
    assert mixed_joint().shape == (2,)
    assert mixed_sums().shape == (1,)


@pytest.mark.parametrize(("what", "call"), WRONG, ids=[what for what, _ in WRONG])
def test_what_does_not_fit_is_refused(what: str, call: Callable[[], Any]) -> None:
    with pytest.raises((ValueError, TypeError, RuntimeError)):
        call()


def test_what_fits_is_taken() -> None:
    assert columns().total == 3
    assert columns(weights=i64(5, 0, 1)).total == 6
    assert terms().family_scores(i32(0, 1), i64(0, 0, 1), i32(0)).shape == (2,)
    assert sums().price == 0.5
    assert sums(measure="k2").knows_child
    assert scored().tolist() == terms().family_scores(i32(1), i64(0, 1), i32(0)).tolist()
    assert scored(counts=[i64(0, 0, 1, 1, 1, 0)], states=[None]).tolist() == scored().tolist()
    assert [part.shape for part in summed()] == [(1,), (1, 1)]
    assert model().look_up(columns(), TABLES, True).tolist() == [1.0, 1.5, 0.5]
    assert [len(column) for column in model().sample(TABLES, i32(0, 1), 5, 1)] == [5, 5]
    assert inference().run(i32(0, 1), [])[0][0].tolist() == [1.0, 0.0]
    assert inference().run_rows(np.zeros((2, 2), np.int32)).shape == (2, 2)
    assert inference(targets=[], whole=True).maximize(i32(0, 0), []).tolist() == [1, 0]
    assert cells().counts(i64(1, 0, 4)).sum() == 10
    assert cells().sums(np.array([0.5, 0.0, -2.0])).sum() == -3.0
    search = distance()
    search.draw_start(1, 3)
    assert search.visit(0, 2) >= 0
    assert hidden_markov().log_prob(i32(0, 1), i64(0, 2))[0] == pytest.approx(np.log(0.25))
    assert hidden_markov(emission=SILENT, empty=np.ones(2)).singular == 1
    assert best()[0].tolist() == [0, 0]
    assert tree().gram(STRINGS, None, 1.0, 0.0, False).shape == (2, 2)
    assert tree().posteriors(STRINGS).shape == (2, 4)
    assert neighbours().estimate(row_orders([0, 1, 2, 3], [3, 2, 1, 0])).shape == (2,)
    assert neighbours(z=np.zeros((1, 4))).estimate(row_orders([0, 0, 0, 0])).shape == (1,)
    assert _core.draw_local_orders(row_orders([1], [0]), 2, 1, 0).shape == (2, 2)
    empty = columns(codes=[], cardinalities=i64(), n_rows=7)
    assert _core.count(empty, i64(0, 0), i32(), 1)[0][0].tolist() == [7]


def test_what_fits_the_gaussian_core_is_taken() -> None:
    offsets, members, saturated, collinear = blankets()
    assert (offsets.tolist(), members.tolist(), saturated.tolist(), len(collinear)) == ([0, 1, 2], [1, 0], [0, 0], 0)
    assert climb()[0].tolist() == [1]
    assert families()[0] == pytest.approx([0.0, -np.log(0.75)])
    assert subsets()[0] == pytest.approx([0.0, 0.0, 0.0, -np.log(0.75)])


def test_collinear_columns_are_said() -> None:
    same = np.ones((2, 2))
    assert sorted(blankets(products=same)[-1].tolist()) == [0, 1]
    assert climb(products=same)[-1].tolist() == [1, 0]
    assert families(products=same)[-1].tolist() == [0, 1]
    assert subsets(products=same)[-1].tolist() == [1, 0]
