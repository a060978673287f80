"""Mutual information, conditional mutual information and entropy from nearest neighbours.

For row i, ``eps_i`` is the distance to its k-th nearest other row in the joint space, in the maximum norm over all
columns; ``n_x(i)`` is how many other rows lie strictly closer than ``eps_i`` in the space of x alone, and likewise
for other spaces. The densities cancel, and what remains is counted (P4, 3.2.2).
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.errors import FishernetError, SchemaError
from fishernet.independence.continuous import warn_of_ties
from fishernet.table.numbers import Columns, points, require_varying


def knn_mutual_information(x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike | None = None, *, k: int = 5) -> float:
    """Return the mutual information of x and y, given z where there is one, estimated from nearest neighbours.

    Without z it is ``psi(n) + psi(k) - <psi(n_x + 1) + psi(n_y + 1)>`` [1]_ (P4, Eq. 3.9); with z,
    ``psi(k) + <psi(n_z + 1) - psi(n_xz + 1) - psi(n_yz + 1)>`` [2]_.

    Parameters
    ----------
    x, y : (n,) or (n, d) arrays of numbers
        Taken as they are: columns of very different scales should be standardized first.
    z : (n,) or (n, d) array of numbers, optional
        What is known.
    k : int
        Which neighbour; small is less biased, large is less scattered.

    Returns
    -------
    float
        Nats. It may be somewhat below zero.

    Raises
    ------
    SchemaError
        When rows differ in number, there are fewer than k + 2, a value is NaN or infinite, or a column is constant.

    Warns
    -----
    FishernetWarning
        When more than a tenth of the rows of a column are tied.

    Notes
    -----
    Rows are sorted along the column that spreads most; a row's neighbours are sought among those whose value of it is
    near. For n rows of d columns that takes about ``d n^2 (k / n)^(1 / d)`` steps, eight of them at once.

    The bias is of order ``k / n`` times what depends on how the density varies within ``eps``; for two Gaussians with
    correlation below 0.9 and n = 1000 it is below 0.02 nats, and one standard deviation is about
    ``sqrt(2 / n)``, at most 0.05 nats.

    References
    ----------
    .. [1] A. Kraskov, H. Stoegbauer and P. Grassberger, "Estimating mutual information", Physical Review E 69, 2004,
       Eq. 8; P4, Eq. 3.9.
    .. [2] M. Vejmelka and M. Palus, "Inferring the directionality of coupling with conditional mutual information",
       Physical Review E 77, 2008; S. Frenzel and B. Pompe, Physical Review Letters 99, 2007.

    Examples
    --------
    >>> import numpy as np
    >>> import fishernet as fn
    >>> rng = np.random.default_rng(1)
    >>> x = rng.normal(size=2000)
    >>> y = x + rng.normal(size=2000)  # mutual information log(2) / 2 = 0.35
    >>> round(fn.independence.knn_mutual_information(x, y), 1)
    0.3
    """
    labels, spaces = read_spaces(x, y, z, k)
    warn_of_ties(labels, np.concatenate(spaces))
    return float(information(spaces, k).estimate(as_they_are(spaces[0].shape[1]))[0])


def entropy(x: npt.ArrayLike, *, k: int = 5) -> float:
    """Return the differential entropy of x, estimated from nearest neighbours (Kozachenko and Leonenko [1]_).

    It is ``psi(n) - psi(k) + d <log(2 eps)>``: a cube of the maximum norm with radius eps has volume ``(2 eps)^d``.

    Parameters
    ----------
    x : (n,) or (n, d) array of numbers
    k : int
        Which neighbour.

    Returns
    -------
    float
        Nats; -inf where a row has k or more equals, as for a distribution with an atom.

    Raises
    ------
    SchemaError
        As for `knn_mutual_information`.

    References
    ----------
    .. [1] L. F. Kozachenko and N. N. Leonenko, "Sample estimate of the entropy of a random vector", Problems of
       Information Transmission 23, 1987; P4, 3.2.2.

    Examples
    --------
    >>> import numpy as np
    >>> import fishernet as fn
    >>> x = np.random.default_rng(1).uniform(0, 4, size=5000)  # entropy log(4) = 1.39
    >>> round(fn.independence.entropy(x), 1)
    1.4
    """
    space = points(x, "x")
    check_k(k, space.shape[1])
    labels = _labels("x", space)
    require_varying(labels, space)
    warn_of_ties(labels, space)
    _, distances = _core.nearest_others(space, k)
    eps = distances[:, k - 1]
    if not eps.all():
        return -math.inf
    d, n = space.shape
    return float((1 / np.arange(k, n)).sum() + d * np.log(2 * eps).mean())  # psi(n) - psi(k)


def read_spaces(
    x: npt.ArrayLike, y: npt.ArrayLike, z: npt.ArrayLike | None, k: int
) -> tuple[list[str], tuple[Columns, Columns, Columns]]:
    """Return what columns are called, and x, y and z as (d, n) columns; no z is none of them."""
    spaces = [points(x, "x"), points(y, "y")]
    n = spaces[0].shape[1]
    spaces.append(np.empty((0, n)) if z is None else points(z, "z"))
    for name, space in zip("xyz", spaces, strict=True):
        if space.shape[1] != n:
            raise SchemaError(f"x has {n} rows, and {name} has {space.shape[1]}")
        if not len(space) and name != "z":
            raise SchemaError(f"{name} has no columns")
    check_k(k, n)
    labels = [label for name, space in zip("xyz", spaces, strict=True) for label in _labels(name, space)]
    require_varying(labels, np.concatenate(spaces))
    return labels, (spaces[0], spaces[1], spaces[2])


def information(spaces: tuple[Columns, Columns, Columns], k: int) -> _core.KnnInformation:
    """Return what estimates the information of x and y given z, (d, n) columns, under any order of y's rows."""
    return _core.KnnInformation(*spaces, k)


def as_they_are(n: int) -> npt.NDArray[np.int32]:
    """Return the order that changes nothing, (1, n)."""
    return np.arange(n, dtype=np.int32)[None]


def check_k(k: int, n_rows: int) -> None:
    """Raise FishernetError unless k is a positive integer, SchemaError when there are fewer than k + 2 rows."""
    if isinstance(k, bool) or not isinstance(k, int | np.integer) or k < 1:
        raise FishernetError(f"k must be a positive integer, got {k!r}")
    if n_rows < k + 2:
        raise SchemaError(f"{n_rows} rows are too few for the {k}-th neighbour; at least {k + 2} are needed")


def _labels(name: str, space: Columns) -> list[str]:
    return [name] if len(space) == 1 else [f"{name}[:, {c}]" for c in range(len(space))]
