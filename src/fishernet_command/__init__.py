"""The start of the command ``fishernet``, outside of the package because importing what it needs may take a second.

Ctrl-C and SIGTERM end the command within that second as they end it later: see the table of `fishernet.cli.terminal`.
"""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from types import FrameType

__all__ = ["main"]

# Threads of BLAS wait for each other by turning in circles: beside other busy processes, or on more processors than a
# container's quota, commands took four to seven times as long. On an idle machine our matrices gain nothing by them.
BLAS = ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def main() -> None:
    """Run the command line; never returns."""
    if "OMP_NUM_THREADS" not in os.environ:
        for variable in BLAS:
            os.environ.setdefault(variable, "1")
    # Whoever starts us may have signals ignored, as nohup and a shell's & do: then they stay ignored.
    usual = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    ours = {number: handler for number, handler in usual.items() if signal.getsignal(number) == handler}
    for number in ours:
        signal.signal(number, _end)
    from fishernet.cli.main import main as run

    for number, handler in ours.items():
        signal.signal(number, handler)
    run()


def _end(number: int, _: FrameType | None) -> None:
    """End at once: an exception could be caught by a module that is being imported, and nothing is open yet."""
    if number == signal.SIGINT:
        with suppress(OSError):
            os.write(2, b"fishernet: interrupted\n")
    os._exit(128 + number)
