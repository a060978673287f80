"""By how many nats a conditional changed: an estimate that chance does not enlarge, with an interval.

The divergence of two conditionals that are fitted to counts is too large by what chance adds, which hangs on how many
cells occur. So the estimate inverts it: between the conditionals of both tables together and those of each table lies a
path, ``p_t`` in proportion to ``together ** (1 - t) * own ** t``, on which the divergence grows from 0. At places on it
tables are drawn with the sizes of the configurations; the interval holds the divergences at which what is observed is
neither among the smallest nor among the largest 2.5 % of what is drawn, and the estimate is the one at which it lies in
the middle; more places are put where what is drawn comes to reach what is observed all at once, as it does of many
rows. Where nothing changed the draws are exact (`state_tests`), and so is the p-value of the test, which the interval
takes over: it holds 0 where the test does not reject. The draws know no state that the earlier rows lack, so that its
upper end is moved by what such states leave open.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base.random import stream_key
from fishernet.compare.conditionals.state_tests import exact_test
from fishernet.compare.mechanisms import divergences

Array = npt.NDArray[np.float64]
Counts = npt.NDArray[np.int64]

TAIL = 0.025
PULL = 1.0  # pseudo-rows of both tables together, in each configuration of each; as the core adds to what it draws
PSEUDO_ROWS = 2.0 ** np.arange(-3, 9)  # of the states' overall shares, of which the likeliest number is taken
PLACES = np.array([0, 0.15, 0.3, 0.45, 0.6, 0.75, 0.9, 1.05, 1.25, 1.5, 2.0, 3.0])
ROUNDS, WIDE = 6, 2.5  # how often places are put between two whose normal scores are so far apart: of many rows
FEWEST_DRAWS = 50
BY_CHANCE, RARE_DRAWS = 0.05, 2000  # of states that the earlier rows lack
MOST_CELLS = 2**21  # drawn at a place; fewer tables are drawn of many cells, whose sum varies less


@dataclass(frozen=True)
class Nats:
    """By how many nats one conditional changed.

    Attributes
    ----------
    nats : float
        As likely too large as too small.
    low, high : float
        The 95 % interval.
    by_chance : float
        What the divergence of the fitted conditionals would be on average if nothing had changed.
    covered : float
        The share of the later rows whose parents' configuration occurs in both tables: nothing is known of others.
    """

    nats: float
    low: float
    high: float
    by_chance: float
    covered: float


UNKNOWN = Nats(0.0, 0.0, math.inf, 0.0, 0.0)


def changed_nats(before: Array, after: Array, p_value: float, draws: int, random: np.random.Generator) -> Nats:
    """Return by how many nats a conditional changed.

    Parameters
    ----------
    before, after : (configurations, states)
        How many rows of each table have a state in a configuration of the parents.
    p_value : float
        Of the test that it did not change; NaN where it can tell nothing.
    draws : int
        How many tables are drawn at each place of the path.
    random : numpy.random.Generator
    """
    one, other = (np.rint(counts).astype(np.int64) for counts in (before, after))
    both = (one.sum(axis=1) > 0) & (other.sum(axis=1) > 0)
    if not both.any():
        return UNKNOWN
    covered = float(other[both].sum() / other.sum())
    one, other = one[both], other[both]
    if math.isnan(p_value):
        return Nats(0.0, 0.0, 0.0, 0.0, covered)
    occurs = (one + other).sum(axis=0) > 0
    if np.count_nonzero(occurs) < 2:  # a label below numbers may have changed all the same, within their bins
        return replace(UNKNOWN, covered=covered)
    path = _Path(one[:, occurs], other[:, occurs])
    return path.inverted(p_value, draws, random, covered)


class _Path:
    """Pairs of conditionals between what both tables together say and what each says, and a little further."""

    def __init__(self, one: Counts, other: Counts) -> None:
        self._one, self._other = one, other
        together = _together(one + other)
        ends = [(c + PULL * together) / (c.sum(axis=1, keepdims=True) + PULL) for c in (other, one)]
        self._logs = [np.log(end) for end in (together, *ends)]
        self._sizes = one.sum(axis=1)
        self._n_later = int(other.sum())
        self._shares = other.sum(axis=1) / self._n_later

    def at(self, places: Array) -> tuple[Array, Array]:
        """Return the later and the earlier conditionals at each place, (places, configurations, states)."""
        t = places[:, None, None]
        together, *ends = self._logs
        mixed = [np.exp((1 - t) * together + t * end) for end in ends]
        later, earlier = (np.ascontiguousarray(p / p.sum(axis=-1, keepdims=True)) for p in mixed)
        return later, earlier

    def inverted(self, p_value: float, draws: int, random: np.random.Generator, covered: float) -> Nats:
        """Return the divergences at which the observed one is a small, a middle and a large one."""
        n_draws = min(draws, max(MOST_CELLS // self._one.size, FEWEST_DRAWS))
        looked = self._looked_at(PLACES, n_draws, random)
        divergences_where_same = exact_test(np.stack([self._one, self._other])).divergences
        observed, *exchanged = divergences_where_same(stream_key(random), 2 * n_draws) / self._n_later
        for _ in range(ROUNDS if n_draws >= FEWEST_DRAWS else 0):  # moments of fewer say not where to look
            places, means, variances, _ = looked.T
            scores = _scores(_gamma_tail(observed, means, np.maximum(variances, 1e-300)))
            gaps = np.flatnonzero((np.diff(scores) > WIDE) & (scores[:-1] < WIDE) & (scores[1:] > -WIDE))
            if not len(gaps):
                break
            between = np.linspace(places[gaps], places[gaps + 1], 5, axis=1)[:, 1:-1].ravel()
            looked = np.concatenate([looked, self._looked_at(between, n_draws, random)])
            looked = looked[np.argsort(looked[:, 0], kind="stable")]
        places, means, variances, nats = looked.T
        exact = np.array(exchanged)
        fade = np.maximum(1 - places, 0)  # what is drawn where nothing changed corrects what is drawn near it
        by_chance = float(exact.mean())
        variances = variances + fade * (exact.var(ddof=1) - variances[0])
        means = means + fade * (by_chance - means[0])
        reached = _gamma_tail(observed, means, np.maximum(variances, 1e-300))
        reached[0] = (exact >= observed * (1 - 1e-12)).mean()
        middle, high = (_place_of(share, np.maximum.accumulate(reached), nats) for share in (0.5, 1 - TAIL))
        reached[0] = p_value
        low = _place_of(min((p_value + 2 * TAIL) / 2, 2 * TAIL), np.maximum.accumulate(reached), nats)
        if more := self._left_open(random):
            own = float((divergences(*self.at(np.ones(1))) @ self._shares)[0])
            high = max(high, own + math.hypot(max(high - own, 0.0), more))
        return Nats(max(low, middle), low, max(low, high), by_chance, covered)

    def _left_open(self, random: np.random.Generator) -> float:
        """Return how many nats more it may be, because the earlier rows lack states that the later ones have.

        How rare a state is that does not occur is not known: its share is drawn under Jeffreys' prior. Of a state that
        pooled rows may well lack by chance there is nothing to tell.
        """
        n = self._sizes[:, None]
        pooled = self._other / (n + self._other.sum(axis=1, keepdims=True))
        lacks = (self._one == 0) & ((1 - pooled) ** n < BY_CHANCE)
        if not lacks.any():
            return 0.0
        weights, n = self._other[lacks] / self._n_later, np.broadcast_to(n, lacks.shape)[lacks]
        shares = random.beta(0.5, n + 0.5 * (lacks.shape[1] - 1), size=(RARE_DRAWS, len(n)))
        more = (self._logs[2][lacks] - np.log(np.maximum(shares, 1e-300))) @ weights
        return max(float(np.quantile(more, 1 - TAIL)), 0.0)

    def _looked_at(self, places: Array, n: int, random: np.random.Generator) -> Array:
        """Return rows of a place, the mean and the variance of divergences of tables drawn there, and its own."""
        later, earlier = self.at(places)
        drawn = np.array(
            [
                _core.drawn_divergences(*ends, self._sizes, self._shares, self._n_later, stream_key(random), n)
                for ends in zip(earlier, later, strict=True)
            ]
        )
        own = divergences(later, earlier) @ self._shares
        return np.stack([places, drawn.mean(axis=1), drawn.var(axis=1, ddof=1), own], axis=1)


def _together(pooled: Counts) -> Array:
    """Return the conditionals of both tables together, pulled to the states' overall shares.

    By as many pseudo-rows as have the largest Dirichlet-multinomial likelihood: the shares of few rows have too few
    states, and what chance adds to them comes out small.
    """
    from scipy.special import gammaln  # slow to import, and needed by few calls

    overall = pooled.sum(axis=0) / pooled.sum()
    pseudo = PSEUDO_ROWS[:, None, None] * overall
    rows = pooled.sum(axis=1)
    likelihood = (gammaln(pooled + pseudo) - gammaln(pseudo)).sum(axis=(1, 2))
    likelihood += (gammaln(PSEUDO_ROWS)[:, None] - gammaln(PSEUDO_ROWS[:, None] + rows)).sum(axis=1)
    best = PSEUDO_ROWS[int(np.argmax(likelihood))]
    return np.asarray((pooled + best * overall) / (rows[:, None] + best))


def _gamma_tail(observed: float, means: Array, variances: Array) -> Array:
    """Return the probabilities of at least the observed value under gamma distributions of two moments."""
    from scipy.special import gammaincc  # slow to import, and needed by few calls

    some = means > 0  # where all draws are 0, none reaches what is larger
    shape, rate = np.where(some, means, 1.0) ** 2 / variances, means / variances
    return np.where(some, gammaincc(shape, observed * rate), float(observed <= 0))


def _scores(reached: Array) -> Array:
    from scipy.special import ndtri  # slow to import, and needed by few calls

    return np.asarray(ndtri(np.clip(reached, 1e-9, 1 - 1e-9)))


def _place_of(share: float, reached: Array, nats: Array) -> float:
    """Return the nats at which so large a share of the draws reaches what is observed, between the places drawn at."""
    from scipy.special import ndtri  # slow to import, and needed by few calls

    scores, wanted = _scores(reached), ndtri(share)
    if scores[0] >= wanted:
        return 0.0
    if scores[-1] < wanted:
        return float(nats[-1])
    i = int(np.searchsorted(scores, wanted))
    part = (wanted - scores[i - 1]) / max(scores[i] - scores[i - 1], 1e-12)
    root = np.sqrt(nats[i - 1 : i + 1])
    return float((root[0] + part * (root[1] - root[0])) ** 2)
