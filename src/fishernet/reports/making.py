"""A report: what a table and its network say, in one page that answers questions."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass, replace
from html import escape
from types import MappingProxyType
from typing import Any

from fishernet.base import check
from fishernet.base.display import Brief, page, shows_pages
from fishernet.base.errors import FishernetError, FishernetWarning, SchemaError
from fishernet.base.io import check_writable, replacing
from fishernet.base.names import several
from fishernet.base.progress import Progress
from fishernet.data import Table
from fishernet.data.matching import as_data
from fishernet.data.options import Bins
from fishernet.data.pooling import pooled, stacked
from fishernet.data.variable import Column
from fishernet.graphs import Dag
from fishernet.graphs.graph import graph_of, taken_apart
from fishernet.learn import bayesian_network, parameters
from fishernet.learn.numbers.preparing import prepared
from fishernet.reports import findings as found
from fishernet.reports import sections
from fishernet.reports.behind import behind_answers, why
from fishernet.reports.drawing import is_drawn, svg
from fishernet.reports.findings import Findings, Material
from fishernet.reports.network import PageNetwork
from fishernet.reports.page import data_block, whole_page

FRAME_HEIGHT = 620  # pixels of the frame in a notebook
BESIDE = 1150.0  # pixels of a drawing that stands beside the distributions
MOST_IN_NOTEBOOK = 100  # variables


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Report(Brief):
    """A report on a table, as one HTML page.

    Examples
    --------
    >>> import fishernet as fn
    >>> table = fn.datasets.load("asia").sample(1000, seed=1)
    >>> found = fn.report(table, title="Asia")
    >>> found.title, "<script src" in found.html, len(found.html) < 1_000_000
    ('Asia', False, True)
    """

    title: str
    """Its title."""
    html: str
    """The whole page."""
    model: Any
    """The network that it shows."""
    left_out: Mapping[str, str]
    """What could not be found, and why; "inference" where the page does not answer questions."""

    def _repr_html_(self) -> str:
        return page(repr(self), framed(self.html, self.title))

    def __repr__(self) -> str:
        return f"Report({self.title!r}, {len(self.html.encode()):,} bytes)"

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page to a file, beside it first and renamed.

        Raises
        ------
        FileFormatError
            When it cannot be written.
        """
        with replacing(check.path(path)) as file:
            file.write(self.html.encode())


