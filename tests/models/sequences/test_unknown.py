"""What is done about symbols that are not in the alphabet: refused, left out, summed out, or taken for another."""

from __future__ import annotations

import itertools
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

import fishernet as fn
from fishernet.models.sequences.alphabet import Alphabet
from tests.strings import random_hmm, rows


def chain(seed: int, order: int, end: bool = False) -> fn.MarkovChain:
    table = rows(np.random.default_rng(seed), 2**order, 2 + end, 0.0)
    return fn.MarkovChain("ab", order, table.reshape(*(2,) * order, 2 + end), end=end)


def tree(seed: int) -> fn.HiddenTree:
    rng = np.random.default_rng(seed)
    return fn.HiddenTree([[0, 1], 2], rows(rng, 1, 2, 0)[0], rows(rng, 2, 2, 0), rows(rng, 2, 2, 0), alphabet="ab")


MODELS: dict[str, Any] = {
    "HMM": lambda seed: random_hmm(seed, 3, 2, alphabet="ab"),
    "HMM with end": lambda seed: random_hmm(seed, 3, 2, final=True, empty=True, alphabet="ab"),
    "chain of order 0": lambda seed: chain(seed, 0),
    "chain of order 2": lambda seed: chain(seed, 2),
    "chain with end": lambda seed: chain(seed, 1, end=True),
    "tree": tree,
}
STRINGS = {name: "abx" if name == "tree" else "abxabbxa" for name in MODELS}


def completions(string: str) -> list[str]:
    return ["".join(of) for of in itertools.product(*("ab" if letter == "x" else letter for letter in string))]


@pytest.mark.parametrize("name", list(MODELS))
def test_an_unknown_symbol_is_refused_with_place_alphabet_and_remedy(name: str) -> None:
    model, string = MODELS[name](1), STRINGS[name]
    says = r"string 1 has the symbol 'x' at position 2, .*alphabet \('a', 'b'\); unknown='any' .*unknown='skip'"
    for of in (model, model.with_unknown("error")):
        with pytest.raises(fn.UnknownStateError, match=says) as caught:
            of.log_prob([string.replace("x", "a"), string])
        assert (caught.value.label, caught.value.row, caught.value.parameter) == ("x", 2, "unknown")


@pytest.mark.parametrize("name", list(MODELS))
@settings(deadline=None, max_examples=15)
@given(st.integers(0, 2**32))
def test_any_sums_over_all_symbols(name: str, seed: int) -> None:
    model, string = MODELS[name](seed), STRINGS[name]
    each = completions(string)
    logs = model.log_prob(each)
    anything = model.with_unknown("any")
    assert anything.log_prob([string, each[0]]) == pytest.approx([logsumexp(logs), logs[0]], abs=1e-9)
    shares = np.exp(logs - logsumexp(logs))
    np.testing.assert_allclose(anything.fisher_scores([string])[0], shares @ model.fisher_scores(each), atol=1e-8)


@pytest.mark.parametrize("name", [name for name in MODELS if name != "tree"])
def test_skip_is_the_string_without_the_symbol(name: str) -> None:
    model, string = MODELS[name](2), STRINGS[name]
    skipping = model.with_unknown("skip")
    given, rest = [string, "", "xx", "ab"], [string.replace("x", ""), "", "", "ab"]
    assert np.array_equal(skipping.log_prob(given), model.log_prob(rest))
    assert np.array_equal(skipping.fisher_scores(given), model.fisher_scores(rest))
    assert np.array_equal(skipping.log_prob([list("axb")]), model.log_prob(["ab"]))


def test_a_tree_has_a_symbol_for_each_leaf_so_that_none_is_skipped() -> None:
    with pytest.raises(fn.SchemaError, match="unknown='any'") as caught:
        tree(1).with_unknown("skip")
    assert caught.value.parameter == "unknown"


@pytest.mark.parametrize("name", list(MODELS))
def test_an_unknown_symbol_may_be_taken_for_another(name: str) -> None:
    model, string = MODELS[name](3), STRINGS[name]
    assert np.array_equal(model.with_unknown("b").log_prob([string]), model.log_prob([string.replace("x", "b")]))


def test_a_word_that_is_a_symbol_is_that_symbol() -> None:
    model = fn.MarkovChain(["any", "skip", "error"], 0, [0.5, 0.2, 0.3], unknown="any")
    assert model.log_prob([["x"]])[0] == pytest.approx(np.log(0.5))
    assert fn.MarkovChain(["error", "b"], 0, [0.5, 0.5], unknown="error").log_prob([["x"]])[0] == np.log(0.5)


def test_another_word_is_refused() -> None:
    with pytest.raises(fn.SchemaError, match=r"'ignore'.*'skip'.*'any'.*'error'") as caught:
        Alphabet("ab", unknown="ignore")
    assert caught.value.parameter == "unknown"


KERNELS: dict[str, Any] = {
    "HmmKernel": (lambda seed: random_hmm(seed, 3, 2, alphabet="ab"), fn.kernels.HmmKernel),
    "PairHmmKernel": (
        lambda seed: random_hmm(seed, 3, 2, final=True, empty=True, alphabet="ab"),
        fn.kernels.PairHmmKernel,
    ),
    "HiddenTreeKernel": (tree, fn.kernels.HiddenTreeKernel),
}


@pytest.mark.parametrize("name", list(KERNELS))
@pytest.mark.parametrize("seed", [1, 2])
def test_kernels_do_what_their_model_says(name: str, seed: int) -> None:
    make, kernel = KERNELS[name]
    model = make(seed)
    with pytest.raises(fn.UnknownStateError, match="unknown='any'"):
        kernel(model)(["abx"])
    found = kernel(model.with_unknown("any"))(["xax", "bbx"])
    for i, j in itertools.product(range(2), repeat=2):
        pair = [completions(("xax", "bbx")[place]) for place in (i, j)]
        assert found[i, j] == pytest.approx(kernel(model)(*pair).sum(), rel=1e-9)
    again = pickle.loads(pickle.dumps(kernel(model.with_unknown("any"))))
    assert np.array_equal(again(["xax", "bbx"]), found)


