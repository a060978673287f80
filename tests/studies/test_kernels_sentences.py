"""What the reports on kernels say in sentences, computed from their results."""

from __future__ import annotations

import numpy as np
import pytest

from studies.study import errors_apart
from tests.studies.reports import Report, Row, of, plus_minus

PUBLISHED = ("overlap", "eskin", "iof", "of", "goodall1", "goodall3", "goodall4", "lin", "condist")


def test_neighbours_by_similarities() -> None:
    report = Report("similarity")

    def last(task: str, label: str) -> Row:
        return next(row for row in report.tables[task] if row["table"] == label)

    def others(task: str) -> list[str]:
        return sorted(PUBLISHED, key=lambda way: last(task, "mean")[way])

    tasks = "nearest", "five-nearest", "machine"
    for task in tasks:
        seen = {way: of for way, of in last(task, "mean").items() if way not in ("table", "with class")}
        assert min(seen, key=lambda way: seen[way]) == "agreement"
        ranks = {way: of for way, of in last(task, "average rank").items() if way not in ("table", "with class")}
        assert min(ranks, key=lambda way: ranks[way]) == "agreement"
        assert len(ranks) == 16
    one, five, machine = ({way: of for way, of in last(task, "mean").items() if way != "table"} for task in tasks)
    ranks_of = [last(task, "average rank") for task in tasks]
    report.says(
        f"{one['agreement']:.1f} % of the rows by the nearest neighbour (average rank "
        f"{ranks_of[0]['agreement']:.1f} of 16)",
        f"and on {five['agreement']:.1f} % by five ({ranks_of[1]['agreement']:.1f})",
        f"Its cosine errs on {one['Fisher cosine']:.1f} and {five['Fisher cosine']:.1f} %",
        f"(ranks {ranks_of[0]['Fisher cosine']:.1f} and {ranks_of[1]['Fisher cosine']:.1f})",
        f"({machine['agreement']:.1f} %, rank {ranks_of[2]['agreement']:.1f}; Goodall1 {machine['goodall1']:.1f} %)",
        f"{one['agreement, p = 1/2']:.1f} and {five['agreement, p = 1/2']:.1f} % for neighbours, and "
        f"{machine['agreement, p = 1/2']:.1f} % in a machine",
        f"than what sees none ({one['with class']:.1f} and {five['with class']:.1f} %)",
        f"({one['no arcs']:.1f}, {five['no arcs']:.1f} and {machine['no arcs']:.1f} %)",
        f"Already a tree errs on {one['tree']:.1f} %",
    )
    assert (others("nearest")[0], others("five-nearest")[0], others("machine")[0]) == ("iof", "lin", "goodall1")
    report.says(f"by mean are IOF ({one['iof']:.1f} %) and Lin ({five['lin']:.1f} %)")
    new = last("one-class", "mean")
    assert others("one-class")[0] == "condist"
    report.says(
        f"1 - AUC {new['Fisher']:.1f} (ConDist {new['condist']:.1f}, -log P of the same network {new['-log P']:.1f})"
    )
    report.says(f"agreement's ({new['agreement']:.1f}) too")


def test_neighbours_by_ways_that_see_classes() -> None:
    report = Report("similarity")
    mean = next(row for row in report.tables["supervised"] if row["table"] == "mean")
    without = next(row for row in report.tables["nearest"] if row["table"] == "mean")
    report.says(
        f"which sees it, too ({mean['value difference, one']:.1f} and {mean['value difference, five']:.1f} %); its own "
        f"answers err on {mean['the classifier itself']:.1f} %"
    )
    assert mean["with class, one"] == pytest.approx(without["with class"])
    seen = {way: of_way for way, of_way in without.items() if way not in ("table", "with class")}
    assert without["with class"] < min(seen.values())
    for how in ("one", "five"):
        assert mean[f"value difference, {how}"] < mean[f"with class, {how}"]


def test_neighbours_of_numbers() -> None:
    report = Report("similarity")
    found = []
    for task in ("numbers-nearest", "numbers-five-nearest"):
        rows = [row for row in report.tables[task] if row["table"] not in ("mean", "average rank")]
        assert len(rows) == 15
        for way in ("agreement", "Fisher cosine"):
            more = np.array([of(row[way]) - of(row["Gower"]) for row in rows])
            found.append(f"{more.mean():.1f} ± {more.std(ddof=1) / np.sqrt(len(more)):.1f}")
    by_one, by_five = (
        next(row for row in report.tables[task] if row["table"] == "mean")
        for task in ("numbers-nearest", "numbers-five-nearest")
    )
    report.says(
        f"agreement errs on {by_one['agreement']:.1f} and {by_five['agreement']:.1f} %, Gower's coefficient on "
        f"{by_one['Gower']:.1f} and {by_five['Gower']:.1f} %",
        f"{found[0]} and {found[2]} more, and the Fisher kernel's cosine {found[1]} and {found[3]} more",
    )


