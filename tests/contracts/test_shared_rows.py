"""The laws of networks whose configurations share rows: all but files and kernels see the table in full.

A new way to share rows joins `KINDS`.
"""

from __future__ import annotations

import itertools
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.models import FullTable, MergedTable, TreeConditional
from tests.files.hostile import in_full

ASIA = fn.datasets.load("asia")
ROWS = ASIA.sample(4000, seed=1)
NURSERY = fn.datasets.load("nursery")[::3]
KINDS: dict[str, fn.BayesianNetwork] = {
    "trees": fn.learn.parameters(ASIA.dag, ROWS, conditionals="tree"),
    "merged rows": fn.learn.parameters(ASIA.dag, ROWS, conditionals="merged"),
    "trees of more states": fn.learn.bayesian_network(NURSERY, conditionals="tree"),
    "merged rows of more states": fn.learn.bayesian_network(NURSERY, conditionals="merged", score="qnml"),
}
EVERY = pytest.mark.parametrize("net", KINDS.values(), ids=KINDS)
FOREIGN = (".bif", ".xdsl", ".net", ".dsc", ".xmlbif", ".uai")


def evidence(net: fn.BayesianNetwork) -> dict[str, Any]:
    return {net.names[0]: net.variables[0].states[1], net.names[-1]: net.variables[-1].states[0]}


@EVERY
def test_it_shares_rows(net: fn.BayesianNetwork) -> None:
    kinds = {type(c) for c in net.conditionals}
    assert kinds & {MergedTable, TreeConditional}
    assert net.n_parameters < in_full(net).n_parameters


@EVERY
def test_rows_have_the_probabilities_of_the_table_in_full(net: fn.BayesianNetwork) -> None:
    rows, full = net.sample(500, seed=2), in_full(net)
    np.testing.assert_allclose(net.log_prob(rows), full.log_prob(rows), rtol=1e-12)
    np.testing.assert_allclose(net.log_prob_terms(rows), full.log_prob_terms(rows), rtol=1e-12)
    holes = [np.where(np.arange(500) % 5 == v % 5, var.cardinality, c) for v, (var, c) in cells(rows)]
    incomplete = fn.Table(net.variables, holes)
    np.testing.assert_allclose(net.log_prob(incomplete), full.log_prob(incomplete), rtol=1e-10)
    target = net.names[-1]
    np.testing.assert_allclose(net.predict_proba(rows, target), full.predict_proba(rows, target), rtol=1e-10)


def cells(rows: fn.Table) -> Any:
    return enumerate(zip(rows.variables, rows.codes, strict=True))


@EVERY
def test_rows_drawn_are_those_of_the_table_in_full(net: fn.BayesianNetwork) -> None:
    one, other = net.sample(2000, seed=3), in_full(net).sample(2000, seed=3)
    assert all(np.array_equal(a, b) for a, b in zip(one.codes, other.codes, strict=True))


@EVERY
def test_questions_have_the_same_answers(net: fn.BayesianNetwork) -> None:
    full, given = in_full(net), evidence(net)
    for name in net.names[1:-1]:
        np.testing.assert_allclose(
            fn.infer.marginal(net, [name], given=given), fn.infer.marginal(full, [name], given=given), rtol=1e-10
        )
    assert fn.infer.log_evidence(net, given=given) == pytest.approx(fn.infer.log_evidence(full, given=given), rel=1e-12)
    assert fn.infer.most_probable(net, given=given) == fn.infer.most_probable(full, given=given)


@EVERY
def test_group_probabilities_sum_those_of_configurations(net: fn.BayesianNetwork) -> None:
    of_full = fn.infer.group_probabilities(in_full(net))
    for c, groups, configurations in zip(net.conditionals, fn.infer.group_probabilities(net), of_full, strict=True):
        shape = [v.cardinality for v in c.variables[:-1]]
        every = np.array(list(itertools.product(*map(range, shape)))).reshape(len(configurations), -1)
        for group, p in enumerate(groups):
            inside = np.zeros(len(every), dtype=bool)
            for box in c.contexts(group):
                held = [np.isin(every[:, c.parents.index(v)], states) for v, states in box.items()]
                inside |= np.all(held, axis=0) if held else True
            assert p == pytest.approx(configurations[inside].sum(), rel=1e-10)


@EVERY
def test_own_files_keep_the_groups(net: fn.BayesianNetwork, tmp_path: Path) -> None:
    fn.save(net, tmp_path / "net.json")
    again = fn.load(tmp_path / "net.json")
    assert again == net
    assert [type(c) for c in again.conditionals] == [type(c) for c in net.conditionals]


@EVERY
@pytest.mark.parametrize("ending", FOREIGN)
def test_files_of_other_programs_hold_the_table_in_full(net: fn.BayesianNetwork, ending: str, tmp_path: Path) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", fn.FishernetWarning)
        for name, one in (("one", net), ("full", in_full(net))):
            fn.save(one, tmp_path / f"{name}{ending}")
    assert (tmp_path / f"one{ending}").read_bytes() == (tmp_path / f"full{ending}").read_bytes()
    again = fn.load(tmp_path / f"one{ending}")
    assert all(type(c) is FullTable for c in again.conditionals)


@EVERY
def test_drawings_and_graphs_are_those_of_the_arcs(net: fn.BayesianNetwork, tmp_path: Path) -> None:
    for name, one in (("one", net), ("full", in_full(net))):
        fn.save(one, tmp_path / f"{name}.dot")
        fn.plot.write_graph(one, tmp_path / f"{name}.svg")
    assert (tmp_path / "one.dot").read_bytes() == (tmp_path / "full.dot").read_bytes()
    assert (tmp_path / "one.svg").stat().st_size > 0


@EVERY
def test_an_intervention_cuts_the_parents_off(net: fn.BayesianNetwork) -> None:
    last = net.variables[-1]
    cut = net.intervened({len(net.names) - 1: 0})
    assert cut.parents(last.name) == ()
    assert cut.sample(50, seed=1).codes[-1].max() == 0
