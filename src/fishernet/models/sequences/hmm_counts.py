"""What the trajectories of a hidden Markov model tell: expected counts and scores, the best one, and draws.

Counts and scores follow from the derivatives of the likelihood by every parameter as it stands (Shawe-Taylor and
Cristianini, 2004, section 12.2.2): a count is the derivative times the parameter, a score what is left of it when the
parameter's row is kept normalized.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.display import Brief
from fishernet.base.errors import SchemaError, StateSpaceError, ZeroProbabilityError
from fishernet.base.names import shown
from fishernet.models.sequences.alphabet import Numbers, Strings, of_symbols, with_sets

MOST_CELLS = 2**31  # of scores, 16 GiB
SUMMED = 64  # strings that the core sums to a row, at least
MOST_SUMMED = 2**25  # cells of these rows


@dataclass(frozen=True, eq=False, slots=True)
class Parameters:
    """The parameters of a hidden Markov model, as its constructor takes them."""

    initial: Numbers
    transition: Numbers
    emission: Numbers
    """Without the column of the empty symbol."""
    final: Numbers | None
    empty: Numbers | None

    def by_name(self) -> dict[str, Numbers]:
        """Return them by name, in the order of the scores' columns; the empty symbol is the last column."""
        emission = self.emission if self.empty is None else np.column_stack([self.emission, self.empty])
        parts = {"emission": emission, "transition": self.transition, "initial": self.initial}
        return parts if self.final is None else {**parts, "final": self.final}

    @property
    def n_states(self) -> int:
        """The number of hidden states."""
        return len(self.initial)

    @property
    def stop_at_once(self) -> float:
        """The probability of stopping at once, what `initial` lacks to 1 with a final state."""
        return 0.0 if self.final is None else max(0.0, 1.0 - float(self.initial.sum()))


@dataclass(frozen=True, eq=False, repr=False)
class HmmCounts(Brief):
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

    def total(self) -> HmmCounts:
        """Return the sums over the strings; the first axes stay, of length 1."""
        final = None if self.final is None else self.final.sum(axis=0, keepdims=True)
        sums = [part.sum(axis=0, keepdims=True) for part in (self.emission, self.transition, self.initial)]
        return HmmCounts(sums[0], sums[1], sums[2], final, self.log_prob.sum(keepdims=True))


def summed_counts(native: _core.HiddenMarkov, model: Parameters, strings: Strings) -> HmmCounts:
    """Return the expected counts of many strings together; first axes have length 1, but that of `log_prob`."""
    width = sum(values.size for values in model.by_name().values())
    block = max(SUMMED, math.ceil(len(strings) * width / MOST_SUMMED))
    blocks, logs = _derivatives(native, model, strings, block, transitions=True)
    sums = {name: values.sum(axis=0, keepdims=True) for name, values in blocks.items()}
    return _counts(model, sums, logs)


def counts_of_each(native: _core.HiddenMarkov, model: Parameters, strings: Strings) -> HmmCounts:
    """Return the expected counts of each string."""
    return _counts(model, *_derivatives(native, model, strings, 1, transitions=True))


def scores(native: _core.HiddenMarkov, model: Parameters, strings: Strings, wanted: Sequence[str]) -> Numbers:
    """Return the scores of each string, (n, columns), in the order of the parameters.

    With p = c psi / sum(psi) over a row the derivative by psi at p is that by p, less what the row is used: every use
    of the row is one use of one of its parameters.
    """
    blocks, _ = _derivatives(native, model, strings, 1, transitions="transition" in wanted or "final" in wanted)
    parameters = model.by_name()
    used = {name: uses(blocks[name], parameters[name]) for name in blocks}
    of_rows = {"emission": used["emission"].sum(axis=2), "initial": used["initial"].sum(axis=1)}
    if model.final is not None:
        of_rows["initial"] = np.ones(len(strings))  # of every trajectory, if only to stop at once
    if "transition" in used:
        of_rows["transition"] = used["transition"].sum(axis=2)
        if model.final is not None:
            of_rows["transition"] = of_rows["final"] = of_rows["transition"] + used["final"]
    parts = []
    for name in (name for name in parameters if name in wanted):
        of_row = of_rows[name] if name == "final" else of_rows[name][..., None]
        parts.append((blocks[name] - of_row).reshape(len(strings), parameters[name].size))
    return np.concatenate(parts, axis=1)


