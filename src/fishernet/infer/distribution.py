"""Answers to queries with their labels: tables of probabilities, and normal distributions of numbers."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from fishernet.base.display import Framed, brief
from fishernet.base.errors import SchemaError
from fishernet.base.names import cut, listed, positions, several
from fishernet.data import Continuous, Variable
from fishernet.data.frames.answering import cells_frame
from fishernet.data.given import code_of
from fishernet.data.matching import Data
from fishernet.data.variable import State
from fishernet.infer.beside import LONGEST, Beside, lines_of, title

Array = npt.NDArray[np.float64]
Label = State | tuple[State, ...]


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class Distribution(Framed):
    """The joint probabilities of some variables, given what is known; made by ``net.query``.

    It is read by labels: ``d["yes"]`` of one variable, ``d["yes", "no"]`` of two. NumPy takes it as its array.

    Examples
    --------
    >>> import fishernet as fn
    >>> asia = fn.datasets.load("asia")
    >>> d = asia.query("lung", given={"xray": "yes"})
    >>> d
    Distribution(lung | xray = 'yes': 'yes' 0.488711, 'no' 0.511289)
    >>> print(d)
    P(lung | xray = 'yes')
    lung  probability
    yes   0.488711
    no    0.511289
    >>> round(d["yes"], 4), d.most_probable
    (0.4887, 'no')
    >>> round(asia.query(["lung", "bronc"])["yes", "no"], 4)
    0.0235
    """

    variables: tuple[Variable, ...]
    """The variables, in the order of the axes."""
    array: Array
    """The probabilities, one axis per variable and one place per state; they sum to 1."""
    given: Mapping[str, State] = field(default_factory=dict)
    """The states that were given, by name."""
    standard_errors: Array | None = None
    """Of the same shape: the Monte Carlo error of each probability; None where they are exact."""
    n_rows: int | None = None
    """The number of rows that were drawn; None where the probabilities are exact."""
    seed: int | None = None
    """The seed that gives the same numbers again; None where they are exact."""
    known: tuple[Variable, ...] = ()
    """The variables whose states were given."""
    soft: tuple[str, ...] = ()
    """The names of the variables of which soft evidence was given."""

    def __post_init__(self) -> None:
        for array in (self.array, self.standard_errors):
            if array is not None:
                array.flags.writeable = False

    @property
    def names(self) -> tuple[str, ...]:
        """The variables' names."""
        return tuple(variable.name for variable in self.variables)

    def __getitem__(self, labels: Label) -> float:
        """Return the probability of a label, or of one label per variable; they are looked up as what is given."""
        said = labels if isinstance(labels, tuple) else (labels,)
        if len(said) != len(self.variables):
            raise SchemaError(
                f"the distribution is of {listed(self.names)}: {several(len(self.variables), 'label')} are needed, one "
                f"per variable in this order, not {several(len(said), 'label')}"
            )
        return float(self.array[tuple(code_of(*pair) for pair in zip(self.variables, said, strict=True))])

    def __iter__(self) -> Iterator[Label]:
        """Yield the labels, as tuples where there are several variables; the last runs fastest."""
        every = itertools.product(*(variable.states for variable in self.variables))
        return (labels[0] for labels in every) if len(self.variables) == 1 else every

    def __len__(self) -> int:
        """Return the number of probabilities."""
        return int(self.array.size)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """Return the array, for NumPy."""
        return np.array(self.array, dtype=dtype, copy=True) if copy else np.asarray(self.array, dtype=dtype)

    @property
    def most_probable(self) -> Label:
        """The label of the largest probability, a tuple where there are several variables; of equal ones the first."""
        places = np.unravel_index(int(np.argmax(self.array)), self.array.shape)
        labels = tuple(variable.states[code] for variable, code in zip(self.variables, places, strict=True))
        return labels[0] if len(labels) == 1 else labels

    def to_dict(self) -> dict[Label, float]:
        """Return the probability of each label, or of each tuple of labels, one per variable."""
        return dict(zip(self, self.array.ravel().tolist(), strict=True))

    def beside(self, table: Data) -> Beside:
        """Return the answer beside a table's own shares, with a mark where the two disagree.

        The rows that count are those with the states that were given and without a missing cell in what was given or
        asked for, by their weights.

        Parameters
        ----------
        table : Table or data frame
            Columns are found by name and labels by value; only those of what was asked and given are needed. Of a model
            that was set by intervention (``net.do``, `intervene`) rows that were only seen show something else.

        Raises
        ------
        SchemaError
            When a column lacks, or soft evidence was given, which no row shows.

        Examples
        --------
        >>> import fishernet as fn
        >>> asia = fn.datasets.load("asia")
        >>> other = fn.Table.from_frame({"smoke": ["yes"] * 90 + ["no"] * 10})
        >>> print(asia.query("smoke").beside(other))
        P(smoke), beside 100 of 100 rows
        smoke  probability  share of rows
        yes    0.5          0.9 *
        no     0.5          0.1 *
        * the rows disagree: were the probability right, a share so far from it came in 1 of 1,000 tables at most
        """
        if self.soft:
            raise SchemaError(f"the answer has soft evidence of {listed(self.soft)}, which no row shows; give states")
        return Beside.of(self.variables, self.array, self.known, self.given, table)

    def to_frame(self) -> pa.Table:
        """Return one row per probability: the labels, ``probability`` and, where it was sampled, ``standard_error``."""
        errors = {} if self.standard_errors is None else {"standard_error": self.standard_errors}
        return cells_frame(self.variables, probability=self.array, **errors)

    def __repr__(self) -> str:
        if len(self.variables) == 1:
            pairs = itertools.islice(self.to_dict().items(), 6)
            shown = ", ".join(f"{cut(repr(label), LONGEST)} {p:.6g}" for label, p in pairs)
            shown += f", ... {len(self):,} states" if len(self) > 6 else ""
        else:
            shown = several(len(self), "cell")
        return f"Distribution({title(self.names, self.given)}: {shown})"

    def __str__(self) -> str:
        columns = [self.array.ravel()]
        if self.standard_errors is not None:
            columns.append(self.standard_errors.ravel())
        header = [*self.names, "probability", *(["standard error"] * (len(columns) - 1))]
        labels = itertools.product(*(variable.states for variable in self.variables))
        rows = (
            [*(cut(str(label), LONGEST) for label in of), *(f"{column[row]:.6g}" for column in columns)]
            for row, of in enumerate(labels)
        )
        return lines_of(f"P({title(self.names, self.given)})", header, rows, len(self))


