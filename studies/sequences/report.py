"""The report: what is computed, and in which words it is told."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from studies.markdown import table
from studies.sequences import dna, profiles, proteins, toys, words
from studies.sequences.validation import COSTS, INNER, Result

Say = Callable[[str], None]

RATES_FIGURE = "sequences-ancestors.svg"
DNA_FIGURE = "sequences-dna.svg"


@dataclass(frozen=True)
class Options:
    """What to compute."""

    quick: bool = False
    data: Path | None = None
    figures: Path | None = None
    """The folder that figures are written to, below that of the report; without it there are none."""

    @property
    def seeds(self) -> int:
        """Repetitions of the tree toy."""
        return 2 if self.quick else 20

    @property
    def ancestor_seeds(self) -> int:
        """Repetitions of the DNA toy at each rate."""
        return 2 if self.quick else 10

    @property
    def rates(self) -> Sequence[float]:
        """The toy's rates of substitution."""
        return toys.RATES[1:2] if self.quick else toys.RATES


def report(options: Options, say: Say = print) -> str:
    """Compute everything and return the report as Markdown."""
    done = [ancestors(options, say), tree_toy(options, say)]
    folder = options.data / "bio" if options.data else None
    if folder is not None and not options.quick:
        done += [windows(folder, options, say), globins(folder, say), phylogeny(folder, say)]
    summary = "\n\n".join(summed for summed, _ in done)
    return "\n\n".join([head(options), "## Summary", summary, *(body for _, body in done)]) + "\n"


def head(options: Options) -> str:
    """Return what was computed, and how."""
    how = "python -m studies.sequences" + " --quick" * options.quick + " --data FOLDER" * (options.data is not None)
    cores = os.cpu_count() or 1
    return words.HEAD.format(how=how, cores=cores, costs=", ".join(f"{cost:g}" for cost in COSTS), inner=INNER)


