"""``fishernet predict``: one variable from all the others."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, fields
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet import explain
from fishernet.base.errors import FishernetError
from fishernet.base.names import check_names, positions, several
from fishernet.base.vocabulary import MissingName, UnknownName
from fishernet.cli.models import has_numbers, is_bayesian, read_model, require
from fishernet.cli.options import (
    Reading,
    missing_option,
    model_argument,
    names_of,
    parsed_option,
    read_known_rows,
    table_argument,
    text_options,
    unknown_option,
    with_states_of_model,
)
from fishernet.cli.tables.rows import RowsAnswer, answering_rows
from fishernet.cli.tables.sources import read_originals
from fishernet.cli.terminal import FILE, Facts
from fishernet.data import Column, Table, Variable
from fishernet.data.arrow import dictionary_array
from fishernet.data.encoding.alike import columns_alike
from fishernet.data.encoding.dates import in_arrow
from fishernet.data.encoding.labels import as_text
from fishernet.data.originals import typed_frame, with_columns
from fishernet.data.source import unknown_cells
from fishernet.data.streams.originals import Originals
from fishernet.infer import predict_proba
from fishernet.infer.mixed_answers import mixed_number
from fishernet.infer.normal import gaps_of, is_normal
from fishernet.learn import PredictionQuality
from fishernet.models import BayesianNetwork

Numbers = npt.NDArray[np.float64]
Codes = npt.NDArray[np.integer[Any]]

BEHIND = 3  # rows that raise a prediction, of each

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
@unknown_option
@parsed_option(
    "--id",
    "kept",
    parse=lambda text: names_of(text, "--id"),
    metavar="A,B,...",
    help="Write only these columns of TABLE beside the prediction.",
)
@click.option(
    "--explain",
    "learned_from",
    type=FILE,
    metavar="TABLE",
    help="The table that the model was learned from: add which of its rows raise each prediction most.",
)
@click.option("--bare", is_flag=True, help="Write only the columns of the prediction.")
@answering_rows
def predict(
    model: Path,
    table: Path,
    target: str,
    missing: str,
    unknown: UnknownName,
    kept: list[str] | None,
    learned_from: Path | None,
    bare: bool,
) -> RowsAnswer:
    """Add to each row of TABLE the most probable state of one variable, and the probability of each of its states.

    TABLE needs all other columns of MODEL (.json, .bif, .net, ...), in any order; further columns are ignored. If
    TABLE has the target, its accuracy and log-loss, in nats per row, are printed on stderr.

    All rows are written as they are in the file and in its order, missing cells with their words; behind them come
    "predicted" and one "P(state)" for each state. --id keeps only some columns of the file, --bare none. The output is
    CSV on stdout, or the FILE of -o by its ending: .csv, .tsv (.gz may follow), .parquet, .arrow, .xlsx. With --json,
    predictions and probabilities are lists, and so are the columns of --id.

    With --explain, "rows behind" has the three rows of another table that raise the probability of what is predicted
    most, counted from 0.

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
    if not has_numbers(network):
        require(is_bayesian, network, model, "predict")
    file = read_originals(table)
    columns = file.frame if kept is None else file.frame.select(_named(file.frame, kept))
    number = network.variables[positions(network.names, [target])[0]].is_continuous
    of_states = partial(_of_states, network, table, file, target, missing, unknown)
    if number and learned_from is not None:
        raise FishernetError(f"--explain is for labels, and {target!r} is a number; fishernet query --why explains it")
    found = _of_numbers(network, table, file, target, unknown) if number else of_states(learned_from)
    rows = pa.table(found.columns) if bare else with_columns(columns, {}, found.columns)
    facts = {"model": str(model), "table": str(table), "rows": rows.num_rows, "target": target, **found.facts}
    own = {"columns": typed_frame(columns).to_pydict()} if kept else {}
    return RowsAnswer({**facts, **own}, frame=rows, remark=found.remark)


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
    network: BayesianNetwork,
    path: Path,
    file: Originals,
    target: str,
    missing: str,
    unknown: UnknownName,
    learned_from: Path | None,
) -> Prediction:
    variable = network.variables[positions(network.names, [target])[0]]
    given = [other for other in network.variables if other.name != target]
    own, theirs = _columns_of(network, file, target)
    read = read_known_rows(path, file, given, missing=missing, unknown=unknown, exclude=own)
    others = with_states_of_model(read.table)
    probabilities = predict_proba(network, others, target)
    codes = probabilities.argmax(axis=1)
    quality, remark = None, ""
    if own:
        truth = read_truth(file, variable, missing, unknown, theirs)
        quality = PredictionQuality.of(probabilities, truth, others.weights)
        remark = _in_words(quality, strange=int(np.count_nonzero(truth > variable.cardinality)))
    if quality and network.n_rows == others.total:
        remark += AS_MANY
    facts = {
        "states": variable.states,
        "predicted": lambda: [variable.states[code] for code in codes.tolist()],
        "probabilities": probabilities,
        **(asdict(quality) if quality else dict.fromkeys(field.name for field in fields(PredictionQuality))),
    }
    shares = {f"P({as_text(state)})": pa.array(p) for state, p in zip(variable.states, probabilities.T, strict=True)}
    columns = {"predicted": dictionary_array(variable, codes.astype(variable.dtype)), **shares}
    if learned_from is not None:
        behind = _rows_behind(network, learned_from, others, variable, codes)
        facts["rows_behind"] = behind
        columns["rows behind"] = pa.array([" ".join(map(str, rows)) for rows in behind])
    return Prediction(facts, columns, remark)


