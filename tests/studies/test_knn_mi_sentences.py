"""What the report on nearest neighbours says in sentences, computed from its results."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from studies import knn_mi as study
from studies.study import read

REPORTS = Path(__file__).parents[2] / "docs" / "studies"
TEXT = " ".join((REPORTS / "knn-mi.md").read_text(encoding="utf-8").split())
TABLES = {table.name: table for table in read(REPORTS / "results" / "knn-mi.json")[1]}
FOR_LINEAR = ("fisherZ", "NPN_glasso", "NPN_mb")
LINEAR, OTHER, LARGE = "7 nodes, linear", "7 nodes, non-linear", "21 nodes, non-linear"


def says(*phrases: str) -> None:
    for phrase in phrases:
        assert phrase in TEXT


def cell(table: str, data: str, rows: int, column: str) -> Any:
    (row,) = TABLES[table].select(data=data, rows=rows)
    return row[column]


def behind(data: str, rows: int, method: str) -> dict[str, float]:
    """By how much a method has more wrong edges than knnMI."""
    experiment = "large" if data == LARGE else "seven" if data in (LINEAR, OTHER) else "nonparanormal"
    held: dict[str, float] = cell(f"{experiment}-paired", data, rows, method)
    return held


def behind_in(data: str, methods: tuple[str, ...], sizes: tuple[int, ...]) -> list[float]:
    return [behind(data, n, method)["mean"] for n in sizes for method in methods]


def printed(held: dict[str, float], digits: int = 1) -> str:
    return f"{abs(held['mean']):.{digits}f} ± {held['error']:.{digits}f}"


def sizes_of(table: str) -> tuple[int, ...]:
    return tuple(dict.fromkeys(row["rows"] for row in TABLES[table].select()))


def shares(column: str) -> list[dict[str, float]]:
    """Of true independences that were rejected, those that both schemes have."""
    return [row[column] for row in TABLES["independent"].select() if row[column]]


def wrong(data: str, rows: int, method: str) -> tuple[float, float]:
    """How many edges lack and how many are too many, as printed."""
    lacking, too_many = cell("errors", data, rows, method).split(" + ")
    return float(lacking), float(too_many)


def test_knn_mi_is_for_non_linear_data() -> None:
    says(f"With 7 nodes and 500 rows it has {printed(cell('seven-schemes', OTHER, 500, 'simple'), 2)} wrong edges")
    more = behind_in(OTHER, FOR_LINEAR, (500,))
    says(f"methods for linear data have {min(more):.1f} to {max(more):.1f} more")
    for rows in (125, 250):
        assert {cell("signs", LARGE, rows, method) for method in FOR_LINEAR} == {"75 / 0 / 0"}
    everywhere = behind_in(OTHER, FOR_LINEAR, sizes_of("seven"))
    large = behind_in(LARGE, FOR_LINEAR, sizes_of("large"))
    says(f"by {min(everywhere):.1f} to {max(everywhere):.1f} wrong edges with 7 nodes")
    says(f"and by {min(large):.1f} to {max(large):.1f} with 21")


def test_kernel_tests_on_non_linear_data() -> None:
    first, last = (behind(OTHER, rows, "RCIT") for rows in (125, 2_000))
    says(f"RCIT is {printed(first)} wrong edges behind at 125 rows and {printed(last)} at 2,000")
    few, more = (behind(OTHER, rows, "KCIT") for rows in (125, 250))
    assert few["mean"] > more["mean"] > 0
    says(f"KCIT {printed(few)} at 125 rows and {printed(more)} at 250")


def ahead(data: str, method: str) -> list[int]:
    """With how many rows a method has fewer wrong edges than knnMI, by more than two standard errors."""
    held = [(n, behind(data, n, method)) for n in sizes_of("seven")]
    return [n for n, of in held if of and of["mean"] < -2 * of["error"]]


def test_linear_data() -> None:
    few, more, most = (behind(LINEAR, rows, "fisherZ") for rows in (125, 500, 2_000))
    assert max(few["mean"], more["mean"]) < 0
    says(f"{printed(few)} wrong edges fewer at 125 rows and {printed(more)} fewer at 500")
    assert abs(most["mean"]) < 2 * most["error"]
    sets = cell("seven-paired", LINEAR, 2_000, "sets")
    says(f"no difference is seen ({printed(most)}, on {sets} data sets)")
    assert {method: ahead(LINEAR, method) for method in ("fisherZ", "KCIT", "RCIT", "NPN_mb")} == {
        "fisherZ": [125, 250, 500, 1_000],
        "KCIT": [125, 250],
        "RCIT": [250],
        "NPN_mb": [125, 250],
    }
    says("fisherZ is ahead of it by more than two standard errors up to 1,000 rows")
    says("KCIT and NPN_mb at 125 and 250, and RCIT at 250;")
    lasso = behind_in(LINEAR, ("NPN_glasso",), sizes_of("seven"))
    says(f"NPN_glasso is behind by {min(lasso):.1f} to {max(lasso):.1f} everywhere")


def test_nonparanormal_data() -> None:
    ten, twenty = (behind(f"nonparanormal, {d} nodes", 250, "NPN_mb") for d in (10, 20))
    assert max(ten["mean"], twenty["mean"]) < 0
    says(f"{printed(ten)} wrong edges fewer than knnMI on 10 nodes, {printed(twenty)} fewer on 20")
    kcit, on_twenty = (behind(f"nonparanormal, {d} nodes", 125, "KCIT") for d in (10, 20))
    assert all(0 < held["mean"] <= held["error"] for held in (kcit, on_twenty))
    says(f"KCIT has {printed(kcit)} wrong edges more on 10 nodes and {printed(on_twenty)} on 20")
    for d, rows in ((10, 500), (10, 1_000), (20, 500), (20, 1_000)):
        held = behind(f"nonparanormal, {d} nodes", rows, "fisherZ")
        assert abs(held["mean"]) < 2 * held["error"]
    for row in TABLES["nonparanormal"].select(data="nonparanormal, 20 nodes"):
        means = {name: held["mean"] for name, held in row.items() if isinstance(held, dict)}
        assert max(means, key=lambda name: means[name]) == "NPN_glasso"
        assert min(means, key=lambda name: means[name]) == "NPN_mb"


def test_schemes() -> None:
    parts = {(scheme, n): shares(f"{scheme}, {n} rows") for scheme in study.SCHEMES for n in (125, 500)}
    most = {key: max(held["mean"] for held in cells) for key, cells in parts.items()}
    least = {key: min(held["mean"] for held in cells) for key, cells in parts.items()}
    says(f"reject up to {100 * most['simple', 125]:.0f} % of true independences")
    says(f"local ones at most {100 * most['local', 125]:.0f} %")
    spans = {key: f"{least[key]:.3f} to {most[key]:.3f}" for key in parts}
    says(f"simple permutations reject in {spans['simple', 125]} of tests", f"reject in {spans['local', 125]}. At 500")
    says(f"At 500 rows it is {spans['simple', 500]} and {spans['local', 500]}")
    above = {key: [i for i, x in enumerate(of) if x["mean"] > 0.05 + 2 * x["error"]] for key, of in parts.items()}
    assert above == {("simple", 125): [4, 5], ("simple", 500): [], ("local", 125): [], ("local", 500): []}
    for rows in (125, 500):
        found = [row[f"simple - local, {rows} rows"] for row in TABLES["dependent"].select()]
        assert all((x["mean"] > 2 * x["error"]) == (rows == 125) for x in found)
    worse = [row["local - simple"] for row in TABLES["seven-schemes"].select()]
    assert all(x["mean"] > 2 * x["error"] for x in worse)
    means = [x["mean"] for x in worse]
    says(f"with local ones {min(means):.1f} to {max(means):.1f} more edges are wrong")


def test_which_edges_are_wrong() -> None:
    places = [(row["data"], row["rows"]) for row in TABLES["errors"].select() if row["knnMI"]]
    assert all(lacking >= too_many for lacking, too_many in (wrong(*at, "knnMI") for at in places))
    counts = {(m, n): wrong(OTHER, n, m)[1] for m in ("fisherZ", "NPN_mb") for n in sizes_of("seven")}
    for method in ("fisherZ", "NPN_mb"):
        invented = [counts[method, n] for n in sizes_of("seven")]
        assert invented == sorted(invented)
    says(f"fisherZ has {counts['fisherZ', 125]} too many at 125 rows and {counts['fisherZ', 2_000]} at 2,000")
    says(f"NPN_mb {counts['NPN_mb', 125]} and {counts['NPN_mb', 2_000]}.")
    lasso = [wrong(LINEAR, n, "NPN_glasso") for n in sizes_of("seven")]
    says(f"NPN_glasso lacks at most {max(lacking for lacking, _ in lasso)} edges of linear data")
    says(f"has {min(many for _, many in lasso)} to {max(many for _, many in lasso)} too many")
    first, second = (wrong(LARGE, n, "RCIT")[1] for n in (125, 250))
    says(f"at 125 rows ({first} edges too many), and at 250 rows no longer ({second})")


def numbers(table: str, method: str) -> dict[int, int]:
    """How many data sets a method has by the number of rows, where that is not 25 and not none."""
    of: dict[int, set[int]] = {}
    for row in TABLES[table].select():
        if row[method]:
            of.setdefault(row["rows"], set()).add(row[method].get("n", 25))
    assert all(len(held) == 1 for held in of.values())
    return {rows: held.pop() for rows, held in of.items() if held != {25}}


CAPTIONS: dict[str, Callable[[], Iterator[str]]] = {
    "seven": lambda: of_seven(numbers("seven", "knnMI"), numbers("seven", "RCIT"), numbers("seven", "KCIT")),
    "large": lambda: of_large(numbers("large", "knnMI"), numbers("large", "KCIT"), numbers("large", "RCIT")),
    "nonparanormal": lambda: of_powered(*(numbers("nonparanormal", m) for m in ("knnMI", "KCIT", "RCIT"))),
}


def of_seven(ours: dict[int, int], rcit: dict[int, int], kcit: dict[int, int]) -> Iterator[str]:
    assert ours == rcit
    yield f"of knnMI and RCIT {ours.pop(1_000)} with 1,000 rows and {ours.pop(2_000)} with 2,000"
    yield f"of KCIT {kcit.pop(250)} with 250 rows."
    assert not ours
    assert not kcit


def of_large(ours: dict[int, int], kcit: dict[int, int], rcit: dict[int, int]) -> Iterator[str]:
    yield f"of knnMI {ours.pop(500)} with 500 rows, of KCIT {kcit.pop(125)} and of RCIT {rcit[125]}."
    assert not ours
    assert not kcit
    assert set(rcit) == {125, 250}
    assert len(set(rcit.values())) == 1


def of_powered(ours: dict[int, int], kcit: dict[int, int], rcit: dict[int, int]) -> Iterator[str]:
    assert ours[500] == ours[1_000]
    yield f"({ours[500]} in the nonparanormal panels with 500 and 1,000 rows)"
    yield f"of knnMI {ours[500]} with 500 rows and with 1,000, of KCIT {kcit.pop(125)}"
    yield f"of RCIT {rcit.pop(125)} with 125 rows and {rcit.pop(250)} with 250."
    assert set(ours) == {500, 1_000}
    assert not kcit
    assert not rcit


@pytest.mark.parametrize("name", CAPTIONS)
def test_captions_say_how_many_data_sets(name: str) -> None:
    says(*CAPTIONS[name]())


def test_proteins() -> None:
    rows = {row["method"]: row for row in TABLES["proteins"].select()}
    agreed = {method: row["agreed"]["mean"] for method, row in rows.items()}
    kernels = {"knnMI", "RCIT", "KCIT", study.LOCAL}
    assert {agreed[method] for method in kernels} == {9}
    others = [agreed[method] for method in rows if method not in kernels]
    says(
        f"agree with 9 of the pairs; the other methods find fewer edges, and {min(others):.0f} to {max(others):.0f} of"
    )
    fewest = min(rows[method]["edges"]["mean"] for method in kernels)
    assert all(rows[method]["edges"]["mean"] < fewest for method in rows if method not in kernels)