def report(
    table: Any,
    model: Any = None,
    *,
    path: str | os.PathLike[str] | None = None,
    compare_with: Any = None,
    target: str | None = None,
    title: str = "",
    bins: Bins | None = None,
    rows: bool = True,
    seed: int = 0,
    progress: Progress | None = None,
) -> Report:
    """Make a page that says what a table and its network say, and that answers questions itself.

    The page is one file that asks the network for nothing. It shows the columns, the graph, how sure its edges are, the
    neighbours of each variable, how probable rows held out are, the oddest rows and their odd cells, rows that stand
    for the table, how well a target is predicted and which of its labels are in doubt, and what changed since another
    table. States of any variables can be chosen on it, and numbers typed, as seen or as set from outside (do), and the
    distributions of all others are shown: exact, by a clique tree.

    Parameters
    ----------
    table : Table or data frame
        The data. States may be missing.
    model : BayesianNetwork, MarkovNetwork, DependencyNetwork or Dag, optional
        The model of the page; parameters of a graph are learned from the table first. Without it a Bayesian network is
        learned; numbers stay numbers in it, but for columns in which many rows have one number.
    path : path, optional
        Where to write the page.
    compare_with : Table or data frame, optional
        A later table of the same columns, for what changed since.
    target : str, optional
        A variable to predict.
    title : str
        Of the page.
    bins : int, "auto", or mapping from column to one of these or to cut points; optional
        How continuous columns are cut where no model is given, as for `learn.bayesian_network`.
    rows : bool
        Whether rows of the table may be in the page; without them it tells what is true of many rows alone.
    seed : int
        Of samples, folds and permutations: the same seed gives the same page.
    progress : callable or True, optional
        True for a bar, or ``progress(what, done, total)``.

    Returns
    -------
    Report

    Raises
    ------
    SchemaError
        When the table and the model do not fit, there is no row, or the target is no variable.
    FileFormatError
        When the page cannot be written.

    Notes
    -----
    Passes over all rows find the columns, the scores without each edge and the odd rows. What learns, selects or tests
    many times is done on rows drawn at random (10,000 or 20,000), and the page says where. A network that is too wide
    for a page is shown without inference, and the page says why.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "report.html")
    ...     found = fn.report(asia.sample(1000, seed=1), target="lung", path=path)
    ...     path.stat().st_size < 1_000_000
    True
    """
    if path is not None:
        check_writable(check.path(path))
    later = None if compare_with is None else as_data(compare_with, "report")
    original, material, cut = _material(table, later, model, bins, target, seed, progress)
    material = replace(material, names_rows=check.flag(rows, "rows"))
    found.check_target(material.table.names, target)
    other = later
    if later is not None and material.learned:
        left_out = set(original.names) - set(material.table.names)
        other = later.select([name for name in later.names if name not in left_out])
    elif later is not None:
        other = later.conform(material.table.variables)
    findings = found.find(original, material, cut=cut, target=target, compare_with=other, progress=progress)
    network = PageNetwork.of(material.model)
    if network.inference is not None:
        behind = behind_answers(material.model, material.table, rows=material.names_rows)
        network = replace(network, behind=behind)
    html = page_of(findings, network, title or "Report")
    reasons = {**findings.left_out, **({} if network.inference else {"inference": network.reason})}
    made = Report(title or "Report", html, material.model, MappingProxyType(reasons))
    if path is not None:
        made.write(path)
    return made


def _material(
    table: Any,
    later: Table | None,
    model: Any,
    bins: Bins | None,
    target: str | None,
    seed: int,
    progress: Progress | None,
) -> tuple[Table, Material, tuple[str, ...]]:
    """Return the table as given, what is found of it, and which columns were cut into bins for that."""
    check.integer(seed, "seed", least=0)
    original = as_data(table, "report")
    if not original.n_rows:
        raise SchemaError("the table has no rows to report on")
    if not original.total:
        raise SchemaError("all rows of the table have weight 0; a report needs some weight")
    if not original.variables:
        raise SchemaError("the table has no columns to report on")
    if model is not None:
        if bins is not None:
            raise FishernetError("bins= cannot be combined with model=; the model has its states", parameter="bins")
        fitted = _fitted(model, original)
        return original, Material(original.conform(fitted.variables), fitted, False, seed), ()
    ready = prepared(original, bins, keep=[] if target is None else [target])
    numbers = {v.name for v in original.variables if v.is_continuous}
    if later is not None:
        own = _as_compared(original, later, bins)
        columns = [own.get(v.name, v) if v.name in numbers else v for v in ready.variables]
        ready = original.select(ready.names).conform(columns)
    cut = tuple(v.name for v in ready.variables if v.name in numbers and not v.is_continuous)
    net = bayesian_network(ready, bins={}, seed=seed, progress=progress)
    return original, Material(ready.select(net.names), net, True, seed), cut  # what others determine is in no network


