"""Networks in the format of the UAI inference competitions.

Words with blanks between them::

    MARKOV                  or BAYES
    3                       variables, numbered from 0
    2 2 3                   how many states each has
    2                       factors
    2 0 1                   how many variables the first one has, and which
    2 1 2
    4                       how many numbers the first one has, the last variable's state fastest
    0.2 0.8 0.5 0.5
    6
    ...

In a Bayesian network each variable is the last one of one factor, which holds its probabilities given the others.
There are no names: variables are called ``x0``, ``x1``, ..., states are the integers from 0. What follows ``#`` in a
line is no part of the file; pyAgrum writes such remarks. (It also takes the first of several parents as the fastest
one in a Bayesian network's factor, against the format.)
"""

from __future__ import annotations

import math
import os
import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FileFormatError, FishernetError, SchemaError
from fishernet.base.io import read_text, replacing_text
from fishernet.base.names import a, listed
from fishernet.data import Variable
from fishernet.files.words import noted
from fishernet.models import BayesianNetwork, FullTable, MarkovNetwork

TOLERANCE = 1e-3  # files hold rounded numbers
MOST_AXES = 32  # of an array of NumPy 1
MOST_LOOSE = 2**20  # states of variables in no factor: no number of the file stands for them
KINDS = ("MARKOV", "BAYES")

Factor = tuple[list[int], npt.NDArray[np.float64], int]  # its axes, its numbers, and the word at which these begin


