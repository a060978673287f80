"""What the reports on chosen rows say in sentences, computed from their results."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from statistics import median
from typing import Any

import pytest

from tests.studies.reports import WORDS, Report, Row, of, within

OTHERS = "MMD-critic", "thinning"


def wins(rows: list[Row], column: int) -> list[int]:
    return [row["splits in which MMD is better"][column] for row in rows]


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
    assert others == []
    nursery = within(asked, "nursery")
    assert all(abs(of(row["protodash, own"])) < 1e-7 for row in nursery)
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
    assert all(of(row["MMD"]) < of(row["MMD-critic"]) for row in rows if row["table"] != "waveform-5000")
    for row in rows:
        by_kernel = [row[way] for way in ("MMD", "MMD-critic", "protodash") if row[way]]
        assert of(row["thinning"]) < min(map(of, by_kernel))
    last = next(row for row in within(rows, "waveform-5000") if row["k"] == 400)
    summarize.says(f"400 rows of waveform-5000 take it {of(last['protodash']):.1f} s")


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
        f"in {first['thinning']} kernel thinning, in {first['MMD-critic']} MMD-critic, in {first['protodash']} "
        "protodash, in one each random and chi"
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
    better_than_random = sorted(-more for more in plain.values() if more < 0)
    classify.says(
        f"in {WORDS[len(better_than_random)]} of {WORDS[len(plain)]} cases, by {better_than_random[0]:.3f} to "
        f"{better_than_random[-1]:.3f}"
    )
    assert max(plain, key=lambda key: plain[key]) == ("KDB", "nursery")
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
    own = {
        (row["classifier"], row["table"]): of(row["protodash, own"]) - row["all rows"]
        for row in errors
        if row["protodash, own"]
    }
    assert abs(own.pop(("TAN", "nursery"))) < 1e-4
    classify.says(
        f"in the {WORDS[len(own)]} other cases with 200 rows its error is larger by {min(own.values()):.3f} to "
    )
    classify.says(f"{max(own.values()):.3f}.")


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
    far = [row for row in losses if of(row["coreset"]) > 0.1 * of(row["random"])]
    assert [row["table"] for row in far] == ["pendigits"]
    told.says(f"pendigits ({of(far[0]['coreset']):.2f} nats a row, random rows {of(far[0]['random']):.2f})")
    ways = [name for name, cell in losses[0].items() if isinstance(cell, dict)]
    ahead = [way for row in losses for way in ways if row[way] and of(row[way]) < of(row["coreset"]) - 5e-4]
    assert ahead == ["protodash"] * (tables - counted["least of all"])
    told.says(
        f"On {counted['least of all']} tables no other way", f"as near ({share['protodash']})", f"loses {share['MMD']}"
    )
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
