"""Model files on the command line: reading and writing by a path's ending, and what a model can be asked.

A command needs what a model has, whatever its class: states, arcs, conditionals, a density.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from pathlib import Path
from typing import Any

from fishernet.base.errors import FileFormatError, SchemaError
from fishernet.base.names import a, cut, listed
from fishernet.base.random import Seed
from fishernet.cli.terminal import check_folder, ending
from fishernet.data import Column
from fishernet.files import load, save
from fishernet.files.formats import FORMATS
from fishernet.graphs import Dag, UndirectedGraph
from fishernet.graphs.edges import graph_itself
from fishernet.kernels import FisherKernel, HiddenVariableKernel
from fishernet.models import BayesianNetwork, DependencyNetwork, GaussianMarkovNetwork, MarkovNetwork

READERS = tuple(ending for ending, known in FORMATS.items() if known.read)
WRITERS = tuple(FORMATS)
CALLED = {
    BayesianNetwork: "a Bayesian network",
    DependencyNetwork: "a dependency network",
    MarkovNetwork: "a Markov network",
    GaussianMarkovNetwork: "a Gaussian Markov network",
    UndirectedGraph: "an undirected graph",
}


def called(model: object) -> str:
    """Return what kind of model something is, in words."""
    name = CALLED.get(type(model), a(type(model).__name__))
    return "a Gaussian Bayesian network" if is_gaussian(model) and hasattr(model, "dag") else name


def is_gaussian(model: object) -> bool:
    """Whether a model's variables are numbers."""
    return bool(getattr(model, "is_continuous", False))


def has_states(model: object) -> bool:
    """Whether a model is of variables with states."""
    return hasattr(model, "variables") and not is_gaussian(model)


def has_variables(model: object) -> bool:
    """Whether a model is a network, whose variables a table has as columns."""
    return hasattr(model, "variables") and hasattr(model, "names")


def has_conditionals(model: object) -> bool:
    """Whether a model of states has a conditional of each variable."""
    return has_states(model) and hasattr(model, "conditionals")


def is_bayesian(model: object) -> bool:
    """Whether a model is a Bayesian network of states."""
    return has_conditionals(model) and hasattr(model, "dag")


def has_kernel(model: object) -> bool:
    """Whether a model is a Bayesian network, or of numbers: rows have a Fisher kernel under it."""
    return is_bayesian(model) or is_gaussian(model)


def is_dependency(model: object) -> bool:
    """Whether a model has a pseudo-likelihood only, and rows by pseudo-Gibbs sampling."""
    return hasattr(model, "pseudo_log_likelihood")


def same_bins(variables: Sequence[Column]) -> str:
    """Return what limits comparisons of likelihoods: nothing, or that columns were cut into bins."""
    binned = [variable.name for variable in variables if variable.cuts is not None]
    return (
        f", of binned columns ({cut(listed(binned, most=3), 60)}): comparable only at the same bins" if binned else ""
    )


def graph_of(model: Any) -> Dag | UndirectedGraph | None:
    """Return the graph of a model, which may be one itself; None where it has none."""
    found: Any = graph_itself(model)
    return found if hasattr(found, "n_edges") else None


def is_directed(graph: object) -> bool:
    """Whether a graph has arcs; otherwise it has edges."""
    return hasattr(graph, "skeleton")


def read_model(path: Path) -> Any:
    """Read a model of any kind from a file of a known ending, compressed or not."""
    _check_ending(path, READERS, "read from")
    return load(path)


NEEDED: dict[Callable[[object], bool], str] = {
    is_bayesian: "a Bayesian network of states, as fishernet learn makes without --model dn",
    has_kernel: "a Bayesian network, as fishernet learn makes without --model dn, or a Gaussian network",
    has_conditionals: "a Bayesian network or a dependency network",
    has_states: "a network of variables with states",
    has_variables: "a network",
}


def require(has: Callable[[object], bool], model: Any, path: Path, command: str) -> Any:
    """Return a model that has what a command needs, one of the above; raise SchemaError for another kind."""
    if not has(model):
        raise wrong_kind(path, model, f"{command} needs {NEEDED[has]}")
    return model


def read_bayesian(path: Path, command: str, purpose: str) -> BayesianNetwork:
    """Read a Bayesian or Gaussian network with at least one variable, which the purpose needs."""
    network: BayesianNetwork = require(has_kernel, read_model(path), path, command)
    if not network.variables:
        raise SchemaError(f"{path}: the model has no variables, so there is nothing to {purpose}")
    return network


def row_kernel(network: Any, *, missing: str = "error", seed: Seed = None) -> FisherKernel | HiddenVariableKernel:
    """Return the Fisher kernel of a network; where missing cells are kept, averaged over what they may be."""
    refuse_kept_numbers(network, missing)
    return HiddenVariableKernel(network, seed=seed) if missing == "keep" else FisherKernel(network, seed=seed)


def refuse_kept_numbers(network: Any, missing: str) -> None:
    """Raise SchemaError when missing cells of a network of numbers are to be anything but refused or left out."""
    if is_gaussian(network) and missing not in ("error", "drop"):
        raise SchemaError(f"--missing {missing} is for models of states; leave rows with missing cells out")


def wrong_kind(path: Path, model: object, needed: str) -> SchemaError:
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
