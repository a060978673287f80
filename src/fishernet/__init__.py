"""fishernet: learn how the variables of a table depend on one another, and use what was learned as a kernel."""

from fishernet import counts, errors, graphs, learn, models, scores
from fishernet.errors import (
    ConvergenceError,
    CycleError,
    FileFormatError,
    FishernetError,
    FishernetWarning,
    MissingValueError,
    SchemaError,
    StateSpaceError,
    UnknownStateError,
    ZeroProbabilityError,
)
from fishernet.graphs import Cpdag, Dag, UndirectedGraph, hamming, shd
from fishernet.models import BayesianNetwork
from fishernet.scores import local_score, score
from fishernet.table import Table, Variable
from fishernet.threads import set_threads