@dataclass(frozen=True, eq=False, slots=True, repr=False)
class NormalDistribution(Framed):
    """The joint normal distribution of some numbers, given what is known; made by ``net.query``.

    Examples
    --------
    >>> import fishernet as fn
    >>> net = fn.GaussianMarkovNetwork(["a", "b", "c"], [0, 0, 0], [[2, -1, 0], [-1, 2, -1], [0, -1, 2]])
    >>> d = net.query(["b", "c"], given={"a": 3.0})
    >>> d.mean, d.sd.round(3)
    (array([2., 1.]), array([0.816, 0.816]))
    >>> print(d)
    P(b, c | a = 3.0)
    name  mean  sd
    b     2     0.816497
    c     1     0.816497
    >>> d["c"].covariance.round(3)
    array([[0.667]])
    """

    variables: tuple[Continuous, ...]
    """The variables."""
    mean: Array
    """(d,) the mean, which is also the most probable point."""
    covariance: Array
    """(d, d) the covariance; 0 for what is given."""
    given: Mapping[str, State] = field(default_factory=dict)
    """The numbers that were given, by name."""

    def __post_init__(self) -> None:
        for array in (self.mean, self.covariance):
            array.flags.writeable = False

    @property
    def components(self) -> tuple[Array, Array, Array]:
        """The weight of its only component, (1,), the mean, (1, d), and the covariance, (1, d, d)."""
        return np.ones(1), self.mean[None], self.covariance[None]

    @property
    def names(self) -> tuple[str, ...]:
        """The variables' names."""
        return tuple(variable.name for variable in self.variables)

    @property
    def sd(self) -> Array:
        """(d,) the standard deviations."""
        return np.sqrt(np.diagonal(self.covariance))

    def __getitem__(self, names: str | tuple[str, ...]) -> NormalDistribution:
        """Return the distribution of one of the variables, or of some: ``d["x"]``, ``d["x", "y"]``."""
        at = list(positions(self.names, names))
        variables = tuple(self.variables[v] for v in at)
        return NormalDistribution(variables, self.mean[at], self.covariance[np.ix_(at, at)], self.given)

    def __iter__(self) -> Iterator[str]:
        """Yield the names."""
        return iter(self.names)

    def __len__(self) -> int:
        """Return the number of variables."""
        return len(self.variables)

    @property
    def most_probable(self) -> dict[str, float]:
        """The most probable number of each variable, by name: its mean."""
        return self.to_dict()

    def to_dict(self) -> dict[str, float]:
        """Return the mean of each variable, by name."""
        return dict(zip(self.names, self.mean.tolist(), strict=True))

    def to_frame(self) -> pa.Table:
        """Return one row per variable: ``name``, ``mean`` and ``sd``."""
        return pa.table({"name": pa.array(self.names, pa.string()), "mean": self.mean, "sd": self.sd})

    def __repr__(self) -> str:
        pairs = zip(self.mean[:6].tolist(), self.sd[:6].tolist(), strict=True)
        shown = ", ".join(f"{brief(mean)} +- {brief(sd)}" for mean, sd in pairs)
        more = ", ..." if len(self) > 6 else ""
        return f"NormalDistribution({title(self.names, self.given)}: {shown}{more})"

    def __str__(self) -> str:
        numbers = zip(self.names, self.mean.tolist(), self.sd.tolist(), strict=True)
        rows = ([cut(name, LONGEST), f"{mean:.6g}", f"{sd:.6g}"] for name, mean, sd in numbers)
        return lines_of(f"P({title(self.names, self.given)})", ("name", "mean", "sd"), rows, len(self))
