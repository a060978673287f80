"""Rows that lie in several places: tables in memory, and the workers of a cluster."""

from fishernet.data.parts.cluster import is_dask, of_dask
from fishernet.data.parts.parts import Parts

__all__ = ["Parts", "is_dask", "of_dask"]
