"""Names and labels that say the same in other signs: where a model comes back from a program that knows words only.

Other programs write ``Age (years)`` as ``Age_years``, and the states ``<= 34.5`` and ``1`` as ``le_34_5`` and ``q1`` or
as text. A column or a label that a model does not know by its own name stands for the one name that says the same
(`fishernet.base.spoken`), and only where

- the name is not there exactly, nor does the model know the column or the label exactly;
- no other name and no other column or label, of those left over, says the same.

States that are bins say where numbers are cut, ``le_34, gt_34_le_50, gt_50`` at 34 and 50, where that is certain: each
bin begins where the one below it ends, and no number could be read in two ways.

This is decided here for all that meets a model: tables, frames, files, evidence.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from fishernet.base.errors import SchemaError, warn
from fishernet.base.names import listed
from fishernet.base.spoken import spoken
from fishernet.data.variable import MISSING, Column, State, Variable

MOST_TOLD = 6  # names, or labels, in a note
MOST_STRANGE = 2**12  # labels of a column that a variable lacks; with more, nothing says the same

NUMBER = "[+-]?(?:[0-9]+(?:[.][0-9]*)?|[.][0-9]+)(?:[eE][+-]?[0-9]+)?"
WORD = "(?:minus_)?[0-9]+(?:_[0-9]+)?"
BINS = (  # as we write them, and as words
    re.compile(rf"<= *(?P<high>{NUMBER})|> *(?P<low>{NUMBER})|\( *(?P<begin>{NUMBER}), *(?P<end>{NUMBER})\]"),
    re.compile(rf"le_(?P<high>{WORD})|gt_(?P<low>{WORD})|gt_(?P<begin>{WORD})_le_(?P<end>{WORD})"),
)

UNSAID = r"[#*^~]|[+](?!\w)(?<![0-9][+])|-(?![\w.])"  # signs that words lack, and that tell ``A+`` from ``A-``
BETWEEN_DIGITS = re.compile(r"(?<=[0-9])\s*([^\w\s]+)\s*(?=[0-9])")

Codes = Mapping[State, int]  # of labels that a variable has in other signs


# ------------------------------------------------------------------------------------------------- names, and labels


def said(label: object) -> frozenset[str]:
    """Return the words that say a name or a label; none where it holds neither letters nor digits, or a lost sign."""
    texts = [str(label)]
    if isinstance(label, str) and re.search(UNSAID, label):
        return frozenset()
    if isinstance(label, float) and label.is_integer():
        texts.append(repr(int(label)))
    elif isinstance(label, int) and not isinstance(label, bool):
        texts.append(f"{label}.0")
    if not isinstance(label, str) and "e" in texts[0] and not isinstance(label, bool):
        return frozenset()  # the sign of an exponent is not said
    return frozenset([spoken(text.replace("_", " ")) for text in texts if any(map(str.isalnum, text))])


def pairs_alike(there: Sequence[State], wanted: Sequence[State]) -> list[tuple[int, int]]:
    """Return the places of the pairs of which each says what the other says, and what no other says."""
    sides = [[said(label) for label in labels] for labels in (there, wanted)]
    bearers: list[dict[str, list[int]]] = [{}, {}]
    for words_of, side in zip(bearers, sides, strict=True):
        for place, words in enumerate(side):
            for word in words:
                words_of.setdefault(word, []).append(place)
    found = []
    for place, words in enumerate(sides[0]):
        others = {other for word in words for other in bearers[1].get(word, ())}
        if len(others) == 1:
            [other] = others
            alone = {one for word in sides[1][other] for one in bearers[0].get(word, ())} == {place}
            if alone and not _clash(there[place], wanted[other]):
                found.append((place, other))
    return found


def _clash(one: State, other: State) -> bool:
    """Whether two labels show different signs between digits, as ``1-2`` and ``1.2`` do; ``1_2`` shows none."""
    first, second = (BETWEEN_DIGITS.findall(str(label).replace("_", " ")) for label in (one, other))
    return bool(first and second) and first != second


def columns_alike(there: Sequence[str], wanted: Iterable[str]) -> dict[str, str]:
    """Return the names of columns that stand for wanted ones that are not there: the wanted name of each."""
    asked = list(wanted)
    known, needed = set(there), set(asked)
    lacking = [name for name in asked if name not in known]
    if not lacking:
        return {}
    others = [name for name in there if name not in needed]
    return {others[one]: lacking[other] for one, other in pairs_alike(others, lacking)}


def several_say(there: Iterable[str], wanted: Collection[str], lacking: str) -> str:
    """Return the end of a message on a name that is not there: which columns say the same, where that helps."""
    words = said(lacking)
    alike = [name for name in there if name not in wanted and words & said(name)]
    return f"; {listed(alike)} say the same, so that neither is taken" if len(alike) > 1 else ""


def states_alike(variable: Variable, labels: Collection[State], taken: Collection[int] = ()) -> dict[State, int]:
    """Return the codes of labels that a variable lacks, where one state, not yet taken by another, says the same."""
    if not labels or len(labels) > MOST_STRANGE:
        return {}
    free = [code for code in range(variable.cardinality) if code not in taken]
    strange = list(labels)
    pairs = pairs_alike(strange, [variable.states[code] for code in free])
    return {strange[one]: free[other] for one, other in pairs}


def states_alike_of(have: Variable, want: Variable) -> dict[State, int]:
    """Return the codes of the states of one variable that another has in other signs."""
    codes = {state: want.code(state) for state in have.states}
    strange = [state for state, code in codes.items() if code is None]
    return states_alike(want, strange, {code for code in codes.values() if code is not None})


def places_alike(have: Sequence[Column], want: Sequence[Column]) -> list[int]:
    """Return the place of each wanted variable's column, and tell what was taken by what it says; SchemaError."""
    names, asked = [variable.name for variable in have], [variable.name for variable in want]
    columns = columns_alike(names, asked)
    where = {columns.get(name, name): place for place, name in enumerate(names)}
    absent = [name for name in asked if name not in where]
    if absent:
        more = several_say(names, asked, absent[0])
        raise SchemaError(f"the table lacks the column {listed(absent)}; it has {listed(names)}{more}")
    labels, cut = {}, []
    for own, other in ((have[where[variable.name]], variable) for variable in want):
        if own == other or other.is_continuous:
            continue
        if own.is_continuous:
            cut += [binned] if other.cuts is None and (binned := with_cuts(other)).cuts is not None else []
        else:
            labels[other.name] = {one: other.states[code] for one, code in states_alike_of(own, other).items()}
    tell(columns, labels, cut)
    return [where[name] for name in asked]


