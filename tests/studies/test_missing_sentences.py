"""What the report on missing cells says in sentences, computed from its results."""

from __future__ import annotations

from statistics import median

import numpy as np
import pytest

from tests.studies.reports import Report, Row, of

FILLED = ("mode", "most probable", "drawn")
WAYS = ("drop rows", "own state", "mode", "available cases", "node-average", "structural EM")


@pytest.fixture(scope="module")
def told() -> Report:
    return Report("missing")


def at(rows: list[Row], table: str, mechanism: str, hidden: int) -> Row:
    return next(r for r in rows if (r["table"], r["mechanism"], r["% hidden"]) == (table, mechanism, hidden))


def asked(row: Row, ways: tuple[str, ...] = WAYS) -> dict[str, float]:
    return {way: of(row[way]) for way in ways if row[way]}


def test_losses_and_distances(told: Report) -> None:
    losses, distances = told.tables["losses"], told.tables["distances"]
    assert all(min(found, key=lambda way: found[way]) == "structural EM" for found in map(asked, losses))
    told.says(f"has the smallest mean loss of the six ways in all {len(losses)} lines")
    ratios = {
        way: [
            f"{median(of(r[way]) / of(r['structural EM']) for r in losses if r['mechanism'] == m):.1f}"
            for m in ("MCAR", "MAR", "MNAR")
        ]
        for way in ("node-average", "own state")
    }
    told.says(
        "node-average's loss to its loss is {} where cells are missing completely at random, {} at random and {} not "
        "at random; that of a state of its own is {}, {} and {}".format(*ratios["node-average"], *ratios["own state"])
    )
    alarm = asked(at(losses, "alarm", "MCAR", 20))
    names = ("structural EM", "node-average", "own state", "available cases", "mode")
    told.says(
        "it loses {:.2f} nats a row, node-average {:.2f}, own state {:.2f}, available cases {:.2f} and "
        "modes {:.2f}".format(*(alarm[way] for way in names))
    )
    dropped = [of(at(losses, "alarm", "MCAR", share)["drop rows"]) for share in (5, 10)]
    told.says(f"costs {dropped[0]:.2f} nats a row on alarm at 5 %, {dropped[1]:.1f} at 10 %")
    assert at(losses, "alarm", "MCAR", 20)["drop rows"] is None
    arcs = of(at(told.tables["arcs"], "alarm", "MCAR", 10)["available cases"])
    told.says(f"adds arcs by the dozen: {arcs:.0f} on alarm at 10 %")
    nearest = [row for row in map(asked, distances) if min(row, key=lambda way: row[way]) == "structural EM"]
    told.says(f"structural EM's is the smallest in {len(nearest)} of {len(distances)} lines")
    at_5 = at(distances, "insurance", "MCAR", 5)
    assert of(at_5["drop rows"]) < of(at_5["structural EM"])
    whole = [of(row["complete"]) for row in distances if row["table"] == "insurance"]
    few = [of(row["complete"]) for row in told.tables["arcs"] if row["table"] == "insurance"]
    told.says(f"at a distance of about {sum(whole) / len(whole):.0f}, with {sum(few) / len(few):.0f} arcs")


def test_cells_that_are_not_missing_at_random(told: Report) -> None:
    losses = told.tables["losses"]
    said = [
        of(at(losses, name, how, 40)["structural EM"]) for how in ("MNAR", "MCAR") for name in ("alarm", "insurance")
    ]
    told.says(
        "loses {:.1f} nats a row on alarm and {:.1f} on insurance, where completely at random it loses {:.2f} and "
        "{:.2f}".format(*said)
    )


def test_parameters_of_a_given_graph(told: Report) -> None:
    rows = told.tables["parameters"]
    ways = ("drop rows", "own state", "mode", "available cases", "EM")
    assert all(min(found, key=lambda way: found[way]) == "EM" for found in (asked(row, ways) for row in rows))
    told.says(f"EM loses least in all {len(rows)} lines")
    ratio = [
        f"{median(of(r['available cases']) / of(r['EM']) for r in rows if r['mechanism'] == m):.1f}"
        for m in ("MCAR", "MAR", "MNAR")
    ]
    told.says(
        f"lose {ratio[0]} times as much as EM there", f"{ratio[1]} times at random and {ratio[2]} times not at random"
    )


def test_cells_that_are_filled_in(told: Report) -> None:
    row = at(told.tables["imputation"], "alarm", "MCAR", 20)
    wrong = [100 * of(row[way]) for way in ("structural EM", "true network", "mode of the column")]
    told.says(
        f"{wrong[0]:.1f} % of the cells are filled in wrongly, the true network fills in {wrong[1]:.1f} % wrongly, and "
        f"the mode of the column {wrong[2]:.1f} %"
    )


def test_tables_with_holes_of_their_own(told: Report) -> None:
    rows = {(row["table"], row["way"]): row["less that of structural EM"] for row in told.tables["real"]}
    behind = {way: -of(rows["primary-tumor", way]) for way in WAYS if way != "structural EM"}
    own = rows["primary-tumor", "own state"]
    assert min(behind, key=lambda way: behind[way]) == "own state"
    told.says(f"own state {-of(own):.2f} ± {own['error']:.2f} nats a row behind it")
    assert all(abs(of(rows["vote", way])) < 2 * rows["vote", way]["error"] for way in ("mode", "node-average"))
    modes = rows["soybean", "mode"]
    told.says(f"on soybean modes are better, by {of(modes):.2f} ± {modes['error']:.2f} nats a row")


def test_other_libraries(told: Report) -> None:
    rows = {(row["network"], row["library"]): row for row in told.tables["peers"]}
    for network in ("asia", "alarm"):
        ours, theirs = rows[network, "fishernet"], rows[network, "pyAgrum"]
        assert abs(of(ours["log P of known cells"]) - of(theirs["log P of known cells"])) < 1e-3
    seconds = [of(rows["asia", library]["seconds"]) for library in ("pyAgrum", "fishernet")]
    told.says(f"in {seconds[0]:.0f} s where ours takes {seconds[1]:.3f} s")


def test_neighbours_and_clusters(told: Report) -> None:
    agreement, accuracy = told.tables["neighbours-agreement"], told.tables["neighbours-accuracy"]
    assert all(of(row["averaged"]) > max(of(row[way]) for way in FILLED) for row in (*agreement, *accuracy))
    told.says(f"than every table that was filled in, in all {len(agreement)} lines")
    apart = [(row["class hidden"], row["averaged"]) for row in accuracy]
    near = [of(a) - of(b) < np.hypot(a["error"], b["error"]) for a, b in apart]
    assert [(row["table"], row["% hidden"]) for row, is_near in zip(accuracy, near, strict=True) if is_near] == [
        ("letter", 40)
    ]
    first = accuracy[0]
    assert of(first["class hidden"]) > of(first["no cell hidden"])
    truth = told.tables["clusters-truth"]
    better = [row for row in truth if of(row["cells missing"]) > max(of(row[way]) for way in FILLED)]
    told.says(f"nearer to the truth than those of filled-in tables in {len(better)} of {len(truth)} lines")
    assert [(row["table"], row["% hidden"]) for row in truth if row not in better] == [("letter", 10)]
    again = sorted(
        of(row["complete, other seed"]) for row in told.tables["clusters-complete"] if row["table"] == "letter"
    )
    told.says(f"two starts on the complete table agree to {again[0]:.2f} to {again[-1]:.2f} only")
