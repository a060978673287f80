"""Baum-Welch on numbers: hmmlearn's step, sums over trajectories, likelihoods that never fall, what is decided on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import fishernet as fn
from fishernet.models import GaussianEmission, LabelEmission, PoissonEmission
from tests.models.sequences.test_numeric_hmm import (
    INITIAL,
    NAMES,
    TRANSITION,
    K,
    densities,
    emissions,
    hmmlearn_models,
    model,
    sequences,
)
from tests.numeric_sequences import by_all_paths

MISSING = np.nan


def one_step(some: Any, start: Any, **options: Any) -> Any:
    return fn.learn.baum_welch(some, start=start, max_steps=1, smoothing=0, min_sd=1e-9, **options).model


def test_hmmlearn_makes_the_same_step() -> None:
    """Its mixtures take the scatter about the means before the step, which is no maximum: ours and the shift."""
    rng = np.random.default_rng(5)
    for name, theirs in hmmlearn_models().items():
        if name in ("spherical", "tied") or name.endswith(("spherical", "tied")):
            continue  # models that share spreads
        X = rng.poisson(4, (200, 2)) if name == "counts" else rng.normal(size=(200, 2)) * 2
        lengths = [120, 1, 79]
        start = fn.NumericHiddenMarkovModel.from_hmmlearn(theirs)
        theirs.set_params(n_iter=1, tol=0, init_params="")
        if "mixtures" in name:
            theirs.set_params(min_covar=0)
            theirs._fix_priors_shape = lambda: None
            flat = name.endswith("diag")
            theirs.weights_prior, theirs.means_prior = np.ones((K, 2)), np.zeros((K, 2, 2))
            theirs.means_weight = np.zeros((K, 2))
            theirs.covars_prior = np.full((K, 2, 2), -1.5) if flat else np.zeros((K, 2, 2, 2))
            theirs.covars_weight = np.zeros((K, 2, 2)) if flat else np.full((K, 2), -4.0)
        elif name != "counts":
            theirs.set_params(covars_prior=0, covars_weight=1 if name == "diag" else 0)
        theirs.fit(X, lengths)
        found = one_step(np.split(X, np.cumsum(lengths)[:-1]), start)
        np.testing.assert_allclose(found.initial, theirs.startprob_, atol=1e-9)
        np.testing.assert_allclose(found.transition, theirs.transmat_, atol=1e-9)
        if name == "counts":
            np.testing.assert_allclose(found.emission.rate, theirs.lambdas_, rtol=1e-9)
            continue
        emission = found.emission
        np.testing.assert_allclose(emission.mean, theirs.means_, atol=1e-9)
        if "mixtures" not in name:
            np.testing.assert_allclose(emission.covariance, theirs.covars_, atol=1e-9)
            continue
        np.testing.assert_allclose(emission.weights, theirs.weights_, atol=1e-9)
        shift = emission.mean - start.emission.mean  # type: ignore[attr-defined]
        about = emission.covariance + shift[..., :, None] * shift[..., None, :]
        if name.endswith("diag"):
            about = np.diagonal(about, axis1=2, axis2=3)
        np.testing.assert_allclose(about, theirs.covars_, rtol=1e-9)


@NAMES
def test_a_step_is_that_of_sums_over_all_trajectories(name: str) -> None:
    hmm = model(name)
    some = sequences(hmm, 4, 3, 1)
    found = one_step(some, hmm)
    sums = [by_all_paths(hmm, densities(hmm, X)) for X in some]
    starts, moves = sum(s[1][0] for s in sums), sum(s[3] for s in sums)
    np.testing.assert_allclose(found.initial, starts / starts.sum(), atol=1e-10)
    np.testing.assert_allclose(found.transition, moves / moves.sum(axis=1, keepdims=True), atol=1e-10)
    shares, X = np.concatenate([s[1] for s in sums]), np.concatenate(some)
    expected = shares.T @ X / shares.sum(axis=0)[:, None]
    first = found.emissions[0]
    if isinstance(first, GaussianEmission):
        centres = first.mean if first.weights is None else np.einsum("am,amd->ad", first.weights, first.mean)
        np.testing.assert_allclose(centres, expected[:, : len(first.variables)], atol=1e-9)
    else:
        np.testing.assert_allclose(first.rate, np.maximum(expected, 1e-6 * X.mean(axis=0)), atol=1e-9)
    if len(found.emissions) > 1:
        np.testing.assert_allclose(found.emissions[2].probabilities_of_labels[:, 1], expected[:, 2], atol=1e-9)


@NAMES
@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_no_step_loses_and_the_end_is_a_maximum(name: str, missing: float) -> None:
    """Where nothing is gained any more, the mean scores of what is not at a limit are 0."""
    hmm = model(name)
    some = sequences(hmm, 40, 1, 30, missing=missing)
    found = fn.learn.baum_welch(some, start=hmm, smoothing=0.0, max_steps=12, tolerance=0)
    assert np.diff(found.trace).min() > -1e-9 * abs(found.trace[0])
    assert found.model.log_prob(some).sum() == pytest.approx(found.log_likelihood, rel=1e-12)
    smoothed = fn.learn.baum_welch(some, start=hmm, smoothing=0.5, max_steps=6, tolerance=0)
    assert np.diff(smoothed.trace).min() > -1e-9 * abs(smoothed.trace[0])


def test_scores_vanish_where_baum_welch_ends() -> None:
    hmm = model("joined columns")
    some = sequences(hmm, 150, missing=0.1)
    found = fn.learn.baum_welch(some, start=hmm, smoothing=0.0, max_steps=250, tolerance=0).model
    assert np.abs(found.fisher_scores(some, parameters=["emission"])).max() < 1e-3


@pytest.mark.parametrize("options", [{}, {"covariance": "diagonal"}, {"components": 2}])
def test_states_far_apart_are_found(options: Any) -> None:
    true = fn.NumericHiddenMarkovModel(INITIAL, TRANSITION, GaussianEmission([[0, 0], [8, 0], [0, 9]], np.ones((3, 2))))
    pairs = true.sample_with_states(4, length=[100, 1, 60, 90], seed=1)
    hmm = fn.learn.hidden_markov_model([X for X, _ in pairs], n_states=3, seed=2, restarts=2, max_steps=60, **options)
    states, found = np.concatenate([s for _, s in pairs]), np.concatenate(hmm.decode([X for X, _ in pairs]))
    assert len({*zip(states.tolist(), found.tolist(), strict=True)}) == 3


def test_no_state_collapses_on_a_number() -> None:
    rng = np.random.default_rng(1)
    x = np.concatenate([np.zeros(30), rng.normal(size=30)])
    found = fn.learn.baum_welch([x], n_states=2, seed=1, min_sd=0.01).model
    assert found.emission.sd.min() == pytest.approx(0.01 * x.std(), rel=1e-9)
    both = np.column_stack([x, 2 * x])  # a column that is a combination of another in every state
    joined = fn.learn.baum_welch([both], n_states=2, seed=1).model.emission
    assert joined.sd[:, 1] == pytest.approx(1e-3 * both[:, 1].std(), rel=1e-6)


@pytest.mark.parametrize("fixed", ["initial", "transition", "emission", "mean", "covariance", "weights"])
def test_what_is_fixed_stays(fixed: str) -> None:
    hmm = model("mixtures")
    found = one_step(sequences(hmm, 50), hmm, fixed=[fixed])
    same = {
        "initial": np.array_equal(found.initial, hmm.initial),
        "transition": np.array_equal(found.transition, hmm.transition),
        "mean": np.allclose(found.emission.mean, hmm.emission.mean, rtol=1e-12),  # type: ignore[attr-defined]
        "covariance": np.allclose(found.emission.covariance, hmm.emission.covariance),  # type: ignore[attr-defined]
        "weights": np.array_equal(found.emission.weights, hmm.emission.weights),  # type: ignore[attr-defined]
    }
    kept = {name for name, there in same.items() if there}
    assert kept == ({"mean", "covariance", "weights"} if fixed == "emission" else {fixed})


def test_what_is_fixed_stays_in_a_model_of_symbols() -> None:
    hmm = fn.HiddenMarkovModel([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], [[0.9, 0.1], [0.3, 0.7]], alphabet="ab")
    for name in ("initial", "transition", "emission"):
        found = fn.learn.baum_welch(["aabb", "abab"], start=hmm, fixed=[name], max_steps=3).model
        same = [n for n in ("initial", "transition", "emission") if np.array_equal(getattr(found, n), getattr(hmm, n))]
        assert same == [name]


def test_a_seed_repeats_a_fit() -> None:
    some = sequences(model("numbers"), 60, 20)
    first, again = (fn.learn.baum_welch(some, n_states=2, seed=7, max_steps=5) for _ in range(2))
    assert first.model == again.model
    assert first.seed == 7
    assert len(first.restarts) == 5


# ---------------------------------------------------------------------------------------------- what is decided on

FLOATS = [[0.5, 1.0, 7.0, 7.5, 0.25], [7.0, 7.25, 0.75]]
WHOLE = [[0, 1, 7, 8, 0], [7, 9, 1]]
KINDS: dict[str, tuple[Any, dict[str, Any], str]] = {
    "strings": (["abba", "ab"], {}, "symbols"),
    "labels": ([["a", None, "b"], ["b", "a", MISSING]], {}, "symbols"),
    "whole numbers": (WHOLE, {}, "symbols"),
    "an array of whole numbers": ([np.array(x) for x in WHOLE], {}, "symbols"),
    "floats": (FLOATS, {}, "gaussian"),
    "whole numbers before floats": ([[1, 2, None], [1, 2.5], *FLOATS], {}, "gaussian"),
    "whole numbers and missing ones": ([[1, MISSING, 2], [2, None, 1]], {}, "symbols"),
    "letters and floats": ([["a", 0.5, "a"], [0.5]], {}, "symbols"),
    "floats after missing ones": ([[None, None], *FLOATS], {}, "gaussian"),
    "an array of floats": ([np.array(x) for x in FLOATS], {}, "gaussian"),
    "rows": ([np.array([[0.0, 1], [5, 7], [1, 2]]), np.array([[6.0, 4]])], {}, "gaussian"),
    "rows in lists": ([[[0.0, 1], [5, None], [1, 2]], [[6.0, 4]]], {}, "gaussian"),
    "a cube": (np.random.default_rng(1).normal(size=(3, 4, 2)), {}, "gaussian"),
    "floats as labels": (FLOATS, {"emission": "labels"}, "symbols"),
    "whole numbers as counts": (WHOLE, {"emission": "counts"}, "counts"),
    "whole numbers as numbers": (WHOLE, {"emission": "gaussian"}, "gaussian"),
    "floats with an alphabet": ([[0.5, 1.5]], {"alphabet": [0.5, 1.5]}, "symbols"),
}


@pytest.mark.parametrize("name", KINDS)
def test_what_is_given_decides_the_kind_of_model(name: str) -> None:
    some, options, expected = KINDS[name]
    hmm = fn.learn.hidden_markov_model(some, n_states=2, seed=1, restarts=1, max_steps=3, **options)
    assert type(hmm) is (fn.HiddenMarkovModel if expected == "symbols" else fn.NumericHiddenMarkovModel)
    if expected != "symbols":
        assert isinstance(hmm.emission, {"gaussian": GaussianEmission, "counts": PoissonEmission}[expected])
    assert np.isfinite(hmm.log_prob(some)).all()


def test_many_whole_numbers_are_warned_of() -> None:
    some = [list(range(100))] * 3
    with pytest.warns(fn.FishernetWarning, match="100 different numbers are taken for symbols"):
        fn.learn.hidden_markov_model(some, n_states=2, seed=1, restarts=1, max_steps=1)
    fn.learn.hidden_markov_model(some, n_states=2, seed=1, restarts=1, max_steps=1, emission="labels")


def test_none_and_nan_are_any_symbol() -> None:
    hmm = fn.HiddenMarkovModel([0.6, 0.4], [[0.7, 0.3], [0.2, 0.8]], [[0.9, 0.1], [0.3, 0.7]], alphabet="ab")
    any_ = hmm.with_unknown("any")
    some: list[list[Any]] = [["a", None, "b"], [MISSING, "a"]]
    same = ["a?b", "?a"]
    assert hmm.log_prob(some).tobytes() == any_.log_prob(same).tobytes()
    assert hmm.fisher_scores(some).tobytes() == any_.fisher_scores(same).tobytes()
    assert [s.tolist() for s in hmm.decode(some)] == [s.tolist() for s in any_.decode(same)]
    assert fn.kernels.PairHmmKernel(hmm)(some).tobytes() == fn.kernels.PairHmmKernel(any_)(same).tobytes()
    chain = fn.learn.markov_chain(some, order=1)
    assert chain.alphabet.symbols == ("a", "b")


def frames() -> list[pd.DataFrame]:
    rng = np.random.default_rng(3)
    found = []
    for n in (40, 30, 35):
        fast = np.cumsum(rng.random(n) < 0.15) % 2
        speed = np.where(fast, 50.0, 5.0) + rng.normal(size=n)
        road = np.where(rng.random(n) < 0.9, np.where(fast, "street", "path"), "square")
        found.append(pd.DataFrame({"speed": speed, "stops": rng.poisson(np.where(fast, 1, 60)), "road": road}))
    found[0].loc[3:5, "speed"] = np.nan
    found[1].loc[7, "road"] = None
    return found


FEW = [pd.DataFrame({"n": [0, 1, 0, 1, 15, 16, 14, 15] * 3, "road": ["a", "b"] * 12})] * 2


@pytest.mark.parametrize("given", [FEW, [fn.Table.from_frame(frame) for frame in FEW]], ids=["frames", "tables"])
@pytest.mark.parametrize("asked", ["counts", {"n": "counts"}], ids=["all", "by column"])
def test_counts_of_few_values_are_counts_where_that_is_asked(given: Any, asked: Any) -> None:
    counted = fn.learn.hidden_markov_model(given, n_states=2, seed=1, emission=asked)
    assert [type(one) for one in counted.emissions] == [PoissonEmission, LabelEmission]
    np.testing.assert_allclose(np.sort(counted.emissions[0].rate[:, 0]), [0.5, 15], atol=0.1)
    assert type(fn.learn.hidden_markov_model(given, n_states=2, seed=1).emissions[0]) is LabelEmission


def test_tables_keep_the_kinds_they_were_made_with() -> None:
    made = [fn.Table.from_frame(frame, continuous=["n"]) for frame in FEW]
    numbers, _ = fn.learn.hidden_markov_model(made, n_states=2, seed=1).emissions
    assert isinstance(numbers, GaussianEmission)


def test_tables_have_numbers_counts_and_labels() -> None:
    some = frames()
    hmm = fn.learn.hidden_markov_model(some, n_states=2, seed=1, emission={"stops": "counts"})
    speed, stops, road = hmm.emissions
    assert [type(one) for one in hmm.emissions] == [GaussianEmission, PoissonEmission, LabelEmission]
    order = np.argsort(speed.mean[:, 0])
    np.testing.assert_allclose(speed.mean[order, 0], [5, 50], atol=1)
    np.testing.assert_allclose(stops.rate[order, 0], [60, 1], rtol=0.3)
    assert road.variable.states == ("path", "square", "street")
    assert hmm.fisher_scores(some).shape == (3, hmm.n_parameters)
    plain = fn.learn.hidden_markov_model(some, n_states=2, seed=1, restarts=1)
    assert plain.emissions[0].names == ("speed", "stops")
    assert plain.emissions[0].coefficients is not None


CONSTANT = {"x": [1.0, 1.0, 1.0], "y": [0.5, 1.5, 1.25]}
REFUSED: dict[str, tuple[Any, dict[str, Any], str]] = {
    "no states": (FLOATS, {"n_states": None}, "n_states"),
    "nothing": ([[], []], {"emission": "gaussian"}, "there is none"),
    "one number": ([[0.5]], {}, "column 'x' is constant"),
    "a constant column": ([[0.5, 0.5], [0.5]], {}, "constant in all sequences"),
    "a missing column": ([[[0.5, None], [1.5, None]]], {}, "without a number"),
    "other columns": ([pd.DataFrame(CONSTANT), pd.DataFrame({"x": [1.0]})], {}, "sequence 1 has the columns"),
    "mixed": ([pd.DataFrame(CONSTANT), [1.0]], {}, "some sequences are tables"),
    "no column": ([pd.DataFrame(CONSTANT)], {"emission": {"z": "counts"}}, "which the tables lack"),
    "no count": ([[0.5, 1.0]], {"emission": "counts"}, "is no count"),
    "emission": (FLOATS, {"emission": "normal"}, "unknown emission"),
    "covariance": (FLOATS, {"covariance": "tied"}, "unknown covariance"),
    "fixed": (FLOATS, {"fixed": ["sd"]}, "unknown fixed"),
    "components": (FLOATS, {"components": 0}, "components must be"),
    "min_sd": (FLOATS, {"min_sd": 0}, "min_sd must be"),
    "alphabet": (FLOATS, {"emission": "gaussian", "final": True}, "are for emission='labels'"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_does_not_fit_is_refused(case: str) -> None:
    some, options, message = REFUSED[case]
    with pytest.raises(fn.FishernetError, match=message):
        fn.learn.hidden_markov_model(some, **{"n_states": 2, "seed": 1, **options})


def test_one_number_is_enough_for_counts() -> None:
    found = fn.learn.hidden_markov_model([[4]], n_states=1, emission="counts", seed=1)
    assert found.emission.rate.tolist() == [[4.0]]


def test_a_start_keeps_its_kind() -> None:
    hmm = fn.NumericHiddenMarkovModel(INITIAL, TRANSITION, emissions()["numbers"])
    assert isinstance(fn.learn.hidden_markov_model(WHOLE, start=hmm), fn.NumericHiddenMarkovModel)
    with pytest.raises(fn.SchemaError, match="emission is that of `start`"):
        fn.learn.hidden_markov_model(WHOLE, start=hmm, emission="counts")
