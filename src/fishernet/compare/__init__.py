"""How two tables differ."""

from fishernet.compare.mmd import mmd

__all__ = ["mmd"]
