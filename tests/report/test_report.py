"""What a report says is what the library says, of any table and model; and it is small and harmless."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fishernet as fn

ASIA = fn.datasets.load("asia")
TABLE = ASIA.sample(1500, seed=1)
HOSTILE = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "]]>\u2028\u2029&lt;&amp;",
    "\"'`{}$${}",
    "\N{RIGHT-TO-LEFT OVERRIDE}abc",
    "日本語のとても長い名前" * 30,
    "x" * 300,
    " ",
    "é\N{COMBINING ACUTE ACCENT}\U0001f600",
]


class Read(HTMLParser):
    """What a page holds: tags with their attributes, the text of each section, and what is in scripts."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.sections: dict[str, str] = {}
        self.scripts: list[str] = []
        self._section, self._tag = "", ""
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._tag = tag
        if tag == "script":
            self.scripts.append("")
        if tag == "section":
            self._section = dict(attrs)["id"] or ""

    def handle_data(self, data: str) -> None:
        if self._tag == "script" and data.strip():
            self.scripts[-1] += data
        elif self._tag != "style":
            self.sections[self._section] = self.sections.get(self._section, "") + data

    def handle_endtag(self, tag: str) -> None:
        self._tag = ""

    @property
    def network(self) -> Any:
        return json.loads(self.scripts[0])


def shown(page: fn.Report) -> Read:
    return Read(page.html)


def hostile_table(n_rows: int = 400) -> fn.Table:
    """Columns whose names and labels want to be markup, and two that depend on one another."""
    draws = np.random.default_rng(1)
    first = draws.integers(len(HOSTILE), size=n_rows)
    columns = {name: [f"{HOSTILE[code]}{at % 3}" for at, code in enumerate(first)] for name in HOSTILE[:3]}
    columns |= {name: draws.choice(HOSTILE, n_rows).tolist() for name in HOSTILE[3:]}
    return fn.Table.from_frame(columns, categorical=list(columns))


@pytest.fixture(scope="module")
def page() -> fn.Report:
    return fn.report(TABLE, target="lung", title="Asia")


# ------------------------------------------------------------------------------------------------------ what it says


def test_every_section_is_there_and_has_a_heading(page: fn.Report) -> None:
    read = shown(page)
    names = ["explore", "why", "target", "edges", "beyond", "neighbours", "fit", "odd", "standing", "table", "notes"]
    assert [attrs["id"] for tag, attrs in read.tags if tag == "section"] == names
    for tag, attrs in read.tags:
        if tag == "section":
            assert ("h2", {"id": attrs["aria-labelledby"]}) in read.tags
    assert "Left out" not in page.html


def test_the_network_in_the_page_is_the_model(page: fn.Report) -> None:
    data = shown(page).network
    assert data["names"] == list(page.model.names)
    assert data["states"] == [list(variable.states) for variable in page.model.variables]
    assert page.model.dag.edges == fn.learn.bayesian_network(TABLE, seed=0).dag.edges


def test_columns_missing_cells_and_identifiers_are_told() -> None:
    frame = {"a": ["x", "y", None, "x"] * 50, "b": ["u", "v", "v", "u"] * 50, "id": [f"p{i}" for i in range(200)]}
    with pytest.warns(fn.FishernetWarning, match="id"):
        table = fn.Table.from_frame(frame)
    said = shown(fn.report(table)).sections["table"]
    assert "200 rows; 2 columns categorical, 1 column left out; 50 missing cells." in said
    assert "id" in said


def test_the_surest_edges_come_first(page: fn.Report) -> None:
    said = shown(page).sections["edges"]
    strengths = [float(number) for number in re.findall(r"[→](?: ?[a-z]+)(\d\.\d\d)", said)]
    assert len(strengths) == page.model.dag.n_edges
    assert strengths == sorted(strengths, reverse=True)


def test_gains_are_differences_of_the_score(page: fn.Report) -> None:
    said = shown(page).sections["edges"]
    for parent, child in page.model.dag.edges:
        parents = [page.model.names[p] for p in page.model.dag.parents[page.model.names.index(child)]]
        others = [name for name in parents if name != parent]
        gain = fn.local_score(TABLE, child, parents) - fn.local_score(TABLE, child, others)
        row = said.partition(f"{parent} → {child}")[2]
        assert row[8:].startswith(f"{gain:,.1f}".replace("-", "\N{MINUS SIGN}")), (parent, child)


