"""Model files, by their endings."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from fishernet.cli.terminal.output import check_folder
from fishernet.errors import FileFormatError, SchemaError
from fishernet.files import load, read_bif, save, write_bif
from fishernet.graphs import UndirectedGraph
from fishernet.models import (
    BayesianNetwork,
    DependencyNetwork,
    GaussianBayesianNetwork,
    GaussianMarkovNetwork,
    MarkovNetwork,
)

Categorical = BayesianNetwork | DependencyNetwork | MarkovNetwork
Learned = BayesianNetwork | DependencyNetwork | GaussianBayesianNetwork | GaussianMarkovNetwork | UndirectedGraph
Model = Learned | MarkovNetwork

READERS: dict[str, Callable[[Path], Any]] = {".json": load, ".bif": read_bif}
WRITERS: dict[str, Callable[[Any, Path], None]] = {".json": save, ".bif": write_bif}
CALLED = {
    BayesianNetwork: "a Bayesian network",
    DependencyNetwork: "a dependency network",
    MarkovNetwork: "a Markov network",
    GaussianBayesianNetwork: "a Gaussian Bayesian network",
    GaussianMarkovNetwork: "a Gaussian Markov network",
    UndirectedGraph: "an undirected graph",
}


def ending(path: Path) -> str:
    """Return a path's ending in lower case, without the ``.gz`` behind it."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def called(model: object) -> str:
    """Return what kind of model something is, in words."""
    return CALLED.get(type(model), f"a {type(model).__name__}")


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
    if not isinstance(model, BayesianNetwork):
        needed = f"{command} needs a Bayesian network of states, as fishernet learn makes without --model dn"
        raise wrong_kind(path, called(model), needed)
    return model


def read_directed(path: Path, command: str) -> BayesianNetwork | DependencyNetwork:
    """Read a Bayesian network or a dependency network; as `require_directed`."""
    return require_directed(read_model(path), path, command)


def require_directed(model: object, path: Path, command: str) -> BayesianNetwork | DependencyNetwork:
    """Return a Bayesian network or a dependency network; raise SchemaError when it is another kind of model."""
    if not isinstance(model, BayesianNetwork | DependencyNetwork):
        raise wrong_kind(path, called(model), f"{command} needs a Bayesian network or a dependency network")
    return model


def require_categorical(model: object, path: Path, command: str) -> Categorical:
    """Return a model of variables with states; raise SchemaError when it is another kind of model."""
    if not isinstance(model, BayesianNetwork | DependencyNetwork | MarkovNetwork):
        raise wrong_kind(path, called(model), f"{command} needs a network of variables with states")
    return model


def wrong_kind(path: Path, called: str, needed: str) -> SchemaError:
    """Return the error for a model of a kind that a command cannot do with."""
    return SchemaError(f"{path}: this is {called}; {needed}")


def write_model(model: Model, path: Path) -> None:
    """Write a model to ``.json`` or, a Bayesian network, to ``.bif``; compressed when ``.gz`` follows."""
    check_model_output(path)
    WRITERS[ending(path)](model, path)


def check_model_output(path: Path, known: Sequence[str] = tuple(WRITERS)) -> None:
    """Raise early when a model could not be written to a path.

    Parameters
    ----------
    path : Path
    known : sequence of str
        The endings to which this kind of model can be written.

    Raises
    ------
    FileFormatError
        When the ending is unknown, or there is no folder to write in.
    """
    _check_ending(path, WRITERS, "written to")
    if ending(path) not in known:
        raise FileFormatError(path, f"only a Bayesian network is written to {ending(path)}; use {' or '.join(known)}")
    check_folder(path)


def _check_ending(path: Path, known: Iterable[str], what: str) -> None:
    if ending(path) not in known:
        raise FileFormatError(path, f"a model is {what} a file ending in {' or '.join(known)} (.gz may follow)")
