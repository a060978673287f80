"""What the reports on comparing tables say in sentences, computed from their results."""

from __future__ import annotations

from tests.studies.reports import WORDS, Report, Row, of


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
    others = [row for row in told.tables["others"] if row["change"] == "dependence"]
    tuned, by_kernel = (
        100 * max(of(row[way]) for row in others for way in ways)
        for ways in (("tuned boosting",), ("MMD-FUSE", "MMDAgg"))
    )
    told.says(f"tuned ones in {tuned:.0f} %, MMD-FUSE and MMDAgg in at most {by_kernel:.0f} %")
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
    told.says(f"ours sees it {WORDS[round(min(times))]} to fourteen times as often")
    assert round(max(times)) == 14
    lost = [row for row, points in zip(shapes, behind, strict=True) if points > 0]
    errors = [round(100 * row[way]["error"]) for row in lost for way in ("ours", "MMD-FUSE")]
    told.says(f"with standard errors of {min(errors)} to {max(errors)} points")
    errors = [
        round(100 * cell["error"]) for row in told.tables["level"] for way, cell in row.items() if way != "not changed"
    ]
    told.says(f"(with standard errors of {min(errors)} to {max(errors)} points)")
    for row in told.tables["level"]:
        assert row["ours"]["mean"] <= 0.05 + 3 * row["ours"]["error"]


def test_whom_a_comparison_accuses() -> None:
    told = Report("accusations")
    level, direction, coverage = (told.tables[name] for name in ("level", "direction", "coverage"))
    wrong = [100 * of(row["wrong"]) for row in level]
    told.says(
        f"an innocent variable is named in {sum(wrong) / len(wrong):.1f} % of all pairs, in single settings in "
        f"{min(wrong):.0f} to {max(wrong):.0f} %"
    )
    errors = [100 * row["wrong"]["error"] for row in level]
    assert 0.5 <= min(errors) <= max(errors) < 2.5
    told.says(
        f"G tests with chi-squared p-values are up to {100 * max(of(row['G: wrong']) for row in level):.1f} % wrong"
    )
    ours, g = (sum(of(row[way]) for row in level) / len(level) for way in ("power", "G: power"))
    told.says(f"({ours:.3f} in the mean, and {g:.3f})")
    for start, phrase in (
        ("20, 20", "less against 20 rows (by {:.3f})"),
        ("100, 5,000", "is the small one (by {:.3f})"),
    ):
        less = [of(row["G: power"]) - of(row["power"]) for row in level if row["rows"].startswith(start)]
        told.says(phrase.format(sum(less) / len(less)))
    by = {(row["rows"], row["graph"]): row for row in direction}
    many, few = (next(rows for rows, _ in by if rows.startswith(start)) for start in ("2,000", "5,000"))
    told.says(
        f"is named in {100 * of(by[many, 'learned']['exactly']):.0f} % of pairs of 2,000 rows, something wrong in "
        f"{100 * of(by[many, 'learned']['some wrong']):.0f} %",
        f"something wrong in {100 * of(by[many, 'best alone']['some wrong']):.0f} %",
        f"With 200 later rows it is {100 * of(by[few, 'learned']['exactly']):.0f} and "
        f"{100 * of(by[few, 'learned']['some wrong']):.0f} %",
    )
    assert of(by[many, "learned"]["the wrong alone"]) == of(by[few, "learned"]["the wrong alone"]) == 0
    covered, sizes = [100 * of(row["covered"]) for row in coverage], [row["parameters"] for row in coverage]
    told.says(
        f"hold the truth in {min(covered):.0f} to {max(covered):.0f} %, {sum(covered) / len(covered):.1f} % in the "
        f"mean, for {min(sizes)} to {max(sizes)} parameters"
    )


def test_whom_a_comparison_of_labels_and_numbers_accuses() -> None:
    told = Report("accusations-mixed")
    rows = told.tables["named"]
    ours, bins = ([row for row in rows if row["numbers"] == how] for how in ("as they are", 'bins="auto"'))
    for one, other in zip(ours, bins, strict=True):
        assert of(one["exactly"]) > of(other["exactly"])
        assert of(one["some wrong"]) < of(other["some wrong"])
    pairs = 100
    alone = [round(pairs * sum(of(row["the wrong alone"]) for row in way)) for way in (ours, bins)]
    told.says(f"was named in {alone[0]} of {pairs * len(ours)} pairs, with bins in {alone[1]}")
    innocent = [of(row["named without a change"]) for row in ours]
    last = next(row for row in ours if row["rows"].endswith(" 200"))["named without a change"]
    told.says(
        f"a column was named in {100 * sum(innocent) / len(innocent):.0f} % of all pairs, and in "
        f"{100 * of(last):.0f} % of those with 200 later rows (standard error {100 * last['error']:.0f} points"
    )
