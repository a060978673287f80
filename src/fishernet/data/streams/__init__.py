"""Tables larger than memory: what they are read from, the encoded copy on the disk, and the table that looks at it."""

from fishernet.data.streams.scanning import scan
from fishernet.data.streams.stream import Stream

__all__ = ["Stream", "scan"]
