"""The laws of `Conditional`, for every kind. A new kind joins `conditionals`."""

from __future__ import annotations

import itertools
import math
import pickle
from pathlib import Path
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest
from numpy.polynomial.hermite_e import hermegauss

from fishernet import BayesianNetwork, Continuous, SchemaError, Table, Variable, _core, load, save
from fishernet.infer.parent_moments import ParentMoments
from fishernet.models import (
    Conditional,
    ConditionalGaussian,
    FullTable,
    Grouped,
    MergedTable,
    ProductConditional,
    Split,
    TreeConditional,
)
from fishernet.models.conditionals import CONDITIONALS

A, B, C = Variable("a", ["x", "y"]), Variable("b", [0, 1, 2]), Variable("c", ["u", "v"])
ROWS = Table.from_codes(list(itertools.product(range(2), range(3), range(2))), [A, B, C])
X, Y, Z = Continuous("x"), Continuous("y"), Continuous("z")
NUMBERS = Table.adopt([X, Y, Z], list(np.random.default_rng(1).normal(size=(3, 7))))
MIXED = Table.adopt([A, Y, Z], [np.array([0, 1, 0, 1, 1, 0, 1], np.uint8), *NUMBERS.codes[1:]])
LABELS = Table.adopt([A, B, Z], [*ROWS.codes[:2], np.linspace(-2, 3, 12)])

ASKS_B_THEN_A = Split(1, (0, 1, 0), (2, Split(0, (1, 0), (0, 1))))
ASKS_B_TWICE = Split(0, (0, 1), (Split(1, (0, 0, 1), (Split(1, (0, 1, 1), (3, 0)), 2)), 1))


def grouped() -> list[Grouped]:
    rng = np.random.default_rng(0)
    return [
        FullTable(2, (), [C], [[0.25, 0.75]]),
        FullTable(2, (1,), [B, C], rng.dirichlet([1, 1], size=3)),
        FullTable(2, (1, 0), [B, A, C], rng.dirichlet([1, 1], size=6)),
        MergedTable(2, (0, 1), [A, B, C], [[0, 1, 1], [2, 0, 1]], rng.dirichlet([1, 1], size=3)),
        MergedTable(2, (1,), [B, C], [0, 0, 0], [[0.5, 0.5]]),
        TreeConditional(2, (), [C], 0, [[0.25, 0.75]]),
        TreeConditional(2, (1, 0), [B, A, C], ASKS_B_THEN_A, rng.dirichlet([1, 1], size=3)),
        TreeConditional(2, (0, 1), [A, B, C], ASKS_B_TWICE, rng.dirichlet([1, 1], size=4)),
        ProductConditional(2, (), [C], [((2,), [1.0, 3.0])]),
        ProductConditional(2, (0, 1), [A, B, C], [((2, 0), rng.random((2, 2))), ((1, 0, 2), rng.random((3, 2, 2)))]),
    ]


def regressions() -> list[ConditionalGaussian]:
    return [
        ConditionalGaussian(2, (), [Z], 1.5, [], 0.5),
        ConditionalGaussian(2, (1, 0), [Y, X, Z], -0.5, [2.0, -1.0], 3.0),
        ConditionalGaussian(2, (1, 0), [Y, A, Z], [-0.5, 1.0], [[2.0], [-1.0]], [3.0, 0.1]),
        ConditionalGaussian(2, (1, 0), [B, A, Z], [[1, 2], [3, 4], [5, 6]], np.zeros((3, 2, 0)), np.full((3, 2), 0.5)),
    ]


def rows_for(conditional: Conditional) -> Table:
    """Every configuration of states, or some rows of numbers."""
    if not conditional.variables[-1].is_continuous:
        return ROWS
    return {0: NUMBERS, 1: MIXED, 2: LABELS}[sum(not variable.is_continuous for variable in conditional.variables)]


EVERY = pytest.mark.parametrize("conditional", [*grouped(), *regressions()], ids=repr)
GROUPED = pytest.mark.parametrize("conditional", grouped(), ids=repr)


def test_every_kind_is_here() -> None:
    assert {type(conditional) for conditional in [*grouped(), *regressions()]} == set(CONDITIONALS.values())