def as_good_as_the_best(rows: list[Row], folds: int) -> list[str]:
    """The best method and those that are behind it by no more than chance, the better first."""
    measure = next(name for name in rows[0] if name in ("accuracy", "AUC"))
    left = [row for row in rows if of(row["behind the best"]) <= errors_apart(folds) * row["behind the best"]["error"]]
    return [row["method"] for row in sorted(left, key=lambda row: -of(row[measure]))]


def test_kernels_of_strings() -> None:
    told = Report("sequences")
    rows = told.tables["ancestors"]
    assert all(of(row["edit distance"]) >= max(of(row[way]) for way in ("pair HMM", "3-spectrum")) for row in rows)
    first, *others = rows
    assert f"{of(first['pair HMM, tempered']):.3f}" == f"{of(first['edit distance']):.3f}" == "1.000"
    for row in others:
        told.says(f"{plus_minus(row['edit distance'])} at {row['rate']}")
    by = {
        name: {row["method"]: row for row in told.tables[name]}
        for name in ("promoters", "promoters-ungrouped", "splice")
    }
    promoters, parted, splice = by.values()
    assert as_good_as_the_best([*promoters.values()], 10) == [
        "pair HMM, tempered", "equal positions", "edit distance", "p-spectrum",
    ]  # fmt: skip
    told.says(
        f"tempered pair HMM {plus_minus(promoters['pair HMM, tempered']['accuracy'])}, equal positions "
        f"{of(promoters['equal positions']['accuracy']):.3f}; edit distance "
        f"{of(promoters['edit distance']['accuracy']):.3f} and p-spectrum "
        f"{of(promoters['p-spectrum']['accuracy']):.3f} "
        f"are behind it by no more than chance, Markov Fisher {of(promoters['Markov Fisher']['accuracy']):.3f} by more",
        f"the p-spectrum the first ({of(parted['p-spectrum']['accuracy']):.3f}) and Markov Fisher the second "
        f"({of(parted['Markov Fisher']['accuracy']):.3f})",
    )
    assert as_good_as_the_best([*parted.values()], 10)[:2] == ["p-spectrum", "Markov Fisher"]
    assert as_good_as_the_best([*splice.values()], 10) == ["pair HMM, tempered", "equal positions"]
    told.says(
        f"tempered pair HMM {plus_minus(splice['pair HMM, tempered']['accuracy'])}; only equal positions, "
        f"{of(splice['equal positions']['accuracy']):.3f}, are as good within chance"
    )


def test_kernels_of_trees_and_proteins() -> None:
    told = Report("sequences")
    trees, profiles = ({row["method"]: row for row in told.tables[name]} for name in ("trees", "phylogeny"))
    told.says(
        f"flipped {plus_minus(trees['hidden tree, tempered, flipped']['AUC'])}, RBF {plus_minus(trees['RBF']['AUC'])}, "
        f"the hidden tree {plus_minus(trees['hidden tree']['AUC'])}; linear is chance "
        f"({plus_minus(trees['linear']['AUC'])})",
        f"below chance ({plus_minus(trees['hidden tree, tempered']['AUC'])})",
    )
    assert as_good_as_the_best([*trees.values()], 20) == ["hidden tree, tempered, flipped"]
    assert abs(of(trees["linear"]["AUC"]) - 0.5) < 2 * trees["linear"]["AUC"]["error"]
    assert as_good_as_the_best([*profiles.values()], 10) == ["hidden tree, tempered, flipped", "RBF", "linear"]
    told.says(
        f"the flipped tempered tree {plus_minus(profiles['hidden tree, tempered, flipped']['AUC'])}, RBF "
        f"{plus_minus(profiles['RBF']['AUC'])} and linear {plus_minus(profiles['linear']['AUC'])} cannot be told "
        f"apart; the hidden tree has {plus_minus(profiles['hidden tree']['AUC'])}"
    )
    globins = {row["method"]: row["mean, shuffled globins"] for row in told.tables["globins"]}
    few = [f"{of(globins[way]):.3f}" for way in (
        "log-odds per symbol, pseudo-count 0.1", "profile-HMM Fisher, SVM, pseudo-count 0.1")]  # fmt: skip
    told.says(
        f"log-odds {few[0]} and the profile-HMM Fisher kernel {few[1]}, both with a pseudo-count of 0.1; the "
        f"p-spectrum {plus_minus(globins['p-spectrum, SVM'])}"
    )
    spread = {
        way: abs(of(globins[f"{way}, pseudo-count 1"]) - of(globins[f"{way}, pseudo-count 0.1"]))
        for way in ("log-odds per symbol", "profile-HMM Fisher, SVM")
    }
    assert spread["profile-HMM Fisher, SVM"] < 0.01 < 0.1 < spread["log-odds per symbol"]
