"""How often the trajectories of a string are expected to use each parameter of a hidden Markov model, and its scores.

Both follow from the derivatives of the likelihood by every parameter as it stands (P3, 12.2.2): a count is the
derivative times the parameter, a score what is left of it when the parameter's row is kept normalized.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fishernet.errors import StateSpaceError, ZeroProbabilityError
from fishernet.models.sequences.checks import Numbers

if TYPE_CHECKING:
    from fishernet.models.sequences.alphabet import Strings
    from fishernet.models.sequences.hidden_markov_model import HiddenMarkovModel

MOST_CELLS = 2**31  # of scores, 16 GiB
SUMMED = 64  # strings that the core sums to a row, at least
MOST_SUMMED = 2**25  # cells of these rows


@dataclass(frozen=True, eq=False)
class ExpectedCounts:
    """Expected uses of the parameters, given each string.

    Attributes
    ----------
    emission : (n, n_states, n_symbols) float64
        With the empty symbol one column more.
    transition : (n, n_states, n_states) float64
        From, to.
    initial : (n, n_states) float64
    final : (n, n_states) float64 or None
        Where the trajectories stop; None without a final state.
    log_prob : (n,) float64
        The log-probability of each string.
    """

    emission: Numbers
    transition: Numbers
    initial: Numbers
    final: Numbers | None
    log_prob: Numbers

    def total(self) -> ExpectedCounts:
        """Return the sums over the strings; the first axes stay, of length 1."""
        final = None if self.final is None else self.final.sum(axis=0, keepdims=True)
        sums = [part.sum(axis=0, keepdims=True) for part in (self.emission, self.transition, self.initial)]
        return ExpectedCounts(sums[0], sums[1], sums[2], final, self.log_prob.sum(keepdims=True))


def parameters_of(model: HiddenMarkovModel) -> dict[str, Numbers]:
    """Return the parameters by name, in the order of the scores' columns."""
    emission = model.emission if model.empty is None else np.column_stack([model.emission, model.empty])
    parts = {"emission": emission, "transition": model.transition, "initial": model.initial}
    return parts if model.final is None else {**parts, "final": model.final}


def summed_counts(model: HiddenMarkovModel, strings: Strings) -> ExpectedCounts:
    """Return the expected counts of many strings together; first axes have length 1, but that of `log_prob`."""
    width = sum(values.size for values in parameters_of(model).values())
    block = max(SUMMED, math.ceil(len(strings) * width / MOST_SUMMED))
    blocks, logs = _derivatives(model, strings, block, transitions=True)
    sums = {name: values.sum(axis=0, keepdims=True) for name, values in blocks.items()}
    return _counts(model, sums, logs)


def counts_of_each(model: HiddenMarkovModel, strings: Strings) -> ExpectedCounts:
    """Return the expected counts of each string."""
    return _counts(model, *_derivatives(model, strings, 1, transitions=True))


def scores(model: HiddenMarkovModel, strings: Strings, wanted: Sequence[str]) -> Numbers:
    """Return the scores of each string, (n, columns), in the order of the parameters.

    With p = c psi / sum(psi) over a row the derivative by psi at p is that by p, less what the row is used (ERRATA of
    P3, 18 to 20): every use of the row is one use of one of its parameters.
    """
    blocks, _ = _derivatives(model, strings, 1, transitions="transition" in wanted or "final" in wanted)
    parameters = parameters_of(model)
    used = {name: _uses(blocks[name], parameters[name]) for name in blocks}
    uses = {"emission": used["emission"].sum(axis=2), "initial": used["initial"].sum(axis=1)}
    if model.final is not None:
        uses["initial"] = np.ones(len(strings))  # of every trajectory, if only to stop at once
    if "transition" in used:
        uses["transition"] = used["transition"].sum(axis=2)
        if model.final is not None:
            uses["transition"] = uses["final"] = uses["transition"] + used["final"]
    parts = []
    for name in (name for name in parameters if name in wanted):
        of_row = uses[name] if name == "final" else uses[name][..., None]
        parts.append((blocks[name] - of_row).reshape(len(strings), parameters[name].size))
    return np.concatenate(parts, axis=1)


def _counts(model: HiddenMarkovModel, blocks: dict[str, Numbers], logs: Numbers) -> ExpectedCounts:
    parameters = parameters_of(model)
    uses = {name: _uses(values, parameters[name]) for name, values in blocks.items()}
    return ExpectedCounts(uses["emission"], uses["transition"], uses["initial"], uses.get("final"), logs)


def _uses(derivatives: Numbers, parameters: Numbers) -> Numbers:
    """Return derivatives times parameters; 0 where the parameter is, though the derivative be infinite."""
    if np.isfinite(derivatives).all():
        return derivatives * parameters
    return np.multiply(derivatives, parameters, out=np.zeros_like(derivatives), where=parameters > 0)


def _derivatives(
    model: HiddenMarkovModel, strings: Strings, block: int, *, transitions: bool
) -> tuple[dict[str, Numbers], Numbers]:
    """Return the derivatives by each kind of parameter, first axis a block of strings; and the log-probabilities."""
    shapes = {
        name: values.shape for name, values in parameters_of(model).items() if transitions or name != "transition"
    }
    cells = math.ceil(len(strings) / block) * sum(math.prod(shape) for shape in shapes.values())
    if cells > MOST_CELLS:
        raise StateSpaceError(
            "the scores",
            cells=cells,
            limit=MOST_CELLS,
            remedy="take fewer strings at once, or fewer kinds of parameters",
        )
    rows, logs = model.native.derivatives(strings.codes, strings.offsets, block, transitions)
    require_possible(logs)
    blocks = {}
    first = 0
    for name, shape in shapes.items():
        width = math.prod(shape)
        blocks[name] = rows[:, first : first + width].reshape(len(rows), *shape)
        first += width
    return blocks, logs


def require_possible(logs: Numbers) -> None:
    """Raise ZeroProbabilityError when a string is impossible."""
    if np.isneginf(logs).any():
        number = int(np.argmax(np.isneginf(logs)))
        raise ZeroProbabilityError(
            f"string {number} has probability 0 under the model, which has no trajectories to look at; leave it out, "
            "or fit the model with smoothing > 0",
            variable=f"string {number}",
            configuration={},
        )
