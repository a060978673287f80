"""The first part of the demo: a network learned from one half of a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from fishernet.cli.heldout.holdout import Likelihood, hold_out
from fishernet.cli.terminal.output import Facts
from fishernet.cli.terminal.stopwatch import Stopwatch
from fishernet.learn import parameters, structure
from fishernet.learn.search import SearchResult
from fishernet.models import BayesianNetwork
from fishernet.table import Table

SHARE, SEED = 0.5, 0


@dataclass(frozen=True)
class LearnedHalf:
    """A network learned from one half of a table, and the other half.

    Attributes
    ----------
    training, held_out : Table
    found : SearchResult
    network : BayesianNetwork
    likelihood : Likelihood
        Of the rows held out.
    seconds : dict from str to float
        How long each step took.
    """

    training: Table
    held_out: Table
    found: SearchResult
    network: BayesianNetwork
    likelihood: Likelihood
    seconds: dict[str, float]

    def facts(self) -> Facts:
        """Return what was learned, how well it predicts the other half, and how long that took."""
        return {
            "rows": self.training.n_rows + self.held_out.n_rows,
            "training_rows": self.training.n_rows,
            "variables": len(self.training.variables),
            "arcs": [list(edge) for edge in self.found.dag.edges],
            "bic": self.found.score,
            "local_scores": self.found.n_scores,
            "held_out_log_likelihood_per_row": self.likelihood.per_row,
            "seconds": self.seconds,
        }


def learn_half(read: Callable[[], Table]) -> LearnedHalf:
    """Learn from one half of a table, and predict the other."""
    watch = Stopwatch()
    with watch.time("load"):
        table = read()
        training, held_out = hold_out(table, SHARE, SEED)
    with watch.time("learn"):
        found = structure(training)
    with watch.time("fit"):
        network = parameters(found.dag, training)
    with watch.time("score"):
        likelihood = Likelihood.of(network, held_out)
    return LearnedHalf(training, held_out, found, network, likelihood, watch.seconds)
