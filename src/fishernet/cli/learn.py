"""``fishernet learn``: from a table to a network, or to a graph."""

from __future__ import annotations

import itertools
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
import numpy as np

from fishernet.base.progress import Call
from fishernet.base.vocabulary import ELSEWHERE, spelled
from fishernet.cli import options as option
from fishernet.cli.kinds import explaining_kinds
from fishernet.cli.learners import asked_learner, named, text_of
from fishernet.cli.models import check_model_output, same_bins, write_model
from fishernet.cli.options import LEARNED, Reading, option_of, plan_lines, refuse_empty, scales_of, taken
from fishernet.cli.tables.sources import opening, scheduler_option
from fishernet.cli.terminal import (
    FILE,
    Answer,
    Facts,
    Stopwatch,
    check_folder,
    ending,
    json_option,
    progress_bar,
)
from fishernet.compare import FalsifyResult, falsify
from fishernet.data import Table
from fishernet.data.describe import Description
from fishernet.learn import hold_out
from fishernet.learn.blankets import SEARCHES as BLANKET_SEARCHES
from fishernet.learn.fitting import KINDS
from fishernet.learn.learners import FRACTIONAL, LEARNERS, TESTS, Learner
from fishernet.learn.local_learning import SEARCHES as INPUT_SEARCHES
from fishernet.learn.missing.ways import way_with_missing
from fishernet.learn.structures import SEARCHES
from fishernet.plot import write_graph
from fishernet.plot.tooltips import check_picture_path
from fishernet.reports.findings import sample_of
from fishernet.scores import SCORES, Score, named_score

MOST_TESTED = 100_000  # rows, drawn at random
MOST_PAIRS = 400  # of columns, that are tested after the network is learned
FEW_ROWS, SHUFFLED = 500, 10  # rows, up to which arcs by chance are counted, in so many tables of shuffled columns


class Kind(click.Choice):  # type: ignore[type-arg]
    """A kind of model, however it is spelled."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the kind as it is spelled here."""
        answer = ELSEWHERE["search"].get(spelled(value)) if spelled(value) not in self.choices else None
        if answer:
            self.fail(f"{value!r} is a search, not a model (--search); {answer}", param, ctx)
        return str(super().convert(spelled(value), param, ctx))


