"""Model files on the command line: reading and writing by a path's ending, and what a model can be asked.

A command needs what a model has, whatever its class: states, arcs, conditionals, a density.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, TypeGuard

from fishernet.base.errors import FileFormatError, SchemaError
from fishernet.cli.output import check_folder
from fishernet.files import load, read_bif, save, write_bif
from fishernet.graphs import Dag, UndirectedGraph
from fishernet.models import BayesianNetwork, DependencyNetwork, GaussianMarkovNetwork, MarkovNetwork

READERS: dict[str, Callable[[Path], Any]] = {".json": load, ".bif": read_bif}
WRITERS: dict[str, Callable[[Any, Path], None]] = {".json": save, ".bif": write_bif}
CALLED = {
    BayesianNetwork: "a Bayesian network",
    DependencyNetwork: "a dependency network",
    MarkovNetwork: "a Markov network",
    GaussianMarkovNetwork: "a Gaussian Markov network",
    UndirectedGraph: "an undirected graph",
}


def called(model: object) -> str:
    """Return what kind of model something is, in words."""
    name = CALLED.get(type(model), f"a {type(model).__name__}")
    return "a Gaussian Bayesian network" if is_gaussian(model) and hasattr(model, "dag") else name


def has_states(model: Any) -> TypeGuard[BayesianNetwork | DependencyNetwork | MarkovNetwork]:
    """Whether a model is of variables with states."""
    return hasattr(model, "variables") and not is_gaussian(model)


def has_conditionals(model: Any) -> TypeGuard[BayesianNetwork | DependencyNetwork]:
    """Whether a model of states has a conditional of each variable."""
    return has_states(model) and hasattr(model, "conditionals")


def is_bayesian(model: Any) -> TypeGuard[BayesianNetwork]:
    """Whether a model is a Bayesian network of states."""
    return has_conditionals(model) and hasattr(model, "dag")


def is_dependency(model: Any) -> TypeGuard[DependencyNetwork]:
    """Whether a model has a pseudo-likelihood only, and rows by pseudo-Gibbs sampling."""
    return hasattr(model, "pseudo_log_likelihood")


def is_gaussian(model: Any) -> TypeGuard[BayesianNetwork | GaussianMarkovNetwork]:
    """Whether a model's variables are numbers."""
    return bool(getattr(model, "is_continuous", False))


def graph_of(model: Any) -> Dag | UndirectedGraph | None:
    """Return the graph of a model, which may be one itself; None where it has none."""
    if hasattr(model, "edges"):
        return model  # type: ignore[no-any-return]
    found: Dag | UndirectedGraph | None = getattr(model, "dag", getattr(model, "graph", None))
    return found


def is_directed(graph: Any) -> TypeGuard[Dag]:
    """Whether a graph has arcs; otherwise it has edges."""
    return hasattr(graph, "skeleton")


def ending(path: Path) -> str:
    """Return a path's ending in lower case, without the ``.gz`` behind it."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def read_model(path: Path) -> Any:
    """Read a model of any kind from ``.json`` or ``.bif``, compressed or not."""
    _check_ending(path, READERS, "read from")
    return READERS[ending(path)](path)


def read_bayesian(path: Path, command: str) -> BayesianNetwork:
    """Read a Bayesian network; as `require_bayesian`."""
    return require_bayesian(read_model(path), path, command)


def require_bayesian(model: object, path: Path, command: str) -> BayesianNetwork:
    """Return a model that is a Bayesian network.

    Parameters
    ----------
    model : object
    path : Path
        Where it was read from.
    command : str
        What needs it, for messages.

    Raises
    ------
    SchemaError
        When it is another kind of model.
    """
    if not is_bayesian(model):
        needed = f"{command} needs a Bayesian network of states, as fishernet learn makes without --model dn"
        raise wrong_kind(path, called(model), needed)
    return model


def require_conditionals(model: object, path: Path, command: str) -> BayesianNetwork | DependencyNetwork:
    """Return a Bayesian network or a dependency network; raise SchemaError when it is another kind of model."""
    if not has_conditionals(model):
        raise wrong_kind(path, called(model), f"{command} needs a Bayesian network or a dependency network")
    return model


def require_states(model: object, path: Path, command: str) -> BayesianNetwork | DependencyNetwork | MarkovNetwork:
    """Return a model of variables with states; raise SchemaError when it is another kind of model."""
    if not has_states(model):
        raise wrong_kind(path, called(model), f"{command} needs a network of variables with states")
    return model


def wrong_kind(path: Path, called: str, needed: str) -> SchemaError:
    """Return the error for a model of a kind that a command cannot do with."""
    return SchemaError(f"{path}: this is {called}; {needed}")


def write_model(model: object, path: Path) -> None:
    """Write a model to ``.json`` or, a Bayesian network, to ``.bif``; compressed when ``.gz`` follows."""
    check_model_output(path)
    WRITERS[ending(path)](model, path)


def check_model_output(path: Path, known: Sequence[str] = tuple(WRITERS)) -> None:
    """Raise FileFormatError early when a model could not be written to a path.

    Parameters
    ----------
    path : Path
    known : sequence of str
        The endings to which this kind of model can be written.
    """
    _check_ending(path, WRITERS, "written to")
    if ending(path) not in known:
        raise FileFormatError(path, f"only a Bayesian network is written to {ending(path)}; use {' or '.join(known)}")
    check_folder(path)


def _check_ending(path: Path, known: Iterable[str], what: str) -> None:
    if ending(path) not in known:
        raise FileFormatError(path, f"a model is {what} a file ending in {' or '.join(known)} (.gz may follow)")