def _counts(model: Parameters, blocks: dict[str, Numbers], logs: Numbers) -> HmmCounts:
    parameters = model.by_name()
    found = {name: uses(values, parameters[name]) for name, values in blocks.items()}
    return HmmCounts(found["emission"], found["transition"], found["initial"], found.get("final"), logs)


def uses(derivatives: Numbers, parameters: Numbers) -> Numbers:
    """Return derivatives times parameters; 0 where the parameter is, though the derivative be infinite."""
    if np.isfinite(derivatives).all():
        return derivatives * parameters
    return np.multiply(derivatives, parameters, out=np.zeros_like(derivatives), where=parameters > 0)


def _derivatives(
    native: _core.HiddenMarkov, model: Parameters, strings: Strings, block: int, *, transitions: bool
) -> tuple[dict[str, Numbers], Numbers]:
    """Return the derivatives by each kind of parameter, first axis a block of strings; and the log-probabilities."""
    n_sets = 0 if strings.sets is None else len(strings.sets)
    shapes = {name: values.shape for name, values in model.by_name().items() if transitions or name != "transition"}
    shapes["emission"] = (model.n_states, shapes["emission"][1] + n_sets)
    cells = math.ceil(len(strings) / block) * sum(math.prod(shape) for shape in shapes.values())
    if cells > MOST_CELLS:
        raise StateSpaceError(
            "the scores",
            cells=cells,
            limit=MOST_CELLS,
            remedy="take fewer strings at once, or fewer kinds of parameters",
        )
    rows, logs = native.derivatives(strings.codes, strings.offsets, block, transitions)
    require_possible(~np.isneginf(logs))
    blocks = {}
    first = 0
    for name, shape in shapes.items():
        width = math.prod(shape)
        blocks[name] = rows[:, first : first + width].reshape(len(rows), *shape)
        first += width
    if strings.sets is not None:
        n = model.emission.shape[1] + n_sets
        by_emission = blocks["emission"]
        own = of_symbols(by_emission[..., :n], strings.sets)
        blocks["emission"] = np.concatenate([own, by_emission[..., n:]], axis=-1)
    return blocks, logs


def require_possible(possible: npt.NDArray[np.bool_], what: str = "string") -> None:
    """Raise ZeroProbabilityError when a string, or what it is called, is not possible."""
    if not possible.all():
        number = int(np.argmin(possible))
        raise ZeroProbabilityError(
            f"{what} {number} has probability 0 under the model; leave it out, or fit the model with smoothing above 0",
            variable=f"{what} {number}",
            configuration={},
            parameter="smoothing",
        )


def best_states(model: Parameters, strings: Strings) -> npt.NDArray[np.int32]:
    """Return the state of every symbol along a best trajectory of its string, strings one after the other."""
    symbols = with_sets(model.emission, strings.sets)
    with np.errstate(divide="ignore"):
        start, moves, emission = map(np.log, (model.initial, model.transition, symbols))
        end = np.zeros(model.n_states) if model.final is None else np.log(model.final)
        silent = None if model.empty is None else np.log(model.empty)
    if silent is not None:
        ways = best_ways(silent[:, None] + moves)
        end = np.maximum(end, best_product(moves, best_product(ways, silent + end)))
        start, moves = best_product(ways.T, start), np.stack([best_product(ways.T, row) for row in moves])
    states, logs = _core.hmm_best(start, np.ascontiguousarray(moves), emission, end, strings.codes, strings.offsets)
    require_possible(~np.isneginf(logs))
    return states


def best_ways(steps: Numbers) -> Numbers:
    """Return the best sum of steps on any way from a to b, 0 from a state to itself (Floyd and Warshall)."""
    ways = steps.copy()
    np.fill_diagonal(ways, 0.0)  # steps are logarithms of probabilities: no loop gains
    for via in range(len(ways)):
        np.maximum(ways, ways[:, via, None] + ways[via], out=ways)
    return ways


def best_product(matrix: Numbers, vector: Numbers) -> Numbers:
    """Return the maximum over b of ``matrix[a, b] + vector[b]``."""
    best: Numbers = (matrix + vector).max(axis=1)
    return best


Codes = npt.NDArray[np.int64]


