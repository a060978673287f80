"""``fishernet impute``: the rows of a table with their missing cells filled in."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import click
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from fishernet.base.errors import FishernetError, SchemaError
from fishernet.base.names import listed, several
from fishernet.base.random import fixed_seed, generator
from fishernet.base.vocabulary import UnknownName
from fishernet.cli.models import has_kernel, read_model, require
from fishernet.cli.options import (
    model_argument,
    read_known_rows,
    seed_option,
    table_argument,
    text_options,
    unknown_option,
)
from fishernet.cli.tables.rows import RowsAnswer, answering_rows
from fishernet.cli.tables.sources import read_originals
from fishernet.cli.terminal import shown
from fishernet.data import Column, Continuous, Table, Variable
from fishernet.data.encoding.alike import columns_alike
from fishernet.data.encoding.labels import as_text
from fishernet.data.originals import filled, texts_of
from fishernet.data.source import unknown_cells
from fishernet.data.variable import seen_among
from fishernet.infer import impute as completed
from fishernet.infer.completion import HOWS, How

Marks = npt.NDArray[np.bool_]
PLAIN = re.compile(r"[-+]?[0-9]+(?:\.([0-9]{0,6}))?")  # a number without an exponent


@click.command(short_help="Fill in the missing cells of a table.")
@model_argument
@table_argument
@click.option(
    "--how",
    type=click.Choice(HOWS, case_sensitive=False),
    default=HOWS[0],
    show_default=True,
    help="The states or numbers that are most probable together, or a draw from their joint distribution.",
)
@text_options
@unknown_option
@seed_option
@answering_rows
def impute(model: Path, table: Path, how: str, unknown: UnknownName, seed: int | None) -> RowsAnswer:
    """Fill in the missing cells of TABLE, given the known cells of each row, by MODEL (.json, .bif, .xdsl, .net, ...).

    The missing cells of a row are filled in together: by what is most probable (of numbers, their means), or (--how
    draw) by a draw from their joint distribution. Draws keep the shares and dependences of the model; the most probable
    states make common states more common. Several draws show how uncertain the missing cells are.

    All rows are written as they are in the file and in its order, with all their columns; columns that MODEL does not
    know keep their missing cells, and labels that it does not have stay (--unknown missing). Where the model has bins
    and the file has numbers, a filled cell is the middle of the most probable bin, or drawn from within it.

    The output is CSV on stdout, or the FILE of -o by its ending: .csv, .tsv (.gz may follow), .parquet, .arrow,
    .xlsx. The number of filled cells per column is printed on stderr, or with --json instead of the rows.

    \b
    Example: learn from a table with missing cells, and fill them in
      fishernet learn patients.csv --bins 4 --missing em -o model.json
      fishernet impute model.json patients.csv -o complete.csv
      fishernet impute model.json patients.csv --how draw --seed 1 -o drawn.csv
    """  # noqa: D301
    if how != "draw" and seed is not None:
        raise FishernetError("--seed is for --how draw; the most probable states are the same each time")
    number = fixed_seed(seed) if how == "draw" else None
    network = require(has_kernel, read_model(model), model, "impute")
    file = read_originals(table)
    rows = read_known_rows(table, file, network.variables, missing="keep", unknown=unknown).table
    seen = rows.select(seen_among(rows.variables))
    gaps = {v.name: v.missing(column) for v, column in zip(seen.variables, seen.codes, strict=True)}
    gaps |= {name: gaps[name] & ~there for name, there in unknown_cells(rows).items()}  # labels stay as they are
    counts = {name: int(np.count_nonzero(missing)) for name, missing in gaps.items()}
    _refuse_own_states(model, [v for v in seen.variables if counts[v.name]])
    found = completed(network, rows, how=cast(How, how), seed=number).select(seen.names)
    facts = {
        "model": str(model),
        "table": str(table),
        "rows": rows.n_rows,
        "how": how,
        "seed": number,
        "filled_cells": sum(counts.values()),
        "filled": counts,
    }
    return RowsAnswer(facts, frame=_frame(file.frame, gaps, found, number), remark=_remark(facts))


def _refuse_own_states(model: Path, lacking: Sequence[Column]) -> None:
    """Raise SchemaError when cells are missing for which the model has a state: it says nothing of what they hide."""
    if own := [v.name for v in lacking if not v.is_continuous and v.missing_state is not None]:
        raise SchemaError(
            f"{model}: missing cells of {listed(own)} are a state of their own in the model, which does not say what "
            "they could have been; learn one with fishernet learn --missing em"
        )


def _frame(frame: pa.Table, gaps: Mapping[str, Marks], found: Table, seed: int | None) -> pa.Table:
    """Return the rows of a file with the cells that were missing."""
    columns = {name: column for column, name in columns_alike(frame.column_names, found.names).items()}
    random = None if seed is None else generator(seed)
    for variable, after in zip(found.variables, found.codes, strict=True):
        missing = gaps[variable.name]
        if missing.any():
            name = columns.get(variable.name, variable.name)
            wanted: Column = variable
            cells = after
            if not variable.is_continuous and variable.cuts is not None and not _has_labels(frame, name, variable):
                shares = np.full(len(after), 0.5) if random is None else random.random(len(after))
                wanted, numbers = Continuous(variable.name, variable.unit), variable.numbers(after, shares)
                decimals = _decimals(frame, name)
                cells = numbers if decimals is None else np.round(numbers, decimals)
            frame = filled(frame, wanted, cells, missing, name)
    return frame


def _has_labels(frame: pa.Table, name: str, variable: Variable) -> bool:
    """Whether a column of a file holds labels of bins, not the numbers that were cut."""
    return not set(map(as_text, variable.states)).isdisjoint(pc.unique(texts_of(frame.column(name))).to_pylist())


def _decimals(frame: pa.Table, name: str) -> int | None:
    """Return to how many decimals the numbers of a column are written; None where they are not plain and short."""
    texts = pc.drop_null(pc.unique(texts_of(frame.column(name)))).to_pylist()
    found = [PLAIN.fullmatch(text) for text in texts if any(map(str.isdigit, text))]
    return max((len(plain[1] or "") for plain in found if plain), default=0) if found and all(found) else None


def _remark(facts: dict[str, Any]) -> str:
    """Return what was filled as one line."""
    columns = ", ".join(f"{shown(name)} ({count:,})" for name, count in facts["filled"].items() if count)
    drawn = "" if facts["seed"] is None else f", seed {facts['seed']}"
    return f"filled {several(facts['filled_cells'], 'cell')}{columns and ': ' + columns}{drawn}"
