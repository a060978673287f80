"""The strings behind a log-probability: against models fitted again without them."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import fishernet as fn

CHAIN = fn.MarkovChain("abc", 1, [[0.6, 0.3, 0.1], [0.2, 0.5, 0.3], [0.3, 0.1, 0.6]])
HMM = fn.HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.8, 0.1, 0.1], [0.1, 0.3, 0.6]], alphabet="abc")
TREE = fn.HiddenTree([[0, 1], [2, 3]], [0.4, 0.6], [[0.9, 0.1], [0.2, 0.8]], [[0.9, 0.1], [0.15, 0.85]], alphabet="ab")
NESTED = [[0, 1, 2], [3, 4, 5]]
LETTERS = fn.HiddenTree(
    NESTED, [0.4, 0.6], [[0.8, 0.2], [0.1, 0.9]], [[0.05, 0.05, 0.9], [0.8, 0.15, 0.05]], alphabet="abc"
)


def without(strings: list[Any], place: int) -> list[Any]:
    return strings[:place] + strings[place + 1 :]


@pytest.mark.parametrize(
    ("order", "end", "smoothing"), [(0, False, 1.0), (1, False, 0.0), (1, True, 0.5), (2, False, 3)]
)
def test_removals_are_those_of_chains_fitted_again(order: int, end: bool, smoothing: float) -> None:
    strings, asked = CHAIN.sample(60, length=30, seed=1), CHAIN.sample(4, length=9, seed=2)
    options: Any = {"order": order, "end": end, "smoothing": smoothing, "alphabet": "abc"}
    chain = fn.learn.markov_chain(strings, **options)
    why = fn.explain.rows(chain, strings, log_prob=asked)
    again = [fn.learn.markov_chain(without(strings, place), **options) for place in range(60)]
    expected = np.array([why.answer - other.log_prob(asked).mean() for other in again])
    assert why.answer == pytest.approx(chain.log_prob(asked).mean(), abs=1e-12)
    np.testing.assert_allclose(why.removals, expected, atol=1e-12)
    np.testing.assert_allclose(why.exact(range(60)), expected, atol=1e-12)
    assert np.corrcoef(why.values, expected)[0, 1] > 0.99


def test_a_string_that_alone_has_a_step_has_all_of_it() -> None:
    strings = ["aab", "aba", "abb", "aca"]
    why = fn.explain.rows(fn.learn.markov_chain(strings, order=1, smoothing=0), strings, log_prob=["aca"])
    assert why.removals[3] == np.inf
    assert np.isfinite(why.removals[:3]).all()


def test_without_any_step_all_are_equally_probable() -> None:
    strings = ["aab", "aba", "ca"]
    why = fn.explain.rows(fn.learn.markov_chain(strings, order=1, smoothing=0), strings, log_prob=["ca"])
    np.testing.assert_allclose(why.removals, [0, 0, np.log(3)], atol=1e-12)
    np.testing.assert_allclose(why.exact([2]), np.log(3), atol=1e-12)


def hmm(final: bool) -> tuple[Any, list[Any], list[Any], Any]:
    strings, asked = HMM.sample(60, length=25, seed=3), HMM.sample(4, length=25, seed=4)
    model = fn.learn.hidden_markov_model(
        strings, n_states=2, seed=1, final=final, restarts=2, max_steps=3000, tolerance=1e-13
    )
    return model, strings, asked, fn.learn.hidden_markov_model


def tree() -> tuple[Any, list[Any], list[Any], Any]:
    strings, asked = LETTERS.sample(200, seed=3), LETTERS.sample(4, seed=4)
    model = fn.learn.hidden_tree(NESTED, strings, n_states=2, seed=1, restarts=1, max_steps=3000, tolerance=1e-13)
    return model, strings, asked, lambda some, **options: fn.learn.hidden_tree(NESTED, some, **options)


@pytest.mark.parametrize("make", [lambda: hmm(False), lambda: hmm(True), tree])
def test_values_are_near_what_models_lose_that_are_fitted_again(make: Any) -> None:
    model, strings, asked, learn = make()
    why = fn.explain.rows(model, strings, log_prob=asked)
    assert why.answer == pytest.approx(model.log_prob(asked).mean(), abs=1e-4)
    lost = []
    for place in range(8):
        again = learn(without(strings, place), start=model, smoothing=0.01, max_steps=1000, tolerance=1e-14)
        lost.append(why.answer - again.log_prob(asked).mean())
    np.testing.assert_allclose(why.exact(range(8)), lost, atol=3e-3 * np.abs(lost).max() + 1e-4)
    assert np.abs(why.values[:8] - lost).max() < 0.1 * np.abs(lost).max()


@pytest.mark.parametrize("model", [CHAIN, HMM, TREE, LETTERS], ids=["chain", "hmm", "tree", "letters"])
def test_tables_have_rows_of_probabilities_whose_uses_are_counted(model: Any) -> None:
    tables = model.probability_tables
    for table in tables:
        np.testing.assert_allclose(table.sum(axis=1), 1, atol=1e-12)
    assert model.with_probability_tables(tables) == model
    strings = model.sample(3, seed=1) if model in (TREE, LETTERS) else model.sample(3, length=7, seed=1)
    counts = np.asarray(model.counts(strings) @ np.eye(sum(table.size for table in tables)))

    def log_prob(place: int, step: float) -> Any:
        """Return log-probabilities where one cell is larger, its row shares as before."""
        moved = [table.copy() for table in tables]
        at = 0
        for table in moved:
            if at <= place < at + table.size:
                table.ravel()[place - at] *= np.exp(step)
                row = (place - at) // table.shape[1]
                table[row] /= table[row].sum()
            at += table.size
        return model.with_probability_tables(moved).log_prob(strings)

    at = 0
    for table in tables:
        of_table = counts[:, at : at + table.size].reshape(3, *table.shape)
        scores = of_table - table * of_table.sum(axis=2, keepdims=True)
        for place in range(table.size):
            by_steps = (log_prob(at + place, 1e-5) - log_prob(at + place, -1e-5)) / 2e-5
            np.testing.assert_allclose(scores.reshape(3, -1)[:, place], by_steps, atol=1e-7)
        at += table.size


def test_beginning_stopping_and_silence_are_columns() -> None:
    model = fn.HiddenMarkovModel(
        [0.5, 0.3], [[0.5, 0.3], [0.1, 0.6]], [[0.5, 0.3, 0.2], [0.2, 0.7, 0.1]], final=[0.2, 0.3], empty=True
    )
    emission, moves, begin = model.probability_tables
    assert (emission.shape, moves.shape, begin.round(12).tolist()) == ((2, 3), (2, 3), [[0.5, 0.3, 0.2]])
    assert model.with_probability_tables(model.probability_tables) == model
    counts = model.counts([[], [0, 1]])
    np.testing.assert_allclose(counts[:, -3:].sum(axis=1), 1, atol=1e-12)
    emitted = counts[:, :6].reshape(2, 2, 3)[:, :, :2].sum(axis=(1, 2))
    np.testing.assert_allclose(emitted, [0, 2], atol=1e-12)


def test_groups_frames_and_the_smallest_set_are_of_strings() -> None:
    strings = ["abab"] * 6 + ["aabb"] * 5
    chain = fn.learn.markov_chain(strings, order=1)
    why = fn.explain.rows(chain, strings, log_prob=["ab"])
    assert why.to_frame().column_names == ["row", "influence", "item"]
    assert "abab" in str(why)
    (first, second) = why.by([string[:2] for string in strings])
    assert {first.label: first.n_rows, second.label: second.n_rows} == {"ab": 6, "aa": 5}
    kept = fn.learn.markov_chain(strings[6:], order=1)
    of_ab = first if first.label == "ab" else second
    assert of_ab.without == pytest.approx(kept.log_prob(["ab"])[0], abs=1e-12)
    found = why.without([0, 1])
    assert found.refitted == pytest.approx(fn.learn.markov_chain(strings[2:], order=1).log_prob(["ab"])[0], abs=1e-12)
    assert why.smallest_set() is None  # the logarithm of a probability has one sign


def test_symbols_that_are_not_known_are_expected() -> None:
    strings = [*CHAIN.sample(80, length=20, seed=1), "a?b", "c?"]
    chain = fn.learn.markov_chain(strings, order=1, unknown="any")
    why = fn.explain.rows(chain, strings, log_prob=["abca"])
    again = fn.learn.markov_chain(without(strings, 80), order=1, unknown="any")
    assert why.removals[80] == pytest.approx(why.answer - again.log_prob(["abca"])[0], rel=0.1)


def test_of_other_strings_it_is_told() -> None:
    strings, others = CHAIN.sample(50, length=20, seed=1), CHAIN.sample(40, length=20, seed=2)
    chain = fn.learn.markov_chain(strings, order=1)
    with pytest.warns(fn.FishernetWarning, match="learned from others"):
        why = fn.explain.rows(chain, others, log_prob=["abc"])
    with pytest.raises(fn.SchemaError, match="not learned from this table"):
        why.exact([0])
    told = fn.explain.rows(chain, others, log_prob=["abc"], n_rows=50)
    np.testing.assert_allclose(told.values, why.values * 40 / 50, rtol=1e-12)


@pytest.mark.parametrize(
    ("strings", "asked", "message"),
    [
        (["ab"], {}, "give log_prob"),
        (["ab"], {"query": "a", "log_prob": ["ab"]}, "give log_prob"),
        (["ab"], {"log_prob": []}, "no strings"),
        ([], {"log_prob": ["ab"]}, "no strings"),
        ("ab", {"log_prob": ["ab"]}, "not one string"),
        (["ab"], {"log_prob": ["ax"]}, "symbol 'x'"),
    ],
)
def test_what_cannot_be_asked_is_refused(strings: Any, asked: Any, message: str) -> None:
    with pytest.raises(fn.FishernetError, match=message):
        fn.explain.rows(fn.learn.markov_chain(["ab"], order=1), strings, **asked)


def test_models_whose_parameters_are_no_shares_of_counts_are_refused() -> None:
    rows = np.random.default_rng(0).normal(size=(3, 20))
    model = fn.learn.hidden_markov_model(list(rows), n_states=2, seed=1, restarts=1, max_steps=5)
    with pytest.raises(fn.SchemaError, match="not a NumericHiddenMarkovModel"):
        fn.explain.rows(model, list(rows), log_prob=list(rows))


@pytest.mark.parametrize("model", [CHAIN, HMM, TREE], ids=["chain", "hmm", "tree"])
def test_tables_of_other_shapes_or_no_probabilities_are_refused(model: Any) -> None:
    for tables in ([], [[[1.0]]] * len(model.probability_tables), [2 * of for of in model.probability_tables]):
        with pytest.raises(fn.SchemaError):
            model.with_probability_tables(tables)