def test_neighbours_are_those_of_the_graph(page: fn.Report) -> None:
    said = page.html.partition('<section id="neighbours"')[2].partition("</section>")[0]
    for name in page.model.names:
        cells = said.partition(f'<th scope="row">{name}</th>')[2].partition("</tr>")[0]
        blanket = re.findall("<b>(.*?)</b>", cells.rpartition("<td>")[2])
        assert blanket == list(page.model.dag.markov_blanket(name))


def test_the_held_out_score_is_that_of_cross_validation(page: fn.Report) -> None:
    found = fn.learn.cross_validate(TABLE, folds=5, seed=0, search="order")
    said = shown(page).sections["fit"].replace("\N{MINUS SIGN}", "-")
    assert f"{found.mean:.4f} ± {found.standard_error:.4f}" in said


def test_the_oddest_rows_are_those_of_least_probability(page: fn.Report) -> None:
    rows = [
        int(row.replace(",", "")) for row in re.findall(r'<th scope="row" class="n">([\d,]+)</th>', _part(page, "odd"))
    ]
    logs = page.model.log_prob(TABLE)
    assert len(rows) == 10
    assert np.allclose(logs[rows], np.sort(logs)[:10])
    terms = page.model.log_prob_terms(TABLE)
    first = _part(page, "odd").partition('class="n">' + f"{rows[0]:,}</th>")[2]
    assert re.findall("<b>(.*?)</b> = ", first)[0] == page.model.names[int(terms[rows[0]].argmin())]


def test_rows_that_stand_for_the_table_are_shown_whole(page: fn.Report) -> None:
    part = _part(page, "standing")
    lines = re.findall(r'<tr><th scope="row" class="n">([\d,]+)</th><td class="n">(.*?)</td>(.*?)</tr>', part)
    assert len(lines) == 8
    for row, _, cells in lines:
        own = TABLE[[int(row.replace(",", ""))]]
        assert re.findall("<td>(.*?)</td>", cells) == [own[name].tolist()[0] for name in TABLE.names]
    assert sum(float(share.removesuffix(" %")) for _, share, _ in lines) == pytest.approx(100, abs=0.5)


def _part(page: fn.Report, section: str) -> str:
    return page.html.partition(f'<section id="{section}"')[2].partition("</section>")[0]


def test_a_target_is_predicted_on_rows_held_out() -> None:
    sure = fn.report(TABLE, target="either")
    assert "held out from a network that was learned without them" in _part(sure, "target")
    right = float(re.findall(r"<b>([\d.]+) %</b> predicted right", _part(sure, "target"))[0])
    assert right > 97  # "either" is a function of two others
    given = fn.report(TABLE, ASIA, target="either")
    assert "which the model may have seen" in _part(given, "target")


def test_labels_that_others_contradict_are_in_doubt() -> None:
    """Of three rows the label was exchanged."""
    codes = [column.copy() for column in TABLE.codes]
    codes[TABLE.names.index("either")][[5, 50, 500]] ^= 1
    spoiled = fn.Table.adopt(TABLE.variables, codes)
    for model in (None, ASIA):
        told = _part(fn.report(spoiled, model, target="either"), "target").split("Labels in doubt")[-1]
        assert {"5", "50", "500"} <= set(re.findall(r'<th scope="row" class="n">(\d+)</th>', told))


def test_rows_count_as_often_as_their_weights_say() -> None:
    """The shares of the target's states, and how often each was predicted right."""
    rows, weights = TABLE.select(["smoke", "bronc"]), np.random.default_rng(1).integers(1, 5, TABLE.n_rows)
    model = fn.learn.bayesian_network(rows)
    weighed = fn.Table.adopt(rows.variables, rows.codes, weights=weights, n_rows=rows.n_rows)
    repeated = rows[np.repeat(np.arange(rows.n_rows), weights)]

    def states(table: fn.Table) -> list[str]:
        return re.findall("<tr>.*?</tr>", _part(fn.report(table, model, target="bronc"), "target"))

    assert len(states(weighed)) == 3
    assert states(weighed) == states(repeated)


