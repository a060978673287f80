"""P(family | given) of every variable."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fishernet as fn
from fishernet.base.errors import StateSpaceError
from tests.networks import random_network
from tests.reference import inference as reference
from tests.reference.inference import Array, Query, married, queries, varied


@st.composite
def larger(draw: st.DrawFn) -> tuple[fn.BayesianNetwork, dict[str, Any]]:
    """About 20 variables and the states of some in a row that was drawn from the network."""
    seed = draw(st.integers(0, 2**32))
    net = varied(random_network(seed, draw(st.lists(st.integers(1, 3), min_size=10, max_size=20))), seed)
    row = net.sample(1, seed=seed)
    seen = draw(st.lists(st.integers(0, len(net.names) - 1), unique=True, max_size=6))
    return net, {net.names[v]: net.variables[v].states[int(row.codes[v][0])] for v in seen}


def axis_sums(net: fn.BayesianNetwork, families: list[Array]) -> dict[str, list[Array]]:
    """The distribution of each variable, once from every family that it is in."""
    found: dict[str, list[Array]] = {name: [] for name in net.names}
    for child, family in enumerate(families):
        for axis, name in enumerate(reference.family_names(net, child)):
            found[name].append(family.sum(axis=tuple(i for i in range(family.ndim) if i != axis)))
    return found


@given(queries())
def test_they_are_the_trees(query: Query) -> None:
    got = fn.infer.family_marginals(query.net, **query.evidence)
    tree = fn.infer.JunctionTree(query.net).family_marginals(**query.evidence)
    for ours, theirs in zip(got, tree, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-300)


@given(larger())
def test_families_agree_on_the_variables_they_share(case: tuple[fn.BayesianNetwork, dict[str, Any]]) -> None:
    net, evidence = case
    families = fn.infer.family_marginals(net, given=evidence)
    for sums in axis_sums(net, families).values():
        assert sums[0].sum() == pytest.approx(1, rel=1e-12)
        for other in sums[1:]:
            np.testing.assert_allclose(other, sums[0], rtol=1e-10, atol=1e-13)


def test_components_do_not_meet() -> None:
    """Thirty pairs: the joint has 2**60 states, the families four each."""
    names = [f"{kind}{i:02}" for i in range(30) for kind in "ab"]
    parents = {f"b{i:02}": [f"a{i:02}"] for i in range(30)}
    flip = [[0.9, 0.1], [0.2, 0.8]]
    tables: dict[str, Any] = {name: flip if name in parents else [0.3, 0.7] for name in names}
    net = fn.BayesianNetwork.from_tables([fn.Variable(name, [0, 1]) for name in names], parents, tables)
    got = fn.infer.family_marginals(net, given={"b00": 1})
    np.testing.assert_allclose(got[0], [0.3 * 0.1 / 0.59, 0.7 * 0.8 / 0.59], rtol=1e-13)
    for root, pair in zip(got[2::2], got[3::2], strict=True):
        np.testing.assert_allclose(root, [0.3, 0.7], rtol=1e-13)
        np.testing.assert_allclose(pair, [[0.27, 0.03], [0.14, 0.56]], rtol=1e-13)


# ------------------------------------------------------------------------------------------------------------- limits


def test_families_by_themselves_do_where_a_tree_does_not_fit() -> None:
    """One clique would join five variables of 150 states, but without evidence the parents are independent."""
    net = married(150)
    with pytest.raises(StateSpaceError):
        fn.infer.JunctionTree(net)
    families = fn.infer.family_marginals(net)
    for conditional, family in zip(net.conditionals, families, strict=True):
        configurations = 150 ** len(conditional.parents)
        np.testing.assert_allclose(family, conditional.table() / configurations, rtol=1e-12)


def test_what_fits_no_plan_is_refused() -> None:
    net = married(150)
    with pytest.raises(StateSpaceError) as refused:
        fn.infer.family_marginals(net, given=dict.fromkeys(net.names[5:], 0))
    assert refused.value.cells > refused.value.limit == 2**28
