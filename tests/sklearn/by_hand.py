"""A small network, and what is expected of its rows by going through all completions."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd

import fishernet as fn
from tests.sklearn.frames import Array

RAIN = fn.BayesianNetwork.from_tables(
    [
        fn.Variable("rain", ["no", "yes"]),
        fn.Variable("sprinkler", [0, 1]),
        fn.Variable("grass", ["dry", "wet", "soaked"]),
    ],
    {"sprinkler": ["rain"], "grass": ["rain", "sprinkler"]},
    {
        "rain": [0.7, 0.3],
        "sprinkler": [[0.6, 0.4], [0.95, 0.05]],
        "grass": [[[0.9, 0.08, 0.02], [0.2, 0.5, 0.3]], [[0.1, 0.6, 0.3], [0.05, 0.25, 0.7]]],
    },
)
WHOLE = pd.DataFrame(
    {"grass": ["dry", "soaked", "wet", "dry"], "rain": ["no", "yes", "yes", "no"], "sprinkler": [0, 1, 0, 1]}
)
HOLES = pd.DataFrame(
    {
        "grass": ["dry", None, "wet", None, "soaked"],
        "rain": [None, "yes", None, None, "no"],
        "sprinkler": pd.array([0, 1, None, None, 0], dtype="Int64"),
    }
)


def joint_states() -> list[tuple[int, int, int]]:
    return list(itertools.product(range(2), range(2), range(3)))


def theta(state: Sequence[int]) -> list[float]:
    """The probability of each variable's state in its parents' configuration."""
    rain, sprinkler, grass = state
    tables = [conditional.table() for conditional in RAIN.conditionals]
    return [float(tables[0][rain]), float(tables[1][rain, sprinkler]), float(tables[2][rain, sprinkler, grass])]


def configuration_probability(place: int, state: Sequence[int]) -> float:
    """The probability of the configuration of a variable's parents in a state of all."""
    parents = RAIN.conditionals[place].parents
    return sum(float(np.prod(theta(s))) for s in joint_states() if all(s[p] == state[p] for p in parents))


def expected(frame: pd.DataFrame, of: Callable[[tuple[int, int, int]], Any]) -> Array:
    """The mean of something over the completions of each row, by their probabilities given what is known."""
    found = []
    for _, row in frame.iterrows():
        weights, values = [], []
        for state in joint_states():
            labels = dict(
                zip(RAIN.names, (v.states[c] for v, c in zip(RAIN.variables, state, strict=True)), strict=True)
            )
            if all(pd.isna(row[name]) or row[name] == labels[name] for name in RAIN.names):
                weights.append(np.prod(theta(state)))
                values.append(of(state))
        found.append(np.average(np.array(values), axis=0, weights=weights))
    return np.asarray(found)


def phi(state: tuple[int, int, int]) -> Array:
    """The features of a complete row, by their definition, of each variable, configuration and state."""
    values = []
    for place, conditional in enumerate(RAIN.conditionals):
        table = conditional.table()
        for configuration in np.ndindex(*table.shape[:-1]):
            at = dict(zip(conditional.parents, configuration, strict=True))
            like = [at.get(v, 0) for v in range(3)]
            there = all(state[p] == c for p, c in at.items())
            for k, probability in enumerate(table[configuration]):
                scale = np.sqrt(configuration_probability(place, like) * probability)
                values.append(there * ((state[place] == k) - probability) / scale)
    return np.array(values)


NAMES = [
    "rain: no",
    "rain: yes",
    "sprinkler | rain=no: 0",
    "sprinkler | rain=no: 1",
    "sprinkler | rain=yes: 0",
    "sprinkler | rain=yes: 1",
    "grass | rain=no, sprinkler=0: dry",
    "grass | rain=no, sprinkler=0: wet",
    "grass | rain=no, sprinkler=0: soaked",
    "grass | rain=no, sprinkler=1: dry",
    "grass | rain=no, sprinkler=1: wet",
    "grass | rain=no, sprinkler=1: soaked",
    "grass | rain=yes, sprinkler=0: dry",
    "grass | rain=yes, sprinkler=0: wet",
    "grass | rain=yes, sprinkler=0: soaked",
    "grass | rain=yes, sprinkler=1: dry",
    "grass | rain=yes, sprinkler=1: wet",
    "grass | rain=yes, sprinkler=1: soaked",
]
