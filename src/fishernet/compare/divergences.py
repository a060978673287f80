"""Divergences between distributions, given by the states that occur and how probable each is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeGuard

import numpy as np
import numpy.typing as npt

from fishernet.base import check
from fishernet.base.display import Brief
from fishernet.base.errors import FishernetError, SchemaError, StateSpaceError
from fishernet.base.names import a, listed, positions, shown
from fishernet.data import Table, Variable
from fishernet.data.matching import as_data, as_table, is_frame, is_table
from fishernet.data.variable import require_categorical
from fishernet.infer.factors import is_model, model_of
from fishernet.infer.pseudo_gibbs import Weights
from fishernet.models import Conditional, DependencyNetwork, LikelihoodModel

Array = npt.NDArray[np.float64]
Codes = npt.NDArray[np.int64]

MOST_CELLS = 2**26


@dataclass(frozen=True, slots=True, repr=False)
class Distribution(Brief):
    """A distribution by the states to which it gives a positive probability."""

    shape: tuple[int, ...]
    """The number of states of each variable."""
    codes: Codes
    """(n_states, n_variables) the states that occur, each once."""
    probabilities: Array
    """(n_states,) positive, summing to 1."""

    @classmethod
    def of(cls, p: Any, variables: Sequence[Variable] | None = None) -> Distribution:
        """Take an array with one axis a variable, the rows of a table or frame, or a Bayesian network.

        Tables and networks are brought into the order of `variables`, with their states; an array has it already.
        """
        if has_rows(p) or is_frame(p):
            return cls._of_table(as_data(p, "a divergence") if variables is None else as_table(p, variables))
        if has_joint(p):
            return cls._of_array(joint_array(p) if variables is None else _rearranged(p, variables))
        if is_model(p) and p.inference == "samples":
            raise SchemaError(
                "a dependency network has no joint distribution in closed form; pass fn.infer.stationary(dn)"
            )
        return cls._of_array(checked_array(p))

    @classmethod
    def _of_array(cls, p: Array) -> Distribution:
        where = np.nonzero(np.atleast_1d(p))[: p.ndim]
        codes = np.stack(where, axis=1) if p.ndim else np.zeros((1, 0))
        return cls(p.shape, codes.astype(np.int64), p[where] if p.ndim else np.ones(1))

    @classmethod
    def _of_table(cls, table: Table) -> Distribution:
        require_categorical(table.variables, "a divergence")
        table.require_complete("a divergence")
        shape = len(table.codes), table.n_rows
        codes = np.array([column.astype(np.int64) for column in table.codes], np.int64).reshape(shape).T
        weights = np.ones(table.n_rows) if table.weights is None else table.weights.astype(np.float64)
        occurs = weights > 0
        if not occurs.any():
            raise SchemaError("the table has no row of positive weight, so it is no distribution")
        kind, first = numbered(codes[occurs], table.cardinalities)
        sums = np.bincount(kind, weights=weights[occurs])
        return cls(table.cardinalities, codes[occurs][first], sums / sums.sum())

    def table(self, variables: Any) -> Table:
        """Return the states that occur as a table of a model's variables."""
        shape = tuple(variable.cardinality for variable in variables)
        if self.shape != shape:
            raise SchemaError(f"the distribution is over {self.shape} states, the model over {shape}")
        return Table.from_codes(self.codes, variables)

    def log_conditional(self, variable: int) -> Array:
        """Return log p(x_i | x_-i) at each state that occurs, (n_states,)."""
        rest = np.delete(self.codes, variable, axis=1)
        kind, _ = numbered(rest, [r for v, r in enumerate(self.shape) if v != variable])
        return np.log(self.probabilities) - np.log(np.bincount(kind, weights=self.probabilities))[kind]


def has_rows(p: Any) -> TypeGuard[Table]:
    """Whether a distribution is given by rows."""
    return is_table(p)


def has_joint(p: Any) -> TypeGuard[LikelihoodModel]:
    """Whether a distribution is given by a model with a likelihood."""
    return is_model(p) and p.likelihood == "exact"


def common_variables(p: Any, q: Any) -> Sequence[Variable] | None:
    """Return the variables to whose order two distributions are brought: the second's, or else the first's."""
    for one in (q, p):
        if has_joint(one) and one.graph is None:
            raise SchemaError(f"a divergence needs categorical variables; {a(one.kind)} has none")
        if has_rows(one) or is_model(one):
            return require_categorical(one.variables, "a divergence")
    return None


