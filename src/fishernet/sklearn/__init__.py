"""Estimators for scikit-learn, over the same functions as everything else.

Nothing imports this package but who asks: ``import fishernet.sklearn``. It needs scikit-learn 1.6 or later, which
``pip install "fishernet[sklearn]"`` brings along.
"""

try:
    from fishernet.sklearn.classifier import BayesianNetworkClassifier
    from fishernet.sklearn.density import BayesianNetworkDensity
    from fishernet.sklearn.drift import BayesianNetworkDriftDetector
    from fishernet.sklearn.features import FisherFeatures
    from fishernet.sklearn.outliers import BayesianNetworkOutlierDetector
    from fishernet.sklearn.regressor import BayesianNetworkRegressor
    from fishernet.sklearn.strings import (
        HmmFisherFeatures,
        KernelTransformer,
        MarkovFisherFeatures,
        ModelFisherFeatures,
    )
except ImportError as error:
    if (error.name or "").partition(".")[0] != "sklearn":
        raise
    raise ImportError(
        'fishernet.sklearn needs scikit-learn 1.6 or later; pip install "fishernet[sklearn]" installs it',
        name=error.name,
    ) from error

__all__ = [
    "BayesianNetworkClassifier",
    "BayesianNetworkDensity",
    "BayesianNetworkDriftDetector",
    "BayesianNetworkOutlierDetector",
    "BayesianNetworkRegressor",
    "FisherFeatures",
    "HmmFisherFeatures",
    "KernelTransformer",
    "MarkovFisherFeatures",
    "ModelFisherFeatures",
]


def __dir__() -> list[str]:
    return __all__
