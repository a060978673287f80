"""Every error and warning of the library, as one tree.

::

    ValueError
      FishernetError              anything that is wrong with what was given
        SchemaError               columns, names, types or shapes that do not fit
        UnknownStateError         a label that a variable does not have
        MissingValueError         missing cells where none can be used
        CycleError                edges that close a directed cycle
        ZeroProbabilityError      a formula would divide by a probability that is zero
        StateSpaceError           a table of probabilities or counts that would not fit (also a MemoryError)
        FileFormatError           a file that is not what it says it is
        ConvergenceError          an iteration that did not arrive
    UserWarning
      FishernetWarning            the result stands, but something about it should be known

A message says what is wrong, where, and what to do; the attributes say the same to a program. What to do may be a list
of remedies, each an argument, its value and a purpose: the message words them as keywords, and the command line words
the same ones as options. Errors are copied and pickled with all of that, so that those of a worker process arrive as
they were.
"""

from __future__ import annotations

import copyreg
import math
import sys
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from types import CodeType, FrameType
from typing import Any

from fishernet.base.remedies import Remedy, advice

__all__ = [
    "ConvergenceError",
    "CycleError",
    "FileFormatError",
    "FishernetError",
    "FishernetWarning",
    "MissingValueError",
    "SchemaError",
    "StateSpaceError",
    "UnknownStateError",
    "ZeroProbabilityError",
]

MOST_LETTERS = 1500  # of a message


class FishernetError(ValueError):
    """Something is wrong with what was given; the base of all errors of the library.

    Attributes
    ----------
    parameter : str or None
        The argument that it is about, by its name in the function that was called; None when it is about no single one.
    fact : str
        The message without its remedies.
    remedies : tuple of Remedy
        Arguments that would mend it, with which the message ends.
    """

    parameter: str | None

    def __init__(self, message: str, *, parameter: str | None = None, remedies: Sequence[Remedy] = ()) -> None:
        super().__init__(_sentence(message + advice("pass", [str(remedy) for remedy in remedies])))
        self.parameter = parameter
        self.fact: str = _sentence(message)
        self.remedies: tuple[Remedy, ...] = tuple(remedies)

    def __reduce__(self) -> tuple[Any, ...]:
        # Without this the class is called with the message alone, which most classes here refuse: a pool whose worker
        # raised such an error would wait for ever. So nothing is called: message and attributes are put back.
        return copyreg.__newobj__, (type(self), *self.args), self.__dict__  # type: ignore[attr-defined]


def _sentence(message: str) -> str:
    """Return a message in one line, without the middle of what was given where that is long, as a whole table is."""
    text = " ".join(message.split()) if "\n" in message else message
    return text if len(text) <= MOST_LETTERS else f"{text[: MOST_LETTERS - 300]} [...] {text[-200:]}"


class SchemaError(FishernetError):
    """Columns, names, types or shapes that do not fit together."""


class UnknownStateError(FishernetError):
    """A label that a variable does not have.

    Attributes
    ----------
    variable : str
        The variable (column).
    label : object
        The label that is not among its states.
    row : int or None
        The first row that holds it, counted from 0; None when it was not found in a row.
    """

    def __init__(
        self,
        message: str,
        *,
        variable: str,
        label: object,
        row: int | None = None,
        parameter: str | None = None,
        remedies: Sequence[Remedy] = (),
    ) -> None:
        super().__init__(message, parameter=parameter, remedies=remedies)
        self.variable = variable
        self.label = label
        self.row = row


class MissingValueError(FishernetError):
    """Missing cells where none can be used.

    Attributes
    ----------
    counts : dict
        The number of missing cells of each column that has some.
    """

    def __init__(
        self, message: str, *, counts: dict[str, int], parameter: str | None = None, remedies: Sequence[Remedy] = ()
    ) -> None:
        super().__init__(message, parameter=parameter, remedies=remedies)
        self.counts = counts


class CycleError(FishernetError):
    """Edges that close a directed cycle.

    Attributes
    ----------
    cycle : tuple of str
        The names along the cycle; the first is repeated at the end.
    """

    def __init__(self, cycle: Sequence[str], *, parameter: str | None = None) -> None:
        self.cycle: tuple[str, ...] = tuple(cycle)
        path = " -> ".join(self.cycle)
        super().__init__(f"the edges close a cycle: {path}; remove or turn one of them", parameter=parameter)


