"""Networks learned from tables of many kinds, as people have them: what other programs find hard to read in a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import fishernet as fn

ROWS = 200


def column(values: Sequence[Any], seed: int) -> list[Any]:
    """Each value in about as many rows, in some order; None where nothing is known."""
    drawn = np.random.default_rng(seed).permutation(ROWS) % len(values)
    return [values[k] for k in drawn]


def learned(columns: dict[str, list[Any]], **options: Any) -> fn.BayesianNetwork:
    """The network of a table that is read from columns."""
    return chained(fn.Table.from_frame(columns, **options))


def chained(table: fn.Table) -> fn.BayesianNetwork:
    """A network in which every column has the one or two before it as parents."""
    names = table.names
    arcs = [(names[i], names[j]) for j in range(len(names)) for i in range(max(0, j - 2), j)]
    return fn.learn.parameters(fn.Dag.from_edges(names, arcs), table)


def labelled(*labels: Any, name: str = "label") -> fn.BayesianNetwork:
    columns = {name: column(labels, 1), "other": column(["no", "yes"], 2), "third": column(["a", "b", "c"], 3)}
    return learned(columns, missing="state")


def named(*names: str) -> fn.BayesianNetwork:
    return learned({name: column(["no", "yes"], seed) for seed, name in enumerate(names)})


def numbers(seed: int) -> list[float]:
    return [round(float(x), 3) for x in np.random.default_rng(seed).normal(size=ROWS)]


TWENTY: dict[str, Callable[[], fn.BayesianNetwork]] = {
    "bins by number": lambda: learned({"age": numbers(1), "sex": column(["f", "m"], 2), "pay": numbers(3)}, bins=4),
    "two bins": lambda: learned({"age": numbers(4), "sex": column(["f", "m"], 5)}, bins=2),
    "intervals": lambda: labelled("(3, 4]", "(4, 5]", "(-inf, 3]", "(5, inf)"),
    "limits": lambda: labelled("<= 48", "> 48", "<48", ">=48", "=48"),
    "blanks": lambda: labelled("very high", " high", "low ", "very  high"),
    "quotes": lambda: labelled('"a"', "'a'", 'say "no"', '"', "it's"),
    "commas": lambda: labelled("a,b", "a, b", ",", "18,000"),
    "Unicode": lambda: labelled("né", "日本", "\U0001f600", "Ünal", "ne"),
    "whole numbers": lambda: labelled(1, 2, 10),
    "negative numbers": lambda: labelled(-1, 0, 1),
    "years": lambda: labelled(1990, 2000, 2_147_483_648),
    "decimals": lambda: learned(
        {"x": column([0.5, 1.5, -2.25], 1), "y": column([1e-5, 1e300], 2)}, categorical=["x", "y"]
    ),
    "truth values": lambda: labelled(True, False),
    "words for truth values": lambda: labelled("True", "False", "true", "false"),
    "empty text": lambda: chained(
        fn.Table.from_codes(
            np.arange(24).reshape(8, 3) % [3, 2, 2],
            [fn.Variable("", ["", " ", "a"]), fn.Variable(" ", ["", "x"]), fn.Variable("y", [" ", ""])],
        )
    ),
    "missing": lambda: labelled("a", "b", None),
    "reserved labels": lambda: labelled("table", "default", "variable", "network", "probability", "property", "type"),
    "reserved names": lambda: named(
        "table", "default", "variable", "network", "probability", "property", "type", "discrete"
    ),
    "names that are numbers": lambda: named("1", "2", "1st class", "-1", "0.5"),
    "names in other letters": lambda: named("größe", "日本", "Sepal.Length", "a b", "a_b", "a-b", "x;", "{", "//"),
    "capitals": lambda: named("Age", "age", "AGE"),
    "labels in capitals": lambda: labelled("x", "X", "y"),
    "one state": lambda: learned({"always": ["yes"] * ROWS, "x": column(["a", "b"], 1), "never": [0] * ROWS}),
    "signs": lambda: labelled("?", "!", "-", "--", "_", ".", "...", "*", "+", "#"),
    "lines": lambda: labelled("a\nb", "a\tb", "a\r\nb", "a\\nb"),
    "syntax": lambda: labelled("}", "{", ";", "|", "a) 0.5", "/*", "*/", "//", "http://x", "} ;", "a = b"),
    "titles": lambda: labelled(
        "Monty Python and the Holy Grail (1975) " * 9, "Monty Python and the Holy Grail (1975) " * 8
    ),
    "dates": lambda: labelled("2024-01-31", "2024-02-29", "31/01/2024"),
    "codes": lambda: labelled("12+", "0-3_days", "Asy/Patch", "1e5", "1e", "007", "5.", ".5"),
}
