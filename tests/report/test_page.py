"""The page in a real browser: it loads without complaint, answers as the library does, and obeys the keyboard."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fishernet as fn
from fishernet.data.encoding.scales import Scale
from tests.report.browser import Browser
from tests.report.test_report import HOSTILE, hostile_table

ASIA = fn.datasets.load("asia")
TAB, ENTER, SPACE, DOWN, RIGHT = "\ue004", "\ue007", " ", "\ue015", "\ue014"

SHARES = """
return [...document.querySelectorAll(".card")].map((card) => Object.fromEntries(
  [...card.querySelectorAll(".state")].map((state) => [
    state.querySelector(".label").textContent,
    { p: Number(state.querySelector(".share").title), shown: state.querySelector(".share").textContent,
      pressed: state.getAttribute("aria-pressed"), best: state.classList.contains("best") },
  ])));
"""


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with Browser() as started:
        yield started


@pytest.fixture(scope="module")
def asia(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "asia.html"
    fn.report(ASIA.sample(1000, seed=1), ASIA, target="lung", path=path)
    return path


def choose(browser: Browser, name: str, state: str) -> None:
    """Click on a state in the card of a variable."""
    cards = browser.run("return [...document.querySelectorAll('.card h3 span:first-child')].map((h) => h.textContent)")
    v = cards.index(name)
    labels = browser.run(
        "return [...document.querySelectorAll('.card')[arguments[0]].querySelectorAll('.label')]"
        ".map((l) => l.textContent)",
        v,
    )
    browser.click(f".card:nth-child({v + 1}) .state", labels.index(state))


def status(browser: Browser) -> str:
    said: str = browser.run("return document.getElementById('evidence').textContent")
    return said


def check_shares(browser: Browser, net: fn.BayesianNetwork, given: dict[str, Any]) -> None:
    """Every number in the cards is that of the library."""
    for variable, card in zip(net.variables, browser.run(SHARES), strict=True):
        expected = fn.infer.marginal(net, [variable.name], given=given)
        for state, p in zip(variable.states, expected.tolist(), strict=True):
            assert card[state]["p"] == pytest.approx(p, abs=1e-12)
            if 0.0005 <= p <= 0.9995:
                assert card[state]["shown"] == f"{100 * card[state]['p']:.1f} %"
            assert card[state]["pressed"] == str(given.get(variable.name) == state).lower()


def test_it_loads_without_complaint_and_asks_the_network_for_nothing(browser: Browser, asia: Path) -> None:
    browser.open(asia)
    check_shares(browser, ASIA, {})
    assert browser.complaints() == []
    assert browser.requests() == [asia.as_uri()]
    assert browser.run("return document.querySelectorAll('#drawing .node').length") == 8
    assert browser.run("return document.querySelectorAll('#drawing .edge').length") == 8


def test_clicks_move_all_marginals_and_the_probability_of_what_is_seen(browser: Browser, asia: Path) -> None:
    browser.open(asia)
    choose(browser, "smoke", "yes")
    choose(browser, "dysp", "yes")
    given = {"smoke": "yes", "dysp": "yes"}
    check_shares(browser, ASIA, given)
    p = math.exp(fn.infer.log_evidence(ASIA, given))
    assert status(browser) == f"Probability of what is seen: {float(f'{p:.4g}')}."
    choose(browser, "smoke", "yes")
    check_shares(browser, ASIA, {"dysp": "yes"})
    browser.click("#known button")
    check_shares(browser, ASIA, {})
    assert status(browser) == "Nothing is known yet."


def test_what_is_set_cuts_what_leads_to_it(browser: Browser, asia: Path) -> None:
    browser.open(asia)
    browser.click("input[value=do]")
    choose(browser, "bronc", "yes")
    check_shares_of_done(browser)
    browser.click("#reset")
    check_shares(browser, ASIA, {})


def check_shares_of_done(browser: Browser) -> None:
    done = fn.infer.intervene(ASIA, {"bronc": "yes"})
    for variable, card in zip(ASIA.variables, browser.run(SHARES), strict=True):
        expected = fn.infer.marginal(done, [variable.name])
        assert [card[state]["p"] for state in variable.states] == pytest.approx(expected.tolist(), abs=1e-12)


def test_the_most_probable_explanation_is_marked(browser: Browser, asia: Path) -> None:
    browser.open(asia)
    choose(browser, "dysp", "yes")
    browser.click("#explain")
    best = fn.infer.most_probable(ASIA, given={"dysp": "yes"})
    marked = [[state for state, of in card.items() if of["best"]] for card in browser.run(SHARES)]
    assert marked == [[best[name]] for name in ASIA.names]
    assert "Most probable explanation" in status(browser)
    assert browser.run("return document.querySelector('#explain').getAttribute('aria-pressed')") == "true"


def test_what_is_hardly_possible_is_told_by_its_exponent(browser: Browser, tmp_path: Path) -> None:
    rare = fn.Variable("rare", ["no", "yes"])
    others = [fn.Variable(f"sign{i}", ["no", "yes"]) for i in range(2)]
    tables: dict[str, Any] = {"rare": [1.0, 1e-300]} | {v.name: [1 - 2e-60, 2e-60] for v in others}
    net = fn.BayesianNetwork.from_tables([rare, *others], {}, tables)
    fn.report(net.sample(20, seed=1), net, path=tmp_path / "rare.html")
    browser.open(tmp_path / "rare.html", "#see:rare=yes&see:sign0=yes&see:sign1=yes")
    assert status(browser) == "Probability of what is seen: 4.000 \N{MULTIPLICATION SIGN} 10⁻⁴²⁰."


def test_what_is_impossible_is_said(browser: Browser, asia: Path) -> None:
    browser.open(asia)
    for name, state in {"tub": "yes", "either": "no"}.items():
        choose(browser, name, state)
    assert "probability 0" in status(browser)
    assert "NaN" not in browser.run("return document.body.innerText")
    browser.click("#reset")
    check_shares(browser, ASIA, {})


def test_the_address_keeps_what_is_known(browser: Browser, asia: Path) -> None:
    browser.open(asia)
    choose(browser, "smoke", "no")
    browser.click("input[value=do]")
    choose(browser, "bronc", "yes")
    fragment = browser.run("return location.hash")
    assert fragment == "#see%3Asmoke=no&do%3Abronc=yes"
    before = browser.run(SHARES)
    browser.open(asia, fragment)
    assert browser.run(SHARES) == before
    browser.click("#share")
    assert browser.run("return document.getElementById('link').value").endswith(fragment)
    browser.open(asia, "#see%3Asmoke=never&see:nobody=no&do:lung=%3Cb%3E")
    check_shares(browser, ASIA, {})
    browser.open(asia, "#table")
    check_shares(browser, ASIA, {})
    assert browser.complaints() == []


def test_the_keyboard_is_enough(browser: Browser, asia: Path) -> None:
    """Tab comes to the graph once, arrows move in it, Enter goes to a card; there, arrows and Space choose."""
    focus = "return document.activeElement"
    browser.open(asia)
    browser.run("document.querySelector('#share').focus()")
    browser.keys(TAB, TAB)
    seen = browser.run(f"{focus}.getAttribute('class')")
    if "node" not in seen:  # a part that scrolls takes the focus, too
        browser.keys(TAB)
    first = browser.run(f"{focus}.dataset.v")
    assert browser.run(f"{focus}.getAttribute('role')") == "button"
    browser.keys(DOWN)
    assert browser.run(f"{focus}.getAttribute('class')").startswith("node")
    assert browser.run(f"{focus}.dataset.v") != first
    v = int(browser.run(f"{focus}.dataset.v"))
    browser.keys(ENTER)
    name = ASIA.names[v]
    assert browser.run(f"{focus}.closest('.card').querySelector('h3 span').textContent") == name
    browser.keys(DOWN, SPACE)
    assert browser.run(f"{focus}.getAttribute('aria-pressed')") == "true"
    check_shares(browser, ASIA, {name: ASIA.variables[v].states[1]})


def test_everything_has_a_name_and_a_role(browser: Browser, asia: Path) -> None:
    """As the browser tells it to a reader of screens."""
    browser.open(asia)
    choose(browser, "smoke", "yes")
    nodes = browser.devtools("Accessibility.getFullAXTree")["nodes"]
    told = [(n["role"]["value"], n.get("name", {}).get("value", "")) for n in nodes if not n["ignored"]]
    for role, name in told:
        if role in ("button", "radio", "region", "group", "textbox", "searchbox", "combobox", "link", "heading"):
            assert name, role
    names = [name for role, name in told if role == "button"]
    assert "yes 100.0 %" in names
    assert "smoke, seen: yes 100.0 %, no 0.0 %" in names
    assert {"main", "navigation", "status"} <= {role for role, _ in told}


def test_labels_that_want_to_be_markup_are_text(browser: Browser, tmp_path: Path) -> None:
    table = hostile_table()
    fn.report(table, target=table.names[0], title=HOSTILE[0], path=tmp_path / "hostile.html")
    browser.open(tmp_path / "hostile.html")
    browser.run("window.alert = () => { document.body.dataset.ran = 'yes'; }")
    for v in range(4):
        browser.click(f".card:nth-child({v + 1}) .state")
    browser.click("#explain")
    assert browser.run("return document.querySelectorAll('img, iframe, script[src]').length") == 0
    assert browser.run("return document.body.dataset.ran || ''") == ""
    assert browser.run("return document.querySelectorAll('script').length") == 2
    assert HOSTILE[0] in browser.run("return document.querySelector('.card h3 span').textContent")
    fragment = browser.run("return location.hash")
    before = browser.run(SHARES)
    browser.open(tmp_path / "hostile.html", fragment)
    browser.click("#explain")
    assert browser.run(SHARES) == before
    assert browser.complaints() == []
    assert browser.requests()[-1].startswith("file:")


def test_many_states_are_chosen_from_a_list(browser: Browser, tmp_path: Path) -> None:
    draws = np.random.default_rng(1)
    first = draws.integers(500, size=4000)
    table = fn.Table.from_codes(np.stack([first, first % 2], axis=1))
    found = fn.report(table, fn.Dag.from_edges(["v0", "v1"], [("v0", "v1")]), path=tmp_path / "many.html")
    browser.open(tmp_path / "many.html")
    assert browser.run("return document.querySelectorAll('.card:first-child .state').length") == 6
    browser.run(
        "const list = document.querySelector('.card select'); list.value = '333'; "
        "list.dispatchEvent(new Event('change'))"
    )
    expected = fn.infer.marginal(found.model, ["v1"], given={"v0": 333})
    assert [browser.run(SHARES)[1][str(s)]["p"] for s in (0, 1)] == pytest.approx(expected.tolist(), abs=1e-12)
    assert browser.run(SHARES)[0]["333"]["pressed"] == "true"


@pytest.mark.parametrize("page", ["asia", "mixed"])
def test_nothing_is_wider_than_a_telephone(browser: Browser, page: str, request: pytest.FixtureRequest) -> None:
    path = request.getfixturevalue(page)
    try:
        for width in (400, 1280):
            browser.resize(width, 800)
            browser.open(path)
            assert browser.run("return document.documentElement.scrollWidth") <= width
    finally:
        browser.devtools("Emulation.clearDeviceMetricsOverride")


def test_a_page_without_inference_loads_as_well(browser: Browser, tmp_path: Path) -> None:
    small = ASIA.sample(100, seed=1).select(["smoke", "bronc", "dysp"])
    net = fn.DependencyNetwork.from_joint(fn.learn.bayesian_network(small))
    fn.report(small, net, path=tmp_path / "samples.html")
    browser.open(tmp_path / "samples.html")
    assert browser.complaints() == []
    assert browser.run("return document.querySelectorAll('#cards').length") == 0


def test_a_notebook_shows_networks_that_answer(browser: Browser, tmp_path: Path) -> None:
    """In a frame that may run scripts and nothing else."""
    path = tmp_path / "notebook.html"
    path.write_text(f"<!DOCTYPE html><meta charset=utf-8>{ASIA._repr_html_()}", encoding="utf-8")
    browser.open(path)
    browser.enter("iframe")
    browser.until("document.querySelectorAll('.card').length === 8")
    choose(browser, "smoke", "yes")
    check_shares(browser, ASIA, {"smoke": "yes"})
    browser.leave()
    assert browser.complaints() == []


# ------------------------------------------------------------------------------------------- pages with numbers on them


def mixed_network() -> fn.BayesianNetwork:
    sex, height, income = fn.Variable("sex", ["f", "m"]), fn.Continuous("height"), INCOME
    tables: dict[str, Any] = {
        "sex": [0.4, 0.6],
        "height": {"intercept": [166, 180], "coefficients": [[], []], "sd": [6, 7]},
        "income": {"intercept": [4.0, 4.2], "coefficients": [[0.02], [0.02]], "sd": [0.5, 0.6]},
        "born": {"intercept": 10_000.0, "coefficients": [-10.0], "sd": 900.0},
    }
    born = fn.Continuous("born", unit="days")
    parents = {"height": ["sex"], "income": ["sex", "height"], "born": ["height"]}
    return fn.BayesianNetwork.from_tables([sex, height, income, born], parents, tables)


INCOME = fn.Continuous("income", scale=Scale("log", (0.0, 1.0)))
MIXED = mixed_network()
FIGURES = (
    "return [...document.querySelectorAll('.card')[arguments[0]].querySelectorAll('.figures span')].map((s) => s.title)"
)


@pytest.fixture(scope="module")
def mixed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("pages") / "mixed.html"
    fn.report(MIXED.sample(400, seed=1), MIXED, target="income", path=path)
    return path


def type_number(browser: Browser, name: str, keys: str) -> None:
    """Type into the field of a number, as a person would, and press Enter."""
    browser.run(
        "document.querySelectorAll('.card')[arguments[0]].querySelector('input').focus()", MIXED.names.index(name)
    )
    browser.keys(*keys, ENTER)


def check_figures(browser: Browser, net: fn.BayesianNetwork, given: dict[str, Any]) -> None:
    """Every number in the cards is that of the library, states' and numbers'."""
    assert [card["p"] for card in browser.run(SHARES)[0].values()] == pytest.approx(
        fn.infer.marginal(net, ["sex"], given=given).tolist(), abs=1e-9
    )
    for v, name in enumerate(net.names[1:], 1):
        said = browser.run(FIGURES, v)
        if name in given:
            assert said == []
            continue
        of = net.query(name, given=given)
        expected = [of.mean, of.sd, of.median, *of.interval(0.9)]
        assert [float(number) for number in " ".join(said).split()] == pytest.approx(expected, rel=1e-9)


def test_a_number_that_is_typed_moves_all_distributions(browser: Browser, mixed: Path) -> None:
    browser.open(mixed)
    check_figures(browser, MIXED, {})
    before = browser.run("return document.querySelector('.card:nth-child(3) .shape').getAttribute('d')")
    type_number(browser, "height", "185.5")
    given = {"height": 185.5}
    check_figures(browser, MIXED, given)
    assert browser.run("return document.querySelector('.card:nth-child(3) .shape').getAttribute('d')") != before
    log = fn.infer.log_evidence(MIXED, given)
    assert status(browser) == "Log-density of what is seen: " + f"{log:.3f}.".replace("-", "\N{MINUS SIGN}")
    choose(browser, "sex", "f")
    check_figures(browser, MIXED, given | {"sex": "f"})
    fragment = browser.run("return location.hash")
    assert fragment == "#see%3Aheight=185.5&see%3Asex=f"
    browser.open(mixed, fragment)
    check_figures(browser, MIXED, given | {"sex": "f"})
    browser.click("#known button")
    check_figures(browser, MIXED, {"sex": "f"})
    assert status(browser).startswith("Probability of what is seen: 0.4.")
    browser.click("#reset")
    check_figures(browser, MIXED, {})
    assert browser.complaints() == []


def test_a_number_that_is_set_tells_nothing_of_its_causes(browser: Browser, mixed: Path) -> None:
    browser.open(mixed)
    browser.click("input[value=do]")
    type_number(browser, "height", "185.5")
    assert [card["p"] for card in browser.run(SHARES)[0].values()] == pytest.approx([0.4, 0.6], abs=1e-12)
    assert float(browser.run(FIGURES, 3)[0]) == pytest.approx(10_000 - 1855.0)
    assert "nothing is seen" in status(browser).lower()
    said = browser.run("return [...document.querySelectorAll('.node')].map((node) => node.getAttribute('aria-label'))")
    assert "height, set: 185.5" in said
    browser.run(
        "const field = document.querySelectorAll('.card')[1].querySelector('input'); field.value = ''; "
        "field.dispatchEvent(new Event('change'))"
    )
    check_figures(browser, MIXED, {})


def test_dates_are_typed_and_shown_as_dates(browser: Browser, mixed: Path) -> None:
    browser.open(mixed, "#see:born=1994-05-06")
    check_figures(browser, MIXED, {"born": "1994-05-06"})
    assert browser.run("return document.querySelectorAll('.card')[3].querySelector('input').value") == "1994-05-06"
    assert "born = 1994-05-06" in browser.run("return document.querySelector('#known').textContent")
    browser.open(mixed, "#see:born=tomorrow&see:height=&see:income=1e400")
    check_figures(browser, MIXED, {})
    assert "1992-" in browser.run("return document.querySelectorAll('.card')[3].querySelector('.figures').textContent")


def test_the_most_probable_labels_are_marked_and_numbers_far_out_stay_finite(browser: Browser, mixed: Path) -> None:
    browser.open(mixed, "#see:height=1e6")
    browser.click("#explain")
    best = fn.infer.most_probable(MIXED, given={"height": 1e6})["sex"]
    assert [state for state, of in browser.run(SHARES)[0].items() if of["best"]] == [best]
    assert "NaN" not in browser.run("return document.body.innerText")
    assert browser.complaints() == []


def test_fields_of_numbers_have_names_and_obey_the_keyboard(browser: Browser, mixed: Path) -> None:
    browser.open(mixed)
    nodes = browser.devtools("Accessibility.getFullAXTree")["nodes"]
    told = [(n["role"]["value"], n.get("name", {}).get("value", "")) for n in nodes if not n["ignored"]]
    assert ("spinbutton", "height: what it is known to be") in told
    assert any(role == "button" and name.startswith("height: mean 174.4, 90 % from") for role, name in told)
    browser.run("document.querySelectorAll('.node')[1].focus()")
    browser.keys(ENTER)
    assert browser.run("return document.activeElement.getAttribute('aria-label')") == "height: what it is known to be"
    browser.keys(*"170", ENTER)
    check_figures(browser, MIXED, {"height": 170})


def test_networks_of_numbers_alone_answer_as_well(browser: Browser, tmp_path: Path) -> None:
    net = fn.BayesianNetwork.from_regressions(fn.Dag(["x", "y"], [(), (0,)]), [1.0, 2.0], [[], [0.5]], [1.0, 2.0])
    fn.report(net.sample(100, seed=1), net, path=tmp_path / "numbers.html")
    browser.open(tmp_path / "numbers.html", "#see:y=4")
    expected = net.query("x", given={"y": 4})
    said = [float(number) for number in " ".join(browser.run(FIGURES, 0)).split()]
    assert said[:2] == pytest.approx([expected.mean[0], expected.covariance[0, 0] ** 0.5], rel=1e-9)
    assert browser.run("return document.getElementById('explain').hidden")
    assert browser.complaints() == []


WHY = """return [...document.querySelectorAll("#why tbody")].map((body) =>
  [...body.rows].map((row) => [...row.cells].map((cell) => cell.textContent)))"""


def test_it_says_which_rows_are_behind_an_answer(browser: Browser, tmp_path: Path) -> None:
    table = ASIA.sample(2000, seed=1)
    net = fn.learn.bayesian_network(table)
    fn.report(table, net, path=tmp_path / "why.html", target="lung")
    browser.open(tmp_path / "why.html", "#see:smoke=yes")
    browser.run("const s = document.getElementById('why-state'); s.value = '0'; s.dispatchEvent(new Event('change'))")
    assert browser.run("return document.getElementById('why-said').textContent").startswith(
        "P(lung = yes | what is known)"
    )
    up, down, rests = browser.run(WHY)
    why = fn.explain.rows(net, table, query="lung", state="yes", given={"smoke": "yes"})
    smoke, lung = table["smoke"], table["lung"]
    for shown, both, sign in ((up, ("yes", "yes"), 1), (down, ("yes", "no"), -1)):
        [[first, such, value, *cells]] = shown
        alike = [row for row in range(table.n_rows) if (smoke[row], lung[row]) == both]
        assert (int(first), int(such), tuple(cells)) == (alike[0], len(alike), both)
        assert float(value.replace("\N{MINUS SIGN}", "-")) == pytest.approx(why.values[alike[0]], rel=1e-2)
        assert sign * why.values[alike[0]] > 0
    assert rests[0][:3] == ["lung", "smoke = yes", str((smoke == "yes").sum())]
    browser.run(
        "const s = document.getElementById('why-variable'); s.value = '2'; s.dispatchEvent(new Event('change'))"
    )
    assert "is known" in browser.run("return document.getElementById('why-said').textContent")
    assert browser.complaints() == []