class ZeroProbabilityError(FishernetError):
    """A formula would divide by a probability that is zero.

    Attributes
    ----------
    variable : str
        The child variable.
    configuration : dict
        The states of its parents, by name.
    state : object
        The state of the child, or None when the whole configuration has probability zero.
    """

    def __init__(
        self,
        message: str,
        *,
        variable: str,
        configuration: dict[str, object],
        state: object | None = None,
        parameter: str | None = None,
    ) -> None:
        super().__init__(message, parameter=parameter)
        self.variable = variable
        self.configuration = configuration
        self.state = state


SHOWN = 10**24  # larger numbers of cells are told by their size


class StateSpaceError(FishernetError, MemoryError):
    """A table of probabilities or counts that would not fit.

    Attributes
    ----------
    cells : int or inf
        The number of cells it would have.
    limit : int
        The number that is allowed.
    """

    def __init__(self, what: str, *, cells: float, limit: int, remedy: str, parameter: str | None = None) -> None:
        many = f"{cells:,}" if cells < SHOWN or cells == math.inf else f"10**{int(math.log10(cells))}"
        message = f"{what} would have {many} cells, more than the limit of {limit:,}; {remedy}"
        super().__init__(message, parameter=parameter)
        self.cells = cells
        self.limit = limit


class FileFormatError(FishernetError):
    """A file that is not what it says it is.

    Attributes
    ----------
    path : str
        The file.
    line : int or None
        The line, counted from 1, where one is known.
    """

    def __init__(self, path: object, what: str, *, line: int | None = None, parameter: str | None = None) -> None:
        self.path: str = str(path).encode("utf-8", "replace").decode()  # what is no Unicode could not be printed
        self.line = line
        where = self.path if line is None else f"{self.path}, line {line}"
        super().__init__(f"{where}: {what}", parameter=parameter)


class ConvergenceError(FishernetError):
    """An iteration that did not arrive.

    Attributes
    ----------
    steps : int
        The number of steps made.
    residual : float
        How far it still was.
    """

    def __init__(self, message: str, *, steps: int, residual: float, parameter: str | None = None) -> None:
        super().__init__(message, parameter=parameter)
        self.steps = steps
        self.residual = residual


class FishernetWarning(UserWarning):
    """The result stands, but something about it should be known.

    Attributes
    ----------
    parameter : str or None
        The argument that would mend it, by its name in the function that was called; None where there is none.
    fact : str
        The message without its remedies.
    remedies : tuple of Remedy
        Arguments that would mend it, with which the message ends.
    """

    parameter: str | None

    def __init__(self, message: str = "", *, parameter: str | None = None, remedies: Sequence[Remedy] = ()) -> None:
        super().__init__(message + advice("pass", [str(remedy) for remedy in remedies]))
        self.parameter = parameter
        self.fact = message
        self.remedies: tuple[Remedy, ...] = tuple(remedies)


_TOLD: ContextVar[set[tuple[CodeType, int]] | None] = ContextVar("_TOLD", default=None)

# Between a caller and a function of ours: decorators, loops of scikit-learn over our estimators, and the import of us.
GO_BETWEENS = {__name__.partition(".")[0], "contextlib", "functools", "importlib", "joblib", "sklearn"}


def warn(message: str, *, parameter: str | None = None, remedies: Sequence[Remedy] = ()) -> None:
    """Give a FishernetWarning at the caller's line: the innermost one that is neither ours nor of a go-between."""
    frame, told = sys._getframe(1), _TOLD.get()
    if told is not None:
        place = frame.f_code, frame.f_lineno
        if place in told:
            return
        told.add(place)
    while frame.f_back is not None and _module(frame).partition(".")[0] in GO_BETWEENS:
        frame = frame.f_back
    warnings.warn_explicit(
        FishernetWarning(message, parameter=parameter, remedies=remedies),
        FishernetWarning,
        frame.f_code.co_filename,
        frame.f_lineno,
        _module(frame),
        frame.f_globals.setdefault("__warningregistry__", {}),
    )


@contextmanager
def telling_once(told: set[tuple[CodeType, int]]) -> Iterator[None]:
    """Leave out warnings of the places that told already, and add those that tell: each of many runs has own words."""
    token = _TOLD.set(told if _TOLD.get() is None else _TOLD.get())
    try:
        yield
    finally:
        _TOLD.reset(token)


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__", ""))


def __dir__() -> list[str]:
    return __all__