def test_kernels_skip() -> None:
    hmm = random_hmm(4, 3, 2, alphabet="ab")
    assert np.array_equal(
        fn.kernels.PairHmmKernel(hmm.with_unknown("skip"))(["axb", "aab"]),
        fn.kernels.PairHmmKernel(hmm)(["ab", "aab"]),
    )
    with pytest.raises(fn.SchemaError, match="one length"):
        fn.kernels.HmmKernel(hmm.with_unknown("skip"))(["axb", "aab"])
    assert np.array_equal(
        fn.kernels.SpectrumKernel(2, "ab", unknown="skip")(["axb", "ab"]), fn.kernels.SpectrumKernel(2)(["ab", "ab"])
    )


def test_the_spectrum_of_any_symbol_is_the_mean() -> None:
    kernel: Any = fn.kernels.SpectrumKernel(2, "ab", unknown="any")
    assert kernel.features(["axb"]).toarray().tolist() == [[0.5, 1.0, 0.0, 0.5]]
    with pytest.raises(fn.SchemaError, match="alphabet"):
        fn.kernels.SpectrumKernel(2, unknown="any")


def test_too_many_substrings_of_unknown_symbols_are_refused() -> None:
    with pytest.raises(fn.StateSpaceError, match="skip"):
        fn.kernels.SpectrumKernel(16, "dna")(["N" * 40])


LEARNERS: dict[str, Any] = {
    "markov_chain": lambda strings, **options: fn.learn.markov_chain(strings, order=1, **options),
    "hidden_markov_model": lambda strings, **options: fn.learn.hidden_markov_model(
        strings, n_states=2, seed=1, **options
    ),
    "hidden_tree": lambda strings, **options: fn.learn.hidden_tree([[0, 1], 2], strings, n_states=2, seed=1, **options),
}


@pytest.mark.parametrize("name", list(LEARNERS))
def test_a_learner_hands_the_policy_to_its_model(name: str) -> None:
    learn = LEARNERS[name]
    model = learn(["aab", "bab", "abb"], unknown="any")
    assert model.alphabet.unknown == "any"
    assert model.alphabet.symbols == ("a", "b")
    [anything], each = model.log_prob(["axb"]), model.log_prob(["aab", "abb"])
    assert anything == pytest.approx(logsumexp(each))
    with pytest.raises(fn.UnknownStateError):
        learn(["aab", "axb"], alphabet="ab")


@pytest.mark.parametrize("name", ["markov_chain", "hidden_markov_model"])
def test_a_learner_leaves_out_what_is_to_be_skipped(name: str) -> None:
    found = LEARNERS[name](["axab", "bab", "xx"], alphabet="ab", unknown="skip")
    rest = LEARNERS[name](["aab", "bab", ""], alphabet="ab")
    assert np.array_equal(found.transition, rest.transition)


@pytest.mark.parametrize("name", list(LEARNERS))
def test_learners_complete_what_is_unknown(name: str) -> None:
    model = LEARNERS[name](["axb", "bab", "xbx"], alphabet="ab", unknown="any")
    assert np.isfinite(model.log_prob(["xxx"])[0])


def test_a_start_has_its_own_policy() -> None:
    start = random_hmm(1, 2, 2, alphabet="ab").with_unknown("any")
    assert fn.learn.hidden_markov_model(["axb"], start=start).alphabet == start.alphabet
    with pytest.raises(fn.SchemaError, match="unknown is that of `start`"):
        fn.learn.hidden_markov_model(["axb"], start=start, unknown="skip")


@pytest.mark.parametrize("name", [*MODELS, "dna"])
@pytest.mark.parametrize("unknown", ["any", "skip", "b", "error"])
def test_files_keep_the_policy_and_ambiguous_letters(name: str, unknown: str, tmp_path: Path) -> None:
    if name == "tree" and unknown == "skip":
        return
    if name == "dna":
        policy = "A" if unknown == "b" else unknown
        model: Any = fn.MarkovChain("dna", 0, [0.1, 0.2, 0.3, 0.4], unknown=policy)
    else:
        model = MODELS[name](1).with_unknown(unknown)
    fn.save(model, tmp_path / "model.json")
    assert fn.load(tmp_path / "model.json") == model


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"unknown": "some"}, "position"),
        ({"unknown": 4}, "position from 0 to 3"),
        ({"unknown": True}, "position"),
        ({"ambiguous": [{"letter": "R", "symbols": [0, 9]}]}, "position from 0 to 3"),
        ({"ambiguous": [{"letter": "A", "symbols": [0, 1]}]}, "it is a symbol itself"),
        ({"ambiguous": [{"letter": None, "symbols": [0, 1]}]}, "no letter"),
        ({"ambiguous": [{"letter": "R", "symbols": [0], "more": 1}]}, "unknown field"),
        ({"folds": 1}, "true or false"),
    ],
)
def test_damaged_alphabets_are_refused(change: dict[str, Any], message: str, tmp_path: Path) -> None:
    import json

    path = tmp_path / "model.json"
    fn.save(fn.MarkovChain("dna", 0, [0.1, 0.2, 0.3, 0.4]), path)
    content = json.loads(path.read_text())
    [holder] = [part for part in (content, content.get("model", {})) if "alphabet" in part]
    holder["alphabet"][0].update(change)
    path.write_text(json.dumps(content))
    with pytest.raises(fn.FishernetError, match=message):
        fn.load(path)
