"""Models as products of factors: what inference asks of them, its limits, and the probabilities of configurations.

Inference knows variables, factors and conditionals, and no class of model: a model that has them can be asked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Literal, Protocol, TypeGuard, cast, runtime_checkable

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import SchemaError, StateSpaceError
from fishernet.base.names import shown
from fishernet.base.random import Seed, generator
from fishernet.base.vocabulary import GroupMethodName, word
from fishernet.data import Column, Table, Variable
from fishernet.infer.cutset import CutPlan, cut_plan

MAX_TABLE = 2**28  # cells: two gigabytes
MOST_CELLS = 2**31 - 1  # what the core can number
CELLS_AT_ONCE = 2**22  # of sampled rows: what a cache holds
FEWEST_ROWS = 2**13  # sampled at once: two blocks, for two threads
METHODS = ("auto", "tree", "elimination", "sample")

Array = npt.NDArray[np.float64]


Inference = Literal["factors", "normal", "mixed", "samples", "none"]


@runtime_checkable
class Asked(Protocol):
    """What inference asks of every model, to know what it is: see `fishernet.models.Model`."""

    @property
    def variables(self) -> Sequence[Column]:
        """The variables."""

    @property
    def inference(self) -> Inference:
        """What it is here: "factors", a `Model`; "normal", a `Normal`; "mixed", a `MixedNetwork`; or "samples"."""

    @property
    def likelihood(self) -> str:
        """Where it is "exact", a model that is made of factors is a `Network`."""


class Model(Asked, Protocol):
    """A distribution proportional to a product of factors: a Bayesian or a Markov network."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables."""

    @property
    def names(self) -> tuple[str, ...]:
        """Their names."""

    @property
    def factors(self) -> _core.Factors:
        """The factors, as the core multiplies them."""

    @property
    def scopes(self) -> tuple[tuple[int, ...], ...]:
        """The positions of each factor's axes."""

    @property
    def is_normalized(self) -> bool:
        """Whether the product sums to 1."""

    def factor_tables(self) -> Sequence[tuple[tuple[int, ...], Array]]:
        """Return the positions of each factor's axes, and its values."""


class GroupedConditional(Protocol):
    """What is asked of P(child given the group of its parents' configuration)."""

    @property
    def parents(self) -> tuple[int, ...]:
        """Positions of the parents."""

    @property
    def probabilities(self) -> Array:
        """(groups, states)."""

    def sum_by_group(self, of_configurations: Array) -> Array:
        """Return the sum over each group of one number per configuration, the last parent fastest."""

    def table(self) -> Array:
        """Return the probabilities, one axis per parent and the child's last."""

    def add_to_sampler(self, sampler: _core.GibbsSampler) -> None:
        """Add it to what updates variables in the core."""


class Network(Model, Protocol):
    """A product of conditionals without cycles: a Bayesian network."""

    @property
    def conditionals(self) -> Sequence[GroupedConditional]:
        """One per variable."""

    @property
    def flat(self) -> _core.Conditionals:
        """The conditionals, as the core looks them up."""

    def sample(self, n: int, *, seed: Seed = None) -> Table:
        """Draw rows."""

    def probabilities_given_rest(self, rows: Table, target: int) -> Array:
        """Return the probabilities of one variable's states given all the others, (n_rows, r)."""

    def intervened(self, values: Mapping[int, Any]) -> Any:
        """Return the network in which variables (by position) are set from outside."""


def is_model(given: object) -> TypeGuard[Asked]:
    """Whether a caller gave a model, where data may be given as well."""
    return isinstance(given, Asked)


def inference_of(model: Any) -> Inference:
    """Return how a model answers questions."""
    known: Inference = model.inference
    return known


def model_of(model: object) -> Model:
    """Return a model that is a product of factors; SchemaError when it is none."""
    _refuse_numbers(model)
    if inference_of(model) != "factors":
        raise SchemaError(
            f"exact inference needs a BayesianNetwork or a MarkovNetwork, not {type(model).__name__}; "
            "a DependencyNetwork has fn.infer.stationary, or samples"
        )
    return cast(Model, model)


def _refuse_numbers(model: object) -> None:
    if inference_of(model) in ("normal", "mixed"):
        first = next(variable.name for variable in cast(Asked, model).variables if variable.is_continuous)
        raise SchemaError(
            f"{first!r} is continuous, and this needs categorical variables; for numbers net.query, "
            "infer.most_probable, infer.log_evidence and infer.sample have exact answers, and net.predict gives means"
        )


def network_of(model: object) -> Network:
    """Return a model as a Bayesian network; SchemaError when it is none."""
    _refuse_numbers(model)
    if inference_of(model) != "factors" or cast(Asked, model).likelihood != "exact":
        raise SchemaError(f"a BayesianNetwork is needed, not {type(model).__name__}")
    return cast(Network, model)


def checked_limit(max_table: object) -> int:
    """Return a limit of cells, which must be a positive integer."""
    return min(check.integer(max_table, "max_table", least=1, note="a number of cells"), MOST_CELLS)


