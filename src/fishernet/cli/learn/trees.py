"""Classifiers and trees learned on the command line: structures that are found in one step."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from fishernet.cli.heldout.holdout import Likelihood
from fishernet.cli.inputs.tables import Reading
from fishernet.cli.learn.words import Line, held_out_words, number_or_word, row_lines, saved_lines, seconds_line
from fishernet.cli.predict import Quality
from fishernet.cli.terminal.output import Facts, aligned, number
from fishernet.cli.terminal.wording import shown
from fishernet.errors import FishernetError, ZeroProbabilityError
from fishernet.graphs import Dag
from fishernet.learn import chow_liu, kdb, naive_bayes, parameters, tan
from fishernet.models import BayesianNetwork
from fishernet.progress import Progress
from fishernet.table import Table

CLASSIFIERS: dict[str, Callable[..., Dag]] = {"naive-bayes": naive_bayes, "tan": tan, "kdb": kdb}


class TreeLearner:
    """Finds a tree over all variables, or a classifier, in one table, and fits its parameters to any.

    Parameters
    ----------
    kind : str
        "chow-liu", or one of the `CLASSIFIERS`.
    target : str, optional
        The class; every classifier needs one.
    k : int, optional
        For "kdb"; 3 when not said.
    smoothing : str, optional
        A number, "snml" or "zeros"; 1 when not said.
    ess : float, optional
    seed : int
        Not used: nothing is drawn.
    """

    endings = (".json", ".bif")

    def __init__(
        self,
        kind: str,
        *,
        smoothing: str | None,
        ess: float | None,
        seed: int,  # noqa: ARG002
        target: str | None = None,
        k: int | None = None,
    ) -> None:
        if kind in CLASSIFIERS and target is None:
            raise FishernetError(f"--model {kind} needs --target COLUMN, the class to be predicted")
        self._target = target
        self._find: Callable[[Table], Dag] = chow_liu
        if kind in CLASSIFIERS:
            self._find = partial(CLASSIFIERS[kind], target=target, **({} if k is None else {"k": k}))
        self._fit: Any = {"smoothing": 1.0 if smoothing is None else number_or_word(smoothing), "ess": ess}
        self._dag: Dag

    def read(self, path: Path, reading: Reading) -> Table:
        """Read a table of states."""
        return reading.read(path)

    def find(self, table: Table, progress: Progress) -> None:  # noqa: ARG002
        """Find the arcs; it is over before a bar could be drawn."""
        self._dag = self._find(table)

    def fit(self, table: Table) -> BayesianNetwork:
        """Return the network of these arcs, fitted to a table."""
        return parameters(self._dag, table, **self._fit)

    def facts(self, network: BayesianNetwork, training: Table, held_out: Table) -> dict[str, Any]:  # noqa: ARG002
        """Return what was found, and how well it predicts the rows held out."""
        likelihood = Likelihood.of(network, held_out)
        facts = {
            "arcs": self._dag.edges,
            "parameters": network.n_parameters,
            "held_out_log_likelihood_per_row": likelihood.per_row,
            "impossible_rows": likelihood.impossible,
        }
        if self._target is None:
            return facts
        quality = _quality(network, held_out, self._target)
        return facts | {
            "target": self._target,
            "held_out_accuracy": None if quality is None else quality.accuracy,
            "held_out_log_loss": None if quality is None else quality.log_loss,
        }

    def text(self, facts: Facts) -> Iterator[str]:
        """Yield the facts as lines for people."""
        arcs = facts["arcs"]
        yield from aligned(
            [
                *row_lines(facts),
                ("arcs", f"{len(arcs):,}"),
                *(("", f"{shown(parent)} -> {shown(child)}") for parent, child in arcs),
                ("parameters", f"{facts['parameters']:,}"),
                ("held-out log-likelihood", held_out_words(facts, "held_out_log_likelihood_per_row")),
                *_class_lines(facts),
                seconds_line(facts),
                *saved_lines(facts, "arcs"),
            ]
        )


LEARNERS: dict[str, Callable[..., TreeLearner]] = {
    kind: partial(TreeLearner, kind) for kind in (*CLASSIFIERS, "chow-liu")
}
FITTED = {"smoothing", "ess"}
TAKEN = {
    "naive-bayes": FITTED | {"target"},
    "tan": FITTED | {"target"},
    "kdb": FITTED | {"target", "k"},
    "chow-liu": FITTED,
}
NAMED = {
    "naive-bayes": "a naive Bayes classifier (--model naive-bayes)",
    "tan": "a tree-augmented classifier (--model tan)",
    "kdb": "a k-dependence classifier (--model kdb)",
    "chow-liu": "a tree (--model chow-liu)",
}


def _quality(network: BayesianNetwork, rows: Table, target: str) -> Quality | None:
    """Return how well the class is predicted; None without rows, or where one is impossible whatever its class."""
    try:
        return Quality.of(network.predict_proba(rows, target), rows.column(target), rows.weights)
    except ZeroProbabilityError:
        return None


def _class_lines(facts: Facts) -> list[Line]:
    """Return how well the class is predicted in the rows held out."""
    if facts.get("held_out_accuracy") is None:
        return []
    told = f"accuracy {facts['held_out_accuracy']:.4f}, log-loss {number(facts['held_out_log_loss'])} nats a row"
    return [(f"held-out {shown(facts['target'])}", told)]
