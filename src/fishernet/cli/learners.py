"""What ``fishernet learn`` says of what it learned: the facts of `fishernet.learn.fitted` as lines for people."""

from __future__ import annotations

import math
import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Any

from fishernet.base.errors import FishernetError
from fishernet.base.names import amount, several
from fishernet.cli.options import option_of
from fishernet.cli.terminal import (
    Facts,
    Line,
    aligned,
    csv_line,
    edge_lines,
    number,
    seconds_words,
    shown,
    summary_last,
)
from fishernet.learn.learners import Learner, OptionOfOthersError, learner_of

MOST_NAMES = 6
FAR = 0.5  # of the mean of all rows, by which that of the others must differ to be told
KIND_ENDS = r"\(| of "  # of a scale's words; describe says all of them


def named(learner: Learner | type[Learner]) -> str:
    """Return a kind of network in words, with the option that asks for it."""
    option, value = learner.asked_by
    return f"{learner.called} ({option_of(option)} {value})"


def asked_learner(kind: str, given: dict[str, Any], seed: int) -> Learner:
    """Return the learner of a kind with the options that were given; FishernetError says whose another option is."""
    try:
        return learner_of(kind, given, seed)
    except OptionOfOthersError as error:
        typed = option_of(error.option)
        if error.option == "prior" and error.value is False:
            typed = "--no-prior"
        elif error.option == "missing" or error.other.asked_by[0] == error.option:
            typed = f"{typed} {error.value}"
        raise FishernetError(f"{typed} is for {named(error.other)}; it does not go with {named(error.own)}") from None


def text_of(learner: Learner, facts: Facts) -> Iterator[str]:
    """Yield what was found as lines for people."""
    if "inputs" in facts:
        yield from _entropies(facts)
    lines = [("rows", _rows(facts)), *column_lines(facts), *_found(facts)]
    if "parameters" in facts:
        lines += [
            ("parameters", f"{facts['parameters']:,}"),
            (f"held-out {learner.measure}", _held_out(learner, facts)),
        ]
    if facts.get("arcs_by_chance") is not None:
        lines.append(("by chance", f"{facts['arcs_by_chance']:.1f} arcs, the mean where columns are shuffled apart"))
    if facts.get("beyond"):
        lines.append(("beyond the arcs", facts["beyond"]["said"] + _as_numbers(facts["beyond"]["scales"])))
    if facts.get("held_out_accuracy") is not None:
        loss = f"log-loss {number(facts['held_out_log_loss'])} nats per row"
        lines.append((f"held-out {shown(facts['target'])}", f"accuracy {facts['held_out_accuracy']:.4f}, {loss}"))
    yield from summary_last([*lines, *_files(learner, facts)])


def _as_numbers(names: Sequence[str]) -> str:
    """Return what to type where columns of few numbers depend on one another beyond the arcs."""
    if not names:
        return ""
    return f"; --continuous {shlex.quote(csv_line(names))} takes these as numbers, which asks for fewer parameters"


def _rows(facts: Facts) -> str:
    if "parameters" not in facts:
        return amount(facts["rows"])
    training, held_out = amount(facts["training_rows"]), amount(facts["held_out_rows"])
    return f"{amount(facts['rows'])} ({training} to learn from, {held_out} held out)"