@EVERY
def test_its_variables_are_those_at_its_positions(conditional: Conditional) -> None:
    names = rows_for(conditional).names
    assert [v.name for v in conditional.variables] == [names[v] for v in (*conditional.parents, conditional.child)]


def parameters_of(conditional: Conditional) -> list[float]:
    """The free parameters, in the order of the scores."""
    if isinstance(conditional, ConditionalGaussian):
        level, slopes, sd = conditional.by_group()
        return [x for j in range(conditional.n_groups) for x in (level[j], *slopes[j].tolist(), sd[j])]
    return list(conditional.probabilities[:, :-1].ravel())


def moved(conditional: Conditional, parameters: list[float]) -> Conditional:
    """Return a conditional with the same groups and other parameters."""
    head = conditional.child, conditional.parents, conditional.variables
    if isinstance(conditional, ConditionalGaussian):
        of = np.reshape(parameters, (*conditional.sd.shape, -1))
        return ConditionalGaussian(*head, of[..., 0], of[..., 1:-1], of[..., -1])
    free = np.array(parameters).reshape(conditional.n_groups, -1)
    rows = np.column_stack([free, 1 - free.sum(axis=1)])
    if isinstance(conditional, MergedTable):
        return MergedTable(*head, conditional.group_of, rows)
    if isinstance(conditional, TreeConditional):
        return TreeConditional(*head, conditional.tree, rows)
    return FullTable(*head, rows)


@EVERY
def test_scores_are_finite_differences_of_log_prob(conditional: Conditional) -> None:
    rows, at, h = rows_for(conditional), parameters_of(conditional), 1e-6
    assert conditional.n_parameters == len(at)
    steps = np.eye(len(at)) * h
    numerical = [
        (moved(conditional, list(at + step)).log_prob(rows) - moved(conditional, list(at - step)).log_prob(rows))
        for step in steps
    ]
    scores = conditional.scores(rows)
    np.testing.assert_allclose(scores, np.transpose(numerical) / (2 * h), rtol=1e-5, atol=1e-5)
    np.testing.assert_array_equal(conditional.scores(rows, np.zeros_like(scores)), scores)


@GROUPED
def test_information_is_the_expected_product_of_scores(conditional: Grouped) -> None:
    of_groups = np.random.default_rng(3).dirichlet(np.ones(conditional.n_groups))
    table, groups = ROWS, conditional.groups(ROWS)
    states = conditional.variables[-1].cardinality
    weight = of_groups[groups] / (np.bincount(groups)[groups] / states) * np.exp(conditional.log_prob(table))
    scores = conditional.scores(table)
    blocks = conditional.information(of_groups)
    assert blocks.shape == (conditional.n_groups, states - 1, states - 1)
    whole = np.zeros((conditional.n_parameters,) * 2)
    for group, block in enumerate(blocks):
        at = slice(group * (states - 1), (group + 1) * (states - 1))
        whole[at, at] = block
    np.testing.assert_allclose((scores * weight[:, None]).T @ scores, whole, rtol=1e-10, atol=1e-12)


@pytest.mark.parametrize("conditional", regressions(), ids=repr)
def test_information_of_a_regression_is_the_expected_product_of_scores(conditional: ConditionalGaussian) -> None:
    """Gauss-Hermite sums over independent standard normal parents and noise are exact for these polynomials."""
    points, weights = hermegauss(5)
    m, q = len(conditional.number_parents), conditional.n_groups
    grid = np.array(list(itertools.product(points, repeat=m + 1))).reshape(-1, m + 1)
    mass = np.prod(list(itertools.product(weights / weights.sum(), repeat=m + 1)), axis=1)
    of_groups = np.random.default_rng(4).dirichlet(np.ones(q))
    blocks = conditional.information(ParentMoments(of_groups, np.zeros((q, m)), np.tile(np.eye(m), (q, 1, 1))))
    for group, (share, block) in enumerate(zip(of_groups, blocks, strict=True)):
        table = rows_for(conditional)
        columns = [np.zeros(len(grid), dtype=variable.dtype) for variable in table.variables]
        for parent, values in zip(conditional.number_parents, grid.T, strict=False):
            columns[parent] = np.ascontiguousarray(values)
        states = np.unravel_index(group, conditional.sd.shape) if conditional.labels else ()
        for parent, state in zip(conditional.label_parents, states, strict=True):
            columns[parent] += np.uint8(state)
        columns[2] = conditional.draw(columns, np.ascontiguousarray(grid[:, -1]))
        scores, at = conditional.score_entries(Table.adopt(table.variables, columns))
        np.testing.assert_array_equal(at[0], group * (m + 2) + np.arange(m + 2))
        np.testing.assert_allclose(block, share * (scores * mass[:, None]).T @ scores, rtol=1e-9, atol=1e-12)


