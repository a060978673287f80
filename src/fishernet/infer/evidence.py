"""What is known of a case: states of some variables, and how likely states of others make what was seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FishernetError, SchemaError, ZeroProbabilityError
from fishernet.base.names import positions
from fishernet.data import Variable
from fishernet.data.variable import State, code_of
from fishernet.models import BayesianNetwork, MarkovNetwork

Given = Mapping[str, State] | None
MOST_CELLS = 2**31 - 1  # what the core can number

Likelihood = Mapping[str, npt.ArrayLike] | None


@dataclass(frozen=True, slots=True)
class Findings:
    """What is known, as the core takes it."""

    observed: list[int]
    """Positions of the variables whose states are known."""
    states: npt.NDArray[np.int32]
    """Their codes, among one number a variable; the others' are 0."""
    soft: list[int]
    """Positions of the variables with a likelihood."""
    likelihoods: list[npt.NDArray[np.float64]]
    """The likelihoods, one number a state."""

    @classmethod
    def of(cls, variables: Sequence[Variable], given: Given, likelihood: Likelihood) -> Findings:
        """Check what a user knows against a model's variables.

        Raises
        ------
        SchemaError
            When a name is not a variable's, or a likelihood is not one non-negative number a state.
        UnknownStateError
            When a state is not one of the variable's.
        """
        names = [variable.name for variable in variables]
        given = _as_mapping(given, "given")
        likelihood = _as_mapping(likelihood, "likelihood")
        observed = list(positions(names, given))
        states = np.zeros(len(names), dtype=np.int32)
        for position, state in zip(observed, given.values(), strict=True):
            states[position] = code_of(variables[position], state)
        soft = list(positions(names, likelihood))
        arrays = [
            _checked_likelihood(variables[position], values)
            for position, values in zip(soft, likelihood.values(), strict=True)
        ]
        return cls(observed, states, soft, arrays)

    @property
    def empty(self) -> bool:
        """Whether nothing is known."""
        return not self.observed and not self.soft


Model = BayesianNetwork | MarkovNetwork


def model_of(model: object) -> Model:
    """Return a model that is a product of factors.

    Raises
    ------
    SchemaError
        When it is none.
    """
    if not isinstance(model, BayesianNetwork | MarkovNetwork):
        raise SchemaError(
            f"exact inference needs a BayesianNetwork or a MarkovNetwork, not {type(model).__name__}; "
            "a DependencyNetwork has fn.infer.stationary, or samples"
        )
    return model


def families_of(model: Model) -> list[tuple[int, ...]]:
    """Return the positions of every conditional's parents and child, or of every factor."""
    if isinstance(model, MarkovNetwork):
        return [axes for axes, _ in model.scopes]
    return [(*c.parents, c.child) for c in model.conditionals]


def network_of(model: object) -> BayesianNetwork:
    """Return a model as a Bayesian network.

    Raises
    ------
    SchemaError
        When it is none.
    """
    if not isinstance(model, BayesianNetwork):
        raise SchemaError(f"a BayesianNetwork is needed, not {type(model).__name__}")
    return model


def impossible(given: Given) -> ZeroProbabilityError:
    """Return the error for findings of probability zero."""
    what = ", ".join(f"{name} = {state!r}" for name, state in (given or {}).items())
    return ZeroProbabilityError(
        f"what is given has probability 0 in this network{f' ({what})' if what else ''}; "
        "drop a part of it, or fit the network with smoothing above 0",
        variable=next(iter(given or {}), ""),
        configuration=dict(given or {}),
        parameter="smoothing",
    )


def checked_limit(max_table: object) -> int:
    """Return a limit of cells.

    Raises
    ------
    FishernetError
        When it is not a positive integer.
    """
    if isinstance(max_table, bool) or not isinstance(max_table, int | np.integer) or max_table < 1:
        message = f"max_table must be a positive integer (a number of cells), got {max_table!r}"
        raise FishernetError(message, parameter="max_table")
    return min(int(max_table), MOST_CELLS)


def _as_mapping(value: Any, what: str) -> Mapping[str, Any]:
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise SchemaError(f"{what} must be a mapping from names of variables, not {type(value).__name__}")
    return value


def _checked_likelihood(variable: Variable, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    numbers = np.array(values, dtype=np.float64)
    if numbers.shape != (variable.cardinality,):
        raise SchemaError(
            f"the likelihood of {variable.name!r} has shape {numbers.shape}; one number a state is needed, "
            f"({variable.cardinality},)"
        )
    if not np.isfinite(numbers).all() or (numbers < 0).any() or not (numbers > 0).any():
        raise SchemaError(
            f"the likelihood of {variable.name!r} must be finite and not negative, with a positive number among them; "
            f"got {numbers.tolist()}"
        )
    return numbers
