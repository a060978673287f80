"""``fishernet score``: how well a model explains a table, and which cells are odd.

Cross-validation on the command line: what ``fishernet score --folds`` adds.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, cast

import click
import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.errors import FishernetError
from fishernet.cli.models import graph_of, is_bayesian, is_dependency, is_gaussian, read_model, require_conditionals
from fishernet.cli.options import (
    Reading,
    Rules,
    option_of,
    read_for_model,
    reading_options,
    refuse_empty,
    rule_options,
    tuning_options,
)
from fishernet.cli.output import (
    Facts,
    aligned,
    as_json_option,
    check_folder,
    number,
    number_or_word,
    output_option,
    write_facts,
    write_lines,
)
from fishernet.cli.terminal import progress_bar, shown
from fishernet.compare import Likelihood, cross_validate
from fishernet.data import Scatter, Table
from fishernet.learn.structure import SEARCHES
from fishernet.models import BayesianNetwork, DependencyNetwork, GaussianMarkovNetwork
from fishernet.scores import SCORES, SCORES_OF_NUMBERS
from fishernet.scores import score as graph_score


@dataclass(frozen=True)
class Folds:
    """How a table is cross-validated.

    Attributes
    ----------
    number : int
        Of folds.
    seed : int
        Decides which rows are in which fold.
    learning : dict
        The keywords of `fishernet.compare.cross_validate` that say how networks are learned.
    """

    number: int
    seed: int
    learning: dict[str, Any]

    def facts(
        self, path: Path, reading: Reading, score: str, *, rows: bool
    ) -> tuple[dict[str, Any], npt.NDArray[np.float64]]:
        """Return what is printed of a table, and the held-out log-likelihood of each row."""
        with progress_bar() as progress:
            progress("reading the table", 0, None)
            table = refuse_empty(path, reading.read(path))
            found = cross_validate(
                table, folds=self.number, score=score, seed=self.seed, progress=progress, **self.learning
            )
        facts: dict[str, Any] = {
            "table": str(path),
            "rows": table.total,
            "score": score,
            "search": self.learning["search"],
            "held_out_log_likelihood_per_row": found.mean,
            "standard_error": found.standard_error,
            "impossible_rows": int(found.impossible.sum()),
            "folds": found.to_frame().to_pylist(),
            "seed": found.seed,
        }
        if rows:
            facts |= {"row_log_likelihoods": found.log_prob.tolist(), "row_folds": found.fold.tolist()}
        return facts, found.log_prob


def fold_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command ``--folds`` and how to learn with it; it gets them as one keyword ``folds``, None without it."""

    @click.option("--folds", type=int, metavar="N", help="Cross-validate in N folds instead; no MODEL then.")
    @click.option("--search", metavar="|".join(SEARCHES), help="With --folds: how it is searched for.")
    @click.option("--max-parents", type=int, metavar="N", help="With --folds: at most N parents a variable.")
    @tuning_options("With --folds")
    @rule_options
    @click.option(
        "--smoothing",
        metavar="X|snml|zeros",
        help="With --folds: pseudo-count of each cell, snml, or zeros: zero counts become one.  [default: 1]",
    )
    @click.option("--ess", type=float, metavar="X", help="With --folds: pseudo-counts that add up to X a variable.")
    @click.option("--max-seconds", type=float, metavar="S", help="With --folds: search at most S seconds in each.")
    @click.option("--seed", type=int, metavar="N", help="With --folds: decides which rows are in which.  [default: 0]")
    @wraps(command)
    def with_folds(
        *args: Any,
        folds: int | None,
        rules: Rules,
        tuning: dict[str, Any],
        search: str | None,
        max_parents: int | None,
        smoothing: str | None,
        ess: float | None,
        max_seconds: float | None,
        seed: int | None,
        **rest: Any,
    ) -> Any:
        learning = {**rules, **tuning, "max_parents": max_parents, "ess": ess, "max_seconds": max_seconds}
        if folds is None:
            _refuse({**learning, "search": search, "smoothing": smoothing, "seed": seed})
            return command(*args, folds=None, **rest)
        learning["search"] = "order" if search is None else search
        learning["smoothing"] = 1.0 if smoothing is None else number_or_word(smoothing)
        return command(*args, folds=Folds(folds, seed or 0, learning), **rest)

    return with_folds


def _refuse(given: dict[str, Any]) -> None:
    """Raise FishernetError when an option that says how to learn was given without --folds."""
    for name, value in given.items():
        if value is not None and value != []:
            raise FishernetError(f"{option_of(name)} goes with --folds; without it, nothing is learned")


