"""Regressions of columns on others, and the precision that they make."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from fishernet.errors import SchemaError
from fishernet.graphs.names import listed
from fishernet.models.continuous.checks import Numbers

COLLINEAR = 1e-12  # the share of a variance that others may leave unexplained and still be called all of it

Regressors = Sequence[tuple[int, tuple[int, ...]]]  # each variable, and those before it on which it depends


def regression(S: Numbers, child: int, parents: Sequence[int]) -> tuple[Numbers, float]:
    """Return the coefficients of a variable on others, (n_parents,), and the variance that they leave.

    Parameters
    ----------
    S : (d, d) array
        A covariance matrix, or any multiple of one; positive definite on the parents.
    """
    at = list(parents)
    if not at:
        return np.empty(0), float(S[child, child])
    coefficients: Numbers = np.asarray(np.linalg.solve(S[np.ix_(at, at)], S[at, child]))
    return coefficients, float(S[child, child] - S[child, at] @ coefficients)


def chordal_precision(R: Numbers, order: Regressors, names: Sequence[str]) -> Numbers:
    """Return the precision of a chordal graph whose inverse agrees with R on its cliques.

    Each variable is regressed on its earlier neighbors: ``K = sum_v (e_v - b_v)(e_v - b_v)' / rest_v``.

    Parameters
    ----------
    R : (d, d) array
        With ones on its diagonal.
    order : sequence of (variable, earlier neighbors)
        As `fishernet.graphs.chordal.chordal_subgraph` gives it.
    names : sequence of str
        For messages.

    Raises
    ------
    SchemaError
        When R is singular on a clique, naming it.
    """
    K = np.zeros_like(R)
    for variable, earlier in order:
        coefficients, rest = regression(R, variable, earlier)
        if rest < COLLINEAR:
            raise singular_clique([names[v] for v in sorted((variable, *earlier))])
        add_regression(K, variable, earlier, coefficients, rest)
    return K


def add_regression(K: Numbers, variable: int, others: Sequence[int], coefficients: Numbers, variance: float) -> None:
    """Add to a precision the density of a variable given others."""
    at = [variable, *others]
    direction = np.concatenate([[1.0], -coefficients])
    K[np.ix_(at, at)] += np.outer(direction, direction) / variance


def singular_clique(clique: Sequence[str]) -> SchemaError:
    """Return the error that says that a clique's variables are linear combinations of one another."""
    return SchemaError(
        f"the {len(clique)} variables {listed(clique)} are all joined with one another, and their covariance is "
        "singular: there are too few rows for so many, or one is a linear combination of others; take more rows, or "
        "fewer edges among them"
    )
