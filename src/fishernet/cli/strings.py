"""``fishernet strings``: how alike strings are, all of them or the nearest ones, by a model or by their substrings."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import numpy as np

from fishernet.base import check
from fishernet.base.errors import FileFormatError, FishernetError, SchemaError
from fishernet.base.io import read_text, replacing
from fishernet.base.names import listed, several
from fishernet.base.progress import Call
from fishernet.base.vocabulary import word
from fishernet.cli.models import called, read_model
from fishernet.cli.options import all_of, count, taken, text_options
from fishernet.cli.tables.sources import read
from fishernet.cli.terminal import (
    FILE,
    Answer,
    Commands,
    aligned,
    answering,
    csv_line,
    ending,
    number,
    progress_bar,
    shown,
)
from fishernet.files import NamedStrings, read_fasta
from fishernet.files.sequences import lines_of
from fishernet.kernels import CountKernel, FisherKernel, Normalized, PairHmmKernel, SpectrumKernel, gram_matrix
from fishernet.learn import hidden_markov_model, markov_chain
from fishernet.models import HiddenMarkovModel, MarkovChain, Model
from fishernet.select import nearest as nearest_items

TABLES = (".csv", ".tsv", ".parquet", ".arrow", ".feather", ".arff")
OF_CHAIN, OF_HMM = ("markov",), ("hmm", "counts", "joint")
OF_KIND = {"Markov chain": OF_CHAIN, "hidden Markov model": OF_HMM}  # the kernels of a model that is read
KERNELS = ("spectrum", *OF_CHAIN, *OF_HMM)


@click.group(cls=Commands, short_help="Compare strings: DNA, proteins, texts.")
def strings() -> None:
    """Compare strings by a kernel: FASTA files, text files of one string a line, or a column of a table.

    \b
    Examples
      fishernet strings gram genes.fa --alphabet dna --order 3 -o gram.npy
      fishernet strings nearest words.csv --column word -n 5
    """  # noqa: D301


string_options = all_of(
    click.option("--column", metavar="NAME", help="The column of a table that has the strings."),
    click.option("--model", "path", type=FILE, metavar="FILE", help="A Markov chain or hidden Markov model (.json)."),
    click.option(
        "--kernel",
        metavar="|".join(KERNELS),
        help="How strings are compared.  [default: hmm with --states or such a model, markov with --order or such a "
        "model, otherwise spectrum]",
    ),
    count("--order", help="markov: the length of a context.  [default: 2]"),
    count("--states", help="hmm, counts, joint: how many hidden states are learned.  [default: 3]"),
    count("--k", help="spectrum: the length of the substrings.  [default: 3]"),
    click.option(
        "--alphabet",
        metavar="dna|rna|protein|LETTERS",
        help="The symbols. The three named take small letters and IUPAC's ambiguous ones, which are summed over what "
        "they may be.  [default: those that occur]",
    ),
    click.option(
        "--unknown",
        metavar="error|skip|any",
        help="A symbol outside the alphabet: refuse it, leave it out, or sum over what it may be.  [default: error]",
    ),
    count("--seed", help="hmm, counts, joint: of the learning.  [default: 0]"),
    text_options,
)


@strings.command(short_help="Write the kernel of all pairs of strings.")
@click.argument("file", type=FILE)
@string_options
@click.option("--cosine", is_flag=True, help="Write cosines, from -1 to 1.")
@answering()
def gram(file: Path, column: str | None, cosine: bool, **options: Any) -> Answer:
    """Write the kernel of all pairs of the strings in FILE, as CSV with their names, or as -o FILE.npy.

    The kernels are: spectrum, the inner product of the counts of substrings; markov and hmm, the Fisher kernels of a
    Markov chain and a hidden Markov model, which are read (--model) or learned of the strings themselves; counts, of
    what the hidden states are expected to have done; joint, the probability that one hidden path gives both strings.
    Strings without names are called by their positions, from 0.

    \b
    Example
      fishernet strings gram genes.fa --alphabet dna --kernel hmm --states 4 -o gram.csv
    """  # noqa: D301
    with progress_bar() as progress:
        found, kernel, facts = _prepared(file, column, options, progress)
        matrix = gram_matrix(Normalized(kernel) if cosine else kernel, list(found), progress=progress)
    return _Gram(facts | {"cosine": cosine, "matrix": matrix}, _matrix_lines(found.names, matrix), matrix=matrix)


@dataclass(frozen=True)
class _Gram(Answer):
    """The answer of ``gram``: a matrix, which is written as it is to a file for NumPy."""

    matrix: Any = None

    def write(self, output: Path | None, as_json: bool, *, escape_formulas: bool = False) -> None:  # noqa: ARG002
        """Write it to a file, or to stdout."""
        if as_json or output is None or ending(output) != ".npy":
            Answer.write(self, output, as_json)
            return
        with replacing(output) as stream:
            np.save(stream, self.matrix)


def _matrix_lines(names: tuple[str, ...], matrix: Any) -> Iterator[str]:
    yield csv_line(["", *names])
    for name, row in zip(names, matrix.tolist(), strict=True):
        yield csv_line([name, *map(repr, row)])


@strings.command(short_help="List the strings most like each, or one.")
@click.argument("file", type=FILE)
@string_options
@click.option("--string", "which", metavar="NAME|I", help="The string by its name, or position from 0.  [default: all]")
@count("-n", "n", default=5, show_default=True, help="How many to list for each.")
@answering()
def nearest(file: Path, column: str | None, which: str | None, n: int, **options: Any) -> Answer:
    """List for each string in FILE, or for one, those that are most like it, with the cosine of the kernel.

    The kernels are those of ``fishernet strings gram``. A string is not among those most like it.

    \b
    Example
      fishernet strings nearest genes.fa --alphabet dna --string BRCA1 -n 3
    """  # noqa: D301
    check.integer(n, "n", least=1)
    with progress_bar() as progress:
        found, kernel, facts = _prepared(file, column, options, progress)
        of = None if which is None else [_position(found, which)]
        alike = nearest_items(kernel, list(found), of=of, n=n, progress=progress)
    rows = zip(alike.of.tolist(), alike.indices.tolist(), alike.cosines.tolist(), strict=True)
    listed_rows = [
        {
            "string": found.names[one],
            "nearest": [
                {"string": found.names[other], "position": other, "cosine": cosine}
                for other, cosine in zip(others, cosines, strict=True)
            ],
        }
        for one, others, cosines in rows
    ]
    lines = [("string", "nearest", "cosine")]
    for row in listed_rows:
        for place, one in enumerate(row["nearest"]):
            lines.append((shown(row["string"]) if not place else "", shown(one["string"]), number(one["cosine"])))
    return Answer(facts | {"found": listed_rows}, aligned(lines))


def _position(found: NamedStrings, which: str) -> int:
    """Return the position of a string that is named or counted."""
    if which in found.names:
        return found.names.index(which)
    if which.isdecimal() and int(which) < len(found):
        return int(which)
    raise SchemaError(
        f"there is no string {which!r}; there are {several(len(found), 'string')}: {listed(found.names, most=5)}",
        parameter="string",
    )


def _prepared(
    file: Path, column: str | None, options: dict[str, Any], progress: Call
) -> tuple[NamedStrings, Any, dict[str, Any]]:
    """Return the strings, the kernel and the facts about them."""
    progress("reading the strings", 0, None)
    found = read_strings(file, column)
    kernel, how = kernel_of(found, progress, **options)
    return found, kernel, {"file": str(file), "strings": len(found), "names": list(found.names), **how}


# ------------------------------------------------------------------------------------------------------ the strings


def read_strings(path: Path, column: str | None) -> NamedStrings:
    """Return the strings of a FASTA file, a text file of one string a line, or a column of a table."""
    if ending(path) in TABLES or column is not None:
        found = _of_table(path, column)
    else:
        text = read_text(path)
        if text.lstrip().startswith((">", ";")):
            return read_fasta(path)
        lines = lines_of(text)
        found = tuple(lines[:-1] if lines and not lines[-1] else lines)
    if not found:
        raise SchemaError(f"{path}: the file has no strings")
    return NamedStrings(tuple(map(str, range(len(found)))), found, ("",) * len(found))


def _of_table(path: Path, column: str | None) -> tuple[str, ...]:
    if column is None:
        raise SchemaError(f"{path}: say which column has the strings", parameter="column")
    table = read(path, columns=[column], categorical=[column])
    table.require_complete("comparing strings")
    labels = table[column].tolist()
    strange = next((label for label in labels if not isinstance(label, str)), None)
    if strange is not None:
        raise SchemaError(f"{path}: the column {column!r} holds {strange!r}, which is not text", parameter="column")
    return tuple(labels)


# ------------------------------------------------------------------------------------------------------- the kernel


def kernel_of(found: NamedStrings, progress: Call, **options: Any) -> tuple[Any, dict[str, Any]]:
    """Return the kernel that the options say, with its model learned if need be, and what to say of it."""
    given = taken(options)
    path = given.pop("path", None)
    model = None if path is None else _read(path)
    name = word(given.pop("kernel", None) or _default(model, given), "kernel", KERNELS)
    own = {"spectrum": {"k"}, "markov": {"order"}}.get(name, {"states", "seed"})
    _refuse_others(name, given, set() if model is not None else own | {"alphabet"})
    alphabet, unknown = given.pop("alphabet", None), given.pop("unknown", None)
    if model is not None:
        _check_model(path, model, name)
        model = model if unknown is None else model.with_unknown(unknown)
        return _of_model(name, model), {"kernel": name, "model": str(path)}
    if name == "spectrum":
        k = given.get("k", 3)
        symbols = alphabet if alphabet is not None or unknown is None else _seen(found)
        return SpectrumKernel(k, symbols, unknown=unknown), {"kernel": name, "k": k}
    symbols = {"alphabet": alphabet, "unknown": unknown}
    if name in OF_CHAIN:
        order = given.get("order", 2)
        chain = markov_chain(found, order=order, **symbols)
        return _of_model(name, chain), {"kernel": name, "order": order}
    states, seed = given.get("states", 3), given.get("seed", 0)
    hmm = hidden_markov_model(found, n_states=states, seed=seed, progress=progress, **symbols)
    return _of_model(name, hmm), {"kernel": name, "states": states, "seed": seed}


def _seen(found: NamedStrings) -> str:
    return "".join(sorted(set("".join(found))))


def _default(model: Model | None, given: dict[str, Any]) -> str:
    if model is not None:
        return OF_KIND[model.kind][0]
    return "hmm" if "states" in given else "markov" if "order" in given else "spectrum"


def _refuse_others(name: str, given: dict[str, Any], own: set[str]) -> None:
    """Raise FishernetError when an option was given that the kernel, or a model that is read, has no use for."""
    for option in given:
        if option not in own | {"unknown"}:
            why = f"cannot be combined with --kernel {name}" if own else "cannot be combined with --model"
            raise FishernetError(f"--{option} {why}")


def _read(path: Path) -> Any:
    model = read_model(path)
    if model.kind not in OF_KIND:
        raise SchemaError(f"{path}: this is {called(model)}; a Markov chain or a hidden Markov model is needed")
    return model


def _check_model(path: Path, model: Any, name: str) -> None:
    wanted = OF_KIND[model.kind]
    if name not in wanted:
        raise FileFormatError(path, f"this is {called(model)}, whose kernels are {listed(wanted)}, not {name!r}")


OF_MODEL: dict[str, Callable[[Any], Any]] = {
    "markov": lambda model: FisherKernel(model, metric="practical"),
    "hmm": lambda model: FisherKernel(model, metric="practical"),
    "counts": CountKernel,
    "joint": PairHmmKernel,
}


def _of_model(name: str, model: MarkovChain | HiddenMarkovModel) -> Any:
    return OF_MODEL[name](model)
