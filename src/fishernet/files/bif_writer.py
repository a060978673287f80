"""Writing a Bayesian network in the Interchange Format."""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NamedTuple

from fishernet.base.errors import SchemaError
from fishernet.base.io import replacing_text
from fishernet.base.names import a, listed
from fishernet.data import Variable
from fishernet.files.bif_words import (
    BOUNDS,
    CUTS,
    NAME,
    ROWS,
    STATES,
    UNIT,
    name_words,
    property_lines,
    state_words,
    written_states,
)
from fishernet.files.networks import check_storable
from fishernet.files.words import noted, quoted, with_never
from fishernet.models import BayesianNetwork, Conditional


class Words(NamedTuple):
    """How a variable is called in the file."""

    name: str
    states: Sequence[str]


Called = Mapping[str, Words]


def write_bif(net: BayesianNetwork, path: str | os.PathLike[str]) -> None:
    """Write a Bayesian network to a file in the Interchange Format (BIF 0.15), for other programs.

    Names and labels that other programs could not read are written as words that they can, ``<= 0.35`` as ``le_0_35``,
    and as they are in properties. A variable of one state gets a second one, of probability 0. `read_bif` reads all
    back exactly, except that a merged table is written in full and comes back as a full one.

    Parameters
    ----------
    net : BayesianNetwork
    path : path
        A name that ends in ``.gz`` is compressed. The file is written beside and renamed: when anything fails, what
        was there before is still there.

    Warns
    -----
    FishernetWarning
        When names or labels had to be replaced.

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
    noted(store_bif(net, path))


def store_bif(net: BayesianNetwork, path: str | os.PathLike[str]) -> str:
    """Write a network, and return which names and labels had to be replaced."""
    return stored(net, path, "a BIF file", _lines)


def stored(
    net: BayesianNetwork,
    path: str | os.PathLike[str],
    file: str,
    lines: Callable[[BayesianNetwork, Called], Iterator[str]],
) -> str:
    """Write the lines of a network in words, and return which names and labels had to be replaced."""
    require_tables(net, file)
    names = name_words(net.names)
    called = {v.name: Words(name, state_words(v.states)) for v, name in zip(net.variables, names, strict=True)}
    with replacing_text(path) as opened:
        opened.writelines(lines(net, called))
    return replaced(net.variables, called)


def replaced(variables: Sequence[Variable], called: Called) -> str:
    """Return which names and labels are written as other words, in a sentence; nothing where none are."""
    changed = []
    for variable in variables:
        name, states = called[variable.name]
        pairs = zip((variable.name, *map(str, variable.states)), (name, *states), strict=False)
        changed += [f"{label!r} as {word}" for label, word in pairs if label != word]
    if not changed:
        return ""
    number = "a name or label is" if len(changed) == 1 else f"{len(changed):,} names and labels are"
    shown = ", ".join(changed[:3]) + (", ..." if len(changed) > 3 else "")
    return f"{number} written as words that other programs read, and exactly in properties: {shown}"


def require_tables(model: BayesianNetwork, file: str) -> None:
    """Raise SchemaError when a model is no Bayesian network of states; `file` is what shall hold it: a BIF file."""
    if model.likelihood != "exact" or len(model.conditionals) != len(model.variables) or model.graph is None:
        raise SchemaError(f"{file} holds a BayesianNetwork, not {a(model.kind)}; fishernet.save stores it as .json")
    numbers = [variable.name for variable in model.variables if variable.is_continuous]
    if numbers:
        raise SchemaError(f"{file} holds categorical variables, and {listed(numbers)} hold numbers; use .json")
    check_storable(model.variables)


def _lines(net: BayesianNetwork, called: Called) -> Iterator[str]:
    yield "network unknown {\n"
    if net.n_rows is not None:
        yield f"  property {ROWS} = {net.n_rows};\n"
    yield "}\n"
    for variable in net.variables:
        yield from _variable(variable, called[variable.name])
    for conditional in net.conditionals:
        yield from _probability(conditional, called)


def _variable(variable: Variable, words: Words) -> Iterator[str]:
    yield f"variable {words.name} {{\n  type discrete [ {len(words.states)} ] {{ {', '.join(words.states)} }};\n"
    if words.name != variable.name:
        yield from property_lines(NAME, quoted(variable.name))
    if words.states != list(variable.states):
        yield from property_lines(STATES, written_states(variable.states))
    if variable.cuts is not None:
        yield from property_lines(CUTS, _numbers(variable.cuts))
    if variable.bounds is not None:
        yield from property_lines(BOUNDS, _numbers(variable.bounds))
    if variable.unit is not None:
        yield from property_lines(UNIT, variable.unit)
    yield "}\n"


def _probability(conditional: Conditional, called: Called) -> Iterator[str]:
    *parents, child = [called[variable.name] for variable in conditional.variables]
    given = f" | {', '.join(parent.name for parent in parents)}" if parents else ""
    yield f"probability ( {child.name}{given} ) {{\n"
    table = with_never(conditional.table())
    if not parents:
        yield f"  table {_numbers(table.tolist())};\n"
    else:
        configurations = itertools.product(*(parent.states for parent in parents))
        for states, row in zip(configurations, table.reshape(-1, table.shape[-1]), strict=True):
            yield f"  ({', '.join(states)}) {_numbers(row.tolist())};\n"
    yield "}\n"


def _numbers(values: Sequence[float]) -> str:
    """Return numbers with as many digits as bring the same bits back."""
    return ", ".join(map(repr, values))
