"""A Bayesian network learned on the command line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fishernet.cli.heldout.holdout import Likelihood
from fishernet.cli.inputs.tables import Reading
from fishernet.cli.learn.words import Line, held_out_words, number_or_word, row_lines, saved_lines, seconds_line
from fishernet.cli.terminal.output import Facts, aligned, number
from fishernet.cli.terminal.wording import shown
from fishernet.learn import SearchResult, parameters, structure
from fishernet.models import BayesianNetwork
from fishernet.progress import Progress
from fishernet.table import Table


class BayesianLearner:
    """Finds the arcs of a Bayesian network in one table, and fits its parameters to any.

    Parameters
    ----------
    smoothing : str, optional
        A number, "snml" or "zeros"; 1 when not said.
    ess : float, optional
    search : str, optional
        "hill-climb" when not said.
    **options
        As for `fishernet.learn.structure`.
    """

    endings = (".json", ".bif")

    def __init__(
        self, *, smoothing: str | None, ess: float | None, search: str | None, score: str, **options: Any
    ) -> None:
        self._fit: Any = {"smoothing": 1.0 if smoothing is None else number_or_word(smoothing), "ess": ess}
        self._options: Any = {"score": score, "search": search or "hill-climb", **options}
        self._found: SearchResult

    def read(self, path: Path, reading: Reading) -> Table:
        """Read a table of states."""
        return reading.read(path)

    def find(self, table: Table, progress: Progress) -> None:
        """Search for the arcs."""
        self._found = structure(table, progress=progress, **self._options)

    def fit(self, table: Table) -> BayesianNetwork:
        """Return the network of these arcs, fitted to a table."""
        return parameters(self._found.dag, table, **self._fit)

    def facts(self, network: BayesianNetwork, training: Table, held_out: Table) -> dict[str, Any]:  # noqa: ARG002
        """Return what was found, and how well it predicts the rows held out."""
        found, likelihood = self._found, Likelihood.of(network, held_out)
        return {
            "arcs": found.dag.edges,
            "parameters": network.n_parameters,
            "score": self._options["score"],
            "score_value": found.score,
            "local_scores": found.n_scores,
            "steps": len(found.steps),
            "finished": found.finished,
            "held_out_log_likelihood_per_row": likelihood.per_row,
            "impossible_rows": likelihood.impossible,
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


def search_lines(facts: Facts) -> list[Line]:
    """Return the arcs that were found, their score, and what it took."""
    arcs = facts["arcs"]
    return [
        ("arcs", f"{len(arcs):,}"),
        *(("", f"{shown(parent)} -> {shown(child)}") for parent, child in arcs),
        (f"{facts['score']} score", f"{number(facts['score_value'])} on the rows to learn from"),
        ("search", f"{facts['steps']:,} steps, {facts['local_scores']:,} distinct local scores{_end(facts)}"),
    ]


def _end(facts: Facts) -> str:
    return "" if facts["finished"] else "; stopped by --max-seconds, this is the best so far"
