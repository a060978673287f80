"""The sections of a report, as HTML that can be read without scripts; everything that comes from data is escaped."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any

import numpy as np

from fishernet.base.names import cut, several
from fishernet.data.encoding.labels import as_text
from fishernet.graphs.graph import graph_of
from fishernet.reports import findings as found
from fishernet.reports.findings import Findings
from fishernet.reports.network import PageNetwork

LONGEST = 120  # characters of a label in a sentence or a cell
MOST_ROWS = 400  # of a table on the page
MOST_COLUMNS = 60
FEW_EDGES = 24  # that are shown in one table
SHOWN_EDGES = 10
SHOWN_CHANGES = 8
MOST_NEIGHBOURS = 25
MOST_STATES = 25


MINUS, TIMES = "\N{MINUS SIGN}", "\N{MULTIPLICATION SIGN}"


class Html(str):
    """Text that is HTML already."""

    __slots__ = ()

    def __html__(self) -> str:
        return self


DASH = Html("\N{EN DASH}")


def text(value: object, longest: int = LONGEST) -> Html:
    """Return a label, a name or a sentence as HTML shows it."""
    if hasattr(value, "__html__"):
        return Html(value.__html__())
    if value is None:
        return Html('<span class="missing">missing</span>')
    said = as_text(value) if isinstance(value, str | bool | int) else f"{value:.6g}" if _real(value) else str(value)
    printed = said if said.isprintable() else repr(said)[1:-1]
    return Html(escape(cut(printed if said.strip() else "(blank)", longest)))


def _real(value: object) -> bool:
    return isinstance(value, float | np.floating)


def percent(share: float) -> Html:
    """Return a share as people read it."""
    if math.isnan(share):
        return DASH
    if 0 < share < 0.0005:
        return Html("&lt; 0.1 %")
    return Html(f"{100 * share:.1f} %")


def number(value: float | None, digits: int = 4) -> Html:
    """Return a number as people read it."""
    if value is None or math.isnan(value):
        return DASH
    if math.isinf(value):
        return Html("∞" if value > 0 else f"{MINUS}∞")
    return Html(f"{value:,.{digits}f}".replace("-", MINUS))


def probability(log: float) -> Html:
    """Return the probability that a logarithm means; small ones as powers of ten."""
    if math.isinf(log):
        return Html("0")
    if log > math.log(5e-4):
        return Html(f"{math.exp(log):.3g}")
    exponent = math.floor(log / math.log(10))
    return Html(f"{math.exp(log - exponent * math.log(10)):.1f} {TIMES} 10<sup>{MINUS}{-exponent}</sup>")


def section(name: str, heading: str, *parts: str) -> str:
    """Return a section with its heading."""
    return f'<section id="{name}" aria-labelledby="{name}-h"><h2 id="{name}-h">{heading}</h2>{"".join(parts)}</section>'


def paragraph(*sentences: str) -> str:
    """Return a paragraph of HTML sentences."""
    return f"<p>{' '.join(sentences)}</p>"


def table(caption: str, header: Sequence[str], rows: Iterable[Sequence[object]], right: Sequence[int] = ()) -> str:
    """Return a table with a caption; the first column is that of what a row is about, some stand to the right."""
    head = "".join(f'<th scope="col"{_side(n, right)}>{title}</th>' for n, title in enumerate(header))
    lines = []
    for row in rows:
        first, *others = row
        cells = "".join(f"<td{_side(n, right)}>{text(cell)}</td>" for n, cell in enumerate(others, start=1))
        lines.append(f'<tr><th scope="row"{_side(0, right)}>{text(first)}</th>{cells}</tr>')
    return (
        f'<div class="wide" tabindex="0" role="region" aria-label="{caption}"><table><caption>{caption}</caption>'
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(lines)}</tbody></table></div>"
    )


def _side(column: int, right: Sequence[int]) -> str:
    return ' class="n"' if column in right else ""


def left_out(findings: Findings, what: str) -> str:
    """Return the sentence that stands in the place of what could not be found; nothing if it was not asked for."""
    reason = findings.left_out.get(what)
    return "" if reason is None else f'<p class="left">Left out: {text(reason, 600)}</p>'


def named(names: Iterable[str], most: int = MOST_NEIGHBOURS) -> Html:
    """Return names as a sentence lists them."""
    every = list(names)
    more = f" and {several(len(every) - most, 'other')}" if len(every) > most else ""
    return Html((", ".join(f"<b>{text(name)}</b>" for name in every[:most]) or DASH) + more)


def state_of(cell: found.OddCell) -> Html:
    """Return a cell as name = state."""
    return Html(f"<b>{text(cell.name)}</b> = {text(cell.state)}")


# ------------------------------------------------------------------------------------------------------ the sections


def summary(findings: Findings) -> str:
    """Return the few sentences that say the most."""
    model = findings.model
    edges = found.edges_of(model)
    said = [
        f"{several(findings.original.n_rows, 'row')} and {several(len(findings.original.names), 'column')}; "
        f"a network of {several(len(model.variables), 'variable')} joined by {several(len(edges), 'edge')}"
        f"{', learned from these rows' if findings.learned else ', as it was given'}."
    ]
    if findings.cut:
        said.append(f"Columns of numbers ({named(findings.cut, 6)}) were cut into bins for it.")
    certainty, held_out = findings.certainty, findings.held_out
    if certainty is not None and certainty.edges:
        sure = sum(edge.strength >= 0.95 for edge in certainty.edges)
        said.append(
            f"{several(sure, 'edge')} {'is' if sure == 1 else 'are'} in 95 % or more of the bootstrap's networks."
        )
    if held_out is not None:
        said.append(
            f"A row held out has a {_log_of(findings.model)} of {number(held_out.mean, 3)} ± "
            f"{number(held_out.error, 3)} nats, {number(held_out.gain, 3)} more than where columns are taken as "
            "independent."
        )
    if findings.change is not None:
        said.append(_verdict(findings.change))
    return paragraph(*said)


def columns(findings: Findings) -> str:
    """Return what the columns are."""
    described, odd = findings.original.describe(), findings.original.alerts()
    kinds = ", ".join(f"{several(len(names), 'column')} {kind}" for kind, names in described.by_kind().items())
    missing = sum(described.missing().values())
    rows = [
        (
            c.name,
            "binned" if c.binned else c.kind,
            c.shape,
            c.typical or DASH,
            c.holds or DASH,
            f"{c.missing:,}",
            c.why or DASH,
        )
        for c in described.columns[:MOST_ROWS]
    ]
    more = len(described.columns) - len(rows)
    return section(
        "table",
        "The table",
        paragraph(f"{several(described.n_rows, 'row')}; {kinds}; {several(missing, 'missing cell')}."),
        table("Columns", ("column", "kind", "shape", "typical", "holds", "missing", "why"), rows, right=(5,)),
        paragraph(f"And {several(more, 'more column')}.") if more > 0 else "",
        f"<ul>{''.join(f'<li>{text(alert, 600)}</li>' for alert in odd)}</ul>" if odd else "",
    )


def edges(findings: Findings) -> str:
    """Return how sure the edges are."""
    certainty = findings.certainty
    if certainty is None:
        return section("edges", "How sure the edges are", left_out(findings, "certainty"))
    of = certainty.edges
    said = [
        f"Strength is the share of {several(certainty.n_samples, 'network')} learned from bootstrap samples of",
        f"{_of_rows(certainty.n_rows, findings.table.n_rows)} that join the two variables.",
    ]
    if _directed(findings.model):
        said.append("Direction is the share of those in which the arrow points this way (0.5: the data cannot tell).")
    if _have_gains(of):
        said.append("Gain is what the score (BIC) of all rows loses without the edge, in nats.")
    if found.dag_of(findings.model) is not None:
        said.append("The searches begin with this network.")
    how = paragraph(*said)
    if not of:
        return section("edges", "How sure the edges are", paragraph("The network has no edges."))
    if len(of) <= FEW_EDGES:
        return section("edges", "How sure the edges are", how, _edge_table("Edges, the surest first", findings, of))
    most = _edge_table("The most certain edges", findings, of[:SHOWN_EDGES])
    least = _edge_table("The least certain edges", findings, of[: -SHOWN_EDGES - 1 : -1])
    return section("edges", "How sure the edges are", how, f'<div class="pair">{most}{least}</div>')


def _edge_table(caption: str, findings: Findings, of: Sequence[found.Edge]) -> str:
    directed = _directed(findings.model)
    arrow = "→" if directed else "—"
    columns: dict[str, list[Html]] = {
        "edge": [Html(f"{text(edge.one)} {arrow} {text(edge.other)}") for edge in of],
        "strength": [number(edge.strength, 2) for edge in of],
    }
    if directed:
        columns["direction"] = [number(edge.direction, 2) for edge in of]
    if _have_gains(of):
        columns["gain"] = [number(edge.gain, 1) for edge in of]
    return table(caption, list(columns), zip(*columns.values(), strict=True), right=range(1, len(columns)))


def _have_gains(of: Iterable[found.Edge]) -> bool:
    return any(edge.gain is not None for edge in of)


def _directed(model: Any) -> bool:
    return bool(graph_of(model).links().directed)


def _of_rows(n: int, n_rows: int) -> str:
    return several(n, "row") if n == n_rows else f"{several(n, 'row')} drawn from all {n_rows:,}"


def neighbours(findings: Findings) -> str:
    """Return who is joined with whom."""
    model = findings.model
    by_child: dict[str, list[str]] = {name: [] for name in findings.table.names}
    by_parent: dict[str, list[str]] = {name: [] for name in findings.table.names}
    for one, other in found.edges_of(model):
        by_child[other].append(one)
        by_parent[one].append(other)
    names = findings.table.names[:MOST_ROWS]
    if _directed(model):
        header: tuple[str, ...] = ("variable", "from", "to", "blanket")
        rows: list[tuple[object, ...]] = [
            (n, named(by_child[n]), named(by_parent[n]), named(found.blanket_of(model, n), MOST_NEIGHBOURS))
            for n in names
        ]
        said = (
            "Arrows come from parents and go to children. Given its blanket (both, and the other parents of its "
            "children), a variable is independent of all others."
        )
    else:
        header = ("variable", "neighbours")
        rows = [(n, named([*by_child[n], *by_parent[n]])) for n in names]
        said = "Given its neighbours, a variable is independent of all others."
    more = len(findings.table.names) - len(names)
    return section(
        "neighbours",
        "Who depends on whom",
        paragraph(said),
        f'<details aria-label="Neighbours"{" open" if len(names) <= 50 else ""}>',
        f"<summary>{several(len(names), 'variable')}</summary>",
        table("Neighbours", header, rows),
        "</details>",
        paragraph(f"And {several(more, 'more variable')}.") if more else "",
    )


def fit(findings: Findings) -> str:
    """Return how probable rows are."""
    held_out, likelihood = findings.held_out, findings.likelihood
    parts = [left_out(findings, "held_out")]
    if held_out is not None:
        parts.append(
            f'<p class="figure"><b>{number(held_out.mean, 4)} ± {number(held_out.error, 4)}</b> nats per row</p>'
            + paragraph(
                f"This is the mean {_log_of(findings.model)} of rows under networks that were learned without them:",
                f"cross-validation in {held_out.folds} parts of",
                f"{_of_rows(held_out.n_rows, findings.table.n_rows)}, with its standard error. Taking columns as",
                f"independent gives {number(held_out.gain, 4)} ± {number(held_out.gain_error, 4)} nats less.",
            )
        )
    parts.append(left_out(findings, "likelihood"))
    if likelihood is not None:
        own = "from which it was learned" if findings.learned else "which may be those that it was learned from"
        impossible = (
            f" {several(likelihood.impossible, 'row')} of them cannot happen under it." if likelihood.impossible else ""
        )
        parts.append(
            paragraph(
                f"Under the network itself the rows, {own}, have {number(likelihood.per_row, 4)} nats on average."
                f"{impossible}"
            )
        )
    return section("fit", "How well rows are predicted", *parts)


def odd(findings: Findings) -> str:
    """Return the rows of least probability, and their odd cells."""
    of = findings.odd
    if of is None:
        return section("odd", "The oddest rows", left_out(findings, "odd"))
    log = _log_of(findings.model)
    rows = [
        (
            f"{row.row:,}",
            number(row.log_prob, 2),
            Html("; ".join(f"{state_of(c)} ({_rarity(c)})" for c in row.cells) or DASH),
        )
        for row in of
    ]
    of_states, of_numbers = (
        "the probability of each given its parents",
        "how far its log-density given its parents is below the mean of its column",
    )
    measured = {"states": of_states, "numbers": of_numbers}.get(
        findings.model.values, f"{of_states}, or of a number {of_numbers}"
    )
    said = (
        f"Rows of the least {log} in the network, and the cells that make them so, with {measured}. Rows are counted "
        "from 0."
    )
    return section(
        "odd", "The oddest rows", paragraph(said), table("Odd rows", ("row", log, "odd cells"), rows, right=(0, 1))
    )


def _log_of(model: Any) -> str:
    """Return what the logarithm of a row is called: with numbers in it, it is of a density."""
    return "log-probability" if model.values == "states" else "log-density"


def _rarity(cell: found.OddCell) -> Html:
    return probability(cell.log_prob) if cell.below is None else Html(f"{number(cell.below, 2)} nats")


def standing(findings: Findings) -> str:
    """Return the rows that stand for the table."""
    of = findings.standing
    if of is None:
        return section("standing", "Rows that stand for the table", left_out(findings, "standing"))
    shown = of.rows.names[:MOST_COLUMNS]
    rows = [
        (f"{row:,}", percent(share), *(found.cell(of.rows, v, at) for v in range(len(shown))))
        for at, (row, share) in enumerate(zip(of.indices, of.stands_for, strict=True))
    ]
    more = len(of.rows.names) - len(shown)
    columns_left = f" The first {len(shown)} columns are shown." if more else ""
    said = (
        f"{several(len(rows), 'row')} whose mean feature under the network's Fisher kernel is nearest to that of "
        f"{_of_rows(of.n_rows, findings.table.n_rows)}, and the share of the rows that each is the nearest to. Rows "
        f"are counted from 0.{columns_left}"
    )
    header = ("row", "stands for", *(text(name) for name in shown))
    return section(
        "standing", "Rows that stand for the table", paragraph(said), table("Rows", header, rows, right=(0, 1))
    )


def target(findings: Findings) -> str:
    """Return how well the target is predicted; nothing without a target."""
    of = findings.prediction
    if of is None:
        said = left_out(findings, "prediction")
        return section("target", "Predicting the target", said) if said else ""
    rows = "held out from a network that was learned without them" if of.held_out else "which the model may have seen"
    parts = [
        paragraph(
            f"<b>{text(of.target)}</b> is independent of all other variables given its blanket: {named(of.blanket)}."
        )
    ]
    if of.quality is not None and of.baseline is not None:
        parts.append(
            f'<p class="figure"><b>{percent(of.quality.accuracy)}</b> predicted right</p>'
            + paragraph(
                f"On {several(of.quality.known_rows, 'row')}, {rows}. The most frequent state alone is right in",
                f"{percent(of.baseline.accuracy)}. Log-loss: {number(of.quality.log_loss)} nats per row, by the",
                f"shares of the states alone {number(of.baseline.log_loss)}.",
            )
        )
        states = [(state, percent(share), percent(right)) for state, share, right in of.states[:MOST_STATES]]
        parts.append(table("States of the target", ("state", "share", "predicted right"), states, right=(1, 2)))
        if len(of.states) > MOST_STATES:
            parts.append(paragraph(f"And {several(len(of.states) - MOST_STATES, 'more state')}."))
        if of.doubtful:
            parts.append(_in_doubt(of))
    elif of.error is not None and of.spread is not None:
        parts.append(
            paragraph(
                f"On {several(of.n_rows, 'row')}, {rows}, its mean given the others is off by {number(of.error)} (root "
                f"mean square); its standard deviation is {number(of.spread)}."
            )
        )
    return section("target", f"Predicting {text(of.target)}", *parts)


def _in_doubt(of: found.Prediction) -> str:
    said = paragraph(
        "Labels that the other columns make least probable, by classifiers that know all rows but the one: some may be",
        "wrong, and some are rare. Rows are counted from 0.",
    )
    rows = [
        (f"{d.row:,}", d.label, probability(math.log(d.probability) if d.probability > 0 else -math.inf), d.rather)
        for d in of.doubtful
    ]
    header = ("row", text(of.target), "probability", "most probable")
    return said + table("Labels in doubt", header, rows, right=(0, 2))


def beyond(findings: Findings) -> str:
    """Return the pairs of columns that depend on one another beyond the network."""
    of = findings.beyond
    title = "Beyond the network"
    if of is None:
        said = left_out(findings, "beyond")
        return section("beyond", title, said) if said else ""
    parts = [
        paragraph(
            "Where no arc joins two columns, the network says that they are independent given the parents of one. Each "
            f"of these {several(len(of.independences), 'independence')} was tested on "
            f"{_of_rows(of.n_rows, findings.table.n_rows)}, corrected for their number (level {of.level:g})."
        )
    ]
    if not of.pairs():
        return section("beyond", title, *parts, paragraph("None was refuted."))
    rows = [
        (one.first, one.second, named(one.given), number(one.nats), number(one.p_corrected, 3))
        for one in of.pairs()[:MOST_ROWS]
    ]
    header = ("column", "depends on", "given", "nats", "p (corrected)")
    return section("beyond", title, *parts, table("Pairs that depend beyond it", header, rows, right=(3, 4)))


def change(findings: Findings) -> str:
    """Return what changed between two tables; nothing where there is one."""
    of = findings.change
    if of is None:
        said = left_out(findings, "change")
        return section("change", "What changed", said) if said else ""
    explained = of.change
    rows = [
        (
            c.variable,
            number(c.nats),
            Html(f"{number(c.low)} to {number(c.high)}"),
            number(c.p_corrected, 3),
            percent(c.support),
        )
        for c in (explained.by_variable[name] for name in explained.changed()[:MOST_ROWS])
    ]
    parts = [
        paragraph(
            _verdict(of),
            f"Before: {_of_rows(of.n_compared[0], of.n_rows[0])}; after: {_of_rows(of.n_compared[1], of.n_rows[1])}.",
        )
    ]
    if explained.missing:
        lacking = ("column", "missing before", "after", "p (corrected)")
        shares = [
            (m.variable, percent(m.before), percent(m.after), number(m.p_corrected, 3)) for m in explained.missing
        ]
        parts.append(
            table("Columns whose share of missing cells changed", lacking, shares[:MOST_ROWS], right=(1, 2, 3))
        )
    if rows:
        header = ("variable", "nats", "95 %", "p (corrected)", "of the graphs")
        parts.append(
            table("Variables whose conditional changed, given their parents", header, rows, right=(1, 2, 3, 4))
        )
    configurations = [c for c in explained.by_configuration if c.variable in explained.changed()][:SHOWN_CHANGES]
    if configurations:
        header = ("what", "given", "before", "after", "nats")
        cells = [
            (
                Html(f"<b>{text(c.variable)}</b> = {text(c.state)}"),
                _given(c.configuration),
                percent(c.before[c.state]),
                percent(c.after[c.state]),
                number(c.nats),
            )
            for c in configurations
        ]
        parts.append(table("From what to what", header, cells, right=(2, 3, 4)))
    numbers = [of for name, of in explained.numbers.items() if name in explained.changed()][:SHOWN_CHANGES]
    if numbers:
        quantiles = ("number", "10 % below", "half below", "90 % below")
        every = [one for of in numbers for one in of.told()]
        names = [one.variable if one.given is None else Html(f"… given {_given(dict([one.given]))}") for one in every]
        pairs = [(name, zip(*of.texts(number), strict=True)) for name, of in zip(names, every, strict=True)]
        spreads = [(name, *(Html(f"{a} → {b}") for a, b in sides)) for name, sides in pairs]
        parts.append(table("Numbers of the later rows, by the earlier conditional and as they are", quantiles, spreads))
    inherited = explained.inherited()
    if inherited:
        items = "".join(f"<li><b>{text(name)}</b>, from {named(of)}</li>" for name, of in list(inherited.items())[:50])
        parts.append(f"<p>Changed only because of others:</p><ul>{items}</ul>")
    if explained.undecided():
        items = "".join(f"<li>{text(sentence)}</li>" for sentence in explained.undecided())
        parts.append(f"<p>Undecided by these tables; a network that one trusts would decide:</p><ul>{items}</ul>")
    return section("change", "What changed", *parts)


def _given(configuration: Mapping[str, Any]) -> Html:
    return Html(", ".join(f"{text(name)} = {text(state)}" for name, state in configuration.items()) or DASH)


def _verdict(of: found.Change) -> str:
    p = number(of.test.p_value, 3)
    if of.test.p_value > of.change.level:
        return f"There is no evidence that the two tables differ (p = {p})."
    where = named(of.change.changed(), 6) if of.change.changed() else "no single variable stands out"
    return f"The two tables differ (p = {p}): {where}."


def notes(findings: Findings, version: str) -> str:
    """Return how all this was found."""
    said = [
        _how_learned(findings),
        f"Rows of which a section says that they were drawn were drawn without replacement (seed {findings.seed}).",
        "Arrows are those of a network that describes the data. To read them as causes, as what is set from outside "
        "does, takes more than data.",
        "This page asks the network for nothing: all that it shows is in this one file.",
        f"Made by fishernet {text(version)}.",
    ]
    return section("notes", "How this was found", paragraph(*said))


def _how_learned(findings: Findings) -> str:
    if not findings.learned:
        return "The network was given."
    if findings.model.values == "numbers":
        return "The network was learned by the default search for numbers (fractional marginal likelihood)."
    if findings.model.values == "mixed":
        return "The network was learned by the default search for labels and numbers (BIC, with a prior on graphs)."
    if findings.table.has_missing:
        return (
            "The network was learned from the rows as they are, by the default search for missing cells, its "
            "probabilities by expectation and maximization."
        )
    return "The network was learned by the default search (BIC), its probabilities with one added to each count."


# --------------------------------------------------------------------------------------------------- what can be asked


CONTROLS = """<div id="panel" hidden>
<fieldset id="mode"><legend>{chosen} was</legend>
<label><input type="radio" name="mode" value="see" checked> seen</label>
<label><input type="radio" name="mode" value="do"> set (do)</label></fieldset>
<p id="evidence" role="status" aria-live="polite"></p>
<div class="buttons"><button type="button" id="explain" aria-pressed="false">Most probable explanation</button>
<button type="button" id="reset">Reset</button><button type="button" id="share">Copy link</button></div>
<ul id="known" aria-label="What is known"></ul>
<input id="link" type="text" readonly hidden aria-label="Link to this page with what is known">
</div>"""


def explore(network: PageNetwork, drawing: str, *, beside: bool, small: bool = False) -> str:
    """Return the graph and what can be asked of it; a graph that is not wide stands beside the distributions."""
    if network.inference is None:
        return section("explore", "The graph", paragraph(text(network.reason, 600)), drawing)
    do = " or set it from outside, which cuts what leads to it" if _has_children(network) else ""
    numbers = "blocks" in network.inference
    how = ", or type a number," if numbers else ","
    marks = "small marks and fine lines" if numbers else "small marks"
    said = paragraph(
        f"Choose a state of any variable{how} because you saw it{do}: the distributions of all others move at once,",
        f"and are exact. The {marks} are the distributions when nothing is known.",
    )
    controls = CONTROLS.format(chosen="A state or a number" if numbers else "A chosen state")
    search = '<input id="filter" type="search" placeholder="Find a variable" aria-label="Find a variable" hidden>'
    cards = '<div id="cards"></div><noscript><p>The distributions move where JavaScript runs.</p></noscript>'
    both = f'<div class="{"beside" if beside else "stacked"}">{drawing}<div>{search}{cards}</div></div>'
    return section("explore", "What if?", "" if small else said, controls, both)


def _has_children(network: PageNetwork) -> bool:
    found = network.inference or {}
    return "blocks" in found or any(factor["child"] >= 0 for factor in found.get("factors", ()))
