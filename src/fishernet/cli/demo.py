"""``fishernet demo``: the main job on the two real tables that come with the library.

A network is learned from one half of each table; then a few rows stand for that half (Leppä-aho et al., 2020,
section 7.1 and Fig. 1).
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable, Iterator, Mapping
from functools import partial

import click
import numpy as np

from fishernet.cli.terminal import Answer, Facts, Stopwatch, aligned, json_option, number
from fishernet.data import Table
from fishernet.datasets import load
from fishernet.kernels import FisherKernel
from fishernet.learn import Likelihood, hold_out, parameters, structure
from fishernet.select import Selection, greedy_chi_square, greedy_mmd, random_subset

TABLES = {
    "nursery": partial(load, "nursery"),
    "letter": partial(load, "letter", bins=4, binning="equal-width"),
}
SHARE, SEED = 0.5, 0
N_CHOSEN, N_RANDOM = 200, 1000
WIDTH = 110  # of a line of arcs
LEARNED: dict[str, Callable[[Facts], str]] = {  # what is printed of a table: the words, and what its facts say
    "rows": lambda facts: f"{facts['rows']:,}",
    "rows learned from": lambda facts: f"{facts['training_rows']:,}",
    "variables": lambda facts: f"{facts['variables']:,}",
    "arcs": lambda facts: f"{len(facts['arcs']):,}",
    "distinct local scores": lambda facts: f"{facts['local_scores']:,}",
    "BIC (nats)": lambda facts: number(facts["bic"]),
    "held-out log-likelihood per row": lambda facts: number(facts["held_out_log_likelihood_per_row"]),
}
LOSSES = {
    "all rows of the half": "all",
    "greedy by Fisher kernel (MMD)": "fisher_mmd",
    "greedy by chi-square": "chi_square",
    f"at random, mean of {N_RANDOM:,}": "random_mean",
    "at random, sd": "random_sd",
}
CHOICES = {"by Fisher kernel": "fisher_mmd", "by chi-square": "chi_square", "and refit at random": "random"}


@click.command(hidden=True)
@json_option
def demo(as_json: bool) -> None:
    """Learn two real tables from one half of their rows, predict the other half, and choose rows that stand for all.

    Structure by a search over orders with BIC, parameters with pseudo-count one; the numbers of "letter" are cut into
    four bins of equal width.
    """
    facts = {name: _facts_of(read) for name, read in TABLES.items()}
    Answer(facts, _text(facts)).write(None, as_json)


def _facts_of(read: Callable[[], Table]) -> Facts:
    """Learn from one half of a table, predict the other, and choose rows that stand for the first."""
    watch = Stopwatch()
    with watch.time("load"):
        table = read()
        training, held_out = hold_out(table, SHARE, seed=SEED)
    with watch.time("learn"):
        found = structure(training)
    with watch.time("fit"):
        network = parameters(found.dag, training)
    with watch.time("score"):
        likelihood = Likelihood.of(network, held_out)

    def loss(chosen: Selection) -> float:
        """Return the mean negative log-likelihood of the other half, with parameters fitted on chosen rows."""
        return float(-parameters(found.dag, training[chosen.indices]).log_prob(held_out).mean())

    greedy = {
        "fisher_mmd": lambda: greedy_mmd(FisherKernel(network), training, N_CHOSEN, seed=SEED),
        "chi_square": lambda: greedy_chi_square(training, N_CHOSEN, seed=SEED),
    }
    return {
        "rows": table.n_rows,
        "training_rows": training.n_rows,
        "variables": len(table.variables),
        "arcs": [list(edge) for edge in found.dag.edges],
        "bic": found.score,
        "local_scores": found.n_scores,
        "held_out_log_likelihood_per_row": likelihood.per_row,
        "seconds": watch.seconds,
        "selection": {"chosen_rows": N_CHOSEN, "all": -likelihood.per_row, **_losses(training, greedy, loss)},
    }


def _losses(
    training: Table, greedy: Mapping[str, Callable[[], Selection]], loss: Callable[[Selection], float]
) -> Facts:
    """Return what is lost by rows chosen in different ways, at random over many subsets, and how long each took."""
    watch = Stopwatch()
    chosen = {}
    for name, choose in greedy.items():
        with watch.time(name):
            chosen[name] = choose()
    with watch.time("random"):
        at_random = np.array([loss(random_subset(training, N_CHOSEN, seed=i)) for i in range(N_RANDOM)])
    return {
        **{name: loss(selection) for name, selection in chosen.items()},
        "random_mean": float(at_random.mean()),
        "random_sd": float(at_random.std(ddof=1)),
        "seconds": watch.seconds,
    }


def _text(tables: Mapping[str, Facts]) -> Iterator[str]:
    yield from ("A Bayesian network learned from one half of the rows, and how well it predicts the other half:", "")
    columns = list(tables.values())
    cells = [["", *tables], *([words, *map(told, columns)] for words, told in LEARNED.items())]
    parts = list(columns[0]["seconds"])
    cells += [[f"seconds to {part}", *(f"{facts['seconds'][part]:.4f}" for facts in columns)] for part in parts]
    yield from aligned(cells, right=True)
    for name, facts in tables.items():
        arcs = ", ".join(f"{parent}\0->\0{child}" for parent, child in facts["arcs"])  # an arc stays on one line
        wrapped = textwrap.wrap(f"{name}: {arcs}", WIDTH, break_on_hyphens=False, break_long_words=False)
        yield from ("", *(line.replace("\0", " ") for line in wrapped))
    title = f"{N_CHOSEN} rows in place of that half: the parameters refitted on them, and what that loses:"
    yield from ("", title, "")
    chosen = [facts["selection"] for facts in columns]
    cells = [["held-out negative log-likelihood per row", *tables]]
    cells += [[words, *(number(facts[fact]) for facts in chosen)] for words, fact in LOSSES.items()]
    seconds = {how: [f"{facts['seconds'][part]:.4f}" for facts in chosen] for how, part in CHOICES.items()}
    cells += [[f"seconds to choose {how}", *told] for how, told in seconds.items()]
    yield from aligned(cells, right=True)
    yield from ("", "Next: fishernet learn YOUR.csv -o model.json    (fishernet --help lists all commands)")


if __name__ == "__main__":
    demo()
