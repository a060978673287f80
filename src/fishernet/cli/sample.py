"""``fishernet sample``: rows drawn from a model.

What ``score``, ``predict`` and ``sample`` do with Gaussian networks, whose rows are numbers.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import positions
from fishernet.cli.options import (
    Categorical,
    Likelihood,
    Reading,
    known_states,
    of_numbers,
    read_model,
    require_categorical,
)
from fishernet.cli.output import as_json_option, check_folder, output_option, stdout, write_facts
from fishernet.data import Continuous, Scatter, State, Table, as_table, write_table
from fishernet.data.writing import FORMATS
from fishernet.infer import sample as posterior_sample
from fishernet.models import BayesianNetwork, DependencyNetwork, GaussianMarkovNetwork
from fishernet.scores import SCORES_OF_NUMBERS
from fishernet.scores import score as graph_score

Gaussian = BayesianNetwork | GaussianMarkovNetwork
Floats = npt.NDArray[np.float64]


def read_rows(network: Gaussian, table: Path, reading: Reading, *, without: str | None = None) -> Table:
    """Read the columns of a network's variables, but one where that is not needed."""
    names = [name for name in network.names if name != without]
    return reading.read_numbers(table, "a Gaussian network", names)


def score_rows(network: Gaussian, table: Path, reading: Reading, score: str | None) -> tuple[dict[str, Any], Floats]:
    """Return the facts of a table under a network, and the log-density of each row."""
    data = read_rows(network, table, reading)
    logs = network.log_prob(data)
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
        graph = network.dag if isinstance(network, BayesianNetwork) else network.graph
        facts |= {"score": score, "score_value": graph_score(graph, Scatter.from_data(data), score)}
    return facts, logs


def predict_rows(network: Gaussian, table: Path, reading: Reading, target: str) -> dict[str, Any]:
    """Return a variable's mean given all others, for each row, and how far it is off where the table has it."""
    positions(network.names, [target])
    joint = network.to_markov_network()
    if len(joint.names) == 1:
        raise SchemaError(f"{target!r} is the only variable of the model; there is nothing to predict it from")
    data = read_rows(network, table, reading, without=target)
    predicted = joint.predict(data, [target])[:, 0]
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
        found = replace(reading, missing="error").read_numbers(table, "a Gaussian network", [target])
    except FishernetError:
        return None
    return np.asarray(found.numbers[0])


def prediction_lines(facts: dict[str, Any]) -> Iterator[str]:
    """Yield predictions as lines of a CSV file: the mean, and the standard deviation around it."""
    yield "predicted,sd"
    for value in facts["predicted"]:
        yield f"{value!r},{facts['sd']!r}"


def sample_rows(network: Gaussian, n: int, seed: int | None) -> Table:
    """Return rows drawn from a network."""
    if n < 0:
        raise SchemaError(f"the number of rows must not be negative, got {n}")
    return as_table(network.sample(n, seed=seed), [Continuous(name) for name in network.names])


@click.command(short_help="Draw rows from a model.")
@click.argument("model", type=click.Path(path_type=Path))
@click.option("-n", "n_rows", type=int, required=True, metavar="N", help="How many rows.")
@click.option("--given", multiple=True, metavar="NAME=STATE", help="What is known. May be repeated.")
@click.option("--chains", type=int, metavar="C", help="Dependency networks: how many chains.  [default: 1]")
@click.option(
    "--burn-in",
    type=int,
    metavar="B",
    help="Dependency networks: draws before a chain's first row.  [default: one a variable; of several chains 100]",
)
@click.option(
    "--thin", type=int, metavar="T", help="Dependency networks: draws between two rows.  [default: one a variable]"
)
@click.option(
    "--scan", metavar="random|ordered", help="Dependency networks: which variable is drawn next.  [default: random]"
)
@click.option(
    "--seed", type=int, metavar="N", help="The same seed gives the same rows.  [default: other rows each time]"
)
@output_option
@as_json_option
def sample(
    model: Path,
    n_rows: int,
    given: tuple[str, ...],
    seed: int | None,
    output: Path | None,
    as_json: bool,
    **chain: Any,
) -> None:
    """Draw rows from MODEL (.json or .bif), given what is known.

    From a Bayesian network they are independent and exact, also with --given. From a dependency network they come by
    pseudo-Gibbs sampling: one variable after the other is drawn from its conditional, those that are given keep their
    states, and every --thin draws the states are a row. The rows of several --chains come one chain after the other.
    States are written as in a table; a number where the model has bins is that of its bin.

    Rows of a Gaussian network are numbers, independent and exact.

    Rows are written as CSV to stdout, or to the FILE of -o by its ending: .csv, .tsv (.gz may follow), .parquet,
    .arrow. With --json they are lists of labels, one a variable.

    \b
    Examples
      fishernet sample model.json -n 1000 --seed 1 -o rows.parquet
      fishernet sample model.json -n 1000 --given smoke=yes --chains 4 --thin 50
    """  # noqa: D301
    check_folder(output)
    network = read_model(model)
    if of_numbers(network):
        asked = [name for name, value in chain.items() if value is not None] + (["given"] if given else [])
        if asked:
            raise FishernetError(f"--{asked[0].replace('_', '-')} does not go with a Gaussian network")
        numbers = sample_rows(network, n_rows, seed)
        _write_rows(numbers, {"rows": n_rows, "seed": seed, "given": {}}, output, as_json=as_json)
        return
    network = require_categorical(network, model, "sample")
    if not network.variables and (isinstance(network, DependencyNetwork) or (output is None and not as_json)):
        raise SchemaError(f"{model}: the model has no variables, so there is nothing to draw")
    known = known_states(given, "--given", network.variables)
    rows = draw(network, n_rows, known, seed, {name: value for name, value in chain.items() if value is not None})
    _write_rows(rows, {"rows": n_rows, "seed": seed, "given": known}, output, as_json=as_json)


def _write_rows(rows: Table, facts: dict[str, Any], output: Path | None, *, as_json: bool) -> None:
    if as_json:
        write_facts(facts | {"columns": columns(rows)}, output)
    elif output is not None:
        write_table(rows, output)
    else:
        FORMATS[".csv"](rows, stdout(), "weights")


def draw(model: Categorical, n: int, given: Mapping[str, State], seed: int | None, chain: Mapping[str, Any]) -> Table:
    """Return rows drawn from a model: exactly, or by chains, which only a dependency network has options for."""
    if isinstance(model, DependencyNetwork):
        return model.sample(n, given=given, seed=seed, **chain)
    if chain:
        option = f"--{next(iter(chain)).replace('_', '-')}"
        raise FishernetError(f"{option} is for dependency networks; this model's rows are drawn without chains")
    if given:
        return posterior_sample(model, n, given=given, seed=seed)
    return model.sample(n, seed=seed)


def columns(table: Table) -> dict[str, list[object]]:
    """Return the labels or numbers of a table without missing cells, one list a variable."""
    return {name: table[name].tolist() for name in table.names}
