"""What is known of a case: states of some variables, and how likely states of others make what was seen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import SchemaError, ZeroProbabilityError
from fishernet.base.names import position
from fishernet.data import Variable
from fishernet.data.given import code_of

Given = Mapping[str, Any] | None  # a state, a number for its bin, or text or a date that means one
Likelihood = Mapping[str, npt.ArrayLike] | None


@dataclass(frozen=True, slots=True)
class Evidence:
    """What is known, as the core takes it."""

    observed: list[int]
    """Positions of the variables whose states are known."""
    states: npt.NDArray[np.int32]
    """Their codes, among one number per variable; the others' are 0."""
    soft: list[int]
    """Positions of the variables with a likelihood."""
    likelihoods: list[npt.NDArray[np.float64]]
    """The likelihoods, one number per state."""

    @classmethod
    def of(cls, variables: Sequence[Variable], given: Given, likelihood: Likelihood) -> Evidence:
        """Check what a user knows against a model's variables; continuous ones cannot be evidence."""
        states = np.zeros(len(variables), dtype=np.int32)
        if given is None and likelihood is None:
            return cls([], states, [], [])
        where = {variable.name: at for at, variable in enumerate(variables)}
        given = as_mapping(given, "given")
        likelihood = as_mapping(likelihood, "likelihood")
        observed = [position(where, name) for name in given]
        for at, state in zip(observed, given.values(), strict=True):
            if variables[at].is_continuous:
                raise SchemaError(f"{variables[at].name!r} is continuous; evidence is of variables with states")
            states[at] = code_of(variables[at], state, parameter="given")
        soft = [position(where, name) for name in likelihood]
        arrays = [
            checked_likelihood(variables[at], values) for at, values in zip(soft, likelihood.values(), strict=True)
        ]
        return cls(observed, states, soft, arrays)

    @property
    def empty(self) -> bool:
        """Whether nothing is known."""
        return not self.observed and not self.soft


def impossible(given: Given) -> ZeroProbabilityError:
    """Return the error for evidence of probability zero, or for a network in which nothing is possible."""
    if not given:
        return ZeroProbabilityError(
            "every state of the variables has probability 0: a product of potentials or likelihoods is 0 everywhere",
            variable="",
            configuration={},
        )
    what = ", ".join(f"{name} = {state!r}" for name, state in (given or {}).items())
    return ZeroProbabilityError(
        f"what is given has probability 0 in this network{f' ({what})' if what else ''}; "
        "drop a part of it, or fit the network with smoothing above 0",
        variable=next(iter(given or {}), ""),
        configuration=dict(given or {}),
        parameter="smoothing",
    )


def impossible_row(row: int, target: str) -> ZeroProbabilityError:
    """Return the error for a row to predict from that has probability zero."""
    return ZeroProbabilityError(
        f"row {row} has probability 0 whatever the state of {target!r}; fit the network with smoothing above 0",
        variable=target,
        configuration={},
        parameter="smoothing",
    )


def as_mapping(value: Any, what: str) -> Mapping[str, Any]:
    """Return what is known as a mapping, an empty one for None; SchemaError when it is none."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise SchemaError(
            f"{what} must be a mapping from names of variables, not {type(value).__name__}", parameter=what
        )
    return value


def checked_likelihood(variable: Variable, values: npt.ArrayLike) -> npt.NDArray[np.float64]:
    """Return how likely each state makes what was seen, (r,); SchemaError where that is no likelihood."""
    numbers = check.numbers(values, f"the likelihood of {variable.name!r}")
    if numbers.shape != (variable.cardinality,):
        raise SchemaError(
            f"the likelihood of {variable.name!r} has shape {numbers.shape}; one number per state is needed, "
            f"({variable.cardinality},)"
        )
    if not np.isfinite(numbers).all() or (numbers < 0).any() or not (numbers > 0).any():
        raise SchemaError(
            f"the likelihood of {variable.name!r} must be finite and not negative, with a positive number among them; "
            f"got {numbers.tolist()}"
        )
    return numbers