LESS = (
    "raise the limit (8 bytes per cell), give more evidence, or estimate it from rows (fn.infer.estimate, of "
    "Bayesian networks)"
)


def check_held(cells: float, max_table: float, what: str, remedy: str = LESS) -> None:
    """Raise StateSpaceError when a plan would hold more cells than allowed; nothing has been allocated yet.

    A plan that was given up tells of the table at which it was.
    """
    if cells > max_table:
        raise StateSpaceError(
            what,
            cells=int(min(cells, 1e300)),
            limit=int(max_table),
            remedy=remedy,
            parameter="max_table",
        )


def planned(
    model: Model, observed: list[int], soft: list[int], targets: list[list[int]], limit: int, *, tree: bool = False
) -> _core.Inference:
    """Return a plan that fits within the limit: a junction tree, or an elimination for each target."""
    limit = checked_limit(limit)
    plan = _core.Inference(model.factors, observed, soft, targets, tree, limit)
    check_held(plan.cells_held, limit, "the junction tree's tables" if tree else "a table of the elimination")
    return plan


def planned_or_cut(
    model: Model, observed: list[int], soft: list[int], targets: list[list[int]], limit: int, *, tree: bool = False
) -> _core.Inference | CutPlan:
    """Return the same, or where nothing fits a plan by the cases of some variables."""
    try:
        return planned(model, observed, soft, targets, limit, tree=tree)
    except StateSpaceError:
        found = cut_plan(model, observed, soft, targets, checked_limit(limit), tree=tree)
        if found is None:
            raise
        return found


def parent_marginals(net: Model, *, method: GroupMethodName = "auto", max_table: int = MAX_TABLE) -> list[Array]:
    """Return P(parents) of every variable, flat, the last parent fastest; by the cheapest exact plan.

    StateSpaceError when more than `max_table` cells would be held at once.
    """
    plan = _core.FamilyPlan(net.factors, [], [], method, max_table)
    check_held(plan.cells_held, max_table, "the tables for the probabilities of the parents")
    return plan.run(np.zeros(len(net.variables), dtype=np.int32), [])


def group_probabilities(
    net: Network,
    *,
    method: GroupMethodName = "auto",
    n_samples: int = 1_000_000,
    max_table: int = MAX_TABLE,
    seed: Seed = None,
) -> list[Array]:
    """Return the probability of every group of every conditional.

    Parameters
    ----------
    net : BayesianNetwork
    method : {"auto", "tree", "elimination", "sample"}
        One junction tree, one elimination a family in its ancestral graph, or sampled rows. "auto" takes the cheapest
        exact plan (also a mixture of trees and eliminations) while its tables fit, and samples otherwise.
    n_samples : int
        Rows to sample, where that is done.
    max_table : int
        How many cells (8 bytes each) the tables of an exact plan held at once may have.
    seed : None, int or numpy.random.Generator
        For the sampling.

    Returns
    -------
    list of (groups,) arrays, one per variable
        Exact ones sum to 1. Sampled ones are ``(count + 1) / (n_samples + groups)``, so that none is 0 [1]_.

    Raises
    ------
    StateSpaceError
        When "tree" or "elimination" was asked for and its tables do not fit.
    SchemaError
        When the method is none of these, or the number of samples is not positive.

    References
    ----------
    .. [1] J. Leppä-aho, T. Silander and T. Roos, "Bayesian network Fisher kernel for categorical feature spaces",
       Behaviormetrika 47, 2020, section 7.1.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> fn.infer.group_probabilities(asia)[asia.names.index("dysp")].round(4)
    array([0.0359, 0.4141, 0.029 , 0.521 ])
    """
    net = network_of(net)
    limit = checked_limit(max_table)
    method = word(method, "method", METHODS, error=SchemaError)
    if isinstance(n_samples, bool) or not isinstance(n_samples, int | np.integer) or n_samples < 1:
        raise SchemaError(f"n_samples must be a positive integer, got {shown(n_samples)}")
    if method != "sample":
        try:
            of_parents = parent_marginals(net, method=method, max_table=limit)
            return [c.sum_by_group(p) for c, p in zip(net.conditionals, of_parents, strict=True)]
        except StateSpaceError:
            if method != "auto":
                raise
    return _sampled(net, int(n_samples), seed)


def _sampled(net: Network, n_samples: int, seed: Seed) -> list[Array]:
    """Return the groups' shares of sampled rows with a count of one added to every group."""
    random = generator(seed)
    counts = np.zeros(sum(c.probabilities.size for c in net.conditionals))
    at_once = max(FEWEST_ROWS, CELLS_AT_ONCE // max(1, len(net.variables)))
    for first in range(0, n_samples, at_once):
        rows = net.sample(min(at_once, n_samples - first), seed=random)
        counts += net.flat.cells(rows.native).counts(None)
    shares = []
    first = 0
    for conditional in net.conditionals:
        shape = conditional.probabilities.shape
        of_groups = counts[first : first + math.prod(shape)].reshape(shape).sum(axis=1)
        shares.append((of_groups + 1) / (n_samples + len(of_groups)))
        first += math.prod(shape)
    return shares
