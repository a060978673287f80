"""``fishernet select``: rows that stand for a whole table."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.random import fixed_seed
from fishernet.cli.models import read_bayesian, refuse_kept_numbers, row_kernel
from fishernet.cli.options import (
    count,
    missing_option,
    model_argument,
    read_known_rows,
    read_originals,
    seed_option,
    table_argument,
    text_options,
    weights_option,
)
from fishernet.cli.terminal import Answer, Facts, Stopwatch, answering, progress_bar, seconds_words
from fishernet.data.arrays import Weights
from fishernet.data.originals import with_columns
from fishernet.select import Selection, greedy_chi_square, greedy_mmd, random_subset

CRITERIA: dict[str, Callable[..., Selection]] = {
    # the kernel draws where exact probabilities would not fit
    "mmd": lambda net, table, k, seed, missing, **how: greedy_mmd(
        row_kernel(net, missing=missing, seed=seed), table, k, seed=seed, **how
    ),
    "chi-square": lambda _, table, k, missing, **how: greedy_chi_square(table, k, **how),  # noqa: ARG005
    "random": lambda _, table, k, seed, **__: random_subset(table, k, seed),
}
MOST_STARTS = 2**31 - 1  # the core's limit


@click.command(short_help="Choose rows that stand for a table.")
@model_argument
@table_argument
@count("-k", "k", required=True, help="How many rows.")
@click.option(
    "--by", type=click.Choice(list(CRITERIA)), default="mmd", show_default=True, help="What they are chosen by."
)
@count("--starts", default=1000, show_default=True, help="Begin with the best of N random choices.")
@text_options
@missing_option("error", "drop", "state", "keep")
@weights_option
@seed_option
@answering(rows=True)
def select(
    model: Path, table: Path, k: int, by: str, starts: int, missing: str, weights: str | None, seed: int | None
) -> Answer:
    """Choose the rows that stand best for TABLE, and say how many of its rows each stands for.

    By mmd, the mean of the chosen rows under the Fisher kernel of MODEL (.json, .bif, .xdsl or .uai) is as near as can
    be to that of the whole table; by chi-square, each column on its own fits; random is what both have to beat. For
    these two MODEL says only what the columns and their states are. Of rows with missing cells (--missing keep) mmd
    takes the features that are expected given what is known, chi-square takes missing for a state of its own, and
    random takes them as they are.

    The rows come as they are in the file, with all its columns, also those that MODEL does not know; missing cells are
    empty. First comes their position in the file, counted from 0, and last the number of rows to which each is the
    nearest chosen one (stands_for). They are written as CSV to stdout, or to the FILE of -o by its ending: .csv,
    .tsv (.gz may follow), .parquet, .arrow. What was reached, and how fast, is said on stderr, or with --json instead
    of the rows.

    \b
    Example
      fishernet select model.json patients.csv -k 50 --seed 1 -o chosen.csv
    """  # noqa: D301
    check.integer(starts, "starts", least=1, most=MOST_STARTS)
    number = fixed_seed(seed)
    watch = Stopwatch()
    with progress_bar() as progress:
        with watch.time("read"):
            progress("reading the table", 0, None)
            network = read_bayesian(model, "select", "choose rows by")
            refuse_kept_numbers(network, missing)
            file = read_originals(table)
            rows = read_known_rows(table, file, network.variables, missing=missing, weights=weights)
            data, positions = rows.table, rows.positions
            if not data.total:
                raise SchemaError(f"{table}: all rows have weight 0, so there is nothing to stand for")
        with watch.time("select"):
            found = CRITERIA[by](network, data, k, missing=missing, n_starts=starts, seed=number, progress=progress)
        with watch.time("count"):
            progress("counting what each row stands for", 0, None)
            stands_for = found.as_table().weights
    where = positions[found.indices]
    facts = {"model": str(model), "table": str(table), **_facts(found, where, stands_for), "seconds": watch.seconds}
    chosen = file.frame.take(pa.array(where))
    return Answer(facts, frame=with_columns(chosen, {"row": where}, {"stands_for": stands_for}), remark=_remark(facts))


def _facts(found: Selection, where: npt.NDArray[np.int64], stands_for: Weights | None) -> dict[str, Any]:
    return {
        "criterion": found.criterion,
        "k": len(found.indices),
        "rows": found.table.total,
        "distance_at_start": float(found.trace[0]) if len(found.trace) else None,
        "distance": found.distance,
        "sweeps": found.sweeps,
        "replacements": max(0, len(found.trace) - 1),
        "seed": found.seed,
        "indices": where,
        "stands_for": stands_for,
    }


def _remark(facts: Facts) -> str:
    """Return what was reached as one line."""
    reached = "nothing was measured"
    if facts["distance_at_start"] is not None:
        reached = (
            f"{facts['distance_at_start']:.6g} -> {facts['distance']:.6g}, "
            f"sweeps {facts['sweeps']:,}, replacements {facts['replacements']:,}"
        )
    return f"{facts['criterion']} {reached}, seconds: {seconds_words(facts)}, seed {facts['seed']}"
