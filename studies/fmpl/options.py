"""How much is computed: the quick form, the one of the report, and the full one."""

from __future__ import annotations

from dataclasses import dataclass

from studies import command_line

SIZES = (125, 250, 500, 1_000, 2_000, 4_000)
VARIABLES = (64, 128, 256, 512, 1_024)
FORMS = ("quick", "usual", "full")
REPETITIONS = {"quick": 3, "usual": 25, "full": 25}
LARGEST_OF_ALL = 128
"""Of more variables there are fewer data sets."""
FEW = 5

PENALIZED = {"glasso": {512: 0, 1_024: 0}, "NBS": {512: 2, 1_024: 1}}
"""On how many data sets a size a method with an L1 penalty runs, by the number of variables, where not on all."""


@dataclass(frozen=True)
class Options(command_line.Options):
    """What to compute; `repetitions` are of up to `LARGEST_OF_ALL` variables."""

    @property
    def variables(self) -> tuple[int, ...]:
        """The numbers of variables."""
        return VARIABLES[:1] if self.form == "quick" else VARIABLES

    @property
    def sizes(self) -> tuple[int, ...]:
        """The numbers of rows."""
        return SIZES[1:4:2] if self.form == "quick" else SIZES

    def data_sets(self, d: int, method: str) -> int:
        """Return on how many data sets of d variables a method runs, of each size."""
        there = self.repetitions if d <= LARGEST_OF_ALL else min(FEW, self.repetitions)
        if self.form == "full" or method not in ("glasso", "NBS", "SPACE"):
            return there
        if self.form == "quick":
            return min(1, there)
        return min(there, PENALIZED.get(method, {}).get(d, there))

    @property
    def splits(self) -> int:
        """Into how many training and test halves a table is split, for prediction."""
        return 2 if self.form == "quick" else 10
