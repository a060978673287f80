"""The data that comes with the library: tables of the UCI repository, and networks from the literature."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Unpack, overload

from fishernet.base.errors import FishernetError
from fishernet.data import Table, read_table
from fishernet.data.options import FileKeywords
from fishernet.files import read_bif
from fishernet.models import BayesianNetwork

FOLDER = Path(__file__).parent
TABLES = {"letter": "letter.csv.gz", "nursery": "nursery.csv.gz"}
NETWORKS = {"alarm": "alarm.bif.gz", "asia": "asia.bif.gz"}


def names() -> tuple[str, ...]:
    """Return the names of what `load` has, sorted.

    Examples
    --------
    >>> import fishernet.datasets
    >>> fishernet.datasets.names()
    ('alarm', 'asia', 'letter', 'nursery')
    """
    return tuple(sorted([*TABLES, *NETWORKS]))


@overload
def load(name: Literal["letter", "nursery"], **options: Unpack[FileKeywords]) -> Table: ...
@overload
def load(name: Literal["alarm", "asia"]) -> BayesianNetwork: ...
@overload
def load(name: str, **options: Unpack[FileKeywords]) -> Table | BayesianNetwork: ...
def load(name: str, **options: Unpack[FileKeywords]) -> Table | BayesianNetwork:
    """Return a table or a network that comes with the library.

    Parameters
    ----------
    name : str
        ``"nursery"``: 12 960 applications for nursery schools, 8 attributes and the class, every combination of the
        attributes once [1]_. ``"letter"``: 20 000 images of capital letters, 16 features with the states 0 to 15 and
        the letter as ``class``; the first 16 000 rows are usually used for training [2]_. ``"asia"``: 8 variables, a
        made-up network of lung diseases [3]_. ``"alarm"``: 37 variables, a network for monitoring patients [4]_.
    **options
        For tables: what `fishernet.read_table` takes, like ``bins=4``.

    Returns
    -------
    Table or BayesianNetwork

    Raises
    ------
    FishernetError
        When there is no such name, or options are given for a network.

    Notes
    -----
    The two tables are distributed under Creative Commons Attribution 4.0; their values are unchanged, a header row was
    added, and in ``"letter"`` the class was moved to the last column. The two networks come from the Bayesian Network
    Repository of bnlearn, under Creative Commons Attribution-ShareAlike 3.0, unchanged. All are compressed with gzip.
    ``ATTRIBUTION.md`` in this folder has the details.

    References
    ----------
    .. [1] V. Rajkovic, "Nursery", UCI Machine Learning Repository, 1989, https://doi.org/10.24432/C5P88W.
    .. [2] D. Slate, "Letter Recognition", UCI Machine Learning Repository, 1991, https://doi.org/10.24432/C5ZP40.
    .. [3] S. L. Lauritzen and D. J. Spiegelhalter, "Local computations with probabilities on graphical structures and
       their application to expert systems", Journal of the Royal Statistical Society B 50(2), 157-224, 1988.
    .. [4] I. A. Beinlich, H. J. Suermondt, R. M. Chavez and G. F. Cooper, "The ALARM monitoring system: a case study
       with two probabilistic inference techniques for belief networks", AIME 1989, 247-256.

    Examples
    --------
    >>> import fishernet.datasets
    >>> fishernet.datasets.load("nursery")
    Table(12,960 rows, 9 variables)
    >>> max(fishernet.datasets.load("letter", bins=4).cardinalities[:16])
    4
    >>> fishernet.datasets.load("asia")
    BayesianNetwork(8 variables, 8 arcs, 18 parameters)
    """
    if name in TABLES:
        bins = options.get("bins")
        if isinstance(bins, int):  # the features of letter are few whole numbers, which are cut where they are named
            variables = read_table(FOLDER / TABLES[name]).variables
            options["bins"] = {v.name: bins for v in variables if isinstance(v.states[0], int)}
        return read_table(FOLDER / TABLES[name], **options)
    if name not in NETWORKS:
        raise FishernetError(f"there is no data set {name!r}; there are {', '.join(names())}")
    if options:
        raise FishernetError(f"{name!r} is a network, for which there is no option {', '.join(sorted(options))}")
    return read_bif(FOLDER / NETWORKS[name])
