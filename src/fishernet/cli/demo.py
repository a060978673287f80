"""``fishernet demo``: the main job on the two real tables that come with the library."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from functools import partial

import click

from fishernet.cli.holdout import Likelihood, hold_out
from fishernet.cli.terminal.output import Facts, aligned, as_json_option, number, write_facts, write_lines
from fishernet.cli.terminal.stopwatch import Stopwatch
from fishernet.datasets import load
from fishernet.learn import parameters, structure
from fishernet.table import Table

TABLES = {
    "nursery": partial(load, "nursery"),
    "letter": partial(load, "letter", bins=4, binning="equal-width"),
}
SHARE, SEED = 0.5, 0
WIDTH = 110  # of a line of arcs


@click.command(hidden=True)
@as_json_option
def demo(as_json: bool) -> None:
    """Learn two real tables from one half of their rows, and predict the other half.

    Structure by hill climbing with BIC, parameters with pseudo-count one; the numbers of "letter" are cut into four
    bins of equal width.
    """
    tables = {name: learn_half(read) for name, read in TABLES.items()}
    if as_json:
        write_facts(tables)
        return
    write_lines(["A Bayesian network learned from one half of the rows, and how well it predicts the other half:", ""])
    write_lines(aligned(_cells(tables), right=True))
    for name, facts in tables.items():
        arcs = ", ".join(f"{parent}\0->\0{child}" for parent, child in facts["arcs"])  # an arc stays on one line
        lines = textwrap.wrap(f"{name}: {arcs}", WIDTH, break_on_hyphens=False, break_long_words=False)
        write_lines(["", *(line.replace("\0", " ") for line in lines)])
    write_lines(["", "Next: fishernet learn YOUR.csv -o model.json    (fishernet --help lists all commands)"])


def learn_half(read: Callable[[], Table]) -> Facts:
    """Return what was learned from one half of a table, how well it predicts the other, and how long that took."""
    watch = Stopwatch()
    with watch.time("load"):
        table = read()
        training, held_out = hold_out(table, SHARE, SEED)
    with watch.time("learn"):
        found = structure(training)
    with watch.time("fit"):
        network = parameters(found.dag, training)
    with watch.time("score"):
        likelihood = Likelihood.of(network, held_out)
    return {
        "rows": table.n_rows,
        "training_rows": training.n_rows,
        "variables": len(table.variables),
        "arcs": [list(edge) for edge in found.dag.edges],
        "bic": found.score,
        "local_scores": found.n_scores,
        "held_out_log_likelihood_per_row": likelihood.per_row,
        "seconds": watch.seconds,
    }


def _cells(tables: dict[str, Facts]) -> list[list[str]]:
    columns = list(tables.values())
    parts = list(columns[0]["seconds"])
    return [
        ["", *tables],
        ["rows", *(f"{facts['rows']:,}" for facts in columns)],
        ["rows learned from", *(f"{facts['training_rows']:,}" for facts in columns)],
        ["variables", *(f"{facts['variables']:,}" for facts in columns)],
        ["arcs", *(f"{len(facts['arcs']):,}" for facts in columns)],
        ["distinct local scores", *(f"{facts['local_scores']:,}" for facts in columns)],
        ["BIC (nats)", *(number(facts["bic"]) for facts in columns)],
        ["held-out log-likelihood a row", *(number(facts["held_out_log_likelihood_per_row"]) for facts in columns)],
        *([f"seconds to {part}", *(f"{facts['seconds'][part]:.4f}" for facts in columns)] for part in parts),
    ]


if __name__ == "__main__":
    demo()
