"""Hidden trees by enumeration of the inner nodes' states, straight from the definitions."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import strategies as st

import fishernet as fn

Floats = npt.NDArray[np.float64]
Labelling = dict[int, int]


@dataclass(frozen=True)
class Case:
    """The arguments of a hidden tree."""

    tree: list[Any]
    root: Floats
    transition: Floats
    emission: Floats
    arity: list[int] | None = None

    @property
    def n_leaves(self) -> int:
        return sum(not isinstance(item, list) for node in self.nodes() for item in node)

    @property
    def n_symbols(self) -> int:
        return int(self.emission.shape[-1])

    def model(self, **more: Any) -> fn.HiddenTree:
        return fn.HiddenTree(self.tree, self.root, self.transition, self.emission, arity=self.arity, **more)

    def nodes(self) -> list[list[Any]]:
        """The inner nodes, depth first."""

        def below(node: list[Any]) -> Iterator[list[Any]]:
            yield node
            for item in node:
                if isinstance(item, list):
                    yield from below(item)

        return list(below(self.tree))

    def strings(self) -> list[tuple[int, ...]]:
        """All strings."""
        return list(itertools.product(range(self.n_symbols), repeat=self.n_leaves))


def table(tables: Floats, position: int) -> Floats:
    return tables if tables.ndim == 2 else tables[position]


def labellings(case: Case, nodes: Sequence[list[Any]] | None = None) -> Iterator[Labelling]:
    """All states of the nodes, by the node's identity."""
    inner = case.nodes() if nodes is None else nodes
    for states in itertools.product(range(len(case.root)), repeat=len(inner)):
        yield {id(node): state for node, state in zip(inner, states, strict=True)}


def prior(case: Case, h: Labelling) -> float:
    """P(h); 0 where a node has not the arity of its state. Nodes without a label are left out."""
    p = float(case.root[h[id(case.tree)]])
    for node in case.nodes():
        if id(node) not in h:
            continue
        if case.arity is not None and case.arity[h[id(node)]] != len(node):
            return 0.0
        for j, item in enumerate(node):
            if isinstance(item, list) and id(item) in h:
                p *= float(table(case.transition, j)[h[id(node)], h[id(item)]])
    return p


def likelihood(case: Case, s: Sequence[int], h: Labelling) -> float:
    """P(s | h); what is below a node without a label is summed over its states. A symbol None is not known."""
    p = 1.0
    for node in case.nodes():
        if id(node) not in h:
            continue
        for j, item in enumerate(node):
            if not isinstance(item, list):
                p *= 1.0 if s[item] is None else float(table(case.emission, j)[h[id(node)], s[item]])
            elif id(item) not in h:
                p *= alone(case, s, item, table(case.transition, j)[h[id(node)]])
    return p


def alone(case: Case, s: Sequence[int], node: list[Any], weights: Floats) -> float:
    """The sum over the states of a node and of all below it."""
    below = Case(node, weights, case.transition, case.emission, case.arity)
    return sum(prior(below, h) * likelihood(below, s, h) for h in labellings(below))


def probability(case: Case, s: Sequence[int]) -> float:
    return sum(prior(case, h) * likelihood(case, s, h) for h in labellings(case))


def kernel(case: Case, strings: Sequence[Sequence[int]]) -> Floats:
    """The definition: sum over h of P(h) P(s | h) P(t | h)."""
    gram = np.zeros((len(strings), len(strings)))
    for h in labellings(case):
        of = np.array([likelihood(case, s, h) for s in strings])
        gram += prior(case, h) * np.outer(of, of)
    return gram


def subtrees(case: Case) -> Iterator[tuple[list[list[Any]], int, int]]:
    """The inner nodes that are left when complete subtrees are pruned; how many branches were kept and cut."""
    nodes = case.nodes()
    above = {id(item): id(node) for node in nodes for item in node if isinstance(item, list)}
    for chosen in itertools.product([False, True], repeat=len(nodes) - 1):
        left = [nodes[0], *(node for node, is_in in zip(nodes[1:], chosen, strict=True) if is_in)]
        inside = {id(node) for node in left}
        if all(above[id(node)] in inside for node in left[1:]):
            cut = sum(above[id(node)] in inside and id(node) not in inside for node in nodes[1:])
            yield left, len(left) - 1, cut


def pruned_kernel(case: Case, strings: Sequence[Sequence[int]], keep: float | None) -> Floats:
    """Remark 12.21: the same sum for every subtree, weighted."""
    gram = np.zeros((len(strings), len(strings)))
    for left, kept, cut in subtrees(case):
        weight = 1.0 if keep is None else keep**kept * (1 - keep) ** cut
        for h in labellings(case, left):
            of = np.array([likelihood(case, s, h) for s in strings])
            gram += weight * prior(case, h) * np.outer(of, of)
    return gram


def rows(*shape: int, seed: int, zeros: float = 0.0) -> Floats:
    """Random rows of probabilities; some are 0."""
    draws = np.random.default_rng(seed)
    numbers = draws.dirichlet(np.ones(shape[-1]), size=shape[:-1])
    gone = draws.random(shape) < zeros
    gone[..., 0] = False
    numbers = np.where(gone, 0.0, numbers)
    normalized: Floats = numbers / numbers.sum(axis=-1, keepdims=True)
    return normalized


def random_tree(n_leaves: int, draws: np.random.Generator) -> list[Any]:
    """Joins nodes in ones, twos and threes, some more than once by themselves."""
    open_nodes: list[Any] = [int(leaf) for leaf in draws.permutation(n_leaves)]
    while len(open_nodes) > 1:
        k = min(len(open_nodes), int(draws.choice([1, 2, 2, 3])))
        draws.shuffle(open_nodes)
        joined, open_nodes = open_nodes[:k], open_nodes[k:]
        open_nodes.append(joined)
    return open_nodes[0] if isinstance(open_nodes[0], list) else [open_nodes[0]]


@st.composite
def cases(draw: st.DrawFn, *, zeros: bool = True, most_leaves: int = 6, most_nodes: int = 7) -> Case:
    """Small trees with every kind of tables."""
    seed = draw(st.integers(0, 2**32 - 1))
    draws = np.random.default_rng(seed)
    n_leaves = draw(st.integers(1, most_leaves))
    tree = random_tree(n_leaves, draws)
    p, n_symbols = draw(st.integers(1, 3)), draw(st.integers(1, 3))
    lead: tuple[int, ...] = (3,) if draw(st.booleans()) else ()
    share = draw(st.sampled_from([0.0, 0.3])) if zeros else 0.0
    case = Case(
        tree,
        rows(p, seed=seed, zeros=share),
        rows(*lead, p, p, seed=seed + 1, zeros=share),
        rows(*lead, p, n_symbols, seed=seed + 2, zeros=share),
    )
    while len(case.nodes()) > most_nodes:
        case = Case(random_tree(n_leaves, draws), case.root, case.transition, case.emission)
    if draw(st.booleans()):
        arity = [int(draws.choice([len(node) for node in case.nodes()])) for _ in range(p)]
        with_arity = Case(case.tree, case.root, case.transition, case.emission, arity)
        if any(prior(with_arity, h) > 0 for h in labellings(with_arity)):
            return with_arity
    return case