def _in_words(quality: PredictionQuality | None, strange: int) -> str:
    """Return how well rows are predicted, some of which have states that the model does not have."""
    if quality is None:
        return ""
    more = f", {strange:,} of them with labels that the model does not have" if strange else ""
    return (
        f"accuracy {quality.accuracy:.4f}, log-loss {quality.log_loss:.4f} nats per row, "
        f"on {several(quality.known_rows, 'row')} whose state is known{more}"
    )


def _rows_behind(network: Any, path: Path, others: Table, target: Variable, codes: Codes) -> list[list[int]]:
    """Return for each prediction the rows of the learning table that raise its probability most."""
    learned_from = Reading().read_known(path, network.variables)
    known = [~variable.missing(column) for variable, column in zip(others.variables, others.codes, strict=True)]
    cells = [others[name] for name in others.names]
    found = []
    for row, code in enumerate(codes.tolist()):
        given = {name: cells[v][row] for v, name in enumerate(others.names) if known[v][row]}
        why = explain.rows(network, learned_from, query=target.name, state=target.states[code], given=given)
        found.append(np.argsort(-why.values, kind="stable")[:BEHIND].tolist())
    return found


def _columns_of(network: Any, file: Originals, target: str) -> tuple[list[str], list[str]]:
    """Return which columns of a file are the target's, one or none, and which are those of the model's others."""
    there = file.frame.column_names
    alike = columns_alike(there, network.names)
    known = {name: alike.get(name, name) for name in there}
    own = [name for name, other in known.items() if other == target]
    return own, [name for name, other in known.items() if other in network.names and other != target]


def read_truth(file: Originals, target: Variable, missing: str, unknown: UnknownName, exclude: Sequence[str]) -> Codes:
    """Return the codes of the target's column, which is none of those of other variables.

    A missing cell's code is the number of states, or that of the model's state for missing cells; that of a label that
    the model does not have is higher.
    """
    policy: MissingName = "state" if missing == "state" and target.missing_state is not None else "keep"
    rows = file.rows(schema=[target], missing=policy, unknown=unknown, exclude=exclude).table
    codes = rows.column(target.name).astype(np.int64)
    codes[unknown_cells(rows).get(target.name, False)] = target.cardinality + 1
    return codes


def _of_numbers(network: Any, path: Path, file: Originals, target: str, unknown: UnknownName) -> Prediction:
    """Return a variable's mean given all others, for each row, and how far it is off where the table has it."""
    positions(network.names, [target])
    at = network.names.index(target)
    own, theirs = _columns_of(network, file, target)
    given = [v for v in network.variables if v.name != target]
    others = read_known_rows(path, file, given, unknown=unknown, exclude=own).table
    predicted, sd = (_of_normal if is_normal(network) else _of_both)(network, others, at)
    truth = _true_numbers(file, network.variables[at], theirs) if own else None
    known = np.zeros(0, dtype=bool) if truth is None else ~np.isnan(truth)
    error = None if truth is None or not known.any() else math.sqrt(np.mean((predicted - truth)[known] ** 2))
    same = len(sd) > 0 and bool((sd == sd[0]).all())  # of rows that lack the same cells, most often none
    variable = network.variables[at]
    facts = {
        "predicted": predicted if variable.unit is None else lambda: [variable.said(x) for x in predicted.tolist()],
        "sd": float(sd[0]) if same else sd,
        "root_mean_square_error": error,
    }
    remark = "" if error is None else f"root mean square error {error:.6g}, on {several(int(known.sum()), 'row')}"
    written = in_arrow(predicted, variable.unit)
    return Prediction(facts, {"predicted": written, "sd": pa.array(sd)}, remark)


def _of_normal(network: Any, others: Table, at: int) -> tuple[Numbers, Numbers]:
    """Return the means and standard deviations of the number at a position, given the others of each row."""
    columns = np.insert(others.numbers, at, np.nan, axis=0)
    predicted, sd = np.empty(others.n_rows), np.empty(others.n_rows)
    for gap in gaps_of(columns):
        means, covariance = gap.given(network, columns)
        place = gap.missing.tolist().index(at)
        predicted[gap.rows], sd[gap.rows] = means[place], math.sqrt(covariance[place, place])
    return predicted, sd


def _of_both(network: Any, others: Table, at: int) -> tuple[Numbers, Numbers]:
    """Return the same in a network of labels and numbers, or of numbers on scales."""
    columns = list(others.codes)
    columns.insert(at, network.variables[at].missing_column(others.n_rows))
    rows = Table.adopt(network.variables, columns, n_rows=others.n_rows)
    return mixed_number(network, rows, at)


def _true_numbers(file: Originals, target: Column, exclude: Sequence[str]) -> Numbers | None:
    """Return the target's own column, None where it is none of numbers."""
    try:
        return np.asarray(file.rows(schema=[target], exclude=exclude).table.numbers[0])
    except FishernetError:  # text in it is no harm: it is not looked at to predict
        return None