def test_it_is_told_how_the_network_was_learned(page: fn.Report) -> None:
    numbers = fn.report({f"x{i}": np.random.default_rng(i).normal(size=60) for i in range(3)})
    holes = fn.report({"a": ["x", "y", None, "x"] * 10, "b": ["u", "v", "v", "u"] * 10})
    pages = {"(BIC)": page, "(fractional marginal likelihood)": numbers, "expectation and maximization": holes}
    for words, one in pages.items():
        assert [other for other in pages if other in _part(one, "notes")] == [words]
    assert "The network was given." in _part(fn.report(TABLE, ASIA), "notes")


def test_only_columns_that_mean_something_are_shown_of_edges(page: fn.Report) -> None:
    small = TABLE.select(["smoke", "bronc"])
    pair = [(["smoke", "bronc"], [[2.0, 1.0], [1.0, 2.0]])]
    undirected = _part(fn.report(small, fn.MarkovNetwork(small.variables, pair)), "edges")
    for word in ("direction", "gain", "The searches begin with"):
        assert word.capitalize() not in undirected
        assert word not in undirected
        assert word in _part(page, "edges")


def test_what_changed_is_told() -> None:
    smokers = fn.infer.intervene(ASIA, {"smoke": "yes"}).sample(1200, seed=2)
    changed = _part(fn.report(TABLE, compare_with=smokers), "change")
    assert "The two tables differ" in changed
    assert "<b>smoke</b> = yes" in changed
    same = _part(fn.report(TABLE, ASIA, compare_with=ASIA.sample(1200, seed=3)), "change")
    assert "no evidence" in same


def test_the_same_table_gives_the_same_page(page: fn.Report) -> None:
    assert fn.report(TABLE, target="lung", title="Asia").html == page.html


def test_costly_parts_are_found_on_rows_drawn_at_random_which_the_page_says() -> None:
    assert "10,000 rows drawn from all 12,000" in fn.report(ASIA.sample(12_000, seed=1), ASIA).html


# ------------------------------------------------------------------------------------------------ any table, any model


@pytest.mark.parametrize("given", ["markov", "dependency", "gaussian", "dag", "one", "few rows", "one row", "constant"])
def test_any_model_and_table_has_a_report(given: str) -> None:
    small = TABLE.select(["smoke", "bronc", "dysp"])
    numbers = fn.Table.from_frame({f"x{i}": np.random.default_rng(i).normal(size=200) for i in range(3)})
    net = fn.learn.bayesian_network(small)
    markov = fn.MarkovNetwork(small.variables, [(["smoke", "bronc"], [[2.0, 1.0], [1.0, 2.0]])])
    cases: dict[str, tuple[Any, Any]] = {
        "markov": (small, markov),
        "dependency": (small, fn.DependencyNetwork.from_joint(net)),
        "gaussian": (numbers, None),
        "dag": (small, net.dag),
        "one": (small.select(["smoke"]), None),
        "few rows": (small[:4], None),
        "one row": (small[:1], None),
        "constant": (fn.Table.from_frame({"a": ["x"] * 30, "b": ["u", "v", "w"] * 10}), None),
    }
    table, model = cases[given]
    page = fn.report(table, model)
    assert len(shown(page).network["names"]) == len(table.names)
    infers = "factors" in shown(page).network
    assert infers == (given != "dependency")
    if not infers:
        assert "has no exact inference" in page.html


def test_numbers_beside_states_stay_numbers() -> None:
    draws = np.random.default_rng(1)
    frame = {"kind": draws.choice(["a", "b"], 300).tolist(), "size": draws.normal(size=300)}
    page = fn.report(frame)
    assert page.model.values == "mixed"
    assert "were cut into bins" not in page.html
    cut = fn.report(frame, bins=3)
    assert [len(states) for states in shown(cut).network["states"]] == [2, 3]
    assert "<b>size</b>) were cut into bins" in cut.html


def mixed_table(seed: int, *, taller: float = 0.0, missing: float = 0.0) -> fn.Table:
    """Labels, numbers on several scales and dates, some of which are missing."""
    draws = np.random.default_rng(seed)
    n = 400
    sex, city = draws.integers(2, size=n), draws.integers(3, size=n)
    height = 170 + taller + 10 * sex + draws.normal(0, 6, n)
    columns: dict[str, Any] = {
        "sex": np.array(["f", "m"])[sex],
        "city": np.array(["a", "b", "c"])[city],
        "height": height,
        "weight": height - 100 + draws.normal(0, 7, n),
        "income": np.exp(8 + 0.8 * city + draws.normal(0, 0.4, n)),
        "since": np.datetime64("2020-01-01") + (100 * sex + draws.normal(300, 30, n)).astype("timedelta64[D]"),
    }
    gone = {name: draws.random(n) < missing for name in columns}
    cells = {name: column.tolist() for name, column in columns.items()}
    return fn.Table.from_frame(
        {name: [None if g else x for g, x in zip(gone[name], of, strict=True)] for name, of in cells.items()}
    )


