"""The report: what is computed, and in which words it is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from studies.fmpl import prediction, published, verdict, words
from studies.fmpl.methods import METHODS, OTHERS, OURS, missing
from studies.fmpl.options import REPETITIONS, Options
from studies.fmpl.recovery import Recovery, recover
from studies.fmpl.truths import N_EDGES, PART
from studies.kept import Kept
from studies.markdown import table
from studies.pool import pool

Say = Callable[[str], None]

TIMED = 1_000


def report(options: Options, say: Say = print) -> str:
    """Compute everything and return the report as Markdown."""
    with pool(options.processes) as workers:
        kept = Kept(workers, options.kept, say)
        recoveries = []
        for d in options.variables:
            say(f"{d} variables")
            recoveries.append(recover(d, options, kept))
        say("prediction")
        predicted = prediction.predictions(options.splits, kept)
    say("the authors' program")
    agreed = published.agreement(options.data)
    summary = [
        f"**Structure.** {verdict.beside_lasso(recoveries)} {verdict.among_graphs(recoveries)} "
        f"{verdict.of_prior(recoveries)}",
        f"**Prediction.** {verdict.prediction(predicted)}",
    ]
    if agreed is not None:
        summary.append(f"**The authors' program** and ours agree: {verdict.published(agreed)} data sets.")
    parts = [
        head(options),
        "## Summary",
        *summary,
        *figures(options, recoveries),
        *(section(found) for found in recoveries),
        words.TIMES.format(n=timed_size(recoveries)),
        second_table(recoveries),
        words.PREDICTION.format(splits=options.splits, rows=prediction.DRAWN_ROWS),
        prediction_table(predicted),
        f"{words.PUBLISHED} {verdict.published(agreed)} data sets." if agreed else words.WITHOUT_DATA,
    ]
    return "\n\n".join(parts) + "\n"


def head(options: Options) -> str:
    """Return what was computed, and how."""
    how = "python -m studies.fmpl" + {"quick": " --quick", "usual": "", "full": " --full"}[options.form]
    how += " --data FOLDER" if options.data else ""
    how += f" --repetitions {options.repetitions}" if options.repetitions != REPETITIONS[options.form] else ""
    lacking = [f"{name}: {lacks}." for name, lacks in missing().items()]
    parts = [words.TITLE, f"Computed by `{how}`. {words.SET_UP}", words.CHOICES]
    return "\n\n".join([*parts, *(["Not available: " + " ".join(lacking)] if lacking else [])])


def figures(options: Options, recoveries: Sequence[Recovery]) -> list[str]:
    """Draw Figs. 3.1 and 3.2, where there are to be figures, and return how the report shows them."""
    if options.figures is None:
        return []
    from studies.fmpl.drawing import distances  # matplotlib is wanted for figures alone

    shown = [words.FIGURES]
    for name, methods, said in (
        ("lasso", ("AND", *OTHERS), words.FIGURE_1),
        ("graphs", OURS, words.FIGURE_2),
    ):
        path = options.figures / f"fmpl-{name}.svg"
        distances(path, recoveries, methods)
        shown.append(said.format(path=f"{options.figures.name}/{path.name}"))
    return shown


def section(found: Recovery) -> str:
    """Return the distances of one number of variables."""
    d, data_sets = found.truth.n_variables, found.distances.shape[2]
    heading = words.RECOVERY.format(variables=f"{d:,}", edges=f"{N_EDGES * d // PART:,}", data_sets=data_sets)
    heads = ["method", *(f"{n:,} rows" for n in found.sizes)]
    rows = [[method, *cells(found, method, data_sets)] for method in METHODS if method not in missing()]
    return f"{heading}\n\n{table(heads, rows)}"


def cells(found: Recovery, method: str, data_sets: int) -> list[str]:
    """Return a method's mean distances with their errors."""
    said = []
    for mean, error, count in zip(found.of(method), found.error_of(method), found.data_sets_of(method), strict=True):
        if np.isnan(mean):
            said.append("-")
            continue
        spread = "" if np.isnan(error) else f" ± {error:.1f}"
        said.append(f"{mean:.1f}{spread}" + ("" if count == data_sets else f" ({count:.0f})"))
    return said


def timed_size(recoveries: Sequence[Recovery]) -> int:
    """Return the number of rows at which times are told."""
    sizes = recoveries[0].sizes
    return TIMED if TIMED in sizes else sizes[-1]


def second_table(recoveries: Sequence[Recovery]) -> str:
    """Return the mean seconds a graph, by method and number of variables."""
    at = recoveries[0].sizes.index(timed_size(recoveries))
    heads = ["method", *(found.truth.name for found in recoveries)]
    rows = [
        [method, *(seconds(found.seconds_of(method)[at]) for found in recoveries)]
        for method in METHODS
        if method not in missing()
    ]
    return table(heads, rows)


def seconds(value: float) -> str:
    """Return a time with two digits."""
    return "-" if np.isnan(value) else f"{value:.2g}"


def prediction_table(found: Sequence[prediction.Prediction]) -> str:
    """Return the mean squared errors by table and method."""
    heads = ["method", *(f"{one.table}, {one.n_rows:,} x {one.n_columns}" for one in found)]
    rows = []
    for m, method in enumerate(found[0].methods):
        row = [method]
        for one in found:
            errors = one.errors[:, m]
            spread = errors.std(ddof=1) / len(errors) ** 0.5 if len(errors) > 1 else np.nan
            row.append(f"{errors.mean():.4f} ± {spread:.4f} ({one.n_edges[:, m].mean():.0f})")
        rows.append(row)
    return table(heads, rows)