def known_tables(p: Any, q: Any) -> tuple[Any, Any]:
    """Return both with a data frame read as a table: by the variables of the other, where that has some."""
    if is_frame(q):
        q = as_table(q, p.variables) if has_rows(p) or is_model(p) else as_data(q, "a divergence")
    if is_frame(p):
        p = as_table(p, q.variables) if has_rows(q) or is_model(q) else as_data(p, "a divergence")
    return p, q


def _rearranged(model: LikelihoodModel, variables: Sequence[Variable]) -> Array:
    """Return a model's joint probabilities with its axes and states in another order."""
    names = [variable.name for variable in variables]
    own_names = [variable.name for variable in model.variables]
    if sorted(names) != sorted(own_names):
        raise SchemaError(f"the distributions are over {listed(own_names)} and over {listed(names)}")
    joint = joint_array(model).transpose([own_names.index(name) for name in names])
    for axis, variable in enumerate(variables):
        own: Any = model.variables[own_names.index(variable.name)]
        codes = [own.code(state) for state in variable.states]
        if own.cardinality != variable.cardinality or None in codes:
            raise SchemaError(f"the distributions give {variable.name!r} different states")
        joint = joint.take([code for code in codes if code is not None], axis=axis)
    return joint


def checked_array(p: Any) -> Array:
    """Return an array of probabilities; SchemaError when it is none, or does not sum to 1 within 1e-9."""
    try:
        array = np.asarray(p, dtype=np.float64)
    except (TypeError, ValueError):
        raise SchemaError(
            f"a distribution is an array with one axis per variable, a Table or a model with a likelihood, "
            f"not {type(p).__name__}"
        ) from None
    if not np.isfinite(array).all() or (array < 0).any() or abs(array.sum() - 1) > 1e-9:
        raise SchemaError(f"an array of probabilities must be non-negative and sum to 1; its sum is {array.sum():.12g}")
    return array


def joint_array(model: LikelihoodModel) -> Array:
    """Return the joint probabilities of all states of a model, one axis a variable; at most 2**26."""
    shape = tuple(variable.cardinality for variable in model.variables)
    cells = math.prod(shape)
    if cells > MOST_CELLS:
        raise StateSpaceError(
            "the joint distribution", cells=cells, limit=MOST_CELLS, remedy="compare on a table of samples"
        )
    if not model.conditionals:
        every = np.indices(shape).reshape(len(shape), -1).T
        return np.asarray(np.exp(model.log_prob(Table.from_codes(every, model.variables)))).reshape(shape)
    joint = np.ones(shape)
    for conditional in model.conditionals:
        joint *= on_axes(conditional, shape)
    return joint


def on_axes(conditional: Conditional, shape: Sequence[int]) -> Array:
    """Return the table of a conditional with one axis a variable of the model, of length 1 where it has no say."""
    axes = (*conditional.parents, conditional.child)
    sizes = [r if v in axes else 1 for v, r in enumerate(shape)]
    return conditional.table().transpose([axes.index(v) for v in sorted(axes)]).reshape(sizes)


def numbered(codes: Codes, cardinalities: Any) -> tuple[Codes, Codes]:
    """Return a number for each row, equal rows having equal ones, and the first row of each number."""
    keys = np.zeros(len(codes), dtype=np.int64)
    room = 1.0
    for column, r in zip(codes.T, cardinalities, strict=True):
        if room * r >= 2**62:  # before the keys overflow, they are replaced by their ranks
            keys = np.unique(keys, return_inverse=True)[1].ravel().astype(np.int64)
            room = float(len(codes))
        keys = keys * r + column
        room *= r
    _, first, kind = np.unique(keys, return_index=True, return_inverse=True)
    return kind.ravel().astype(np.int64), first.astype(np.int64)


def kl(p: Any, q: Any) -> float:
    """Return the Kullback-Leibler divergence ``sum p log(p / q)``.

    Parameters
    ----------
    p, q : array, Table, data frame or BayesianNetwork
        An array has one axis a variable; a table or frame stands for its empirical distribution. With a network on one
        side tables are matched to it by names and labels, and no array of all states is made for q.

    Returns
    -------
    float
        In nats; inf where p has states that q deems impossible.

    Raises
    ------
    SchemaError
        When one is no distribution, or they are over different variables.

    Examples
    --------
    >>> import fishernet as fn
    >>> round(fn.compare.kl([0.5, 0.5], [0.9, 0.1]), 4)
    0.5108
    """
    p, q = known_tables(p, q)
    variables = common_variables(p, q)
    of = Distribution.of(p, variables)
    return float(of.probabilities @ (np.log(of.probabilities) - _log_at(q, of, variables)))


