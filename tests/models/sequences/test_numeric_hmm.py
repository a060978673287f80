"""Hidden Markov models of numbers: sums over all trajectories, hmmlearn, numerical derivatives, extremes."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import stats

import fishernet as fn
from fishernet import _core
from fishernet.models import GaussianEmission, LabelEmission, PoissonEmission
from tests.numeric_sequences import by_all_paths, move_emission

K = 3
INITIAL = np.array([0.5, 0.3, 0.2])
TRANSITION = np.array([[0.7, 0.2, 0.1], [0.3, 0.3, 0.4], [0.1, 0.1, 0.8]])
MISSING = np.nan


def covariances(*lead: int, d: int = 2, seed: int = 0) -> Any:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(*lead, d, d))
    return root @ np.swapaxes(root, -1, -2) + np.eye(d)


def means(*shape: int, seed: int = 1) -> Any:
    return np.random.default_rng(seed).normal(size=shape) * 2


def emissions() -> dict[str, list[Any]]:
    rng = np.random.default_rng(2)
    full = GaussianEmission.from_covariance(means(K, 3), covariances(K, d=3))
    mixed = GaussianEmission.from_covariance(means(K, 2, 2), covariances(K, 2), weights=rng.dirichlet([1, 1], K))
    return {
        "numbers": [GaussianEmission(means(K), [1.0, 0.5, 2.0])],
        "independent columns": [GaussianEmission(means(K, 2), np.exp(means(K, 2)))],
        "joined columns": [full],
        "mixtures": [mixed],
        "mixtures of one column": [GaussianEmission(means(K, 2), np.ones((K, 2)), weights=rng.dirichlet([1, 1], K))],
        "counts": [PoissonEmission([[0.5, 7.0], [4.0, 1.0], [9.0, 3.0]])],
        "numbers, counts and labels": [
            GaussianEmission(means(K), np.ones(K), names=["speed"]),
            PoissonEmission([1.0, 5.0, 9.0], names=["stops"]),
            LabelEmission(rng.dirichlet([2, 2], K), ["path", "street"], "road"),
        ],
    }


NAMES = pytest.mark.parametrize("name", emissions())


def model(name: str) -> fn.NumericHiddenMarkovModel:
    return fn.NumericHiddenMarkovModel(INITIAL, TRANSITION, emissions()[name])


def sequences(hmm: fn.NumericHiddenMarkovModel, *lengths: int, missing: float = 0.0) -> list[Any]:
    """Arrays, labels as codes; a share of the cells is missing."""
    rng = np.random.default_rng(3)
    drawn = [X for X, _ in hmm.sample_with_states(len(lengths), length=lengths, seed=4)]
    return [np.where(rng.random(X.shape) < missing, MISSING, X) for X in drawn]


def density(emission: Any, row: Any, state: int) -> float:
    """The density of one row in one state, literally; missing cells are left out."""
    if isinstance(emission, PoissonEmission):
        there = ~np.isnan(row)
        return float(stats.poisson.pmf(row[there], emission.rate[state, there]).prod())
    if isinstance(emission, LabelEmission):
        return 1.0 if np.isnan(row[0]) else float(emission.probabilities_of_labels[state, int(row[0])])
    there = ~np.isnan(row)
    if not there.any():
        return 1.0
    centres = np.atleast_2d(emission.mean[state])
    spreads = emission.covariance[state].reshape(len(centres), len(row), len(row))
    weights = [1.0] if emission.weights is None else emission.weights[state]
    return float(
        sum(
            w * stats.multivariate_normal(m[there], c[np.ix_(there, there)]).pdf(row[there])
            for w, m, c in zip(weights, centres, spreads, strict=True)
        )
    )


def densities(hmm: fn.NumericHiddenMarkovModel, X: Any) -> Any:
    ends = np.cumsum([len(one.variables) for one in hmm.emissions])[:-1]
    parts = list(zip(hmm.emissions, np.split(X, ends, axis=1), strict=True))
    return np.array(
        [[np.prod([density(one, part[t], a) for one, part in parts]) for a in range(K)] for t in range(len(X))]
    )


@NAMES
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_answers_are_sums_over_all_trajectories(name: str, missing: float) -> None:
    hmm = model(name)
    some = sequences(hmm, 5, 1, 4, missing=missing)
    logs, paths, shares = hmm.log_prob(some), hmm.decode(some), hmm.posterior(some)
    for X, log, path, share in zip(some, logs, paths, shares, strict=True):
        expected, posterior, best, _ = by_all_paths(hmm, densities(hmm, X))
        assert log == pytest.approx(expected, rel=1e-10, abs=1e-10)
        np.testing.assert_allclose(share, posterior, atol=1e-10)
        assert path.tolist() == best
        assert path.dtype == np.int32
    assert [one.tolist() for one in hmm.decode(some, method="posterior")] == [s.argmax(1).tolist() for s in shares]


@NAMES
@pytest.mark.parametrize("missing", [0.0, 0.4])
def test_scores_are_derivatives(name: str, missing: float) -> None:
    hmm, h = model(name), 1e-6
    some = [*sequences(hmm, 9, 4, missing=missing), np.zeros((0, len(hmm.columns)))]
    numerical = []
    for at, emission in enumerate(hmm.emissions):
        for k in range(emission.n_parameters):
            logs = []
            for step in (h, -h):
                changed = [*hmm.emissions[:at], move_emission(emission, k, step), *hmm.emissions[at + 1 :]]
                logs.append(fn.NumericHiddenMarkovModel(INITIAL, TRANSITION, changed).log_prob(some))
            numerical.append((logs[0] - logs[1]) / (2 * h))
    scores = hmm.fisher_scores(some, parameters=["emission"])
    np.testing.assert_allclose(scores, np.stack(numerical, axis=1), rtol=1e-5, atol=1e-5)
    every = hmm.fisher_scores(some)
    assert every.shape == (3, hmm.n_parameters)
    np.testing.assert_array_equal(every[:, : scores.shape[1]], scores)
    assert not every[2].any()


def test_a_missing_step_is_summed_out() -> None:
    """As if the chain had moved on without a look."""
    hmm = model("numbers")
    x = [0.3, None, MISSING, 1.2]
    first = INITIAL * np.exp(hmm.emission.log_prob(np.array([[0.3]]))[0])
    last = np.exp(hmm.emission.log_prob(np.array([[1.2]]))[0])
    expected = np.log(first @ np.linalg.matrix_power(TRANSITION, 3) @ last)
    assert hmm.log_prob([x])[0] == pytest.approx(expected, rel=1e-12)
    assert hmm.log_prob([[None, None]])[0] == pytest.approx(0.0, abs=1e-12)
    assert hmm.log_prob([[]]).tolist() == [0.0]


# -------------------------------------------------------------------------------------------------------- hmmlearn


def hmmlearn_models() -> dict[str, Any]:
    hmm = pytest.importorskip("hmmlearn.hmm")
    found = {}
    for kind in ("diag", "full", "spherical", "tied"):
        one = hmm.GaussianHMM(K, kind)
        one.means_, one.n_features = means(K, 2), 2
        of = covariances(K)
        one.covars_ = {"full": of, "diag": of[:, [0, 1], [0, 1]], "spherical": of[:, 0, 0], "tied": of[0]}[kind]
        found[kind] = one
        two = hmm.GMMHMM(K, 2, covariance_type=kind)
        two.means_, two.n_features = means(K, 2, 2), 2
        of = covariances(K, 2)
        two.covars_ = {"full": of, "diag": of[..., [0, 1], [0, 1]], "spherical": of[..., 0, 0], "tied": of[:, 0]}[kind]
        two.weights_ = np.array([[0.3, 0.7], [0.5, 0.5], [0.9, 0.1]])
        found[f"mixtures, {kind}"] = two
    found["counts"] = hmm.PoissonHMM(K)
    found["counts"].lambdas_, found["counts"].n_features = np.array([[0.5, 7.0], [4.0, 1.0], [9.0, 3.0]]), 2
    for one in found.values():
        one.startprob_, one.transmat_ = INITIAL, TRANSITION
    return found


def test_hmmlearn_gives_the_same_numbers() -> None:
    rng = np.random.default_rng(5)
    for name, theirs in hmmlearn_models().items():
        X = rng.poisson(4, (200, 2)) if name == "counts" else rng.normal(size=(200, 2)) * 2
        lengths = [120, 1, 79]
        some = np.split(X, np.cumsum(lengths)[:-1])
        hmm = fn.NumericHiddenMarkovModel.from_hmmlearn(theirs)
        assert hmm.log_prob(some).sum() == pytest.approx(theirs.score(X, lengths), rel=1e-9)
        np.testing.assert_allclose(np.concatenate(hmm.posterior(some)), theirs.predict_proba(X, lengths), atol=1e-9)
        np.testing.assert_array_equal(np.concatenate(hmm.decode(some)), theirs.predict(X, lengths))
    with pytest.raises(fn.SchemaError, match="has no startprob_"):
        fn.NumericHiddenMarkovModel.from_hmmlearn(object())


# -------------------------------------------------------------------------------------------------------- extremes


def left_to_right(sd: float = 1.0) -> fn.NumericHiddenMarkovModel:
    return fn.NumericHiddenMarkovModel([1.0, 0.0], [[0.9, 0.1], [0.0, 1.0]], GaussianEmission([0.0, 9.0], [sd, sd]))


@pytest.mark.parametrize("sd", [1.0, 0.01, 1e-4])
def test_states_that_are_out_of_reach_for_doubles_matter_later(sd: float) -> None:
    """Steps that fit the second state badly, and a last one that has to be in it: logarithms of each trajectory."""
    hmm = left_to_right(sd)
    x = [0.0, 0.1, -0.1, 0.2, 9.0, 9.1, 0.0, 9.0]
    logs = hmm.emission.log_prob(np.array(x)[:, None])
    n = len(x)
    ways = [  # the step from which on it is in the second state
        logs[:t, 0].sum() + logs[t:, 1].sum() + (t - 1) * np.log(0.9) + (np.log(0.1) if t < n else 0.0)
        for t in range(1, n + 1)
    ]
    assert hmm.log_prob([x])[0] == pytest.approx(float(np.logaddexp.reduce(ways)), rel=1e-12)
    assert hmm.decode([x])[0].tolist() == [0] * (1 + int(np.argmax(ways))) + [1] * (n - 1 - int(np.argmax(ways)))
    shares = np.exp(np.array(ways) - np.logaddexp.reduce(ways))
    in_second = [shares[:t].sum() for t in range(n)]
    np.testing.assert_allclose(hmm.posterior([x])[0][:, 1], in_second, atol=1e-9)
    scores, h = hmm.fisher_scores([x], parameters=["emission"])[0], 1e-6 * sd
    moved = [move_emission(hmm.emission, k, s * h) for k in range(4) for s in (1, -1)]
    again = [fn.NumericHiddenMarkovModel(hmm.initial, hmm.transition, one).log_prob([x])[0] for one in moved]
    numerical = (np.array(again[::2]) - again[1::2]) / (2 * h)
    np.testing.assert_allclose(scores, numerical, rtol=1e-4, atol=1e-3 * np.abs(numerical).max())


def test_long_sequences_keep_every_digit() -> None:
    """A chain that forgets: a sum over the steps. Densities are far above and far below 1."""
    rows = np.tile(INITIAL, (K, 1))
    for scale in (1e-80, 1e80):
        emission = GaussianEmission(means(K) * scale, np.full(K, scale))
        hmm = fn.NumericHiddenMarkovModel(INITIAL, rows, emission)
        x = np.tile(np.array([0.3, -1.0, 2.0, MISSING]), 250_000) * scale
        each = np.log(np.exp(emission.log_prob(x[:4, None]) + np.log(scale)) @ INITIAL)
        expected = 250_000 * (each.sum() - 3 * np.log(scale) - np.log(scale))
        assert hmm.log_prob([x])[0] == pytest.approx(expected, rel=1e-11)
        assert np.isfinite(hmm.fisher_scores([x[:10_000]], parameters=["transition"])).all()
    assert len(hmm.decode([x])[0]) == 10**6
    np.testing.assert_allclose(hmm.posterior([x])[0].sum(axis=1), 1.0, rtol=1e-12)


def test_one_state_is_a_sum_of_densities() -> None:
    hmm = fn.NumericHiddenMarkovModel([1.0], [[1.0]], GaussianEmission([2.0], [0.5]))
    x = [1.0, 2.5, 2.0]
    assert hmm.log_prob([x, [1.0]]) == pytest.approx([stats.norm(2, 0.5).logpdf(x).sum(), stats.norm(2, 0.5).logpdf(1)])
    assert hmm.decode([x])[0].tolist() == [0, 0, 0]


def test_what_is_impossible_is_said() -> None:
    labels = LabelEmission([[1.0, 0.0], [1.0, 0.0]], ["a", "b"], "c")
    hmm = fn.NumericHiddenMarkovModel([0.5, 0.5], [[0.5, 0.5], [0.5, 0.5]], [GaussianEmission([0, 1], [1, 1]), labels])
    some = [{"x": [1.0], "c": ["a"]}, {"x": [0.0, 1.0], "c": ["a", "b"]}]
    assert np.isneginf(hmm.log_prob(some)).tolist() == [False, True]
    for ask in (hmm.posterior, hmm.decode, hmm.fisher_scores):
        with pytest.raises(fn.ZeroProbabilityError, match="sequence 1 has probability 0"):
            ask(some)
    with pytest.raises(fn.ZeroProbabilityError, match="never gives 'b'"):
        hmm.fisher_scores(some[:1])


@pytest.mark.parametrize("block", [1, 2, 7])
def test_blocks_of_sequences_add(block: int) -> None:
    hmm = model("numbers")
    read = hmm.read([X[:, 0] for X in sequences(hmm, 3, 5, 1, 0, 4)])
    own = hmm.initial, hmm.transition, hmm.log_densities(read), read.offsets
    _, _, first, moves = _core.hmm_of_densities(*own, False, True, 1)
    _, none, again, sums = _core.hmm_of_densities(*own, False, True, block)
    assert none.size == 0
    np.testing.assert_array_equal(again, first)
    expected = [moves[i : i + block].sum(axis=0) for i in range(0, 5, block)]
    np.testing.assert_allclose(sums, expected, rtol=1e-12)
    used = (moves * TRANSITION.ravel()).sum(axis=1)
    np.testing.assert_allclose(used, [2, 4, 0, 0, 3], atol=1e-10)


# ---------------------------------------------------------------------------------------------- what is given, and not


@pytest.mark.parametrize("kind", [dict, pd.DataFrame, pl.DataFrame, pa.table, fn.Table.from_frame])
def test_tables_are_matched_by_names_and_labels(kind: Any) -> None:
    hmm = model("numbers, counts and labels")
    columns = {"road": ["street", None, "path"], "more": ["u", "v", "u"], "stops": [3, 0, 1], "speed": [0.5, None, 1.5]}
    X = np.array([[0.5, 3.0, 1.0], [MISSING, 0.0, MISSING], [1.5, 1.0, 0.0]])
    if kind is fn.Table.from_frame:
        columns |= {"speed": [0.5, None, 1.25], "stops": [3.5, 0.5, 1.5]}
        hmm = fn.NumericHiddenMarkovModel(INITIAL, TRANSITION, [hmm.emissions[0], hmm.emissions[2]])
        X = np.array([[0.5, 1.0], [MISSING, MISSING], [1.25, 0.0]])
    assert hmm.log_prob([kind(columns)]).tobytes() == hmm.log_prob([X]).tobytes()


def test_draws_are_taken_back() -> None:
    hmm = model("numbers, counts and labels")
    drawn = hmm.sample(3, length=[4, 0, 2], seed=1)
    assert [type(one) for one in drawn] == [fn.Table] * 3
    assert hmm.log_prob(drawn).shape == (3,)
    assert hmm.log_prob([X for X, _ in hmm.sample_with_states(3, length=[4, 0, 2], seed=1)]).tobytes() == (
        hmm.log_prob(drawn).tobytes()
    )
    assert model("numbers").sample(2, length=3, seed=1)[0].shape == (3,)
    assert model("joined columns").sample(2, length=3, seed=1)[0].shape == (3, 3)
    assert model("numbers").sample(0, length=3) == []


def test_draws_have_the_moments_of_the_model() -> None:
    hmm = fn.NumericHiddenMarkovModel(INITIAL, np.eye(K), emissions()["mixtures"])
    pairs = hmm.sample_with_states(K * 4000, length=5, seed=2)
    (emission,) = emissions()["mixtures"]
    for state in range(K):
        X = np.concatenate([X for X, states in pairs if states[0] == state])
        weights = emission.weights[state]
        expected = weights @ emission.mean[state]
        np.testing.assert_allclose(X.mean(axis=0), expected, atol=6 * X.std(axis=0).max() / np.sqrt(len(X)))
    assert np.bincount([states[0] for _, states in pairs]) / len(pairs) == pytest.approx(INITIAL, abs=0.03)


REFUSED: dict[str, tuple[Any, str]] = {
    "one sequence": (lambda m: m.log_prob([1.0, 2.0]), "one sequence x is \\[x\\]"),
    "a matrix": (lambda m: m.log_prob(np.zeros((3, 2))), "write \\[X\\] for one"),
    "a string": (lambda m: m.log_prob("ab"), "no list of sequences"),
    "strings": (lambda m: m.log_prob(["ab"]), "sequence 0 is no sequence of numbers"),
    "other columns": (lambda m: m.log_prob([np.zeros((3, 2))]), "each step has 1 number"),
    "a table": (lambda m: m.log_prob({"x": [1.0]}), "one table is one sequence"),
    "infinite": (lambda m: m.log_prob([[0.0], [1.0, np.inf]]), "sequence 1, position 1: column 'x' is inf"),
    "too large": (lambda m: m.log_prob([[0.0], [1.0, -1e200]]), r"column 'x' is -1e\+200; numbers must be finite, 1e"),
    "method": (lambda m: m.decode([[1.0]], method="best"), "unknown method"),
    "parameters": (lambda m: m.fisher_scores([[1.0]], parameters=["mean"]), "some of 'emission'"),
    "length": (lambda m: m.sample(2, length=[1]), "length must be"),
    "information": (lambda m: m.fisher_information(), "simulate"),
    "states": (lambda m: fn.NumericHiddenMarkovModel([1.0], [[1.0]], m.emission), "for 3 states, and initial for 1"),
    "twice": (lambda m: fn.NumericHiddenMarkovModel(INITIAL, TRANSITION, [m.emission] * 2), "the column 'x'"),
    "sd": (lambda m: GaussianEmission([0.0], [0.0]), "must be positive"),
    "shape": (lambda m: GaussianEmission([0.0, 1.0], [1.0]), "shape"),
    "upper": (lambda m: GaussianEmission([[0, 1]], [[1, 1]], coefficients=[[[0, 1], [0, 0]]]), "0 unless i < j"),
    "covariance": (lambda m: GaussianEmission.from_covariance([[0, 1]], [[[1, 2], [2, 1]]]), "positive definite"),
    "rate": (lambda m: PoissonEmission([0.0]), "must be positive"),
    "count": (lambda m: model("counts").log_prob([[[1, 0], [2.5, 0]]]), "sequence 0, position 1: 2.5 .* no count"),
    "code": (lambda m: model("numbers, counts and labels").log_prob([[[0, 0, 2]]]), "no code of a label"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused(case: str) -> None:
    ask, message = REFUSED[case]
    with pytest.raises(fn.FishernetError, match=message):
        ask(model("numbers"))


def test_the_core_refuses_what_does_not_fit() -> None:
    p, moves, logs, offsets = np.array([0.5, 0.5]), np.full((2, 2), 0.5), np.zeros((3, 2)), np.array([0, 3])
    bad: list[tuple[Any, ...]] = [
        (np.array([]), moves, logs, offsets, True, True),
        (p, moves[:1].copy(), logs, offsets, True, True),
        (p, moves, logs[:, :1].copy(), offsets, True, True),
        (p, moves, logs + np.nan, offsets, True, True),
        (p, moves, logs, np.array([0, 2]), True, True),
        (p, moves, logs, np.array([0, 4, 3]), True, True),
        (p, moves, logs, offsets, True, True, 0),
        (-p, moves, logs, offsets, True, True),
    ]
    for arguments in bad:
        with pytest.raises(ValueError):
            _core.hmm_of_densities(*arguments)


@NAMES
@pytest.mark.parametrize("metric", ["practical", "invariant", "empirical"])
def test_fisher_kernels_take_it(name: str, metric: str) -> None:
    hmm = model(name)
    some = hmm.sample(5, length=6, seed=1)
    more = {"invariant": {"length": 6, "n_samples": 200, "seed": 1}, "empirical": {"reference": some}}.get(metric, {})
    gram = fn.kernels.FisherKernel(hmm, metric=metric, **more)(some)  # type: ignore[arg-type]
    assert gram.shape == (5, 5)
    np.testing.assert_array_equal(gram, gram.T)
    if metric == "practical":
        scores = hmm.fisher_scores(some)
        np.testing.assert_allclose(gram, scores @ scores.T, rtol=1e-9)


def test_conditionals_are_the_columns_in_turn() -> None:
    (emission,) = emissions()["mixtures"]
    first, second = emission.conditionals
    assert (first.child, first.parents) == (2, (0, 1))
    assert (second.child, second.parents) == (3, (0, 1, 2))
    x, cells = np.array([0.3, -1.0]), list(itertools.product(range(K), range(2)))
    table = fn.Table([*second.variables], [*np.array(cells, np.uint8).T, np.full(6, x[0]), np.full(6, x[1])])
    logs = second.log_prob(table) + first.log_prob(
        fn.Table([*first.variables], [*np.array(cells, np.uint8).T, np.full(6, x[0])])
    )
    expected = [stats.multivariate_normal(emission.mean[c], emission.covariance[c]).logpdf(x) for c in cells]
    np.testing.assert_allclose(logs, expected, rtol=1e-10)
