"""An undirected graph learned by tests of independence on the command line."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fishernet.cli.inputs.tables import Reading
from fishernet.cli.learn.gaussian import edge_lines
from fishernet.cli.learn.words import drawn_lines, seconds_line
from fishernet.cli.terminal.output import Facts, aligned
from fishernet.errors import FishernetError
from fishernet.graphs import UndirectedGraph
from fishernet.learn import BlanketsFound, markov_blankets
from fishernet.learn.markov.combine import RULES, check_rule
from fishernet.learn.markov.markov_graph import CONTINUOUS, DISCRETE
from fishernet.progress import Progress
from fishernet.table import Table
from fishernet.table.numbers import NamedColumns
from fishernet.table.variable import listed

TESTS = (*CONTINUOUS, *DISCRETE)


class MarkovLearner:
    """Finds the Markov blanket of every variable by tests, and the graph that they make.

    Parameters
    ----------
    seed : int
        For the permutations of "knn-mi".
    test : str, optional
        One of the `TESTS`; "knn-mi" when not said.
    rule : str, optional
        "and" or "or"; "and" when not said.
    **options
        As for `fishernet.learn.markov_graph`; None is its default.
    """

    endings = (".json",)

    def __init__(self, *, seed: int, test: str | None = None, rule: str | None = None, **options: Any) -> None:
        self._test, self._rule, self._seed = test or "knn-mi", rule or "and", seed
        if self._test not in TESTS:
            raise FishernetError(f"unknown test {test!r}; there are {listed(TESTS)}")
        check_rule(self._rule, RULES)
        given = {name: value for name, value in options.items() if value is not None}
        self._options: Any = {"alpha": 0.05, "search": "iamb", **given}
        for name in ("k", "permutations", "scheme"):
            if self._test != "knn-mi" and name in given:
                raise FishernetError(f"--{name} is for --test knn-mi; it does not go with --test {self._test}")
        self._found: BlanketsFound
        self._graph: UndirectedGraph

    def read(self, path: Path, reading: Reading) -> Table | NamedColumns:
        """Read columns of numbers, or a table of states, as the test needs."""
        if self._test in CONTINUOUS:
            return reading.read_numbers(path, f"--test {self._test}")
        return reading.read(path)

    def find(self, rows: Table | NamedColumns, progress: Progress) -> None:
        """Search for the blankets, and make a graph of them."""
        data = rows if isinstance(rows, Table) else rows.by_name()
        self._found = markov_blankets(data, test=self._test, seed=self._seed, progress=progress, **self._options)
        self._graph = self._found.graph(self._rule)

    def fit(self, rows: Table | NamedColumns) -> UndirectedGraph:  # noqa: ARG002
        """Return the graph; it has no parameters."""
        return self._graph

    def facts(
        self,
        network: UndirectedGraph,
        training: Table | NamedColumns,  # noqa: ARG002
        held_out: Table | NamedColumns,  # noqa: ARG002
    ) -> dict[str, Any]:
        """Return what was found."""
        return {
            "edges": network.edges,
            "test": self._test,
            "alpha": self._options["alpha"],
            "rule": self._rule,
            "search": self._options["search"],
            "tests": self._found.n_tests,
        }

    def text(self, facts: Facts) -> Iterator[str]:
        """Yield the facts as lines for people."""
        saved = [] if facts["model"] is None else [("saved", f"{facts['model']}: these edges")]
        yield from aligned(
            [
                ("rows", f"{facts['rows']:,}"),
                ("variables", f"{len(facts['variables']):,}"),
                *edge_lines(facts["edges"]),
                ("tests", f"{facts['tests']:,} ({facts['test']}, alpha {facts['alpha']:g}, rule {facts['rule']})"),
                seconds_line(facts),
                *saved,
                *drawn_lines(facts),
            ]
        )
