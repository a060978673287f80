"""Dependency networks (Heckerman et al., 2000): conditionals given some of the other variables, cycles allowed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
import numpy.typing as npt

from fishernet import _core
from fishernet.base import check
from fishernet.base.errors import SchemaError
from fishernet.base.names import listed
from fishernet.base.random import Seed, draw_count
from fishernet.base.vocabulary import ScanName
from fishernet.data import Table
from fishernet.data.variable import Column, State
from fishernet.graphs import DirectedGraph
from fishernet.infer.factors import Model, inference_of
from fishernet.infer.pseudo_gibbs import Scan, Start, Weights, draw_rows, native_sampler
from fishernet.models.conditionals.base import Conditional
from fishernet.models.conditionals.product import full_conditionals
from fishernet.models.network import Network, conditionals_from_tables

REMEDY = "the chain may not be ergodic; fit with positive probabilities, or pass allow_zeros=True"


class DependencyNetwork(Network):
    """A dependency network over categorical variables; immutable.

    Made by `fishernet.learn.dependency_network`, `DependencyNetwork.from_tables` and `DependencyNetwork.from_joint`.
    Its distribution is the stationary distribution of pseudo-Gibbs sampling, which has no closed form:
    `fishernet.infer.stationary` computes it for small networks, `sample` draws from it.

    Parameters
    ----------
    variables : sequence of Variable
        Names are unique.
    conditionals : sequence of Conditional
        One per variable, in the same order; their parents are its inputs.
    n_rows : int, optional
        The number of rows it was fitted on.
    allow_zeros : bool
        Take probabilities of zero, under which the chain may not be ergodic.

    Raises
    ------
    SchemaError
        When variables and conditionals do not fit.
    ZeroProbabilityError
        When a probability is zero and that is not allowed.

    Examples
    --------
    >>> import fishernet as fn
    >>> a, b = fn.Variable("a", ["no", "yes"]), fn.Variable("b", ["no", "yes"])
    >>> copy = [[0.9, 0.1], [0.1, 0.9]]
    >>> dn = fn.DependencyNetwork.from_tables([a, b], {"a": ["b"], "b": ["a"]}, {"a": copy, "b": copy})
    >>> dn
    DependencyNetwork(2 variables, 2 arcs, 4 parameters)
    >>> dn.sample(3, seed=1).n_rows
    3
    """

    __slots__ = ("_sampler", "allow_zeros")

    allow_zeros: bool
    """Whether probabilities may be zero."""

    def __init__(
        self,
        variables: Sequence[Column],
        conditionals: Sequence[Conditional],
        *,
        n_rows: float | None = None,
        allow_zeros: bool = False,
    ) -> None:
        super().__init__(variables, conditionals, n_rows=n_rows)
        self._set(allow_zeros=check.flag(allow_zeros, "allow_zeros"))
        self._sampler: _core.GibbsSampler | None = None
        numbers = [variable.name for variable in variables if variable.is_continuous]
        if numbers:
            raise SchemaError(
                f"a dependency network needs categorical variables, and {listed(numbers)} is continuous; bins=4 cuts "
                "its column into states"
            )
        if not allow_zeros:
            for conditional in conditionals:
                conditional.refuse_zeros(REMEDY)

    @classmethod
    def from_tables(
        cls,
        variables: Sequence[Column],
        inputs: Mapping[str, Iterable[str]],
        tables: Mapping[str, npt.ArrayLike],
        *,
        tolerance: float = 1e-9,
        allow_zeros: bool = False,
    ) -> Self:
        """Make a network of its tables; arguments are those of `BayesianNetwork.from_tables`, with inputs for parents.

        Parameters
        ----------
        variables : sequence of Variable
        inputs : mapping from name to names
        tables : mapping from name to array [input 1, ..., input m, state]
        tolerance : float
        allow_zeros : bool
            Take probabilities of zero, under which the chain may not be ergodic.

        Raises
        ------
        SchemaError
            When names or shapes do not fit, or numbers are no probabilities.
        ZeroProbabilityError
            When a probability is zero and that is not allowed.
        """
        conditionals = conditionals_from_tables(variables, inputs, tables, tolerance=tolerance, called="inputs")
        return cls(variables, conditionals, allow_zeros=allow_zeros)

    @classmethod
    def from_joint(cls, model: Model, *, allow_zeros: bool = False) -> Self:
        """Return the full conditionals of a joint distribution, whose pseudo-Gibbs sampling is actual Gibbs sampling.

        Each is the product of the factors that touch a variable; no table over a Markov blanket is made.

        Parameters
        ----------
        model : BayesianNetwork or MarkovNetwork
        allow_zeros : bool
            Take factors with zeros, under which the chain may not be ergodic.

        Raises
        ------
        ZeroProbabilityError
            When a factor has a zero and that is not allowed.

        Examples
        --------
        >>> import fishernet as fn
        >>> asia = fn.datasets.load("asia")
        >>> dn = fn.DependencyNetwork.from_joint(asia, allow_zeros=True)
        >>> [asia.names[v] for v in dn.inputs[asia.names.index("smoke")]]
        ['lung', 'bronc']
        """
        if inference_of(model) != "factors":
            raise SchemaError(
                f"from_joint needs a categorical BayesianNetwork or a MarkovNetwork, not {type(model).__name__}"
            )
        conditionals = full_conditionals(model.variables, model.factor_tables())
        return cls(model.variables, conditionals, allow_zeros=allow_zeros)

    kind: ClassVar[str] = "dependency network"
    """What it is called."""
    likelihood: ClassVar[Literal["pseudo"]] = "pseudo"
    """It has a pseudo-likelihood alone."""
    inference: ClassVar[Literal["samples"]] = "samples"
    """Questions are answered by pseudo-Gibbs sampling."""

    @property
    def graph(self) -> DirectedGraph:
        """The graph, in which arcs run from inputs; it may have cycles."""
        return DirectedGraph(self.names, self.inputs)

    @property
    def inputs(self) -> tuple[tuple[int, ...], ...]:
        """The positions of each variable's inputs, in the order of the axes of its conditional."""
        return tuple(conditional.parents for conditional in self.conditionals)

    def pseudo_log_likelihood(self, table: Any) -> npt.NDArray[np.float64]:
        """Return the sum over the variables of the log-probability of each row's cell given its inputs.

        Besag's pseudo-log-likelihood; Takabatake and Akaho (2021, Eq. 14) average over the variables instead.

        Returns
        -------
        (n_rows,) float64
            In nats; -inf where a cell is impossible.
        """
        return np.asarray(self.log_prob_terms(table).sum(axis=1))

    def sample(
        self,
        n: int,
        *,
        scan: ScanName = "random",
        given: Mapping[str, State] | None = None,
        weights: Weights = None,
        chains: int = 1,
        burn_in: int | None = None,
        thin: int | None = None,
        start: Start = None,
        seed: Seed = None,
    ) -> Table:
        """Draw rows by pseudo-Gibbs sampling [1]_.

        A row is written, then `thin` variables are updated (redrawn from their conditionals), then the next row is
        written. ``burn_in=0, thin=1`` gives every state of the chain.

        Parameters
        ----------
        n : int
            How many rows, of all chains together.
        scan : {"random", "ordered"}
            Whether the next variable is drawn, or they take turns in their order.
        given : mapping from name to state, optional
            Variables that are clamped: they keep their states and are not updated.
        weights : (n_variables,) array or mapping from name to number, optional
            How probable each variable is to be updated next in a random scan; they sum to 1. Default: equally.
            Those of clamped variables go to the others in proportion.
        chains : int
            Rows come chain after chain. A chain depends on the seed and its number, not on the threads.
        burn_in : int, optional
            Updates before the first row of a chain: n_variables, or 100 n_variables with several chains.
        thin : int, optional
            Updates between two rows: n_variables.
        start : mapping from name to state, or Table, optional
            Where the chains begin: one row for all, or one each. Variables not given there start at random.
        seed : None, int or numpy.random.Generator

        Returns
        -------
        Table
            n rows, neither independent nor exactly from the stationary distribution. Thresholds are held in 32 bits.

        Raises
        ------
        FishernetError
            When a number is out of range, weights are no probabilities, or every variable is clamped.
        SchemaError, UnknownStateError
            When a name or a state is not the network's.

        References
        ----------
        .. [1] K. Takabatake and S. Akaho, "Reconsidering dependency networks from an information geometry
           perspective", 2021, Algorithms 1 to 3.
        """
        rows = draw_count(n, least=1)
        plan = Scan.of(self.variables, scan, given, weights)
        how: dict[str, Any] = {"chains": chains, "burn_in": burn_in, "thin": thin, "start": start, "seed": seed}
        return draw_rows(self.variables, self.sampler, rows, plan, **how)

    @property
    def sampler(self) -> _core.GibbsSampler:
        """The conditionals as the core updates variables by them; made once."""
        if self._sampler is None:
            self._sampler = native_sampler(self.variables, self.conditionals)
        return self._sampler

    def _options(self) -> dict[str, Any]:
        return {**super()._options(), "allow_zeros": self.allow_zeros}
