"""Networks of labels and numbers: scores, fits and graphs, held beside regressions in each configuration."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp

import fishernet as fn
from fishernet.learn.missing.mixed_em import MixedSteps
from fishernet.scores import Families, local_scores, named_score
from tests.reference.mixed import Joint, random_network


def people(n: int, seed: int = 1) -> fn.Table:
    """Return rows of two labels and three numbers, of which height depends on sex and weight on both and age."""
    rng = np.random.default_rng(seed)
    sex, smokes = rng.integers(0, 2, n), rng.integers(0, 3, n)
    age = rng.normal(40, 10, n)
    height = np.where(sex == 1, 180, 167) + rng.normal(0, 6, n)
    weight = 0.9 * height - 80 + 5 * sex + 0.2 * age + rng.normal(0, 5, n)
    labels = {"sex": np.array(["f", "m"])[sex], "smokes": np.array(["no", "some", "yes"])[smokes]}
    return fn.Table.from_frame(labels | {"age": age, "height": height, "weight": weight})


def with_gaps(table: fn.Table, share: float, seed: int = 2) -> fn.Table:
    rng = np.random.default_rng(seed)
    columns = [np.array(column) for column in table.codes]
    for variable, column in zip(table.variables, columns, strict=True):
        column[rng.random(table.n_rows) < share] = np.nan if variable.is_continuous else variable.cardinality
    return fn.Table.adopt(table.variables, columns, n_rows=table.n_rows)


def likelihood(table: fn.Table, child: str, parents: list[str]) -> tuple[float, int]:
    """Return the largest likelihood of a number by least squares in every configuration, and its parameters."""
    labels = [p for p in parents if not table.variables[table.names.index(p)].is_continuous]
    numbers = [p for p in parents if p not in labels]
    weights = np.ones(table.n_rows) if table.weights is None else table.weights
    codes = np.array([table.column(p) for p in labels]).reshape(len(labels), table.n_rows)
    total = 0.0
    for states in np.unique(codes, axis=1).T if labels else [np.zeros(0)]:
        rows = (codes == states[:, None]).all(axis=0)
        w, y = weights[rows], table.column(child)[rows]
        X = np.column_stack([np.ones(rows.sum()), *(table.column(p)[rows] for p in numbers)])
        slopes = np.linalg.lstsq(X * np.sqrt(w)[:, None], y * np.sqrt(w), rcond=None)[0]
        variance = w @ (y - X @ slopes) ** 2 / w.sum()
        total -= 0.5 * w.sum() * (math.log(2 * math.pi * variance) + 1)
    q = math.prod(table.variables[table.names.index(p)].cardinality for p in labels)
    return total, q * (len(numbers) + 2)


FAMILIES = [
    ("weight", []),
    ("weight", ["height", "age"]),
    ("weight", ["age", "sex", "height"]),
    ("age", ["smokes", "sex"]),
    ("height", ["smokes", "weight", "sex"]),
]


@pytest.mark.parametrize(("child", "parents"), FAMILIES)
@pytest.mark.parametrize("weighted", [False, True])
def test_scores_are_likelihoods_less_the_price_of_their_parameters(
    child: str, parents: list[str], weighted: bool
) -> None:
    table = people(300)
    if weighted:
        weights = np.random.default_rng(3).integers(1, 4, 300)
        table = fn.Table.adopt(table.variables, list(table.codes), weights=weights, n_rows=300)
    expected, parameters = likelihood(table, child, parents)
    for name, price in (("loglik", 0.0), ("aic", 1.0), ("bic", 0.5 * math.log(table.total))):
        got = fn.local_score(table, child, parents, name)  # type: ignore[arg-type]
        assert got == pytest.approx(expected - price * parameters, rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("n_numbers", [1, 3, 9])
def test_families_of_many_label_sets_at_once_have_the_scores_of_each(n_numbers: int, weighted: bool) -> None:
    """Sets are counted jointly, and added up from larger ones: numbers far from 0, and states that never occur."""
    rng = np.random.default_rng(n_numbers)
    n, cards = 3000, [2, 3, 2, 4, 2]
    codes = [np.minimum(rng.integers(0, card, n), 2).astype(np.uint8) for card in cards]
    numbers = rng.normal(size=(n_numbers, n)) + codes[1] - 2.0 * codes[3] + 1e6
    numbers[1:] += 0.5 * numbers[:-1]
    variables = [fn.Variable(f"c{i}", range(card)) for i, card in enumerate(cards)]
    variables += [fn.Continuous(f"x{i}") for i in range(n_numbers)]  # type: ignore[misc]
    weights = rng.integers(0, 4, n) if weighted else None
    table = fn.Table(variables, [*codes, *numbers], weights=weights)
    wanted = [(5, sets) for k in range(4) for sets in itertools.combinations(range(5), k)]
    wanted += [(5 + n_numbers - 1, (*sets, 5)) for _, sets in wanted if n_numbers > 1]
    found = local_scores(table, Families.from_pairs(wanted), named_score("loglik"))
    for score, (child, parents) in zip(found, wanted, strict=True):
        expected, _ = likelihood(table, table.names[child], [table.names[p] for p in parents])
        assert score == pytest.approx(expected, rel=1e-9)


def test_scores_do_not_depend_on_how_the_rows_come() -> None:
    table = people(400)
    dag = fn.Dag.from_edges(
        table.names, [("sex", "height"), ("height", "weight"), ("sex", "weight"), ("sex", "smokes")]
    )
    parts = fn.data.Blocks([table[:150], table[150:]])
    assert fn.score(dag, parts, "bic") == pytest.approx(fn.score(dag, table, "bic"), rel=1e-12)
    one, other = fn.learn.parameters(dag, table), fn.learn.parameters(dag, parts)
    np.testing.assert_allclose(one.log_prob(table), other.log_prob(table), rtol=1e-9)
    assert fn.learn.dag(parts) == fn.learn.dag(table)


@pytest.mark.parametrize("search", ["hill-climb", "tabu", "order"])
def test_searches_find_the_graph_and_its_score(search: Any) -> None:
    table = people(2000)
    found = fn.learn.structure(table, search=search)
    assert found.score == pytest.approx(fn.score(found.dag, table, "bic", prior=True), rel=1e-9)
    paid = 1.5 * math.log(5) * sum(child in ("age", "height", "weight") for _, child in found.dag.edges)
    assert found.score == pytest.approx(fn.score(found.dag, table, "bic") - paid, rel=1e-9)
    arcs = {frozenset(arc) for arc in found.dag.edges}
    assert arcs == {
        frozenset(pair) for pair in (("sex", "height"), ("sex", "weight"), ("age", "weight"), ("height", "weight"))
    }
    assert not [arc for arc in found.dag.edges if arc[0] in ("age", "height", "weight") and arc[1] in ("sex", "smokes")]


def test_arcs_from_numbers_to_labels_are_refused_with_the_reason() -> None:
    table = people(100)
    dag = fn.Dag.from_edges(table.names, [("age", "sex")])
    for ask in (
        lambda: fn.local_score(table, "sex", ["age"]),
        lambda: fn.score(dag, table),
        lambda: fn.learn.structure(table, required=[("age", "sex")]),
        lambda: fn.learn.structure(table, start=dag),
        lambda: fn.learn.parameters(dag, table),
    ):
        with pytest.raises(fn.SchemaError, match=r"'sex'.*'age'|'age'.*'sex'"):
            ask()
    assert ("age", "weight") in fn.learn.dag(table, required=[("age", "weight")]).edges


def test_without_smoothing_a_fit_is_least_squares_in_each_configuration() -> None:
    table = people(500)
    dag = fn.Dag.from_edges(table.names, [("sex", "weight"), ("height", "weight"), ("age", "weight")])
    net = fn.learn.parameters(dag, table, smoothing=0)
    regression: Any = net.conditional("weight")
    order = [p for p in regression.parents if table.variables[p].is_continuous]
    for state in (0, 1):
        rows = table.column("sex") == state
        X = np.column_stack([np.ones(rows.sum()), *(table.codes[p][rows] for p in order)])
        y = table.column("weight")[rows]
        expected, rest, *_ = np.linalg.lstsq(X, y, rcond=None)
        assert regression.intercept[state] == pytest.approx(expected[0], rel=1e-7)
        np.testing.assert_allclose(regression.coefficients[state], expected[1:], rtol=1e-7)
        assert regression.sd[state] == pytest.approx(math.sqrt(rest[0] / rows.sum()), rel=1e-7)


def test_smoothing_draws_few_rows_to_the_regression_of_all() -> None:
    """As if 0.3 rows were added that are spread as all rows; a configuration without a row has their regression."""
    rng = np.random.default_rng(1)
    x = rng.normal(size=200)
    y = 2 * x + rng.normal(size=200)
    label = np.array(["a"] * 198 + ["b"] * 2)
    variables: Any = [fn.Variable("l", ["a", "b", "c"]), fn.Continuous("x"), fn.Continuous("y")]
    table = fn.Table.from_frame({"l": label, "x": x, "y": y}, schema=variables)
    dag = fn.Dag.from_edges(table.names, [("l", "y"), ("x", "y")])
    regression: Any = fn.learn.parameters(dag, table).conditional("y")
    pooled = np.polyfit(x, y, 1)
    assert regression.coefficients[2, 0] == pytest.approx(pooled[0], rel=1e-9)
    assert regression.intercept[2] == pytest.approx(pooled[1], rel=1e-9)
    own = np.concatenate([np.full(2, 1.0), np.full(200, 0.3 / 200)])
    slope, level = np.polyfit(np.concatenate([x[198:], x]), np.concatenate([y[198:], y]), 1, w=np.sqrt(own))
    assert regression.coefficients[1, 0] == pytest.approx(slope, rel=1e-9)
    assert regression.intercept[1] == pytest.approx(level, rel=1e-9)


def test_variances_of_few_rows_are_right_on_average_where_smoothing_is_taken_off() -> None:
    """Two coefficients take as many of six rows; what is left of the child is as large as it is in fact."""
    random = np.random.default_rng(3)
    dag = fn.Dag.from_edges(["label", "x", "y"], [("label", "y"), ("x", "y")])
    labels, sizes = ["few"] * 6 + ["many"] * 200, np.array([6.0, 200.0])
    fitted, unsmoothed = [], []
    for _ in range(300):
        x, noise = random.normal(size=(2, 206))
        net = fn.learn.parameters(dag, {"label": labels, "x": x, "y": x + noise})
        conditional: Any = net.conditional("y")
        fitted.append(conditional.sd**2)
        unsmoothed.append(conditional.unsmoothed(sizes, 1.0).sd ** 2)
    assert np.mean(fitted, axis=0)[0] < 0.8
    assert np.mean(unsmoothed, axis=0) == pytest.approx([1, 1], abs=0.12)


def test_tables_that_leave_next_to_nothing_open_are_learned() -> None:
    """A dozen rows, a column that is another in other units, one constant within a label, one that copies a sum."""
    rng = np.random.default_rng(4)
    sex = np.array(["f", "m"] * 60)
    a = np.round(rng.normal(100, 20, 120))
    frame = {
        "sex": sex,
        "a": a,
        "in other units": a / 1000,
        "of men": np.where(sex == "m", np.round(rng.normal(50, 9, 120)), 0),
        "sum": a + np.round(rng.normal(0, 30, 120)),
    }
    frame["parts"] = frame["sum"] - frame["a"]
    for rows in (120, 12):
        table = fn.Table.from_frame({name: column[:rows] for name, column in frame.items()})
        net = fn.learn.bayesian_network(table, bins={})
        assert np.isfinite(net.log_prob(table)).all()
        assert np.isfinite(net.query("a", given={"sex": "m"}).mean)


def test_a_scale_is_the_network_of_scaled_numbers_in_other_units() -> None:
    table = people(600)
    z = 0.05 * table.column("weight") + 1.0
    plain = fn.Table.adopt(table.variables, [*table.codes[:4], z], n_rows=600)
    grown = fn.Table.adopt(table.variables, [*table.codes[:4], np.exp(z)], n_rows=600).rescale({"weight": "log"})
    dag = fn.Dag.from_edges(table.names, [("sex", "weight"), ("height", "weight"), ("weight", "age")])
    one, other = fn.learn.parameters(dag, plain), fn.learn.parameters(dag, grown)
    np.testing.assert_allclose(one.log_prob(plain), other.log_prob(grown) + z, rtol=1e-9)
    assert fn.score(dag, plain) == pytest.approx(fn.score(dag, grown), rel=1e-9)
    k, scaled = fn.kernels.FisherKernel(one), fn.kernels.FisherKernel(other)
    np.testing.assert_allclose(k(plain[:9]), scaled(grown[:9]), rtol=1e-6, atol=1e-6)
    d, of_scaled = one.query("weight", given={"sex": "m"}), other.query("weight", given={"sex": "m"})
    assert of_scaled.median == pytest.approx(math.exp(d.median), rel=1e-9)
    assert of_scaled.mean == pytest.approx(math.exp(d.mean + d.sd**2 / 2), rel=1e-6)
    assert of_scaled.density(np.exp(5.0)) == pytest.approx(d.density(5.0) / np.exp(5.0), rel=1e-9)
    given = {"weight": math.exp(6.0)}
    assert other.query("sex", given=given)["m"] == pytest.approx(one.query("sex", given={"weight": 6.0})["m"], rel=1e-9)
    assert other.query("age", given=given).mean == pytest.approx(one.query("age", given={"weight": 6.0}).mean, rel=1e-9)
    gaps = with_gaps(grown, 0.3)
    filled = fn.infer.impute(other, gaps)
    known = ~np.isnan(gaps.column("weight"))
    np.testing.assert_array_equal(filled.column("weight")[known], grown.column("weight")[known])
    assert (filled.column("weight") > 0).all()
    assert fn.infer.sample(other, 50, given={"sex": "f"}, seed=1).column("weight").min() > 0


@pytest.mark.parametrize("seed", range(3))
def test_em_ends_where_the_derivative_of_what_is_known_is_zero(seed: int) -> None:
    net = random_network(seed, labels=2, numbers=2)
    table = with_gaps(net.sample(400, seed=seed), 0.2, seed)
    start = fn.learn.parameters(net.dag, table, smoothing=0, max_steps=1)
    fitted = fn.learn.parameters(net.dag, table, smoothing=0, max_steps=2000, tolerance=1e-12)
    at_end = fitted.log_prob(table).sum()
    assert at_end >= start.log_prob(table).sum() - 1e-9
    for v, conditional in enumerate(fitted.conditionals):
        if not fitted.variables[v].is_continuous:
            continue
        regression: Any = conditional
        for step in (1e-3, -1e-3):  # no step along an intercept betters it
            level = regression.intercept + step * regression.sd
            of = (v, regression.parents, regression.variables, level, regression.coefficients, regression.sd)
            moved = [type(regression)(*of) if u == v else c for u, c in enumerate(fitted.conditionals)]
            assert fn.BayesianNetwork(fitted.variables, moved).log_prob(table).sum() <= at_end + 1e-4


@pytest.mark.parametrize("seed", range(6))
def test_expected_statistics_are_those_of_every_state_of_the_labels(seed: int) -> None:
    net = random_network(seed)
    joint, variables = Joint(net), net.variables
    drawn = with_gaps(net.sample(40, seed=seed), 0.4, seed)
    weights = np.random.default_rng(seed).integers(1, 4, 40)
    rows = fn.Table.adopt(variables, list(drawn.codes), weights=weights, n_rows=40)
    log_likelihood, found = MixedSteps(rows, net, lambda _: net).expected(net)
    total = 0.0
    sums: dict[tuple[int, ...], Any] = {family: {} for family in found}  # of each family and state of its labels
    for row, weight in enumerate(weights):
        cells = {v: column[row] for v, column in enumerate(rows.codes)}
        known = {v: cell for v, cell in cells.items() if not variables[v].missing(np.array([cell]))[0]}
        logs, means, covariances = joint.given(known)
        total += weight * logsumexp(logs)
        rest = [v for v in joint.numbers if v not in known]
        parts = zip(joint.states, np.exp(np.array(logs) - logsumexp(logs)), means, covariances, strict=True)
        for states, share, mean, covariance in parts:
            at = dict(zip(joint.labels, states, strict=True))
            values = known | dict(zip(rest, mean, strict=True))
            for family, of in sums.items():
                numbers = [v for v in family if v in joint.numbers]
                x = np.array([values[v] for v in numbers])
                products = np.outer(x, x)
                for a, u in enumerate(numbers):
                    for b, v in enumerate(numbers):
                        products[a, b] += covariance[rest.index(u), rest.index(v)] if {u, v} <= set(rest) else 0
                own = of.setdefault(tuple(at[v] for v in family if v in at), [0.0, 0.0 * x, 0.0 * products])
                for place, part in enumerate((1.0, x, products)):
                    own[place] = own[place] + weight * share * part
    assert log_likelihood == pytest.approx(total, rel=1e-9)
    for family, of in sums.items():
        statistic = found[family]
        for cell, (n, first, products) in of.items():
            assert statistic.counts[cell] == pytest.approx(n, rel=1e-9, abs=1e-12)
            if n > 1e-9 and len(first):
                mean = first / n
                np.testing.assert_allclose(statistic.mean[cell], mean, rtol=1e-9, atol=1e-9)
                scatter = products - n * np.outer(mean, mean)
                np.testing.assert_allclose(statistic.scatter[cell], scatter, rtol=1e-7, atol=1e-7)


def test_em_comes_near_what_complete_rows_tell() -> None:
    table = people(4000)
    dag = fn.Dag.from_edges(
        table.names, [("sex", "height"), ("sex", "weight"), ("height", "weight"), ("age", "weight")]
    )
    complete, lacking = fn.learn.parameters(dag, table), fn.learn.parameters(dag, with_gaps(table, 0.15))
    one, other = complete.conditional("weight"), lacking.conditional("weight")
    np.testing.assert_allclose(other.coefficients, one.coefficients, atol=0.06)  # type: ignore[attr-defined]
    np.testing.assert_allclose(other.sd, one.sd, rtol=0.06)  # type: ignore[attr-defined]
    learned = fn.learn.bayesian_network(with_gaps(table, 0.15))
    assert frozenset(("height", "weight")) in {frozenset(arc) for arc in learned.edges}
    assert learned.n_rows == 4000


def test_files_bring_networks_and_scales_back(tmp_path: Path) -> None:
    table = people(300).rescale({"weight": "power", "age": "arcsinh", "height": "auto"})
    net = fn.learn.bayesian_network(table)
    fn.save(net, tmp_path / "net.json")
    again = fn.load(tmp_path / "net.json")
    assert again == net
    np.testing.assert_array_equal(again.log_prob(table), net.log_prob(table))
    frame = table.to_frame().to_pydict()
    np.testing.assert_array_equal(again.log_prob(frame), net.log_prob(table))


def test_number_columns_alone_take_bic_too() -> None:
    rng = np.random.default_rng(1)
    a, b, c = rng.normal(size=(3, 500))
    table = fn.Table.from_frame({"a": a, "b": a + b, "c": c})
    assert {frozenset(arc) for arc in fn.learn.dag(table, score="bic").edges} == {frozenset("ab")}
    expected, parameters = likelihood(table, "b", ["a"])
    assert fn.local_score(table, "b", ["a"]) == pytest.approx(expected - 0.5 * math.log(500) * parameters, rel=1e-9)


def test_a_column_with_many_zeros_is_cut_and_told() -> None:
    rng = np.random.default_rng(2)
    hours = np.where(rng.random(500) < 0.3, 0.0, rng.gamma(5, 8, 500))
    table = fn.Table.from_frame(
        {"works": np.where(hours > 0, "yes", "no"), "hours": hours, "age": rng.normal(40, 9, 500)}
    )
    with pytest.warns(fn.FishernetWarning, match="cut into bins: 'hours'"):
        net = fn.learn.bayesian_network(table)
    hours_of, age = net.variables[1], net.variables[2]
    assert not hours_of.is_continuous
    assert age.is_continuous
    assert net.query("works", given={"hours": 0})["no"] > 0.95
    kept = fn.learn.bayesian_network(table, bins={})
    assert kept.variables[1].is_continuous
    assert not any(v.is_continuous for v in fn.learn.bayesian_network(table, bins=4).variables)


def test_permuted_columns_get_next_to_no_arcs() -> None:
    rng = np.random.default_rng(5)
    frame: dict[str, Any] = {f"l{i}": rng.choice(["a", "b", "c"], 200) for i in range(8)}
    frame |= {f"x{i}": rng.gamma(2, 3, 200) for i in range(20)}
    table = fn.Table.from_frame(frame)
    assert fn.learn.bayesian_network(table, search="hill-climb").dag.n_edges <= 1
    assert fn.learn.bayesian_network(table, search="hill-climb", prior=False).dag.n_edges > 3
    gaps = with_gaps(table, 0.05)
    assert fn.learn.dag(gaps, search="hill-climb").n_edges <= 2


def test_labels_with_nearly_as_many_configurations_as_rows_tell_nothing_and_take_no_memory() -> None:
    rng = np.random.default_rng(6)
    n = 400
    labels = {f"l{i}": rng.choice([f"s{k}" for k in range(18)], n) for i in range(3)}
    numbers = {f"x{i}": rng.normal(size=n) for i in range(4)}
    table = fn.Table.from_frame(labels | numbers)
    alone, _ = likelihood(table, "x0", [])
    assert fn.local_score(table, "x0", ["l0", "l1", "l2"], "loglik") == pytest.approx(alone, rel=1e-9)
    assert fn.local_score(table, "x0", ["l0"], "loglik") > alone + 1
    dag = fn.learn.dag(table, score="aic", search="hill-climb")
    assert all(len(parents) <= 4 for parents in dag.parents)


@pytest.mark.parametrize(
    "bad",
    [
        {"e": np.full(200, np.nan)},
        {"k": np.full(200, 3.5)},
        {"i": np.where(np.arange(200) % 50 == 0, np.inf, np.arange(200) ** 0.5)},
        {"n": np.where(np.arange(200) % 40 == 0, np.arange(200) ** 0.5, np.nan)},
        {"big": np.arange(200) * 1e9 + 5, "copy": np.arange(200) * 1e-9},
        {"spike": np.where(np.arange(200) % 50 == 0, 999.0, np.sin(np.arange(200.0)))},
    ],
    ids=lambda bad: next(iter(bad)),
)
@pytest.mark.filterwarnings("ignore::fishernet.FishernetWarning")
def test_one_bad_column_does_not_stop_the_answer_for_the_rest(bad: dict[str, Any]) -> None:
    rng = np.random.default_rng(1)
    x = rng.normal(size=200)
    frame = {"s": rng.choice(["a", "b"], 200), "x": x, "y": 2 * x + rng.normal(size=200)} | bad
    table = fn.Table.from_frame(frame, continuous=list(bad))
    net = fn.learn.bayesian_network(table)
    assert frozenset(("x", "y")) in {frozenset(arc) for arc in net.edges}
    assert np.isfinite(net.log_prob(table)).all()
    assert net.query("y", given={"x": 1e12}).sd > 0  # far outside: finite


def test_next_to_no_rows_make_a_network_without_regressions() -> None:
    table = people(400)
    for n in (2, 3, 5):
        net = fn.learn.bayesian_network(table[:n], bins={})
        assert not [arc for arc in net.edges if arc[0] in ("age", "height", "weight")]
        assert np.isfinite(net.log_prob(table)).all()


# ------------------------------------------------------------------------------------------------ infinite numbers


def with_ratios(n: int = 200) -> fn.Table:
    """Return rows of numbers and labels, of which a ratio is infinite in a fifth."""
    table, ratio = people(n), np.exp(np.random.default_rng(5).normal(size=n))
    ratio[::10], ratio[5::10] = np.inf, -np.inf
    columns: dict[str, Any] = {name: table.column(name) for name in ("age", "height")}
    return fn.Table.from_frame(columns | {"sex": table.column("sex").astype(str), "ratio": ratio})


@pytest.mark.filterwarnings("ignore::fishernet.FishernetWarning")
@pytest.mark.parametrize(
    "names",
    [
        lambda t: fn.learn.bayesian_network(t).names,
        lambda t: fn.learn.bayesian_network(t.select(["age", "height", "ratio"])).names,
        lambda t: fn.learn.dependency_network(t).names,
        lambda t: fn.learn.clusters(t, 2, seed=1).model.names,
        lambda t: [
            pair.second
            for pair in fn.compare.falsify(
                fn.Dag.from_edges(t.names, [("age", "ratio"), ("age", "height")]), t
            ).independences
            if not math.isnan(pair.p_value)
        ],
        lambda t: list(fn.compare.explain_change(t[:100], t[100:]).by_variable),
    ],
)
def test_a_column_with_infinite_numbers_is_taken_in_bins(names: Any) -> None:
    assert "ratio" in names(with_ratios())


@pytest.mark.filterwarnings("ignore::fishernet.FishernetWarning")
def test_infinite_numbers_of_two_tables_are_compared() -> None:
    rows = with_ratios()
    same = fn.compare.two_sample_test(rows[:100], rows[100:], permutations=19, seed=1)
    assert same.p_value > 0.1
    rows = rows.select(["ratio"])
    finite = np.isfinite(rows.column("ratio"))
    other = fn.compare.two_sample_test(rows[finite], rows[~finite], permutations=199, seed=1)
    assert other.p_value < 0.05


@pytest.mark.parametrize(("n", "times"), [(30, 30 / (30 - 4 - 1)), (159, 159 / (159 - 4 - 1)), (160, 1.0)])
def test_parameters_on_numbers_cost_more_of_few_rows(n: int, times: float) -> None:
    random = np.random.default_rng(1)
    x, y = random.normal(size=(2, n))
    z, label = x + y + random.normal(size=n), [*"abc" * n][:n]
    table = fn.Table.from_frame({"x": x, "y": y, "z": z, "label": label})
    plain, priced = (fn.local_score(table, "z", ["x", "y", "label"], "bic", prior=prior) for prior in (False, True))
    dearer = 0.5 * math.log(n) * 3 * 4 * (times - 1)
    assert plain - priced == pytest.approx(3 * 1.5 * math.log(4) + dearer, rel=1e-9)
    plain, priced = (fn.local_score(table, "z", ["label"], "bic", prior=prior) for prior in (False, True))
    assert plain - priced == pytest.approx(1.5 * math.log(4), rel=1e-9)


@pytest.mark.parametrize("seed", range(4))
def test_few_rows_buy_no_regressions_without_an_error(seed: int) -> None:
    """Of twelve rows a regression on six chance columns leaves next to nothing; a label makes the table mixed."""
    random = np.random.default_rng(seed)
    columns: dict[str, Any] = {f"x{j}": random.normal(size=12) for j in range(15)}
    table = fn.Table.from_frame(columns | {"label": ["a", "b"] * 6})
    dag = fn.learn.dag(table, forbidden=[("label", name) for name in columns])
    assert max(map(len, dag.parents)) <= 2
