"""A normal distribution or a mixture of some as fields of the model file, and back.

::

    "mean": 0.0, "sd": 1.0                                             of a Gaussian
    "weights": [0.5, 0.5], "means": [-1.0, 1.0], "sd": 1.0             of a mixture
"""

from __future__ import annotations

from fishernet.files.fields import Fields
from fishernet.models import Gaussian, GaussianMixture


def gaussian_fields(model: Gaussian) -> dict[str, object]:
    """Return a normal distribution as what `json` writes."""
    return {"mean": model.mean, "sd": model.sd}


def read_gaussian(fields: Fields) -> Gaussian:
    """Return the normal distribution that the fields describe."""
    return Gaussian(_number(fields, "mean"), _number(fields, "sd"))


def mixture_fields(model: GaussianMixture) -> dict[str, object]:
    """Return a mixture as what `json` writes."""
    return {"weights": model.weights.tolist(), "means": model.means.tolist(), "sd": model.sd}


def read_mixture(fields: Fields) -> GaussianMixture:
    """Return the mixture that the fields describe."""
    weights = fields.numbers(fields.items("weights"), "weights")
    means = fields.numbers(fields.items("means"), "means")
    return GaussianMixture(weights, means, _number(fields, "sd"))


def _number(fields: Fields, name: str) -> float:
    return float(fields.numbers([fields.take(name)], name)[0])
