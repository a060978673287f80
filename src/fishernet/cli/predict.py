"""``fishernet predict``: one variable from all the others."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError
from fishernet.base.names import positions
from fishernet.cli.options import Reading, missing_option, of_numbers, read_columns, read_model, require_bayesian
from fishernet.cli.output import as_json_option, check_folder, csv_line, output_option, write_facts, write_lines
from fishernet.cli.sample import predict_rows, prediction_lines
from fishernet.data import Variable
from fishernet.data.cells import as_text
from fishernet.infer import predict_proba

Numbers = npt.NDArray[np.float64]
Codes = npt.NDArray[np.unsignedinteger[Any]]


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
    if of_numbers(network):
        if missing != "error":
            raise SchemaError(f"--missing {missing} is for models of states; leave rows with missing cells out")
        said = predict_rows(network, table, Reading(None, "quantile", missing, None), target)
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
            click.echo(quality, err=True)
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
    write_facts(facts | (asdict(quality) if quality else dict.fromkeys(Quality.__annotations__)), output)


def _write_numbers(said: dict[str, Any], facts: dict[str, Any], output: Path | None, *, as_json: bool) -> None:
    if as_json:
        write_facts(facts, output)
        return
    write_lines(prediction_lines(said), output)
    if said["root_mean_square_error"] is not None:
        click.echo(f"root mean square error {said['root_mean_square_error']:.6g}, on {said['rows']:,} rows", err=True)


@dataclass(frozen=True)
class Quality:
    """How well a variable was predicted where its state is known; None where it is known nowhere.

    Attributes
    ----------
    known_rows : int or float
        How many rows have a known state, each as often as its weight says.
    accuracy : float
        The share of them whose most probable state is theirs.
    log_loss : float
        The mean of -log P(their state), in nats.
    """

    known_rows: int | float
    accuracy: float
    log_loss: float

    @classmethod
    def of(cls, probabilities: Numbers, truth: Codes, weights: npt.NDArray[Any] | None) -> Quality | None:
        """Return the quality of predictions, (n_rows, r), by the true codes; r is the code of a missing one."""
        counts = np.where(truth < probabilities.shape[1], 1 if weights is None else weights, 0)
        known = np.flatnonzero(counts)
        if not len(known):
            return None
        right = probabilities[known].argmax(axis=1) == truth[known]
        with np.errstate(divide="ignore"):  # -log 0 = inf is what is meant
            losses = -np.log(probabilities[known, truth[known]])
        total = counts.sum().item()
        return cls(total, float(counts[known] @ right) / total, float(counts[known] @ losses) / total)

    def __str__(self) -> str:
        return (
            f"accuracy {self.accuracy:.4f}, log-loss {self.log_loss:.4f} nats a row, "
            f"on {self.known_rows:,} rows whose state is known"
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
