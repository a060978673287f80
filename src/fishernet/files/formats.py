"""Models in files of any format, which the path's ending says."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from fishernet.base import check
from fishernet.base.errors import FileFormatError, SchemaError
from fishernet.base.names import a, listed
from fishernet.files.bif_reader import read_bif
from fishernet.files.bif_writer import store_bif
from fishernet.files.dsc import read_dsc, store_dsc
from fishernet.files.graph_files import store_dot, store_graphml
from fishernet.files.hugin import read_net, store_net
from fishernet.files.model_file import read_model, store_model
from fishernet.files.uai import read_uai, store_uai
from fishernet.files.words import noted
from fishernet.files.xdsl import read_xdsl, store_xdsl
from fishernet.files.xmlbif import read_xmlbif, store_xmlbif
from fishernet.infer.factors import is_model

Location = str | os.PathLike[str]


class Format(NamedTuple):
    """How models are kept in files of one ending."""

    store: Callable[[Any, Location], str]
    """Writes a model, and returns what the file does not hold of it as a sentence, or nothing."""
    read: Callable[[Location], Any] | None
    """Returns the model of a file; None: such files are only written."""
    holds: str
    """What can be written."""
    of_models: bool = True
    """Whether that are models alone, and no graphs."""


OF_STATES = "Bayesian networks of states"
FORMATS = {
    ".json": Format(store_model, read_model, "every model", of_models=False),
    ".bif": Format(store_bif, read_bif, OF_STATES),
    ".xdsl": Format(store_xdsl, read_xdsl, OF_STATES),
    ".net": Format(store_net, read_net, OF_STATES),
    ".dsc": Format(store_dsc, read_dsc, OF_STATES),
    ".xmlbif": Format(store_xmlbif, read_xmlbif, OF_STATES),
    ".bifxml": Format(store_xmlbif, read_xmlbif, OF_STATES),
    ".xml": Format(store_xmlbif, read_xmlbif, OF_STATES),
    ".uai": Format(store_uai, read_uai, "Bayesian and Markov networks of states"),
    ".dot": Format(store_dot, None, "graphs, and the graphs of networks", of_models=False),
    ".graphml": Format(store_graphml, None, "graphs, and the graphs of networks", of_models=False),
}
ENCODED: dict[str, Callable[..., Any]] = {".bif": read_bif, ".net": read_net, ".dsc": read_dsc}
"""What reads files that do not say how they are encoded."""


def ending_of(path: Location) -> str:
    """Return a path's ending in lower case, without the ``.gz`` behind it."""
    return Path(check.path(path).name.lower().removesuffix(".gz")).suffix


def save(model: object, path: Location) -> None:
    """Write a model or a graph to a file, in the format of the path's ending.

    ============  =====================================================================================
    ending        what it holds
    ============  =====================================================================================
    ``.json``     every model, exactly: the library's own format; also without an ending
    ``.bif``      Bayesian networks of states, for pyAgrum, pgmpy, bnlearn and others (`write_bif`)
    ``.xdsl``     Bayesian networks of states, for GeNIe, SMILE, pgmpy and others (`write_xdsl`)
    ``.net``      Bayesian networks of states, for Hugin, bnlearn, SamIam, Netica and others
    ``.dsc``      Bayesian networks of states, for bnlearn, GeNIe, Netica and others
    ``.xmlbif``   Bayesian networks of states, for Weka, pgmpy, SamIam and others; also ``.bifxml`` and ``.xml``
    ``.uai``      Bayesian and Markov networks of states, without names (`write_uai`)
    ``.dot``      graphs, and the graphs of networks, for Graphviz
    ``.graphml``  the same for Gephi, networkx, igraph and others
    ============  =====================================================================================

    Parameters
    ----------
    model : BayesianNetwork, HiddenMarkovModel, UndirectedGraph, ...
    path : path
        A ``.gz`` behind the ending compresses. The file is written beside and renamed: when anything fails, what was
        there before is still there.

    Warns
    -----
    FishernetWarning
        When the format cannot hold names or labels as they are.

    Raises
    ------
    SchemaError
        When this kind of model cannot be saved in that format, or a label cannot be written (half of a surrogate pair).
    FileFormatError
        When nothing is written to files of that ending, or the file cannot be written.

    See Also
    --------
    load : reads all but ``.dot`` and ``.graphml``.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import fishernet as fn
    >>> from fishernet.files import load, save
    >>> rain = fn.Variable("rain", ["no", "yes"])
    >>> net = fn.BayesianNetwork.from_tables([rain], {}, {"rain": [0.8, 0.2]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("rain.json", "rain.bif", "rain.xdsl.gz"):
    ...         save(net, Path(folder, name))
    ...         print(load(Path(folder, name)) == net)
    True
    True
    True
    """
    ending = ending_of(path) or ".json"
    if ending not in FORMATS:
        there_are = ", ".join(f"{known} ({found.holds})" for known, found in FORMATS.items())
        raise FileFormatError(path, f"nothing is written to files that end in {ending}; there are {there_are}")
    form = FORMATS[ending]
    if form.of_models and not is_model(model):
        this = a(type(model).__name__)
        raise SchemaError(f"files that end in {ending} hold {form.holds}, and this is {this}; use .json")
    noted(form.store(model, path))


def load(path: Location, *, encoding: str | None = None) -> Any:
    """Read a model from a file, in the format of the path's ending.

    Parameters
    ----------
    path : path
        Files of other programs are known by their endings (`save` lists them); any other file is one of the library's
        own. Compressed or not.
    encoding : str, optional
        Of a ``.bif``, ``.net`` or ``.dsc`` file that is neither UTF-8 nor marked as UTF-16, as "gbk".

    Returns
    -------
    BayesianNetwork, HiddenMarkovModel, UndirectedGraph, ...
        From the library's own files equal to what was saved, to the last bit.

    Raises
    ------
    FileFormatError
        When there is no such file, or it is not a model file, is damaged or was edited wrongly: it names file and
        place. A directed cycle of a Bayesian network is one too; its ``__cause__`` is the `CycleError`.
    """
    found = FORMATS.get(ending_of(path))
    if found is not None and found.read is None:
        readable = ", ".join(ending for ending, known in FORMATS.items() if known.read)
        raise FileFormatError(path, f"files that end in {ending_of(path)} are only written; what is read: {readable}")
    if encoding is not None:
        if ending_of(path) not in ENCODED:
            what = f"encoding is for {listed(ENCODED)} files; others say their own, or are UTF-8"
            raise SchemaError(what, parameter="encoding")
        return ENCODED[ending_of(path)](path, encoding=encoding)
    return read_model(path) if found is None or found.read is None else found.read(path)
