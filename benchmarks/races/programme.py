"""Every race, in the order in which they are run."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from benchmarks.contenders import Contender
from benchmarks.data import Tables
from benchmarks.races import (
    dependency_networks,
    gaussian,
    independence,
    inference,
    kernels,
    learning,
    sequences,
    structures,
)
from benchmarks.races.race import TOPICS, Race


def all_races(
    tables: Tables,
    contenders: dict[str, Contender],
    folder: Path,
    *,
    quick: bool = False,
    full: bool = False,
    only: Collection[str] = (),
) -> list[Race]:
    """Return every race, or those of some topics."""
    repeats = 3 if quick else 5
    made: dict[str, Callable[[], list[Race]]] = {
        "import": lambda: learning.imports(contenders, repeats),
        "read": lambda: [learning.reading(tables.csv, repeats)],
        "hill-climb": lambda: learning.hill_climbs(tables, repeats, full),
        "fit": lambda: [learning.of_network("fit", "fit", tables.letter, repeats)],
        "log-prob": lambda: [learning.of_network("log-prob", "log_prob", tables.letter, repeats)],
        "sample": lambda: [learning.sampling(tables.network, tables.alarm[-1].n_rows, repeats, folder)],
        "inference": lambda: inference.inference_races(tables.networks, repeats, full),
        "kernel": lambda: kernels.kernel_races(tables.training, repeats),
        "selection": lambda: kernels.selection_races(tables.training, repeats),
        "gibbs": lambda: [learning.gibbs(tables.network, repeats)],
        "dependency-network": lambda: dependency_networks.learning(tables, repeats),
        "stationary": lambda: dependency_networks.stationary(repeats),
        "firing": lambda: dependency_networks.firing(tables, repeats),
        "exact": lambda: structures.exact(tables, repeats, full),
        "local-scores": lambda: structures.local_scores(tables.medium, repeats),
        "order": lambda: structures.order(tables, repeats),
        "scores": lambda: structures.scores(tables, repeats),
        "many-variables": lambda: structures.many_variables(tables, repeats),
        "classifier": lambda: structures.classifiers(tables.letter, repeats),
        "edge-strengths": lambda: structures.edge_strengths(tables.medium, repeats),
        "forward-backward": lambda: sequences.fitting("forward-backward", repeats, folder),
        "baum-welch": lambda: sequences.fitting("baum-welch", repeats, folder),
        "string-kernel": lambda: sequences.string_kernels(repeats, folder),
        "tree-kernel": lambda: sequences.tree_kernels(repeats, folder),
        "gaussian-graph": lambda: gaussian.graphs(repeats, folder),
        "gaussian-network": lambda: gaussian.networks(repeats, folder),
        "knn-test": lambda: independence.knn_tests(repeats, folder),
        "markov-graph": lambda: independence.markov_graphs(repeats, folder),
        "busy": lambda: learning.beside_busy(tables.alarm[1], repeats),
    }
    return [race for topic in TOPICS if not only or topic in only for race in made[topic]()]