@click.command(short_help="Learn a network or a graph from a table.")
@option.table_argument
@click.option(
    "-o",
    "--output",
    type=FILE,
    metavar="MODEL",
    help="Save the network or graph (.json, .dot, .graphml; bn and its forms: .bif, .xdsl, .net, .dsc, .xml, .uai).",
)
@click.option("--plot", type=FILE, metavar="FILE", help="Draw the graph (.png, .svg or .pdf).")
@click.option(
    "--model",
    "kind",
    type=Kind([kind for kind in LEARNERS if kind != FRACTIONAL]),
    default="bn",
    show_default=True,
    help="A Bayesian network (bn), a dependency network (dn), a Bayesian network of a simple form, a tree of hidden "
    "variables (hidden-chow-liu), or an undirected graph (gaussian, markov).",
)
@click.option("--target", metavar="COLUMN", help="naive-bayes, tan, kdb: the class to predict.")
@option.count(
    "--k",
    help="kdb: at most N other features as parents of each.  [default: 3]  markov, knn-mi: N neighbours.  [default: 5]",
)
@click.option(
    "--score",
    metavar="|".join([*SCORES, FRACTIONAL]),
    help="bn, dn: the score to maximize. bdeu:10 is BDeu with an equivalent sample size of 10. fractional is for bn on "
    "columns of numbers.  [default: bic]",
)
@click.option(
    "--search",
    metavar="|".join(dict.fromkeys([*SEARCHES, *INPUT_SEARCHES, *BLANKET_SEARCHES])),
    help="The search. dn: greedy or tabu; markov: iamb or inter-iamb.  [default: order; dn: greedy; markov: iamb]",
)
@option.count(
    "--states", "n_states", help="hidden-chow-liu: N states of each hidden variable.  [default: by held-out rows]"
)
@option.count("--max-parents", help="bn: at most N parents per variable.")
@option.count("--max-inputs", help="dn: at most N inputs per variable.")
@option.tuning_options("bn")
@option.rule_options
@click.option(
    "--smoothing",
    type=option.number_or_word,
    metavar="X|snml|zeros",
    help="Pseudo-count of each cell, snml, or zeros: zero counts become one.  [default: 1; dn: zeros]",
)
@click.option(
    "--conditionals",
    metavar="|".join(KINDS),
    help="bn and its forms: a row of probabilities for each configuration of the parents (table), or rows that "
    "configurations share: by decision trees (tree), or where merging them raises the score (merged).  "
    "[default: table]",
)
@option.amount("--ess", help="bn and its forms: instead, pseudo-counts that add up to X per variable.")
@click.option(
    "--rule",
    metavar="hc|and|or",
    help="gaussian, markov: join variables that are in each other's Markov blankets (and), or one in the other's (or); "
    "gaussian: hill climbing over the edges of or (hc).  [default: hc; markov: and]",
)
@click.option(
    "--prior/--no-prior", default=None, help="gaussian: use a prior that favours few edges.  [default: --prior]"
)
@click.option("--test", metavar="|".join(TESTS), help="markov: the test of independence.  [default: knn-mi]")
@option.amount("--alpha", help="markov: the level of the tests.  [default: 0.05]")
@option.count("--permutations", help="markov, knn-mi: N permutations per test.  [default: 200]")
@click.option(
    "--scheme",
    metavar="local|simple",
    help="markov, knn-mi: permute among rows with similar conditions (local) or among all rows (simple).  "
    "[default: local]",
)
@option.reading_options("keep", "drop", "state", "error", *LEARNED)
@option.scan_options
@scheduler_option
@option.amount("--holdout", metavar="SHARE", help="All but markov: share of the rows held out.  [default: 0.2]")
@option.amount(
    "--max-seconds", metavar="S", help="bn, markov, hidden-chow-liu: stop after S seconds with the best result so far."
)
@click.option(
    "--checkpoint",
    type=FILE,
    metavar="FILE",
    help="bn: save the state of the search to FILE; the same command continues from it.",
)
@option.count("--max-rows", help="markov: learn from at most N rows, drawn at random.")
@option.count(
    "--seed",
    default=0,
    show_default=True,
    help="Seed of the held-out rows, the restarts and the permutations.",
)
@json_option
@explaining_kinds
def learn(
    table: Path, output: Path | None, plot: Path | None, kind: str, seed: int, as_json: bool, **options: Any
) -> None:
    """Learn a network from TABLE (.csv, .tsv, .arff, .parquet, .arrow).

    A Bayesian network (bn) has no cycles and gives exact probabilities. In a dependency network (dn) every variable
    has its own inputs; rows are drawn from it by pseudo-Gibbs sampling, and it is judged by its
    pseudo-log-likelihood.

    Three forms of Bayesian network predict one variable (--target) from all the others: with the class as their only
    parent (naive-bayes), in a tree below it (tan), or with up to --k parents besides it (kdb). A chow-liu tree is the
    likeliest of all trees over all variables. In a hidden-chow-liu tree a hidden variable with several states stands
    above each column: it says less of what depends on what, and often how probable rows are best of all.

    bn and naive-bayes take numbers beside columns of states as they are; where only states will do (other kinds, scores
    of states, --search exact, --missing em, files of networks of states) numbers are cut into bins. Of columns of
    numbers alone a Gaussian Markov network (gaussian) has an undirected graph (it has a prior and a rule, see --prior
    and --rule); bn with --score fractional has arcs between linear-Gaussian variables; markov finds only an undirected
    graph, by tests of independence: knn-mi detects any dependence, fisher-z linear dependence; g-squared and
    chi-squared need columns of states.

    A share of the rows is held out at random (--holdout, --seed). Structure and parameters are learned from the other
    rows, and the held-out log-likelihood, in nats per row, is that of this network. The network saved with -o has the
    same arcs, and its parameters are fitted again on all rows. With --holdout 0, by markov, and on a cluster
    (--scheduler), everything is learned from all rows. States and bins are found in the whole table. The same command
    prints the same numbers.

    --missing em learns from rows with missing cells. It uses all known cells of each row and is right if cells are
    missing at random: whether a cell is missing may depend on the known cells of its row, not on its own value.
    --missing node-average is faster for many columns, and right if cells are missing completely at random. In held-out
    rows missing cells are summed out; a dependency network is judged by the complete rows alone.

    Put names that contain commas in double quotes: --require '"a,b",c'.

    \b
    Examples: four bins for numbers, no arc into the age; a dependency network; a classifier; a graph of numbers
      fishernet learn patients.csv --bins 4 --tiers "age;smoke,cough" -o model.json
      fishernet learn patients.csv --model dn --max-inputs 3 -o model.json
      fishernet learn patients.csv --model tan --target cough -o model.json
      fishernet learn cells.csv --model gaussian --plot cells.svg
    """  # noqa: D301
    reading = Reading.out_of(options)
    given = taken({**options, "missing": reading.way})
    learner = asked_learner(kind, given, seed)  # refuses what does not go together before anything is read
    _check_cluster(learner, given)
    if output is not None:
        check_model_output(output, learner.endings)
    if plot is not None:
        check_picture_path(plot)
        check_folder(plot)
    check_folder(given.get("checkpoint"))
    watch = Stopwatch()
    with progress_bar() as progress:
        with watch.time("read"):
            progress("reading the table", 0, None)
            rows = _read(reading, table, learner, output, progress)
            decided, way = rows.describe(), way_with_missing(rows, reading.way, _scored_by(given))
            learner = asked_learner(kind, {**given, **learner.defaults(rows, given, way)}, seed)
            if output is not None:
                check_model_output(output, learner.endings)
            training, held_out = _divided(rows, given.get("holdout", learner.holdout), seed)
        with watch.time("learn"):
            learner.find(training, progress)
        with watch.time("fit"):
            network = learner.fit(training)
        with watch.time("score"):
            said = learner.facts(network, training, held_out)
        with watch.time("check"):
            progress("testing what the arcs leave", 0, None)
            beyond = _beyond(network, training, seed) if kind == "bn" else None
            by_chance = _by_chance(learner, training)
        if output is not None:
            with watch.time("save"):
                write_model(learner.fit(rows), output)
        if plot is not None:
            with watch.time("plot"):
                progress("drawing the graph", 0, None)
                write_graph(network, plot)
    left_out = [name for name in rows.names if name not in set(network.names)]
    facts = {
        "table": str(table),
        "kind": kind,
        "rows": rows.total,
        "training_rows": training.total,
        "held_out_rows": held_out.total,
        "variables": [name for name in rows.names if name not in left_out],
        "columns": _by_kind(decided, left_out),
        "missing_cells": decided.missing(),
        "plan": plan_lines(rows, rows, decided.missing(), way),
        "scales": {name: scale for name, scale in scales_of(rows).items() if name not in left_out},
        **said,
        "arcs_by_chance": by_chance,
        "beyond": None if beyond is None else _told(beyond, training),
        "seconds": watch.seconds,
        "seed": seed,
        "model": None if output is None else str(output),
        "plot": None if plot is None else str(plot),
    }
    words = list(text_of(learner, {**facts, "comparable": same_bins(rows.variables)}))
    Answer(facts, words).write(None, as_json)


