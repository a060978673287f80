"""Model files on the command line: reading and writing by a path's ending, and which models a command takes.

What a command needs is asked of the model (`fishernet.models.Model`), never of its class.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any, cast

from fishernet.base.errors import FileFormatError, SchemaError
from fishernet.base.names import a, cut, listed
from fishernet.cli.terminal import check_folder, ending
from fishernet.data import Column
from fishernet.files import load, save
from fishernet.files.formats import FORMATS, OF_STATES
from fishernet.graphs import Graph
from fishernet.graphs.graph import taken_apart
from fishernet.models import BayesianNetwork, Model

READERS = tuple(ending for ending, known in FORMATS.items() if known.read)
WRITERS = tuple(FORMATS)


def of_states(path: Path) -> bool:
    """Whether files of a path's ending hold Bayesian networks of states alone."""
    return FORMATS[ending(path)].holds == OF_STATES


def called(model: Model) -> str:
    """Return what people call a model."""
    return a(model.kind)


def is_of_numbers(model: Model) -> bool:
    """Whether a model is a network all of whose variables are numbers."""
    return model.values == "numbers" and model.graph is not None


def has_numbers(model: Model) -> bool:
    """Whether a model is a network some or all of whose variables are numbers."""
    return is_of_numbers(model) or is_mixed(model)


def is_mixed(model: Model) -> bool:
    """Whether a model's variables are labels and numbers."""
    return model.values == "mixed"


def has_states(model: Model) -> bool:
    """Whether a model's variables are categorical."""
    return model.values == "states"


def has_variables(model: Model) -> bool:
    """Whether a model is a network, whose variables a table has as columns."""
    return model.graph is not None


def has_likelihood(model: Model) -> bool:
    """Whether a model of states, or of states and numbers, says how probable rows are."""
    return (has_states(model) or is_mixed(model)) and model.likelihood != "none"


def is_bayesian(model: Model) -> bool:
    """Whether a model is a Bayesian network of states."""
    return has_states(model) and model.likelihood == "exact" and model.inference == "factors"


def has_kernel(model: Model) -> bool:
    """Whether rows of a table have a Fisher kernel under a model."""
    return model.graph is not None and model.likelihood == "exact"


def is_dependency(model: Model) -> bool:
    """Whether a model has a pseudo-likelihood only, and rows by pseudo-Gibbs sampling."""
    return model.likelihood == "pseudo"


def same_bins(variables: Sequence[Column]) -> str:
    """Return what limits comparisons of likelihoods: nothing, or that columns were cut into bins."""
    binned = [variable.name for variable in variables if variable.cuts is not None]
    return (
        f" (columns with bins: {cut(listed(binned, most=3), 60)}; compare only models with the same bins)"
        if binned
        else ""
    )


def read_graph(path: Path, needed: str, encoding: str | None = None) -> tuple[Graph, Model | None]:
    """Read the graph of a model with the model, or a graph alone, from a file; SchemaError says what is needed."""
    _check_ending(path, READERS, "read from")
    graph, model = taken_apart(load(path, encoding=encoding))
    if graph is None:
        raise wrong_kind(path, cast(Model, model), needed)
    return graph, cast(Model | None, model)


def read_model(path: Path) -> Any:
    """Read a model of any kind from a file of a known ending, compressed or not; SchemaError when it holds a graph."""
    _check_ending(path, READERS, "read from")
    graph, model = taken_apart(load(path))
    if model is None:
        kind = "a directed" if graph is not None and graph.links().directed else "an undirected"
        raise SchemaError(f"{path}: this is {kind} graph; a model is needed, which says how probable rows are")
    return model


NEEDED: dict[Callable[[Model], bool], str] = {
    is_bayesian: "a Bayesian network of states, as fishernet learn makes without --model dn",
    has_kernel: "a Bayesian network, as fishernet learn makes without --model dn, or a Gaussian network",
    has_likelihood: "a Bayesian network or a dependency network",
    has_states: "a network of variables with states",
    has_variables: "a network",
}


def require(has: Callable[[Model], bool], model: Any, path: Path, command: str) -> Any:
    """Return a model that has what a command needs, one of the above; raise SchemaError for another kind."""
    if not has(model):
        raise wrong_kind(path, model, f"{command} needs {NEEDED[has]}")
    return model


def read_bayesian(path: Path, command: str, purpose: str) -> BayesianNetwork:
    """Read a Bayesian or Gaussian network with at least one variable, which the purpose needs."""
    network: BayesianNetwork = require(has_kernel, read_model(path), path, command)
    if not network.variables:
        raise SchemaError(f"{path}: the model has no variables to {purpose}")
    return network


def wrong_kind(path: Path, model: Model, needed: str) -> SchemaError:
    """Return the error for a model of a kind that a command cannot do with."""
    return SchemaError(f"{path}: this is {called(model)}; {needed}")


def write_model(model: object, path: Path) -> None:
    """Write a model to a file of a known ending; compressed when ``.gz`` follows."""
    check_model_output(path)
    save(model, path)


def check_model_output(path: Path, known: Sequence[str] = WRITERS) -> None:
    """Raise FileFormatError early when a model that can be written to files of known endings could not be to a path."""
    _check_ending(path, WRITERS, "written to")
    if ending(path) not in known:
        raise FileFormatError(path, f"only a Bayesian network is written to {ending(path)}; use {one_of(known)}")
    check_folder(path)


def one_of(endings: Collection[str]) -> str:
    """Return endings as a sentence lists them."""
    *first, last = endings
    return f"{', '.join(first)} or {last}" if first else last


def _check_ending(path: Path, known: Collection[str], what: str) -> None:
    if ending(path) not in known:
        raise FileFormatError(path, f"a model is {what} a file ending in {one_of(known)} (.gz may follow)")
