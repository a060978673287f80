"""``fishernet learn``: from a table to a network, or to a graph."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from fishernet.cli.learners import FRACTIONAL, LEARNERS, TESTS, learner_of
from fishernet.cli.models import check_model_output, write_model
from fishernet.cli.options import (
    Reading,
    Rules,
    columns_option,
    names_of,
    reading_options,
    refuse_empty,
    rule_options,
    tuning_options,
)
from fishernet.cli.output import as_json_option, check_folder, write_facts, write_lines
from fishernet.cli.terminal import Stopwatch, progress_bar
from fishernet.compare import hold_out
from fishernet.learn.dependency_network import SEARCHES as INPUT_SEARCHES
from fishernet.learn.markov_graph import SEARCHES as BLANKET_SEARCHES
from fishernet.learn.structure import SEARCHES
from fishernet.plot import check_output, write_graph
from fishernet.scores import SCORES


@click.command(short_help="Learn a network or a graph from a table.")
@click.argument("table", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    metavar="MODEL",
    help="Save the network or graph (.json; bn and its simple forms also .bif).",
)
@click.option("--plot", type=click.Path(path_type=Path), metavar="FILE", help="Draw the graph (.png, .svg or .pdf).")
@click.option(
    "--model",
    "kind",
    type=click.Choice([kind for kind in LEARNERS if kind != FRACTIONAL]),
    default="bn",
    show_default=True,
    help="A Bayesian network (bn), a dependency network (dn), a Bayesian network of a simple form, or an undirected "
    "graph (gaussian, markov).",
)
@click.option("--target", metavar="COLUMN", help="naive-bayes, tan, kdb: the class to be predicted.")
@click.option(
    "--k",
    type=int,
    metavar="N",
    help="kdb: at most N other features as parents of each.  [default: 3]  markov, knn-mi: N neighbours.  [default: 5]",
)
@click.option(
    "--score",
    metavar="|".join([*SCORES, FRACTIONAL]),
    help="bn, dn: what is maximized; bdeu:10 is bdeu with that sample size. fractional is for bn on columns of "
    "numbers.  [default: bic]",
)
@click.option(
    "--search",
    metavar="|".join(dict.fromkeys([*SEARCHES, *INPUT_SEARCHES, *BLANKET_SEARCHES])),
    help="How it is searched for; dn: greedy or tabu; markov: iamb or inter-iamb.  [default: order; dn: greedy; "
    "markov: iamb]",
)
@click.option("--max-parents", type=int, metavar="N", help="bn: at most N parents a variable.")
@click.option("--max-inputs", type=int, metavar="N", help="dn: at most N inputs a variable.")
@tuning_options("bn")
@rule_options
@click.option(
    "--smoothing",
    metavar="X|snml|zeros",
    help="Pseudo-count of each cell, snml, or zeros: zero counts become one.  [default: 1; dn: zeros]",
)
@click.option(
    "--ess", type=float, metavar="X", help="bn and its forms: instead, pseudo-counts that add up to X a variable."
)
@click.option(
    "--rule",
    metavar="hc|and|or",
    help="gaussian, markov: join variables that are in each other's Markov blankets (and), or one in the other's (or); "
    "gaussian: climb among the edges of or (hc).  [default: hc; markov: and]",
)
@click.option(
    "--prior/--no-prior", default=None, help="gaussian: whether edges are few beforehand.  [default: --prior]"
)
@click.option("--test", metavar="|".join(TESTS), help="markov: the test of independence.  [default: knn-mi]")
@click.option("--alpha", type=float, metavar="X", help="markov: the level of the tests.  [default: 0.05]")
@click.option("--permutations", type=int, metavar="N", help="markov, knn-mi: N permutations a test.  [default: 200]")
@click.option("--scheme", metavar="local|simple", help="markov, knn-mi: which are permuted.  [default: local]")
@columns_option
@reading_options("error", "drop", "state")
@click.option(
    "--holdout", type=float, metavar="SHARE", help="All but markov: share of the rows held out.  [default: 0.2]"
)
@click.option("--max-seconds", type=float, metavar="S", help="bn: take the best found after S seconds.")
@click.option(
    "--seed",
    type=int,
    default=0,
    show_default=True,
    metavar="N",
    help="Decides which rows are held out, what restarts change, and permutations.",
)
@as_json_option
def learn(
    table: Path,
    output: Path | None,
    plot: Path | None,
    kind: str,
    rules: Rules,
    tuning: dict[str, Any],
    columns: str | None,
    reading: Reading,
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

    Columns of numbers are taken as they are by three kinds: a Gaussian Markov network (gaussian) has an undirected
    graph, learned without anything to tune; bn with --score fractional has arcs between linear-Gaussian variables; and
    markov finds an undirected graph alone, by tests of independence, of which knn-mi sees any dependence, fisher-z
    linear ones, and g-squared and chi-squared take tables of states.

    A share of the rows is held out at random (--holdout, --seed). Structure and parameters are learned from the other
    rows, and the held-out log-likelihood, in nats a row, is that of this network. The network saved with -o has the
    same arcs, and its parameters are fitted again on all rows. With --holdout 0, and by markov, everything is learned
    from all rows. States and bins are those of the whole table. The same command prints the same numbers.

    Names that hold commas stand in double quotes: --require '"a,b",c'.

    \b
    Examples: four bins for numbers, no arc into the age; what each variable depends on, one by one; a classifier; the
    graph of numbers
      fishernet learn patients.csv --bins 4 --tiers "age;smoke,cough" -o model.json
      fishernet learn patients.csv --model dn --max-inputs 3 -o model.json
      fishernet learn patients.csv --model tan --target cough -o model.json
      fishernet learn cells.csv --model gaussian --plot cells.svg
    """  # noqa: D301
    learner = learner_of(kind, {**options, **rules, **tuning}, seed)
    holdout = learner.holdout if options["holdout"] is None else options["holdout"]
    if columns is not None:
        reading = replace(reading, columns=names_of(columns, "--columns"))
    if output is not None:
        check_model_output(output, learner.endings)
    if plot is not None:
        check_output(plot)
        check_folder(plot)
    watch = Stopwatch()
    with progress_bar() as progress:
        with watch.time("read"):
            progress("reading the table", 0, None)
            rows = refuse_empty(table, learner.read(table, reading))
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
        if plot is not None:
            with watch.time("plot"):
                progress("drawing the graph", 0, None)
                write_graph(network, plot)
    facts = {
        "table": str(table),
        "kind": kind,
        "rows": rows.total,
        "training_rows": training.total,
        "held_out_rows": held_out.total,
        "variables": list(rows.names),
        **found,
        "seconds": watch.seconds,
        "seed": seed,
        "model": None if output is None else str(output),
        "plot": None if plot is None else str(plot),
    }
    if as_json:
        write_facts(facts)
    else:
        write_lines(learner.text(facts))
