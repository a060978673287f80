"""``fishernet sample``: rows drawn from a model."""

from __future__ import annotations

from pathlib import Path

import click

from fishernet.cli.inputs.models import read_model
from fishernet.cli.terminal.output import as_json_option, check_folder, output_option, stdout, write_facts
from fishernet.errors import SchemaError
from fishernet.table import Table, write_table
from fishernet.table.writing import FORMATS


@click.command(short_help="Draw rows from a model.")
@click.argument("model", type=click.Path(path_type=Path))
@click.option("-n", "n_rows", type=int, required=True, metavar="N", help="How many rows.")
@click.option(
    "--seed", type=int, metavar="N", help="The same seed gives the same rows.  [default: other rows each time]"
)
@output_option
@as_json_option
def sample(model: Path, n_rows: int, seed: int | None, output: Path | None, as_json: bool) -> None:
    """Draw independent rows from MODEL (.json or .bif).

    They are written as CSV to stdout, or to the FILE of -o by its ending: .csv, .tsv (.gz may follow), .parquet,
    .arrow. With --json they are lists of labels, one a variable.

    \b
    Example
      fishernet sample model.json -n 1000 --seed 1 -o rows.parquet
    """  # noqa: D301
    check_folder(output)
    rows = read_model(model).sample(n_rows, seed=seed)
    if as_json:
        write_facts({"rows": n_rows, "seed": seed, "columns": columns(rows)}, output)
    elif output is not None:
        write_table(rows, output)
    elif not rows.variables:
        raise SchemaError(f"{model}: the model has no variables, so there is nothing to draw")
    else:
        FORMATS[".csv"](rows, stdout(), "weights")


def columns(table: Table) -> dict[str, list[object]]:
    """Return the labels of a table without missing cells, one list a variable."""
    return {
        variable.name: [variable.states[code] for code in codes.tolist()]
        for variable, codes in zip(table.variables, table.codes, strict=True)
    }
