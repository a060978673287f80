"""``fishernet cluster``: groups of rows, and what marks each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
import pyarrow as pa

from fishernet.base import check
from fishernet.base.errors import FishernetError
from fishernet.base.names import several
from fishernet.cli.kinds import explaining_kinds
from fishernet.cli.options import (
    Reading,
    count,
    reading_options,
    refuse_empty,
    table_argument,
)
from fishernet.cli.tables.rows import RowsAnswer, answering_rows
from fishernet.cli.tables.sources import read_originals
from fishernet.cli.terminal import Facts, aligned, number, progress_bar, shown
from fishernet.data.originals import with_columns
from fishernet.learn import Clusters, clusters
from fishernet.learn.clustering import STRUCTURES


@click.command(short_help="Find groups of rows, and what is typical of each.")
@table_argument
@count("-k", "n_clusters", help="How many clusters.  [default: as many as BIC says]")
@count("--most", default=8, show_default=True, help="Try up to N clusters where -k is not given.")
@click.option(
    "--structure",
    type=click.Choice(STRUCTURES, case_sensitive=False),
    default=STRUCTURES[0],
    show_default=True,
    help="Within a cluster, columns are independent (naive-bayes), or joined by a tree.",
)
@count("--restarts", default=10, show_default=True, help="Keep the best of N random starts.")
@count("--top", default=3, show_default=True, help="How many states to name per cluster.")
@count("--seed", default=0, show_default=True, help="The same seed finds the same clusters.")
@reading_options("keep", "drop", "state", "error")
@answering_rows
@explaining_kinds
def cluster(
    table: Path, n_clusters: int | None, most: int, structure: str, restarts: int, top: int, seed: int, **options: Any
) -> RowsAnswer:
    """Put the rows of TABLE into clusters that make its columns nearly independent, and say what marks each.

    The rows come as they are in the file; behind their columns come "cluster", counted from 0 by falling share, and
    "probability", how sure that is. They are written as CSV to stdout, or to the FILE of -o by its ending: .csv, .tsv
    (.gz may follow), .parquet, .arrow. The shares of the clusters are on stderr, with the states that are likelier in
    each than in the others: those first that tell most of it, with their probability in the cluster and elsewhere.
    With --json all of it is one object, and all states are named.

    Missing cells are summed out (--missing keep), which is right where they are missing at random.

    \b
    Examples
      fishernet cluster patients.csv -o grouped.csv
      fishernet cluster patients.csv -k 3 --bins 4 --exclude name
    """  # noqa: D301
    check.integer(top, "top", least=1)
    with progress_bar() as progress:
        progress("reading the table", 0, None)
        file = read_originals(table)
        reading = Reading.out_of(options)
        if reading.bins == {}:
            raise FishernetError("cluster cuts numbers that stand beside states; leave --bins none away")
        rows = reading.read_rows(file)
        refuse_empty(table, rows.table)
        asked: dict[str, Any] = {"structure": structure, "most": most, "restarts": restarts, "seed": seed}
        found = clusters(rows.table, n_clusters, progress=progress, **asked)
    facts = {"table": str(table), "rows": rows.table.n_rows, **_facts(found, structure)}
    frame = file.frame.take(pa.array(rows.positions))
    own = {name: column.combine_chunks() for name, column in zip(OWN, found.to_frame().columns, strict=True)}
    return RowsAnswer(facts, frame=with_columns(frame, {}, own), remark="\n".join(_summary(found, top)))


OWN = ("cluster", "probability")


def _facts(found: Clusters, structure: str) -> Facts:
    return {
        "clusters": found.n_clusters,
        "structure": structure,
        "shares": found.shares,
        "bic": {str(k): score for k, score in found.scores.items()},
        "log_likelihood": found.log_likelihood,
        "converged": found.converged,
        "seed": found.seed,
        "cluster": found.labels,
        "probabilities": found.probabilities,
        "markers": lambda: found.markers().to_pylist(),
    }


def _summary(found: Clusters, top: int) -> list[str]:
    """Return the shares and what marks each cluster, a line a cluster, and by what their number was chosen."""
    named: dict[int, list[str]] = {k: [] for k in range(found.n_clusters)}
    for mark in found.markers(top).to_pylist():
        state = f"{shown(mark['variable'])} = {shown(mark['state'])}"
        named[mark["cluster"]].append(f"{state} ({_percent(mark['inside'])}, else {_percent(mark['outside'])})")
    lines = [("cluster", "share", "likelier than elsewhere")]
    lines += [(str(k), _percent(found.shares[k]), ", ".join(marks) or "-") for k, marks in named.items()]
    tried = ", ".join(f"{k}: {number(score)}" for k, score in found.scores.items())
    end = "" if found.converged else "; not converged"
    return [*aligned(lines), f"{several(found.n_clusters, 'cluster')}, BIC {tried}; seed {found.seed}{end}"]


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
