"""``fishernet select``: rows that stand for a whole table."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import several
from fishernet.base.random import fixed_seed
from fishernet.base.vocabulary import UnknownName
from fishernet.cli.models import read_bayesian
from fishernet.cli.options import (
    amount,
    count,
    missing_option,
    model_argument,
    read_known_rows,
    scan_options,
    seed_option,
    table_argument,
    text_options,
    unknown_option,
    weights_option,
    with_states_of_model,
)
from fishernet.cli.tables.rows import RowsAnswer, answering_rows
from fishernet.cli.tables.sources import open_rows
from fishernet.cli.terminal import Facts, Stopwatch, complain, progress_bar, seconds_words
from fishernet.data.arrays import Weights
from fishernet.data.matching import is_table
from fishernet.data.originals import with_columns
from fishernet.data.streams.originals import Originals, ScannedOriginals
from fishernet.data.variable import seen_among
from fishernet.kernels.fisher.hidden_variables import row_kernel
from fishernet.select import (
    Selection,
    coreset,
    greedy_chi_square,
    greedy_mmd,
    kernel_thinning,
    mmd_critic,
    protodash,
    random_subset,
)
from fishernet.select import criticisms as criticisms_of

BY: dict[str, Callable[..., Selection]] = {
    "mmd": lambda kernel, table, k, **how: greedy_mmd(kernel(), table, k, **options_of(how, "n_starts", "seed")),
    "mmd-critic": lambda kernel, table, k, **how: mmd_critic(kernel(), table, k, **options_of(how, "tolerance")),
    "protodash": lambda kernel, table, k, **how: protodash(kernel(), table, k, **options_of(how, "tolerance")),
    "coreset": lambda kernel, table, k, **how: coreset(kernel(), table, k, **options_of(how, "tolerance")),
    "kernel-thinning": lambda kernel, table, k, **how: kernel_thinning(kernel(), table, k, **options_of(how, "seed")),
    "chi-square": lambda _, table, k, **how: greedy_chi_square(table, k, **options_of(how, "n_starts", "seed")),
    "random": lambda _, table, k, seed, **__: random_subset(table, k, seed=seed),
}
MOST_TOLD = 8  # rows
DIGITS = 9  # of sums of weights
ROW_BY_ROW = ("mmd-critic", "protodash", "coreset")  # which know when they are near enough
WITHOUT_STARTS = (*ROW_BY_ROW, "kernel-thinning")
STARTS = 1000
MOST_STARTS = 2**31 - 1  # the core's limit


def options_of(how: Facts, *names: str) -> Facts:
    """Return the options that a method takes, and progress."""
    return {name: how[name] for name in (*names, "progress")}


@click.command(short_help="Choose rows that stand for a table.")
@model_argument
@table_argument
@count("-k", "k", help="Number of rows; with --tolerance the largest number.")
@amount(
    "--tolerance",
    help="Choose the fewest rows whose distance is at most this share of that of one random row (mmd-critic, "
    "protodash, coreset).",
)
@click.option("--by", type=click.Choice(list(BY)), default="mmd", show_default=True, help="The method.")
@count("--starts", help=f"Begin with the best of N random choices (mmd, chi-square).  [default: {STARTS}]")
@count("--criticisms", help="Also write the N rows that the chosen ones represent worst.")
@text_options
@scan_options
@missing_option("keep", "drop", "state", "error")
@unknown_option
@weights_option
@seed_option
@answering_rows
def select(
    model: Path,
    table: Path,
    k: int | None,
    tolerance: float | None,
    by: str,
    starts: int | None,
    criticisms: int | None,
    missing: str,
    unknown: UnknownName,
    weights: str | None,
    weight_kind: str | None,
    seed: int | None,
) -> RowsAnswer:
    """Choose rows that stand for TABLE, and say how many of its rows each stands for.

    mmd exchanges rows until no single exchange brings their mean under the Fisher kernel of MODEL (.json, .bif, .xdsl,
    or .uai) nearer to that of the whole table. mmd-critic and protodash reduce the same distance by adding one row at a
    time, so the first rows are also the choice for a smaller k; protodash also weights each row. coreset chooses rows
    with weights in whole rows, from which the parameters of MODEL's graph are nearly those of the whole table.
    kernel-thinning halves the table until k rows are left. chi-square fits each column on its own; random is the
    baseline. These two take only the columns and their states from MODEL. With --missing keep, chi-square treats
    missing as a state, random ignores missing cells, and all other methods use the expected features given the known
    cells.

    Instead of -k, --tolerance X chooses the fewest rows whose distance is at most the share X of that of one random
    row; 100 random rows reach 0.01.

    Rows are written as they are in the file, with all its columns, also those that MODEL does not know; missing cells
    keep their words. The first column is the position in the file, counted from 0. The last one, stands_for, is the
    number of rows whose nearest chosen row is this one; before it come the weight (protodash, coreset) and the role
    (--criticisms). The output is CSV on stdout, or the FILE of -o by its ending: .csv, .tsv (.gz may follow), .parquet,
    .arrow, .xlsx. The
    distance and the time are printed on stderr, or with --json instead of the rows.

    \b
    Example
      fishernet select model.json patients.csv -k 50 --seed 1 -o chosen.csv
      fishernet select model.json patients.csv --by protodash --tolerance 0.01 --criticisms 5
    """  # noqa: D301
    how = _checked(k, tolerance, by, starts)
    number = fixed_seed(seed)
    watch = Stopwatch()
    with progress_bar() as progress:
        with watch.time("read"):
            progress("reading the table", 0, None)
            network = read_bayesian(model, "select", "choose rows by")
            file = open_rows(table, progress)
            how_read = {"missing": missing, "unknown": unknown, "weights": weights, "weight_kind": weight_kind}
            rows = read_known_rows(table, file, network.variables, **how_read)
            data, positions = with_states_of_model(rows.table), rows.positions
            if not data.total:
                raise SchemaError(f"{table}: all rows have weight 0, so there is nothing to stand for")
        # the kernel draws where exact probabilities would not fit
        kernel = cache(lambda: row_kernel(network, data, seed=number))
        with watch.time("select"):
            found = BY[by](kernel, data, k, **how, seed=number, progress=progress)
            others = None
            if criticisms is not None:
                wanted = check.integer(criticisms, "criticisms", least=1, most=_left(found), note="the rows not chosen")
                others = criticisms_of(kernel(), data, found, wanted, progress=progress)
        with watch.time("count"):
            progress("counting what each row stands for", 0, None)
            stands_for = found.stands_for()
            if stands_for.dtype.kind == "f":
                stands_for = stands_for.round(DIGITS)  # sums of weights as 1.8 show how numbers are added
    _tell_of_gaps(found, positions)
    facts = {"model": str(model), "table": str(table), **_facts(found, others, positions, stands_for)}
    facts |= {"seed": number, "seconds": watch.seconds}
    asked = None if by not in ROW_BY_ROW or tolerance is not None else k
    return RowsAnswer(facts, frame=_rows(file, found, others, positions, stands_for), remark=_remark(facts, asked))


def _checked(k: int | None, tolerance: float | None, by: str, starts: int | None) -> Facts:
    """Return the options of a method; what does not go together is refused."""
    if k is None and tolerance is None:
        raise click.UsageError("Missing option '-k', or '--tolerance' with --by mmd-critic, protodash or coreset.")
    if tolerance is not None and by not in ROW_BY_ROW:
        raise SchemaError(
            f"--by {by} chooses a given number of rows; --tolerance needs --by mmd-critic, protodash or coreset"
        )
    if starts is not None and by in WITHOUT_STARTS:
        raise SchemaError(f"--by {by} does not begin with random choices; --starts is for mmd and chi-square")
    check.integer(STARTS if starts is None else starts, "starts", least=1, most=MOST_STARTS)
    return {"tolerance": tolerance, "n_starts": STARTS if starts is None else starts}


def _left(found: Selection) -> int:
    """Return how many rows were not chosen; SchemaError when there are none."""
    left = found.table.n_rows - len(found.indices)
    if not left:
        raise SchemaError("all rows are chosen, so there is none to criticize them")
    return left


def _tell_of_gaps(found: Selection, positions: npt.NDArray[np.int64]) -> None:
    """Say when chosen rows know few cells: such a row is as expected in all others, and so near the mean of all."""
    if not is_table(found.table) or not found.table.has_missing:
        return
    chosen = found.table[found.indices].select(seen_among(found.table.variables))
    columns = [v.missing(cells) for v, cells in zip(chosen.variables, chosen.codes, strict=True)]
    empty = positions[found.indices[2 * np.sum(columns, axis=0) > len(columns)]]
    if len(empty):
        rows = ", ".join(map(str, empty[:MOST_TOLD].tolist())) + (", ..." if len(empty) > MOST_TOLD else "")
        complain(
            f"note: chosen rows ({rows}) know less than half of their cells: a row is as expected in what it lacks, "
            "and so near the mean of all; --missing drop chooses among complete rows"
        )


def _facts(
    found: Selection, others: Selection | None, positions: npt.NDArray[np.int64], stands_for: Weights
) -> dict[str, Any]:
    replaced = len(found.trace) - 1 if found.criterion not in ROW_BY_ROW else 0
    return {
        "criterion": found.criterion,
        "k": len(found.indices),
        "rows": found.table.total,
        "distance_at_start": float(found.trace[0]) if len(found.trace) and found.criterion not in ROW_BY_ROW else None,
        "distance": found.distance,
        "sweeps": found.sweeps,
        "replacements": max(0, replaced),
        "trace": found.trace,
        "gains": found.gains,
        "indices": positions[found.indices],
        "weights": found.weights,
        "stands_for": stands_for,
        "criticisms": None if others is None else positions[others.indices],
    }


def _rows(
    file: Originals | ScannedOriginals,
    found: Selection,
    others: Selection | None,
    positions: npt.NDArray[np.int64],
    stands_for: Weights,
) -> pa.Table:
    """Return the chosen rows, and the criticisms after them, as they are in the file."""
    chosen = [found.indices] if others is None else [found.indices, others.indices]
    where = positions[np.concatenate(chosen)]
    more = len(where) - len(found.indices)
    after: dict[str, object] = {}
    if others is not None:
        after["role"] = ["prototype"] * len(found.indices) + ["criticism"] * more
    if found.weights is not None:
        after["weight"] = np.concatenate([found.weights, np.zeros(more)])
    after["stands_for"] = np.concatenate([stands_for, np.zeros(more, dtype=stands_for.dtype)])
    return with_columns(file.take(where), {"row": where}, after)


def _remark(facts: Facts, asked: int | None) -> str:
    """Return what was reached as one line; with fewer rows than were asked for, why."""
    reached = "nothing was measured"
    if facts["distance_at_start"] is not None:
        reached = (
            f"{facts['distance_at_start']:.6g} -> {facts['distance']:.6g}, "
            f"sweeps {facts['sweeps']:,}, replacements {facts['replacements']:,}"
        )
    elif len(facts["trace"]):
        fewer = f" of {asked:,} (no other row brings them nearer)" if asked is not None and facts["k"] < asked else ""
        reached = f"{several(facts['k'], 'row')}{fewer}, distance {facts['distance']:.6g}"
    return f"{facts['criterion']} {reached}, seconds: {seconds_words(facts)}, seed {facts['seed']}"
