"""Rao's score test: its statistic from the definition, what variables add, references, and bad input."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2, chi2_contingency, chisquare

import fishernet as fn
from fishernet.base.errors import FishernetError, MissingValueError, SchemaError, ZeroProbabilityError
from fishernet.compare.corrections import Outcome, holm_sidak
from fishernet.kernels import FisherKernel, HiddenVariableKernel, Rbf
from tests.networks import random_network, with_holes
from tests.rates import assert_at_most

ASIA = fn.datasets.load("asia")
NET = random_network(11, [2, 3, 2, 2], sharp=4.0)
SMOKERS = fn.infer.intervene(ASIA, {"smoke": "yes"})
GAUSSIAN = fn.learn.bayesian_network(np.random.default_rng(1).normal(size=(500, 3)).cumsum(axis=1))
HMM = fn.HiddenMarkovModel([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], [[0.5, 0.5], [0.1, 0.9]], alphabet="ab")
score_test = fn.compare.score_test


def coin(p: list[float]) -> fn.BayesianNetwork:
    return fn.BayesianNetwork.from_tables([fn.Variable("a", list("xyz")[: len(p)])], {}, {"a": p})


def test_of_one_variable_it_is_pearson_s_test_of_fit() -> None:
    net = coin([0.5, 0.3, 0.2])
    rows = fn.Table.from_frame({"a": ["x"] * 60 + ["y"] * 25 + ["z"] * 15})
    found = score_test(FisherKernel(net), rows, reference="chi-square")
    expected = chisquare([60, 25, 15], [50, 30, 20])
    assert found.statistic == pytest.approx(expected.statistic, rel=1e-12)
    assert found.p_value == pytest.approx(expected.pvalue, rel=1e-10)
    assert (found.degrees_of_freedom, found.n_rows, found.n_fitted, found.reference) == (2, 100, None, "chi-square")


def test_fitted_to_one_sample_it_is_pearson_s_test_of_two() -> None:
    """NM / (N + M) with the frequencies of M rows; the usual test has those of both, which is equal to first order."""
    first, second = np.array([3000, 1800, 1200]), np.array([2080, 1190, 730])
    rows = [fn.Table.from_frame({"a": list("x" * c[0] + "y" * c[1] + "z" * c[2])}) for c in (first, second)]
    net = fn.learn.parameters(fn.Dag.from_edges(["a"], []), rows[0], smoothing=0)
    found = score_test(FisherKernel(net), rows[1])
    theta, n, m = first / 6000, 4000, 6000
    expected = n * m / (n + m) * ((second / n - theta) ** 2 / theta).sum()
    assert found.statistic == pytest.approx(expected, rel=1e-10)
    assert found.statistic == pytest.approx(chi2_contingency([first, second]).statistic, rel=0.05)
    assert (found.n_fitted, found.n_rows) == (6000, 4000)


def test_the_statistic_is_the_score_in_units_of_the_information() -> None:
    """s' I^-1 s / N with s the sum of the rows' scores: Rao's formula, block by block."""
    rows = NET.sample(500, seed=1)
    found = score_test(FisherKernel(NET), rows)
    scores = np.asarray(NET.fisher_scores(rows)).sum(axis=0)
    expected, at = 0.0, 0
    for block in (block for of_variable in NET.fisher_information() for block in of_variable):
        own = scores[at : at + len(block)]
        expected += own @ np.linalg.solve(block, own) / 500
        at += len(block)
    assert found.statistic == pytest.approx(expected, rel=1e-8)
    assert found.degrees_of_freedom == NET.n_parameters == at
    assert found.p_value == pytest.approx(chi2.sf(expected, at), rel=1e-6)


@pytest.mark.parametrize("n_fitted", [0, 500])
def test_a_change_upstream_accuses_no_other_variable(n_fitted: int) -> None:
    """P(smoke) goes from .05 to .9; other variables are named as seldom as the level says."""
    tables: dict[str, Any] = {name: ASIA.conditional(name).table() for name in ASIA.names}
    parents = {name: ASIA.parents(name) for name in ASIA.names}
    earlier, later = (
        fn.BayesianNetwork.from_tables(ASIA.variables, parents, tables | {"smoke": [p, 1 - p]}) for p in (0.05, 0.9)
    )

    def names_another(seed: int) -> bool:
        fitted = fn.learn.parameters(ASIA.dag, earlier.sample(500, seed=seed)) if n_fitted else earlier
        rows = later.sample(400, seed=seed + 1000)
        found = score_test(
            FisherKernel(fitted), rows, n_fitted=n_fitted, simulations=99, reference="chi-square", seed=seed
        )
        assert "smoke" in found.misfits()
        return len(found.misfits()) > 1

    assert_at_most(map(names_another, range(100)), 0.05, fault=0.2)