def _as_compared(table: Table, later: Table, bins: Bins | None) -> dict[str, Column]:
    """Return the columns as a comparison of two tables takes them: cut at the same points, and on the same scales."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FishernetWarning)  # what is left out of the comparison is told there
        both = prepared(stacked(pooled(table, later, "compare_with")), bins)
    return {variable.name: variable for variable in both.variables}


def _fitted(model: Any, table: Table) -> Any:
    """Return a model with variables; a graph without parameters is fitted to the table."""
    graph, known = graph_of(model, "model"), taken_apart(model)[1]
    if known is None:
        links = graph.links()
        if not (links.directed and links.layered) or links.lines:
            raise SchemaError(
                "model must be a network or a directed graph without cycles, whose parameters are then learned from "
                "the table",
                parameter="model",
            )
        names = graph.names
        dag = Dag.from_edges(names, [(names[u], names[v]) for u, v in links.arcs])
        return parameters(dag, table.select(names))
    if not known.variables:
        raise SchemaError("the model has no variables to report on", parameter="model")
    return model


# ----------------------------------------------------------------------------------------------------------- the page


NAVIGATION = {
    "explore": "What if?",
    "why": "Why?",
    "table": "Table",
    "edges": "Edges",
    "beyond": "Beyond",
    "neighbours": "Neighbours",
    "fit": "Fit",
    "odd": "Odd rows",
    "standing": "Rows",
    "target": "Target",
    "change": "Change",
}


def page_of(findings: Findings, network: PageNetwork, title: str) -> str:
    """Return the whole page."""
    drawing, width = _drawing(findings.model, network, _strengths(findings))
    main = "".join(
        (
            sections.explore(network, drawing, beside=width <= BESIDE),
            why(network, None if findings.prediction is None else findings.prediction.target),
            sections.change(findings),
            sections.target(findings),
            sections.edges(findings),
            sections.beyond(findings),
            sections.neighbours(findings),
            sections.fit(findings),
            sections.odd(findings),
            sections.standing(findings),
            sections.columns(findings),
            sections.notes(findings, sys.modules["fishernet"].__version__),
        )
    )
    there = [(name, words) for name, words in NAVIGATION.items() if f'<section id="{name}"' in main]
    links = "".join(f'<li><a href="#{name}">{words}</a></li>' for name, words in there)
    body = (
        f"<header><h1>{sections.text(title)}</h1>{sections.summary(findings)}</header>"
        f'<nav aria-label="Sections"><ul>{links}</ul></nav><main>{main}</main>'
        f"{data_block(network.fields())}"
    )
    return whole_page(title, body, least_width=width)


def _strengths(findings: Findings) -> dict[tuple[int, int], float]:
    if findings.certainty is None:
        return {}
    where = {name: v for v, name in enumerate(findings.table.names)}
    return {(where[edge.one], where[edge.other]): edge.strength for edge in findings.certainty.edges}


def _drawing(model: Any, network: PageNetwork, strengths: dict[tuple[int, int], float]) -> tuple[str, float]:
    """Return the figure of the graph, and the width at which it can be read."""
    if not is_drawn(len(network.names)):
        said = f"The graph is not drawn: {several(len(network.names), 'variable')} are too many to be read."
        return f"<p>{said}</p>", 0.0
    drawn, width = svg(model, network.names, strengths)
    faint = "<figcaption>Fainter edges are less certain.</figcaption>" if strengths else ""
    kind = "graph" if network.inference else "graph plain"
    return f'<figure class="{kind}"><div class="scroll">{drawn}</div>{faint}</figure>', width


# ------------------------------------------------------------------------------------------------------- in notebooks


@shows_pages
def notebook_page(model: Any) -> str | None:
    """Return a frame with a small form of the page, which a notebook shows of a model; None where it has no inference.

    The page lives in a frame of its own, whose scripts and styles touch nothing outside.
    """
    if not 0 < len(model.variables) <= MOST_IN_NOTEBOOK:
        return None
    network = PageNetwork.of(model)
    if network.inference is None:
        return None
    drawing, width = _drawing(model, network, {})
    body = f"<main>{sections.explore(network, drawing, beside=True, small=True)}</main>{data_block(network.fields())}"
    name = model.kind
    return framed(whole_page(name, body, least_width=width, small=True), name)


def framed(html: str, title: str) -> str:
    """Return a page in a frame of its own, from which nothing gets out."""
    return (
        f'<iframe sandbox="allow-scripts" width="100%" height="{FRAME_HEIGHT}" frameborder="0" '
        f'title="{escape(title)}" srcdoc="{escape(html)}"></iframe>'
    )
