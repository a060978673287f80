"""The report: what is computed, and in which words it is told."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from studies.pool import Pool, pool
from studies.qnml import equivalent_sample_size as ess
from studies.qnml import nml, prediction, structure, tables, ties, verdict, words
from studies.qnml.criteria import CRITERIA, SEARCH
from studies.qnml.published import PRINTED, Curves, curves

Say = Callable[[str], None]

REPETITIONS = {False: 1_000, True: 100}
"""By whether the run is quick."""
PERMUTATIONS, FEW = 200, {"Adult": 20}
"""At most so many a table, and of those that take long."""
SHIPPED_REPETITIONS = 10
QUICK_TABLES = ("Iris", "Ecoli")
DRAWN_TABLES = ("Iris", "Ecoli", "TicTacToe", "Adult")
SMALL, LARGE = (1, 2, 4, 8, 16), (4, 8, 16, 32, 64, 128, 256)
QUICK_SMALL, QUICK_LARGE = (1, 4, 8), (4, 16, 64)


@dataclass(frozen=True)
class Options:
    """What to compute."""

    quick: bool = False
    data: Path | None = None
    """The folder of networks, tables and curves."""
    repetitions: int = REPETITIONS[False]
    processes: int = 1
    figures: Path | None = None
    """The folder that figures are written to, below that of the report; without it there are none."""

    def draw(self, name: str, alt: str) -> tuple[Path, str] | None:
        """Return the path of a figure and how the report shows it, where there are to be figures."""
        if self.figures is None:
            return None
        return self.figures / f"qnml-{name}.svg", f"![{alt}]({self.figures.name}/qnml-{name}.svg)"


@dataclass(frozen=True)
class Part:
    """One section, and what of it stands in the summary at the head."""

    text: str
    summary: str


def report(options: Options, say: Say = print) -> str:
    """Compute everything and return the report as Markdown."""
    published = curves(options.data)
    with pool(options.processes) as workers:
        parts = [
            recovery(options, published, workers, say),
            predicting(options, published, workers, say),
            sensitivity(options, say),
            penalties(options, say),
        ]
    summary = "## Summary\n\n" + "\n\n".join(part.summary for part in parts)
    return "\n\n".join([head(options), summary, *(part.text for part in parts)]) + "\n"


def head(options: Options) -> str:
    """Return what was computed, and how."""
    how = "Computed by `python -m studies.qnml"
    how += " --quick" if options.quick else ""
    how += " --data FOLDER" if options.data else ""
    how += f" --repetitions {options.repetitions}" if options.repetitions != REPETITIONS[options.quick] else ""
    made = f"{how}` in {options.processes} process{'es' if options.processes > 1 else ''}."
    parts = [words.TITLE, f"{made} {words.SET_UP.format(search=SEARCH)}"]
    return "\n\n".join(parts if options.data else [*parts, words.WITHOUT_DATA])


def recovery(options: Options, published: Curves, workers: Pool, say: Say) -> Part:
    """Return structure recovery."""
    networks = structure.available(options.data)
    say(f"structure recovery: {', '.join(networks)}")
    sizes = structure.QUICK_SIZES if options.quick else structure.SIZES
    found = structure.recover(networks, options.data, sizes, options.repetitions, workers)
    parts = [
        words.STRUCTURE.format(repetitions=f"{found.repetitions:,}"),
        words.RANKS,
        tables.rank_table(found, published),
    ]
    there = published.average_ranks(sizes) if len(networks) == 5 else np.full((len(sizes), len(CRITERIA)), np.nan)
    parts += _curves(options, "ranks", "average rank", "All networks", found.sizes, found.ranks, there)
    parts += [words.DISTANCES, tables.distance_table(found, published)]
    for i, name in enumerate(networks):
        there = published.distances(name, sizes)
        parts += _curves(options, f"shd-{name.lower()}", "mean SHD", name, found.sizes, found.mean[i], there)
    if not options.quick and ties.NETWORK in networks:
        say(f"ties: {ties.NETWORK}")
        spread = ties.spread(options.data, ties.SIZES, min(options.repetitions, ties.DATA_SETS), workers)
        parts += [words.TIES.format(network=ties.NETWORK, data_sets=spread.data_sets)]
        parts += [ties.spread_table(spread, published), ties.sentence(spread, published)]
    return Part("\n\n".join(parts), f"**Structure recovery.** {verdict.structure(found, published)}")


def predicting(options: Options, published: Curves, workers: Pool, say: Say) -> Part:
    """Return prediction and parsimony."""
    names = prediction.available(options.data)
    shares = prediction.SHARES
    if options.quick:
        names, shares = tuple(name for name in names if name in QUICK_TABLES), prediction.QUICK_SHARES
    found = []
    for name in names:
        say(f"prediction: {name}")
        n = min(options.repetitions, FEW.get(name, PERMUTATIONS))
        found.append(prediction.predict(name, options.data, shares, n, workers))
    if not found:
        say(f"prediction: {prediction.SHIPPED}")
        found.append(prediction.predict(prediction.SHIPPED, None, shares, SHIPPED_REPETITIONS, workers))
    lacking = [name for name in PRINTED if name not in names]
    parts = [
        words.PREDICTION,
        words.LEFT_OUT.format(names=", ".join(lacking)),
        "### Average rank",
        tables.rank_in_prediction_table(found),
        "### Mean -log P of a test row",
        tables.loss_table(found, published),
    ]
    for one in found:
        if one.name in DRAWN_TABLES:
            there = published.log_losses(one.name, one.shares)
            file = f"loss-{one.name.lower()}"
            parts += _curves(options, file, "-log P of a test row, nats", one.name, one.shares, one.mean, there)
    parts += [words.PARAMETERS, tables.parameter_table(found)]
    said = f"**Prediction.** {verdict.prediction(found, published)}\n\n**Parsimony.** {verdict.parsimony(found)}"
    return Part("\n\n".join(parts), said)


def sensitivity(options: Options, say: Say) -> Part:
    """Return BDeu by its equivalent sample size."""
    say("BDeu by its equivalent sample size")
    truth = structure.network("Asia", None)
    by_ess = ess.by_ess(truth, ess.QUICK if options.quick else ess.FULL)
    rows = truth.sample(ess.ROWS, seed=ess.SEED)
    others = {name: ess.chosen(rows, truth, name) for name in CRITERIA if name != "BDeu"}
    parts = [words.ESS.format(rows=ess.ROWS), tables.ess_table(by_ess, others)]
    shown = options.draw("ess", "Arcs and distance by the equivalent sample size")
    if shown:
        from studies.qnml.drawing import ess_curves  # matplotlib is wanted for figures alone

        ess_curves(shown[0], by_ess, "BDeu's best network")
        parts.append(shown[1])
    return Part("\n\n".join(parts), f"**BDeu by its equivalent sample size.** {verdict.ess(by_ess, others)}")


def penalties(options: Options, say: Say) -> Part:
    """Return the penalties beside exact NML."""
    say("exact NML")
    few, many = (QUICK_SMALL, QUICK_LARGE) if options.quick else (SMALL, LARGE)
    small = {name: {n: nml.by_enumeration(nml.shape(name), n) for n in few} for name in nml.SHAPES}
    large = {n: {nml.STAR: nml.of_star(n), nml.COLLIDER: nml.of_collider(n)} for n in many}
    parts = [words.PENALTY, tables.penalty_table(small), words.DIFFERENCES, tables.difference_table(large)]
    for name, file, title in (
        (nml.STAR, "penalty-star", "Two children"),
        (nml.COLLIDER, "penalty-collider", "Two parents"),
    ):
        shown = options.draw(file, f"Penalties less the exact one: {title.lower()}")
        if shown:
            from studies.qnml.drawing import lines

            by_score = [tables.differences(large[n][name]) for n in many]
            ys = {score: [at[score] for at in by_score] for score in by_score[0]}
            lines(shown[0], many, ys, x_name="rows", y_name="nats above exact NML", title=f"{title}: {name}")
            parts.append(shown[1])
    return Part("\n\n".join(parts), f"**Penalties.** {verdict.penalty(small, large)}")


def _curves(
    options: Options, file: str, what: str, title: str, x: tuple[int, ...], ours: tables.Array, there: tables.Array
) -> list[str]:
    """Draw curves beside the published ones, where there are to be figures, and return how the report shows them."""
    shown = options.draw(file, f"{title}: {what}")
    if shown is None:
        return []
    from studies.qnml.drawing import curves as draw

    rows = x[-1] > 100  # else percentages
    draw(shown[0], x, ours, there, x_name="rows" if rows else "% of the rows trained on", y_name=what, title=title,
         log="x" if rows else "")  # fmt: skip
    return [shown[1]]
