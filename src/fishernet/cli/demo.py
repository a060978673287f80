"""``fishernet demo``: the main job on the two real tables that come with the library.

A network is learned from one half of each table; then a few rows stand for that half (P1, section 7.1 and Fig. 1).
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial

import click
import numpy as np

from fishernet.cli.output import Facts, aligned, as_json_option, number, write_facts, write_lines
from fishernet.cli.terminal import Stopwatch
from fishernet.compare import Likelihood, hold_out
from fishernet.data import Table
from fishernet.datasets import load
from fishernet.kernels import FisherKernel
from fishernet.learn import parameters, structure
from fishernet.learn.search import SearchResult
from fishernet.models import BayesianNetwork
from fishernet.select import Selection, greedy_chi_square, greedy_mmd, random_subset

SHARE, SEED = 0.5, 0


@dataclass(frozen=True)
class LearnedHalf:
    """A network learned from one half of a table, and the other half.

    Attributes
    ----------
    training, held_out : Table
    found : SearchResult
    network : BayesianNetwork
    likelihood : Likelihood
        Of the rows held out.
    seconds : dict from str to float
        How long each step took.
    """

    training: Table
    held_out: Table
    found: SearchResult
    network: BayesianNetwork
    likelihood: Likelihood
    seconds: dict[str, float]

    def facts(self) -> Facts:
        """Return what was learned, how well it predicts the other half, and how long that took."""
        return {
            "rows": self.training.n_rows + self.held_out.n_rows,
            "training_rows": self.training.n_rows,
            "variables": len(self.training.variables),
            "arcs": [list(edge) for edge in self.found.dag.edges],
            "bic": self.found.score,
            "local_scores": self.found.n_scores,
            "held_out_log_likelihood_per_row": self.likelihood.per_row,
            "seconds": self.seconds,
        }


def learn_half(read: Callable[[], Table]) -> LearnedHalf:
    """Learn from one half of a table, and predict the other."""
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
    return LearnedHalf(training, held_out, found, network, likelihood, watch.seconds)


N_CHOSEN = 200
N_RANDOM = 1000


def choose_rows(half: LearnedHalf) -> Facts:
    """Return how well the held-out half is predicted by parameters refitted on rows chosen in different ways.

    The graph stays. Each loss is the negative log-likelihood a held-out row, in nats; random rows have its mean and
    standard deviation over 1000 subsets.
    """
    watch = Stopwatch()
    by_criterion: dict[str, Callable[[], Selection]] = {
        "fisher_mmd": lambda: greedy_mmd(FisherKernel(half.network), half.training, N_CHOSEN, seed=SEED),
        "chi_square": lambda: greedy_chi_square(half.training, N_CHOSEN, seed=SEED),
    }
    losses = {}
    for name, choose in by_criterion.items():
        with watch.time(name):
            chosen = choose()
        losses[name] = _loss(half, chosen)
    with watch.time("random"):
        at_random = np.array([_loss(half, random_subset(half.training, N_CHOSEN, seed=i)) for i in range(N_RANDOM)])
    return {
        "chosen_rows": N_CHOSEN,
        "all": -half.likelihood.per_row,
        **losses,
        "random_mean": float(at_random.mean()),
        "random_sd": float(at_random.std(ddof=1)),
        "seconds": watch.seconds,
    }


def _loss(half: LearnedHalf, chosen: Selection) -> float:
    refitted = parameters(half.found.dag, half.training[chosen.indices])
    return float(-refitted.log_prob(half.held_out).mean())


TABLES = {
    "nursery": partial(load, "nursery"),
    "letter": partial(load, "letter", bins=4, binning="equal-width"),
}
WIDTH = 110  # of a line of arcs


@click.command(hidden=True)
@as_json_option
def demo(as_json: bool) -> None:
    """Learn two real tables from one half of their rows, predict the other half, and choose rows that stand for all.

    Structure by a search over orders with BIC, parameters with pseudo-count one; the numbers of "letter" are cut into
    four bins of equal width.
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


if __name__ == "__main__":
    demo()