def fold_lines(facts: Facts) -> Iterator[str]:
    """Yield the facts as lines for people."""
    error = facts["standard_error"]
    mean = number(facts["held_out_log_likelihood_per_row"])
    lines = [
        ("rows", f"{facts['rows']:,}"),
        ("held-out log-likelihood", f"{mean} a row, standard error {number(error)}"),
    ]
    if facts["impossible_rows"]:
        lines.append(("impossible rows", f"{facts['impossible_rows']:,}"))
    yield from aligned(lines)
    yield ""
    table = [("fold", "rows", "held-out a row", "arcs", f"{facts['score']} score", "seconds")]
    table += [
        (
            str(fold["fold"]),
            f"{fold['rows']:,}",
            number(fold["held_out_log_likelihood_per_row"]),
            f"{fold['arcs']:,}",
            number(fold["score_value"]),
            f"{fold['seconds']:.3f}",
        )
        for fold in facts["folds"]
    ]
    yield from aligned(table, right=True)


CELLS_AT_ONCE = 2**22


@click.command(short_help="Score a table, rows or cells; with --folds, a way to learn.")
@click.argument("paths", metavar="[MODEL] TABLE", nargs=-1, type=click.Path(path_type=Path))
@click.option("--rows", is_flag=True, help="Print the log-likelihood of each row, one a line, and nothing else.")
@click.option("--terms", is_flag=True, help="List the least likely cells, given their parents: why a row is odd.")
@click.option("--top", type=int, default=10, show_default=True, metavar="N", help="How many cells --terms lists.")
@click.option(
    "--score",
    metavar="|".join(SCORES),
    help="Also score the model's graph on the table. With --folds: what is maximized.  [default: none; --folds: bic]",
)
@fold_options
@reading_options("error", "drop", "state")
@output_option
@as_json_option
def score(
    paths: tuple[Path, ...],
    rows: bool,
    terms: bool,
    top: int,
    score: str | None,
    folds: Folds | None,
    reading: Reading,
    output: Path | None,
    as_json: bool,
) -> None:
    """Print the log-likelihood of TABLE under MODEL (.json or .bif), in nats, in all and a row.

    Of a dependency network, it is the pseudo-log-likelihood: each cell's given its inputs, summed over a row. Of a
    Gaussian network it is the logarithm of the density.

    Columns are matched by name, in any order, and labels looked up in the model's states; columns that the model does
    not know are ignored. A row that the model deems impossible has -inf (null in JSON). Rows are counted from 0.

    With --folds N there is no MODEL. The rows of TABLE are cut at random in N parts, a Bayesian network is learned from
    all parts but one as fishernet learn would, and that part is scored under it, for each in turn: so well does this
    way to learn predict new rows. Printed is the held-out log-likelihood a row of each part, their mean and its
    standard error. The same --seed makes the same parts, whatever else is asked for.

    \b
    Examples: a model on new rows, and why some are odd; two ways to learn
      fishernet score model.json patients.csv --score bic
      fishernet score model.json patients.csv --rows -o rows.txt
      fishernet score model.json patients.csv --terms --top 3
      fishernet score patients.csv --folds 10 --max-parents 2
      fishernet score patients.csv --folds 10 --score aic
    """  # noqa: D301
    check.integer(top, "top", least=1)
    check_folder(output)
    if folds is None:
        facts, logs = _under_model(*_two(paths), rows=rows, terms=terms, top=top, score=score, reading=reading)
        lines = _text(facts)
    else:
        if terms:
            raise FishernetError("--terms is about one model; it does not go with --folds")
        facts, logs = folds.facts(_one(paths), reading, score or "bic", rows=rows)
        lines = fold_lines(facts)
    if as_json:
        write_facts(facts, output)
    else:
        write_lines(map(repr, logs.tolist()) if rows else lines, output)


def _two(paths: tuple[Path, ...]) -> tuple[Path, Path]:
    if len(paths) != 2:
        raise click.UsageError(f"MODEL and TABLE are needed (or, with --folds, TABLE alone), not {len(paths)} files.")
    return paths[0], paths[1]


def _one(paths: tuple[Path, ...]) -> Path:
    if len(paths) != 1:
        raise click.UsageError(
            f"With --folds, which learns its own models, TABLE alone is needed, not {len(paths)} files."
        )
    return paths[0]


def _under_model(
    model: Path, table: Path, *, rows: bool, terms: bool, top: int, score: str | None, reading: Reading
) -> tuple[dict[str, Any], npt.NDArray[np.float64]]:
    """Return what is printed of a table under a model, and the log-likelihood of each row."""
    if reading.bins is not None:
        raise FishernetError("--bins goes with --folds; without it, the model knows where to cut")
    network = read_model(model)
    facts: dict[str, Any] = {"model": str(model), "table": str(table)}
    if is_gaussian(network):
        if terms:
            raise FishernetError("--terms is about models of states; this is a Gaussian network")
        said, logs = _score_numbers(network, table, reading, score)
    else:
        network = require_conditionals(network, model, "score")
        data = _read_for(network, table, reading, score)
        said, logs = _score_states(network, data, score)
        if terms:
            said["terms"] = least_likely(network, data, top)
    if rows:
        said[f"row_{'pseudo_' * is_dependency(network)}log_likelihoods"] = logs.tolist()
    return facts | said, logs