def _found(facts: Facts) -> list[Line]:
    """Return the structure, its score, and what it took to find it."""
    lines: list[Line] = []
    if "arcs" in facts:
        lines += edge_lines("arcs", "->", facts["arcs"])
    if "edges" in facts:
        correlations = [f"partial correlation {number(r)}" for r in facts.get("partial_correlations", ())]
        lines += edge_lines("edges", "-", facts["edges"], correlations)
    if "hidden_states" in facts:
        end = "" if facts["finished"] else "; stopped by --max-seconds, this is the best so far"
        lines.append(("hidden variables", f"one above each column, of {several(facts['hidden_states'], 'state')}{end}"))
    if "inputs" in facts:
        lines.append(("inputs", f"{sum(map(len, facts['inputs'].values())):,}"))
    if "score_value" in facts:
        on = "the rows to learn from" + (", with numbers on their scales" if facts.get("scales") else "")
        lines.append((f"{facts['score']} score", f"{number(facts['score_value'])} on {on}"))
    if "candidates" in facts:
        looked = f"{facts['steps']:,} steps, {facts['candidates']:,} candidates looked at"
        lines.append(("search", f"{looked}, {facts['local_scores']:,} distinct local scores"))
    elif "steps" in facts:
        end = "" if facts["finished"] else "; stopped by --max-seconds, this is the best so far"
        end += f"; {facts['proof']}" if facts["proof"] else ""
        lines.append(("search", f"{facts['steps']:,} steps, {facts['local_scores']:,} distinct local scores{end}"))
    if "tests" in facts:
        asked = f"{facts['test']}, alpha {facts['alpha']:g}, rule {facts['rule']}"
        lines.append(("tests", f"{facts['tests']:,} ({asked})"))
    return lines


def _entropies(facts: Facts) -> Iterator[str]:
    """Yield the entropies of the variables of a dependency network, and an empty line."""
    yield "entropies in nats on the rows to learn from: of each variable X, and given its inputs"
    table = [("variable", "H(X)", "H(X|inputs)", "inputs")]
    for name, inputs in facts["inputs"].items():
        alone, given = facts["entropies"][name], facts["conditional_entropies"][name]
        table.append((shown(name), number(alone), number(given), ", ".join(map(shown, inputs))))
    yield from aligned(table)
    yield ""


def _held_out(learner: Learner, facts: Facts) -> str:
    """Return how well the rows held out are predicted, and how that was measured."""
    if not facts["held_out_rows"]:
        return "none, no rows were held out"
    how = ", missing cells summed out" if facts.get("missing") and facts["missing_cells"] else ""
    complete = facts.get("held_out_complete_rows", facts["held_out_rows"])
    if not complete:
        return "none, each held-out row has a missing cell"
    if complete < facts["held_out_rows"]:
        how = f", of the {several(complete, 'complete row')}"
    impossible = facts.get("impossible_rows", 0)
    told = f" ({several(impossible, 'row has', 'rows have')} probability 0; --smoothing above 0 helps)"
    measured = f"held_out_{learner.measure.replace('-', '_')}_per_row"
    value, others = facts[measured], facts.get(f"{measured}_of_others", math.nan)
    alone = (
        f" ({number(others)} without the one that is least probable)" if others - value > max(1, FAR * -value) else ""
    )
    return f"{number(value)} per row{alone}{how}{facts['comparable']}{told if impossible else ''}"


def _files(learner: Learner, facts: Facts) -> list[Line]:
    """Return how long each part took, and where the network was saved and drawn, if it was."""
    again = f", parameters fitted again on all {several(facts['rows'], 'row')}" if "parameters" in facts else ""
    saved = None if facts["model"] is None else f"{facts['model']}: these {learner.kept}{again}"
    lines = [("seconds", seconds_words(facts)), ("saved", saved), ("drawn", facts["plot"])]
    return [(word, told) for word, told in lines if told is not None]


def column_lines(facts: Facts) -> list[Line]:
    """Return what was decided about the columns, a line a kind."""
    lines = [("variables", f"{len(facts['variables']):,} (fishernet describe {facts['table']} shows each column)")]
    lines += [
        (f"  {kind}", f"{len(names):,}: {_first([*map(shown, names)])}") for kind, names in facts["columns"].items()
    ]
    scales = [f"{shown(name)} as {re.split(KIND_ENDS, scale)[0]}" for name, scale in facts["scales"].items()]
    lines += [("  scales", _first(scales))] if scales else []
    return lines + [("  missing cells", told) for told in facts["plan"]]


def _first(names: Sequence[str]) -> str:
    more = len(names) - MOST_NAMES
    return ", ".join([*names[:MOST_NAMES], *([f"... {more:,} more"] if more > 0 else [])])
