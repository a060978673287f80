"""The report: what is computed, and in which words it is told."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from studies.comparators.kernel_tests import N_FEATURES
from studies.kept import Kept
from studies.knn_mi import methods, proteins, schemes, verdict, words
from studies.knn_mi.options import REPETITIONS, Options
from studies.knn_mi.recovery import Recovery, recover
from studies.markdown import table
from studies.pool import pool

Say = Callable[[str], None]


@dataclass(frozen=True)
class Part:
    """One section, and what of it stands in the summary at the head."""

    text: str
    summary: str


def report(options: Options, say: Say = print) -> str:
    """Compute everything and return the report as Markdown."""
    with pool(options.processes) as workers:
        kept = Kept(workers, options.kept, say)
        say("seven nodes")
        small = recover(options.small, kept)
        say("twenty-one nodes")
        large = recover(options.large, kept)
        say("nonparanormal networks")
        ranked = recover(options.nonparanormal, kept)
        say("permutations")
        nulls = schemes.rates(schemes.NULLS, options.test_sizes, options.tests, kept)
        dependences = schemes.rates(schemes.DEPENDENCES, options.test_sizes, options.tests, kept)
        parts = [
            Part(networks(options, small, words.SMALL, "seven", 3), f"**Seven nodes.** {verdict.seven(small)}"),
            Part(networks(options, large, words.LARGE, "large", 3), f"**21 nodes.** {verdict.larger(large)}"),
            Part(
                networks(options, ranked, words.NONPARANORMAL, "nonparanormal", 2),
                f"**Nonparanormal.** {verdict.nonparanormal(ranked)}",
            ),
            permutations(options, nulls, dependences, small),
            *cells(options, kept, say),
        ]
    summary = "## Summary\n\n" + "\n\n".join(part.summary for part in parts if part.summary)
    return "\n\n".join([head(options), summary, *(part.text for part in parts)]) + "\n"


def head(options: Options) -> str:
    """Return what was computed, and how."""
    how = "python -m studies.knn_mi" + {"quick": " --quick", "usual": "", "full": " --full"}[options.form]
    how += " --data FOLDER" if options.data else ""
    how += f" --repetitions {options.repetitions}" if options.repetitions != REPETITIONS[options.form] else ""
    set_up = words.SET_UP.format(
        k=methods.K,
        permutations=methods.PERMUTATIONS,
        alpha=methods.ALPHA,
        skip=methods.SKIP_BELOW,
        features=N_FEATURES,
    )
    lacking = [f"{name}: {lacks}." for name, lacks in methods.missing().items()]
    parts = [words.TITLE, f"Computed by `{how}`. {set_up}", words.CHOICES]
    return "\n\n".join([*parts, *(["Not available: " + " ".join(lacking)] if lacking else [])])


def networks(options: Options, found: Recovery, said: str, name: str, columns: int) -> str:
    """Return the section of some networks: distances, seconds and a figure."""
    parts = [said.format(repetitions=found.plan.repetitions)]
    if options.figures is not None:
        from studies.knn_mi.drawing import distances  # matplotlib is wanted for figures alone

        path = options.figures / f"knn-mi-{name}.svg"
        distances(path, found, columns)
        parts.append(f"![Hamming distance by the number of rows]({options.figures.name}/{path.name})")
    parts += [distance_table(found), "Seconds a graph, means over the kinds of data:", second_table(found)]
    return "\n\n".join(parts)


def permutations(options: Options, nulls: schemes.Rates, dependences: schemes.Rates, small: Recovery) -> Part:
    """Return the section of the two schemes."""
    parts = [
        words.SCHEMES.format(
            alpha=methods.ALPHA,
            tests=nulls.tests,
            permutations=methods.PERMUTATIONS,
            k_perm=schemes.K_PERM,
            nominal=verdict.NOMINAL,
        ),
        "Independent given z:",
        rate_table(nulls),
        "Dependent given z:",
        rate_table(dependences),
    ]
    if options.figures is not None:
        from studies.knn_mi.drawing import errors

        path = options.figures / "knn-mi-schemes.svg"
        errors(path, nulls, verdict.NOMINAL)
        parts.insert(3, f"![Share of true independences that were rejected]({options.figures.name}/{path.name})")
    said = verdict.local_learning(small)
    if said:
        parts += [words.LOCAL_LEARNING, local_table(small)]
    return Part("\n\n".join(parts), f"**Permutations.** {verdict.schemes(nulls, dependences)} {said}".strip())


def cells(options: Options, kept: Kept, say: Say) -> list[Part]:
    """Return the section of the proteins, or that they are not there."""
    folder = None if options.data is None else options.data / "bio"
    held = None if folder is None else proteins.read(folder)
    if folder is None or held is None:
        return [Part("## Proteins\n\n" + words.WITHOUT_DATA, "")]
    say("proteins")
    chosen = [m for m in methods.METHODS if m not in methods.missing() and (options.form != "quick" or m != "KCIT")]
    found = proteins.graphs(folder, chosen, kept)
    text = words.PROTEINS.format(
        columns=len(held.names),
        rows=len(held.rows),
        tied=held.tied,
        arcs=len(held.arcs),
        skeleton=len(held.skeleton),
        moral=len(held.moral),
    )
    rows = [
        [
            one.method,
            len(one.pairs),
            len(one.pairs & held.skeleton),
            len(one.pairs & held.moral),
            len(one.pairs ^ held.skeleton),
            len(one.pairs ^ held.moral),
            second(one.seconds),
        ]
        for one in found
    ]
    heads = ["method", "edges", "agreed", "of moral graph", "distance, agreed", "distance, moral graph", "seconds"]
    return [Part(f"{text}\n\n{table(heads, rows)}", f"**Proteins.** {verdict.proteins(held, found)}.")]


def distance_table(found: Recovery) -> str:
    """Return mean distances, a row a truth and size; the number of data sets where it is not the plan's."""
    plan, rows = found.plan, []
    for t, truth in enumerate(plan.truths):
        for s, n in enumerate(plan.sizes):
            means = [found.mean[t, s, m] for m in range(len(plan.methods))]
            errors, counts = found.error[t, s], found.repetitions[t, s]
            best = np.nanmin(means)
            rows.append(
                [
                    f"{truth.name}, {n:,}",
                    *(
                        cell(mean, error, int(count), plan.repetitions, bool(mean == best))
                        for mean, error, count in zip(means, errors, counts, strict=True)
                    ),
                ]
            )
    return table(["data, rows", *plan.methods], rows)


