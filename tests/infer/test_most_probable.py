"""The most probable state of all variables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given

import fishernet as fn
from tests.reference import inference as reference
from tests.reference.inference import Query, long_network, queries


@given(queries())
def test_it_is_one_of_the_states_that_tie_and_otherwise_the_only_one(query: Query) -> None:
    table = reference.weights(query.net, query.given, query.likelihood)
    cells = np.argwhere(table >= table.max() * (1 - 1e-12)).tolist()
    best = [[v.states[code] for v, code in zip(query.net.variables, cell, strict=True)] for cell in cells]
    got = fn.infer.most_probable(query.net, **query.evidence)
    assert list(got) == list(query.net.names)
    assert list(got.values()) in best


def test_it_is_not_every_variables_own_best() -> None:
    """a = 1 has 0.6, but spreads over b: (0, 0) has 0.4, more than the 0.3 of (1, 0) and of (1, 1)."""
    a, b = fn.Variable("a", [0, 1]), fn.Variable("b", [0, 1])
    tables: dict[str, Any] = {"a": [0.4, 0.6], "b": [[1, 0], [0.5, 0.5]]}
    net = fn.BayesianNetwork.from_tables([a, b], {"b": ["a"]}, tables)
    assert fn.infer.most_probable(net) == {"a": 0, "b": 0}
    assert fn.infer.most_probable(net, given={"b": 1}) == {"a": 1, "b": 1}


def test_soft_evidence_turns_it() -> None:
    x = fn.Variable("x", ["u", "v", "w"])
    net = fn.BayesianNetwork.from_tables([x], {}, {"x": [0.5, 0.3, 0.2]})
    assert fn.infer.most_probable(net, likelihood={"x": [1, 2, 2]}) == {"x": "v"}
    assert fn.infer.most_probable(net, likelihood={"x": [0, 0, 1e-300]}) == {"x": "w"}


def test_separate_components_are_each_at_their_best() -> None:
    names = [f"x{i:03}" for i in range(300)]
    tops = [i % 3 for i in range(300)]
    tables: dict[str, Any] = {
        name: np.where(np.arange(3) == top, 0.5, 0.25) for name, top in zip(names, tops, strict=True)
    }
    net = fn.BayesianNetwork.from_tables([fn.Variable(name, range(3)) for name in names], {}, tables)
    assert list(fn.infer.most_probable(net).values()) == tops


# ------------------------------------------------------------------------------------------------------------ length


def test_a_long_hidden_chain_is_viterbis() -> None:
    """The joint probability of 3,000 states and 3,000 symbols is far below the smallest number there is."""
    n, rng = 3000, np.random.default_rng(0)
    start, step, emit = rng.dirichlet(np.ones(3)), rng.dirichlet(np.ones(3), size=3), rng.dirichlet(np.ones(4), size=3)
    symbols = rng.integers(0, 4, size=n)
    variables = [fn.Variable(f"h{t}", range(3)) for t in range(n)] + [fn.Variable(f"o{t}", range(4)) for t in range(n)]
    parents = {f"h{t}": [f"h{t - 1}"] for t in range(1, n)} | {f"o{t}": [f"h{t}"] for t in range(n)}
    tables: dict[str, Any] = {"h0": start} | {f"h{t}": step for t in range(1, n)} | {f"o{t}": emit for t in range(n)}
    net = long_network(variables, parents, tables)
    seen = {f"o{t}": int(symbols[t]) for t in range(n)}

    value = np.log(start) + np.log(emit[:, symbols[0]])
    for t in range(1, n):  # Viterbi's recursion, in logarithms
        value = (value[:, None] + np.log(step)).max(axis=0) + np.log(emit[:, symbols[t]])
    got = fn.infer.most_probable(net, given=seen)
    assert {name: got[name] for name in seen} == seen
    assert net.log_prob([list(got.values())])[0] == pytest.approx(value.max(), rel=1e-12)


def test_a_class_that_is_ruled_out_at_last_does_not_win() -> None:
    """The first class is favoured 10**15000 to 1 by all children but one, which it cannot have."""
    n = 5000
    names = [f"x{i}" for i in range(n)]
    variables = [fn.Variable(name, ["no", "yes"]) for name in ["class", *names, "proof"]]
    tables: dict[str, Any] = {"class": [0.5, 0.5], "proof": [[1, 0], [0.75, 0.25]]}
    tables |= {name: [[0.1, 0.9], [1 - 0.0009, 0.0009]] for name in names}
    net = long_network(variables, {name: ["class"] for name in [*names, "proof"]}, tables)
    seen = dict.fromkeys(names, "yes")
    assert fn.infer.most_probable(net, given=seen)["class"] == "no"
    assert fn.infer.most_probable(net, given={**seen, "proof": "yes"})["class"] == "yes"


# ------------------------------------------------------------------------------------------------------------- errors