def test_survey_weights_are_no_rows() -> None:
    """Weights that vary as exponential ones say as much as half of the rows; the level holds."""
    random = np.random.default_rng(1)
    rejected = 0
    for seed in range(100):
        rows = ASIA.sample(600, seed=seed)
        weighted = fn.Table(rows.variables, rows.codes, weights=random.exponential(size=600))
        found = score_test(FisherKernel(ASIA), weighted, n_fitted=0, reference="chi-square", seed=seed)
        assert 200 < found.n_rows < 400
        rejected += found.p_value <= 0.05
    assert rejected <= 14  # the chi-squared distribution is near, not exact, for 300 rows of rare states


def test_variables_and_configurations_add_up_and_are_corrected() -> None:
    found = score_test(FisherKernel(ASIA), SMOKERS.sample(3000, seed=1), reference="chi-square")
    variables, groups = list(found.by_variable.values()), found.by_configuration
    for shares in (variables, groups):
        assert sum(share.statistic for share in shares) == pytest.approx(found.statistic, rel=1e-9)
        assert sum(share.share for share in shares) == pytest.approx(1, rel=1e-9)
    alone = np.array([share.p_value for share in variables])
    told = alone.copy()
    told[ASIA.names.index("either")] = np.nan  # it follows from its parents, and nothing can be told of it
    corrected, most = np.array([s.p_corrected for s in variables]), holm_sidak([Outcome(p) for p in told])
    assert (corrected <= np.nan_to_num(most, nan=1.0) + 1e-12).all()  # fewer p-values may be possible than all
    assert (corrected >= alone - 1e-12).all()
    assert found.misfits() == ("smoke",)
    assert found.degrees_of_freedom == 14  # 18, of which 'either' is known: its states follow from its parents


def test_gaussian_networks_have_one_degree_a_parameter() -> None:
    rows = GAUSSIAN.sample(1000, seed=1)
    found = score_test(FisherKernel(GAUSSIAN), rows, n_fitted=0)
    assert found.degrees_of_freedom == GAUSSIAN.n_parameters
    assert found.p_value == pytest.approx(chi2.sf(found.statistic, GAUSSIAN.n_parameters), rel=1e-6)
    assert found.by_configuration == ()
    moved = fn.Table.adopt(rows.variables, [column + (v == 1) for v, column in enumerate(rows.codes)])
    assert score_test(FisherKernel(GAUSSIAN), moved, n_fitted=0).p_value < 1e-6


def test_weights_are_rows() -> None:
    rows = NET.sample(300, seed=1)
    weights = np.random.default_rng(1).integers(0, 3, size=300)
    tables = fn.Table(rows.variables, rows.codes, weights=weights), rows[np.repeat(np.arange(300), weights)]
    weighted, repeated = (score_test(FisherKernel(NET), table, reference="chi-square") for table in tables)
    assert weighted.statistic == pytest.approx(repeated.statistic, rel=1e-9)
    assert weighted.p_value == pytest.approx(repeated.p_value, rel=1e-6)
    assert weighted.n_rows == weights.sum()


def test_auto_takes_the_bootstrap_where_cells_are_rare_or_missing() -> None:
    kernel = FisherKernel(NET)
    assert score_test(kernel, NET.sample(2000, seed=1), simulations=19).reference == "chi-square"
    assert score_test(kernel, NET.sample(10, seed=1), simulations=19, seed=1).reference == "bootstrap"
    assert score_test(kernel, NET.sample(2000, seed=1), n_fitted=10, simulations=19, seed=1).reference == "bootstrap"
    holes = with_holes(NET, 300, 1, 0.2)
    assert score_test(HiddenVariableKernel(NET), holes, simulations=19, seed=1).reference == "bootstrap"
    numbers = FisherKernel(GAUSSIAN)
    assert (
        score_test(numbers, GAUSSIAN.sample(199, seed=1), n_fitted=0, simulations=19, seed=1).reference == "bootstrap"
    )
    assert score_test(numbers, GAUSSIAN.sample(200, seed=1), n_fitted=0).reference == "chi-square"


