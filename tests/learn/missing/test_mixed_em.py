"""EM of labels and numbers: what becomes of a fit that leaves what is known."""

from __future__ import annotations

from typing import Any

import numpy as np

import fishernet as fn
from fishernet.learn.missing.mixed_em import strayed


def network(sd: float) -> fn.BayesianNetwork:
    variables: list[Any] = [fn.Variable("g", ["a", "b"]), fn.Continuous("x"), fn.Continuous("y")]
    tables: dict[str, Any] = {
        "g": [0.5, 0.5],
        "x": {"intercept": [0, 1], "coefficients": [[], []], "sd": [sd, sd]},
        "y": {"intercept": 0, "coefficients": [1], "sd": 1},
    }
    return fn.BayesianNetwork.from_tables(variables, {"x": ["g"], "y": ["x"]}, tables)


def test_a_network_that_draws_far_from_what_is_known_has_strayed() -> None:
    rows = network(1.0).sample(200, seed=1)
    columns = [column.copy() for column in rows.codes]
    columns[1][:150] = np.nan
    lacking = fn.Table.adopt(rows.variables, columns)
    assert strayed(network(2.0), lacking) == []
    assert strayed(network(1e5), lacking) == ["x", "y"]
    assert strayed(network(1e200), lacking) == ["x", "y"]  # whose squares are infinite
    assert strayed(fn.learn.parameters(network(1.0).dag, lacking), lacking) == []
