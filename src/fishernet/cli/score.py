"""``fishernet score``: how well a model explains a table, and which cells are odd; with --folds, a way to learn."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import FishernetError
from fishernet.base.names import amount
from fishernet.base.progress import Call
from fishernet.base.vocabulary import spelled
from fishernet.cli import models
from fishernet.cli import options as option
from fishernet.cli.kinds import explaining_kinds
from fishernet.cli.models import called, is_bayesian, is_dependency, is_mixed, is_of_numbers
from fishernet.cli.options import (
    LEARNED,
    NODE_AVERAGE,
    Reading,
    count,
    option_of,
    reading_options,
    refuse_empty,
    scan_options,
    taken,
    unknown_option,
)
from fishernet.cli.tables.sources import in_blocks, opening, scheduler_option
from fishernet.cli.terminal import (
    FILE,
    Answer,
    Facts,
    aligned,
    answering,
    complain,
    number,
    prints_where_one_looks,
    progress_bar,
    shown,
    shown_states,
)
from fishernet.data import Table
from fishernet.learn import Likelihood, cross_validate
from fishernet.learn.missing.ways import way_with_missing
from fishernet.learn.structures import SEARCHES, usual_name
from fishernet.models import BayesianNetwork, DependencyNetwork
from fishernet.scores import CONTINUOUS_SCORES, SCORES, named_score
from fishernet.scores import score as graph_score

CELLS_AT_ONCE = 2**22
NUMBERS_AT_ONCE = 2**16
Logs = npt.NDArray[np.float64]
Weights = npt.NDArray[Any]

learning_options = option.all_of(
    click.option("--search", metavar="|".join(SEARCHES), help="With --folds: the search."),
    count("--max-parents", help="With --folds: at most N parents per variable."),
    option.tuning_options("With --folds"),
    option.rule_options,
    click.option(
        "--smoothing",
        type=option.number_or_word,
        metavar="X|snml|zeros",
        help="With --folds: pseudo-count of each cell, snml, or zeros: zero counts become one.  [default: 1]",
    ),
    option.amount("--ess", help="With --folds: pseudo-counts that add up to X per variable."),
    option.amount("--max-seconds", metavar="S", help="With --folds: search at most S seconds per fold."),
    count("--seed", help="With --folds: the seed of the folds.  [default: 0]"),
)


@click.command(short_help="Score a table, rows or cells, or cross-validate (--folds).")
@click.argument("paths", metavar="[MODEL] TABLE", nargs=-1, type=FILE)
@click.option("--rows", is_flag=True, help="Print only the log-likelihood of each row, one per line.")
@click.option(
    "--terms", is_flag=True, help="List the least likely cells given their parents, which show why a row is odd."
)
@count("--top", default=10, show_default=True, help="How many cells --terms lists.")
@click.option(
    "--score",
    metavar="|".join(SCORES),
    help="Also score the model's graph on the table. With --folds: the score to maximize.  "
    "[default: none; --folds: bic, or fractional for numbers]",
)
@count("--folds", help="Cross-validate in N folds instead, without MODEL.")
@learning_options
@reading_options("keep", "drop", "state", "error", *LEARNED)
@unknown_option
@scan_options
@scheduler_option
@answering()
@explaining_kinds
def score(
    paths: tuple[Path, ...],
    rows: bool,
    terms: bool,
    top: int,
    score: str | None,
    folds: int | None,
    **options: Any,
) -> Answer:
    """Print the log-likelihood of TABLE under MODEL (.json, .bif, .xdsl, .net, ...), in nats, total and per row.

    For a dependency network it is the pseudo-log-likelihood: that of each cell given its inputs, summed over the row.
    For a Gaussian network it is the logarithm of the density.

    With --missing keep, missing cells are summed out. --terms then scores a cell given the known cells before it,
    parents before their children.

    Columns are matched by name, in any order, and labels with the states of the model; columns that the model does not
    know are ignored. A row of probability 0 has -inf (null in JSON). Rows are counted from 0.

    With --folds N there is no MODEL. TABLE is divided at random into N folds; each fold is scored by a Bayesian network
    that is learned from the others, as by fishernet learn. The output has the held-out log-likelihood per row of each
    fold, their mean and its standard error. The mean says how well this method predicts new rows. --missing em and
    node-average learn from rows with missing cells, as in fishernet learn, and sum the missing cells out of the rows
    that are scored. The same --seed gives the same folds, whatever the other options.

    \b
    Examples: a model on new rows, and why some are odd; two learning methods
      fishernet score model.json patients.csv --score bic
      fishernet score model.json patients.csv --rows -o rows.txt
      fishernet score model.json patients.csv --terms --top 3
      fishernet score patients.csv --folds 10 --max-parents 2
      fishernet score patients.csv --folds 10 --score aic
    """  # noqa: D301
    check.integer(top, "top", least=1)
    score = None if score is None else spelled(score)
    reading = Reading.out_of(options)
    learning = taken(options)
    if folds is None:
        if len(paths) != 2:
            raise click.UsageError(
                f"MODEL and TABLE are needed (or, with --folds, TABLE alone), not {len(paths)} files."
            )
        for name in learning:
            raise FishernetError(f"{option_of(name)} goes with --folds; without it, nothing is learned")
        return _under_model(*paths, rows=rows, top=top if terms else 0, score=score, reading=reading)
    if len(paths) != 1:
        raise click.UsageError(
            f"With --folds, which learns its own models, TABLE alone is needed, not {len(paths)} files."
        )
    if terms:
        raise FishernetError("--terms is about one model; it does not go with --folds")
    opening().here_only("--folds")
    asked = {"search": "order", "score": score, "seed": 0, **learning}
    facts, logs, comparable = _in_folds(paths[0], reading, rows=rows, folds=folds, **asked)
    return Answer(facts, map(repr, logs.tolist()) if rows else _fold_text(facts, comparable))


# ----------------------------------------------------------------------------------------------- a model, a table


def _under_model(model: Path, table: Path, *, rows: bool, top: int, score: str | None, reading: Reading) -> Answer:
    """Return what is said of a table under a model."""
    if reading.bins is not None:
        raise FishernetError("--bins goes with --folds; without it, the model knows where to cut")
    if reading.way is not None:
        raise FishernetError(f"--missing {reading.way} is a way to learn, and goes with --folds; a model takes keep")
    if top:
        opening().here_only("--terms", "--terms")
    network = models.read_model(model)
    with progress_bar() as progress:
        data = _read_for(network, model, table, reading, score, progress, terms=top > 0)
        facts: dict[str, Any] = {}
        if score is not None:
            graph: Any = network.graph
            facts = {"score": score, "score_value": graph_score(graph, data, named_score(score))}
        if top:
            facts["terms"] = least_likely(network, data, top)
    scored = Scored(network, data, {"model": str(model), "table": str(table)}, facts)
    if rows:
        return Answer(lambda: scored.facts(rows=True), scored.lines())
    return Answer(scored.facts, _text(scored, models.same_bins(data.variables)))


class Scored:
    """A table under a model, gone through block by block whenever somebody asks."""

    def __init__(self, network: Any, data: Table, before: Facts, after: Facts) -> None:
        self.data, self.before, self.after = data, before, after
        self.pseudo = "pseudo_" * is_dependency(network)
        self.log_prob = network.pseudo_log_likelihood if self.pseudo else network.log_prob

    def blocks(self) -> Iterator[tuple[Logs, Weights | None]]:
        """Yield the log-likelihoods of rows, and their weights."""
        done = 0
        with progress_bar(hidden=prints_where_one_looks()) as progress:
            for logs, weights in in_blocks(self.data, partial(_logs_of, self.log_prob)):
                yield logs, weights
                done += len(logs)
                progress("scoring rows", done, self.data.n_rows)

    def lines(self) -> Iterator[str]:
        """Yield the log-likelihood of each row."""
        for logs, _ in self.blocks():
            yield from map(repr, logs.tolist())

    def facts(self, *, rows: bool = False) -> Facts:
        """Return what is known of all rows; with those of each if so said, which lie on the disk meanwhile."""
        kept = KeptNumbers() if rows else None
        likelihood = Likelihood.of_blocks(self.blocks() if kept is None else kept.keeping(self.blocks()))
        facts: dict[str, Any] = {
            **self.before,
            "rows": likelihood.n_rows,
            f"{self.pseudo}log_likelihood": likelihood.total,
            f"{self.pseudo}log_likelihood_per_row": likelihood.per_row,
            "impossible_rows": likelihood.impossible,
            **self.after,
        }
        if kept is not None:
            facts[f"row_{self.pseudo}log_likelihoods"] = kept.parts()
        return facts


def _logs_of(log_prob: Callable[[Table], Logs], rows: Table) -> tuple[Logs, Weights | None]:
    return np.asarray(log_prob(rows)), rows.weights


class KeptNumbers:
    """Numbers that are put aside on the disk and read again, until the command ends."""

    def __init__(self) -> None:
        self._file = click.get_current_context().with_resource(tempfile.TemporaryFile())  # noqa: SIM115

    def keeping(self, blocks: Iterable[tuple[Logs, Weights | None]]) -> Iterator[tuple[Logs, Weights | None]]:
        """Yield blocks of numbers, which are kept."""
        for logs, weights in blocks:
            self._file.write(logs.tobytes())
            yield logs, weights

    def parts(self) -> Iterator[Logs]:
        """Yield the numbers in their order."""
        self._file.seek(0)
        while piece := self._file.read(8 * NUMBERS_AT_ONCE):
            yield np.frombuffer(piece)


def _read_for(
    network: Any, model: Path, table: Path, reading: Reading, score: str | None, progress: Call, *, terms: bool
) -> Table:
    """Read a table for a model, once what is asked for is found to make sense."""
    if not is_of_numbers(network):
        models.require(models.has_likelihood, network, model, "score")
        if score is not None and not ((is_bayesian(network) or is_mixed(network)) and network.conditionals):
            raise FishernetError(f"--score needs a Bayesian network, whose graph has no cycles, not {called(network)}")
        if terms and not network.conditionals:
            raise FishernetError(f"--terms needs a model with a conditional per variable, not {called(network)}")
        data = reading.read_known(table, network.variables, progress)
        if is_dependency(network) and data.has_missing:
            complete = data.drop_missing()
            complain(f"note: a pseudo-log-likelihood needs complete rows: {complete.n_rows:,} of {data.n_rows:,}")
            return refuse_empty(table, complete)
        return data
    if terms and not network.conditionals:
        raise FishernetError(
            f"--terms needs a Bayesian network, which has a conditional per variable, not {called(network)}; "
            "fishernet learn --score fractional learns one"
        )
    if score not in (None, *CONTINUOUS_SCORES):
        known = " or ".join(CONTINUOUS_SCORES)
        raise FishernetError(f"--score {score} is for models of states; of a Gaussian network it is {known}")
    return reading.read_numbers(table, "a Gaussian network", network.variables, progress)


def least_likely(network: BayesianNetwork | DependencyNetwork, table: Table, top: int) -> list[dict[str, Any]]:
    """Return the cells of lowest probability given their parents, the lowest first, ties in the order of the table."""
    height = CELLS_AT_ONCE // max(1, len(network.variables)) + 1
    values, places = np.empty(0), np.empty(0, dtype=np.int64)
    for begin in range(0, table.n_rows, height):
        rows = table[begin : begin + height]
        part = network.log_prob_terms(rows).ravel()
        known = np.flatnonzero(_known(rows).ravel())
        values = np.concatenate([values, part[known]])
        places = np.concatenate([places, known + begin * len(network.variables)])
        if len(values) > top:
            limit = np.partition(values, top - 1)[top - 1]
            near = np.flatnonzero(values <= limit)
            kept = np.sort(near[np.argsort(values[near], kind="stable")[:top]])
            values, places = values[kept], places[kept]
    order = np.argsort(values, kind="stable")
    return [_term(network, table, *divmod(int(places[i]), len(network.variables)), float(values[i])) for i in order]


def _known(rows: Table) -> npt.NDArray[np.bool_]:
    """Return which cells are there, (n_rows, n_variables)."""
    columns = [~variable.missing(column) for variable, column in zip(rows.variables, rows.codes, strict=True)]
    return np.stack(columns, axis=1) if columns else np.zeros((rows.n_rows, 0), dtype=bool)


def _term(network: Any, table: Table, row: int, child: int, value: float) -> dict[str, Any]:
    cells = table[[row]]
    known = _known(cells)[0]
    others = sorted(network.conditionals[child].parents)
    if not known[others].all():  # the cell was judged given what is known before it
        order = list(network.dag.order)
        others = sorted(v for v in order[: order.index(child)] if known[v])
    states = {v: cells[network.names[v]].tolist()[0] for v in (child, *others)}
    given = {network.names[v]: states[v] for v in others}
    name = network.names[child]
    return {"row": row, "log_probability": value, "variable": name, "state": states[child], "given": given}


def _text(scored: Scored, comparable: str) -> Iterator[str]:
    facts = scored.facts()
    lines = [("rows", amount(facts["rows"]))]
    for fact in ("log_likelihood", "pseudo_log_likelihood"):
        if fact in facts:
            word = fact.replace("_", "-")
            lines += [(word, number(facts[fact])), (f"{word} per row", number(facts[f"{fact}_per_row"]) + comparable)]
    if facts["impossible_rows"]:
        lines.append(("impossible rows", f"{facts['impossible_rows']:,}"))
    if "score" in facts:
        lines.append((f"{facts['score']} score of the graph", number(facts["score_value"])))
    if "terms" in facts:
        yield "the least likely cells (rows are counted from 0)"
        cells = [("row", "log-prob", "cell", "given")]
        for term in facts["terms"]:
            cell = f"{shown(term['variable'])} = {shown(term['state'])}"
            cells.append((str(term["row"]), number(term["log_probability"]), cell, shown_states(term["given"])))
        yield from aligned(cells)
        yield ""
    yield from aligned(lines)


# -------------------------------------------------------------------------------------------------------- in folds


def _in_folds(path: Path, reading: Reading, *, rows: bool, **asked: Any) -> tuple[dict[str, Any], Logs, str]:
    """Return what is printed of a table in folds, held-out log-likelihoods of rows, and what limits comparisons."""
    with progress_bar() as progress:
        progress("reading the table", 0, None)
        table = reading.read_ready(path, progress)
        way = way_with_missing(table, reading.way, named_score(asked["score"]) if asked["score"] else None)
        found = cross_validate(table, progress=progress, missing=way, **asked)
    facts: dict[str, Any] = {
        "table": str(path),
        "rows": table.total,
        "score": NODE_AVERAGE if way == NODE_AVERAGE else asked["score"] or usual_name(table),
        "search": asked["search"],
        "held_out_log_likelihood_per_row": found.mean,
        "standard_error": found.standard_error,
        "impossible_rows": int(found.impossible.sum()),
        "folds": found.to_frame().to_pylist(),
        "seed": found.seed,
    }
    facts |= {"row_log_likelihoods": found.log_prob, "row_folds": found.fold} if rows else {}
    return facts, found.log_prob, models.same_bins(table.variables)


def _fold_text(facts: Facts, comparable: str) -> Iterator[str]:
    mean, error = number(facts["held_out_log_likelihood_per_row"]), number(facts["standard_error"])
    lines = [
        ("rows", amount(facts["rows"])),
        ("held-out log-likelihood", f"{mean} per row, standard error {error}{comparable}"),
    ]
    if facts["impossible_rows"]:
        lines.append(("impossible rows", f"{facts['impossible_rows']:,}"))
    table = [("fold", "rows", "held-out per row", "arcs", f"{facts['score']} score", "seconds")]
    for fold in facts["folds"]:
        held_out, value = number(fold["held_out_log_likelihood_per_row"]), number(fold["score_value"])
        counts = (amount(fold["rows"]), held_out, f"{fold['arcs']:,}", value, f"{fold['seconds']:.3f}")
        table.append((str(fold["fold"]), *counts))
    yield from aligned(table, right=True)
    yield ""
    yield from aligned(lines)
