"""``fishernet convert``: the same model or table in another format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from fishernet.base.errors import FileFormatError, SchemaError
from fishernet.base.names import several
from fishernet.cli import models
from fishernet.cli.kinds import explaining_kinds
from fishernet.cli.models import called, has_numbers, is_bayesian
from fishernet.cli.options import Reading, reading_options
from fishernet.cli.tables.rows import formulas_option
from fishernet.cli.tables.sources import opening, scan_option
from fishernet.cli.terminal import FILE, Answer, check_folder, ending, json_option
from fishernet.data import write_table
from fishernet.data.writing import FORMATS


@click.command(short_help="Turn a model or a table into another format.")
@click.argument("source", metavar="IN", type=FILE)
@click.argument("target", metavar="OUT", type=FILE)
@reading_options("keep", "error", "drop", "state")
@scan_option
@formulas_option
@json_option
@explaining_kinds
def convert(source: Path, target: Path, as_json: bool, escape_formulas: bool, **options: Any) -> None:
    """Turn the model or table IN into the file OUT; formats are told by the endings.

    Models: .json, and the formats of other programs: .bif, .xdsl, .net, .dsc and .xmlbif (.bifxml, .xml) for Bayesian
    networks of states, .uai for these and Markov networks; .dot and .graphml, which are only written, for the graph of
    any network. Tables: from any format that is read, .json too, to .csv, .tsv, .parquet or .arrow. After the text
    formats .gz may follow. The options are for tables.

    \b
    Examples
      fishernet convert model.json model.bif
      fishernet convert genie.xdsl model.json
      fishernet convert patients.arff patients.parquet
    """  # noqa: D301
    check_folder(target)
    is_model = ending(source) in models.WRITERS and not (ending(source) == ".json" and ending(target) in FORMATS)
    kinds = ("model", "table") if is_model else ("table", "model")
    if is_model and ending(target) not in FORMATS:
        models.check_model_output(target)
    if is_model != (ending(target) in models.WRITERS):
        raise FileFormatError(target, f"a {kinds[0]} ({source}) cannot be turned into a {kinds[1]}")
    found = (
        _convert_model(source, target)
        if is_model
        else _convert_table(source, target, Reading.out_of(options), escape_formulas)
    )
    facts = {"in": str(source), "out": str(target), "kind": kinds[0], **found}
    size = several(found["variables"], "variable")
    size = f"{several(found['rows'], 'row')}, {size}" if "rows" in found else size
    Answer(facts, [f"{target}: a {kinds[0]} of {size}"]).write(None, as_json)


def _convert_model(source: Path, target: Path) -> dict[str, int]:
    graph, model = models.read_graph(
        source, "only networks and graphs can be converted", opening().text.get("encoding")
    )
    if models.of_states(target) and (model is None or not is_bayesian(model)):
        kind = "a graph" if model is None else called(model)
        numbers = model is not None and has_numbers(model)
        more = (
            " if its variables are labels, as those that fishernet learn --bins auto makes of numbers"
            if numbers
            else ""
        )
        raise SchemaError(
            f"{source}: this is {kind}; only a Bayesian network can be turned into {ending(target)}{more}"
        )
    models.write_model(graph if model is None else model, target)
    links = graph.links()
    joined = {"arcs": len(links.arcs)} if links.directed else {"edges": len(links.lines)}
    return {"variables": len(graph.names), **joined}


def _convert_table(source: Path, target: Path, reading: Reading, escape_formulas: bool) -> dict[str, int]:
    table = reading.read(source)
    write_table(table, target, escape_formulas=escape_formulas)
    return {"variables": len(table.variables), "rows": table.n_rows}