def ancestors(options: Options, say: Say) -> tuple[str, str]:
    """Return the summary and the section of the DNA toy."""
    found = {}
    for rate in options.rates:
        say(f"ancestors: rate {rate:g}")
        found[rate] = toys.ancestors(rate, options.ancestor_seeds)
    names = [one.name for one in next(iter(found.values()))]
    rows = [[f"{rate:g}", *map(cell, results)] for rate, results in found.items()]
    shown = ""
    if options.figures:
        lines(options.figures / RATES_FIGURE, found, names)
        shown = f"\n\n![Accuracy by the rate of substitution](figures/{RATES_FIGURE})"
    bests = [f"at {rate:g} {best(results)}" for rate, results in found.items()]
    summed = f"**Mutants of four ancestors.** The best, by the rate of substitution: {'; '.join(bests)}."
    text = words.ANCESTORS.format(seeds=options.ancestor_seeds, n=toys.ANCESTORS * toys.MUTANTS // 5)
    return summed, f"{text}\n\n{table(['rate', *names], rows)}{shown}"


def tree_toy(options: Options, say: Say) -> tuple[str, str]:
    """Return the summary and the section of the tree toy."""
    say("genes gained once in a tree")
    found = toys.trees(options.seeds)
    text = words.TREES.format(seeds=options.seeds, training=toys.TRAINING, test=toys.TEST)
    return f"**Genes gained once.** Area: {listed(found)}.", f"{text}\n\n{result_table(found, 'AUC')}"


def windows(folder: Path, options: Options, say: Say) -> tuple[str, str]:
    """Return the summary and the section of promoters and splice junctions."""
    summed, parts, found = [], [words.WINDOWS.format(folds=dna.FOLDS, rows=dna.ROWS, long=dna.LONG)], {}
    for name in ("promoters", "splice"):
        say(name)
        read = dna.read(folder / f"{name}.csv")
        found[name] = dna.accuracies(read)
        shares = ", ".join(f"{c} {share:.0%}" for c, share in read.overlaps.items())
        size = (
            f"{len(read.strings)} windows of {len(read.strings[0])} letters, {len(read.classes)} classes, the largest "
            f"{read.majority:.3f} of them; {read.replaced} ambiguous letters were taken for A. Windows that have "
            f"{dna.LONG} letters in a row in common with another of their class: {shares}."
        )
        parts += [f"### {name.capitalize()}", size, result_table(found[name], "accuracy")]
        summed.append(f"**{name.capitalize()}.** Accuracy: {listed(found[name])}. {ahead(found[name])}")
    if options.figures:
        bars(options.figures / DNA_FIGURE, found)
        parts.append(f"![Accuracy on promoters and splice junctions](figures/{DNA_FIGURE})")
    return "\n\n".join(summed), "\n\n".join(parts)


def globins(folder: Path, say: Say) -> tuple[str, str]:
    """Return the summary and the section of the globins."""
    say("globins")
    held = proteins.read(folder)
    against = {
        "shuffled globins": proteins.left_out(held, held.shuffled),
        "fibronectin domains": proteins.left_out(held, held.others),
    }
    apart = proteins.families_apart(held)
    counts = ", ".join(f"{family} {held.family.count(family)}" for family in proteins.FAMILIES)
    rows = [
        [shuffled.name, *(f"{value:.3f}" for value in shuffled.values), cell(shuffled), cell(other)]
        for shuffled, other in zip(*against.values(), strict=True)
    ]
    text = words.GLOBINS.format(
        n=len(held.strings), counts=counts, shuffled=len(held.shuffled), others=len(held.others)
    )
    shown = table(["method", *(f"{f}, shuffled" for f in proteins.FAMILIES), *(f"mean, {a}" for a in against)], rows)
    body = f"{text}\n\n{shown}\n\n{words.APART}\n\n{result_table(apart, 'accuracy')}"
    return f"**Globins.** Area against their shuffles: {listed(against['shuffled globins'])}.", body


def phylogeny(folder: Path, say: Say) -> tuple[str, str]:
    """Return the summary and the section of the phylogenetic profiles."""
    say("phylogenetic profiles")
    held = profiles.read(folder / "phyloprofile-ampk-tor.csv")
    found = profiles.areas(held)
    text = words.PROFILES.format(
        genes=len(held.y),
        first=int((held.y == 0).sum()),
        second=int((held.y == 1).sum()),
        species=len(held.species),
        folds=profiles.FOLDS,
        repetitions=profiles.REPETITIONS,
    )
    summed = f"**Phylogenetic profiles.** Area: {listed(found)}. {ahead(found)}"
    return summed, f"{text}\n\n{result_table(found, 'AUC')}"


def cell(result: Result) -> str:
    """Return mean and standard error."""
    return f"{result.mean:.3f} ± {result.error:.3f}"


def result_table(results: Sequence[Result], measure: str) -> str:
    """Return a row a method."""
    heads = ["method", measure, "chosen most often", "smallest eigenvalue", "seconds"]
    return table(heads, [[r.name, cell(r), r.favourite, f"{r.lowest:.1e}", f"{r.seconds:.1f}"] for r in results])


def ranked(results: Sequence[Result]) -> list[Result]:
    """Return the best first."""
    return sorted(results, key=lambda result: -result.mean)


def best(results: Sequence[Result]) -> str:
    """Return the name and figures of the best, or of all that are as good."""
    top = ranked(results)[0]
    names = [result.name for result in results if abs(result.mean - top.mean) < 5e-4]
    return f"{' and '.join(names)} {cell(top)}"


def listed(results: Sequence[Result]) -> str:
    """Return all, the best first."""
    return "; ".join(f"{result.name} {cell(result)}" for result in ranked(results))


def ahead(results: Sequence[Result]) -> str:
    """Return which methods are within two standard errors of the best one, fold by fold."""
    top, *others = ranked(results)
    near = []
    for other in others:
        difference = top.values - other.values
        if difference.mean() <= 2 * difference.std(ddof=1) / len(difference) ** 0.5:
            near.append(other.name)
    said = ", ".join(near) if near else "none"
    return f"Within two standard errors of the best one, by the differences of the folds: {said}."


def lines(path: Path, found: dict[float, list[Result]], names: Sequence[str]) -> None:
    """Draw the accuracy by the rate, a line a method."""
    from studies.figures import figure, name_line

    with figure(path, x="substitutions a letter", y="accuracy", title="Mutants of four ancestors") as axes:
        for k, name in enumerate(names):
            y = [results[k].mean for results in found.values()]
            errors = [results[k].error for results in found.values()]
            (line,) = axes.plot(list(found), y, marker="o")
            axes.errorbar(list(found), y, errors, color=line.get_color(), linestyle="none")
            name_line(line, name)


def bars(path: Path, found: dict[str, list[Result]]) -> None:
    """Draw mean and standard error, a row a method and a colour a data set."""
    from studies.figures import COLOURS, figure

    with figure(
        path, x="accuracy (± standard error)", y="", title="Ten folds: " + " (o), ".join(found) + " (s)"
    ) as axes:
        for k, results in enumerate(found.values()):
            y = np.arange(len(results)) + 0.15 * (k - 0.5)
            means, errors = [r.mean for r in results], [r.error for r in results]
            axes.errorbar(means, y, xerr=errors, color=COLOURS[k], fmt="os"[k])
            axes.set_yticks(range(len(results)), [r.name for r in results])
        axes.invert_yaxis()