def test_both_references_agree_for_many_rows() -> None:
    """Of 999 drawn tables; the p-value's error is sqrt(p (1 - p) / 999)."""
    rows = NET.sample(600, seed=5)
    near, drawn = (score_test(FisherKernel(NET), rows, reference=r, seed=1) for r in ("chi-square", "bootstrap"))
    assert near.statistic == drawn.statistic
    assert abs(near.p_value - drawn.p_value) < 4 * np.sqrt(0.25 / 999) + 0.02
    assert drawn.p_value * 1000 == pytest.approx(round(drawn.p_value * 1000), abs=1e-9)


def test_changes_are_found_in_rows_with_holes() -> None:
    found = score_test(HiddenVariableKernel(ASIA), with_holes(SMOKERS, 300, 1, 0.2), simulations=99, seed=1)
    assert (found.p_value, found.misfits()[0]) == (0.01, "smoke")
    again = score_test(HiddenVariableKernel(ASIA), with_holes(SMOKERS, 300, 1, 0.2), simulations=99, seed=found.seed)
    assert again.by_variable == found.by_variable


def of_numbers(n: int, seed: int) -> fn.Table:
    """Five numbers, each the sum of those before it and of noise."""
    X = np.random.default_rng(seed).normal(size=(n, 5))
    for v in range(1, 5):
        X[:, v] += 0.5 * X[:, :v].sum(axis=1)
    return fn.Table.from_frame({name: X[:, v] for v, name in enumerate("abcde")})


def of_both(n: int, seed: int) -> fn.Table:
    """Two numbers below a label of which one state is rare."""
    random = np.random.default_rng(seed)
    label = random.choice(list("uvw"), n, p=[0.6, 0.3, 0.1])
    a = random.normal(size=n) + (label == "v")
    return fn.Table.from_frame({"label": label, "a": a, "b": a * (label == "u") + random.normal(size=n)})


EVERY = fn.Dag.from_edges(list("abcde"), [(x, y) for x in "abcde" for y in "abcde" if x < y])
LABELLED = fn.Dag.from_edges(["label", "a", "b"], [("label", "a"), ("label", "b"), ("a", "b")])
FITTED: dict[str, tuple[Any, Any, int]] = {
    "regressions": (of_numbers, lambda rows: fn.learn.parameters(EVERY, rows), 120),
    "a graph of numbers": (of_numbers, lambda rows: fn.learn.gaussian_network(rows, EVERY.skeleton()), 120),
    "labels and numbers": (of_both, lambda rows: fn.learn.parameters(LABELLED, rows), 200),
}


@pytest.mark.parametrize(("draw", "fit", "n"), FITTED.values(), ids=FITTED)
def test_numbers_fitted_to_few_rows_are_rarely_said_to_misfit(draw: Any, fit: Any, n: int) -> None:
    def rejects(seed: int) -> bool:
        rows = draw(2 * n, seed)
        return score_test(FisherKernel(fit(rows[:n])), rows[n:], simulations=19, seed=seed).p_value <= 0.05

    assert_at_most(map(rejects, range(60)), 0.05, fault=0.3)


def test_the_more_coefficients_a_fit_has_the_more_rows_its_chi_squared_reference_needs() -> None:
    rows = of_numbers(1600, 1)
    few, many = (FisherKernel(fn.learn.parameters(EVERY, part)) for part in (rows[:400], rows[:800]))
    assert [score_test(k, rows[800:], simulations=9).reference for k in (few, many)] == ["bootstrap", "chi-square"]
    both = of_both(2000, 1)
    rare, common = (FisherKernel(fn.learn.parameters(LABELLED, both)), FisherKernel(GAUSSIAN))
    assert score_test(rare, both[:1000], simulations=9).reference == "bootstrap"
    assert score_test(common, GAUSSIAN.sample(500, seed=2)).reference == "chi-square"


def test_numbers_that_rows_lack_are_lacking_in_drawn_rows_too() -> None:
    rows = of_numbers(160, 3)
    kernel = FisherKernel(fn.learn.gaussian_network(rows[:80], EVERY.skeleton()))
    frame = {name: np.array(rows.column(name), dtype=float) for name in rows.names}
    frame["b"][80::4] = np.nan
    moved = {**frame, "c": frame["c"] + 2}
    same, other = (fn.Table.from_frame(of)[80:] for of in (frame, moved))
    p_same, p_other = (score_test(kernel, of, simulations=39, seed=1).p_value for of in (same, other))
    assert p_other == 1 / 40 < p_same


