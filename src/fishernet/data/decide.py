"""What a column is: one decision from its summary, the same wherever the rows lie.

`RULES` are read from top to bottom; the first that has an answer decides. A new rule is a function here, and
`describe`, every verb, memory, disk and cluster follow it. Without a schema,

- what the caller or the source says holds; a column without a known cell is left out;
- text is numbers or dates where all of it is written so (`fishernet.data.encoding.forms` says how), an identifier
  where it tells rows apart, otherwise states;
- whole numbers that count the rows, and what is named as an identifier and tells rows apart, are identifiers;
- few different numbers, in several rows each, are states; all other numbers stay numbers.

Identifiers are left out.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from fishernet.base.errors import MissingValueError, SchemaError, warn
from fishernet.base.names import Positions, are, counted, listed, positions, several
from fishernet.base.remedies import Remedy
from fishernet.data.column_summary import MOST_LABELS, ColumnSummary, TableSummary, WeightSums
from fishernet.data.encoding.cells import no_labels_error
from fishernet.data.encoding.labels import MOST_STATES, as_text, sorted_states, typed
from fishernet.data.encoding.orders import own_order
from fishernet.data.encoding.readings import MOST_SLIPS, Reading, spoiling
from fishernet.data.options import Options
from fishernet.data.variable import Column, Continuous, Variable, fresh_missing_state

MOST_FRACTIONS = 10  # distinct numbers that are states, where not all are whole
MOST_TEXTS = 256  # different ones, which a column of text may have and not be taken for an identifier
LEAST_ROWS = 100  # from which on more different texts than half of the rows make an identifier, too
LEAST_FAR = 5  # cells that hold one number far from all others, before it is told
VERY_FAR = 1000  # times the range of all others
CODE = re.compile("9+|8+|7+")
MOST_CODES = 4  # for missing cells in one column, as 77, 88 and 99
LEAST_PART_FAR = 0.005  # of the cells, likewise
LEAST_DIFFERENT = 20  # rows whose texts are all different, or which are counted, that make an identifier
NAMED_ID = r"(?i:(?:.*[ _.-])?id|id[ _.-]?(?:no|nr|number|code)?|uuid|guid)|.*[a-z]I[Dd]"
NAMED_ROW = r"(?i:unnamed: ?\d+|index|idx|row(?:[ _.-]?(?:id|names?|numbers?|no|nr))?|respondent|record|serial|obs)"
NAMED_TIME = re.compile(
    r"(?i:(?:.*[ _.-])?(?:years?|yr|months?|weeks?|days?|date|time|hours?|minutes?|seconds?|quarter|period))"
    r"|.*[a-z](?:Year|Month|Week|Day|Date|Time|Hour|Quarter|Period)"
)
WAYS = (
    Remedy({"missing": "keep"}, "keep them and sum them out"),
    Remedy({"missing": "drop"}, "leave out their rows"),
    Remedy({"missing": "state"}, "treat missing as a state"),
)


@dataclass(frozen=True)
class Decision:
    """What was made of a column, why, which keywords would make something else of it, and how its text is read."""

    name: str
    why: str
    overrule: tuple[str, ...] = ()
    left_out: bool = False
    variable: Column | None = field(default=None, compare=False, repr=False)
    reading: Reading | None = field(default=None, compare=False, repr=False)


Rule = Callable[[ColumnSummary, Options], Decision | None]


def decide(summary: ColumnSummary, options: Options, rules: Sequence[Rule] = ()) -> Decision:
    """Return what a column is, by all rules or by some."""
    found = next(decision for rule in rules or RULES if (decision := rule(summary, options)) is not None)
    reading = summary.reading
    if reading is None or found.left_out:
        return found
    return replace(found, why=", ".join(filter(None, [found.why, reading.told])), reading=reading)


# --------------------------------------------------------------------------------------------------------- the rules


def no_labels(column: ColumnSummary, options: Options) -> Decision | None:
    """Leave out a column of lists, bytes or other things that are no labels."""
    if not column.unusable:
        return None
    if column.name in options.said_of:
        raise no_labels_error(column.name, column.unusable)
    return Decision(column.name, f"{column.unusable}, which are no labels", left_out=True)


def as_asked(column: ColumnSummary, options: Options) -> Decision | None:
    """Follow what the caller says of the column by name."""
    name = column.name
    if name in options.order:
        return Decision(name, "states in the order asked for", variable=_ordered(column, options.order[name]))
    if name in options.categorical:
        return Decision(name, "as asked", variable=_states(column))
    if name in options.continuous or options.cuts_by_name(name):
        return Decision(name, "as asked", variable=Continuous(name, column.unit))
    return None


def as_declared(column: ColumnSummary, options: Options) -> Decision | None:  # noqa: ARG001
    """Follow what the source says: states, numbers, or dates."""
    if not column.declared or not (column.is_number or len(column.labels)):
        return None
    if not column.is_number:
        return Decision(column.name, "states that the data declare", variable=_states(column))
    return _numbers(column)


def empty(column: ColumnSummary, options: Options) -> Decision | None:  # noqa: ARG001
    """Leave out a column without a known cell."""
    if column.n_known:
        return None
    return Decision(column.name, "only missing cells", ("continuous",), left_out=True)


def identifier_of_text(column: ColumnSummary, options: Options) -> Decision | None:  # noqa: ARG001
    """Leave out text that tells the rows apart, as ids, names and titles do."""
    n_texts, n_known = len(column.labels), column.n_known
    if not column.are_texts:
        return None
    many = column.thinned or n_texts > MOST_TEXTS or (n_known >= LEAST_ROWS and 2 * n_texts > n_known)
    if not many and not (n_texts == n_known and (n_known >= LEAST_DIFFERENT or _is_named_one(column))):
        return None
    texts = f"over {MOST_LABELS:,} different texts" if column.thinned else several(n_texts, "different text")
    why = f"{texts} in {several(n_known, 'row')}: an identifier"
    return Decision(column.name, why, ("categorical",), left_out=True)


def identifier_of_numbers(column: ColumnSummary, options: Options) -> Decision | None:  # noqa: ARG001
    """Leave out whole numbers that count the rows, in any order, or that are many or all different and called an id.

    Years or days that count the rows are when these were seen, which others may depend on. A count or an index that
    comes again may be a number; an id that does tells subjects apart.
    """
    if not column.are_numbers or column.unit is not None or (column.numbers != np.rint(column.numbers)).any():
        return None
    if column.n_known >= LEAST_DIFFERENT and column.counts_rows() and not NAMED_TIME.fullmatch(column.name.strip()):
        why = "whole numbers that count the rows: an identifier"
    elif _is_named_one(column) and (column.thinned or 1 < len(column.labels) == column.n_known or _repeats_ids(column)):
        why = f"whole numbers, many of them different, in a column called {column.name!r}: an identifier"
    else:
        return None
    return Decision(column.name, why, ("continuous", "categorical"), left_out=True)


def states_of_text(column: ColumnSummary, options: Options) -> Decision | None:  # noqa: ARG001
    """Take text and truth values for states."""
    if column.are_numbers:
        return None
    variable = _states(column)
    kind = "truth values" if all(isinstance(state, bool) for state in variable.states) else "text"
    is_ordered = list(variable.states) != sorted(variable.states, key=str)
    kind, overrule = ("text, in the order of its words", "order") if is_ordered else (kind, "exclude")
    return Decision(column.name, _constant(variable, column) or kind, (overrule,), variable=variable)


def few_numbers(column: ColumnSummary, options: Options) -> Decision | None:  # noqa: ARG001
    """Take few different numbers for states: whole ones in several rows on average, others in several rows each."""
    if column.thinned or column.unit is not None or not np.isfinite(column.numbers).all():
        return None
    times = column.times_of_numbers
    whole = bool((column.numbers == np.rint(column.numbers)).all())
    if len(times) > (MOST_STATES if whole else MOST_FRACTIONS):
        return None
    if not (2 * len(times) <= column.n_known or len(times) <= 2 if whole else times.min(initial=2) > 1):
        return None
    variable = _states(column)
    kind = several(variable.cardinality, "whole number" if whole else "different number")
    return Decision(column.name, _constant(variable, column) or kind, ("continuous",), variable=variable)


def numbers(column: ColumnSummary, options: Options) -> Decision | None:  # noqa: ARG001
    """Take all other numbers as they are."""
    return _numbers(column)


RULES: tuple[Rule, ...] = (
    no_labels,
    as_asked,
    as_declared,
    empty,
    identifier_of_text,
    identifier_of_numbers,
    states_of_text,
    few_numbers,
    numbers,
)
OF_KEPT: tuple[Rule, ...] = (as_asked, as_declared, states_of_text, few_numbers, numbers)  # leave nothing out


def _is_named_one(column: ColumnSummary) -> bool:
    return re.fullmatch(f"{NAMED_ID}|{NAMED_ROW}", column.name.strip()) is not None


def _repeats_ids(column: ColumnSummary) -> bool:
    return len(column.labels) > MOST_STATES and re.fullmatch(NAMED_ID, column.name.strip()) is not None


def _constant(variable: Variable, column: ColumnSummary) -> str:
    if variable.cardinality > 1:
        return ""
    return f"one value in all rows{' that know it' if column.n_missing else ''}"


def _numbers(column: ColumnSummary) -> Decision:
    since = {"days": "dates, in days since 1970", "seconds": "dates, in seconds since 1970"}
    kind = "numbers" if column.unit is None else since.get(column.unit, "times, in seconds since midnight")
    return Decision(column.name, kind, ("bins", "categorical"), variable=Continuous(column.name, column.unit))


def _states(column: ColumnSummary) -> Variable:
    if column.declared and not column.is_number:
        return Variable(column.name, column.labels.tolist(), column.cuts, column.bounds, column.unit)
    if not column.n_known:
        raise _without_states([column.name])
    if column.are_texts and (own := own_order(column.labels.tolist())) is not None:
        return Variable(column.name, own)
    if column.reading is None or column.reading.is_plain or column.is_number:
        return Variable(column.name, sorted_states(column.typed_labels)[0])
    labels = zip(column.numbers.tolist(), column.labels.tolist(), strict=True)
    return Variable(column.name, [label for _, label in sorted(labels)])


def _ordered(column: ColumnSummary, words: Sequence[str]) -> Variable:
    """Return a variable whose states stand in an order that was asked for, whether all of them occur or not."""
    known = {as_text(label): label for label in column.typed_labels.tolist()}
    if lacking := sorted(known.keys() - set(words)):
        fact = f"column {column.name!r} also holds {listed(lacking)}; name all of its states"
        raise SchemaError(fact, parameter="order")
    others = dict(zip(words, typed(words).tolist(), strict=True))
    return Variable(column.name, [known.get(word, others[word] if not known else word) for word in words])


# ---------------------------------------------------------------------------------------------- all columns of a table


@dataclass(frozen=True)
class Decided:
    """What the columns of a table are.

    Attributes
    ----------
    decisions : tuple of Decision
        Of all columns, those that are left out too, in the order of the source.
    missing : dict
        The number of missing cells of each column that has some, by name, before rows are dropped.
    weight_factor : float
        By what weights are multiplied: survey weights add up to Kish's effective number of rows.
    """

    decisions: tuple[Decision, ...]
    missing: dict[str, int]
    weight_factor: float = 1.0

    @property
    def variables(self) -> tuple[Column, ...]:
        """The variables of the columns that are kept."""
        return tuple([decision.variable for decision in self.decisions if decision.variable is not None])


def decide_all(summary: TableSummary, options: Options) -> Decided:
    """Return what the columns are; what is left out by itself is told in a warning."""
    columns = [column if options.are_states(column.name) else column.as_read() for column in summary.columns]
    stateless = [c.name for c in columns if not (len(c.labels) or c.declared or c.name in options.continuous)]
    if not summary.n_rows and stateless:
        raise SchemaError(
            f"there is no row below the names {listed(column.name for column in columns)}, so the states of column "
            f"{stateless[0]!r} are unknown unless they are declared",
            parameter="schema",
        )
    decisions = [decide(column, options) for column in columns]
    if all(decision.left_out for decision in decisions):  # something is better than nothing
        decisions = [
            _numbers(column) if column.are_numbers and column.n_known else decision
            for column, decision in zip(columns, decisions, strict=True)
        ]
    empties = [d.name for d, c in zip(decisions, columns, strict=True) if d.left_out and not c.n_known]
    if empties and len(empties) == len(decisions) and summary.n_rows:
        unusable = [column for column in columns if column.unusable]
        raise no_labels_error(unusable[0].name, unusable[0].unusable) if unusable else _without_states(empties)
    _tell(columns, decisions, options)
    kept = {decision.name for decision in decisions if not decision.left_out}
    missing = {column.name: column.n_missing for column in columns if column.n_missing and column.name in kept}
    refuse_where_asked(missing, options)
    return Decided(tuple(decisions), missing, _weight_factor(summary.weights, options))


def decide_complete(decided: Decided, summary: TableSummary, options: Options) -> Decided:
    """Return what the columns that are kept are by the summary of their complete rows."""
    found, before = {}, {decision.name: decision for decision in decided.decisions}
    for column in summary.columns:
        if not column.n_known and not column.declared and column.name not in options.continuous:
            raise SchemaError(
                f"there is no row without a missing cell, so the states of column {column.name!r} are unknown unless "
                "they are declared",
                parameter="schema",
            )
        reading = before[column.name].reading
        found[column.name] = decide(replace(column.read_by(reading), reading=reading), options, OF_KEPT)
    return replace(decided, decisions=tuple([found.get(d.name, d) for d in decided.decisions]))


def column_places(names: Sequence[str], wanted: str | Iterable[str], decisions: Sequence[Decision]) -> Positions:
    """Return the positions of columns; SchemaError names an unknown one, and says why one was left out."""
    try:
        return positions(names, wanted, "column")
    except SchemaError:
        given = wanted if isinstance(wanted, Iterable) else ()
        asked = {wanted} if isinstance(wanted, str) else {name for name in given if isinstance(name, str)}
        for decision in decisions:
            if decision.left_out and decision.name in asked:
                keeping = [Remedy({keyword: [decision.name]}, "keep it") for keyword in decision.overrule[:1]]
                fact = f"column {decision.name!r} was left out: {decision.why}"
                raise SchemaError(fact, remedies=keeping) from None
        raise


def refuse_where_asked(missing: dict[str, int], options: Options) -> None:
    """Raise MissingValueError for missing cells, by column, where the options refuse them."""
    if missing and options.missing == "error":
        fact = f"there are missing cells in {counted(missing)}"
        raise MissingValueError(fact, counts=missing, parameter="missing", remedies=WAYS)


def with_missing_state(variable: Variable) -> Variable:
    """Return a variable with a state for missing cells."""
    states = (*variable.states, fresh_missing_state(variable.states))
    return Variable(variable.name, states, variable.cuts, variable.bounds, variable.unit)


def _weight_factor(weights: WeightSums | None, options: Options) -> float:
    if weights is None or not weights.total or (options.weight_kind or ("counts" if weights.whole else "")) == "counts":
        return 1.0
    return float(f"{weights.total / weights.squares:.12g}")  # so short that the order of summation does not show


def _without_states(names: Sequence[str]) -> SchemaError:
    return SchemaError(
        f"there are only missing cells in {listed(names)}, so no states can be found; declare its states, or leave it "
        "out",
        parameter="exclude",
    )


# ----------------------------------------------------------------------------------------------------- what is told


def _tell(columns: Sequence[ColumnSummary], decisions: Sequence[Decision], options: Options) -> None:
    """Warn of what was left out without having been asked, and of columns that may be meant otherwise."""
    for column, decision in zip(columns, decisions, strict=True):
        if column.reading is not None and not decision.left_out:
            _tell_of_reading(column.name, column.reading, options)
        if column.are_texts and len(column.labels) > MOST_STATES and column.name not in options.said_of:
            _warn_of_spoiled(column)
    numbers = [
        column
        for column, decision in zip(columns, decisions, strict=True)
        if decision.variable is not None and decision.variable.is_continuous and column.are_numbers
        if column.unit is None and (column.reading is None or column.reading.is_plain)
    ]
    _warn_of_far_numbers(numbers)
    out = [decision for decision in decisions if decision.left_out]
    unusable = {column.name: column.unusable for column in columns if column.unusable}
    if unusable:
        _warn_of_unusable(unusable)
    known = {column.name: column.n_known for column in columns}
    nothing = [decision.name for decision in out if not known[decision.name] and decision.name not in unusable]
    if nothing:
        message = f"{are(nothing, 'column')} left out: there are only missing cells"
        warn(message, parameter="exclude")
    identifiers = [decision for decision in out if known[decision.name]]
    if not identifiers:
        return
    names = [decision.name for decision in identifiers]
    holds, them = identifiers[0].why.rpartition(":")[0], "it" if len(names) == 1 else "them"
    what = f"{names[0]!r} is an identifier and is" if len(names) == 1 else f"{listed(names)} are identifiers and are"
    of_first = "" if len(names) == 1 else f"{names[0]!r} holds "
    keeping: dict[str, list[str]] = {}
    for decision in identifiers:
        keeping.setdefault(decision.overrule[0], []).append(decision.name)
    warn(
        f"{what} left out: {of_first}{holds}",
        parameter="categorical",
        remedies=(
            Remedy(keeping, f"keep {them}"),
            Remedy({"exclude": names}, "silence this warning"),
        ),
    )


def _warn_of_unusable(why: dict[str, str]) -> None:
    name, reason = next(iter(why.items()))
    more = f" ({are(list(why)[1:], 'column')} left out, too)" if len(why) > 1 else ""
    warn(
        f"column {name!r} holds {reason}, and is left out{more}: labels are text, numbers or truth values",
        parameter="exclude",
        remedies=[Remedy({"exclude": list(why)}, "silence this warning")],
    )


def _tell_of_reading(name: str, reading: Reading, options: Options) -> None:
    """Warn of slips, and where day and month cannot be told apart in any date of a column."""
    if reading.slips and name not in options.said_of:
        n = len(reading.slips)
        warn(
            f"column {name!r} holds {reading.form.holds}; {listed(reading.slips)} "
            f"{'is none and is' if n == 1 else 'are none and are'} taken for missing",
            parameter="categorical",
            remedies=[
                Remedy({"categorical": [name]}, "keep the column as text"),
                Remedy({"na_values": {name: list(reading.slips)}}, "silence this warning"),
            ],
        )
    if not reading.other:
        return
    warn(
        f"column {name!r} holds dates as {reading.example!r}, in which day and month cannot be told apart: they are "
        f"read {reading.form.order}",
        parameter="dates",
        remedies=[
            Remedy({"dates": reading.other}, "read them otherwise"),
            Remedy({"dates": reading.form.order}, "silence this warning"),
        ],
    )


def _warn_of_spoiled(column: ColumnSummary) -> None:
    """Warn where a column of text would be one of numbers or dates but for a few labels."""
    holds, strange = "numbers", np.flatnonzero(np.isnan(column.numbers))
    if len(strange) > MOST_SLIPS:
        form, places = spoiling(column.labels.tolist(), column.form)
        holds, strange = "numbers" if form is None else form.holds, np.array(places)
    name, labels = column.name, [column.labels[place] for place in strange.tolist()]
    if not 0 < len(labels) <= MOST_SLIPS or len(column.labels) - len(labels) <= MOST_STATES:
        return
    fact = f"it holds {holds}, and {listed(labels)} in {int(column.times[strange].sum()):,} of its cells"
    remedies = [Remedy({"categorical": [name]}, "keep the column as text without this warning")]
    # a limit, or a number, is no gap; what is no date can be nothing else
    if holds != "numbers" or not any(character.isdigit() for label in labels for character in label):
        remedies.insert(
            0, Remedy({"na_values": {name: labels}}, f"read {'it' if len(labels) == 1 else 'them'} as missing")
        )
    warn(f"column {name!r} is taken for text; {fact}", parameter="na_values", remedies=remedies)


def _warn_of_far_numbers(columns: Sequence[ColumnSummary]) -> None:
    """Warn of numbers that many cells hold and that lie further from all others than these lie apart."""
    found = {column.name: far for column in columns if (far := _far_numbers(column))}
    if not found:
        return
    first, n = next((name, times) for name, far in found.items() for times in [next(iter(far.values()))])
    word = next(iter(found[first]))
    others = list(found)[1:]
    have = "has" if len(others) == 1 else "have"
    more = f" ({listed(others)} {have} such a number, too)" if others else ""
    warn(
        f"column {first!r} holds {word} in {several(n, 'cell')}, far from all its other numbers{more}: this may be a "
        "code for missing cells",
        parameter="na_values",
        remedies=[
            Remedy({"na_values": {name: list(far) for name, far in found.items()}}, "read such cells as missing")
        ],
    )


@np.errstate(over="ignore")
def _far_numbers(column: ColumnSummary) -> dict[str, int]:
    """Return numbers far from all others that may be codes, as text, and how many cells hold each.

    Those are nines, eights or sevens alone, as 88 and 99, a negative number where no other is, and one off all scale.
    """
    values, times = np.unique(column.numbers), column.times_of_numbers
    if len(values) <= MOST_STATES or not np.isfinite(values[[0, -1]]).all():
        return {}
    least = max(LEAST_FAR, LEAST_PART_FAR * column.n_known)
    found = {}
    gap, width = values[1] - values[0], values[-1] - values[1]
    is_code = values[0] < 0 <= values[1] or _is_code(values[0]) or gap > VERY_FAR * width
    if is_code and gap > width and times[0] >= least:
        found[_as_written(values[0])] = int(times[0])
    for n in range(1, 3 if column.thinned else MOST_CODES + 1):  # of those that stand for others two counts are known
        gap, width = values[-n] - values[-n - 1], values[-n - 1] - values[0]
        are_codes = all(map(_is_code, values[-n:])) or (n == 1 and gap > VERY_FAR * width)
        if are_codes and gap > width and (times[-n:] >= least).all():
            found |= dict(zip(map(_as_written, values[-n:].tolist()), times[-n:].tolist(), strict=True))
    return found


def _is_code(number: float) -> bool:
    return CODE.fullmatch(f"{abs(number):.0f}") is not None


def _as_written(number: float) -> str:
    return repr(int(number)) if float(number).is_integer() and abs(number) < 2**53 else repr(float(number))
