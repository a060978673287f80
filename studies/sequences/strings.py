"""The kernels of strings that are compared, all of them as cosines."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
import numpy.typing as npt

import fishernet as fn
from fishernet.kernels import FisherKernel, Normalized, PairHmmKernel, SpectrumKernel
from studies.sequences.validation import Candidate, Ints, Matrix, Result, Split, evaluate, fixed

DNA = "ACGT"
DIVERGENCES = (0.4, 1.6)
SPECTRA = (2, 3, 4, 5)
ORDERS = (1, 2, 3)
STATES = (3, 6)
CHUNK = 20_000  # pairs at a time

Codes = npt.NDArray[np.int16]


def compare(y: Ints, splits: Sequence[Split], methods: dict[str, Callable[[], list[Candidate]]]) -> list[Result]:
    """Return what each method reaches; the time includes that of its matrices."""
    results = []
    for name, make in methods.items():
        start = time.perf_counter()
        candidates = make()
        made = time.perf_counter() - start
        found = evaluate(name, candidates, y, splits)
        results.append(replace(found, seconds=found.seconds + made))
    return results


@dataclass(frozen=True)
class PairHmm:
    """Logarithms of the cosines of the pair-HMM kernel, a matrix a divergence."""

    logs: dict[str, Matrix]
    seconds: float

    def cosine(self) -> list[Candidate]:
        """Return the cosines, one candidate a divergence."""
        return [fixed(label, np.exp(log)) for label, log in self.logs.items()]

    def tempered(self) -> list[Candidate]:
        """Return the cosines to the power that makes the mean logarithm -1; it need not be a kernel."""
        return [fixed(label, np.exp(log / off_diagonal_mean(log))) for label, log in self.logs.items()]


def pair_hmm(strings: Sequence[str], divergences: Sequence[float] = DIVERGENCES) -> PairHmm:
    """Compute the pair-HMM kernel."""
    start = time.perf_counter()
    logs = {}
    for divergence in divergences:
        log = PairHmmKernel(fn.models.pair_hmm_dna(divergence=divergence), log=True)(list(strings))
        logs[f"divergence {divergence:g}"] = cosine_logs(log)
    return PairHmm(logs, time.perf_counter() - start)


def cosine_logs(log: Matrix) -> Matrix:
    """Return the logarithms of the cosines of a kernel, of its own logarithms."""
    return log - (np.diag(log)[:, None] + np.diag(log)) / 2


def off_diagonal_mean(matrix: Matrix) -> float:
    """Return the mean over pairs of different strings, without its sign."""
    return float(abs(matrix[~np.eye(len(matrix), dtype=bool)].mean()))


def spectrum(strings: Sequence[str], lengths: Sequence[int] = SPECTRA) -> list[Candidate]:
    """Return the p-spectrum kernel, one candidate a p."""
    return [fixed(f"p = {p}", Normalized(SpectrumKernel(p, DNA))(list(strings))) for p in lengths]


def markov_fisher(strings: Sequence[str]) -> list[Candidate]:
    """Return the Fisher kernel of a Markov chain of the training strings, one candidate an order."""

    def gram(order: int, train: Ints) -> Matrix:
        model = fn.learn.markov_chain([strings[k] for k in train], order=order, alphabet=DNA)
        return Normalized(FisherKernel(model, metric="practical"))(list(strings))

    return [Candidate(f"order {order}", partial(gram, order)) for order in ORDERS]


def hmm_fisher(strings: Sequence[str]) -> list[Candidate]:
    """Return the Fisher kernel of an HMM of the training strings, one candidate a number of states."""

    def gram(n: int, train: Ints) -> Matrix:
        rows = [strings[k] for k in train]
        model = fn.learn.hidden_markov_model(rows, n_states=n, alphabet=DNA, restarts=2, max_steps=60, seed=1)
        return Normalized(FisherKernel(model, metric="practical"))(list(strings))

    return [Candidate(f"{n} states", partial(gram, n)) for n in STATES]


def edit(strings: Sequence[str]) -> list[Candidate]:
    """Return ``exp(-d / mean d)`` of the edit distance, which is symmetric but need not be a kernel."""
    distances = edit_distances(strings)
    return [fixed("", np.exp(-distances / off_diagonal_mean(distances)))]


def positions(strings: Sequence[str]) -> list[Candidate]:
    """Return the share of positions with the same letter, for strings of one length."""
    letters = np.array([list(string) for string in strings])
    hot = np.concatenate([letters == letter for letter in DNA], axis=1).astype(np.float64)
    return [fixed("", hot @ hot.T / letters.shape[1])]


def edit_distances(strings: Sequence[str]) -> Matrix:
    """Return the least numbers of substitutions, insertions and deletions between all pairs."""
    n = len(strings)
    lengths = np.array([len(string) for string in strings])
    codes = np.full((n, lengths.max(initial=0)), -1, dtype=np.int16)
    for k, string in enumerate(strings):
        codes[k, : len(string)] = [ord(letter) for letter in string]
    found = np.zeros((n, n))
    left, right = np.triu_indices(n, 1)
    for at in range(0, len(left), CHUNK):
        a, b = left[at : at + CHUNK], right[at : at + CHUNK]
        found[a, b] = found[b, a] = of_pairs(codes[a], lengths[a], codes[b], lengths[b])
    return found


def of_pairs(a: Codes, a_lengths: Ints, b: Codes, b_lengths: Ints) -> Matrix:
    """Return the distance of each row of a to that of b, row by row of the table of Wagner and Fischer."""
    columns = np.arange(b.shape[1] + 1, dtype=np.int16)
    row = np.tile(columns, (len(a), 1))
    last = np.where(a_lengths[:, None] == 0, row, np.int16(0))
    for i in range(a.shape[1]):
        new = np.empty_like(row)
        new[:, 0] = i + 1
        np.minimum(row[:, 1:] + 1, row[:, :-1] + (a[:, i, None] != b), out=new[:, 1:])
        row = np.minimum.accumulate(new - columns, axis=1) + columns  # insertions: d[j] = min over k of new[k] + j - k
        last = np.where(a_lengths[:, None] == i + 1, row, last)
    return last[np.arange(len(a)), b_lengths].astype(np.float64)
