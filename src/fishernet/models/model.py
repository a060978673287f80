"""What the rest of the library knows of a model.

Pictures, reports, files, comparisons and the command line ask a model these few things, and never of which class it is.
A model of your own is a class that answers them; it inherits nothing. How much it can do follows from what it says:

- ``likelihood == "exact"``: it is a `LikelihoodModel`, which kernels, selections and tests take;
- ``inference``: what `fishernet.infer` asks of it besides;
- ``conditionals``: one per variable, of a network that is made of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.random import Seed
from fishernet.base.value import Value
from fishernet.data import Column, Table, as_table
from fishernet.graphs import Graph
from fishernet.infer.factors import Inference
from fishernet.models.conditionals.base import ROUNDING, Conditional

Values = Literal["states", "numbers", "mixed", "symbols"]
Likelihood = Literal["exact", "pseudo", "none"]


class Model(Protocol):
    """A model of rows, numbers or strings."""

    @property
    def kind(self) -> str:
        """What people call it: "Bayesian network"."""

    @property
    def variables(self) -> Sequence[Column]:
        """The columns of the tables that it takes; empty where it takes strings or plain numbers."""

    @property
    def graph(self) -> Graph | None:
        """What joins its variables, in their order; None where it has no variables."""

    @property
    def values(self) -> Values:
        """What its data consist of: states or numbers in the cells of a table, both, or symbols in strings."""

    @property
    def likelihood(self) -> Likelihood:
        """What it has: "exact", `log_prob` and its derivatives; "pseudo", a pseudo-likelihood; "none", neither."""

    @property
    def inference(self) -> Inference:
        """How `fishernet.infer` answers questions to it: "factors", "normal", "samples", or "none" of these."""

    @property
    def conditionals(self) -> Sequence[Conditional]:
        """One per variable, of a network that is made of them; otherwise empty."""


class LikelihoodModel(Model, Protocol):
    """A model that says how probable data are: one whose `likelihood` is "exact"."""

    def log_prob(self, data: Any, /) -> npt.NDArray[np.float64]:
        """Return the log-probability or log-density of each row, number or string, (n,), in nats."""

    def fisher_scores(self, data: Any, /) -> npt.NDArray[np.float64]:
        """Return its derivatives by the parameters, (n, n_parameters)."""

    def fisher_information(self) -> npt.NDArray[np.float64] | list[npt.NDArray[np.float64]]:
        """Return the expected product of the scores, (n_parameters, n_parameters), or a list of its diagonal blocks.

        StateSpaceError where it would be too large; it is then estimated from rows that the model draws.
        """

    def sample(self, n: int, *, seed: Seed = None) -> Any:
        """Draw n rows, numbers or strings, as `log_prob` takes them."""


class WithoutVariables(Value):
    """A model of strings or plain numbers: what such models answer alike."""

    __slots__ = ()

    variables: ClassVar[tuple[Column, ...]] = ()
    """None: its data are no tables."""
    graph: ClassVar[None] = None
    """None: it has no variables."""
    likelihood: ClassVar[Literal["exact"]] = "exact"
    """Its likelihood is exact."""
    inference: ClassVar[Literal["none"]] = "none"
    """`fishernet.infer` asks about variables, and it has none."""
    conditionals: ClassVar[tuple[Conditional, ...]] = ()
    """None: it has no variables."""


def rows_fitted_to(n_rows: float | None, parameter: str = "n_rows") -> int | float | None:
    """Return the rows that a model was fitted to, whole where they are; None where its parameters are known."""
    rows = None if n_rows is None else check.number(n_rows, parameter, least=0)
    return int(rows) if rows is not None and rows.is_integer() else rows


def rows_complete(n_rows: float | None, n_complete: float | None) -> int | float | None:
    """Return how many of the rows fitted to are complete where fewest are: all of them, unless one says less."""
    complete, rows = rows_fitted_to(n_complete, "n_complete"), rows_fitted_to(n_rows)
    return rows if complete is None or rows is None or complete > rows * (1 - ROUNDING) else complete


def fitted_rows(n_rows: float | None, n_complete: float | None) -> dict[str, Any]:
    """Return the rows that a model was fitted to, and those that are complete where these are less, by name."""
    return {"n_rows": n_rows} | ({} if n_complete == n_rows else {"n_complete": n_complete})


def rows_of(variables: Sequence[Column], data: Any, *, complete_for: str | None = None) -> Table:
    """Return data as a table of a model's variables; `complete_for` says what needs complete rows, if anything does."""
    return as_table(data, variables, complete_for=complete_for)


def is_directed(model: Model) -> bool:
    """Return whether a model is a Bayesian network: a product of conditionals that is its exact likelihood."""
    return bool(model.conditionals) and model.likelihood == "exact"