def draw(
    model: Parameters, n: int, lengths: npt.ArrayLike | None, random: np.random.Generator
) -> list[npt.NDArray[np.int32]]:
    """Return n strings as codes; `lengths` are those of the trajectories, where there is no final state."""
    if model.final is None:
        steps = checked_lengths(lengths, n)
    else:
        if lengths is not None:
            raise SchemaError("a model with a final state draws the lengths itself; leave length out")
        _require_an_end(model)
        steps = np.full(n, np.iinfo(np.int64).max)
    none = np.zeros(model.n_states)
    starts = _cumulated(model.initial, model.stop_at_once)
    moves = _cumulated(model.transition, none if model.final is None else model.final)
    emission = _cumulated(model.emission, none if model.empty is None else model.empty)
    alive = np.flatnonzero(steps > 0)
    state = _drawn(starts[None], np.zeros(len(alive), np.int64), random)
    owners: list[Codes] = []
    symbols: list[Codes] = []
    step = 0
    while True:
        going = (state < model.n_states) & (step < steps[alive])
        alive, state = alive[going], state[going]
        if not len(alive):
            break
        symbol = _drawn(emission, state, random)
        spoken = symbol < model.emission.shape[1]
        owners.append(alive[spoken])
        symbols.append(symbol[spoken])
        state = _drawn(moves, state, random)
        step += 1
    return _sorted_out(n, owners, symbols)


def _cumulated(rows: Numbers, other: npt.ArrayLike) -> Numbers:
    """Return sums of rows up to each column.

    What rounding leaves of a row belongs to its last positive column where `other`, the probability of none of the
    columns, is 0.
    """
    positive = rows > 0
    after: npt.NDArray[np.bool_] = (
        np.flip(np.cumsum(np.flip(positive, -1), -1), -1) - positive == 0
    )  # no positive column to the right
    result: Numbers = np.where(after & (np.asarray(other) == 0)[..., None], 2.0, np.cumsum(rows, axis=-1))
    return result


def _drawn(cumulated: Numbers, rows: Codes, random: np.random.Generator) -> Codes:
    """Return a column for each row, as many as there are columns where none is drawn."""
    position = random.random(len(rows))
    if len(cumulated) == 1:
        return np.searchsorted(cumulated[0], position, side="right")
    drawn = np.empty(len(rows), np.int64)
    order = np.argsort(rows, kind="stable")
    bounds = np.searchsorted(rows[order], np.arange(len(cumulated) + 1))
    for row in np.flatnonzero(np.diff(bounds)):
        members = order[bounds[row] : bounds[row + 1]]
        drawn[members] = np.searchsorted(cumulated[row], position[members], side="right")
    return drawn


def _sorted_out(n: int, owners: list[Codes], symbols: list[Codes]) -> list[npt.NDArray[np.int32]]:
    if not owners:
        return [np.zeros(0, np.int32) for _ in range(n)]
    owner, symbol = np.concatenate(owners), np.concatenate(symbols).astype(np.int32)
    order = np.argsort(owner, kind="stable")
    ends = np.cumsum(np.bincount(owner, minlength=n))
    return np.split(symbol[order], ends[:-1])


MOST_LENGTH = 2**31 - 1  # of a string that is drawn


def checked_lengths(lengths: npt.ArrayLike | None, n: int) -> Codes:
    """Return the lengths of n strings that are to be drawn, (n,)."""
    if lengths is None:
        raise SchemaError("a model without a final state does not say how long a string is; give length")
    array = check.array(lengths, "length")
    if (
        array.dtype.kind not in "iu"
        or array.shape not in ((), (n,))
        or (array < 0).any()
        or array.max(initial=0) > MOST_LENGTH
    ):
        most = f"an integer from 0 to {MOST_LENGTH:,}, or {n} of them"
        raise SchemaError(f"length must be {most}; got {shown(lengths)}", parameter="length")
    return np.broadcast_to(array.astype(np.int64), (n,))


def _require_an_end(model: Parameters) -> None:
    """Raise when a trajectory can come to where it never stops."""
    assert model.final is not None
    moves = model.transition > 0
    met = reached(moves, model.initial > 0)
    stops = reached(moves.T, model.final > 0)
    if (met & ~stops).any():
        state = int(np.argmax(met & ~stops))
        raise SchemaError(f"a trajectory that comes to state {state} never stops; give it a way to a final state")


def reached(moves: npt.NDArray[np.bool_], start: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return which states can be reached from a set of states, that set included."""
    seen = start.copy()
    while True:
        more = seen | moves[seen].any(axis=0)
        if (more == seen).all():
            return seen
        seen = more
