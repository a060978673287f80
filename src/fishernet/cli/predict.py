"""``fishernet predict``: one variable from all the others."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base.errors import FishernetError
from fishernet.base.names import check_names, positions, several
from fishernet.base.vocabulary import MissingName, UnknownName
from fishernet.cli.models import is_bayesian, is_gaussian, read_model, require
from fishernet.cli.options import (
    missing_option,
    model_argument,
    names_of,
    parsed_option,
    read_known_rows,
    table_argument,
    text_options,
    with_states_of_model,
)
from fishernet.cli.tables.sources import read_originals
from fishernet.cli.terminal import Answer, Facts, answering
from fishernet.data import Column, Variable
from fishernet.data.arrow import dictionary_array
from fishernet.data.encoding.labels import as_text
from fishernet.data.originals import typed_frame, with_columns
from fishernet.data.streams.originals import Originals
from fishernet.infer import predict_proba
from fishernet.infer.normal import gaps_of
from fishernet.learn import PredictionQuality
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
@missing_option("keep", "state", "error")
@click.option(
    "--unknown",
    type=click.Choice(["error", "missing"]),
    default="error",
    show_default=True,
    help="Labels that the model does not have: refuse them (error), or treat them as missing cells (missing).",
)
@parsed_option(
    "--id",
    "kept",
    parse=lambda text: names_of(text, "--id"),
    metavar="A,B,...",
    help="Write only these columns of TABLE beside the prediction.",
)
@click.option("--bare", is_flag=True, help="Write only the columns of the prediction.")
@answering(rows=True)
def predict(
    model: Path, table: Path, target: str, missing: str, unknown: UnknownName, kept: list[str] | None, bare: bool
) -> Answer:
    """Add to each row of TABLE the most probable state of one variable, and the probability of each of its states.

    TABLE needs all other columns of MODEL (.json, .bif, .xdsl or .uai), in any order; further columns are ignored. If
    TABLE has the target, its accuracy and log-loss, in nats per row, are printed on stderr.

    All rows are written as they are in the file and in its order, with missing cells empty; after their columns come
    "predicted" and one "P(state)" for each state. --id keeps only some columns of the file, --bare none. The output is
    CSV on stdout, or the FILE of -o by its ending: .csv, .tsv (.gz may follow), .parquet, .arrow, .xlsx. With --json,
    predictions and probabilities are lists, and so are the columns of --id.

    Cells that stay missing (--missing keep, --unknown missing) are summed out exactly.

    For a Gaussian network the added columns are the mean of the variable given the others (predicted) and its standard
    deviation (sd). If TABLE has the target, the root mean square error is printed on stderr.

    \b
    Examples
      fishernet predict model.json patients.csv --target cough -o cough.csv
      fishernet predict model.json patients.csv --target cough --id name,ward
    """  # noqa: D301
    if bare and kept is not None:
        raise FishernetError("--bare leaves out all columns of TABLE, and --id says which to keep; take one of them")
    network = read_model(model)
    if not is_gaussian(network):
        require(is_bayesian, network, model, "predict")
    file = read_originals(table)
    columns = file.frame if kept is None else file.frame.select(_named(file.frame, kept))
    if is_gaussian(network):
        found = _of_numbers(network, file, target)
    else:
        found = _of_states(network, table, file, target, missing, unknown)
    rows = pa.table(found.columns) if bare else with_columns(columns, {}, found.columns)
    facts = {"model": str(model), "table": str(table), "rows": rows.num_rows, "target": target, **found.facts}
    own = {"columns": typed_frame(columns).to_pydict()} if kept else {}
    return Answer({**facts, **own}, frame=rows, remark=found.remark)


@dataclass(frozen=True)
class Prediction:
    """What was predicted: facts, further columns of the rows, and how good it is in words."""

    facts: Facts
    columns: dict[str, pa.Array]
    remark: str


def _named(frame: pa.Table, names: list[str]) -> list[str]:
    positions(frame.column_names, names, "column")
    check_names(names)
    return names


def _of_states(
    network: BayesianNetwork, path: Path, file: Originals, target: str, missing: str, unknown: UnknownName
) -> Prediction:
    variable = network.variables[positions(network.names, [target])[0]]
    given = [other for other in network.variables if other.name != target]
    others = with_states_of_model(read_known_rows(path, file, given, missing=missing, unknown=unknown).table)
    truth = read_truth(file, variable, missing, unknown)
    probabilities = predict_proba(network, others, target)
    quality = None if truth is None else PredictionQuality.of(probabilities, truth, others.weights)
    remark = quality and (
        f"accuracy {quality.accuracy:.4f}, log-loss {quality.log_loss:.4f} nats per row, "
        f"on {several(quality.known_rows, 'row')} whose state is known"
    )
    codes = probabilities.argmax(axis=1)
    if quality and network.n_rows == others.total:
        remark = f"{remark}{AS_MANY}"
    facts = {
        "states": variable.states,
        "predicted": lambda: [variable.states[code] for code in codes.tolist()],
        "probabilities": probabilities,
        **(asdict(quality) if quality else dict.fromkeys(field.name for field in fields(PredictionQuality))),
    }
    shares = {f"P({as_text(state)})": pa.array(p) for state, p in zip(variable.states, probabilities.T, strict=True)}
    columns = {"predicted": dictionary_array(variable, codes.astype(variable.dtype)), **shares}
    return Prediction(facts, columns, remark or "")


def read_truth(file: Originals, target: Variable, missing: str, unknown: UnknownName) -> Codes | None:
    """Return the codes of the target's column, None when the table has no such column.

    A missing cell's code is the number of states, or that of the model's state for missing cells.
    """
    if target.name not in file.frame.column_names:
        return None
    policy: MissingName = "state" if missing == "state" and target.missing_state is not None else "keep"
    return file.rows(schema=[target], missing=policy, unknown=unknown).table.column(target.name)


def _of_numbers(network: Any, file: Originals, target: str) -> Prediction:
    """Return a variable's mean given all others, for each row, and how far it is off where the table has it."""
    positions(network.names, [target])
    at = network.names.index(target)
    others = file.rows(schema=[v for v in network.variables if v.name != target]).table
    columns = np.insert(others.numbers, at, np.nan, axis=0)
    predicted, sd = np.empty(others.n_rows), np.empty(others.n_rows)
    for gap in gaps_of(columns):
        means, covariance = gap.given(network, columns)
        place = gap.missing.tolist().index(at)
        predicted[gap.rows], sd[gap.rows] = means[place], math.sqrt(covariance[place, place])
    truth = _true_numbers(file, network.variables[at])
    known = np.zeros(0, dtype=bool) if truth is None else ~np.isnan(truth)
    error = None if truth is None or not known.any() else math.sqrt(np.mean((predicted - truth)[known] ** 2))
    same = len(sd) > 0 and bool((sd == sd[0]).all())  # of rows that lack the same cells, most often none
    facts = {"predicted": predicted, "sd": float(sd[0]) if same else sd, "root_mean_square_error": error}
    remark = "" if error is None else f"root mean square error {error:.6g}, on {several(int(known.sum()), 'row')}"
    return Prediction(facts, {"predicted": pa.array(predicted), "sd": pa.array(sd)}, remark)


def _true_numbers(file: Originals, target: Column) -> Numbers | None:
    """Return the target's own column, None where the table has none of numbers."""
    if target.name not in file.frame.column_names:
        return None
    try:
        return np.asarray(file.rows(schema=[target]).table.numbers[0])
    except FishernetError:  # text in it is no harm: it is not looked at to predict
        return None