@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("target", ["income", "sex"])
def test_labels_and_numbers_have_all_sections(target: str, missing: float) -> None:
    table = mixed_table(1, missing=missing)
    net = fn.learn.bayesian_network(table)
    page = fn.report(table, net, target=target, compare_with=mixed_table(2, taller=8.0, missing=missing))
    assert dict(page.left_out) == {}
    assert "blocks" in shown(page).network
    said = shown(page).sections
    assert "log-probability" not in said["fit"]
    assert "The two tables differ" in said["change"]
    assert "height" in said["change"]
    assert ("root mean square" if target == "income" else "predicted right") in said["target"]
    assert re.search(r"20(20|21)-\d\d-\d\d", said["standing"])


def test_odd_numbers_are_those_far_less_dense_than_their_column() -> None:
    """A wide column has low densities everywhere, which makes none of its cells odd."""
    draws = np.random.default_rng(1)
    wide, narrow = draws.normal(0, 1e9, 300), draws.normal(0, 1, 300)
    narrow[7] = 9.0
    table = fn.Table.from_frame({"wide": wide, "narrow": narrow, "kind": draws.choice(["a", "b"], 300).tolist()})
    net = fn.learn.parameters(fn.Dag(table.names, [(), (), ()]), table)
    odd = _part(fn.report(table, net), "odd").partition('class="n">7</th>')[2].partition("</tr>")[0]
    terms = net.log_prob_terms(table)[:, 1]
    assert f"<b>narrow</b> = 9 ({terms.mean() - terms[7]:.2f} nats)" in odd
    assert odd.index("narrow") < odd.find("wide") or "wide" not in odd


def test_missing_cells_are_no_hindrance() -> None:
    draws = np.random.default_rng(1)
    columns = [np.where(draws.random(TABLE.n_rows) < 0.1, 2, column).astype(np.uint8) for column in TABLE.codes]
    page = fn.report(fn.Table.adopt(TABLE.variables, columns), target="lung")
    assert "Left out" not in page.html
    assert '<span class="missing">missing</span>' in page.html


def test_many_states_are_no_hindrance() -> None:
    draws = np.random.default_rng(1)
    codes = np.stack([draws.integers(500, size=3000), draws.integers(2, size=3000)], axis=1)
    page = fn.report(fn.Table.from_codes(codes), target="v0")
    assert len(shown(page).network["states"][0]) == 500
    assert len(page.html) < 300_000


def test_a_network_too_wide_is_left_out_and_the_page_says_so() -> None:
    """Twelve variables in a ring of products, whose one clique would have 6^12 cells."""
    variables = [fn.Variable(f"v{i}", range(6)) for i in range(12)]
    pairs = [(f"v{i}", f"v{j}") for i in range(12) for j in range(i)]
    net = fn.MarkovNetwork(variables, [(pair, np.ones((6, 6))) for pair in pairs])
    table = fn.Table.from_codes(np.random.default_rng(1).integers(6, size=(50, 12)), variables)
    page = fn.report(table, net)
    assert "factors" not in shown(page).network
    assert "a page computes with up to 1,048,576" in page.html
    large = fn.Table.from_codes(np.random.default_rng(1).integers(40, size=(500, 4)))
    dag = fn.Dag.from_edges(large.names, [("v0", "v3"), ("v1", "v3"), ("v2", "v3")])
    assert (
        "2,564,800 probabilities, and a page takes up to 40,000"
        not in fn.report(large, fn.Dag(large.names, [()] * 4)).html
    )
    assert "a page takes up to 40,000" in fn.report(large, dag).html


# ----------------------------------------------------------------------------------------------------------- harmless


def test_nothing_from_the_data_is_markup(page: fn.Report) -> None:
    table = hostile_table()
    found = shown(fn.report(table, title=HOSTILE[1], target=table.names[0], compare_with=table))
    allowed = {tag for tag, _ in shown(page).tags} | {"ul", "li"}
    assert {tag for tag, _ in found.tags} <= allowed
    assert [tag for tag, _ in found.tags].count("script") == 2
    assert not [name for _, attrs in found.tags for name in attrs if name.startswith("on") or name in ("style", "src")]
    assert HOSTILE[0] in " ".join(found.sections.values())
    assert found.network["names"][0] == HOSTILE[0]
    assert not set("<>&\u2028\u2029") & set(found.scripts[0])


