"""Rows that lie in several places: tables in memory, and the workers of a cluster."""

from fishernet.data.parts.cluster import Workers, is_dask, neighbours, of_dask, of_delayed
from fishernet.data.parts.parts import Parts

__all__ = ["Parts", "Workers", "is_dask", "neighbours", "of_dask", "of_delayed"]
