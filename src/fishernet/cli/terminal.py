"""What every command prints, and how it ends: an exit status, and one plain sentence on stderr when it failed.

======  =========================================================================
status  when
======  =========================================================================
0       all went well
1       bad input, a file that cannot be read or written, too little memory
2       a command line that makes no sense (click's own)
3       something changed, and --exit-code was given
130     Ctrl-C
141     whoever read our output has gone away, as ``head`` does; nothing is said
143     it was asked to end (SIGTERM); nothing is said
======  =========================================================================

A message of the library about an argument ends with what to type, or else with the option that sets the argument.
"""

from __future__ import annotations

import csv
import importlib
import io
import json
import math
import os
import re
import shlex
import shutil
import signal
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import IO, Any

import click

from fishernet.base.display import LEAST_P_SAID, plain
from fishernet.base.display import aligned as aligned
from fishernet.base.errors import FishernetError, FishernetWarning
from fishernet.base.io import check_writable, replacing_text
from fishernet.base.progress import Call, Interrupted
from fishernet.base.remedies import Remedy, advice

CHANGED = 3  # the exit status
Facts = Mapping[str, Any]
Line = tuple[str, str]
Command = Callable[..., Any]

FILE = click.Path(path_type=Path)
STDOUT = Path("-")  # as -o has it
LEAST_P = 1e-4  # of the p-values that four decimals show
json_option = click.option("--json", "as_json", is_flag=True, help="Print the same facts as one JSON object.")
exit_code_option = click.option(
    "--exit-code", is_flag=True, help=f"End with the status {CHANGED} if something changed."
)


# ------------------------------------------------------------------------------------------------ what is printed


@dataclass(frozen=True)
class Answer:
    """What a command found: facts for ``--json``; otherwise lines of text, and a remark on stderr.

    Facts that are a function, and a fact that is one, are asked for only when they are written. A fact that is an
    iterator gives the parts of a long list.
    """

    facts: Facts | Callable[[], Facts]
    lines: Iterable[str] = ()
    remark: str = ""
    status: int = 0
    place: Callable[[], Path] | None = None
    """What names the file that lines go to without -o; with ``-o -`` they go to stdout."""

    def write(self, output: Path | None, as_json: bool) -> None:
        """Write it to a file, or to stdout, which ``-`` is as well."""
        place, output = (None if output is not None else self.place), (None if output == STDOUT else output)
        if as_json:
            write_facts(self.facts() if callable(self.facts) else self.facts, output)
            return
        if place is None:
            self.write_plainly(output)
        else:
            write_lines(self.lines, place())
            write_lines([f"written: {place()}"])
        if self.remark:
            for line in self.remark.split("\n"):
                click.echo(on_one_line(line), err=True)

    def write_plainly(self, output: Path | None) -> None:
        """Write what is no JSON."""
        write_lines(self.lines, output)


def answering(check: Callable[[Path], None] | None = None) -> Callable[[Command], Command]:
    """Give a command ``-o`` and ``--json``; it returns an `Answer`, which is written for it.

    A check is made, before any work, of a file that it shall be written to, but for JSON.
    """

    def add(command: Command) -> Command:
        @click.option("-o", "--output", type=FILE, metavar="FILE", help="Write here instead of to stdout (-).")
        @json_option
        @wraps(command)
        def answer(output: Path | None, as_json: bool, **words: Any) -> None:
            check_folder(output)
            if check is not None and output is not None and output != STDOUT and not as_json:
                check(output)
            found = command(**words)
            found.write(output, as_json)
            if found.status:
                sys.stdout.flush()  # what cannot be written is an error, whatever the status
                click.get_current_context().exit(found.status)

        return answer

    return add


def check_folder(path: Path | None) -> None:
    """Raise FileFormatError, before any work, when a file could not be written; None is stdout."""
    if path is not None and path != STDOUT:
        check_writable(path)


