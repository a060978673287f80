"""Questions to networks of labels and numbers, held beside every state of the labels and the normal in it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import norm

import fishernet as fn
from tests.reference.mixed import Joint, random_network

SEEDS = range(12)


def known_of(net: fn.BayesianNetwork, seed: int, share: float = 0.5) -> tuple[dict[str, Any], dict[int, float]]:
    """Return what is known of a drawn row: by name, and codes and numbers by position."""
    rng = np.random.default_rng(seed)
    row = net.sample(1, seed=seed)
    at = [v for v in range(len(net.names)) if rng.random() < share]
    said = {net.names[v]: row[net.names[v]][0] for v in at}
    return said, {v: row.codes[v][0] for v in at}


@pytest.mark.parametrize("seed", SEEDS)
def test_log_probabilities_of_rows_with_any_cells_missing(seed: int) -> None:
    net = random_network(seed)
    joint, rng = Joint(net), np.random.default_rng(seed)
    rows = net.sample(30, seed=seed)
    columns = [np.array(column) for column in rows.codes]
    for variable, column in zip(net.variables, columns, strict=True):
        column[rng.random(30) < 0.4] = np.nan if variable.is_continuous else variable.cardinality
    table = fn.Table.adopt(net.variables, columns, n_rows=30)
    expected = []
    for row in range(30):
        cells = {v: column[row] for v, column in enumerate(columns)}
        known = {v: cell for v, cell in cells.items() if not net.variables[v].missing(np.array([cell]))[0]}
        expected.append(logsumexp(joint.given(known)[0]))
    np.testing.assert_allclose(net.log_prob(table), expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(net.log_prob_terms(table).sum(axis=1), expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("seed", SEEDS)
def test_distributions_given_some_of_either_kind(seed: int) -> None:
    net = random_network(seed)
    joint = Joint(net)
    said, known = known_of(net, seed)
    logs, means, covariances = joint.given(known)
    weights = np.exp(np.array(logs) - logsumexp(logs))
    assert fn.infer.log_evidence(net, said) == pytest.approx(logsumexp(logs), abs=1e-9)
    rest = [v for v in joint.numbers if v not in known]
    for place, v in enumerate(rest):
        d = net.query(net.names[v], given=said)
        mean = weights @ [m[place] for m in means]
        spread = weights @ [c[place, place] + (m[place] - mean) ** 2 for m, c in zip(means, covariances, strict=True)]
        assert d.mean == pytest.approx(mean, rel=1e-9, abs=1e-9)
        assert d.sd == pytest.approx(np.sqrt(spread), rel=1e-9)
        sds = np.sqrt([c[place, place] for c in covariances])
        x = mean + 0.7 * d.sd
        assert d.density(x) == pytest.approx(weights @ norm.pdf(x, [m[place] for m in means], sds), rel=1e-9)
        for q in (1e-6, 0.25, 0.5, 0.999):
            found = weights @ norm.cdf(d.quantile(q), [m[place] for m in means], sds)
            assert found == pytest.approx(q, rel=1e-9)
        low, high = d.interval(0.9)
        assert d.probability(low, high) == pytest.approx(0.9, abs=1e-9)
    for place, v in enumerate(joint.labels):
        if v in known:
            continue
        d = net.query(net.names[v], given=said)
        shares = np.bincount([s[place] for s in joint.states], weights, net.variables[v].cardinality)
        np.testing.assert_allclose(d.array, shares, atol=1e-12)


@pytest.mark.parametrize("seed", SEEDS)
def test_joint_distribution_of_all_that_is_not_known(seed: int) -> None:
    net = random_network(seed)
    joint = Joint(net)
    said, known = known_of(net, seed, 0.3)
    logs, means, covariances = joint.given(known)
    weights = np.exp(np.array(logs) - logsumexp(logs))
    rest = [net.names[v] for v in joint.numbers if v not in known]
    if len(rest) < 2:
        return
    d = net.query(rest[::-1], given=said)  # in another order
    mean = sum(w * m for w, m in zip(weights, means, strict=True))[::-1]
    second = sum(w * (c + np.outer(m, m)) for w, m, c in zip(weights, means, covariances, strict=True))[::-1, ::-1]
    np.testing.assert_allclose(d.mean, mean, rtol=1e-8, atol=1e-8)
    np.testing.assert_allclose(d.covariance, second - np.outer(mean, mean), rtol=1e-7, atol=1e-7)
    assert d[rest[0]].mean == pytest.approx(mean[-1], rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("seed", range(4))
def test_predictions_are_those_of_queries(seed: int) -> None:
    net = random_network(seed, labels=2)
    rows = net.sample(12, seed=seed)
    frame = rows.to_frame().to_pydict()
    for name in net.names:
        others = {other: cells for other, cells in frame.items() if other != name}
        given = [{other: cells[row] for other, cells in others.items()} for row in range(12)]
        variable = net.variables[net.names.index(name)]
        answers = [net.query(name, given=known) for known in given]
        if variable.is_continuous:
            found = np.asarray(net.predict(others, name))
            np.testing.assert_allclose(found, [d.mean for d in answers], rtol=1e-9, atol=1e-9)
        else:
            np.testing.assert_allclose(net.predict_proba(rows, name), [d.array for d in answers], atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_draws_given_evidence_have_the_moments_of_the_answer(seed: int) -> None:
    net = random_network(seed)
    said, known = known_of(net, seed, 0.3)
    rows = fn.infer.sample(net, 40_000, given=said, seed=seed)
    for v, name in enumerate(net.names):
        if v in known:
            assert set(rows[name].tolist()) == {said[name]}
            continue
        d, column = net.query(name, given=said), rows.codes[v]
        if net.variables[v].is_continuous:
            assert np.mean(column) == pytest.approx(d.mean, abs=5 * d.sd / 200)
            assert np.std(column) == pytest.approx(d.sd, rel=0.06)
        else:
            shares = np.bincount(column, minlength=len(d.array)) / len(column)
            np.testing.assert_allclose(shares, d.array, atol=5 * 0.5 / 200)


def test_filled_cells_keep_what_is_known_and_draws_have_its_spread() -> None:
    net = random_network(3)
    rows = net.sample(4000, seed=1)
    columns = [np.array(column) for column in rows.codes]
    rng = np.random.default_rng(2)
    gone = [rng.random(4000) < 0.3 for _ in columns]
    for variable, column, lacking in zip(net.variables, columns, gone, strict=True):
        column[lacking] = np.nan if variable.is_continuous else variable.cardinality
    table = fn.Table.adopt(net.variables, columns, n_rows=4000)
    for how in ("most_probable", "draw"):
        filled = fn.infer.impute(net, table, how=how, seed=1)
        assert not filled.has_missing
        for before, after, lacking in zip(rows.codes, filled.codes, gone, strict=True):
            np.testing.assert_array_equal(before[~lacking], after[~lacking])
    for v, variable in enumerate(net.variables):
        if variable.is_continuous:
            assert np.std(filled.codes[v]) == pytest.approx(np.std(rows.codes[v]), rel=0.1)


def test_a_likelihood_of_a_label_weighs_its_states() -> None:
    net = random_network(5, labels=2, numbers=2)
    label = next(variable for variable in net.variables if variable.cardinality > 1)
    weights = np.arange(1.0, label.cardinality + 1)
    other = next(variable.name for variable in net.variables if variable.is_continuous)
    parts = [net.query(other, given={label.name: state}).mean for state in label.states]
    shares = net.query(label.name).array * weights
    found = net.query(other, likelihood={label.name: weights})
    assert found.mean == pytest.approx(shares @ parts / shares.sum(), rel=1e-9)


def test_units_far_apart_keep_their_digits() -> None:
    for scale in (1e-9, 1e9):
        small, plain = random_network(7, scale=scale), random_network(7)
        numbers = [variable.name for variable in plain.variables if variable.is_continuous]
        for name in numbers:
            given = {other: 1.5 for other in numbers if other != name}
            at_scale = {other: scale * x for other, x in given.items()}
            one, other = plain.query(name, given=given), small.query(name, given=at_scale)
            assert other.mean == pytest.approx(scale * one.mean, rel=1e-8)
            assert other.sd == pytest.approx(scale * one.sd, rel=1e-8)


@pytest.mark.parametrize("scale", [1e-9, 1e9])
def test_rows_with_gaps_in_other_units_keep_their_digits(scale: float) -> None:
    plain, other = random_network(7), random_network(7, scale=scale)
    rows, rng = plain.sample(50, seed=1), np.random.default_rng(1)
    columns = [np.array(column) for column in rows.codes]
    known = np.zeros(50)
    for variable, column in zip(plain.variables, columns, strict=True):
        lacking = rng.random(50) < 0.4
        column[lacking] = np.nan if variable.is_continuous else variable.cardinality
        known += variable.is_continuous & ~lacking
    of_other = [scale * c if v.is_continuous else c for v, c in zip(plain.variables, columns, strict=True)]
    one = fn.Table.adopt(plain.variables, columns, n_rows=50)
    scaled = fn.Table.adopt(plain.variables, of_other, n_rows=50)
    found = other.log_prob(scaled) + known * np.log(scale)
    np.testing.assert_allclose(found, plain.log_prob(one), rtol=1e-9, atol=1e-9)
    filled, of_scaled = fn.infer.impute(plain, one), fn.infer.impute(other, scaled)
    for variable, a, b in zip(plain.variables, filled.codes, of_scaled.codes, strict=True):
        np.testing.assert_allclose(b, scale * a if variable.is_continuous else a, rtol=1e-9)


def test_what_is_impossible_is_told_of() -> None:
    variables: Any = [fn.Variable("a", ["x", "y"]), fn.Variable("b", ["x", "y"]), fn.Continuous("z")]
    z = {"intercept": [[0.0, 1.0], [2.0, 3.0]], "coefficients": np.zeros((2, 2, 0)), "sd": np.ones((2, 2))}
    tables: Any = {"a": [0.5, 0.5], "b": [[1.0, 0.0], [1.0, 0.0]], "z": z}
    net = fn.BayesianNetwork.from_tables(variables, {"b": ["a"], "z": ["a", "b"]}, tables)
    rows = fn.Table.from_frame({"a": [None, None], "b": ["x", "y"], "z": [0.0, 0.0]}, schema=variables)
    found = net.log_prob(rows)
    assert found[0] == pytest.approx(np.log(0.5 * (norm.pdf(0.0) + norm.pdf(2.0))), rel=1e-9)
    assert found[1] == -np.inf
    with pytest.raises(fn.ZeroProbabilityError):
        fn.infer.impute(net, rows)
    with pytest.raises(fn.ZeroProbabilityError):
        net.predict_proba(rows, "a")


def test_what_is_given_must_fit() -> None:
    net = random_network(1)
    number = next(variable.name for variable in net.variables if variable.is_continuous)
    with pytest.raises(fn.UnknownStateError):
        net.query(number, given={net.names[0] if net.names[0] != number else net.names[1]: "nothing"})
    with pytest.raises(fn.SchemaError):
        net.query(number, given={number: 1.0})
    with pytest.raises(fn.SchemaError):
        net.query(number, likelihood={number: [1.0]})
    with pytest.raises(fn.SchemaError):
        net.predict_proba(net.sample(3, seed=1), number)


def test_too_many_labels_above_one_block_are_refused_before_anything_is_made() -> None:
    n = 40
    labels = [fn.Variable(f"a{i}", ["x", "y"]) for i in range(n)]
    numbers = [fn.Continuous(f"z{i}") for i in range(n)]
    parents = {f"z{i}": [f"a{i}"] + ([f"z{i - 1}"] if i else []) for i in range(n)}
    tables: dict[str, Any] = {f"a{i}": [0.5, 0.5] for i in range(n)}
    for i in range(n):
        slopes = np.full((2, 1), 0.5) if i else np.zeros((2, 0))
        tables[f"z{i}"] = {"intercept": [0.0, 1.0], "coefficients": slopes, "sd": [1.0, 2.0]}
    net = fn.BayesianNetwork.from_tables([*labels, *numbers], parents, tables)
    with pytest.raises(fn.StateSpaceError):
        net.query("z39")
    assert net.query("z3").mean == pytest.approx(0.5 * (1 + 0.5 + 0.25 + 0.125))


def test_a_label_that_is_asked_and_given_has_all_its_mass_there() -> None:
    net = random_network(1)
    labels = [variable for variable in net.variables if not variable.is_continuous and variable.cardinality > 1]
    given = {labels[0].name: labels[0].states[1]}
    assert fn.infer.marginal(net, [labels[0].name], given=given).tolist() == [0.0, 1.0, 0.0][: labels[0].cardinality]
    names = [variable.name for variable in labels][::-1]
    together = fn.infer.marginal(net, names, given=given)
    np.testing.assert_allclose(together.sum(), 1.0)
    others = fn.infer.marginal(net, names[:-1], given=given)
    np.testing.assert_allclose(together[..., 1], others, atol=1e-12)


@pytest.mark.parametrize("seed", range(4))
def test_intervals_of_rows_are_those_of_queries(seed: int) -> None:
    net = random_network(seed, labels=2)
    rows = net.sample(8, seed=seed)
    columns = {
        name: [None if (row + v) % 4 == 0 else x for row, x in enumerate(rows[name].tolist())]
        for v, name in enumerate(net.names)
    }
    for variable in net.variables:
        others = {name: cells for name, cells in columns.items() if name != variable.name}
        if not variable.is_continuous:
            with pytest.raises(fn.SchemaError, match="predict_proba"):
                net.predict_interval(others, variable.name)
            continue
        found = net.predict_interval(others, variable.name, level=0.7)
        for row in range(8):
            given = {name: cells[row] for name, cells in others.items() if cells[row] is not None}
            np.testing.assert_allclose(found[row], net.query(variable.name, given=given).interval(0.7), rtol=1e-9)


def test_no_rows_have_no_predictions() -> None:
    table = fn.Table.from_frame({"a": ["p", "q"] * 30, "x": np.arange(60.0) ** 1.5})
    net = fn.learn.bayesian_network(table)
    assert net.predict(table[:0], "x").shape == (0,)
    assert net.predict_interval(table[:0], "x").shape == (0, 2)
