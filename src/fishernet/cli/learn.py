"""``fishernet learn``: from a table to a Bayesian network."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from fishernet.cli.holdout import Likelihood, count_rows, hold_out
from fishernet.cli.inputs.models import check_model_output, write_model
from fishernet.cli.inputs.rules import Rules, rule_options
from fishernet.cli.inputs.tables import Reading, reading_options, refuse_empty
from fishernet.cli.terminal.output import Facts, aligned, as_json_option, number, write_facts, write_lines
from fishernet.cli.terminal.progress_bar import progress_bar
from fishernet.cli.terminal.stopwatch import Stopwatch
from fishernet.cli.terminal.wording import shown
from fishernet.learn import parameters, structure
from fishernet.learn.structure import SEARCHES
from fishernet.scores import SCORES


@click.command(short_help="Learn a Bayesian network from a table.")
@click.argument("table", type=click.Path(path_type=Path))
@click.option(
    "-o", "--output", type=click.Path(path_type=Path), metavar="MODEL", help="Save the network (.json or .bif)."
)
@click.option("--score", default="bic", show_default=True, metavar="|".join(SCORES), help="What is maximized.")
@click.option(
    "--search", default="hill-climb", show_default=True, metavar="|".join(SEARCHES), help="How it is searched for."
)
@click.option("--max-parents", type=int, metavar="N", help="At most N parents a variable.")
@rule_options
@click.option(
    "--smoothing", default="1", show_default=True, metavar="X|snml", help="Pseudo-count of each cell, or snml."
)
@click.option("--ess", type=float, metavar="X", help="Instead: pseudo-counts that add up to X a variable.")
@reading_options("error", "drop", "state")
@click.option(
    "--holdout", type=float, default=0.2, show_default=True, metavar="SHARE", help="Share of the rows held out."
)
@click.option("--max-seconds", type=float, metavar="S", help="Take the best found after S seconds.")
@click.option("--seed", type=int, default=0, show_default=True, metavar="N", help="Decides which rows are held out.")
@as_json_option
def learn(
    table: Path,
    output: Path | None,
    rules: Rules,
    smoothing: str,
    ess: float | None,
    reading: Reading,
    holdout: float,
    seed: int,
    as_json: bool,
    **search: Any,
) -> None:
    """Learn a Bayesian network from TABLE (.csv, .tsv, .arff, .parquet, .arrow).

    A share of the rows is held out at random (--holdout, --seed). Structure and parameters are learned from the other
    rows, and the held-out log-likelihood, in nats a row, is that of this network. The network saved with -o has the
    same arcs, and its parameters are fitted again on all rows. With --holdout 0 everything is learned from all rows.
    States and bins are those of the whole table. The same command prints the same numbers.

    Names that hold commas stand in double quotes: --require '"a,b",c'.

    \b
    Example: four bins for numbers, no arc into the age
      fishernet learn patients.csv --bins 4 --tiers "age;smoke,cough" -o model.json
    """  # noqa: D301
    if output is not None:
        check_model_output(output)
    fit: Any = {"smoothing": _number_or_word(smoothing), "ess": ess}
    watch = Stopwatch()
    with progress_bar() as progress:
        with watch.time("read"):
            progress("reading the table", 0, None)
            rows = refuse_empty(table, reading.read(table))
            training, held_out = hold_out(rows, holdout, seed)
        with watch.time("learn"):
            found = structure(training, seed=seed, progress=progress, **rules, **search)
        with watch.time("fit"):
            network = parameters(found.dag, training, **fit)
        with watch.time("score"):
            likelihood = Likelihood.of(network, held_out)
        if output is not None:
            with watch.time("save"):
                write_model(parameters(found.dag, rows, **fit), output)
    facts = {
        "table": str(table),
        "rows": count_rows(rows),
        "training_rows": count_rows(training),
        "held_out_rows": likelihood.n_rows,
        "variables": list(rows.names),
        "arcs": found.dag.edges,
        "parameters": network.n_parameters,
        "score": search["score"],
        "score_value": found.score,
        "local_scores": found.n_scores,
        "steps": len(found.steps),
        "finished": found.finished,
        "held_out_log_likelihood_per_row": likelihood.per_row,
        "impossible_rows": likelihood.impossible,
        "seconds": watch.seconds,
        "seed": seed,
        "model": None if output is None else str(output),
    }
    if as_json:
        write_facts(facts)
    else:
        write_lines(_text(facts))


def _number_or_word(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def _text(facts: Facts) -> Iterator[str]:
    """Yield the facts as lines for people."""
    arcs = facts["arcs"]
    lines = [
        ("rows", f"{facts['rows']:,} ({facts['training_rows']:,} to learn from, {facts['held_out_rows']:,} held out)"),
        ("variables", f"{len(facts['variables']):,}"),
        ("arcs", f"{len(arcs):,}"),
        *(("", f"{shown(parent)} -> {shown(child)}") for parent, child in arcs),
        (f"{facts['score']} score", f"{number(facts['score_value'])} on the rows to learn from"),
        ("search", f"{facts['steps']:,} steps, {facts['local_scores']:,} distinct local scores{_stopped(facts)}"),
        ("parameters", f"{facts['parameters']:,}"),
        ("held-out log-likelihood", _held_out(facts)),
        ("seconds", ", ".join(f"{part} {seconds:.3f}" for part, seconds in facts["seconds"].items())),
    ]
    if facts["model"] is not None:
        saved = f"{facts['model']}: these arcs, parameters fitted again on all {facts['rows']:,} rows"
        lines.append(("saved", saved))
    yield from aligned(lines)


def _stopped(facts: Facts) -> str:
    return "" if facts["finished"] else "; stopped by --max-seconds, this is the best so far"


def _held_out(facts: Facts) -> str:
    if not facts["held_out_rows"]:
        return "none, no rows were held out"
    impossible = facts["impossible_rows"]
    told = f" ({impossible:,} rows have probability 0; --smoothing above 0 helps)" if impossible else ""
    return f"{number(facts['held_out_log_likelihood_per_row'])} a row{told}"