def ending(path: Path) -> str:
    """Return a path's ending in lower case, without the ``.gz`` behind it."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def write_facts(facts: Facts, output: Path | None = None) -> None:
    """Write facts as one JSON object, one line per fact; numbers that JSON has no word for (-inf) are null."""
    _write(_json_pieces(facts), output)


def _json_pieces(facts: Facts) -> Iterator[str]:
    before = "{\n"
    for name, value in facts.items():
        yield f"{before}{json.dumps(name)}: "
        if isinstance(value, Iterator):
            yield "["
            for i, part in enumerate(value):
                yield ", " * (i > 0) + _json(part)[1:-1]
            yield "]"
        else:
            yield _json(value)
        before = ",\n"
    yield "\n}\n" if facts else "{\n\n}\n"


def _json(value: Any) -> str:
    return json.dumps(plain(value), ensure_ascii=False, allow_nan=False)


def write_lines(lines: Iterable[str], output: Path | None = None) -> None:
    """Write lines to a file, or to stdout; always in UTF-8."""
    _write((f"{line}\n" for line in lines), output)


def _write(pieces: Iterable[str], output: Path | None) -> None:
    if output is not None:
        with replacing_text(output) as file:
            file.writelines(pieces)
        return
    stream = stdout()
    for piece in pieces:
        stream.write(piece.encode("utf-8", "backslashreplace"))


def prints_where_one_looks() -> bool:
    """Whether what the command prints goes to a terminal, where a bar would stand between its lines."""
    context = click.get_current_context(silent=True)
    printed = context is None or context.params.get("output") is None
    return printed and sys.stdout is not None and sys.stdout.isatty()


def terminal_width() -> int | None:
    """Return the width of the terminal in characters; None where the output goes elsewhere, and lines may be long."""
    return shutil.get_terminal_size().columns if prints_where_one_looks() else None


CONTROLS = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")  # all in UTF-8 but the tab and the line's end


class Terminal:
    """A standard output that somebody looks at: what a terminal would obey is written as its number, in hexadecimal."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file = file

    def write(self, data: bytes, /) -> int:
        """Write whole characters."""
        shown = CONTROLS.sub(lambda found: b"\\x%02x" % found[0][-1], bytes(data))
        self._file.write(shown)
        return len(data)


def stdout() -> Terminal | IO[bytes]:
    """Return the standard output, to write UTF-8 to; raise FishernetError when it was closed."""
    if sys.stdout is None:
        raise FishernetError("there is no standard output to write to; name a file with -o")
    return Terminal(sys.stdout.buffer) if sys.stdout.isatty() else sys.stdout.buffer


def number(value: float) -> str:
    """Return a number of nats as people read it; ``-`` for one that is not known."""
    return "-" if math.isnan(value) else f"{value:,.4f}"


def p_value(p: float) -> str:
    """Return a p-value as people read it, to one digit where it is tiny: it is never 0."""
    if math.isnan(p) or p >= LEAST_P:
        return number(p)
    return f"{p:.0e}" if p >= LEAST_P_SAID else f"<{LEAST_P_SAID:.0e}"


def shown(label: object) -> str:
    """Return a label as a line of text shows it: as it is where it is plain, otherwise in quotes with escapes."""
    text = str(label)
    return text if text.isprintable() and text and text == text.strip() else repr(text)


def shown_states(states: Mapping[str, object]) -> str:
    """Return the states of some variables on one line."""
    return ", ".join(f"{shown(name)} = {shown(state)}" for name, state in states.items())


def edge_lines(words: str, sign: str, edges: Sequence[tuple[str, str]], also: Sequence[str] = ()) -> list[Line]:
    """Return how many edges there are, then the edges, each with what else is to be said of it."""
    named = [f"{shown(one)} {sign} {shown(other)}" for one, other in edges]
    lines = aligned(list(zip(named, also, strict=True))) if also else named
    return [(words, f"{len(named):,}"), *(("", line) for line in lines)]


def summary_last(lines: Sequence[Line]) -> list[str]:
    """Return facts as lines of which the last ones are the summary: what is listed without a word comes before."""
    details = [f"  {told}" for word, told in lines if not word]
    return [*details, *[""][: len(details)], *aligned([line for line in lines if line[0]])]


def csv_line(cells: Sequence[str]) -> str:
    """Return cells as a line of a CSV file, quoted where needed."""
    line = io.StringIO()
    csv.writer(line).writerow(cells)
    return line.getvalue().removesuffix("\r\n")


