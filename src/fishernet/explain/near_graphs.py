"""Influence on an answer whose graph is not held: the mean over networks whose graphs parts of the rows give.

A graph is learned anew where rows are missing, and from fewer rows a score takes fewer arcs. So networks of other rows
answer by other graphs than the network of all rows, and the influence under the one graph says little of them
(docs/studies/influence.md). Here graphs are learned from random halves of the rows, each is fitted to all rows, and
what the influences under them say is averaged: where the graphs differ, each counts as often as it was found.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import several
from fishernet.base.progress import Progress
from fishernet.base.random import Seed, generator
from fishernet.data import Table
from fishernet.data.variable import hidden_among
from fishernet.explain.answers import Answer
from fishernet.explain.counts import Response, smoothing_said
from fishernet.graphs import Dag
from fishernet.learn.fitting import parameters
from fishernet.learn.resampling import repeat_runs
from fishernet.learn.structures import dag
from fishernet.models.model import is_directed

Numbers = npt.NDArray[np.float64]

FEWEST = 4  # rows: a half has two


class Networks(NamedTuple):
    """Networks of several graphs, and the share of each."""

    members: list[Any]
    shares: Numbers


class MeanAnswer:
    """The mean of an answer over networks of several graphs."""

    def __init__(self, answer: Answer, n_graphs: int) -> None:
        self.answer = answer
        self.n_graphs = n_graphs
        self.said: str = f"the mean over {several(n_graphs, 'graph')} of {answer.said}"

    def of(self, networks: Networks) -> float:
        """Return the mean of the answers of networks."""
        return float(networks.shares @ [self.answer.of(net) for net in networks.members])

    @property
    def odds(self) -> Callable[[], MeanAnswer] | None:
        """What makes the mean log odds, where there are some."""
        odds = self.answer.odds
        return None if odds is None else lambda: MeanAnswer(odds(), self.n_graphs)


class Half(NamedTuple):
    """A half of the rows, and the place of the graph that was learned from it."""

    rows: npt.NDArray[np.bool_]
    place: int


class OverGraphs:
    """The responses of networks of several graphs, as one."""

    refits = True

    def __init__(self, held: Response, responses: Sequence[Response], halves: Sequence[Half]) -> None:
        self._held = held  # of the network that was asked, which stays as long as this does
        self._responses = responses
        self._halves = halves
        self._shares = np.bincount([half.place for half in halves]) / len(halves)
        self.net: Networks = self._networks([response.net for response in responses])
        self.table: Any = responses[0].table
        self.weights: Numbers = responses[0].weights

    def values(self, asked: Any) -> Numbers:
        """Return the change of a mean answer per unit of each row's weight, (n_rows,)."""
        return self._mean([response.values(asked.answer) for response in self._responses])

    def removals(self, asked: Any) -> Numbers:
        """Return the mean answer less what it is without each row, (n_rows,), the graphs held."""
        return self._mean([response.removals(asked.answer) for response in self._responses])

    def without(self, weights: Numbers) -> Networks:
        """Return the networks, of the same graphs, fitted to the rows with other weights."""
        return self._networks([response.without(weights) for response in self._responses])

    def again(self, weights: Numbers) -> OverGraphs:
        """Return the responses of these networks."""
        return OverGraphs(self._held, [response.again(weights) for response in self._responses], self._halves)

    def agreement(self, asked: Any, values: Numbers) -> float:
        """Return the rank correlation of what networks of halves answer and what the values of their rows say."""
        from scipy.stats import spearmanr  # takes long to import

        summed = np.array([float((self.weights * values)[rows].sum()) for rows, _ in self._halves])
        with np.errstate(invalid="ignore"):  # what a half has never seen may be impossible under its network
            answers = np.array([asked.answer.of(net) for net in self._of_halves])
        told = ~np.isnan(answers)
        if min(len(set(of[told].tolist())) for of in (answers, summed)) < 2:
            return math.nan
        return float(spearmanr(answers[told], summed[told]).statistic)

    @cached_property
    def _of_halves(self) -> list[Any]:
        """The network of each half: its graph, fitted to its rows."""
        return [self._responses[place].without(self.weights * rows) for rows, place in self._halves]

    def _networks(self, members: list[Any]) -> Networks:
        return Networks(members, self._shares)

    def _mean(self, values: list[Numbers]) -> Numbers:
        return np.asarray(self._shares @ np.array(values))


def over_graphs(
    response: Any, make: Callable[[Any], Response], n: int, seed: Seed, progress: Progress | None
) -> OverGraphs:
    """Return the response over graphs of n halves of the rows, fitted as the network of one response was.

    `make` makes the response of a network.
    """
    net = response.net
    if not response.refits:
        what = (
            "the network was not learned from this table, so graphs of its rows say nothing of it; leave `graphs` out"
        )
        raise FishernetError(what, parameter="graphs")
    if not is_directed(net) or hidden_among(net.variables):
        what = "graphs are learned again for Bayesian networks without hidden variables; leave `graphs` out"
        raise SchemaError(what, parameter="graphs")
    rows = net.rows(response.table)
    if rows.n_rows < FEWEST:
        raise SchemaError(f"graphs of halves need {FEWEST} rows, and there are {rows.n_rows}", parameter="graphs")
    random, places, halves = generator(seed), dict[Dag, int](), []
    for half, graph in repeat_runs(n, partial(_learned, rows, random), "learning graphs from halves", progress):
        halves.append(Half(half, places.setdefault(graph, len(places))))
    smoothing = smoothing_said(response.smoothing)
    return OverGraphs(response, [make(parameters(graph, rows, smoothing=smoothing)) for graph in places], halves)


def _learned(rows: Table, random: np.random.Generator, _: int, told: Progress) -> tuple[npt.NDArray[np.bool_], Dag]:
    """Return a random half of the rows, and the graph that is learned from it."""
    half = random.permutation(rows.n_rows) < rows.n_rows // 2
    return half, dag(rows[np.flatnonzero(half)], seed=random, progress=told)
