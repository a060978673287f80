"""What ``score``, ``predict`` and ``sample`` do with Gaussian networks, whose rows are numbers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.cli.heldout.holdout import Likelihood
from fishernet.cli.inputs.tables import Reading
from fishernet.counts import Scatter
from fishernet.errors import FishernetError, SchemaError
from fishernet.models import GaussianBayesianNetwork, GaussianMarkovNetwork
from fishernet.scores import SCORES_OF_NUMBERS
from fishernet.scores import score as graph_score
from fishernet.table.numbers import NamedColumns
from fishernet.table.variable import positions

Gaussian = GaussianBayesianNetwork | GaussianMarkovNetwork
GAUSSIAN = (GaussianBayesianNetwork, GaussianMarkovNetwork)
Floats = npt.NDArray[np.float64]


def read_rows(network: Gaussian, table: Path, reading: Reading, *, without: str | None = None) -> NamedColumns:
    """Read the columns of a network's variables, but one where that is not needed."""
    names = [name for name in network.names if name != without]
    return replace(reading, columns=names).read_numbers(table, "a Gaussian network")


def score_rows(network: Gaussian, table: Path, reading: Reading, score: str | None) -> tuple[dict[str, Any], Floats]:
    """Return the facts of a table under a network, and the log-density of each row."""
    data = read_rows(network, table, reading)
    logs = network.log_prob(data.by_name())
    likelihood = Likelihood.of_rows(logs, None)
    facts: dict[str, Any] = {
        "rows": likelihood.n_rows,
        "log_likelihood": likelihood.total,
        "log_likelihood_per_row": likelihood.per_row,
        "impossible_rows": likelihood.impossible,
    }
    if score is not None:
        if score not in SCORES_OF_NUMBERS:
            known = " or ".join(SCORES_OF_NUMBERS)
            raise FishernetError(f"--score {score} is for models of states; of a Gaussian network it is {known}")
        graph = network.dag if isinstance(network, GaussianBayesianNetwork) else network.graph
        facts |= {"score": score, "score_value": graph_score(graph, Scatter.from_data(data.by_name()), score)}
    return facts, logs


def predict_rows(network: Gaussian, table: Path, reading: Reading, target: str) -> dict[str, Any]:
    """Return a variable's mean given all others, for each row, and how far it is off where the table has it."""
    positions(network.names, [target])
    joint = network.to_markov_network() if isinstance(network, GaussianBayesianNetwork) else network
    if len(joint.names) == 1:
        raise SchemaError(f"{target!r} is the only variable of the model; there is nothing to predict it from")
    data = read_rows(network, table, reading, without=target)
    predicted = joint.predict(data.by_name(), [target])[:, 0]
    truth = read_truth(table, target, reading)
    off = None if truth is None or len(truth) != len(predicted) else predicted - truth
    return {
        "rows": data.n_rows,
        "target": target,
        "predicted": predicted.tolist(),
        "sd": math.sqrt(joint.conditional_covariance([target])[0, 0]),
        "root_mean_square_error": math.sqrt(np.mean(off**2)) if off is not None and len(off) else None,
    }


def read_truth(table: Path, target: str, reading: Reading) -> Floats | None:
    """Return the target's own column, None where the table has none without missing cells."""
    try:
        found = replace(reading, columns=[target], missing="error").read_numbers(table, "a Gaussian network")
    except FishernetError:
        return None
    truth: Floats = found.values[0]
    return truth


def prediction_lines(facts: dict[str, Any]) -> Iterator[str]:
    """Yield predictions as lines of a CSV file: the mean, and the standard deviation around it."""
    yield "predicted,sd"
    for value in facts["predicted"]:
        yield f"{value!r},{facts['sd']!r}"


def sample_rows(network: Gaussian, n: int, seed: int | None) -> NamedColumns:
    """Return rows drawn from a network."""
    if n < 0:
        raise SchemaError(f"the number of rows must not be negative, got {n}")
    return NamedColumns(network.names, np.ascontiguousarray(network.sample(n, seed=seed).T))
