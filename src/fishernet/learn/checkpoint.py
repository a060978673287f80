"""Files in which a search leaves its state, so that it can be stopped at any time and go on later.

A file is one JSON object: what was asked for, and how far the search is or what it found. What was asked for is the
search with its options, the score, the rules and the data: the variables, and a digest of the rows, whose order does
not matter. A source without rows is known by its statistics of neighbouring variables. A file of anything else is
refused. The state holds no scores that can be computed again, and these
come out with the same bits: a search that goes on ends with the graph, the steps and the score of one that was never
stopped. It is written whole or not at all, at most once a second.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import math
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from fishernet.base.errors import FileFormatError, warn
from fishernet.base.io import read_text, replacing_text
from fishernet.base.names import cut
from fishernet.base.progress import Interrupted, Resumable, Watch
from fishernet.data import Source, Statistic
from fishernet.data.digest import mixed
from fishernet.graphs import Dag
from fishernet.learn.rules import Rules
from fishernet.learn.search import Scorer, Search, SearchResult, Step
from fishernet.scores.local import family_positions

HEAD = {"format": "fishernet", "kind": "checkpoint", "version": 3}
SECONDS = 1.0  # between two states that are written
LONGEST = 300  # characters of what was asked for, in a message
DIGEST = "sha256:"
ROWS = "the rows"
START = "the score of the start"
FOLLOWING = (ROWS, START)  # not told where anything else differs, on which they depend
DECIDING = ("the version of fishernet", "the search", "the variables")  # where they differ, so may all else

Fields = dict[str, Any]


def run_with_checkpoint(path: Path, search: Search, scorer: Scorer, rules: Rules, watch: Watch) -> SearchResult:
    """Return what a search finds, or has found; one that was stopped goes on, if it can.

    Raises
    ------
    FileFormatError
        Before the search begins, when the file is no checkpoint or one of another search, or cannot be written.
    """
    kept = Checkpoint(path, asked_for(search, scorer, rules))
    before = kept.result(rules.names)
    if before is not None:
        return before
    kept.write()
    try:
        found = search.run(scorer, rules, watch.keeping(kept))
    except Interrupted as interrupt:
        interrupt.checkpoint = path
        raise
    except KeyboardInterrupt:
        raise Interrupted(best=rules.start, checkpoint=path) from None
    if found.finished:
        kept.write_result(found)
    return found


class Checkpoint:
    """One file, for one search: its `fishernet.base.progress.Keeper`."""

    def __init__(self, path: Path, asked: Fields) -> None:
        self.path = path
        self._fields: Fields = {**HEAD, "asked": asked, "state": None, "found": None}
        if _exists(path):
            self._fields = _read(path)
            _refuse_other(path, self._fields["asked"], asked)
        self._piece = 0  # which piece of work is done; a search may consist of several, one after the other
        self._written = -math.inf

    def result(self, names: tuple[str, ...]) -> SearchResult | None:
        """Return what the search has found; None when it has not ended."""
        found = self._fields["found"]
        if found is None:
            return None
        try:
            steps = tuple(Step(str(kind), str(a), str(b), float(gain)) for kind, a, b, gain in found["steps"])
            dag = Dag(names, found["parents"])
            score, seconds = float(found["score"]), float(found["seconds"])
            bound = score if found.get("proven") else None
            return SearchResult(dag, score, steps, int(found["n_scores"]), True, seconds, found["seed"], bound)
        except (TypeError, ValueError, KeyError):
            raise _no_checkpoint(self.path) from None

    def give(self, work: Resumable) -> None:
        """Give the next piece of work its state, if the file has one; those before it begin anew, and end as before."""
        self._piece += 1
        state = self._fields["state"]
        try:
            if state is not None and int(state["piece"]) == self._piece:
                work.restore(state["whole"], state["real"])
        except (TypeError, ValueError, KeyError):
            raise _no_checkpoint(self.path) from None

    def look(self, work: Resumable) -> None:
        """Write the state, unless that was done a moment ago."""
        if time.monotonic() - self._written >= SECONDS:
            self.keep(work)

    def keep(self, work: Resumable) -> None:
        """Write the state, unless the file is further on."""
        state = self._fields["state"]
        if state is None or int(state["piece"]) <= self._piece:
            whole, real = work.state
            self._fields["state"] = {"piece": self._piece, "whole": whole, "real": real}
            self._write_or_warn()

    def write_result(self, found: SearchResult) -> None:
        """Write what was found in place of the state."""
        self._fields["state"] = None
        self._fields["found"] = {
            "parents": found.dag.parents,
            "steps": [(step.kind, step.parent, step.child, step.gain) for step in found.steps],
            "score": found.score,
            "n_scores": found.n_scores,
            "seconds": found.seconds,
            "seed": found.seed,
            "proven": found.bound is not None,
        }
        self._write_or_warn()

    def _write_or_warn(self) -> None:
        try:
            self.write()
        except FileFormatError as error:  # a full disk is no reason to lose what the search found
            what = f"the checkpoint is not kept up while the search goes on: {error}"
            warn(what, parameter="checkpoint")

    def write(self) -> None:
        """Write the file."""
        text = json.dumps(self._fields)
        with replacing_text(self.path) as file:
            file.write(json.dumps({**self._fields, "digest": _digest(text)}) + "\n")
        self._written = time.monotonic()


# ------------------------------------------------------------------------------------------------------ what was asked


def asked_for(search: Search, scorer: Scorer, rules: Rules) -> Fields:
    """Return what a search is asked for: in words, or as a digest where these would be long."""
    source = scorer.source
    return {
        "the version of fishernet": sys.modules["fishernet"].__version__,
        "the search": type(search).__qualname__,
        **{f"the search's {name}": _described(value) for name, value in _options(search).items()},
        "the score": _described(scorer.score),
        "the variables": _digest(repr([(v.name, v.states, v.cuts) for v in source.variables])),
        "the weight of all rows": float(source.total),
        "max_parents": rules.max_parents,
        "max_cells": rules.max_cells,
        "the required arcs": _digest(rules.required.tobytes().hex()),
        "the forbidden arcs": _digest(rules.forbidden.tobytes().hex()),
        "the arcs of the start": _digest(repr(rules.start.parents)),
        ROWS: _known_rows(source),
        START: float(scorer(family_positions(source, rules.start)).sum()),
    }


def _known_rows(source: Source) -> str | list[float]:
    """Return what tells the rows from others: their digest, or sums over the statistics of neighbouring variables."""
    digest = source.rows_digest()
    if digest is not None:
        return f"{digest:016x}"
    n = len(source.variables)
    if all(variable.is_continuous for variable in source.variables):
        sets = [tuple(range(n))]
    else:
        sets = [tuple(sorted({v, (v + 1) % n, (v + apart) % n})) for apart in (2, 5) for v in range(n)]
    return [number for statistic in source.statistics(sets) for number in _sums(statistic)]


def _sums(statistic: Statistic) -> list[float]:
    """Return sums of what a statistic says, each number with a factor of its place; units do not matter to them."""
    scale = np.sqrt(np.diagonal(statistic.scatter, axis1=-2, axis2=-1))
    scale = np.where(scale > 0, scale, 1.0)
    correlations = statistic.scatter / scale[..., :, None] / scale[..., None, :]
    arrays = [statistic.counts, statistic.mean / scale, np.log(scale), correlations]
    if statistic.states is not None:
        arrays.append(statistic.states)
    return [float(np.ravel(array) @ (1 + mixed(np.arange(array.size, dtype=np.uint64)) / 2.0**64)) for array in arrays]


def _options(search: Search) -> Fields:
    known = dataclasses.is_dataclass(search)
    return {field.name: getattr(search, field.name) for field in dataclasses.fields(search)} if known else {}  # type: ignore[arg-type]


def _described(option: object) -> str:
    """Return an object in words; one that has none is known by its class."""
    text = repr(option)
    return type(option).__qualname__ if " at 0x" in text else text


def _refuse_other(path: Path, there: object, here: Fields) -> None:
    if not isinstance(there, dict):
        raise _no_checkpoint(path)
    other = [name for name, value in here.items() if not _same(there.get(name), value)]
    if other:
        first = [name for name in other if name in DECIDING][:1] or [name for name in other if name not in FOLLOWING]
        first = first or other[:1]
        told = ", ".join(_difference(name, there.get(name), here[name]) for name in first)
        what = f"this is the checkpoint of another search: {told}"
        remedy = "ask for the same to go on, or name another file to begin anew"
        raise FileFormatError(path, f"{what}; {remedy}", parameter="checkpoint")


def _same(there: object, here: object) -> bool:
    """Whether two files ask for the same; scores and statistics may come from another machine."""
    if isinstance(there, list) and isinstance(here, list):
        return len(there) == len(here) and all(map(_same, there, here))
    if isinstance(there, float) and isinstance(here, float) and math.isfinite(there + here):
        return math.isclose(there, here, rel_tol=1e-9, abs_tol=1e-9)
    return repr(there) == repr(here)


def _difference(name: str, there: object, here: object) -> str:
    if name in FOLLOWING or str(here).startswith(DIGEST):
        return f"{name} differ"
    return f"{name} was {cut(str(there), LONGEST)} and is {cut(str(here), LONGEST)}"


# -------------------------------------------------------------------------------------------------------- the file


def _digest(text: str) -> str:
    return DIGEST + hashlib.sha256(text.encode()).hexdigest()


def _exists(path: Path) -> bool:
    try:
        return path.exists()
    except OSError:  # writing says what is wrong
        return False


def _read(path: Path) -> Fields:
    """Return the fields of a file as they were written."""
    try:
        fields = json.loads(read_text(path))
        whole = fields.pop("digest") == _digest(json.dumps(fields))
    except FileFormatError:
        raise
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError):
        raise _no_checkpoint(path) from None
    if not whole or any(fields.get(name) != HEAD[name] for name in ("format", "kind")):
        raise _no_checkpoint(path)
    if fields.keys() != {*HEAD, "asked", "state", "found"} or fields["version"] != HEAD["version"]:
        what = "another version of fishernet wrote this checkpoint; go on with that one, or name another file"
        raise FileFormatError(path, what, parameter="checkpoint")
    return dict(fields)


def _no_checkpoint(path: Path) -> FileFormatError:
    what = "this is no checkpoint of a search, or a damaged one; name another file, or remove this one to begin anew"
    return FileFormatError(path, what, parameter="checkpoint")
