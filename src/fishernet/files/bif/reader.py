"""Reading a Bayesian network in the Interchange Format."""

from __future__ import annotations

import os

from fishernet.errors import FileFormatError, FishernetError
from fishernet.files.bif.tables import TOLERANCE, family_of, probabilities
from fishernet.files.bif.text import Block, Source, blocks, source_of
from fishernet.files.bif.variables import ROWS, Declared, declared, properties
from fishernet.models import BayesianNetwork, FullTable
from fishernet.table.variable import listed


def read_bif(path: str | os.PathLike[str]) -> BayesianNetwork:
    """Read a Bayesian network from a file in the Interchange Format (BIF 0.15).

    Reads what bnlearn, pgmpy, JavaBayes and `write_bif` write; `fishernet.files.bif` describes it.

    Parameters
    ----------
    path : path
        Compressed with gzip or not.

    Returns
    -------
    BayesianNetwork
        Variables in the order of the file. States are str, except where `write_bif` noted another type. Rows of
        probabilities that are off by rounding, up to 0.001, are divided by their sum.

    Raises
    ------
    FileFormatError
        When there is no such file, or it is not BIF, is damaged, or does not describe a Bayesian network; it names
        file and line. A directed cycle is one too: the message names the cycle, and ``__cause__`` is the `CycleError`.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from fishernet.files import read_bif
    >>> text = '''
    ... network unknown { }
    ... variable rain { type discrete [ 2 ] { no, yes }; }
    ... variable wet { type discrete [ 2 ] { no, yes }; }
    ... probability ( rain ) { table 0.8, 0.2; }
    ... probability ( wet | rain ) { (yes) 0.1, 0.9; default 0.9, 0.1; }
    ... '''
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "wet.bif").write_text(text)
    ...     net = read_bif(Path(folder, "wet.bif"))
    >>> net
    BayesianNetwork(2 variables, 1 arc, 3 parameters)
    """
    source = source_of(path)
    head: Block | None = None
    known: dict[str, Declared] = {}
    tables = []
    for block in blocks(source):
        if block.kind == "probability":
            tables.append(block)
        elif block.kind == "variable":
            _declare(source, block, known)
        elif head is None:
            head = block
        else:
            raise source.wrong("a second network block; a file holds one network", block.at)
    if head is None:
        raise FileFormatError(path, "there is no network block, so this is no BIF file")
    return _network(source, known, tables, _n_rows(source, head))


def _declare(source: Source, block: Block, known: dict[str, Declared]) -> None:
    found = declared(source, block, len(known))
    name = found.variable.name
    if name in known:
        raise source.wrong(f"the variable {name!r} is declared twice", block.at)
    known[name] = found


def _network(source: Source, known: dict[str, Declared], tables: list[Block], n_rows: int | None) -> BayesianNetwork:
    conditionals: dict[str, FullTable] = {}
    for block in tables:
        family = family_of(source, block, known)
        *parents, child = family
        if child.variable.name in conditionals:
            raise source.wrong(f"a second probability block of {child.variable.name!r}", block.at)
        conditionals[child.variable.name] = FullTable(
            child.position,
            [parent.position for parent in parents],
            [member.variable for member in family],
            probabilities(source, block, family),
            tolerance=TOLERANCE,
        )
    lacking = [name for name in known if name not in conditionals]
    if lacking:
        raise FileFormatError(source.path, f"there is no probability block of {listed(lacking)}")
    variables = [member.variable for member in known.values()]
    try:
        return BayesianNetwork(variables, [conditionals[name] for name in known], n_rows=n_rows)
    except FishernetError as error:  # a cycle
        raise FileFormatError(source.path, str(error)) from error


def _n_rows(source: Source, head: Block) -> int | None:
    """Return the number of rows that we noted, if we wrote the file."""
    rows = properties(head).get(ROWS)
    if rows is None:
        return None
    if not (rows.text.isascii() and rows.text.isdigit() and len(rows.text) < 20):
        raise source.wrong(f"{ROWS} must be an integer from 0, got {source.shown(rows.at)}", rows.at)
    return int(rows.text)
