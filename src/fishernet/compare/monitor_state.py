"""What a monitor keeps in a file, so that the next process goes on where this one ended.

The reference is read again, as it may be large and its rows are nobody else's business; the file says which it was.
"""

from __future__ import annotations

import hashlib
import json
import os
from dataclasses import dataclass
from pathlib import Path

from fishernet.base.errors import FileFormatError, SchemaError
from fishernet.base.fields import Fields
from fishernet.base.io import read_text, replacing_text
from fishernet.data import Table
from fishernet.graphs import Dag

FORMAT, VERSION = "fishernet monitor", 1


@dataclass(frozen=True)
class MonitorState:
    """How far a monitor is, by which graph and level, and what its reference is."""

    batches: int
    level: float
    dag: Dag
    n_rows: int
    digest: str
    path: Path

    @classmethod
    def of(cls, batches: int, level: float, dag: Dag, reference: Table, path: Path) -> MonitorState:
        """Return the state of a monitor of a reference, which a file keeps."""
        columns = [(variable.name, variable.states, variable.cuts) for variable in reference.variables]
        text = repr((columns, reference.rows_digest()))
        return cls(batches, level, dag, reference.n_rows, hashlib.sha256(text.encode()).hexdigest(), path)

    def write(self) -> None:
        """Write it to its file, all or nothing."""
        fields = {
            "format": FORMAT,
            "version": VERSION,
            "batches": self.batches,
            "level": self.level,
            "reference": {"rows": self.n_rows, "digest": self.digest},
            "variables": [
                {"name": name, "parents": [self.dag.names[p] for p in parents]}
                for name, parents in zip(self.dag.names, self.dag.parents, strict=True)
            ],
        }
        with replacing_text(self.path) as file:
            json.dump(fields, file, indent=1)
            file.write("\n")

    @classmethod
    def read(cls, path: Path) -> MonitorState | None:
        """Return the state in a file, or None where there is no file; FileFormatError where it holds something else."""
        if not os.path.lexists(path):
            return None
        try:
            fields = Fields(path, "", json.loads(read_text(path)))
        except ValueError:
            raise FileFormatError(path, "is no state of a monitor; name another file, or remove it") from None
        if (fields.take("format"), fields.take("version")) != (FORMAT, VERSION):
            raise fields.wrong(f"a state of a monitor has the format {FORMAT!r} and the version {VERSION}")
        reference = Fields(path, "reference", fields.take("reference"))
        variables = fields.objects("variables")
        names = [variable.text("name") for variable in variables]
        of = {name: v for v, name in enumerate(names)}
        with fields.checking():
            dag = Dag(names, [tuple(sorted(variable.positions("parents", of))) for variable in variables])
        of_reference = reference.whole("rows"), reference.text("digest")
        found = cls(fields.whole("batches"), fields.number("level"), dag, *of_reference, path)
        fields.end()
        return found

    def check(self, now: MonitorState) -> None:
        """Raise SchemaError when a monitor that would go on has another reference, level or graph."""
        if (self.n_rows, self.digest) != (now.n_rows, now.digest):
            raise SchemaError(
                f"{self.path} is the state of a monitor with another reference, of {self.n_rows:,} rows; give "
                "that one, or name another file to begin anew",
                parameter="state",
            )
        if self.level != now.level:
            raise SchemaError(
                f"{self.path} began with level={self.level:g}, which holds over all batches and cannot be changed",
                parameter="level",
            )
        if self.dag.edges != now.dag.edges:
            raise SchemaError(f"{self.path} began with another graph; give none to go on by that", parameter="net")
