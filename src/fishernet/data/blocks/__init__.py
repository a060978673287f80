"""Rows that lie in several blocks: tables in memory, what threads or processes hold, and the workers of a cluster."""

from fishernet.data.blocks.blocks import Blocks
from fishernet.data.blocks.dask import is_dask, of_dask, of_delayed
from fishernet.data.blocks.passes import blocks_of, neighbours
from fishernet.data.blocks.workers import Workers, is_client, places_of

__all__ = ["Blocks", "Workers", "blocks_of", "is_client", "is_dask", "neighbours", "of_dask", "of_delayed", "places_of"]
