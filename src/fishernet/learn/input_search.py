"""Choosing the inputs of every variable by itself (P2, section 4.2): greedy (Algorithm 6) or tabu search.

From no inputs, every variable takes the best of all single additions and removals while that raises its score. All
variables move side by side: the search wants the candidates of all that are not finished in one call. A tie is a
difference below max(1e-9, 1e-12 |score|) nats; ties go to additions before removals, then to the first candidate in
the order of the variables.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from fishernet.scores import Families

Array = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int32]


@dataclass(slots=True)
class Node:
    """Where the search of one variable is."""

    variable: int
    inputs: tuple[int, ...] = ()
    score: float = float("nan")
    best_inputs: tuple[int, ...] = ()
    best_score: float = float("-inf")
    candidates: Positions = field(default_factory=lambda: np.zeros(0, np.int32))
    """The variables whose addition or removal was asked for, in the order of the ties."""
    forbidden_until: dict[int, int] = field(default_factory=dict)
    """Tabu: the step before which a variable must not be toggled again."""
    idle: int = 0
    """Steps since the best score was bettered."""
    finished: bool = False


class InputSearch:
    """The searches of all variables, which never touch data.

    Parameters
    ----------
    n_variables : int
    max_inputs : int, optional
        At most this many inputs a variable.
    patience : int
        How many steps in a row may fail to better the best inputs: 0 is Algorithm 6, more is tabu search.
    tenure : int
        For how many steps a variable that was added or removed stays as it is.
    last_step : bool
        End with the whole rest as inputs where that scores higher (P2, 4.3).
    """

    def __init__(
        self, n_variables: int, *, max_inputs: int | None, patience: int = 0, tenure: int = 0, last_step: bool = False
    ) -> None:
        self._n = n_variables
        self._most = n_variables - 1 if max_inputs is None else min(max_inputs, n_variables - 1)
        self._patience, self._tenure = patience, tenure
        self._nodes = [Node(v) for v in range(n_variables)]
        self._begun = False
        self._last_step = last_step and self._most == n_variables - 1
        self.steps = 0
        self.n_candidates = 0

    @property
    def inputs(self) -> tuple[tuple[int, ...], ...]:
        """The best inputs of every variable so far, ascending."""
        return tuple(node.best_inputs for node in self._nodes)

    @property
    def scores(self) -> Array:
        """Their local scores."""
        return np.array([node.best_score for node in self._nodes])

    def wanted(self) -> Families:
        """Return the families whose scores are needed before the next step; empty when the search is finished."""
        if not self._begun:
            families = Families.from_pairs((v, ()) for v in range(self._n))
        elif any(not node.finished for node in self._nodes):
            families = _joined([self._candidates(node) for node in self._nodes if not node.finished])
        elif self._last_step:
            families = Families.from_pairs((v, [u for u in range(self._n) if u != v]) for v in range(self._n))
        else:
            return Families.from_pairs(())
        self.n_candidates += len(families)
        return families

    def tell(self, scores: Array) -> None:
        """Take the scores of the wanted families, (n_families,), and move every variable."""
        if not self._begun:
            self._begun = True
            for node, score in zip(self._nodes, scores.tolist(), strict=True):
                node.score = node.best_score = score
                node.finished = self._most <= 0
            return
        self.steps += 1
        open_nodes = [node for node in self._nodes if not node.finished]
        if not open_nodes:
            self._last_step = False
            for node, score in zip(self._nodes, scores.tolist(), strict=True):
                if score > node.best_score + _tie(score, node.best_score):
                    node.best_score = score
                    node.best_inputs = tuple(u for u in range(self._n) if u != node.variable)
            return
        first = 0
        for node in open_nodes:
            last = first + len(node.candidates)
            self._move(node, scores[first:last])
            first = last

    def _candidates(self, node: Node) -> Families:
        """Return the families that toggling one variable makes: additions, then removals."""
        inputs = np.array(node.inputs, dtype=np.int32)
        taken = np.zeros(self._n, dtype=bool)
        taken[inputs] = True
        taken[node.variable] = True
        added = np.flatnonzero(~taken).astype(np.int32) if len(inputs) < self._most else np.zeros(0, np.int32)
        node.candidates = np.concatenate([added, inputs])
        longer = np.sort(np.column_stack([np.tile(inputs, (len(added), 1)), added]), axis=1)
        shorter = [np.delete(inputs, i) for i in range(len(inputs))]
        sizes = np.concatenate([np.full(len(added), len(inputs) + 1), np.full(len(inputs), len(inputs) - 1)])
        return Families(
            np.full(len(node.candidates), node.variable, dtype=np.int32),
            np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
            np.concatenate([longer.ravel(), *shorter]).astype(np.int32),
        )

    def _move(self, node: Node, scores: Array) -> None:
        allowed = scores
        if node.forbidden_until:
            barred = np.array([node.forbidden_until.get(int(c), 0) > self.steps for c in node.candidates])
            barred &= scores <= node.best_score + _tie(0.0, node.best_score)  # what is better than ever is free
            allowed = np.where(barred, -np.inf, scores)
        if not len(allowed) or np.isneginf(top := float(allowed.max())):
            node.finished = True
            return
        best = int(np.argmax(allowed >= top - _tie(top, node.score)))  # the first of those that tie
        score = float(scores[best])
        improves = score > node.score + _tie(score, node.score)
        if not improves and not self._patience:
            node.finished = True
            return
        toggled = int(node.candidates[best])
        node.inputs = tuple(sorted(set(node.inputs) ^ {toggled}))
        node.score = score
        node.forbidden_until[toggled] = self.steps + 1 + self._tenure
        if score > node.best_score + _tie(score, node.best_score):
            node.best_inputs, node.best_score, node.idle = node.inputs, score, 0
        else:
            node.idle += 1
        node.finished = self._patience > 0 and node.idle >= self._patience


def _tie(a: float, b: float) -> float:
    return max(1e-9, 1e-12 * max(abs(a), abs(b)))


def _joined(parts: list[Families]) -> Families:
    """Return lists of families one after the other."""
    ends = np.cumsum([0, *(len(part.parents) for part in parts)])
    offsets = [part.offsets[:-1] + end for part, end in zip(parts, ends[:-1], strict=True)]
    return Families(
        np.concatenate([part.children for part in parts]),
        np.concatenate([*offsets, ends[-1:]]).astype(np.int64),
        np.concatenate([part.parents for part in parts]),
    )