def _beyond(network: Any, rows: Table, seed: int) -> FalsifyResult | None:
    """Return what depends beyond a Bayesian network; None where pairs are many, and of rows that lie elsewhere."""
    n = len(network.names)
    if opening().scheduler is not None or rows.n_rows == 0 or n * (n - 1) // 2 > MOST_PAIRS:
        return None
    return falsify(network, sample_of(rows, MOST_TESTED, seed), permutations=199, seed=seed)


def _told(beyond: FalsifyResult, rows: Table) -> Facts:
    """Return what depends beyond a network, and the columns of few numbers in such pairs, which may be a scale."""
    ordered = {v.name for v in rows.variables if v.is_continuous or (v.are_numbers and v.cardinality > 2)}
    pairs = [(pair.first, pair.second) for pair in beyond.pairs() if {pair.first, pair.second} <= ordered]
    of_pairs = set(itertools.chain.from_iterable(pairs))
    scales = [v.name for v in rows.variables if v.name in of_pairs and not v.is_continuous]
    return {"said": beyond.sentence(), "pairs": list(map(asdict, beyond.pairs())), "scales": scales}


def _by_chance(learner: Learner, rows: Table) -> float | None:
    """Return how many arcs chance would give a Bayesian network of few rows; None of others, and of rows elsewhere."""
    n = len(rows.names)
    few = opening().scheduler is None and 0 < rows.n_rows <= FEW_ROWS and n * (n - 1) // 2 <= MOST_PAIRS
    return learner.by_chance(rows, SHUFFLED) if few else None


def _by_kind(decided: Description, left_out: list[str]) -> dict[str, list[str]]:
    """Return the columns of each kind, those that the learner left out beside those that were never read."""
    kinds = {kind: [name for name in names if name not in left_out] for kind, names in decided.by_kind().items()}
    kinds["left out"] = [*kinds.pop("left out", []), *left_out]
    return {kind: names for kind, names in kinds.items() if names}


def _scored_by(given: dict[str, Any]) -> Score | None:
    """Return the score that is maximized; None where none was asked for."""
    return named_score(given["score"]) if "score" in given else None


def _read(reading: Reading, path: Path, learner: Learner, output: Path | None, progress: Call) -> Table:
    if learner.of_numbers:
        option, value = learner.numbers_asked_by
        what = f"{option_of(option)} {value}"
        return refuse_empty(path, reading.read_numbers(path, what, progress=progress))
    holds = output is None or ending(output) in Learner.endings  # other files are of networks of states alone
    rows = learner.labelled(refuse_empty(path, reading.read(path, progress)))
    return reading.ready(rows) if learner.mixes and holds else reading.in_states(rows)


def _check_cluster(learner: Learner, given: dict[str, Any]) -> None:
    """Raise FishernetError for what is not learned from the counts of a cluster."""
    how = opening()
    if not learner.from_counts:
        how.here_only(named(learner))
    for name in ("missing", "holdout"):
        if given.get(name):
            how.here_only(f"{option_of(name)} {given[name]}", option_of(name))


def _divided(rows: Table, holdout: float, seed: int) -> tuple[Table, Table]:
    """Return the rows to learn from, and those held out, of which there are none on a cluster."""
    if opening().scheduler is None:
        return hold_out(rows, holdout, seed=seed)
    none = [np.zeros(0, float if column.is_continuous else column.dtype) for column in rows.variables]
    return rows, Table.adopt(rows.variables, none, n_rows=0)
