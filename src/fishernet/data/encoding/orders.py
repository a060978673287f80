"""The orders that the words of a column have: sizes, scales of questionnaires, months, ranges, numbered names.

Text sorts by letters, which puts ``high`` before ``low`` and ``10-19`` before ``5-9``. Where all labels of a column are
words of one scale, ranges of numbers, one word with different numbers (Roman ones, too), or marks as ``B+``, they have
an order of their own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

SCALES = """
xxxs | 3xs < xxs | 2xs < xs < s < m < l < xl < xxl | 2xl < xxxl | 3xl
extra small | very small | tiny < small < medium | middle | mid-size | midsize < large | big < extra large |
    very large | huge
lowest | very low | vlow | extremely low < low | lower < medium | med | moderate | mid | middle | normal |
    average | intermediate < high | higher < very high | vhigh | extremely high | highest
strongly disagree | completely disagree | disagree strongly | totally disagree < disagree | mostly disagree <
    somewhat disagree | slightly disagree | disagree somewhat | rather disagree < neutral | neither | neither agree
    nor disagree | undecided < somewhat agree | slightly agree | agree somewhat | rather agree < agree | mostly
    agree < strongly agree | completely agree | agree strongly | totally agree
never < almost never | hardly ever | very rarely < rarely | seldom < sometimes | occasionally < often |
    frequently | usually < almost always | very often | very frequently < always
terrible | awful | very poor | very bad | unacc | unacceptable < poor | bad < fair | ok | okay | acceptable |
    acc | average | regular < good < very good | vgood < excellent | outstanding
very dissatisfied | very unsatisfied < dissatisfied | unsatisfied < neutral | neither < satisfied < very
    satisfied
very unlikely < unlikely < neutral | neither | possible | possibly < likely < very likely
very discontent < discontent < neutral | neither < content < very content
none | absent | no < minimal | trivial | very mild | slight < mild | some < moderate < severe | marked <
    very severe | extreme
not at all | none < a little | slightly | a little bit | little < somewhat | moderately | some < quite a bit |
    quite | much | freq | frequent < very | very much | a lot < extremely
much worse < worse < same | unchanged | no change | about the same < better < much better
decreased | decreasing | down | falling < stable | steady | unchanged | same | no < increased | increasing | up
    | rising
primary < secondary < tertiary
january | jan < february | feb < march | mar < april | apr < may < june | jun < july | jul < august | aug <
    september | sept | sep < october | oct < november | nov < december | dec
monday | mon < tuesday | tues | tue < wednesday | wed < thursday | thurs | thur | thu < friday | fri < saturday
    | sat < sunday | sun
spring < summer < autumn | fall < winter
first | 1st < second | 2nd < third | 3rd < fourth | 4th < fifth | 5th < sixth | 6th < seventh | 7th < eighth |
    8th