def cell(mean: float, error: float, count: int, usual: int, best: bool) -> str:
    """Return a mean and its standard error; bold where it is the row's smallest."""
    if np.isnan(mean):
        return "-"
    said = f"{mean:.1f}" + ("" if np.isnan(error) else f" ± {error:.1f}")
    return (f"**{said}**" if best else said) + ("" if count == usual else f" ({count})")


def second_table(found: Recovery) -> str:
    """Return mean seconds, a row a size."""
    means = found.mean_seconds.mean(axis=0)
    rows = [[f"{n:,}", *(second(value) for value in means[s])] for s, n in enumerate(found.plan.sizes)]
    return table(["rows", *found.plan.methods], rows)


def second(value: float) -> str:
    """Return a number of seconds."""
    return "-" if np.isnan(value) else f"{value:.2g}" if value < 10 else f"{value:.0f}"


def rate_table(found: schemes.Rates) -> str:
    """Return shares of rejections."""
    heads = [f"{scheme}, {n} rows" for n in found.sizes for scheme in schemes.SCHEMES]
    rows = [
        [name, *(share(found.shares[i, s, k]) for s in range(len(found.sizes)) for k in range(len(schemes.SCHEMES)))]
        for i, name in enumerate(found.names)
    ]
    return table(["data", *heads], rows)


def share(value: float) -> str:
    """Return a share."""
    return "-" if np.isnan(value) else f"{value:.3f}"


def local_table(found: Recovery) -> str:
    """Return the mean distances of the two schemes by size."""
    chosen: Sequence[str] = ("knnMI", methods.LOCAL)
    at = [found.plan.methods.index(method) for method in chosen]
    means = found.mean[:, :, at].mean(axis=0)
    rows = [
        [f"{n:,}", *(f"{value:.2f}" for value in means[s])]
        for s, n in enumerate(found.plan.sizes)
        if not np.isnan(means[s]).any()
    ]
    return table(["rows", "simple", "local"], rows)
