"""What a Fisher kernel knows of a model: any that has a likelihood and its derivatives, the library's or a user's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from fishernet.base.errors import SchemaError
from fishernet.base.names import a
from fishernet.kernels.features import Features, Matrix
from fishernet.kernels.rows import Rows, plain_rows
from fishernet.models import BayesianNetwork, Conditional, LikelihoodModel, Model
from fishernet.models.model import rows_of

OF_COMPLETE_ROWS = "a Fisher kernel, unlike fn.kernels.HiddenVariableKernel(net),"


class ScoredModel:
    """A model, asked once for all that a Fisher kernel may use of it.

    Attributes
    ----------
    model : Model
    kind : str
        What it is called.
    tables : BayesianNetwork or None
        The network, where the core looks its tables up.
    mixed : BayesianNetwork or None
        The network, where it has labels and numbers.
    names : tuple of str
        The variables of a network; of others there are none.
    conditionals : sequence of conditionals
        Likewise.
    fisher_scores, fisher_information, sample : callable
        As of the model.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.kind: str = model.kind
        if model.likelihood == "pseudo":
            raise SchemaError(
                "a Fisher kernel needs a likelihood in closed form; the distribution of a dependency network is where "
                "sampling ends, and has none: learn a BayesianNetwork"
            )
        if model.likelihood == "none":
            raise SchemaError(
                f"a Fisher kernel needs a model with a likelihood and scores (log_prob, fisher_scores), such as a "
                f"BayesianNetwork or a HiddenMarkovModel; got {a(self.kind)}"
            )
        if model.graph is not None and not model.variables:
            raise SchemaError("a Fisher kernel needs a network with variables; this one has none")
        exact = cast(LikelihoodModel, model)
        self.tables: BayesianNetwork | None = None
        if model.inference == "factors":
            network = cast(BayesianNetwork, model)
            self.tables = network if network.runs_in_core else None
        self.mixed: BayesianNetwork | None = cast(BayesianNetwork, model) if model.inference == "mixed" else None
        self.names: tuple[str, ...] = tuple(variable.name for variable in model.variables)
        self.conditionals: Sequence[Conditional] = model.conditionals
        self.fisher_scores: Callable[..., Features] = exact.fisher_scores
        self.fisher_information: Callable[..., Matrix | list[Matrix]] = exact.fisher_information
        self.sample: Callable[..., Rows] = exact.sample

    def rows(self, X: Any) -> Rows:
        """Return data as rows of the model: of a network a table of its variables, in which no state is missing."""
        if not self.model.variables:
            return plain_rows(X)
        complete_for = None if self.model.inference == "normal" else OF_COMPLETE_ROWS
        return rows_of(self.model.variables, X, complete_for=complete_for)
