"""Races of models of sequences: forward and backward, Baum-Welch, and kernels of strings and of profiles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import fishernet as fn
from benchmarks.contenders import OURS
from benchmarks.data import Data, spaced
from benchmarks.races.race import Race, Target
from benchmarks.workers.job import Job, write_codes

Rows = npt.NDArray[np.float64]

SEED = 6
N_STATES, N_SYMBOLS, N_AMINO_ACIDS = 8, 20, 20
N_STEPS = 5
N_ENTRIES = 200
N_PAIR_ENTRIES = 30
"""Fewer where an entry takes NumPy long."""
N_LEAVES = 60

PEER = "hmmlearn"
SCALED = f"{PEER} (scaling)"
IMPLEMENTATIONS = {PEER: ("scaling", "log")}


def fitting(topic: str, repeats: int, folder: Path) -> list[Race]:
    """Race on 1 000 strings of a model, under another model."""
    truth, other = random_model(0), random_model(1)
    strings = fn.HiddenMarkovModel(*truth).sample(1_000, length=200, seed=SEED)
    data = store("hmm", np.array(strings), N_SYMBOLS, folder)
    fields = data.fields | {"tables": flat(other), "n_states": N_STATES, "repeats": repeats}
    on = f"1 000 strings of 200, {N_STATES} states, {N_SYMBOLS} symbols"
    if topic == "baum-welch":
        wanted = [(f"{on}, {N_STEPS} steps", Job("baum_welch", steps=N_STEPS, **fields), (10.0,))]
    else:
        wanted = [
            (f"{on}: log-likelihood and posteriors", Job("forward_backward", **fields), (5.0,)),
            (f"{on}: expected counts", Job("expected_counts", **fields), (5.0,)),
        ]
    return [
        Race(
            topic,
            title,
            job,
            (OURS, PEER),
            tuple(Target(ratio=ratio, against=(SCALED,)) for ratio in ratios),
            forms=IMPLEMENTATIONS,
        )
        for title, job, ratios in wanted
    ]


def string_kernels(repeats: int, folder: Path) -> list[Race]:
    """Race for matrices of strings of one length, and of any lengths."""
    draws = np.random.default_rng(SEED)
    equal = store("equal", draws.integers(N_SYMBOLS, size=(500, 100)), N_SYMBOLS, folder)
    long = store("long", draws.integers(4, size=(2, 1_000)), 4, folder)
    several = store("several", draws.integers(4, size=(200, 100)), 4, folder)
    proteins = store("proteins", draws.integers(N_AMINO_ACIDS, size=(2, 300)), N_AMINO_ACIDS, folder)
    hmm, pair, protein = flat(random_model(0)), flat(pair_model()), flat(protein_model())
    wanted = [
        ("hmm_gram", f"HMM kernel, 500 strings of 100, {N_STATES} states", equal, hmm, N_STATES, 0.5, N_ENTRIES),
        ("pair_hmm_gram", "pair HMM kernel, two strings of 1 000, 3 states", long, pair, 3, 20e-3, 1),
        ("pair_hmm_gram", "pair HMM kernel, 200 strings of 100, 3 states", several, pair, 3, 2.5, N_PAIR_ENTRIES),
        ("pair_hmm_gram", "pair HMM kernel, two proteins of 300, 21 states", proteins, protein, 21, 50e-3, 1),
    ]
    races = []
    for task, title, data, tables, n_states, seconds, n_entries in wanted:
        job = Job(
            task, tables=tables, n_states=n_states, n_entries=n_entries, seed=SEED, repeats=repeats, **data.fields
        )
        races.append(Race("string-kernel", title, job, (OURS,), (Target(seconds=seconds),)))
    return races


def tree_kernels(repeats: int, folder: Path) -> list[Race]:
    """Race for the matrix of phylogenetic profiles: of a model, and of fair coins, which agree below few nodes."""
    draws = np.random.default_rng(SEED)
    tree, parts = random_tree(draws), ([0.4, 0.6], [[0.85, 0.15], [0.1, 0.9]], [[0.9, 0.1], [0.05, 0.95]])
    drawn = np.array(fn.HiddenTree(tree, *parts).sample(2_000, seed=SEED), dtype=np.int64)
    races = []
    for name, codes in (("of the model", drawn), ("fair coins", draws.integers(2, size=drawn.shape))):
        data = store(name.replace(" ", "-"), codes, 2, folder)
        tables = [np.ravel(part).tolist() for part in parts]
        job = Job(
            "tree_gram",
            tables=tables,
            n_states=2,
            tree=tree,
            n_entries=N_ENTRIES,
            seed=SEED,
            repeats=repeats,
            **data.fields,
        )
        title = f"hidden tree kernel, {spaced(len(codes))} profiles of {N_LEAVES} leaves, {name}"
        races.append(Race("tree-kernel", title, job, (OURS,), (Target(seconds=1),)))
    return races


def random_model(seed: int) -> tuple[Rows, Rows, Rows]:
    draws = np.random.default_rng((SEED, seed))
    return (
        draws.dirichlet(np.ones(N_STATES)),
        draws.dirichlet(np.ones(N_STATES), N_STATES),
        draws.dirichlet(np.ones(N_SYMBOLS), N_STATES),
    )


def pair_model() -> tuple[Rows, Rows, Rows, Rows]:
    """Return three states that may all follow one another, of DNA and no symbol, and may stop."""
    draws = np.random.default_rng((SEED, 3))
    stop = 0.003
    emission = np.column_stack([draws.dirichlet(np.ones(4), 3), [0.0, 0.0, 0.0]])
    emission *= np.array([0.98, 0.9, 0.3])[:, None]
    emission[:, -1] = 1 - emission.sum(axis=1)
    moves = draws.dirichlet(np.full(3, 2.0), 4) * (1 - stop)
    return moves[0], moves[1:], emission, np.full(3, stop)


def protein_model() -> tuple[Rows, Rows, Rows, Rows]:
    """Return the ready model of proteins."""
    model = fn.models.pair_hmm_protein()
    assert model.empty is not None
    assert model.final is not None
    return model.initial, model.transition, np.column_stack([model.emission, model.empty]), model.final


def flat(model: tuple[Rows, ...]) -> list[list[float]]:
    return [part.ravel().tolist() for part in model]


def random_tree(draws: np.random.Generator) -> list[Any]:
    """Join two random nodes until one is left."""
    nodes: list[Any] = list(range(N_LEAVES))
    while len(nodes) > 1:
        joined = [nodes.pop(int(draws.integers(len(nodes)))) for _ in range(2)]
        nodes.append(joined)
    return list(nodes[0])


def store(name: str, codes: npt.NDArray[np.integer[Any]], n_symbols: int, folder: Path) -> Data:
    """Write strings of one length as a table; every place has all symbols, those that do not occur too."""
    path = folder / f"{name}.strings"
    write_codes(str(path), codes)
    return Data(name, str(path), len(codes), (n_symbols,) * codes.shape[1])
