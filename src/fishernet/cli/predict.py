"""``fishernet predict``: one variable from all the others."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import asdict, fields
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import positions
from fishernet.cli.models import is_gaussian, read_model, require_bayesian
from fishernet.cli.options import Reading, missing_option, read_columns
from fishernet.cli.output import as_json_option, check_folder, csv_line, output_option, write_facts, write_lines
from fishernet.compare import Quality
from fishernet.data import Variable
from fishernet.data.cells import as_text
from fishernet.infer import predict_proba
from fishernet.models import BayesianNetwork, GaussianMarkovNetwork

Numbers = npt.NDArray[np.float64]
Codes = npt.NDArray[np.unsignedinteger[Any]]
NUMBERS = Reading(None, "quantile", "error", None)  # how a table of numbers is read


@click.command(short_help="Predict one variable from all the others.")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("table", type=click.Path(path_type=Path))
@click.option("--target", required=True, metavar="COLUMN", help="The variable to predict.")
@missing_option("error", "state", "keep")
@click.option(
    "--unknown",
    type=click.Choice(["error", "missing"]),
    default="error",
    show_default=True,
    help="Labels that the model does not have: refuse them (error), take them for missing cells (missing).",
)
@output_option
@as_json_option
def predict(
    model: Path, table: Path, target: str, missing: str, unknown: str, output: Path | None, as_json: bool
) -> None:
    """Print, for each row of TABLE, the most probable state of one variable and the probability of each of its states.

    All other columns of MODEL (.json or .bif) must be there. The target's own need not; where it is, how well it was
    predicted is said on stderr: accuracy, and log-loss in nats a row. The result is CSV, or JSON with --json.

    Cells that stay missing (--missing keep, --unknown missing) are summed out exactly.

    Of a Gaussian network, the mean of the variable given the others is printed, and the standard deviation around it;
    where the target is in the table, the root mean square error on stderr.

    \b
    Example
      fishernet predict model.json patients.csv --target cough -o cough.csv
    """  # noqa: D301
    check_folder(output)
    network = read_model(model)
    if is_gaussian(network):
        if missing != "error":
            raise SchemaError(f"--missing {missing} is for models of states; leave rows with missing cells out")
        said = predict_numbers(network, table, target)
        _write_numbers(said, {"model": str(model), "table": str(table)} | said, output, as_json=as_json)
        return
    network = require_bayesian(network, model, "predict")
    variable = network.variables[positions(network.names, [target])[0]]
    others = read_columns(table, [v for v in network.variables if v.name != target], missing, unknown)
    truth = read_truth(table, variable, missing, unknown)
    probabilities = predict_proba(network, others, target)
    quality = None if truth is None else Quality.of(probabilities, truth, others.weights)
    if not as_json:
        write_lines(_csv(variable, probabilities), output)
        if quality is not None:
            click.echo(_quality_line(quality), err=True)
        return
    facts = {
        "model": str(model),
        "table": str(table),
        "rows": others.n_rows,
        "target": target,
        "states": variable.states,
        "predicted": [variable.states[code] for code in probabilities.argmax(axis=1).tolist()],
        "probabilities": probabilities.tolist(),
    }
    write_facts(
        facts | (asdict(quality) if quality else dict.fromkeys(field.name for field in fields(Quality))), output
    )


def _write_numbers(said: dict[str, Any], facts: dict[str, Any], output: Path | None, *, as_json: bool) -> None:
    if as_json:
        write_facts(facts, output)
        return
    write_lines(["predicted,sd", *(f"{value!r},{said['sd']!r}" for value in said["predicted"])], output)
    if said["root_mean_square_error"] is not None:
        click.echo(f"root mean square error {said['root_mean_square_error']:.6g}, on {said['rows']:,} rows", err=True)


def predict_numbers(network: BayesianNetwork | GaussianMarkovNetwork, table: Path, target: str) -> dict[str, Any]:
    """Return a variable's mean given all others, for each row, and how far it is off where the table has it."""
    positions(network.names, [target])
    if len(network.names) == 1:
        raise SchemaError(f"{target!r} is the only variable of the model; there is nothing to predict it from")
    joint = network.to_markov_network()
    data = NUMBERS.read_numbers(table, "a Gaussian network", [name for name in network.names if name != target])
    predicted = joint.predict(data, [target])[:, 0]
    truth = _true_numbers(table, target)
    off = None if truth is None or len(truth) != len(predicted) else predicted - truth
    return {
        "rows": data.n_rows,
        "target": target,
        "predicted": predicted.tolist(),
        "sd": math.sqrt(joint.conditional_covariance([target])[0, 0]),
        "root_mean_square_error": math.sqrt(np.mean(off**2)) if off is not None and len(off) else None,
    }


def _true_numbers(table: Path, target: str) -> Numbers | None:
    """Return the target's own column, None where the table has none without missing cells."""
    try:
        return np.asarray(NUMBERS.read_numbers(table, "a Gaussian network", [target]).numbers[0])
    except FishernetError:
        return None


def _quality_line(quality: Quality) -> str:
    return (
        f"accuracy {quality.accuracy:.4f}, log-loss {quality.log_loss:.4f} nats a row, "
        f"on {quality.known_rows:,} rows whose state is known"
    )


def read_truth(table: Path, target: Variable, missing: str, unknown: str) -> Codes | None:
    """Return the codes of the target's column, None when the table has no such column.

    A missing cell's code is the number of states, or that of the model's state for missing cells.
    """
    policy = "state" if missing == "state" and target.missing_state is not None else "keep"
    try:
        return read_columns(table, [target], policy, unknown).column(target.name)
    except SchemaError:
        return None


def _csv(variable: Variable, probabilities: Numbers) -> Iterator[str]:
    """Yield the predictions as lines of a CSV file."""
    yield csv_line(["predicted", *(f"P({as_text(state)})" for state in variable.states)])
    labels = [csv_line([as_text(state)]) for state in variable.states]
    for code, row in zip(probabilities.argmax(axis=1).tolist(), probabilities.tolist(), strict=True):
        yield ",".join([labels[code], *map(repr, row)])
