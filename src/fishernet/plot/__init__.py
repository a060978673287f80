"""Pictures of graphs, probabilities, kernels, chosen rows, changes between tables, classifiers and learning.

Each takes what another part of the library gives, draws it on the axes it is given (``ax=``) or on a new figure, and
returns the axes. `theme` makes new figures light or dark; on given axes the colours go with their background.
`write` puts a picture into a file, and in SVG names and numbers appear where one points. Matplotlib draws, and is
imported when something is drawn: ``pip install "fishernet[plot]"`` brings it along.
"""

from fishernet.plot.changes import change, write_change
from fishernet.plot.chosen_rows import row_map, selection
from fishernet.plot.classifiers import calibration, roc
from fishernet.plot.courses import chains, em_progress, search
from fishernet.plot.differences import difference
from fishernet.plot.distances import distance_by_k
from fishernet.plot.drawing import graph, write_graph
from fishernet.plot.heat_map import clusters
from fishernet.plot.matrices import gram
from fishernet.plot.named_rows import influence, log_probability
from fishernet.plot.probabilities import conditional, marginals
from fishernet.plot.shares import drift
from fishernet.plot.style import theme
from fishernet.plot.tooltips import write

__all__ = [
    "calibration",
    "chains",
    "change",
    "clusters",
    "conditional",
    "difference",
    "distance_by_k",
    "drift",
    "em_progress",
    "gram",
    "graph",
    "influence",
    "log_probability",
    "marginals",
    "roc",
    "row_map",
    "search",
    "selection",
    "theme",
    "write",
    "write_change",
    "write_graph",
]


def __dir__() -> list[str]:
    return __all__
