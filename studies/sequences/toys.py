"""Seeded toys: mutants of four DNA strings, and genes that were gained once in a tree."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

import fishernet as fn
from fishernet.kernels import HiddenTreeKernel
from fishernet.models import NamedTree
from studies.sequences import strings as kernels
from studies.sequences.strings import cosine_logs, off_diagonal_mean
from studies.sequences.validation import Candidate, Ints, Matrix, Result, evaluate, fixed, folds, pooled

ANCESTORS, MUTANTS, LENGTH = 4, 25, 40
RATES = (0.1, 0.2, 0.3, 0.4, 0.5)
LEAVES, FLIP, MOVE = 24, 0.05, 0.1
TRAINING, TEST = 100, 200  # half of each class


def mutant(string: str, rate: float, rng: np.random.Generator) -> str:
    """Return the string with substitutions at the rate, and insertions and deletions at half of it."""
    out = []
    for letter in string:
        if rng.random() < rate / 4:
            out.append("ACGT"[rng.integers(4)])
        if rng.random() >= rate / 4:
            changed = rng.random() < rate
            out.append(rng.choice([x for x in "ACGT" if x != letter]) if changed else letter)
    return "".join(out)


def family(rate: float, seed: int) -> tuple[list[str], Ints]:
    """Return mutants, and which of the random ancestors each is of."""
    rng = np.random.default_rng([seed, round(100 * rate)])
    olds = ["".join(rng.choice(list("ACGT"), LENGTH)) for _ in range(ANCESTORS)]
    return [mutant(old, rate, rng) for old in olds for _ in range(MUTANTS)], np.repeat(np.arange(ANCESTORS), MUTANTS)


def ancestors(rate: float, seeds: int) -> list[Result]:
    """Return the accuracies at one rate; five training strings an ancestor, so that there is something to miss."""
    by_seed = []
    for seed in range(seeds):
        drawn, y = family(rate, seed)
        # The other way round: a fifth is trained on.
        splits = [(test, train) for train, test in folds(y, 5, seed)]
        pairs = kernels.pair_hmm(drawn, (0.8,))
        methods: dict[str, Callable[[], list[Candidate]]] = {
            "pair HMM": pairs.cosine,
            "pair HMM, tempered": pairs.tempered,
            "3-spectrum": partial(kernels.spectrum, drawn, (3,)),
            "edit distance": partial(kernels.edit, drawn),
        }
        by_seed.append(kernels.compare(y, splits, methods))
    return [pooled(of) for of in zip(*by_seed, strict=True)]


def random_tree(rng: np.random.Generator, n: int) -> NamedTree:
    """Return a binary tree of n leaves, made by splitting leaves at random."""
    children: dict[int, tuple[int, int]] = {}
    leaves = [0]
    for _ in range(n - 1):
        split = leaves.pop(int(rng.integers(len(leaves))))
        new = 2 * len(children) + 1
        children[split] = (new, new + 1)
        leaves += [new, new + 1]
    return named_tree(children, 0, {leaf: f"s{k}" for k, leaf in enumerate(sorted(leaves))})


def named_tree(children: dict[int, tuple[int, int]], root: int, names: dict[int, str]) -> NamedTree:
    """Return the tree in depth-first order."""
    parents: list[int] = []
    labels: list[str] = []
    stack = [(root, -1)]
    while stack:
        node, parent = stack.pop()
        stack += [(child, len(parents)) for child in reversed(children.get(node, ()))]
        parents.append(parent)
        labels.append(names.get(node, ""))
    return NamedTree(tuple(parents), tuple(labels), (None,) * len(parents))


def leaves_below(tree: NamedTree) -> list[list[int]]:
    """Return the numbers of the leaves below each node, itself included."""
    below: list[list[int]] = [[] for _ in tree.parents]
    for node in reversed(range(len(tree.parents))):
        if tree.names[node]:
            below[node].append(tree.leaves.index(tree.names[node]))
        if tree.parents[node] >= 0:
            below[tree.parents[node]] += below[node]
    return below


def gained_once(tree: NamedTree, n: int, rng: np.random.Generator) -> Ints:
    """Return profiles of genes gained at a random inner node of the larger clade below the root."""
    below = leaves_below(tree)
    clade = max((k for k, parent in enumerate(tree.parents) if parent == 0), key=lambda k: len(below[k]))
    nodes = [k for k, under in enumerate(below) if len(under) > 1 and set(under) <= set(below[clade])]
    profiles = np.zeros((n, len(tree.leaves)), dtype=np.int64)
    for row in profiles:
        row[below[nodes[rng.integers(len(nodes))]]] = 1
    return profiles ^ (rng.random(profiles.shape) < FLIP)


def profile_toy(seed: int) -> tuple[NamedTree, Ints, Ints]:
    """Return a tree, profiles and classes: gained once, or each leaf as often but independently of the others."""
    rng = np.random.default_rng([seed, LEAVES])
    tree = random_tree(rng, LEAVES)
    half = (TRAINING + TEST) // 2
    lost = rng.permuted(gained_once(tree, half, rng), axis=0)
    return tree, np.concatenate([gained_once(tree, half, rng), lost]), np.repeat([1, 0], half)


def profile_kernels(model: fn.HiddenTree, profiles: Ints) -> dict[str, list[Candidate]]:
    """Return the tree kernel, and two that know no tree."""
    log = tree_logs(model, profiles)
    return {
        "hidden tree": [fixed("", np.exp(log))],
        "hidden tree, tempered": [fixed("", np.exp(log / off_diagonal_mean(log)))],
        "linear": [fixed("", linear(profiles))],
        "RBF": [fixed("", rbf(profiles))],
    }


def tree_logs(model: fn.HiddenTree, profiles: Ints) -> Matrix:
    """Return the logarithms of the cosines of the tree kernel."""
    log = HiddenTreeKernel(model, log=True)(profiles.tolist())
    return cosine_logs(log)


def linear(profiles: Ints) -> Matrix:
    """Return the cosine of the profiles as -1 and 1: what is absent counts as what is present."""
    signs = 2.0 * profiles - 1
    found: Matrix = signs @ signs.T / profiles.shape[1]
    return found


def rbf(profiles: Ints) -> Matrix:
    """Return the RBF kernel whose width is the median distance."""
    squares = np.array((profiles[:, None] != profiles[None]).sum(axis=2), dtype=np.float64)
    width = float(np.median(squares[np.triu_indices(len(profiles), 1)]))
    found: Matrix = np.exp(-squares / (2 * width))
    return found


def trees(seeds: int) -> list[Result]:
    """Return the areas under the ROC curve on the toy, one a seed."""
    by_seed = []
    for seed in range(seeds):
        tree, profiles, y = profile_toy(seed)
        model = fn.models.birth_death_tree(tree, birth=MOVE, death=MOVE)
        order = np.random.default_rng(seed).permutation(len(y))
        split = [(order[:TRAINING], order[TRAINING:])]
        made = profile_kernels(model, profiles)
        by_seed.append([evaluate(name, of, y, split, auc=True) for name, of in made.items()])
    return [pooled(of) for of in zip(*by_seed, strict=True)]