def _score_numbers(
    network: BayesianNetwork | GaussianMarkovNetwork, table: Path, reading: Reading, score: str | None
) -> tuple[dict[str, Any], npt.NDArray[np.float64]]:
    """Return the facts of a table of numbers under a network, and the log-density of each row."""
    data = reading.read_numbers(table, "a Gaussian network", network.names)
    logs = np.asarray(network.log_prob(data))
    facts = _likelihood_facts(Likelihood.of_rows(logs), "")
    if score is None:
        return facts, logs
    if score not in SCORES_OF_NUMBERS:
        known = " or ".join(SCORES_OF_NUMBERS)
        raise FishernetError(f"--score {score} is for models of states; of a Gaussian network it is {known}")
    graph: Any = graph_of(network)
    return facts | {"score": score, "score_value": graph_score(graph, Scatter.from_data(data), score)}, logs


def _read_for(network: BayesianNetwork | DependencyNetwork, table: Path, reading: Reading, score: str | None) -> Table:
    if score is not None and not is_bayesian(network):
        raise FishernetError("--score is about a graph without cycles, which a dependency network has not got")
    return read_for_model(table, network, missing=reading.missing, weights=reading.weights)


def _score_states(
    network: BayesianNetwork | DependencyNetwork, data: Table, score: str | None
) -> tuple[dict[str, Any], npt.NDArray[np.float64]]:
    """Return the facts of a table of states under a network, and the log-likelihood of each row."""
    log_prob = network.pseudo_log_likelihood if is_dependency(network) else cast(BayesianNetwork, network).log_prob
    logs = log_prob(data)
    facts = _likelihood_facts(Likelihood.of_rows(logs, data.weights), "pseudo_" * is_dependency(network))
    if score is not None and is_bayesian(network):
        facts |= {"score": score, "score_value": graph_score(network.dag, data, score)}
    return facts, logs


def _likelihood_facts(likelihood: Likelihood, pseudo: str) -> dict[str, Any]:
    return {
        "rows": likelihood.n_rows,
        f"{pseudo}log_likelihood": likelihood.total,
        f"{pseudo}log_likelihood_per_row": likelihood.per_row,
        "impossible_rows": likelihood.impossible,
    }


def least_likely(network: BayesianNetwork | DependencyNetwork, table: Table, top: int) -> list[dict[str, Any]]:
    """Return the cells of lowest probability given their parents, the lowest first, ties in the order of the table."""
    height = CELLS_AT_ONCE // max(1, len(network.variables)) + 1
    values, places = np.empty(0), np.empty(0, dtype=np.int64)
    for begin in range(0, table.n_rows, height):
        part = network.log_prob_terms(table[begin : begin + height]).ravel()
        values = np.concatenate([values, part])
        places = np.concatenate([places, np.arange(len(part)) + begin * len(network.variables)])
        if len(values) > top:
            limit = np.partition(values, top - 1)[top - 1]
            near = np.flatnonzero(values <= limit)
            kept = near[np.argsort(values[near], kind="stable")[:top]]
            values, places = values[np.sort(kept)], places[np.sort(kept)]
    order = np.argsort(values, kind="stable")
    return [_term(network, table, *divmod(int(places[i]), len(network.variables)), float(values[i])) for i in order]


def _term(
    network: BayesianNetwork | DependencyNetwork, table: Table, row: int, child: int, value: float
) -> dict[str, Any]:
    names = network.names
    parents = sorted(network.conditionals[child].parents)
    states = {v: network.variables[v].states[table.column(names[v])[row]] for v in (child, *parents)}
    given = {names[v]: states[v] for v in parents}
    return {"row": row, "log_probability": value, "variable": names[child], "state": states[child], "given": given}


def _text(facts: Facts) -> Iterator[str]:
    lines = [("rows", f"{facts['rows']:,}")]
    for kind in ("log", "pseudo_log"):
        if f"{kind}_likelihood" in facts:
            word = f"{kind.replace('_', '-')}-likelihood"
            lines.append((word, number(facts[f"{kind}_likelihood"])))
            lines.append((f"{word} a row", number(facts[f"{kind}_likelihood_per_row"])))
    if facts["impossible_rows"]:
        lines.append(("impossible rows", f"{facts['impossible_rows']:,}"))
    if "score" in facts:
        lines.append((f"{facts['score']} score of the graph", number(facts["score_value"])))
    yield from aligned(lines)
    if "terms" in facts:
        yield ""
        yield "the least likely cells (rows are counted from 0)"
        yield from aligned([("row", "log-prob", "cell", "given"), *map(_term_cells, facts["terms"])])


def _term_cells(term: Facts) -> tuple[str, str, str, str]:
    given = ", ".join(f"{shown(name)} = {shown(state)}" for name, state in term["given"].items())
    cell = f"{shown(term['variable'])} = {shown(term['state'])}"
    return str(term["row"]), number(term["log_probability"]), cell, given
