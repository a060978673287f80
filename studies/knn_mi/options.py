"""How much is computed: the quick form, the one of the report, and the full one."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from studies import command_line
from studies.knn_mi.methods import LOCAL, METHODS
from studies.knn_mi.recovery import Limit, Plan
from studies.knn_mi.truths import NOISES, Nonparanormal, SevenNodes

SIZES = (125, 250, 500, 1_000, 2_000)
PUBLISHED = tuple(method for method in METHODS if method != LOCAL)
FORMS = ("quick", "usual", "full")
REPETITIONS = {"quick": 2, "usual": 5, "full": 25}


@dataclass(frozen=True)
class Options(command_line.Options):
    """What to compute."""

    repetitions: int = REPETITIONS["usual"]
    """Data sets of seven nodes; of the larger networks there are fewer, except in the full form."""

    @property
    def fewer(self) -> int:
        """Data sets of the larger networks."""
        return self.repetitions if self.form == "full" else max(1, self.repetitions // 2)

    @property
    def small(self) -> Plan:
        """The network of seven nodes."""
        truths = tuple(SevenNodes(linear, noise) for linear in (True, False) for noise in NOISES)
        sizes = SIZES[:2] if self.form == "quick" else SIZES
        limits = {"quick": {"KCIT": Limit(125, 1), LOCAL: Limit(0, 0)}, "usual": {"KCIT": Limit(500, 3)}, "full": {}}
        if self.form == "usual":
            limits["usual"][LOCAL] = Limit(500, self.repetitions)
        return Plan(truths, sizes, self.repetitions, tuple(METHODS), limits[self.form])

    @property
    def large(self) -> Plan:
        """Three copies of the non-linear network."""
        truths = tuple(SevenNodes(False, noise, copies=3) for noise in NOISES)
        sizes = {"quick": SIZES[:1], "usual": SIZES[:3], "full": SIZES}[self.form]
        return Plan(truths, sizes, self.fewer, PUBLISHED, self._limits)

    @property
    def nonparanormal(self) -> Plan:
        """Nonparanormal networks of ten and of twenty nodes."""
        sizes = {"quick": SIZES[:1], "usual": SIZES[:4], "full": SIZES}[self.form]
        return Plan((Nonparanormal(10), Nonparanormal(20)), sizes, self.fewer, PUBLISHED, self._limits)

    @property
    def _limits(self) -> Mapping[str, Limit]:
        """Of networks of some twenty nodes."""
        none = Limit(0, 0)
        return {
            "quick": {"KCIT": none, "RCIT": none},
            "usual": {"KCIT": Limit(250, 1), "RCIT": Limit(500, 2)},
            "full": {"KCIT": Limit(1_000, 5)},
        }[self.form]

    @property
    def tests(self) -> int:
        """How many tests a share of rejections is of."""
        return {"quick": 50, "usual": 400, "full": 2_000}[self.form]

    @property
    def test_sizes(self) -> tuple[int, ...]:
        """The rows they are on."""
        return {"quick": (125,), "usual": (125, 500), "full": (125, 500, 1_000)}[self.form]
