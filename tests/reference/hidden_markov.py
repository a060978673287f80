"""Hidden Markov models by brute force: sums over trajectories, one by one or by plain linear algebra."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

import fishernet as fn

Floats = npt.NDArray[np.float64]

KINDS = [(final, empty) for final in (False, True) for empty in (False, True)]


@dataclass(frozen=True, eq=False)
class Parts:
    """A hidden Markov model as numbers, normalized or not."""

    initial: Floats
    transition: Floats
    emission: Floats  # the last column is the empty symbol's where `empty`
    final: Floats | None
    empty: bool
    at_once: float

    @property
    def n_states(self) -> int:
        return len(self.initial)

    @property
    def n_symbols(self) -> int:
        return int(self.emission.shape[1]) - int(self.empty)

    def model(self) -> fn.HiddenMarkovModel:
        return fn.HiddenMarkovModel(self.initial, self.transition, self.emission, final=self.final, empty=self.empty)

    def normalized(self) -> Parts:
        """Every row of probabilities divided by its sum."""
        total = self.initial.sum() + self.at_once
        rows = self.transition.sum(axis=1) + (0 if self.final is None else self.final)
        return replace(
            self,
            initial=self.initial / total,
            at_once=self.at_once / total,
            transition=self.transition / rows[:, None],
            final=None if self.final is None else self.final / rows,
            emission=self.emission / self.emission.sum(axis=1, keepdims=True),
        )

    def flat(self) -> Floats:
        """The parameters in the order of the scores."""
        parts = [self.emission, self.transition, self.initial, *([] if self.final is None else [self.final])]
        return np.concatenate([part.ravel() for part in parts])

    def replaced(self, flat: Floats) -> Parts:
        """The same with other parameters."""
        ends = np.cumsum([self.emission.size, self.transition.size, self.n_states])
        emission, transition, initial, final = np.split(flat, ends)
        return replace(
            self,
            emission=emission.reshape(self.emission.shape),
            transition=transition.reshape(self.transition.shape),
            initial=initial,
            final=None if self.final is None else final,
        )


def random_parts(
    seed: int, n_states: int, n_symbols: int, *, final: bool = False, empty: bool = False, zeros: bool = False
) -> Parts:
    random = np.random.default_rng(seed)

    def rows(shape: tuple[int, ...]) -> Floats:
        values = random.exponential(size=shape)
        if zeros:
            values[random.random(shape) < 0.3] = 0.0
            values[..., -1] += 0.05
        shares: Floats = values / values.sum(axis=-1, keepdims=True)
        return shares

    emission = rows((n_states, n_symbols + empty))
    if empty and zeros:  # something is emitted everywhere, so that nothing goes on forever in silence
        emission[:, 0] += 0.2
        emission /= emission.sum(axis=1, keepdims=True)
    moves = rows((n_states, n_states + final))
    first = rows((n_states + final,))
    return Parts(
        initial=first[:n_states],
        transition=moves[:, :n_states],
        emission=emission,
        final=moves[:, -1] if final else None,
        empty=empty,
        at_once=float(first[-1]) if final else 0.0,
    )


@st.composite
def parts(draw: st.DrawFn, *, empty: bool | None = None, final: bool | None = None, most_states: int = 4) -> Parts:
    return random_parts(
        draw(st.integers(0, 10**6)),
        draw(st.integers(1, most_states)),
        draw(st.integers(1, 3)),
        final=draw(st.booleans()) if final is None else final,
        empty=draw(st.booleans()) if empty is None else empty,
        zeros=draw(st.booleans()),
    )


def all_strings(n_symbols: int, longest: int) -> list[list[int]]:
    return [list(s) for n in range(longest + 1) for s in itertools.product(range(n_symbols), repeat=n)]


@dataclass(frozen=True)
class Trajectory:
    """States, what each emits (None is nothing), and the weight."""

    states: tuple[int, ...]
    symbols: tuple[int | None, ...]
    weight: float


def trajectories(m: Parts, string: Sequence[int], longest: int) -> Iterator[Trajectory]:
    """All trajectories of at most so many states that give a string."""
    n = len(string)
    if n == 0:
        yield Trajectory((), (), 1.0 if m.final is None else m.at_once)
    for length in range(max(n, 1), (longest if m.empty else n) + 1):
        for spoken in itertools.combinations(range(length), n):
            symbols: list[int | None] = [None] * length
            for place, symbol in zip(spoken, string, strict=True):
                symbols[place] = symbol
            for states in itertools.product(range(m.n_states), repeat=length):
                yield Trajectory(states, tuple(symbols), weight_of(m, states, symbols))


def weight_of(m: Parts, states: Sequence[int], symbols: Sequence[int | None]) -> float:
    weight = float(m.initial[states[0]])
    for a, b in itertools.pairwise(states):
        weight *= m.transition[a, b]
    for a, symbol in zip(states, symbols, strict=True):
        weight *= m.emission[a, -1 if symbol is None else symbol]
    return weight if m.final is None else weight * m.final[states[-1]]


def probability(m: Parts, string: Sequence[int]) -> float:
    """The weight of a string, silent visits by a matrix inverse (P3, 12.1.5 and ERRATA 6 and 7)."""
    n = m.n_states
    silent = m.emission[:, -1] if m.empty else np.zeros(n)
    closure = np.linalg.inv(np.eye(n) - silent[:, None] * m.transition)
    stop = np.ones(n) if m.final is None else m.final
    entered = m.initial @ closure
    visited = entered * silent
    for symbol in string:
        spoken = entered * m.emission[:, symbol]
        entered = spoken @ m.transition @ closure
        visited = spoken + entered * silent
    alone = (1.0 if m.final is None else m.at_once) if not len(string) else 0.0
    return float(visited @ stop + alone)


def log_probability(m: Parts, string: Sequence[int]) -> np.longdouble:
    """The logarithm of the weight of a string of a model without empties, in logarithms and long doubles."""
    log = np.log
    transition, emission = log(m.transition.astype(np.longdouble)), log(m.emission.astype(np.longdouble))
    f = log(m.initial.astype(np.longdouble)) + emission[:, string[0]]
    for symbol in string[1:]:
        f = np.logaddexp.reduce(f[:, None] + transition, axis=0) + emission[:, symbol]
    return np.longdouble(np.logaddexp.reduce(f if m.final is None else f + log(m.final.astype(np.longdouble))))


def two_states() -> fn.HiddenMarkovModel:
    """A small model of the symbols a and b."""
    return fn.HiddenMarkovModel([0.5, 0.5], [[0.9, 0.1], [0.2, 0.8]], [[0.8, 0.2], [0.3, 0.7]], alphabet="ab")


def possible(m: Parts, strings: list[list[int]]) -> list[list[int]]:
    """The strings that the model can give."""
    return [string for string in strings if probability(m, string) > 1e-12]


STRAIGHT = 0.05  # of the log-probability, in a step


def numerical_scores(m: Parts, string: Sequence[int], longest: float = 1e-4) -> Floats:
    """Five-point differences of the log-probability, unconstrained then normalized.

    Near 0 the logarithm bends, so steps are short there; at 0 itself the probability goes on as a polynomial.
    """
    at = m.flat()
    steps = np.where(at > 0, np.clip(at / 50, 1e-10, longest), longest)

    def value(k: int, by: float) -> float:
        moved = at.copy()
        moved[k] += by
        return float(np.log(probability(m.replaced(moved).normalized(), string)))

    def slope(k: int, step: float) -> float:
        near, far = value(k, step) - value(k, -step), value(k, 2 * step) - value(k, -2 * step)
        found = float((8 * near - far) / (12 * step))
        if abs(found) * step > STRAIGHT:  # so far the logarithm bends
            return slope(k, STRAIGHT / 2 / abs(found))
        return found

    return np.array([slope(k, step) for k, step in enumerate(steps)])


# -------------------------------------------------------------------------------- the same in exact fractions

Fractions = list[list[Fraction]]


def with_tiny_numbers(m: Parts, seed: int) -> Parts:
    """The same model with many of its probabilities from 1e-308 to 1e-280."""
    random = np.random.default_rng(seed)

    def shrunk(row: Floats) -> Floats:
        tiny = random.random(row.shape) < 0.4
        tiny[random.integers(len(row))] = False
        values = np.where(tiny, 10.0 ** -random.uniform(280, 308, row.shape), row)
        return np.asarray(values / values.sum())

    moves = m.transition if m.final is None else np.column_stack([m.transition, m.final])
    moves = np.stack([shrunk(row) for row in moves])
    return replace(
        m,
        initial=shrunk(m.initial) * (1 - m.at_once),
        transition=moves[:, : m.n_states],
        final=None if m.final is None else moves[:, -1],
        emission=np.stack([shrunk(row) for row in m.emission]),
    )


def whole(row: Floats) -> list[Fraction]:
    """The numbers as fractions, the largest such that they sum to 1 exactly."""
    values = [Fraction(float(x)) for x in row]
    largest = max(range(len(values)), key=values.__getitem__)
    values[largest] += 1 - sum(values)
    return values


def inverted(rows: Fractions) -> Fractions:
    """The inverse by Gauss-Jordan elimination."""
    n = len(rows)
    left = [[*row, *(Fraction(int(a == b)) for b in range(n))] for a, row in enumerate(rows)]
    for k in range(n):
        pivot = next(i for i in range(k, n) if left[i][k] != 0)
        left[k], left[pivot] = left[pivot], left[k]
        left[k] = [x / left[k][k] for x in left[k]]
        for i in range(n):
            if i != k:
                left[i] = [x - left[i][k] * y for x, y in zip(left[i], left[k], strict=True)]
    return [row[n:] for row in left]


def exact_scores(m: Parts, string: Sequence[int]) -> tuple[Floats, Floats]:
    """The scores of a string, and how often each parameter's row is used: the score's other term.

    By sums over the places of a string of (what comes to an event) times (what follows it), without rounding.
    """
    n = m.n_states
    states, length = range(n), len(string)
    emission = [whole(row) for row in m.emission]
    moves = m.transition if m.final is None else np.column_stack([m.transition, m.final])
    transition = [whole(row) for row in moves]
    stop = [row[n] if m.final is not None else Fraction(1) for row in transition]
    silent = [row[-1] if m.empty else Fraction(0) for row in emission]
    closure = inverted([[int(a == b) - silent[a] * transition[a][b] for b in states] for a in states])
    entered, spoken = [], [[Fraction(0)] * n]
    start = [Fraction(float(x)) for x in m.initial]
    for symbol in [*string, 0]:
        entered.append([sum((start[a] * closure[a][b] for a in states), Fraction(0)) for b in states])
        spoken.append([entered[-1][a] * emission[a][symbol] for a in states])
        start = [sum((spoken[-1][a] * transition[a][b] for a in states), Fraction(0)) for b in states]
    by_emission = [[Fraction(0)] * len(row) for row in emission]
    by_transition = [[Fraction(0)] * len(row) for row in transition]
    after: list[Fraction] = []  # the value of having visited a state, after one symbol more
    for i in range(length, -1, -1):
        end = i == length
        gain = [silent[a] * stop[a] if end else emission[a][string[i]] * after[a] for a in states]
        enter = [sum((closure[a][b] * gain[b] for b in states), Fraction(0)) for a in states]
        visited = [stop[a] * end + sum((transition[a][b] * enter[b] for b in states), Fraction(0)) for a in states]
        for a in states:
            visits = spoken[i][a] + entered[i][a] * silent[a]
            if not end:
                by_emission[a][string[i]] += entered[i][a] * after[a]
            if m.empty:
                by_emission[a][-1] += entered[i][a] * visited[a]
            for b in states:
                by_transition[a][b] += visits * enter[b]
            if end and m.final is not None:
                by_transition[a][n] += visits
        after = visited
    likelihood = sum((Fraction(float(x)) * y for x, y in zip(m.initial, enter, strict=True)), Fraction(0))
    once = likelihood if m.final is not None else None
    of_emission = [_scored(*pair, likelihood) for pair in zip(by_emission, emission, strict=True)]
    of_transition = [_scored(*pair, likelihood) for pair in zip(by_transition, transition, strict=True)]
    of_initial = _scored(enter, [Fraction(float(x)) for x in m.initial], likelihood, once)
    rows = [*of_emission, *(row[:n] for row in of_transition), of_initial]
    if m.final is not None:
        rows.append([row[n] for row in of_transition])
    pairs = np.array([pair for row in rows for pair in row])
    return pairs[:, 0], pairs[:, 1]


def _scored(
    derivatives: list[Fraction], row: list[Fraction], likelihood: Fraction, used: Fraction | None = None
) -> list[tuple[float, float]]:
    if used is None:
        used = sum((d * p for d, p in zip(derivatives, row, strict=True)), Fraction(0))
    return [(float((d - used) / likelihood), float(used / likelihood)) for d in derivatives]