morning < noon | midday < afternoon < evening < night
"""  # one a line, from the least to the most; words with a bar between them mean the same


def _ranks(scale: str) -> dict[str, int]:
    """Return the place of each word on a scale."""
    places = enumerate(scale.split("<"))
    return {" ".join(word.split()): place for place, words in places for word in words.split("|")}


RANKS = tuple(_ranks(scale) for scale in re.sub(r"\n +", " ", SCALES.strip()).split("\n"))
NUMBER = r"[0-9]+(?:[.,][0-9]+)*"
BETWEEN = re.compile(
    rf"[\[(]?\s*(-?{NUMBER})\s*(?:[-\u2013\u2014,;]|\.\.|to|and)\s*(-?{NUMBER})\s*[\])]?", re.IGNORECASE
)
BELOW = re.compile(rf"(<=?|≤|under|below|less than|up to|until|at most)\s*(-?{NUMBER})", re.IGNORECASE)
ABOVE = re.compile(rf"(>=?|≥|over|above|more than|at least|from)\s*(-?{NUMBER})", re.IGNORECASE)
AND_MORE = re.compile(
    rf"(-?{NUMBER})\s*(?:\+|and over|and above|and more|or more|or over|and older|or older)", re.IGNORECASE
)
AND_LESS = re.compile(rf"(-?{NUMBER})\s*(?:and under|and below|or less|or under|or fewer|and younger)", re.IGNORECASE)
ALONE = re.compile(rf"-?{NUMBER}")
NUMBERED = re.compile(r"(\D*?)([0-9]+(?:\.[0-9]+)?)((?:[^0-9.,].*)?)")
ORDINAL = re.compile("(?:st|nd|rd|th)(?![a-z])")
ROMANS = ("I", "II", "III", "IV", "V", "VI", "VII", "VIII", "IX", "X", "XI", "XII", "XIII", "XIV", "XV")
ROMAN = re.compile(r"(|.*[\s_.-])([IVX]+)([A-Da-d]?)")
MARK = re.compile(r"([A-F])(\1{0,2})([+\u2212-]?)")
SIGNS = {"+": 0, "": 1, "-": 2, "\u2212": 2}
LEAST_NUMBERED = 3  # names with numbers, from which on letters put some of them in a wrong order


def own_order(labels: Sequence[str]) -> list[str] | None:
    """Return texts in the order of their own; None where they have none."""
    if len(labels) < 2:
        return None
    ways = (_on_a_scale, _as_ranges, _as_numbered, _as_romans, _as_marks)
    places: Any = next(filter(None, (way(labels) for way in ways)), None)
    return None if places is None else [label for _, label in sorted(zip(places, labels, strict=True))]


def _on_a_scale(labels: Sequence[str]) -> list[int] | None:
    """Return the place of each word on a scale that has all of them, each in a place of its own."""
    words = [" ".join(label.lower().replace("_", " ").split()) for label in labels]
    for ranks in RANKS:
        if all(word in ranks for word in words):
            places = [ranks[word] for word in words]
            return places if len(set(places)) == len(places) else None
    return None


def _as_ranges(labels: Sequence[str]) -> list[tuple[float, float]] | None:
    """Return the ends of ranges of numbers; of labels that are single numbers alone, None."""
    ends = []
    for label in labels:
        pair = _ends(label.strip())
        if pair is None:
            return None
        ends.append(pair)
    return None if all(low == high for low, high in ends) or len(set(ends)) < len(ends) else ends


def _ends(label: str) -> tuple[float, float] | None:
    if found := BETWEEN.fullmatch(label):
        low, high = _number(found[1]), _number(found[2])
        return (low, high) if low <= high else None
    if found := BELOW.fullmatch(label):
        return (-math.inf, _number(found[2]))
    if found := ABOVE.fullmatch(label):
        return (_number(found[2]), math.inf)
    if found := AND_MORE.fullmatch(label):
        return (_number(found[1]), math.inf)
    if found := AND_LESS.fullmatch(label):
        return (-math.inf, _number(found[1]))
    return (_number(label), _number(label)) if ALONE.fullmatch(label) else None


def _number(text: str) -> float:
    """Return a number of a range, commas in which stand between thousands."""
    plain = text.replace(",", "")
    return float(plain) if plain.count(".") < 2 else math.nan


def _as_numbered(labels: Sequence[str]) -> list[float] | None:
    """Return the numbers of labels that are one word with different numbers, as ``grade 9``, or ``9th``, ``10th``."""
    around, numbers = set(), []
    for label in labels:
        match = NUMBERED.fullmatch(label)
        if match is None:
            return None
        around.add((match[1], ORDINAL.sub("th", match[3], count=1) if match[3][:1] in "snrt" else match[3]))
        numbers.append(float(match[2]))
    one_word = len(around) == 1 and around != {("", "")}
    return numbers if one_word and LEAST_NUMBERED <= len(set(numbers)) == len(labels) else None


def _as_romans(labels: Sequence[str]) -> list[tuple[int, str]] | None:
    """Return the numbers of Roman numerals behind one word, I among them, as ``Stage IIIA`` and ``Stage IV``."""
    found = [match for label in labels if (match := ROMAN.fullmatch(label.strip())) and match[2] in ROMANS]
    places = [(1 + ROMANS.index(match[2]), match[3].upper()) for match in found]
    if len(found) < len(labels) or len({match[1] for match in found}) > 1 or len(set(places)) < len(labels):
        return None
    numbers = {number for number, _ in places}
    return places if min(numbers) == 1 and len(numbers) >= LEAST_NUMBERED else None


def _as_marks(labels: Sequence[str]) -> list[tuple[str, int, int]] | None:
    """Return the places of marks and ratings, the best first: ``A+`` before ``A``, ``AAA`` before ``AA-``."""
    found = [match for label in labels if (match := MARK.fullmatch(label.strip()))]
    places = [(match[1], -len(match[2]), SIGNS[match[3]]) for match in found]
    if len(found) < len(labels) or len(set(places)) < len(labels) or set(labels) <= set("ABCDEF"):
        return None  # letters alone may be names
    return places