def test_the_policy_lets_only_the_pages_own_script_run(page: fn.Report) -> None:
    policy = next(attrs["content"] or "" for tag, attrs in shown(page).tags if attrs.get("http-equiv"))
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe" not in policy
    assert not re.findall(r"https?://(?!www\.w3\.org/2000/svg)", page.html)


def test_labels_cut_alike_stay_distinct() -> None:
    states = ["x" * 400 + str(i) for i in range(5)]
    table = fn.Table.from_frame({"a": states * 20}, categorical=["a"])
    assert len(set(shown(fn.report(table)).network["states"][0])) == 5


def test_pages_stay_small() -> None:
    draws = np.random.default_rng(1)
    names = [f"{'long name ' * 30}{i}" for i in range(37)]
    columns = {name: [f"{'state ' * 50}{s}" for s in draws.integers(30, size=90)] for name in names}
    page = fn.report(fn.Table.from_frame(columns, categorical=names))
    assert len(page.html.encode()) < 1_000_000


# ------------------------------------------------------------------------------------------------------------ refusals


def test_it_is_written_whole_or_not_at_all(tmp_path: Path) -> None:
    page = fn.report(TABLE, ASIA, path=tmp_path / "page.html")
    assert (tmp_path / "page.html").read_text(encoding="utf-8") == page.html
    with pytest.raises(fn.FileFormatError, match="cannot be written"):
        page.write(tmp_path / "no folder" / "page.html")
    with pytest.raises(fn.FileFormatError, match="cannot be written"):
        page.write(tmp_path)


def test_a_page_that_cannot_be_written_is_not_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.modules["fishernet.reports.making"], "bayesian_network", None)
    for path, said in (
        (tmp_path / "no folder" / "page.html", "there is no directory"),
        (tmp_path, "it is a directory"),
    ):
        with pytest.raises(fn.FileFormatError, match=f"cannot be written; {said}"):
            fn.report(TABLE, path=path)


def test_what_cannot_be_reported_on_is_refused() -> None:
    with pytest.raises(fn.SchemaError, match="no rows"):
        fn.report(TABLE[:0])
    weightless = fn.Table.adopt(TABLE.variables, TABLE.codes, weights=np.zeros(TABLE.n_rows, dtype=np.int64))
    with pytest.raises(fn.SchemaError, match="all rows of the table have weight 0"):
        fn.report(weightless)
    with pytest.raises(fn.SchemaError, match="unknown target 'cough'"):
        fn.report(TABLE, ASIA, target="cough")
    with pytest.raises(fn.SchemaError, match="lacks the column"):
        fn.report(TABLE.select(["smoke"]), ASIA)
    with pytest.warns(fn.FishernetWarning, match="answers without some columns: 'asia', 'tub', "):
        assert "change" not in fn.report(TABLE, compare_with=TABLE.select(["smoke"])).left_out
    with pytest.raises(fn.FishernetError, match="cannot be combined with model="):
        fn.report(TABLE, ASIA, bins=4)


def test_matplotlib_is_not_needed() -> None:
    script = (
        "import sys; sys.modules['matplotlib'] = None\n"
        "import fishernet as fn\n"
        "print('<svg' in fn.report(fn.datasets.load('asia').sample(300, seed=1)).html)\n"
    )
    run = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True)
    assert run.stdout.strip() == "True"


def test_a_report_shows_itself(page: fn.Report) -> None:
    assert repr(page) == f"Report('Asia', {len(page.html.encode()):,} bytes)"
    assert page._repr_html_().startswith("<div>")


def test_networks_show_a_small_page_in_notebooks() -> None:
    html = ASIA._repr_html_()
    frame = next(attrs for tag, attrs in Read(html).tags if tag == "iframe")
    assert frame["sandbox"] == "allow-scripts"
    inside = Read(frame["srcdoc"] or "")
    assert inside.network["names"] == list(ASIA.names)
    assert [attrs["id"] for tag, attrs in inside.tags if tag == "section"] == ["explore"]
    assert len(html) < 100_000