@GROUPED
def test_log_prob_is_that_of_its_factor(conditional: Grouped) -> None:
    axes, values = conditional.factor()
    assert axes == (*conditional.parents, conditional.child)
    with np.errstate(divide="ignore"):
        expected = np.log(values[tuple(ROWS.codes[v] for v in axes)])
    np.testing.assert_allclose(conditional.log_prob(ROWS), expected, rtol=1e-12)


def test_a_density_is_no_factor() -> None:
    for conditional in regressions():
        with pytest.raises(SchemaError, match="'z' is continuous"):
            conditional.factor()


@EVERY
def test_draws_follow_the_probabilities(conditional: Conditional) -> None:
    """For every row the quantiles of the noise give each state its share, or each number its density."""
    n = 20_000
    noise = np.random.default_rng(2).permutation(np.array([_quantile((k + 0.5) / n) for k in range(n)]))
    table = rows_for(conditional)
    for row in range(0, table.n_rows, 3):
        repeated = table[np.full(n, row)]
        drawn = conditional.draw(repeated.codes, noise)
        columns = list(repeated.codes)
        columns[conditional.child] = drawn
        logs = conditional.log_prob(Table.adopt(table.variables, columns))
        if conditional.variables[-1].is_continuous:
            sd = conditional.by_group()[2][conditional.groups(repeated[:1])[0]]
            entropy = 0.5 * np.log(2 * math.pi * math.e) + np.log(sd)
            np.testing.assert_allclose(-logs.mean(), entropy, rtol=1e-3)
            continue
        assert drawn.dtype == conditional.variables[-1].dtype
        shares = np.bincount(drawn, minlength=conditional.variables[-1].cardinality) / n
        np.testing.assert_allclose(shares, conditional.probabilities[conditional.groups(repeated)[0]], atol=2 / n)


def _quantile(share: float) -> float:
    return NormalDist().inv_cdf(share)


@EVERY
def test_files_bring_it_back(conditional: Conditional, tmp_path: Path) -> None:
    """As the last of a network's conditionals, with all bits."""
    before: list[Any] = [
        ConditionalGaussian(v, (), [variable], 0, [], 1)
        if variable.is_continuous
        else FullTable(v, (), [variable], [[1 / variable.cardinality] * variable.cardinality])
        for v, variable in enumerate(rows_for(conditional).variables[:-1])
    ]
    net = BayesianNetwork(rows_for(conditional).variables, [*before, conditional])
    save(net, tmp_path / "net.json")
    again = load(tmp_path / "net.json")
    assert again == net
    assert type(again.conditionals[-1]) is type(conditional)
    np.testing.assert_array_equal(
        again.conditionals[-1].log_prob(rows_for(conditional)), conditional.log_prob(rows_for(conditional))
    )


@EVERY
def test_the_core_finds_the_same_groups(conditional: Conditional) -> None:
    form = conditional.core_form()
    if form is None:
        assert not isinstance(conditional, FullTable | MergedTable | TreeConditional)
        return
    native = _core.Conditionals(np.array([v.cardinality for v in ROWS.variables], dtype=np.int64))
    for v in range(2):
        native.add(v, np.zeros(0, dtype=np.int32), 1, None)
    form.add_to(native, conditional.child)
    np.testing.assert_array_equal(native.groups(ROWS.native, conditional.child), conditional.groups(ROWS))