# -------------------------------------------------------------------------------------------------------------- bins


def with_cuts(variable: Column) -> Column:
    """Return a variable with the cuts that its states say, in the order of its bins; as it is where they say none.

    Where it has some, or is one of numbers, it is returned as it is. The codes of the result are those of other places:
    `places_of` says of which.
    """
    if variable.is_continuous or variable.cuts is not None or len(variable.states) < 2:
        return variable
    missing = [state for state in variable.states if isinstance(state, str) and state.rstrip("_") == MISSING]
    states = [state for state in variable.states if state not in missing[-1:]]
    bins = _bins(states)
    if bins is None:
        return variable
    begins_at = [-math.inf if low is None else low for low, _ in bins]
    order = sorted(range(len(states)), key=begins_at.__getitem__)
    cuts = [bins[place][1] for place in order[:-1]]
    begins = [bins[place][0] for place in order[1:]]
    ends = bins[order[0]][0] is None and bins[order[-1]][1] is None
    if not ends or cuts != begins or None in cuts or any(low >= high for low, high in pairwise(cuts)):  # type: ignore[operator]
        return variable
    return Variable(variable.name, [*(states[place] for place in order), *missing[-1:]], cuts)  # type: ignore[arg-type]


def places_of(cut: Column, variable: Variable) -> list[int]:
    """Return the code that each state of `with_cuts` has in the variable, and that of a missing cell."""
    codes = {state: code for code, state in enumerate(variable.states)}
    return [*(codes[state] for state in cut.states), variable.cardinality]


def _bins(states: Sequence[State]) -> list[tuple[float | None, float | None]] | None:
    """Return where the bins begin and end that states say; None where one says none, or not for certain."""
    for pattern in BINS:
        words = pattern is not BINS[0]
        texts = [str(state).replace("_", " ").strip() for state in states]
        fitting = (pattern.fullmatch(spoken(text) if words else text) for text in texts)
        matches = list(itertools.takewhile(lambda match: match is not None, fitting))  # mostly the first fits none
        if len(matches) == len(texts):
            ends = [(m["low"] or m["begin"], m["high"] or m["end"]) for m in matches if m]
            if words and not _are_certain([end for pair in ends for end in pair if end]):
                return None
            return [(_number(low), _number(high)) for low, high in ends]
    return None


def _are_certain(words: Sequence[str]) -> bool:
    """Whether ``12_345`` is a number with a fraction: three digits behind could be thousands, but for ``0_125``."""
    parts = [word.removeprefix("minus_").split("_") for word in words]
    broken = [part for part in parts if len(part) == 2]
    return not broken or any(len(part[1]) != 3 or len(part[0]) > 3 or part[0] == "0" for part in broken)


def _number(word: str | None) -> float | None:
    if word is None:
        return None
    sign = -1.0 if word.startswith("minus_") else 1.0
    return sign * float(word.removeprefix("minus_").replace("_", ".")) + 0.0


# ------------------------------------------------------------------------------------------------------------- notes


def tell(columns: Mapping[str, str], labels: Mapping[str, Mapping[State, State]], cut: Sequence[Column]) -> None:
    """Warn of what was taken for what says the same: columns by their names, labels and cuts by their variables."""
    notes = []
    if columns:
        notes.append(f"the column {_pairs(columns)}")
    notes += [f"the label of {name!r} {_pairs(pairs)}" for name, pairs in labels.items() if pairs]
    told = [f"{'; '.join(notes)}: it says the same"] if notes else []
    for variable in cut:
        points = ", ".join(f"{point:g}" for point in variable.cuts or ())
        told.append(f"numbers of {variable.name!r} are cut at {points}, as its states say")
    if told:
        warn(f"taken by what it says: {'; '.join(told)}")


def _pairs(pairs: Mapping[Any, Any]) -> str:
    texts = [f"{one!r} for {other!r}" for one, other in pairs.items()]
    more = f" and {len(texts) - MOST_TOLD} more" if len(texts) > MOST_TOLD else ""
    return ", ".join(texts[:MOST_TOLD]) + more