def full_conditional_divergence(p: Any, q: Any, weights: Weights = None) -> float:
    """Return ``FC(p || q) = sum_i c_i <log p(x_i | x_-i) / q(x_i | x_-i)>`` under p [1]_.

    Parameters
    ----------
    p, q : array, Table or BayesianNetwork
        As for `kl`.
    weights : (n_variables,) array or mapping from name to number, optional
        The c_i, summing to 1; equal by default.

    Returns
    -------
    float
        In nats; 0 does not mean p = q where probabilities are 0.

    References
    ----------
    .. [1] K. Takabatake and S. Akaho, "Reconsidering dependency networks from an information geometry perspective",
       Eq. 13.

    Examples
    --------
    >>> import fishernet as fn
    >>> p, q = [[0.4, 0.1], [0.1, 0.4]], [[0.25, 0.25], [0.25, 0.25]]
    >>> round(fn.compare.full_conditional_divergence(p, q), 4)
    0.1927
    """
    p, q = known_tables(p, q)
    variables = common_variables(p, q)
    of = Distribution.of(p, variables)
    shares = checked_shares(weights, len(of.shape), variables)
    other = _log_conditionals_at(q, of, variables)
    total = 0.0
    for v, share in enumerate(shares):
        if share > 0:
            total += float(share * (of.probabilities @ (of.log_conditional(v) - other[:, v])))
    return total


def checked_shares(weights: Any, n: int, variables: Sequence[Variable] | None) -> Array:
    """Return one weight a variable, summing to 1; a mapping from names where the variables are known."""
    if weights is None:
        return np.full(n, 1 / n) if n else np.zeros(0)
    if isinstance(weights, Mapping):
        if variables is None:
            raise FishernetError("weights by name need distributions with names; give one number a variable")
        names = [variable.name for variable in variables]
        positions(names, weights)
        weights = [weights.get(name, 0.0) for name in names]
    array = check.numbers(weights, "weights")
    if array.shape != (n,) or not np.isfinite(array).all() or (array < 0).any() or abs(array.sum() - 1) > 1e-9:
        raise FishernetError(f"weights must be {n} non-negative numbers that sum to 1, got {shown(array)}")
    return array


def _log_at(q: Any, of: Distribution, variables: Sequence[Variable] | None) -> Array:
    """Return log q at the states of a distribution."""
    if has_joint(q):
        return q.log_prob(of.table(q.variables))
    with np.errstate(divide="ignore"):
        if has_rows(q):
            return np.log(_probabilities_at(_same_shape(Distribution.of(q, variables), of), of))
        return np.asarray(np.log(_same_shape(checked_array(q), of)[tuple(of.codes.T)]))


def _log_conditionals_at(q: Any, of: Distribution, variables: Sequence[Variable] | None) -> Array:
    """Return log q(x_i | x_-i) at the states of a distribution, (n_states, n_variables)."""
    n = len(of.shape)
    if has_joint(q) and q.inference != "factors":
        q = _rearranged(q, variables or require_categorical(q.variables, "a divergence"))
    if has_joint(q):
        return DependencyNetwork.from_joint(model_of(q), allow_zeros=True).log_prob_terms(of.table(q.variables))
    with np.errstate(divide="ignore", invalid="ignore"):
        if has_rows(q):
            other = _same_shape(Distribution.of(q, variables), of)
            at = _probabilities_at(other, of)
            rest = [_probabilities_at(other, of, without=v) for v in range(n)]
        else:
            array = _same_shape(checked_array(q), of)
            index = tuple(of.codes.T)
            at = array[index]
            rest = [np.broadcast_to(array.sum(axis=v, keepdims=True), array.shape)[index] for v in range(n)]
        columns = [np.where(at > 0, np.log(at) - np.log(total), -np.inf) for total in rest]
    return np.stack(columns, axis=1) if columns else np.zeros((len(at), 0))


def _probabilities_at(other: Distribution, of: Distribution, without: int | None = None) -> Array:
    """Return another distribution's probabilities at the states of one, of all variables or all but one."""
    kept = [v for v in range(len(of.shape)) if v != without]
    kind, _ = numbered(np.concatenate([of.codes, other.codes])[:, kept], [of.shape[v] for v in kept])
    sums = np.bincount(kind[len(of.codes) :], weights=other.probabilities, minlength=int(kind.max()) + 1)
    return np.asarray(sums[kind[: len(of.codes)]])


def _same_shape(q: Any, of: Distribution) -> Any:
    if tuple(q.shape) != of.shape:
        raise SchemaError(f"the distributions are over {of.shape} and {tuple(q.shape)} states")
    return q
