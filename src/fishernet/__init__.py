"""fishernet: learn how the variables of a table depend on one another, and use what was learned.

A table is read (`read_table`, `Table.from_frame`), the structure and the parameters of a Bayesian network are learned
from its counts (`learn`), and the network gives log-probabilities, predictions, Fisher scores and samples. `datasets`
has small real tables and networks to try it on. Errors are one tree under `FishernetError`.

>>> import fishernet as fn
>>> train, test = fn.datasets.load("nursery").split(0.5, seed=1)
>>> net = fn.learn.bayesian_network(train)
>>> bool(net.log_prob(test).mean() > -10)
True
"""

import importlib as _importlib
import typing as _typing

from fishernet.base import errors
from fishernet.base.display import looks_of as _looks_of
from fishernet.base.errors import (
    ConvergenceError,
    CycleError,
    FileFormatError,
    FishernetError,
    FishernetWarning,
    MissingValueError,
    SchemaError,
    StateSpaceError,
    UnknownStateError,
    ZeroProbabilityError,
)
from fishernet.base.threads import get_threads, set_threads, threads

if _typing.TYPE_CHECKING:
    from fishernet import (
        compare,
        data,
        datasets,
        explain,
        files,
        graphs,
        independence,
        infer,
        kernels,
        learn,
        models,
        plot,
        scores,
        select,
    )
    from fishernet.data import Continuous, Stream, Table, Variable, read_query, read_table, scan, write_table
    from fishernet.files import load, read_bif, read_fasta, read_newick, read_stockholm, save, write_bif
    from fishernet.graphs import Cpdag, Dag, UndirectedGraph, hamming, shd
    from fishernet.models import (
        BayesianNetwork,
        DependencyNetwork,
        Gaussian,
        GaussianMarkovNetwork,
        GaussianMixture,
        HiddenMarkovModel,
        HiddenTree,
        MarkovChain,
        MarkovNetwork,
        NumericHiddenMarkovModel,
    )
    from fishernet.reports import Report, report
    from fishernet.scores import local_score, regret, score

__version__ = "0.1.0"  # declared here alone: the build reads this line

__all__ = [
    "BayesianNetwork",
    "Continuous",
    "ConvergenceError",
    "Cpdag",
    "CycleError",
    "Dag",
    "DependencyNetwork",
    "FileFormatError",
    "FishernetError",
    "FishernetWarning",
    "Gaussian",
    "GaussianMarkovNetwork",
    "GaussianMixture",
    "HiddenMarkovModel",
    "HiddenTree",
    "MarkovChain",
    "MarkovNetwork",
    "MissingValueError",
    "NumericHiddenMarkovModel",
    "Report",
    "SchemaError",
    "StateSpaceError",
    "Stream",
    "Table",
    "UndirectedGraph",
    "UnknownStateError",
    "Variable",
    "ZeroProbabilityError",
    "compare",
    "data",
    "datasets",
    "errors",
    "explain",
    "files",
    "get_threads",
    "graphs",
    "hamming",
    "independence",
    "infer",
    "kernels",
    "learn",
    "load",
    "local_score",
    "models",
    "plot",
    "read_bif",
    "read_fasta",
    "read_newick",
    "read_query",
    "read_stockholm",
    "read_table",
    "regret",
    "report",
    "save",
    "scan",
    "score",
    "scores",
    "select",
    "set_threads",
    "shd",
    "threads",
    "write_bif",
    "write_table",
]


# What is imported at its first use, since all of it together takes a second: the packages, and names by their packages.
_NAMES = {
    "data": "Continuous Stream Table Variable read_query read_table scan write_table",
    "files": "load read_bif read_fasta read_newick read_stockholm save write_bif",
    "graphs": "Cpdag Dag UndirectedGraph hamming shd",
    "models": (
        "BayesianNetwork DependencyNetwork Gaussian GaussianMarkovNetwork GaussianMixture HiddenMarkovModel HiddenTree "
        "MarkovChain MarkovNetwork NumericHiddenMarkovModel"
    ),
    "reports": "Report report",
    "scores": "local_score regret score",
}
_PACKAGE_OF = {name: package for package, names in _NAMES.items() for name in names.split()}


def __getattr__(name: str) -> _typing.Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    package = _PACKAGE_OF.get(name)
    found = _importlib.import_module(f"{__name__}.{package or name}")
    value = found if package is None else getattr(found, name)
    globals()[name] = value
    return value


def _load_looks() -> None:
    """Import what draws and shows models in notebooks, which lies above them."""
    for package in ("plot", "reports"):
        _importlib.import_module(f"{__name__}.{package}")


_looks_of(_load_looks)


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
