"""What a Fisher kernel knows of a model: any that has a likelihood and its derivatives, the library's or a user's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from fishernet.base.errors import SchemaError
from fishernet.data import Table
from fishernet.kernels.features import Features, Matrix
from fishernet.kernels.rows import Rows, plain_rows
from fishernet.models import BayesianNetwork

ASKED = (
    "log_prob",
    "pseudo_log_likelihood",
    "fisher_scores",
    "fisher_information",
    "sample",
    "names",
    "conditionals",
    "runs_in_core",
    "rows",
)


class ScoredConditional(Protocol):
    """A conditional whose parameters have scores."""

    n_parameters: int


class ScoredModel:
    """A model, asked once for all that a Fisher kernel may use of it.

    Attributes
    ----------
    model : Any
    kind : str
        What its class is called.
    tables : BayesianNetwork or None
        The network, where the core looks its tables up.
    names : tuple of str
        The variables of a network; of others there are none.
    conditionals : sequence of conditionals
        Likewise.
    fisher_scores, fisher_information, sample : callable
        As of the model; the last two are None where it has none.
    """

    def __init__(self, model: Any) -> None:
        own = {name: getattr(model, name, None) for name in ASKED}
        self.model = model
        self.kind = type(model).__name__
        if own["pseudo_log_likelihood"] is not None:
            raise SchemaError(
                "a Fisher kernel needs a likelihood in closed form; the distribution of a dependency network is where "
                "sampling ends, and has none: learn a BayesianNetwork"
            )
        if own["log_prob"] is None or own["fisher_scores"] is None:
            raise SchemaError(
                f"a Fisher kernel needs a model with a likelihood and scores (log_prob, fisher_scores), such as a "
                f"BayesianNetwork or a HiddenMarkovModel; got {self.kind}"
            )
        if own["names"] is not None and not own["names"]:
            raise SchemaError("a Fisher kernel needs a network with variables; this one has none")
        self.tables: BayesianNetwork | None = model if own["runs_in_core"] else None
        self.names: tuple[str, ...] = tuple(own["names"] or ())
        self.conditionals: Sequence[ScoredConditional] = own["conditionals"] or ()
        self.fisher_scores: Callable[..., Features] = own["fisher_scores"]
        self.fisher_information: Callable[..., Matrix | list[Matrix]] | None = own["fisher_information"]
        self.sample: Callable[..., Rows] | None = own["sample"]
        self._rows: Callable[..., Table] | None = own["rows"]

    def rows(self, X: Any) -> Rows:
        """Return data as rows of the model: of a network a table of its variables, in which no cell is missing."""
        return plain_rows(X) if self._rows is None else self._rows(X, complete_for="a Fisher kernel")