# ----------------------------------------------------------------------------------------------------- how it ends

TRACEBACK = "FISHERNET_TRACEBACK"  # an environment variable: when it is set, errors show where they happened


class Commands(click.Group):
    """A group of commands whose failures become an exit status and one sentence.

    Those that are `listed`, by their names, are imported from their files at their first use; beside is what they do,
    nothing of one that is not shown.
    """

    def __init__(self, *given: Any, listed: Mapping[str, tuple[str, str]] | None = None, **named: Any) -> None:
        super().__init__(*given, **named)
        self._listed = dict(listed or {})

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        """Return the commands' names as they were listed, which is the order in which they are used."""
        return list(self._listed or self.commands)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return a command; one of those that are listed is imported."""
        if cmd_name in self._listed and cmd_name not in self.commands:
            found = importlib.import_module(self._listed[cmd_name][0])
            self.add_command(getattr(found, cmd_name.replace("-", "_")), cmd_name)
        return super().get_command(ctx, cmd_name)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what each command does, without importing it."""
        if not self._listed:
            super().format_commands(ctx, formatter)
            return
        with formatter.section("Commands"):
            formatter.write_dl([(name, does) for name, (_, does) in self._listed.items() if does])

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Parse the command line; ``--help`` and ``--version`` print here."""
        with _told(None):
            return super().make_context(info_name, args, parent, **extra)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command."""
        with _ending_tidily(), _told(ctx), _notes(ctx):
            answer = super().invoke(ctx)
            if sys.stdout is not None:
                sys.stdout.flush()
            return answer


@contextmanager
def _ending_tidily() -> Iterator[None]:
    """Let SIGTERM end a command as an exit does, which removes temporary files."""
    if threading.current_thread() is not threading.main_thread() or signal.getsignal(signal.SIGTERM) != signal.SIG_DFL:
        yield  # somebody else decides
        return
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)


def _running(context: click.Context | None) -> click.Command | None:
    """Return the command of a group that runs."""
    if context is None or context.invoked_subcommand is None or not isinstance(context.command, click.Group):
        return None
    return context.command.get_command(context, context.invoked_subcommand)


@contextmanager
def _told(context: click.Context | None) -> Iterator[None]:
    """Turn a failure into one sentence and an exit status."""
    try:
        yield
    except (click.ClickException, click.Abort, click.exceptions.Exit):
        raise
    except (Exception, KeyboardInterrupt) as error:
        if TRACEBACK in os.environ:
            raise
        sentence, status = outcome(error, _running(context))
        _forget_stdout(error)
        complain(sentence)
        raise click.exceptions.Exit(status) from None


def outcome(error: BaseException, command: click.Command | None = None) -> tuple[str, int]:
    """Return what is to be said about an error of a command, and the exit status."""
    match error:
        case KeyboardInterrupt() if error.args:
            return f"{error}; nothing was written", 130
        case Interrupted(checkpoint=Path() as file):
            return f"interrupted while learning; the same command goes on from {file}", 130
        case Interrupted(size=size):
            so_far = f", with {size} so far" if size else ""
            return (
                f"interrupted while learning{so_far}; nothing was written (--max-seconds keeps the best in time)",
                130,
            )
        case KeyboardInterrupt():
            return "interrupted", 130
        case BrokenPipeError():
            return "", 141
        case FishernetError():
            return with_option(error, command), 1
        case OSError(filename=None):
            return f"reading or writing failed: {error.strerror or error}", 1
        case OSError():
            return f"{os.fsdecode(error.filename)}: {error.strerror}", 1
        case MemoryError():
            return f"there is not enough memory; {error or 'try fewer rows or variables'}", 1
    return (
        f"a mistake of fishernet itself, please report it: {type(error).__name__}: {error} "
        f"({TRACEBACK}=1 shows where it happened)"
    ), 1


def with_option(message: FishernetError | FishernetWarning, command: click.Command | None) -> str:
    """Return a message with its remedies as a command's options, else with the option that sets what it is about."""
    typed = [words for remedy in message.remedies if (words := _typed(remedy, command))]
    if typed:
        return message.fact + advice("type", typed)
    text = message.fact if message.remedies and command else str(message)
    option = _option_for(message.parameter, command)
    if option is None:
        return text
    choices = f": {', '.join(option.type.choices)}" if isinstance(option.type, click.Choice) else ""
    return f"{text} (option {_spelling(option)}{choices})"