class Words:
    """The words of a file, which are taken one after the other."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = path
        self.text: str = re.sub(r"#[^\n]*", "", read_text(path))
        self.words: list[str] = self.text.split()
        self.at: int = 0

    def wrong(self, what: str, at: int | None = None) -> FileFormatError:
        """Return the error that says what is wrong at a word, the last one taken if none is said."""
        left = self.at - 1 if at is None else at
        line = 1
        for line, text in enumerate(self.text.split("\n"), 1):  # noqa: B007
            left -= len(text.split())
            if left < 0:
                break
        return FileFormatError(self.path, what, line=line)

    def take(self, what: str) -> str:
        """Return the next word."""
        if self.at == len(self.words):
            raise self.wrong(f"the file ends before {what}")
        self.at += 1
        return self.words[self.at - 1]

    def whole(self, what: str, least: int, most: int) -> int:
        """Return the next word as an integer within bounds."""
        word = self.take(what)
        if not re.fullmatch(r"[0-9]{1,18}", word) or not least <= int(word) <= most:
            raise self.wrong(f"expected {what}, an integer from {least} to {most}, got {word[:40]!r}")
        return int(word)

    def numbers(self, n: int, what: str) -> npt.NDArray[np.float64]:
        """Return the next words as numbers, none of them negative."""
        words = self.words[self.at : self.at + n]
        if len(words) < n:
            raise self.wrong(f"the file ends after {len(words)} of {n} numbers of {what}", len(self.words) - 1)
        values = np.array([_number(word) for word in words])
        bad = ~(np.isfinite(values) & (values >= 0))
        if bad.any():
            first = int(np.argmax(bad))
            problem = f"{what}: {words[first][:40]!r} is no finite number from 0"
            raise self.wrong(problem, self.at + first)
        self.at += n
        return values

    @property
    def left(self) -> int:
        """How many words are left."""
        return len(self.words) - self.at


def _number(word: str) -> float:
    try:
        return math.nan if "_" in word or not word.isascii() else float(word)  # Python reads more than the format has
    except ValueError:
        return math.nan


def read_uai(path: str | os.PathLike[str]) -> BayesianNetwork | MarkovNetwork:
    """Read a network from a file in the format of the UAI inference competitions.

    Parameters
    ----------
    path : path
        Compressed with gzip or not.

    Returns
    -------
    BayesianNetwork or MarkovNetwork
        As the file's first word says. Variables are called ``x0``, ``x1``, ..., their states 0, 1, .... Rows of
        probabilities that are off by rounding, up to 0.001, are divided by their sum.

    Raises
    ------
    FileFormatError
        When there is no such file, or it is damaged or does not describe a network; it names file and line.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import fishernet as fn
    >>> from fishernet.files import read_uai
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "pair.uai").write_text("MARKOV  2  2 2  1  2 0 1  4  2 1 1 2")
    ...     net = read_uai(Path(folder, "pair.uai"))
    >>> fn.infer.marginal(net, ["x0", "x1"]).round(3)
    array([[0.333, 0.167],
           [0.167, 0.333]])
    """
    words = Words(path)
    kind = words.take("MARKOV or BAYES")
    if kind not in KINDS:
        raise words.wrong(f"expected MARKOV or BAYES, got {kind[:40]!r}; this is no file of a UAI network")
    n = words.whole("the number of variables", 0, words.left)
    states = [words.whole(f"the number of states of x{v}", 1, 2**31 - 1) for v in range(n)]
    factors = list(_factors(words, states))
    if words.left:
        raise words.wrong(f"{words.left} words more than the factors need", words.at)
    used = {v for axes, _, _ in factors for v in axes}
    if sum(r for v, r in enumerate(states) if v not in used) > MOST_LOOSE:
        raise FileFormatError(path, f"the variables in no factor have more than {MOST_LOOSE:,} states")
    variables = [Variable(f"x{v}", range(r)) for v, r in enumerate(states)]
    if kind == "MARKOV":
        return MarkovNetwork(variables, [([f"x{v}" for v in axes], values) for axes, values, _ in factors])
    return _bayesian(words, variables, factors)


def read_uai_evidence(path: str | os.PathLike[str]) -> dict[str, int]:
    """Read what is observed of a network from a ``.uai.evid`` file of the UAI inference competitions.

    Parameters
    ----------
    path : path
        The number of observed variables, and of each its number and its state's, all counted from 0. A 1 before that,
        the number of such lists in older files, may stand in a line of its own. Compressed with gzip or not.

    Returns
    -------
    dict of str to int
        States by the names that `read_uai` gives, ready to be given as evidence.

    Raises
    ------
    FileFormatError
        When there is no such file, or it does not list observations, or a variable twice; it names file and line.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import fishernet as fn
    >>> from fishernet.files import read_uai, read_uai_evidence
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "pair.uai").write_text("MARKOV  2  2 2  1  2 0 1  4  2 1 1 2")
    ...     _ = Path(folder, "pair.uai.evid").write_text("1  0 1")
    ...     net, given = read_uai(Path(folder, "pair.uai")), read_uai_evidence(Path(folder, "pair.uai.evid"))
    >>> given
    {'x0': 1}
    >>> fn.infer.marginal(net, ["x1"], given=given).round(3)
    array([0.333, 0.667])
    """
    words = Words(path)
    n = words.whole("the number of observed variables", 0, 2**31 - 1)
    if n == 1 and words.left % 2 and words.left != 2:
        n = words.whole("the number of observed variables", 0, 2**31 - 1)
    if words.left != 2 * n:
        raise words.wrong(f"{n} observed variables need {2 * n} numbers more, and there are {words.left}")
    given: dict[str, int] = {}
    for _ in range(n):
        name = f"x{words.whole('an observed variable', 0, 2**31 - 1)}"
        if name in given:
            raise words.wrong(f"the variable {name} is observed twice")
        given[name] = words.whole(f"the state of {name}", 0, 2**31 - 1)
    return given


def _factors(words: Words, states: Sequence[int]) -> Iterator[Factor]:
    scopes = []
    n = len(states)
    for k in range(words.whole("the number of factors", 0, words.left)):
        size = words.whole(f"the number of variables of factor {k}", 0, min(n, MOST_AXES))
        scopes.append([words.whole(f"a variable of factor {k}", 0, n - 1) for _ in range(size)])
        if len(set(scopes[-1])) < size:
            raise words.wrong(f"factor {k} has a variable twice")
    for k, scope in enumerate(scopes):
        shape = [states[v] for v in scope]
        needed = math.prod(shape)
        count = words.whole(f"the number of numbers of factor {k}", 0, 10**18)
        if count != needed:
            raise words.wrong(f"factor {k} has {count} numbers; its variables have {needed} configurations")
        at = words.at
        yield scope, words.numbers(needed, f"factor {k}").reshape(shape), at


def _bayesian(words: Words, variables: list[Variable], factors: list[Factor]) -> BayesianNetwork:
    conditionals: dict[int, FullTable] = {}
    for k, (scope, values, at) in enumerate(factors):
        if not scope or scope[-1] in conditionals:
            what = "has no variable" if not scope else f"is a second one of x{scope[-1]}"
            raise words.wrong(f"factor {k} of a Bayesian network {what}", at)
        sums = values.sum(axis=-1)
        if (np.abs(sums - 1) > TOLERANCE).any():
            off = sums.flat[int(np.argmax(np.abs(sums - 1)))]
            raise words.wrong(f"factor {k}: the probabilities of x{scope[-1]} sum to {off:.9g}, not to 1", at)
        own = [variables[v] for v in scope]
        rows = values.reshape(-1, values.shape[-1])
        try:
            conditionals[scope[-1]] = FullTable(scope[-1], scope[:-1], own, rows, tolerance=TOLERANCE)
        except FishernetError as error:
            raise words.wrong(f"factor {k}: {error}", at) from error
    lacking = [variable.name for v, variable in enumerate(variables) if v not in conditionals]
    if lacking:
        raise FileFormatError(words.path, f"no factor of the Bayesian network is the one of {listed(lacking)}")
    try:
        return BayesianNetwork(variables, [conditionals[v] for v in range(len(variables))])
    except FishernetError as error:  # a cycle
        raise FileFormatError(words.path, str(error)) from error


def write_uai(net: BayesianNetwork | MarkovNetwork, path: str | os.PathLike[str]) -> None:
    """Write a network to a file in the format of the UAI inference competitions.

    The numbers keep all their bits. The format has no names: `read_uai` calls variables and states by their numbers.

    Parameters
    ----------
    net : BayesianNetwork or MarkovNetwork
    path : path
        A name that ends in ``.gz`` is compressed. The file is written beside and renamed.

    Warns
    -----
    FishernetWarning
        When the network has names or labels other than those that `read_uai` gives.

    Raises
    ------
    SchemaError
        When it is another kind of model.
    FileFormatError
        When the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import fishernet as fn
    >>> from fishernet.files import write_uai
    >>> net = fn.MarkovNetwork([fn.Variable("x0", [0, 1])], [(["x0"], [1.0, 3.0])])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_uai(net, Path(folder, "one.uai"))
    ...     print(Path(folder, "one.uai").read_text())
    MARKOV
    1
    2
    1
    1 0
    <BLANKLINE>
    2
    1.0 3.0
    """
    noted(store_uai(net, path))


def store_uai(net: Any, path: str | os.PathLike[str]) -> str:
    """Write a network, and return what the file does not hold."""
    numbers = [variable.name for variable in net.variables if variable.is_continuous]
    if numbers:
        raise SchemaError(f"a UAI file holds categorical variables, and {listed(numbers)} hold numbers; use .json")
    if net.inference != "factors":
        raise SchemaError(f"a UAI file holds a BayesianNetwork or a MarkovNetwork, not {a(net.kind)}; use .json")
    with replacing_text(path) as file:
        file.writelines(_lines(net))
    plain = [Variable(f"x{v}", range(variable.cardinality)) for v, variable in enumerate(net.variables)]
    if list(net.variables) == plain:
        return ""
    return "a UAI file numbers the variables and their states, in their order; names, labels and cuts are not in it"


def _lines(net: Any) -> Iterator[str]:
    yield f"{'BAYES' if net.is_normalized else 'MARKOV'}\n{len(net.variables)}\n"
    yield " ".join(str(variable.cardinality) for variable in net.variables) + "\n"
    factors = net.factor_tables()
    yield f"{len(factors)}\n"
    for axes, _ in factors:
        yield " ".join(map(str, (len(axes), *axes))) + "\n"
    for _, values in factors:
        yield f"\n{values.size}\n"
        for row in values.reshape(-1, values.shape[-1] if values.ndim else 1).tolist():
            yield " ".join(map(repr, row)) + "\n"
