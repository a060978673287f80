"""Random models of strings, and strings."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

from fishernet import HiddenMarkovModel

Numbers = npt.NDArray[np.float64]


def rows(rng: np.random.Generator, n: int, columns: int, zeros: float) -> Numbers:
    """Distributions, some of whose entries are 0."""
    values = rng.dirichlet(np.ones(columns), n) * (rng.random((n, columns)) >= zeros)
    values[values.sum(axis=1) == 0, rng.integers(columns)] = 1.0
    scaled: Numbers = values / values.sum(axis=1, keepdims=True)
    return scaled


def random_hmm(
    seed: int,
    n_states: int = 3,
    n_symbols: int = 2,
    *,
    final: bool = False,
    empty: bool = False,
    zeros: float = 0.0,
    stop: float = 0.3,
    alphabet: Any = None,
) -> HiddenMarkovModel:
    rng = np.random.default_rng(seed)
    initial = rows(rng, 1, n_states, zeros)[0]
    transition = rows(rng, n_states, n_states, zeros)
    emission = rows(rng, n_states, n_symbols + empty, zeros)
    if empty:  # no state is silent for ever
        emission[:, -1] *= 0.7
        emission[:, 0] += 1 - emission.sum(axis=1)
    if not final:
        return HiddenMarkovModel(initial, transition, emission, empty=empty, alphabet=alphabet)
    stops = stop * (0.5 + 0.5 * rng.random(n_states))
    return HiddenMarkovModel(
        initial * (1 - stop),
        transition * (1 - stops)[:, None],
        emission,
        final=stops,
        empty=empty,
        alphabet=alphabet,
    )


@st.composite
def models(draw: st.DrawFn, *, empty: bool | None = None, final: bool | None = None) -> HiddenMarkovModel:
    return random_hmm(
        draw(st.integers(0, 2**32)),
        draw(st.integers(1, 4)),
        draw(st.integers(1, 3)),
        final=draw(st.booleans()) if final is None else final,
        empty=draw(st.booleans()) if empty is None else empty,
        zeros=draw(st.sampled_from([0.0, 0.4])),
    )


def random_strings(seed: int, n: int, n_symbols: int, longest: int, shortest: int = 0) -> list[list[int]]:
    rng = np.random.default_rng(seed)
    return [rng.integers(n_symbols, size=rng.integers(shortest, longest + 1)).tolist() for _ in range(n)]