def _option_for(parameter: str | None, command: click.Command | None) -> click.Option | None:
    """Return the option of a command that sets an argument of the library."""
    for option in command.params if command else ():
        names = (option.name, *(spelling.lstrip("-").replace("-", "_") for spelling in option.opts))
        if isinstance(option, click.Option) and parameter in names:
            return option
    return None


def _spelling(option: click.Option) -> str:
    return max(option.opts, key=len)


def _typed(remedy: Remedy, command: click.Command | None) -> str | None:
    """Return a remedy as it is typed; None where the command has no such option, or not with this value."""
    words = []
    for parameter, value in remedy.arguments.items():
        option = _option_for(parameter, command)
        if option is None or (isinstance(option.type, click.Choice) and value not in option.type.choices):
            return None
        values: list[Any] = [value]
        if isinstance(value, dict):  # a text for each column; an empty one is typed as none
            values = [[f"{name}={first}", *others] for name, (first, *others) in value.items()] or ["none"]
        for one in values:
            words += [_spelling(option), shlex.quote(str(one) if isinstance(one, str | int) else csv_line(one))]
    return f"{' '.join(words)} to {remedy.purpose}"


def complain(sentence: str) -> None:
    """Write one line to stderr; nothing for an empty sentence."""
    if not sentence:
        return
    with suppress(OSError):
        click.echo(f"fishernet: {on_one_line(sentence)}", err=True)


def on_one_line(text: str) -> str:
    """Return text on one line, with escapes for what a terminal would obey."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


@contextmanager
def _notes(context: click.Context) -> Iterator[None]:
    """Turn the library's warnings into notes on stderr, the same only once."""
    said: set[str] = set()

    def note(message: Warning | str, *_: object, **__: object) -> None:
        words = with_option(message, _running(context)) if isinstance(message, FishernetWarning) else str(message)
        if words not in said:
            said.add(words)
            complain(f"note: {words}")

    with warnings.catch_warnings():
        warnings.simplefilter("always", FishernetWarning)
        warnings.showwarning = note
        yield


def _forget_stdout(error: BaseException) -> None:
    """Let what stdout did not take go nowhere, so that the interpreter's last flush does not fail again."""
    if isinstance(error, OSError) and error.filename is None:
        with suppress(OSError, ValueError, AttributeError):  # no stdout, or none with a file behind it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


# ------------------------------------------------------------------------------------------------ while it works


@contextmanager
def progress_bar(*, hidden: bool = False) -> Iterator[Call]:
    """Yield ``progress(what, done, total)``, which shows a bar on stderr where that is a terminal, wiped at the end."""
    if hidden or sys.stderr is None or not sys.stderr.isatty():
        yield lambda what, done, total: None  # noqa: ARG005
        return
    from rich.console import Console  # loading rich takes longer than many a command
    from rich.progress import BarColumn, MofNCompleteColumn, SpinnerColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar

    looks = (TextColumn("{task.description}", markup=False), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    with Bar(SpinnerColumn(), *looks, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("", total=None)

        def show(what: str, done: int, total: int | None) -> None:
            if total is None:
                bar.reset(task)  # a total once said would stay
            bar.update(task, description=what, completed=done, total=total)

        yield show


class Stopwatch:
    """Measures the parts of a piece of work: `seconds` by part, in the order in which they began."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def time(self, part: str) -> Iterator[None]:
        """Measure what happens inside as one part."""
        self.seconds[part] = 0.0
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[part] = time.perf_counter() - began


def duration(seconds: float) -> str:
    """Return a time as minutes and seconds, and hours where there are some."""
    whole = round(seconds)
    hours = f"{whole // 3600}:{whole // 60 % 60:02}" if whole >= 3600 else str(whole // 60)
    return f"{hours}:{whole % 60:02}"


def seconds_words(facts: Facts) -> str:
    """Return how long each part took."""
    return ", ".join(f"{part} {seconds:.3f}" for part, seconds in facts["seconds"].items())
