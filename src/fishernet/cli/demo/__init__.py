"""``fishernet demo``: the main job on the two real tables that come with the library."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from functools import partial

import click

from fishernet.cli.demo.learning import learn_half
from fishernet.cli.demo.standing_in import N_CHOSEN, N_RANDOM, choose_rows
from fishernet.cli.terminal.output import Facts, aligned, as_json_option, number, write_facts, write_lines
from fishernet.datasets import load

TABLES = {
    "nursery": partial(load, "nursery"),
    "letter": partial(load, "letter", bins=4, binning="equal-width"),
}
WIDTH = 110  # of a line of arcs


@click.command(hidden=True)
@as_json_option
def demo(as_json: bool) -> None:
    """Learn two real tables from one half of their rows, predict the other half, and choose rows that stand for all.

    Structure by hill climbing with BIC, parameters with pseudo-count one; the numbers of "letter" are cut into four
    bins of equal width.
    """
    halves = {name: learn_half(read) for name, read in TABLES.items()}
    learned = {name: half.facts() for name, half in halves.items()}
    if not as_json:
        write_lines(_on_learning(learned))
    chosen = {name: choose_rows(half) for name, half in halves.items()}
    if as_json:
        write_facts({name: {**learned[name], "selection": chosen[name]} for name in halves})
        return
    write_lines(_on_choosing(chosen))
    write_lines(["", "Next: fishernet learn YOUR.csv -o model.json    (fishernet --help lists all commands)"])


def _on_learning(tables: Mapping[str, Facts]) -> list[str]:
    lines = ["A Bayesian network learned from one half of the rows, and how well it predicts the other half:", ""]
    lines += aligned(_learning_cells(tables), right=True)
    for name, facts in tables.items():
        arcs = ", ".join(f"{parent}\0->\0{child}" for parent, child in facts["arcs"])  # an arc stays on one line
        wrapped = textwrap.wrap(f"{name}: {arcs}", WIDTH, break_on_hyphens=False, break_long_words=False)
        lines += ["", *(line.replace("\0", " ") for line in wrapped)]
    return lines


def _learning_cells(tables: Mapping[str, Facts]) -> list[list[str]]:
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


def _on_choosing(tables: Mapping[str, Facts]) -> list[str]:
    title = f"{N_CHOSEN} rows in place of that half: the parameters refitted on them, and what that loses"
    return ["", f"{title}:", "", *aligned(_choosing_cells(tables), right=True)]


def _choosing_cells(tables: Mapping[str, Facts]) -> list[list[str]]:
    columns = list(tables.values())
    losses = {
        "all rows of the half": "all",
        "greedy by Fisher kernel (MMD)": "fisher_mmd",
        "greedy by chi-square": "chi_square",
        f"at random, mean of {N_RANDOM:,}": "random_mean",
        "at random, sd": "random_sd",
    }
    seconds = {"by Fisher kernel": "fisher_mmd", "by chi-square": "chi_square", "and refit at random": "random"}
    return [
        ["held-out negative log-likelihood a row", *tables],
        *([title, *(number(facts[key]) for facts in columns)] for title, key in losses.items()),
        *(
            [f"seconds to choose {how}", *(f"{facts['seconds'][key]:.4f}" for facts in columns)]
            for how, key in seconds.items()
        ),
    ]
