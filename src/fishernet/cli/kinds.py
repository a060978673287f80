"""The rules by which columns of tables are read, as the help of commands says them."""

from __future__ import annotations

import inspect

from fishernet.cli.terminal import Command

KINDS = """How a table is read (fishernet describe TABLE shows the kind of each column, and why):

    \b
    - Text, truth values and few numbers that come again are states; other numbers and dates stay numbers.
    - Text that tells rows apart, and whole numbers that count them or are called id, are identifiers, and left out.
    - Text is read as numbers or dates where all of it is written so: $1,234.50, (12.5), 12 %, 3 kg, 14:30, 17.05.2023.
    - Empty cells, NA, N/A, NaN, null and ? are missing; --missing says what to do with them.
    - Numbers stay numbers, beside states on a scale on which they are more nearly normal; where rows heap up at one
      number they are cut into bins. --bins says otherwise.
    - --categorical, --continuous, --exclude and --na-values overrule these rules.
"""


def explaining_kinds(command: Command) -> Command:
    """Say the rules by which columns are read in a command's help, before its examples."""
    text = inspect.cleandoc(command.__doc__ or "")
    before, examples, after = text.partition("\n\n\b\nExample")
    command.__doc__ = f"{before}\n\n{inspect.cleandoc(KINDS)}{examples}{after}"
    return command
