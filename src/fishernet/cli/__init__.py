"""The command ``fishernet``: one file a command, all of them listed in `fishernet.cli.main`.

Every command reads its files, calls the library and prints facts: as text for people or, with ``--json``, the same
facts as one JSON object. What goes wrong becomes one plain sentence on stderr (`fishernet.cli.terminal`).
"""

__all__: list[str] = []


def __dir__() -> list[str]:
    return __all__
