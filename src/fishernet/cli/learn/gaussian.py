"""Networks of Gaussian variables learned on the command line, from columns of numbers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from fishernet.cli.heldout.holdout import Likelihood
from fishernet.cli.inputs.tables import Reading
from fishernet.cli.learn.bayesian import search_lines
from fishernet.cli.learn.words import Line, held_out_words, row_lines, saved_lines, seconds_line
from fishernet.cli.terminal.output import Facts, aligned, number
from fishernet.cli.terminal.wording import shown
from fishernet.graphs import UndirectedGraph
from fishernet.learn import SearchResult, gaussian_graph, gaussian_network, parameters, structure
from fishernet.models import GaussianBayesianNetwork, GaussianMarkovNetwork
from fishernet.progress import Progress
from fishernet.table.numbers import NamedColumns


class GaussianLearner:
    """Finds the graph of a Gaussian Markov network in some rows, and fits its precision to any.

    Parameters
    ----------
    seed : int
        Not used: nothing is drawn.
    rule : str, optional
        "hc", "and" or "or"; "hc" when not said.
    prior : bool, optional
        Whether edges are sparse beforehand; they are when not said.
    """

    endings = (".json",)

    def __init__(self, *, seed: int, rule: str | None = None, prior: bool | None = None) -> None:  # noqa: ARG002
        self._rule = rule or "hc"
        self._prior = True if prior is None else prior
        self._graph: UndirectedGraph

    def read(self, path: Path, reading: Reading) -> NamedColumns:
        """Read columns of numbers."""
        return reading.read_numbers(path, "a Gaussian Markov network")

    def find(self, rows: NamedColumns, progress: Progress) -> None:
        """Search for the graph."""
        self._graph = gaussian_graph(rows.by_name(), rule=self._rule, prior=self._prior, progress=progress)

    def fit(self, rows: NamedColumns) -> GaussianMarkovNetwork:
        """Return the network with this graph that is most likely, given some rows."""
        return gaussian_network(rows.by_name(), self._graph)

    def facts(
        self,
        network: GaussianMarkovNetwork,
        training: NamedColumns,  # noqa: ARG002
        held_out: NamedColumns,
    ) -> dict[str, Any]:
        """Return what was found, and how well it predicts the rows held out."""
        graph, correlations = self._graph, network.partial_correlations
        where = {name: position for position, name in enumerate(graph.names)}
        return {
            "edges": graph.edges,
            "partial_correlations": [float(correlations[where[a], where[b]]) for a, b in graph.edges],
            "rule": self._rule,
            "prior": self._prior,
            "parameters": network.n_parameters,
            "held_out_log_likelihood_per_row": _per_row(network, held_out),
        }

    def text(self, facts: Facts) -> Iterator[str]:
        """Yield the facts as lines for people."""
        yield from aligned(
            [
                *row_lines(facts),
                *edge_lines(facts["edges"], facts["partial_correlations"]),
                ("parameters", f"{facts['parameters']:,}"),
                ("held-out log-likelihood", held_out_words(facts, "held_out_log_likelihood_per_row")),
                seconds_line(facts),
                *saved_lines(facts, "edges"),
            ]
        )


class LinearLearner:
    """Finds the arcs of a Bayesian network of linear-Gaussian variables, and fits its parameters to any rows.

    Parameters
    ----------
    search : str, optional
        "hill-climb" when not said.
    **options
        As for `fishernet.learn.structure`.
    """

    endings = (".json",)

    def __init__(self, *, search: str | None, **options: Any) -> None:
        self._options: Any = {"search": search or "hill-climb", **options}
        self._found: SearchResult

    def read(self, path: Path, reading: Reading) -> NamedColumns:
        """Read columns of numbers."""
        return reading.read_numbers(path, "--score fractional")

    def find(self, rows: NamedColumns, progress: Progress) -> None:
        """Search for the arcs."""
        self._found = structure(rows.by_name(), progress=progress, **self._options)

    def fit(self, rows: NamedColumns) -> GaussianBayesianNetwork:
        """Return the network with these arcs that is most likely, given some rows."""
        network: GaussianBayesianNetwork = parameters(self._found.dag, rows.by_name())
        return network

    def facts(
        self,
        network: GaussianBayesianNetwork,
        training: NamedColumns,  # noqa: ARG002
        held_out: NamedColumns,
    ) -> dict[str, Any]:
        """Return what was found, and how well it predicts the rows held out."""
        found = self._found
        return {
            "arcs": found.dag.edges,
            "parameters": network.n_parameters,
            "score": self._options["score"],
            "score_value": found.score,
            "local_scores": found.n_scores,
            "steps": len(found.steps),
            "finished": found.finished,
            "held_out_log_likelihood_per_row": _per_row(network, held_out),
        }

    def text(self, facts: Facts) -> Iterator[str]:
        """Yield the facts as lines for people."""
        yield from aligned(
            [
                *row_lines(facts),
                *search_lines(facts),
                ("parameters", f"{facts['parameters']:,}"),
                ("held-out log-likelihood", held_out_words(facts, "held_out_log_likelihood_per_row")),
                seconds_line(facts),
                *saved_lines(facts, "arcs"),
            ]
        )


def edge_lines(edges: Iterable[tuple[str, str]], correlations: Iterable[float] = ()) -> list[Line]:
    """Return how many edges there are, then the edges, with their partial correlations where these are known."""
    named = [f"{shown(one)} - {shown(other)}" for one, other in edges]
    known = [f"partial correlation {number(r)}" for r in correlations]
    lines = aligned(list(zip(named, known, strict=True))) if known else named
    return [("edges", f"{len(named):,}"), *(("", line) for line in lines)]


def _per_row(network: GaussianMarkovNetwork | GaussianBayesianNetwork, rows: NamedColumns) -> float:
    return Likelihood.of_rows(np.asarray(network.log_prob(rows.by_name())), None).per_row
