"""Cross-validation on the command line: what ``fishernet score --folds`` adds."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any

import click
import numpy as np
import numpy.typing as npt

from fishernet.cli.heldout.holdout import count_rows
from fishernet.cli.inputs.rules import Rules, rule_options
from fishernet.cli.inputs.searches import tuning_options
from fishernet.cli.inputs.tables import Reading, refuse_empty
from fishernet.cli.learn.words import number_or_word
from fishernet.cli.terminal.output import Facts, aligned, number
from fishernet.cli.terminal.progress_bar import progress_bar
from fishernet.compare import cross_validate
from fishernet.errors import FishernetError
from fishernet.learn.structure import EXACT, SEARCHES

OPTION = {"required": "--require", "forbidden": "--forbid"}  # the others are called as they are


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
            "rows": count_rows(table),
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
    @click.option("--search", metavar="|".join([*SEARCHES, EXACT]), help="With --folds: how it is searched for.")
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
        learning["search"] = "hill-climb" if search is None else search
        learning["smoothing"] = 1.0 if smoothing is None else number_or_word(smoothing)
        return command(*args, folds=Folds(folds, seed or 0, learning), **rest)

    return with_folds


def _refuse(given: dict[str, Any]) -> None:
    """Raise FishernetError when an option that says how to learn was given without --folds."""
    for name, value in given.items():
        if value is not None and value != []:
            option = OPTION.get(name, f"--{name.replace('_', '-')}")
            raise FishernetError(f"{option} goes with --folds; without it, nothing is learned")


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
