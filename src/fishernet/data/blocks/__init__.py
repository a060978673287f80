"""Rows that lie in several blocks: tables in memory, what threads or processes hold, and the workers of a cluster."""

from fishernet.data.blocks.blocks import Blocks
from fishernet.data.blocks.dask import is_dask, of_dask
from fishernet.data.blocks.passes import blocks_of, neighbours
from fishernet.data.blocks.workers import places_of

__all__ = ["Blocks", "blocks_of", "is_dask", "neighbours", "of_dask", "places_of"]
