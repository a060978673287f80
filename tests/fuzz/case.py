"""One case: a call, and whether its answer is one that may be given."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import fishernet as fn

MOST_LETTERS = 2000  # of a message


class Case(NamedTuple):
    """A call that is yet to be made."""

    what: str
    """The call in words."""
    call: Callable[[], Any]
    allowed: tuple[type[Exception], ...] = ()
    """What may be raised besides an error of ours."""


def finding(case: Case) -> str | None:
    """Make the call; return what is wrong with the answer, None if nothing is."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            case.call()
    except fn.FishernetError as error:
        return _message(error)
    except case.allowed:
        return None
    except Exception as error:
        return f"{type(error).__name__} {str(error)[:200]!r} at {_place(error)}"
    return None


def _message(error: Exception) -> str | None:
    """Return what is wrong with the text of an error of ours."""
    text = str(error)
    if not text.strip() or len(text) > MOST_LETTERS or "Traceback" in text or "\n" in text:
        return f"{type(error).__name__} is no sentence: {text[:200]!r} at {_place(error)}"
    return None


def _place(error: Exception) -> str:
    """Return the last line of the library's own that the error passed."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "fishernet" in frame.filename]
    frame = frames[-1] if frames else traceback.extract_tb(error.__traceback__)[-1]
    return f"{frame.filename.rpartition('fishernet/')[2]}:{frame.lineno}"
