"""Many runs of the same learner: what they share, whatever each of them learns from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, TypeVar

from fishernet.progress import Progress, Reporter

Result = TypeVar("Result")


def reusable(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of `fishernet.learn.structure` that more than one run can read.

    A generator of arcs would be empty for the second run, which then went by no rules at all.
    """
    kept = dict(options)
    for rule in ("required", "forbidden"):
        if rule in kept:
            kept[rule] = _listed(kept[rule])
    if kept.get("tiers") is not None:
        kept["tiers"] = [_listed(tier) for tier in _listed(kept["tiers"])]
    return kept


def _listed(items: Any) -> Any:
    """Return a list of what can be gone through; a name, or what is no iterable, is for the learner to judge."""
    return list(items) if isinstance(items, Iterable) and not isinstance(items, str) else items


def repeat_runs(
    n: int, run: Callable[[int, Progress], Result], what: str, progress: Progress | None
) -> Iterator[Result]:
    """Yield ``run(0, ...)`` up to ``run(n - 1, ...)``, each when it is done.

    Parameters
    ----------
    n : int
        How many runs.
    run : callable
        ``run(number, progress)``; it passes this progress on to its search, so that a long run is not a silent one.
    what : str
        What is being done, for the progress.
    progress : callable, optional
        ``progress(what, runs done, n)``.

    Raises
    ------
    KeyboardInterrupt
        On Ctrl-C. It does not carry the best graph of the search that it ended: that is only one of many.
    """
    reporter = Reporter(progress, what)
    for number in range(n):
        reporter.step(number, n)
        try:
            result = run(number, lambda *_, done=number: reporter.step(done, n))
        except KeyboardInterrupt:
            raise KeyboardInterrupt from None
        yield result
    reporter.finish(n)
