"""Fisher scores and the Fisher information of a Bayesian network (P1, section 4.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.errors import StateSpaceError, ZeroProbabilityError
from fishernet.models.conditionals.conditional import Conditional, Probabilities, describe_group
from fishernet.table import Table

MOST_SCORES = 2**31


def scores_of_rows(conditionals: Sequence[Conditional], table: Table, n_parameters: int) -> npt.NDArray[np.float64]:
    """Return the scores of every row, (n_rows, n_parameters); see `BayesianNetwork.fisher_scores`."""
    cells = table.n_rows * n_parameters
    if cells > MOST_SCORES:
        raise StateSpaceError("the scores", cells=cells, limit=MOST_SCORES, remedy="take the rows in parts")
    scores = np.zeros((table.n_rows, n_parameters))
    first = 0
    for conditional in conditionals:
        groups, states = conditional.probabilities.shape
        width = groups * (states - 1)
        fill_scores(conditional, table, scores[:, first : first + width].reshape(table.n_rows, groups, states - 1))
        first += width
    return scores


def fill_scores(conditional: Conditional, table: Table, out: npt.NDArray[np.float64]) -> None:
    """Fill the scores of one conditional, (n_rows, groups, r - 1): Eq. 8, which has one or r - 1 entries a row."""
    group = conditional.groups(table)
    state = table.codes[conditional.child].astype(np.int64)
    theta = conditional.probabilities[group, state]
    if (theta == 0).any():
        row = int(np.argmax(theta == 0))
        raise zero_probability(conditional, int(group[row]), int(state[row]), f"row {row} has")
    last = state == conditional.probabilities.shape[1] - 1
    rows = np.arange(table.n_rows)
    out[rows[~last], group[~last], state[~last]] = 1 / theta[~last]
    out[rows[last], group[last]] = -1 / theta[last, None]


def zero_probability(conditional: Conditional, group: int, state: int, who: str) -> ZeroProbabilityError:
    """Return the error for a state of probability zero in a group."""
    child = conditional.variables[-1]
    configuration = describe_group(conditional, group)
    given = ", ".join(f"{name} = {label!r}" for name, label in configuration.items())
    return ZeroProbabilityError(
        f"{who} {child.name} = {child.states[state]!r}{' given ' if given else ''}{given}, which has probability 0; "
        "fit the network with smoothing > 0",
        variable=child.name,
        configuration=configuration,
        state=child.states[state],
    )


def information_blocks(
    conditionals: Sequence[Conditional], group_probabilities: Sequence[Probabilities]
) -> list[npt.NDArray[np.float64]]:
    """Return the blocks of the information, one (groups, r - 1, r - 1) array a variable (Eq. 9)."""
    blocks: list[npt.NDArray[np.float64]] = []
    for conditional, p in zip(conditionals, group_probabilities, strict=True):
        theta = conditional.probabilities
        zero: npt.NDArray[Any] = np.argwhere((theta == 0) & (p[:, None] > 0))
        if len(zero):
            raise zero_probability(
                conditional, int(zero[0, 0]), int(zero[0, 1]), "the information divides by the probability of"
            )
        safe = np.where(theta > 0, theta, 1.0)  # of groups that never occur: their blocks are zero anyway
        diagonal = np.eye(theta.shape[1] - 1) / safe[:, :-1, None]
        blocks.append(p[:, None, None] * (diagonal + 1 / safe[:, -1, None, None]))
    return blocks
