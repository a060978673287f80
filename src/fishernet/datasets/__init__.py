"""Small real tables and networks that come with the library; ``ATTRIBUTION.md`` beside them says whose they are."""

from fishernet.datasets.shipped import load, names

__all__ = ["load", "names"]


def __dir__() -> list[str]:
    return __all__
