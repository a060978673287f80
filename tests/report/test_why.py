"""The rows behind an answer on the page: those of `explain.rows`, computed in JavaScript."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.reports import behind
from fishernet.reports.network import PageNetwork
from tests.report.node import influences

Known = dict[str, Any]


def asked(net: Any, query: str, state: Any, seen: Known | None = None, done: Known | None = None) -> dict[str, Any]:
    """A question as the page asks it, by positions and codes."""
    place = {variable.name: v for v, variable in enumerate(net.variables)}

    def codes(known: Known | None) -> list[list[int]]:
        return [[place[name], net.variables[place[name]].code(label)] for name, label in (known or {}).items()]

    at = place[query]
    return {"seen": codes(seen), "done": codes(done), "v": at, "state": net.variables[at].code(state)}


def page_of(net: Any, table: fn.Table, *, rows: bool = True) -> dict[str, Any]:
    found = behind.behind_answers(net, net.rows(table), rows=rows)
    assert found is not None
    return replace(PageNetwork.of(net), behind=found).fields()


def table_of(name: str) -> fn.Table:
    if name == "weighted":
        plain = fn.datasets.load("asia").sample(400, seed=3)
        weights = np.random.default_rng(1).integers(1, 4, 400)
        return fn.Table.from_codes(np.array(plain.codes).T, plain.variables, weights=weights)
    return fn.datasets.load("asia").sample(1000, seed=1) if name == "asia" else fn.datasets.load("nursery")[::9]


@pytest.mark.parametrize("name", ["asia", "nursery", "weighted"])
def test_influences_are_those_of_the_library(name: str) -> None:
    table = table_of(name)
    net = fn.learn.bayesian_network(table)
    questions: list[tuple[str, Any, Known]] = (
        [("class", "priority", {}), ("class", "not_recom", {"health": "priority", "parents": "usual"})]
        if name == "nursery"
        else [("lung", "yes", {}), ("dysp", "no", {"smoke": "yes"}), ("smoke", "yes", {"xray": "yes", "dysp": "yes"})]
    )
    page = page_of(net, table)
    found = influences(page, [asked(net, query, state, given) for query, state, given in questions])
    kinds = page["behind"]["kinds"]
    total = table.n_rows
    assert sum(kinds["counts"]) == total
    for (query, state, given), answer in zip(questions, found, strict=True):
        assert answer is not None
        why = fn.explain.rows(net, table, query=query, state=state, given=given)
        np.testing.assert_allclose(answer["values"], why.values[kinds["first"]], rtol=1e-9, atol=1e-15)


def test_what_is_known_or_impossible_is_not_explained() -> None:
    table = table_of("asia")
    net = fn.learn.bayesian_network(table)
    page = page_of(net, table)
    known = asked(net, "lung", "yes", {"lung": "no"})
    assert influences(page, [known]) == [None]


def test_what_is_set_from_outside_rests_on_no_row_of_its_own() -> None:
    table = table_of("asia")
    net = fn.learn.parameters(fn.datasets.load("asia").dag, table)
    [answer] = influences(page_of(net, table), [asked(net, "xray", "yes", done={"either": "yes"})])
    assert answer is not None
    names = {net.names[found["child"]] for found in answer["configurations"]}
    assert names == {"xray"}


def test_configurations_say_how_many_rows_they_have() -> None:
    table = table_of("asia")
    net = fn.learn.parameters(fn.datasets.load("asia").dag, table)
    [answer] = influences(page_of(net, table, rows=False), [asked(net, "lung", "yes", {"smoke": "yes"})])
    assert answer is not None
    assert answer["values"] is None  # no row is in the page
    [first] = answer["configurations"]
    assert (net.names[first["child"]], net.names[first["parents"][0]]) == ("lung", "smoke")
    smoke = net.variables[first["parents"][0]].states[first["states"][0]]
    assert smoke == "yes"
    assert first["rows"] == (table.column("smoke") == net.variables[first["parents"][0]].code("yes")).sum()


def test_pages_without_an_answer_have_no_question() -> None:
    table = table_of("asia")
    holes = fn.Table.from_frame(table.to_pandas().mask(np.random.default_rng(1).random(table.shape) < 0.1))
    net = fn.learn.bayesian_network(table)
    assert behind.behind_answers(net, net.rows(holes), rows=True) is None
    assert behind.behind_answers(net, net.sample(50, seed=5), rows=True) is None  # of other rows
    trees = fn.learn.bayesian_network(table, conditionals="tree")
    assert behind.behind_answers(trees, trees.rows(table), rows=True) is None
    assert 'id="why"' in fn.report(table, net).html
    assert 'id="why"' not in fn.report(holes, net).html


def test_a_page_without_rows_names_none() -> None:
    table = table_of("asia")
    found = fn.report(table, target="lung", rows=False)
    assert set(found.left_out) == {"odd", "standing"}
    assert '"kinds"' not in found.html
    assert "configuration" in found.html
