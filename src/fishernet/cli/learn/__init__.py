"""``fishernet learn``: from a table to a Bayesian network or a dependency network."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

import click

from fishernet.cli.holdout import count_rows, hold_out
from fishernet.cli.inputs.models import Model, check_model_output, write_model
from fishernet.cli.inputs.rules import Rules, rule_options
from fishernet.cli.inputs.tables import Reading, reading_options, refuse_empty
from fishernet.cli.learn import trees
from fishernet.cli.learn.bayesian import BayesianLearner
from fishernet.cli.learn.dependency import DependencyLearner
from fishernet.cli.terminal.output import Facts, as_json_option, write_facts, write_lines
from fishernet.cli.terminal.progress_bar import progress_bar
from fishernet.cli.terminal.stopwatch import Stopwatch
from fishernet.errors import FishernetError
from fishernet.learn.dependency_network import SEARCHES as INPUT_SEARCHES
from fishernet.learn.structure import EXACT, SEARCHES
from fishernet.progress import Progress
from fishernet.scores import SCORES
from fishernet.table import Table


class Learner(Protocol):
    """Learns one kind of network: `find` comes first, then `fit` on any table, and `facts` for what was fitted."""

    @property
    def endings(self) -> Sequence[str]:
        """Of the files that it can be written to."""

    def find(self, table: Table, progress: Progress) -> None:
        """Search for the structure."""

    def fit(self, table: Table) -> Model:
        """Return the network of this structure, fitted to a table."""

    def facts(self, network: Any, training: Table, held_out: Table) -> dict[str, Any]:
        """Return what was found, and how well it predicts the rows held out."""

    def text(self, facts: Facts) -> Iterable[str]:
        """Return the facts as lines for people."""


LEARNERS: dict[str, Callable[..., Learner]] = {"bn": BayesianLearner, "dn": DependencyLearner, **trees.LEARNERS}


@click.command(short_help="Learn a network from a table.")
@click.argument("table", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="MODEL",
    help="Save the network (.json; all but dn also .bif).",
)
@click.option(
    "--model",
    "kind",
    type=click.Choice(list(LEARNERS)),
    default="bn",
    show_default=True,
    help="A Bayesian network (bn), a dependency network (dn), or a Bayesian network of a simple form.",
)
@click.option("--target", metavar="COLUMN", help="naive-bayes, tan, kdb: the class to be predicted.")
@click.option("--k", type=int, metavar="N", help="kdb: at most N other features as parents of each.  [default: 3]")
@click.option(
    "--score",
    metavar="|".join(SCORES),
    help="bn, dn: what is maximized; bdeu:10 is bdeu with that sample size.  [default: bic]",
)
@click.option(
    "--search",
    metavar="|".join(dict.fromkeys([*SEARCHES, EXACT, *INPUT_SEARCHES])),
    help="How it is searched for; dn: greedy or tabu.  [default: hill-climb; dn: greedy]",
)
@click.option("--max-parents", type=int, metavar="N", help="bn: at most N parents a variable.")
@click.option("--max-inputs", type=int, metavar="N", help="dn: at most N inputs a variable.")
@click.option("--candidates", type=int, metavar="N", help="bn: arcs only to the N variables that depend most.")
@click.option("--restarts", type=int, metavar="N", help="bn: go on from the best graph N times, changed at random.")
@click.option("--perturb", type=int, metavar="N", help="bn: how many random changes a restart makes.")
@click.option("--tenure", type=int, metavar="N", help="bn, tabu: an arc that was changed stays as it is for N steps.")
@click.option("--patience", type=int, metavar="N", help="bn, tabu: end after N steps that better nothing.")
@rule_options
@click.option(
    "--smoothing",
    metavar="X|snml|zeros",
    help="Pseudo-count of each cell, snml, or zeros: zero counts become one.  [default: 1; dn: zeros]",
)
@click.option("--ess", type=float, metavar="X", help="All but dn: instead, pseudo-counts that add up to X a variable.")
@reading_options("error", "drop", "state")
@click.option(
    "--holdout", type=float, default=0.2, show_default=True, metavar="SHARE", help="Share of the rows held out."
)
@click.option("--max-seconds", type=float, metavar="S", help="bn: take the best found after S seconds.")
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    metavar="N",
    help="Decides which rows are held out, and what restarts change.",
)
@as_json_option
def learn(
    table: Path,
    output: Path | None,
    kind: str,
    rules: Rules,
    reading: Reading,
    holdout: float,
    seed: int,
    as_json: bool,
    **options: Any,
) -> None:
    """Learn a network from TABLE (.csv, .tsv, .arff, .parquet, .arrow).

    A Bayesian network (bn) has no cycles and gives exact probabilities. In a dependency network (dn) every variable
    chooses its inputs by itself; its rows are drawn by pseudo-Gibbs sampling, and it is measured by its
    pseudo-log-likelihood.

    Three forms of Bayesian network predict one variable (--target) from all the others: with the class as their only
    parent (naive-bayes), in a tree below it (tan), or with up to --k parents besides it (kdb). A chow-liu tree is the
    likeliest of all trees over all variables.

    A share of the rows is held out at random (--holdout, --seed). Structure and parameters are learned from the other
    rows, and the held-out log-likelihood, in nats a row, is that of this network. The network saved with -o has the
    same arcs, and its parameters are fitted again on all rows. With --holdout 0 everything is learned from all rows.
    States and bins are those of the whole table. The same command prints the same numbers.

    Names that hold commas stand in double quotes: --require '"a,b",c'.

    \b
    Examples: four bins for numbers, no arc into the age; what each variable depends on, one by one; a classifier
      fishernet learn patients.csv --bins 4 --tiers "age;smoke,cough" -o model.json
      fishernet learn patients.csv --model dn --max-inputs 3 -o model.json
      fishernet learn patients.csv --model tan --target cough -o model.json
    """  # noqa: D301
    options = {**options, **rules}
    _refuse_others(kind, options)
    options["score"] = options["score"] or "bic"
    learner = LEARNERS[kind](seed=seed, **{name: value for name, value in options.items() if name in TAKEN[kind]})
    if output is not None:
        check_model_output(output, learner.endings)
    watch = Stopwatch()
    with progress_bar() as progress:
        with watch.time("read"):
            progress("reading the table", 0, None)
            rows = refuse_empty(table, reading.read(table))
            training, held_out = hold_out(rows, holdout, seed)
        with watch.time("learn"):
            learner.find(training, progress)
        with watch.time("fit"):
            network = learner.fit(training)
        with watch.time("score"):
            found = learner.facts(network, training, held_out)
        if output is not None:
            with watch.time("save"):
                write_model(learner.fit(rows), output)
    facts = {
        "table": str(table),
        "kind": kind,
        "rows": count_rows(rows),
        "training_rows": count_rows(training),
        "held_out_rows": count_rows(held_out),
        "variables": list(rows.names),
        **found,
        "seconds": watch.seconds,
        "seed": seed,
        "model": None if output is None else str(output),
    }
    if as_json:
        write_facts(facts)
    else:
        write_lines(learner.text(facts))


BOTH = {"score", "search", "smoothing"}
TAKEN = {
    "bn": BOTH
    | {"max_parents", "ess", "max_seconds", "required", "forbidden", "tiers"}
    | {"candidates", "restarts", "perturb", "tenure", "patience"},
    "dn": BOTH | {"max_inputs"},
    **trees.TAKEN,
}
OPTION = {"required": "--require", "forbidden": "--forbid"}  # the others are called as they are
NAMED = {"bn": "a Bayesian network (--model bn)", "dn": "a dependency network (--model dn)", **trees.NAMED}


def _refuse_others(kind: str, options: Mapping[str, Any]) -> None:
    """Raise FishernetError when an option was given that only makes sense for other kinds of network."""
    for name, value in options.items():
        if name not in TAKEN[kind] and value is not None and value != []:
            option = OPTION.get(name, f"--{name.replace('_', '-')}")
            other = next(known for known in TAKEN if name in TAKEN[known])
            raise FishernetError(f"{option} is for {NAMED[other]}; it does not go with {NAMED[kind]}")
