"""Writing a Bayesian network in the Interchange Format."""

from __future__ import annotations

import itertools
import os
import warnings
from collections.abc import Iterator, Mapping, Sequence

from fishernet.base.errors import FishernetWarning, SchemaError
from fishernet.base.io import replacing_text
from fishernet.base.names import a, listed
from fishernet.data import Variable
from fishernet.files.bif_words import CUTS, ROWS, STATES, is_plain, state_labels, written_label, written_states
from fishernet.files.networks import check_storable
from fishernet.models import BayesianNetwork, Conditional

Labels = Mapping[str, Sequence[str]]


def write_bif(net: BayesianNetwork, path: str | os.PathLike[str]) -> None:
    """Write a Bayesian network to a file in the Interchange Format (BIF 0.15), for other programs.

    `read_bif` reads it back exactly, except that a merged table is written in full and comes back as a full one.

    Parameters
    ----------
    net : BayesianNetwork
    path : path
        A name that ends in ``.gz`` is compressed. The file is written beside and renamed: when anything fails, what
        was there before is still there.

    Warns
    -----
    FishernetWarning
        When labels need quotes, which other programs may not read.

    Raises
    ------
    SchemaError
        When it is no Bayesian network, or a label cannot be written (half of a surrogate pair).
    StateSpaceError
        When a merged table would have more than 2**28 cells in full.
    FileFormatError
        When the file cannot be written.

    See Also
    --------
    fishernet.save : the library's own format, which keeps merged tables.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import fishernet as fn
    >>> from fishernet.files import read_bif, write_bif
    >>> rain = fn.Variable("rain", ["no", "yes"])
    >>> net = fn.BayesianNetwork.from_tables([rain], {}, {"rain": [0.8, 0.2]})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_bif(net, Path(folder, "rain.bif"))
    ...     print(Path(folder, "rain.bif").read_text())
    network unknown {
    }
    variable rain {
      type discrete [ 2 ] { no, yes };
    }
    probability ( rain ) {
      table 0.8, 0.2;
    }
    """
    if not hasattr(type(net), "dag"):
        instead = "; fishernet.save stores it as .json" if hasattr(type(net), "variables") else ""
        raise SchemaError(f"a BIF file holds a BayesianNetwork, not {a(type(net).__name__)}{instead}")
    numbers = [variable.name for variable in net.variables if variable.is_continuous]
    if numbers:
        raise SchemaError(f"a BIF file holds variables with states, and {listed(numbers)} hold numbers; use .json")
    check_storable(net.variables)
    labels = {variable.name: state_labels(variable.states) for variable in net.variables}
    with replacing_text(path) as file:
        file.writelines(_lines(net, labels))
    quoted = [label for name, own in labels.items() for label in (name, *own) if not is_plain(label)]
    if quoted:
        warnings.warn(
            f"{len(quoted)} labels stand in quotes, which other programs may not read: {listed(quoted, 3)}",
            FishernetWarning,
            stacklevel=2,
        )


def _lines(net: BayesianNetwork, labels: Labels) -> Iterator[str]:
    yield "network unknown {\n"
    if net.n_rows is not None:
        yield f"  property {ROWS} = {net.n_rows};\n"
    yield "}\n"
    for variable in net.variables:
        yield from _variable(variable, labels[variable.name])
    for conditional in net.conditionals:
        yield from _probability(conditional, labels)


def _variable(variable: Variable, labels: Sequence[str]) -> Iterator[str]:
    states = ", ".join(map(written_label, labels))
    yield f"variable {written_label(variable.name)} {{\n  type discrete [ {len(labels)} ] {{ {states} }};\n"
    if not all(isinstance(state, str) for state in variable.states):
        yield f"  property {STATES} = {written_states(variable.states)};\n"
    if variable.cuts is not None:
        yield f"  property {CUTS} = {_numbers(variable.cuts)};\n"
    yield "}\n"


def _probability(conditional: Conditional, labels: Labels) -> Iterator[str]:
    *parents, child = [variable.name for variable in conditional.variables]
    given = f" | {', '.join(map(written_label, parents))}" if parents else ""
    yield f"probability ( {written_label(child)}{given} ) {{\n"
    table = conditional.table()
    if not parents:
        yield f"  table {_numbers(table.tolist())};\n"
    else:
        words = [[written_label(label) for label in labels[parent]] for parent in parents]
        for states, row in zip(itertools.product(*words), table.reshape(-1, table.shape[-1]), strict=True):
            yield f"  ({', '.join(states)}) {_numbers(row.tolist())};\n"
    yield "}\n"


def _numbers(values: Sequence[float]) -> str:
    """Return numbers with as many digits as bring the same bits back."""
    return ", ".join(map(repr, values))
