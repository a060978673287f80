"""Letters that may be one of several symbols, against the sum over every string that is meant."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import logsumexp

import fishernet as fn
from fishernet.models.sequences.alphabet import Alphabet
from tests.strings import random_hmm, rows

IUPAC = {  # Cornish-Bowden, Nucleic Acids Research 13, 1985, table 1
    "A": "A", "C": "C", "G": "G", "T": "T", "U": "T", "R": "AG", "Y": "CT", "S": "CG", "W": "AT", "K": "GT", "M": "AC",
    "B": "CGT", "D": "AGT", "H": "ACT", "V": "ACG", "N": "ACGT",
}  # fmt: skip

letters = st.text(alphabet="".join(IUPAC) + "acgtrn", max_size=5)
seeds = st.integers(0, 2**32)


def completions(string: str) -> list[str]:
    return ["".join(of) for of in itertools.product(*(IUPAC[letter.upper()] for letter in string))]


def chain_of(seed: int, order: int, *, end: bool = False, zeros: float = 0.0, **options: Any) -> fn.MarkovChain:
    rng = np.random.default_rng(seed)
    table = rows(rng, 4**order, 4 + end, zeros).reshape(*(4,) * order, 4 + end)
    start = rows(rng, 1, 4**order, zeros).reshape((4,) * order)
    return fn.MarkovChain("dna", order, table, end=end, start=start, **options)


def tree_of(seed: int, zeros: float = 0.0) -> fn.HiddenTree:
    rng = np.random.default_rng(seed)
    own = rows(rng, 1, 2, 0.0)[0], rows(rng, 2, 2, zeros), rows(rng, 2, 4, zeros)
    return fn.HiddenTree([[0, 1], 2], *own, alphabet="dna", missing="?")


def joint(chain: fn.MarkovChain, string: str) -> float:
    """Return log P(string) with its first symbols, by the definition."""
    if len(string) < chain.order:
        return 0.0
    codes = ["ACGT".index(letter) for letter in string]
    p = float(chain.start[tuple(codes[: chain.order])])
    steps = [*codes, 4] if chain.end else codes
    for j in range(chain.order, len(steps)):
        p *= float(chain.transition[tuple(steps[j - chain.order : j + 1])])
    return math.log(p) if p > 0 else -math.inf


@settings(deadline=None, max_examples=60)
@given(seeds, st.booleans(), st.booleans(), letters)
def test_a_hidden_markov_model_sums_over_the_letters_meant(seed: int, final: bool, empty: bool, string: str) -> None:
    hmm = random_hmm(seed, 3, 4, final=final, empty=empty, alphabet="dna")
    each = completions(string)
    logs = hmm.log_prob(each)
    assert hmm.log_prob([string])[0] == pytest.approx(logsumexp(logs), abs=1e-9)
    shares = np.exp(logs - logsumexp(logs))
    counts, found = hmm.expected_counts(each), hmm.expected_counts([string])
    for name in ("emission", "transition", "initial", "final"):
        if getattr(counts, name) is not None:
            wanted = np.tensordot(shares, getattr(counts, name), 1)
            np.testing.assert_allclose(getattr(found, name)[0], wanted, atol=1e-9)
    np.testing.assert_allclose(hmm.fisher_scores([string])[0], shares @ hmm.fisher_scores(each), atol=1e-8)
    np.testing.assert_allclose(
        hmm.posterior([string])[0],
        np.tensordot(shares, np.array(hmm.posterior(each)).reshape(len(each), len(string), 3), 1),
        atol=1e-9,
    )


@settings(deadline=None, max_examples=60)
@given(seeds, st.integers(0, 3), st.booleans(), letters, st.sampled_from([0.0, 0.4]))
def test_a_markov_chain_sums_over_the_letters_meant(
    seed: int, order: int, end: bool, string: str, zeros: float
) -> None:
    chain = chain_of(seed, order, end=end, zeros=zeros)
    each = completions(string)
    if len(string) < order:
        assert chain.log_prob([string])[0] == 0.0
        return
    logs = np.array([joint(chain, one) for one in each])
    firsts = {one[:order] for one in each}
    begin = sum(float(chain.start[tuple("ACGT".index(letter) for letter in first)]) for first in firsts)
    if len(firsts) == 1:
        assert chain.log_prob([string])[0] == pytest.approx(logsumexp(chain.log_prob(each)), abs=1e-9)
    elif begin > 0:
        assert chain.log_prob([string])[0] == pytest.approx(logsumexp(logs) - math.log(begin), abs=1e-9)


def test_a_markov_chain_whose_start_excludes_all_that_is_meant_takes_them_as_equally_likely() -> None:
    table = [[0.7, 0.1, 0.1, 0.1], [0.2, 0.4, 0.2, 0.2], [0.25] * 4, [0.25] * 4]
    chain = fn.MarkovChain("dna", 1, table, start=[0, 0, 0.5, 0.5])
    assert chain.log_prob(["MA"])[0] == pytest.approx(math.log((0.7 + 0.2) / 2))


@settings(deadline=None, max_examples=60)
@given(seeds, st.integers(0, 3), st.booleans(), letters)
def test_counts_and_scores_of_a_chain_are_averages_over_the_letters_meant(
    seed: int, order: int, end: bool, string: str
) -> None:
    chain = chain_of(seed, order, end=end)
    each = completions(string)
    logs = np.array([joint(chain, one) for one in each])
    shares = np.exp(logs - logsumexp(logs))
    np.testing.assert_allclose(chain.counts([string]).toarray()[0], shares @ chain.counts(each).toarray(), atol=1e-9)
    np.testing.assert_allclose(chain.fisher_scores([string])[0], shares @ chain.fisher_scores(each), atol=1e-8)


@pytest.mark.parametrize("string", ["RCNNGA", "NNA", "CCRY"])
def test_scores_of_a_chain_are_derivatives_beside_zeros_too(string: str) -> None:
    table = [[0, 0.5, 0.5, 0], [0.3, 0.4, 0, 0.3], [0.6, 0.4, 0, 0], [0.25] * 4]
    chain = fn.MarkovChain("dna", 1, table, start=[0.1, 0.4, 0.2, 0.3])
    [scores] = chain.fisher_scores([string])
    step = 1e-7
    for cell in range(chain.n_parameters):
        moved = chain.transition.copy()
        moved.reshape(-1)[cell] += step
        row = moved.reshape(4, 4)[cell // 4]
        row /= row.sum()
        other = fn.MarkovChain("dna", 1, moved, start=chain.start)
        slope = (other.log_prob([string])[0] - chain.log_prob([string])[0]) / step
        assert scores[cell] == pytest.approx(slope, abs=2e-4 * max(1, abs(slope)))


def test_long_strings_with_few_unclear_letters_are_exact() -> None:
    chain = chain_of(3, 2)
    rng = np.random.default_rng(1)
    known = "".join(rng.choice(list("ACGT"), 3000))
    at = [0, 1, 700, 702, 2998, 2999]
    string = "".join("R" if place in at else letter for place, letter in enumerate(known))
    logs = []
    for of in itertools.product("AG", repeat=len(at)):
        one = list(known)
        for place, letter in zip(at, of, strict=True):
            one[place] = letter
        first = tuple("ACGT".index(letter) for letter in one[:2])
        logs.append(chain.log_prob(["".join(one)])[0] + math.log(chain.start[first]))
    begin = math.log(chain.start[::2, ::2].sum())
    assert chain.log_prob([string])[0] == pytest.approx(logsumexp(logs) - begin, rel=1e-12)


@settings(deadline=None, max_examples=40)
@given(seeds, st.text(alphabet="".join(IUPAC) + "?", min_size=3, max_size=3))
def test_a_hidden_tree_sums_over_the_letters_meant(seed: int, string: str) -> None:
    tree = tree_of(seed)
    each = completions(string.replace("?", "N"))
    logs = tree.log_prob(each)
    shares = np.exp(logs - logsumexp(logs))
    assert tree.log_prob([string])[0] == pytest.approx(logsumexp(logs), abs=1e-9)
    np.testing.assert_allclose(tree.fisher_scores([string])[0], shares @ tree.fisher_scores(each), atol=1e-8)
    np.testing.assert_allclose(tree.posterior([string])[0], np.tensordot(shares, tree.posterior(each), 1), atol=1e-9)
    if not set(string) & set("?N"):
        one_by_one = [tree.expected_counts([one]) for one in each]
        wanted = sum(share * counts.emission for share, counts in zip(shares, one_by_one, strict=True))
        np.testing.assert_allclose(tree.expected_counts([string]).emission, wanted, atol=1e-9)


KERNELS: dict[str, Any] = {
    "HmmKernel": lambda seed: fn.kernels.HmmKernel(random_hmm(seed, 3, 4, alphabet="dna")),
    "with final": lambda seed: fn.kernels.HmmKernel(random_hmm(seed, 3, 4, final=True, alphabet="dna")),
    "PairHmmKernel": lambda seed: fn.kernels.PairHmmKernel(
        random_hmm(seed, 3, 4, final=True, empty=True, alphabet="dna")
    ),
    "pair, aligned": lambda seed: fn.kernels.PairHmmKernel(random_hmm(seed, 3, 4, alphabet="dna")),
    "HiddenTreeKernel": lambda seed: fn.kernels.HiddenTreeKernel(tree_of(seed)),
    "HiddenBinomialKernel": lambda seed: fn.kernels.HiddenBinomialKernel(
        [0.3, 0.7], rows(np.random.default_rng(seed), 2, 4, 0.0), alphabet="dna"
    ),
}


@pytest.mark.parametrize("name", list(KERNELS))
@settings(deadline=None, max_examples=15)
@given(seeds, st.lists(st.text(alphabet="ACGTRYN", min_size=3, max_size=3), min_size=2, max_size=2))
def test_a_kernel_sums_over_the_letters_meant(name: str, seed: int, pair: list[str]) -> None:
    kernel = KERNELS[name](seed)
    one, other = map(completions, pair)
    wanted = kernel(one, other).sum()
    assert kernel(pair)[0, 1] == pytest.approx(wanted, rel=1e-9)
    assert kernel(pair[:1], pair[1:])[0, 0] == pytest.approx(wanted, rel=1e-9)
    assert kernel.diag(pair)[0] == pytest.approx(kernel(one).sum(), rel=1e-9)


@settings(deadline=None, max_examples=30)
@given(st.integers(1, 3), letters, letters)
def test_substrings_count_as_the_mean_of_those_meant(k: int, one: str, other: str) -> None:
    kernel: Any = fn.kernels.SpectrumKernel(k, "dna")
    means = [kernel.features(completions(string)).toarray().mean(axis=0) for string in (one, other)]
    np.testing.assert_allclose(kernel.features([one, other]).toarray(), means, atol=1e-12)
    np.testing.assert_allclose(kernel([one, other]), np.array(means) @ np.array(means).T, atol=1e-12)
    np.testing.assert_allclose(kernel.diag([one]), [means[0] @ means[0]], atol=1e-12)


def brute_force_em(strings: list[str], order: int, steps: int) -> tuple[Any, Any]:
    """Fit a chain by EM over all completions, with 1 added to every count."""
    table, start = np.full((4,) * (order + 1), 0.25), np.full((4,) * order, 0.25**order)
    for _ in range(steps):
        chain = fn.MarkovChain("ACGT", order, table, start=start)
        counts, firsts = np.ones(table.shape), np.ones(start.shape)
        for string in strings:
            each = completions(string)
            logs = np.array([joint(chain, one) for one in each])
            for one, share in zip(each, np.exp(logs - logsumexp(logs)), strict=True):
                codes = ["ACGT".index(letter) for letter in one]
                firsts[tuple(codes[:order])] += share
                for j in range(order, len(codes)):
                    counts[tuple(codes[j - order : j + 1])] += share
        table, start = counts / counts.sum(axis=-1, keepdims=True), firsts / firsts.sum()
    return table, start


@pytest.mark.parametrize("order", [0, 1, 2])
def test_a_chain_is_learned_from_the_letters_meant(order: int, monkeypatch: pytest.MonkeyPatch) -> None:
    strings = ["ACGTR", "NAACC", "YYACGA", "GGATK", "ACNNA", "TGCA"]
    table, start = brute_force_em(strings, order, 200)
    monkeypatch.setattr("fishernet.learn.sequences.GAIN", 0.0)
    chain = fn.learn.markov_chain(strings, order=order, alphabet="dna")
    np.testing.assert_allclose(chain.transition, table, atol=1e-6)
    np.testing.assert_allclose(chain.start, start, atol=1e-6)


def test_learning_from_known_letters_is_what_it_is_without_ambiguous_ones() -> None:
    strings = ["ACGT", "GGATTACA", ""]
    assert np.array_equal(
        fn.learn.markov_chain(strings, order=2, alphabet="dna").transition,
        fn.learn.markov_chain(strings, order=2, alphabet="ACGT").transition,
    )
    fits = [fn.learn.baum_welch(strings, n_states=2, alphabet=of, seed=1).trace for of in ("dna", "ACGT")]
    assert fits[0] == fits[1]


def test_a_hidden_markov_model_learns_from_unclear_letters() -> None:
    found = fn.learn.baum_welch(["ACGTR", "NAACC", "YYACGA"], n_states=2, alphabet="dna", seed=1, smoothing=0.1)
    gains = np.diff(found.trace)
    assert (gains > -1e-9).all()
    assert found.log_likelihood == pytest.approx(found.model.log_prob(["ACGTR", "NAACC", "YYACGA"]).sum())


def test_a_hidden_tree_learns_from_unclear_letters() -> None:
    strings = ["ACR", "NAA", "YYG", "ACC"]
    found = fn.learn.hidden_tree_fit([[0, 1], 2], strings, n_states=2, alphabet="dna", seed=1, smoothing=0.1)
    assert (np.diff(found.trace) > -1e-9).all()
    assert found.log_likelihood == pytest.approx(found.model.log_prob(strings).sum())


def test_the_best_states_are_those_of_the_letters_meant() -> None:
    hmm = fn.HiddenMarkovModel(
        [0.5, 0.5], [[0.9, 0.1], [0.1, 0.9]], [[0.5, 0, 0.5, 0], [0, 0.5, 0, 0.5]], alphabet="dna"
    )
    assert hmm.decode(["RAYC"])[0].tolist() == [0, 0, 1, 1]


def test_a_profile_counts_unclear_letters_in_equal_shares() -> None:
    model = fn.models.profile_hmm(["AR", "AA", "CG", "A-"], alphabet="dna", smoothing=0.0, match_threshold=0.5)
    wanted = np.array([[0.75, 0.25, 0, 0], [0.5, 0, 0.5, 0]])
    np.testing.assert_allclose(model.emission[:2], wanted, atol=1e-12)


@pytest.mark.parametrize("name", ["dna", "DNA", "rna", "protein"])
def test_named_alphabets_are_those_of_iupac(name: str) -> None:
    alphabet = Alphabet(name)
    ambiguous = {letter: of for letter, of in IUPAC.items() if len(of) > 1}
    if name.lower() == "protein":
        assert "".join(alphabet.symbols) == "ACDEFGHIKLMNPQRSTVWY"
        ambiguous = {"B": "DN", "Z": "EQ", "J": "IL", "X": "".join(alphabet.symbols)}
    elif name == "rna":
        ambiguous = {letter: of.replace("T", "U") for letter, of in ambiguous.items()}
    for letter, of in ambiguous.items():
        for written in (letter, letter.lower()):
            [code] = alphabet.encode([written]).codes
            assert alphabet.meaning(int(code)) == tuple(sorted(of))
    for letter in alphabet.symbols:
        assert alphabet.encode([letter.lower()]).codes.tolist() == alphabet.encode([letter]).codes.tolist()


def test_u_is_t_in_dna_and_t_is_u_in_rna() -> None:
    assert Alphabet("dna").encode(["Uu"]).codes.tolist() == [3, 3]
    assert Alphabet("rna").encode(["Tt"]).codes.tolist() == [3, 3]


def test_letters_in_a_list_are_letters() -> None:
    assert Alphabet(list("dna")).symbols == ("d", "n", "a")


@pytest.mark.parametrize(
    ("ambiguous", "message"),
    [
        ({"A": "AC"}, "'A' cannot mean one of .*it is a symbol itself"),
        ({"R": "AX"}, "'X' is not in the alphabet"),
        ({"R": ""}, "these are none"),
    ],
)
def test_a_letter_must_mean_symbols(ambiguous: Any, message: str) -> None:
    with pytest.raises(fn.SchemaError, match=message):
        Alphabet("ACGT", ambiguous=ambiguous)


def test_alphabets_with_ambiguous_letters_are_values() -> None:
    one, other = Alphabet("dna"), Alphabet("ACGT")
    assert one == Alphabet("dna")
    assert hash(one) == hash(Alphabet("dna"))
    assert one != other
    assert one.taking("any") != one
    assert one.taking("any").taking("error") == one
