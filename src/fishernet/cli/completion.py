"""``fishernet completion``: what a shell needs to complete commands and options."""

from __future__ import annotations

import os
from pathlib import Path

import click
from click.shell_completion import get_completion_class

from fishernet.base.errors import FileFormatError, FishernetError
from fishernet.base.io import replacing_text
from fishernet.cli.terminal import write_lines

SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="Let the shell complete commands with the Tab key.")
@click.argument("shell", required=False, type=click.Choice(SHELLS))
@click.option("--install", is_flag=True, help="Write it where the shell looks for it, instead of to stdout.")
@click.pass_context
def completion(context: click.Context, shell: str | None, install: bool) -> None:
    """Print what lets a shell complete the commands, options and files of fishernet with the Tab key.

    The SHELL is yours ($SHELL) unless you name another. bash needs the package bash-completion.

    \b
    Example
      fishernet completion --install
      fishernet completion zsh > _fishernet
    """  # noqa: D301
    known = shell or Path(os.environ.get("SHELL", "")).name
    maker = get_completion_class(known) if known in SHELLS else None
    if maker is None:
        raise FishernetError(f"it is not known which shell you use; name one: {', '.join(SHELLS)}")
    root = context.find_root()
    script = maker(root.command, {}, "fishernet", "_FISHERNET_COMPLETE").source()
    if not install:
        write_lines(script.rstrip("\n").split("\n"))
        return
    path = _place(known)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileFormatError(path, f"cannot be written ({error.strerror})") from None
    with replacing_text(path) as file:
        file.write(script)
    write_lines([f"written: {path}", "It works in shells that are opened from now on.", *_also(known, path)])


def _place(shell: str) -> Path:
    """Return the file in which a shell looks for how to complete a command."""
    home = Path.home()
    data = Path(os.environ.get("XDG_DATA_HOME") or home / ".local" / "share")
    configuration = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config")
    return {
        "bash": data / "bash-completion" / "completions" / "fishernet",
        "zsh": home / ".zfunc" / "_fishernet",
        "fish": configuration / "fish" / "completions" / "fishernet.fish",
    }[shell]


def _also(shell: str, path: Path) -> list[str]:
    """Return what a person must do beside: zsh looks in no folder of one's own unless it is told to."""
    if shell != "zsh":
        return []
    return [
        "If it does not, add this line to ~/.zshrc:",
        f"  fpath=({path.parent} $fpath); autoload -Uz compinit; compinit",
    ]
