"""The library's own file of a model: JSON that says what it is, exact to the last bit.

A file is one JSON object in UTF-8::

    "format": "fishernet"
    "version": 2                  of the format; a newer one is refused with a word about it
    "kind": "BayesianNetwork"     and then the fields of that kind
    "digest": "5f..."             SHA-256 of the fields before it, as they are written; version 1 had none

Numbers are written with as many digits as bring the same bits back, states keep their type (``1``, ``1.0``, ``"1"`` and
``true`` are four different things in JSON too), and labels may hold any characters. Nothing in the file is ever run.
When one is loaded every field is checked, and unknown fields are refused: a field that this version does not know could
change what the others mean. Another kind of model is one more entry of `KINDS`.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, NoReturn

from fishernet.base.errors import FileFormatError, SchemaError
from fishernet.base.fields import Fields, shown
from fishernet.base.io import read_text, replacing_text
from fishernet.base.names import a, doubled, listed
from fishernet.files import gaussians, networks
from fishernet.files import sequence_models as sequences
from fishernet.graphs import UndirectedGraph
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

FORMAT = "fishernet"
MOST_LISTS = 2**24  # of a file, objects counted too: each takes memory however short it is
VERSION = 2


class Kind(NamedTuple):
    """How one kind of model is stored."""

    model: type
    """The class; a subclass is another kind."""
    write: Callable[[Any], Mapping[str, object]]
    """Returns the model's fields, in the order in which they are written."""
    read: Callable[[Fields], Any]
    """Takes these fields and returns the model."""


KINDS = {
    "BayesianNetwork": Kind(BayesianNetwork, networks.network_fields, networks.read_network),
    "DependencyNetwork": Kind(DependencyNetwork, networks.dependency_fields, networks.read_dependency),
    "HiddenTree": Kind(HiddenTree, sequences.hidden_tree_fields, sequences.read_hidden_tree),
    "Gaussian": Kind(Gaussian, gaussians.gaussian_fields, gaussians.read_gaussian),
    "GaussianMarkovNetwork": Kind(GaussianMarkovNetwork, gaussians.undirected_fields, gaussians.read_undirected),
    "GaussianMixture": Kind(GaussianMixture, gaussians.mixture_fields, gaussians.read_mixture),
    "HiddenMarkovModel": Kind(HiddenMarkovModel, sequences.hidden_markov_fields, sequences.read_hidden_markov),
    "MarkovChain": Kind(MarkovChain, sequences.markov_chain_fields, sequences.read_markov_chain),
    "MarkovNetwork": Kind(MarkovNetwork, networks.markov_fields, networks.read_markov),
    "NumericHiddenMarkovModel": Kind(NumericHiddenMarkovModel, sequences.numeric_fields, sequences.read_numeric),
    "UndirectedGraph": Kind(UndirectedGraph, networks.graph_fields, networks.read_graph),
}


READ_ONLY: dict[str, Callable[[Fields], Any]] = {"GaussianBayesianNetwork": gaussians.read_directed}
"""Kinds that older versions wrote."""


def store_model(model: object, path: str | os.PathLike[str]) -> str:
    """Write a model to a file, exactly; return that nothing is to be noted."""
    name = next((name for name, kind in KINDS.items() if type(model) is kind.model), None)
    if name is None:
        raise SchemaError(f"{a(type(model).__name__)} cannot be saved; what can be saved: {', '.join(sorted(KINDS))}")
    fields = {"format": FORMAT, "version": VERSION, "kind": name, **KINDS[name].write(model)}
    with replacing_text(path) as file:
        file.writelines(_pieces({**fields, "digest": _digest(fields)}))
    return ""


def read_model(path: str | os.PathLike[str]) -> Any:
    """Read a model from a file of the library's own, compressed or not."""
    content = _decoded(path, read_text(path))
    fields = Fields(path, "", content)
    read = _reader(fields)
    digest = fields.text("digest") if fields.has("digest") else None
    with fields.checking():
        model = read(fields)
    fields.end()
    if digest is not None and digest != _digest({name: content[name] for name in content if name != "digest"}):
        raise fields.wrong(
            "the file is not as it was saved: it is damaged or was edited; if you edited it, remove its field 'digest'"
        )
    return model


def _digest(fields: Mapping[str, object]) -> str:
    """Return what tells these fields from others, however a file spaces them."""
    found = hashlib.sha256()
    for piece in _pieces(fields):
        found.update(piece.encode("utf-8", "surrogatepass"))
    return found.hexdigest()


def _pieces(fields: Mapping[str, object]) -> Iterator[str]:
    """Yield the JSON text: one line a field, and one line an element of a list."""
    yield "{"
    for position, (name, value) in enumerate(fields.items()):
        yield f"{',' if position else ''}\n{_written(name)}: "
        if isinstance(value, list) and value:
            for element, item in enumerate(value):
                yield f"{',' if element else '['}\n  {_written(item)}"
            yield "\n]"
        else:
            yield _written(value)
    yield "\n}\n"


def _written(value: object) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _decoded(path: object, text: str) -> Any:
    if text.count("[") + text.count("{") > MOST_LISTS:
        raise FileFormatError(path, f"more than {MOST_LISTS:,} lists and objects are more than a model has")
    try:
        return json.loads(text, object_pairs_hook=_each_once, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise FileFormatError(path, f"{error.msg} (column {error.colno}){_hint(text)}", line=error.lineno) from error
    except (ValueError, RecursionError) as error:
        raise FileFormatError(path, f"this is no model file: {error}") from error


def _each_once(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        raise ValueError(f"the field {doubled(name for name, _ in pairs)!r} appears twice")
    return fields


def _no_number(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is no number of JSON")


def _hint(text: str) -> str:
    """Say what the text may be instead."""
    if not text.strip():
        return "; the file is empty"
    if text.lstrip().startswith(("network", "variable", "//", "/*")):
        return "; it looks like a BIF file, whose name ends in .bif and which fishernet.read_bif reads"
    return "; the file is damaged, ends early or is no model file"


def _reader(fields: Fields) -> Callable[[Fields], Any]:
    if not fields.has("format") or fields.take("format") != FORMAT:
        raise fields.wrong(f'this is no model file: it lacks "format": "{FORMAT}"')
    version = fields.whole("version")
    if version > VERSION:
        raise fields.wrong(
            f"version {version} of the format was written by a newer fishernet; this one reads {VERSION}; "
            "update fishernet"
        )
    if version < 1:
        raise fields.wrong(f"there is no version {version} of the format; this fishernet reads version {VERSION}")
    name = fields.text("kind")
    if name in READ_ONLY:
        return READ_ONLY[name]
    if name not in KINDS:
        raise fields.wrong(f"unknown kind of model {shown(name)}; known are {listed(sorted(KINDS))}")
    return KINDS[name].read