@EVERY
def test_pickles_are_equal_and_others_are_not(conditional: Conditional) -> None:
    again = pickle.loads(pickle.dumps(conditional))
    assert again == conditional
    assert hash(again) == hash(conditional)
    parameters = parameters_of(conditional)
    parameters[0] *= 0.9
    assert moved(conditional, parameters) != conditional
    assert all(other != conditional for other in [*grouped(), *regressions()] if repr(other) != repr(conditional))


@EVERY
def test_it_is_immutable(conditional: Conditional) -> None:
    with pytest.raises(AttributeError, match="immutable"):
        conditional.child = 0
    with pytest.raises(AttributeError, match="immutable"):
        del conditional.parents


def test_numbers_and_states_do_not_mix() -> None:
    with pytest.raises(SchemaError, match="has states"):
        ConditionalGaussian(2, (0,), [Z, A], 0, [1.0], 1)
    with pytest.raises(SchemaError, match="shape"):
        ConditionalGaussian(2, (0,), [A, Z], 0, [1.0], 1)
    with pytest.raises(SchemaError, match="'x' has no states"):
        FullTable(2, (0,), [X, C], [[0.5, 0.5]])


@GROUPED
def test_every_row_has_a_group_and_the_groups_row_is_the_tables(conditional: Grouped) -> None:
    groups = conditional.groups(ROWS)
    assert groups.dtype == np.int64
    states = ROWS.codes[conditional.child]
    cells = (*(ROWS.codes[p] for p in conditional.parents), states)
    np.testing.assert_array_equal(conditional.probabilities[groups, states], conditional.table()[cells])


@GROUPED
def test_contexts_are_disjoint_boxes_whose_union_is_the_group(conditional: Grouped) -> None:
    groups = conditional.groups(ROWS)
    for group in range(conditional.probabilities.shape[0]):
        times = np.zeros(ROWS.n_rows, dtype=int)
        for box in conditional.contexts(group):
            inside = np.ones(ROWS.n_rows, dtype=bool)
            for parent, states in box.items():
                assert parent in conditional.parents
                inside &= np.isin(ROWS.codes[parent], states)
            times += inside
        np.testing.assert_array_equal(times, groups == group)


@GROUPED
def test_the_flat_form_is_the_same_map(conditional: Grouped) -> None:
    parents, group_of = conditional.parents, conditional.group_map()
    assert parents == conditional.parents
    shape = [v.cardinality for v in conditional.variables[:-1]]
    codes = [ROWS.codes[p].astype(int) for p in conditional.parents]
    configuration = np.ravel_multi_index(codes, shape) if shape else np.zeros(ROWS.n_rows, dtype=int)
    groups = configuration if group_of is None else group_of[configuration]
    np.testing.assert_array_equal(groups, conditional.groups(ROWS))


@GROUPED
def test_probabilities_are_read_only_rows_that_sum_to_one(conditional: Grouped) -> None:
    np.testing.assert_allclose(conditional.probabilities.sum(axis=1), 1, rtol=1e-12)
    assert not conditional.probabilities.flags.writeable


@GROUPED
def test_the_frame_has_a_row_for_every_cell(conditional: Grouped) -> None:
    frame = conditional.to_frame()
    assert frame.num_rows == conditional.table().size
    assert frame["probability"].to_pylist() == conditional.table().ravel().tolist()


@GROUPED
def test_other_probabilities_keep_the_groups(conditional: Grouped) -> None:
    other = np.random.default_rng(3).dirichlet(np.ones(conditional.probabilities.shape[1]), conditional.n_groups)
    found = conditional.with_probabilities(other)
    assert type(found) is type(conditional)
    assert (found.child, found.parents, found.variables) == (
        conditional.child,
        conditional.parents,
        conditional.variables,
    )
    np.testing.assert_allclose(found.probabilities, other, rtol=1e-14)
    rows = rows_for(conditional)
    np.testing.assert_array_equal(found.groups(rows), conditional.groups(rows))
    np.testing.assert_allclose(found.log_prob(rows), np.log(other[found.groups(rows), rows.codes[found.child]]))
