"""What the hidden states of a `NumericHiddenMarkovModel` give: numbers, counts, labels."""

from fishernet.models.emissions.base import Emission
from fishernet.models.emissions.gaussian import GaussianEmission
from fishernet.models.emissions.labels import LabelEmission
from fishernet.models.emissions.poisson import PoissonEmission

EMISSIONS: dict[str, type[Emission]] = {
    kind.__name__: kind for kind in (GaussianEmission, PoissonEmission, LabelEmission)
}
"""The kinds that files know, by name."""

__all__ = ["EMISSIONS", "Emission", "GaussianEmission", "LabelEmission", "PoissonEmission"]