def test_a_model_that_cannot_say_what_it_was_fitted_to_is_told() -> None:
    kernel = FisherKernel(HMM, length=6, n_samples=500, seed=0)
    with pytest.warns(fn.FishernetWarning, match="n_fitted=0 says that they are known"):
        score_test(kernel, HMM.sample(300, length=6, seed=1))


def test_strings_and_hidden_variables_have_no_parts() -> None:
    kernel = FisherKernel(HMM, length=6, n_samples=20_000, seed=0)
    strings = HMM.sample(300, length=6, seed=1)
    found = score_test(kernel, strings, n_fitted=0, reference="chi-square")
    assert (dict(found.by_variable), found.by_configuration, found.misfits()) == ({}, (), ())
    hidden = score_test(FisherKernel(ASIA, hidden=["either"]), ASIA.sample(300, seed=1), simulations=19, seed=1)
    assert dict(hidden.by_variable) == {}


ROWS = ASIA.sample(50, seed=1)
REFUSED: dict[str, tuple[Any, Any, dict[str, Any], type[FishernetError], str]] = {
    "no kernel": (None, ROWS, {}, SchemaError, "score_test needs a kernel, .*, not a NoneType"),
    "a network": (ASIA, ROWS, {}, SchemaError, "score_test needs a kernel, .*, not a BayesianNetwork"),
    "metric": (FisherKernel(ASIA, metric="practical"), ROWS, {}, SchemaError, "metric='practical'"),
    "no features": (Rbf(FisherKernel(ASIA), 1.0), ROWS, {}, SchemaError, "not Rbf"),
    "a sum": (FisherKernel(ASIA) + FisherKernel(ASIA), ROWS, {}, SchemaError, "needs a Fisher kernel"),
    "no rows": (FisherKernel(ASIA), ROWS[:0], {}, SchemaError, "table has no rows"),
    "None": (FisherKernel(ASIA), None, {}, SchemaError, "table must be a table"),
    "impossible": (FisherKernel(SMOKERS), ROWS, {}, ZeroProbabilityError, "smoke = 'no', which has probability 0"),
    "holes": (FisherKernel(ASIA), with_holes(ASIA, 50, 1, 0.2), {}, MissingValueError, "without missing cells"),
    "fitted": (FisherKernel(ASIA), ROWS, {"n_fitted": -1}, FishernetError, "n_fitted must be a number of at least 0"),
    "reference": (FisherKernel(ASIA), ROWS, {"reference": "exact"}, FishernetError, "unknown reference 'exact'; there"),
    "simulations": (FisherKernel(ASIA), ROWS, {"simulations": 0}, FishernetError, "simulations must be an integer"),
    "smoothing": (FisherKernel(ASIA), ROWS, {"smoothing": "snml"}, FishernetError, "smoothing must be a number"),
    "strings": (
        FisherKernel(HMM, length=3, seed=0, n_samples=500),
        ["aba", "bab", "abb"],
        {"n_fitted": 0},
        SchemaError,
        "the bootstrap draws and fits networks; for HiddenMarkovModel.* there is reference='chi-square'",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_bad_input_is_refused_with_what_to_do(name: str) -> None:
    kernel, table, options, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message):
        score_test(kernel, table, **options)


def test_the_frames_and_the_repr_say_what_was_found() -> None:
    found = score_test(FisherKernel(ASIA), SMOKERS.sample(3000, seed=1), reference="chi-square", seed=3)
    rows = found.to_frame().to_pylist()
    assert [row["variable"] for row in rows] == list(ASIA.names)
    assert found.to_frame("configuration").num_rows == len(found.by_configuration)
    assert repr(found).startswith("ScoreTestResult(p = ")
    assert repr(found).endswith("for 14 parameters, chi-square; does not fit: smoke)")
    assert found.seed == 3


# --------------------------------------------------------------------------------------- fits to rows with gaps


def with_gaps(n: int, share: float, seed: int, kind: str) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    a = rng.normal(size=n)
    frame: dict[str, Any] = {"a": a, "b": 0.6 * a + rng.normal(size=n)}
    frame["c"] = 0.5 * frame["b"] - 0.4 * a + rng.normal(size=n)
    if kind == "mixed":
        frame["g"] = np.where(rng.random(n) < 0.4, "u", "v").astype(object)
        frame["b"] = frame["b"] + (frame["g"] == "u")
    return {name: np.where(rng.random(n) < share, None, column) for name, column in frame.items()}


ARCS = {"numbers": [("a", "b"), ("a", "c"), ("b", "c")], "mixed": [("g", "b"), ("a", "b"), ("a", "c"), ("b", "c")]}


@pytest.mark.parametrize("kind", ["labels", "numbers", "mixed", "undirected"])
def test_a_network_knows_how_many_rows_its_families_had(kind: str, tmp_path: Path) -> None:
    if kind == "labels":
        table = with_holes(NET, 300, 1, 0.3)
        net: Any = fn.learn.parameters(NET.dag, table)
        families: list[tuple[str, ...]] = [(*net.parents(name), name) for name in net.names]
    else:
        table = fn.Table.from_frame(with_gaps(300, 0.3, 1, kind))
        arcs = ARCS.get(kind, ARCS["numbers"])
        graph = fn.Dag.from_edges(table.names, arcs)
        net = fn.learn.parameters(graph, table) if kind in ARCS else fn.learn.gaussian_network(table, graph.skeleton())
        families = [(*net.parents(name), name) for name in net.names] if kind in ARCS else list(net.edges)
    lacking = table.to_frame().to_pandas().isna()
    assert net.n_rows == 300
    assert net.n_complete == min(int((~lacking[list(family)]).all(axis=1).sum()) for family in families)
    fn.save(net, tmp_path / "net.json")
    again = fn.load(tmp_path / "net.json")
    assert again == net == pickle.loads(pickle.dumps(net))
    assert again.n_complete == net.n_complete
    complete = table[np.flatnonzero(~lacking.any(axis=1).to_numpy())]
    of_complete = fn.learn.parameters(net.dag, complete) if kind != "undirected" else None
    assert of_complete is None or of_complete.n_complete == of_complete.n_rows == complete.n_rows


def test_a_family_that_no_row_knows_whole_makes_no_network_known_beforehand() -> None:
    net = fn.BayesianNetwork(NET.variables, NET.conditionals, n_rows=300, n_complete=0)
    assert score_test(FisherKernel(net), NET.sample(50, seed=1), reference="chi-square").n_fitted == 1
    assert fn.BayesianNetwork(NET.variables, NET.conditionals, n_complete=5).n_complete is None
    more, all_ = (fn.BayesianNetwork(NET.variables, NET.conditionals, n_rows=300, n_complete=n) for n in (301, None))
    assert more == all_


def test_weights_count_in_rows_that_families_had() -> None:
    table = with_holes(NET, 200, 3, 0.3)
    times = np.arange(200) % 3 + 1
    weighted = fn.learn.parameters(NET.dag, fn.Table.adopt(table.variables, table.codes, weights=times))
    repeated = fn.learn.parameters(NET.dag, table[np.repeat(np.arange(200), times)])
    assert (weighted.n_rows, weighted.n_complete) == (repeated.n_rows, repeated.n_complete)


@pytest.mark.parametrize("kind", ["numbers", "undirected", "labels"])
def test_networks_fitted_to_rows_with_gaps_reject_no_more_than_they_should(kind: str) -> None:
    dag = fn.Dag.from_edges(["a", "b", "c"], ARCS["numbers"])

    def pair(seed: int) -> tuple[Any, fn.Table]:
        if kind == "labels":
            return fn.learn.parameters(NET.dag, with_holes(NET, 400, seed, 0.5)), NET.sample(400, seed=1000 + seed)
        table = fn.Table.from_frame(with_gaps(400, 0.5, seed, "numbers"))
        is_directed = kind == "numbers"
        net: Any = fn.learn.parameters(dag, table) if is_directed else fn.learn.gaussian_network(table, dag.skeleton())
        return net, fn.Table.from_frame(with_gaps(400, 0.0, 1000 + seed, "numbers"))

    def p_value(seed: int) -> float:
        net, rows = pair(seed)
        return score_test(FisherKernel(net), rows, seed=1, reference="chi-square").p_value

    assert_at_most((p_value(seed) <= 0.05 for seed in range(60)), 0.05, fault=0.3)
