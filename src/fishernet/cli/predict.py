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
from fishernet.base.names import positions, several
from fishernet.cli.models import is_bayesian, is_gaussian, read_model, require
from fishernet.cli.options import Reading, missing_option, model_argument, read_known, table_argument, text_options
from fishernet.cli.terminal import Answer, answering, csv_line
from fishernet.compare import Quality
from fishernet.data import Variable
from fishernet.data.cells import as_text
from fishernet.infer import predict_proba
from fishernet.models import BayesianNetwork

Numbers = npt.NDArray[np.float64]
Codes = npt.NDArray[np.unsignedinteger[Any]]

AS_MANY = (
    "; the model was learned from as many rows: if from these, this is the accuracy on the rows it was learned from, "
    "and new ones will be predicted less well"
)


@click.command(short_help="Predict one variable from all the others.")
@model_argument
@table_argument
@click.option("--target", required=True, metavar="COLUMN", help="The variable to predict.")
@text_options
@missing_option("error", "state", "keep")
@click.option(
    "--unknown",
    type=click.Choice(["error", "missing"]),
    default="error",
    show_default=True,
    help="Labels that the model does not have: refuse them (error), take them for missing cells (missing).",
)
@answering()
def predict(model: Path, table: Path, target: str, missing: str, unknown: str) -> Answer:
    """Print, for each row of TABLE, the most probable state of one variable and the probability of each of its states.

    All other columns of MODEL (.json, .bif, .xdsl or .uai) must be there. The target's own need not; where it is, how
    well it was predicted is said on stderr: accuracy, and log-loss in nats per row. The result is CSV, or JSON with
    --json.

    Cells that stay missing (--missing keep, --unknown missing) are summed out exactly.

    Of a Gaussian network, the mean of the variable given the others is printed, and the standard deviation around it;
    where the target is in the table, the root mean square error on stderr.

    \b
    Example
      fishernet predict model.json patients.csv --target cough -o cough.csv
    """  # noqa: D301
    network = read_model(model)
    files = {"model": str(model), "table": str(table)}
    if is_gaussian(network):
        if missing != "error":
            raise SchemaError(f"--missing {missing} is for models of states; leave rows with missing cells out")
        return _of_numbers(network, table, target, files)
    return _of_states(require(is_bayesian, network, model, "predict"), table, target, missing, unknown, files)


def _of_states(
    network: BayesianNetwork, table: Path, target: str, missing: str, unknown: str, files: dict[str, str]
) -> Answer:
    variable = network.variables[positions(network.names, [target])[0]]
    given = [other for other in network.variables if other.name != target]
    others = read_known(table, given, missing=missing, unknown=unknown)
    truth = read_truth(table, variable, missing, unknown)
    probabilities = predict_proba(network, others, target)
    quality = None if truth is None else Quality.of(probabilities, truth, others.weights)
    remark = quality and (
        f"accuracy {quality.accuracy:.4f}, log-loss {quality.log_loss:.4f} nats per row, "
        f"on {several(quality.known_rows, 'row')} whose state is known"
    )
    if quality and network.n_rows == others.total:
        remark = f"{remark}{AS_MANY}"
    facts = {
        **files,
        "rows": others.n_rows,
        "target": target,
        "states": variable.states,
        "predicted": lambda: [variable.states[code] for code in probabilities.argmax(axis=1).tolist()],
        "probabilities": probabilities,
        **(asdict(quality) if quality else dict.fromkeys(field.name for field in fields(Quality))),
    }
    return Answer(facts, _csv(variable, probabilities), remark=remark or "")


def read_truth(table: Path, target: Variable, missing: str, unknown: str) -> Codes | None:
    """Return the codes of the target's column, None when the table has no such column.

    A missing cell's code is the number of states, or that of the model's state for missing cells.
    """
    policy = "state" if missing == "state" and target.missing_state is not None else "keep"
    try:
        return read_known(table, [target], missing=policy, unknown=unknown).column(target.name)
    except SchemaError:
        return None


def _csv(variable: Variable, probabilities: Numbers) -> Iterator[str]:
    """Yield the predictions as lines of a CSV file."""
    yield csv_line(["predicted", *(f"P({as_text(state)})" for state in variable.states)])
    labels = [csv_line([as_text(state)]) for state in variable.states]
    for code, row in zip(probabilities.argmax(axis=1).tolist(), probabilities.tolist(), strict=True):
        yield ",".join([labels[code], *map(repr, row)])


def _of_numbers(network: Any, table: Path, target: str, files: dict[str, str]) -> Answer:
    """Return a variable's mean given all others, for each row, and how far it is off where the table has it."""
    positions(network.names, [target])
    if len(network.names) == 1:
        raise SchemaError(f"{target!r} is the only variable of the model; there is nothing to predict it from")
    joint = network.to_markov_network()
    data = Reading().read_numbers(table, "a Gaussian network", [name for name in network.names if name != target])
    predicted = joint.predict(data, [target])[:, 0]
    truth = _true_numbers(table, target)
    off = None if truth is None or len(truth) != len(predicted) else predicted - truth
    error = math.sqrt(np.mean(off**2)) if off is not None and len(off) else None
    sd = math.sqrt(joint.conditional_covariance([target])[0, 0])
    facts = {"rows": data.n_rows, "target": target, "predicted": predicted, "sd": sd, "root_mean_square_error": error}
    lines = ["predicted,sd", *(f"{value!r},{sd!r}" for value in predicted.tolist())]
    remark = "" if error is None else f"root mean square error {error:.6g}, on {several(data.n_rows, 'row')}"
    return Answer({**files, **facts}, lines, remark=remark)


def _true_numbers(table: Path, target: str) -> Numbers | None:
    """Return the target's own column, None where the table has none without missing cells."""
    try:
        return np.asarray(Reading().read_numbers(table, "a Gaussian network", [target]).numbers[0])
    except FishernetError:
        return None
