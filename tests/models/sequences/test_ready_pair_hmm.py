"""The ready models: what two strings of one ancestor have in common."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import expm

import fishernet as fn
from fishernet.base.errors import SchemaError, UnknownStateError
from fishernet.models.sequences.pair_hmm import AMINO_ACIDS, BLOSUM62, FREQUENCIES, blosum_joint

Numbers = npt.NDArray[np.float64]


def match_joint(hmm: fn.HiddenMarkovModel) -> Numbers:
    """The distribution of the two symbols of a match."""
    n = hmm.n_states - 1
    ancestors = hmm.initial[:n] / hmm.initial[:n].sum()
    joint: Numbers = (hmm.emission[:n].T * ancestors) @ hmm.emission[:n]
    return joint


def hky(frequencies: Any, kappa: float, time: float) -> Numbers:
    """P(to | from) of the process with one substitution a unit of time, by the exponential of its generator."""
    p = np.asarray(frequencies, float)
    rates = np.array([[0, 1, kappa, 1], [1, 0, 1, kappa], [kappa, 1, 0, 1], [1, kappa, 1, 0]]) * p
    rates -= np.diag(rates.sum(axis=1))
    transition: Numbers = expm(rates / -(p @ np.diag(rates)) * time)
    return transition


@settings(max_examples=20, deadline=None)
@given(st.floats(0.0, 3.0), st.floats(0.2, 8.0), st.integers(0, 2**32))
def test_two_dna_strings_are_a_whole_divergence_apart(divergence: float, kappa: float, seed: int) -> None:
    p = np.random.default_rng(seed).dirichlet(np.full(4, 5.0))
    hmm = fn.models.pair_hmm_dna(divergence=divergence, kappa=kappa, frequencies=p)
    np.testing.assert_allclose(match_joint(hmm), p[:, None] * hky(p, kappa, divergence), rtol=1e-9, atol=1e-12)


def test_jukes_and_cantor_is_equal_frequencies_and_kappa_1() -> None:
    """P(same) is 1/4 + 3/4 exp(-4/3 d)."""
    joint = match_joint(fn.models.pair_hmm_dna(divergence=0.6, kappa=1.0))
    assert np.trace(joint) == pytest.approx(0.25 + 0.75 * np.exp(-0.8), rel=1e-12)


def test_half_way_of_a_table_is_the_process_of_half_the_time() -> None:
    p = np.array([0.3, 0.2, 0.1, 0.4])
    by_table = fn.models.pair_hmm_from_substitutions(p[:, None] * hky(p, 3.0, 0.5), "ACGT")
    by_process = fn.models.pair_hmm_dna(divergence=0.5, kappa=3.0, frequencies=p)
    np.testing.assert_allclose(by_table.emission, by_process.emission, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(by_table.transition, by_process.transition, rtol=1e-12)


def test_a_protein_match_has_the_odds_of_blosum62() -> None:
    """Its scale and relative entropy (nats) with these frequencies are those BLAST has for it, without gaps."""
    joint = match_joint(fn.models.pair_hmm_protein())
    p = np.array(FREQUENCIES.split(), float)
    log_odds = np.log(joint / np.outer(p, p))[np.tril_indices(20)]
    scores = np.array([int(score) for score in BLOSUM62.split()])
    scale = log_odds @ scores / (scores @ scores)
    np.testing.assert_allclose(log_odds, scale * scores, atol=1e-3)
    assert scale == pytest.approx(0.3176, abs=1e-4)
    assert (joint * np.log(joint / np.outer(p, p))).sum() == pytest.approx(0.4012, abs=1e-4)


def test_a_process_of_proteins_runs_to_the_frequencies_and_starts_at_identity() -> None:
    p = blosum_joint().sum(axis=1)
    near = match_joint(fn.models.pair_hmm_protein(divergence=1e-9))
    np.testing.assert_allclose(near, np.diag(p), atol=1e-8)
    far = match_joint(fn.models.pair_hmm_protein(divergence=100.0))
    np.testing.assert_allclose(far, np.outer(p, p), atol=1e-6)


def test_a_little_divergence_is_the_probability_of_a_difference() -> None:
    joint = match_joint(fn.models.pair_hmm_protein(divergence=1e-4))
    assert 1 - np.trace(joint) == pytest.approx(1e-4, rel=1e-3)


@pytest.mark.parametrize("gap_symbol", [0.1, 0.5, 1.0 - 1e-9])
def test_gaps_that_can_be_seen_have_the_probabilities_asked_for(gap_symbol: float) -> None:
    """Chains of silent visits to the gap are summed here one by one."""
    hmm = fn.models.pair_hmm_dna(gap_open=0.03, gap_extend=0.6, gap_symbol=gap_symbol, stop=0.01)
    assert hmm.empty is not None
    silent = float(hmm.empty[-1]) ** 2
    to_gap, gap_to_gap = hmm.transition[0, -1], hmm.transition[-1, -1]
    chain = sum((gap_to_gap * silent) ** k for k in range(3000))
    assert to_gap * chain * (1 - silent) == pytest.approx(0.99 * 0.03, rel=1e-9)
    assert gap_to_gap * chain * (1 - silent) == pytest.approx(0.99 * 0.6, rel=1e-9)
    np.testing.assert_array_equal(hmm.initial, hmm.transition[0])


@pytest.mark.parametrize("make", [fn.models.pair_hmm_dna, fn.models.pair_hmm_protein])
def test_descendants_are_more_alike_than_strangers(make: Any) -> None:
    hmm = make()
    letters = hmm.alphabet.symbols
    rng = np.random.default_rng(3)
    strings = []
    for _ in range(4):
        ancestor = list(rng.choice(letters, 40))
        for _ in range(3):
            child = [rng.choice(letters) if rng.random() < 0.2 else c for c in ancestor]
            del child[(at := rng.integers(30)) : at + 3]
            strings.append("".join(child))
    cosines = fn.kernels.Normalized(fn.kernels.PairHmmKernel(hmm))(strings)
    family = np.arange(len(strings)) // 3
    same = family[:, None] == family
    assert cosines[same].min() > cosines[~same].max()
    assert np.linalg.eigvalsh(cosines).min() > -1e-12


def test_values_sum_to_one_over_short_strings_of_a_model_that_stops_soon() -> None:
    hmm = fn.models.pair_hmm_from_substitutions([[0.4, 0.1], [0.1, 0.4]], stop=0.7, gap_symbol=0.5)
    strings = [list(s) for n in range(7) for s in itertools.product(range(2), repeat=n)]
    total = fn.kernels.PairHmmKernel(hmm)(strings).sum()
    assert 1 - 2 * 0.3**7 < total < 1


def test_unknown_letters() -> None:
    with pytest.raises(UnknownStateError, match="'X'"):
        fn.models.pair_hmm_dna().alphabet.encode(["ACX"])
    assert fn.models.pair_hmm_dna(unknown="A").alphabet.encode(["XC"]).codes.tolist() == [0, 1]
    assert fn.models.pair_hmm_protein().alphabet.symbols == tuple(AMINO_ACIDS)


@pytest.mark.parametrize(
    ("joint", "match"),
    [
        ([[0.0, 0.5], [0.5, 0.0]], "not positive semidefinite .* eigenvalue -1"),
        ([[0.4, 0.2], [0.1, 0.3]], "not symmetric: 0.2 at .0, 1., 0.1 at .1, 0."),
        ([[0.5, 0.1], [0.1, 0.4]], "sums to 1.1"),
        ([[1.0, 0.0], [0.0, 0.0]], "symbol 1 of joint has probability 0"),
        ([[0.5, 0.5]], "must be square"),
        ([[1.1, -0.05], [-0.05, 0.0]], "must hold finite numbers from 0 on"),
    ],
)
def test_tables_that_no_common_ancestor_has_are_refused(joint: Any, match: str) -> None:
    with pytest.raises(SchemaError, match=match):
        fn.models.pair_hmm_from_substitutions(joint)


def test_a_table_without_a_half_way_is_refused() -> None:
    """Positive semidefinite, but the middle of a path of three: its root has negative corners."""
    joint = np.array([[0.25, 0.09, 0.0], [0.09, 0.14, 0.09], [0.0, 0.09, 0.25]])
    with pytest.raises(SchemaError, match="half-way, symbol 2 has the probability -0.* given the ancestor 0"):
        fn.models.pair_hmm_from_substitutions(joint)


@pytest.mark.parametrize(
    ("change", "match"),
    [
        ({"gap_open": 1.0}, "gap_open must be from 0 to below 1, got 1.0"),
        ({"gap_extend": -0.1}, "gap_extend must be from 0"),
        ({"gap_symbol": 0.0}, "gap_symbol must be above 0"),
        ({"stop": 0.0}, "stop must be above 0"),
        ({"gap_open": 0.9, "gap_symbol": 0.01, "gap_extend": 0.0}, "gap_open=0.9 cannot be had with gap_symbol=0.01"),
        ({"kappa": 0.0}, "kappa must be a number above 0"),
        ({"divergence": -1.0}, "divergence must be a number of at least 0"),
        ({"frequencies": [0.5, 0.5]}, r"frequencies must have shape \(4\), got \(2,\)"),
        ({"frequencies": [0.5, 0.5, 0.0, 0.0]}, "frequencies must be positive, got 0 for symbol 2"),
        ({"frequencies": [0.5, 0.5, 0.5, 0.0]}, "frequencies sums to 1.5"),
    ],
)
def test_numbers_out_of_range_are_refused(change: dict[str, Any], match: str) -> None:
    with pytest.raises(SchemaError, match=match):
        fn.models.pair_hmm_dna(**change)
