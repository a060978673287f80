"""``fishernet learn``: from a table to a network, or to a graph."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

import click

from fishernet.base.errors import FishernetError
from fishernet.base.progress import Progress
from fishernet.cli import learners as trees
from fishernet.cli.learners import (
    TESTS,
    BayesianLearner,
    DependencyLearner,
    GaussianLearner,
    LinearLearner,
    MarkovLearner,
)
from fishernet.cli.options import (
    TUNING,
    Learned,
    Reading,
    Rules,
    check_model_output,
    columns_option,
    count_rows,
    hold_out,
    names_of,
    reading_options,
    refuse_empty,
    rule_options,
    tuning_options,
    write_model,
)
from fishernet.cli.output import Facts, as_json_option, check_folder, write_facts, write_lines
from fishernet.cli.terminal import Stopwatch, progress_bar
from fishernet.learn.dependency_network import SEARCHES as INPUT_SEARCHES
from fishernet.learn.markov_graph import SEARCHES as BLANKET_SEARCHES
from fishernet.learn.structure import SEARCHES
from fishernet.plot import check_output, write_graph
from fishernet.scores import SCORES


class Learner(Protocol):
    """Learns one kind of network.

    `read` the rows first; then `find` the structure in some, `fit` the network to any, and tell the `facts` of what was
    fitted. Rows are a `Table`, of states or of numbers.
    """

    @property
    def endings(self) -> Sequence[str]:
        """Of the files that it can be written to."""

    def read(self, path: Path, reading: Reading) -> Any:
        """Read the rows of a file."""

    def find(self, rows: Any, progress: Progress) -> None:
        """Search for the structure."""

    def fit(self, rows: Any) -> Learned:
        """Return the network of this structure, fitted to some rows."""

    def facts(self, network: Any, training: Any, held_out: Any) -> dict[str, Any]:
        """Return what was found, and how well it predicts the rows held out."""

    def text(self, facts: Facts) -> Iterable[str]:
        """Return the facts as lines for people."""


FRACTIONAL = "fractional"  # the score of numbers, with which "bn" is another kind of network
LEARNERS: dict[str, Callable[..., Learner]] = {
    "bn": BayesianLearner,
    "dn": DependencyLearner,
    **trees.LEARNERS,
    "gaussian": GaussianLearner,
    "markov": MarkovLearner,
    FRACTIONAL: LinearLearner,
}
KINDS = [kind for kind in LEARNERS if kind != FRACTIONAL]


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
    type=click.Choice(KINDS),
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
    options = {**options, **rules, **tuning}
    kind_of_learner = FRACTIONAL if kind == "bn" and options["score"] == FRACTIONAL else kind
    _refuse_others(kind_of_learner, options)
    learner = _made(kind_of_learner, seed, options)
    holdout = _held_out_share(kind, options["holdout"])
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
        "rows": count_rows(rows),
        "training_rows": count_rows(training),
        "held_out_rows": count_rows(held_out),
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


SEARCHED = {"search", "max_parents", "max_seconds", "required", "forbidden", "tiers", *TUNING}
BOTH = {"score", "search", "smoothing", "holdout"}
TAKEN = {
    "bn": BOTH | SEARCHED | {"ess"},
    "dn": BOTH | {"max_inputs"},
    **{kind: taken | {"holdout"} for kind, taken in trees.TAKEN.items()},
    "gaussian": {"rule", "prior", "holdout"},
    "markov": {"test", "alpha", "rule", "search", "k", "permutations", "scheme"},
    FRACTIONAL: SEARCHED | {"score", "holdout"},
}
OPTION = {"required": "--require", "forbidden": "--forbid"}  # the others are called as they are
NAMED = {
    "bn": "a Bayesian network (--model bn)",
    "dn": "a dependency network (--model dn)",
    **trees.NAMED,
    "gaussian": "a Gaussian Markov network (--model gaussian)",
    "markov": "a graph found by tests (--model markov)",
    FRACTIONAL: "a Bayesian network of numbers (--score fractional)",
}


def _refuse_others(kind: str, options: Mapping[str, Any]) -> None:
    """Raise FishernetError when an option was given that only makes sense for other kinds of network."""
    for name, value in options.items():
        if name not in TAKEN[kind] and value is not None and value != []:
            option = OPTION.get(name, f"--{name.replace('_', '-')}")
            if name == "prior" and not value:
                option = "--no-prior"
            other = next(known for known in TAKEN if name in TAKEN[known])
            raise FishernetError(f"{option} is for {NAMED[other]}; it does not go with {NAMED[kind]}")


def _made(kind: str, seed: int, options: Mapping[str, Any]) -> Learner:
    """Return the learner of a kind, with the options that it takes."""
    if options["score"] == FRACTIONAL and kind != FRACTIONAL:
        raise FishernetError(f"--score {FRACTIONAL} is for {NAMED['bn']} of numbers; it does not go with {NAMED[kind]}")
    own = {name: value for name, value in options.items() if name in TAKEN[kind] and name != "holdout"}
    if "score" in own:
        own["score"] = own["score"] or "bic"
    return LEARNERS[kind](seed=seed, **own)


def _held_out_share(kind: str, asked: float | None) -> float:
    """Return the share of the rows to hold out; tests of independence give nothing that could predict them."""
    if asked is not None:
        return asked
    return 0.0 if kind == "markov" else 0.2
