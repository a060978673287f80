"""What a network is asked, so that it can be differentiated: a function of the log-probabilities of some rows.

``log P(x | g)`` is the log-probability of the row that knows x and g, less that of the row that knows g alone. An
expected number, odds and a mutual information are functions of such rows, too. By Fisher's identity the derivative of a
row's log-probability by a parameter is the expected score of the row given what it knows, so every answer has a
derivative as soon as rows that lack cells have expected scores.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fishernet.base.errors import SchemaError, ZeroProbabilityError
from fishernet.base.names import cut, listed, positions
from fishernet.data import State, Table
from fishernet.data.given import code_of, value_given
from fishernet.data.matching import listed_items
from fishernet.data.variable import Column
from fishernet.infer.conditioned import limits_of, shares_within
from fishernet.infer.evidence import as_mapping
from fishernet.models.model import is_directed

Numbers = npt.NDArray[np.float64]
Weigh = Callable[[Numbers], tuple[float, Numbers]]

NODES, MOST_NODES = 400, 2000  # of the integral of a number around one normal component, and around all
REACH = 8.0  # standard deviations around each normal component that it goes
MOST_SAID = 6  # of what is given, in words
MOST_WAYS = 256  # rows that one case with several states may be
MOST_CELLS = 2**14  # of the joint states of two variables


@dataclass(frozen=True, eq=False)
class Answer:
    """An answer of a network, as a function of the log-probabilities of rows."""

    said: str
    """What it is, in words."""
    rows: Any
    """Rows of the network's variables, most of whose cells may be missing; or strings."""
    weigh: Weigh
    """What makes of their log-probabilities the answer, and its derivative by each, (n_rows,)."""
    odds: Callable[[], Answer] | None = None
    """Makes the log odds whose sign says what is most probable, where there are some."""
    children: tuple[int, ...] | None = None
    """The variables whose conditionals are asked, of a dependency network; None: the joint distribution is."""

    def of(self, net: Any) -> float:
        """Return the answer of a network of these variables."""
        return self.weigh(self._logs(net))[0]

    def weights(self, net: Any) -> Numbers:
        """Return the derivative of the answer by the log-probability of each of its rows."""
        value, weights = self.weigh(self._logs(net))
        if not math.isfinite(value):
            raise ZeroProbabilityError(
                f"{self.said} has probability 0 under the model, and no derivative; fit it with smoothing above 0",
                variable="",
                configuration={},
                parameter="smoothing",
            )
        return weights

    def _logs(self, net: Any) -> Numbers:
        if self.children is None:
            return log_prob_of(net, self.rows)
        return np.asarray(np.sum([net.conditionals[v].log_prob(self.rows) for v in self.children], axis=0))


def log_prob_of(net: Any, rows: Any) -> Numbers:
    """Return the log-probability of what each row knows, or of each string; of a row that knows nothing 0."""
    return np.asarray(net.log_prob(rows), dtype=np.float64)


def answer_of(net: Any, query: Any, state: Any, given: Any, log_prob: Any) -> Answer:
    """Return what `fishernet.explain.rows` is asked for as an answer; SchemaError for what is none."""
    if net.values == "symbols":
        return _of_strings(query, state, given, log_prob)
    known = _known(net, as_mapping(given, "given"))
    if not is_directed(net):
        return _of_conditionals(net, query, state, known, log_prob)
    if log_prob is not None:
        if query is not None or state is not None or known:
            raise SchemaError("log_prob asks for whole rows; it goes without query, state and given")
        return _of_rows(net, log_prob)
    if query is None:
        if state is not None or not known:
            raise SchemaError(
                "name what is asked for: query and state, or log_prob, or given alone for its probability"
            )
        return _differences(net, f"log P({_said(known)})", known, None)
    names = [query] if isinstance(query, str) else list(query)
    asked = [net.variables[v] for v in positions(net.names, names)]
    if again := [variable.name for variable in asked if variable.name in known]:
        raise SchemaError(f"{listed(again)} is both asked for and given", parameter="given")
    if state is None:
        if len(asked) == 2:
            return _information(net, asked[0], asked[1], known)
        if len(asked) > 1:
            raise SchemaError(f"state must name a state of each of {listed(names)}", parameter="state")
        if asked[0].is_continuous:
            return _expected_number(net, asked[0], known)
        return _of_state(net, asked, [_most_probable(net, asked[0], known)], known)
    if isinstance(query, str) and isinstance(state, tuple | list):
        return _odds(net, asked[0], state, known)
    states = [state] if isinstance(query, str) else list(state)
    if len(states) != len(asked):
        raise SchemaError(f"there are {len(asked)} variables and {len(states)} states", parameter="state")
    return _of_state(net, asked, states, known)


def _known(net: Any, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known: states and numbers, or several states with the share of each; a range is of such."""
    places = positions(net.names, given)
    return {net.names[v]: _one(net.variables[v], value) for v, value in zip(places, given.values(), strict=True)}


def _one(variable: Column, value: Any) -> Any:
    if not isinstance(value, tuple | list | set | frozenset):
        return value_given(variable, value, parameter="given")
    if variable.is_continuous:
        what = f"{variable.name!r} is a number, and answers under a range of it have no rows; give one number"
        raise SchemaError(what, parameter="given")
    if isinstance(value, tuple):
        shares = shares_within(variable, *limits_of(variable, value))
    else:
        shares = np.zeros(variable.cardinality)
        shares[[code_of(variable, state, parameter="given") for state in value]] = 1.0
    there = np.flatnonzero(shares > 0).tolist()
    if not there:
        raise SchemaError(f"no state of {variable.name!r} agrees with what is given", parameter="given")
    return {variable.states[k]: float(shares[k]) for k in there}


def _said(values: Mapping[str, Any]) -> str:
    words = [(name, " or ".join(map(str, v)) if isinstance(v, dict) else str(v)) for name, v in values.items()]
    first = [f"{cut(name, 30)} = {cut(value, 30)}" for name, value in words[:MOST_SAID]]
    more = [f"... {len(values):,} in all"] if len(values) > MOST_SAID else []
    return ", ".join([*first, *more])


def _given(known: Mapping[str, Any]) -> str:
    return f" | {_said(known)}" if known else ""


def _asked(net: Any, said: str, cases: Sequence[Mapping[str, Any]], weigh: Weigh, **more: Any) -> Answer:
    """Return an answer made of the log-probabilities of cases; one with several states is the sum of its rows."""
    rows, case_of, logs_of = [], [], []
    for place, case in enumerate(cases):
        several = {name: value for name, value in case.items() if isinstance(value, dict)}
        ways = math.prod(map(len, several.values()))
        if ways > MOST_WAYS:
            raise SchemaError(f"what is given is one of {ways:,} rows; the most is {MOST_WAYS}", parameter="given")
        for states in itertools.product(*(value.items() for value in several.values())):
            chosen = dict(zip(several, (state for state, _ in states), strict=True))
            rows.append({**case, **chosen})
            case_of.append(place)
            logs_of.append(sum(math.log(share) for _, share in states))
    table = partial_rows(net, rows)
    if len(rows) == len(cases):
        return Answer(said, table, weigh, **more)
    where, shift = np.array(case_of), np.array(logs_of)

    def summed(logs: Numbers) -> tuple[float, Numbers]:
        sums = np.full(len(cases), -np.inf)
        np.logaddexp.at(sums, where, logs + shift)
        value, weights = weigh(sums)
        with np.errstate(invalid="ignore"):
            return value, np.nan_to_num(weights[where] * np.exp(logs + shift - sums[where]))

    return Answer(said, table, summed, **more)


def partial_rows(net: Any, rows: Sequence[Mapping[str, Any]]) -> Table:
    """Return rows that know some states and numbers of a network, as a table of its variables."""
    columns = []
    for variable in net.variables:
        column = variable.missing_column(len(rows))
        for row, values in enumerate(rows):
            if variable.name in values:
                value = values[variable.name]
                column[row] = value if variable.is_continuous else variable.code(value)
        columns.append(column)
    return Table.adopt(net.variables, columns, n_rows=len(rows))


def _differences(net: Any, said: str, above: Mapping[str, Any], below: Mapping[str, Any] | None) -> Answer:
    """Return the log-probability of what is known in one row, less that of another."""
    rows = [above] if below is None else [above, below]
    weights = np.array([1.0, -1.0])[: len(rows)]
    return _asked(net, said, rows, lambda logs: (float(weights @ logs), weights))


def _of_state(net: Any, asked: Sequence[Column], states: Sequence[Any], known: Mapping[str, Any]) -> Answer:
    pairs = zip(asked, states, strict=True)
    values = {variable.name: value_given(variable, value, parameter="state") for variable, value in pairs}
    found = _differences(net, f"log P({_said(values)}{_given(known)})", {**known, **values}, known or None)
    if len(asked) == 1 and not asked[0].is_continuous and asked[0].cardinality > 1:
        (state,), (variable,) = values.values(), asked

        def odds() -> Answer:
            return _odds(net, variable, (state, _most_probable(net, variable, known, but=state)), known)

        return replace(found, odds=odds)
    return found


def _odds(net: Any, variable: Column, states: Sequence[Any], known: Mapping[str, Any]) -> Answer:
    if len(states) != 2 or variable.is_continuous:
        raise SchemaError("odds are of two states of a variable with labels", parameter="state")
    one, other = (value_given(variable, state, parameter="state") for state in states)
    said = f"log P({_said({variable.name: one})}{_given(known)}) / P({_said({variable.name: other})}{_given(known)})"
    return _differences(net, said, {**known, variable.name: one}, {**known, variable.name: other})


def _most_probable(net: Any, variable: Any, known: Mapping[str, Any], but: State | None = None) -> State:
    """Return the most probable state of a variable that is no other."""
    states = [state for state in variable.states if but is None or state != but]
    values = [
        _asked(net, "", [{**known, variable.name: state}], lambda logs: (float(logs[0]), logs)) for state in states
    ]
    found: State = states[int(np.argmax([value.of(net) for value in values]))]
    return found


def _of_rows(net: Any, data: Any) -> Answer:
    rows = net.rows(data)
    if not rows.total:
        raise SchemaError("the log-probability of no rows has no rows behind it", parameter="log_prob")
    weights = np.ones(rows.n_rows) if rows.weights is None else np.asarray(rows.weights, dtype=np.float64)
    shares = weights / weights.sum()
    kind = "log-probability" if is_directed(net) else "pseudo-log-likelihood"
    said = f"the mean {kind} of {rows.n_rows:,} rows" if rows.n_rows > 1 else f"the {kind} of a row"
    children = None if is_directed(net) else tuple(range(len(net.names)))
    return Answer(said, rows, lambda logs: (float(shares @ logs), shares), children=children)


def _of_strings(query: Any, state: Any, given: Any, log_prob: Any) -> Answer:
    if log_prob is None or any(other is not None for other in (query, state, given)):
        what = "a model of strings is asked for the log-probability of some; give log_prob, and none of the others"
        raise SchemaError(what, parameter="log_prob")
    strings = listed_items(log_prob)
    if not strings:
        raise SchemaError("the log-probability of no strings has none behind it", parameter="log_prob")
    shares = np.full(len(strings), 1 / len(strings))
    several = f"the mean log-probability of {len(strings):,} strings"
    said = several if len(strings) > 1 else "the log-probability of a string"
    return Answer(said, strings, lambda logs: (float(shares @ logs), shares))


def _of_conditionals(net: Any, query: Any, state: Any, known: Mapping[str, Any], log_prob: Any) -> Answer:
    """Return what a dependency network is asked: rows, or a variable given all of its inputs."""
    if log_prob is not None and query is None and not known:
        return _of_rows(net, net.rows(log_prob, complete_for="a pseudo-log-likelihood"))
    if log_prob is not None or not isinstance(query, str):
        raise SchemaError("of a dependency network rows are asked (log_prob), or one variable given its inputs")
    (v,) = positions(net.names, [query])
    if lacking := [net.names[p] for p in net.conditionals[v].parents if net.names[p] not in known]:
        raise SchemaError(f"{query!r} depends on {listed(lacking)}, too; say what is given of them", parameter="given")
    if several := [name for name, value in known.items() if isinstance(value, dict)]:
        raise SchemaError(f"a dependency network is asked given one state of {listed(several)}", parameter="given")
    variable = net.variables[v]
    logs = [float(net.conditionals[v].log_prob(partial_rows(net, [{**known, query: s}]))[0]) for s in variable.states]
    order = np.argsort(np.negative(logs), kind="stable")
    one = variable.states[order[0]] if state is None else state
    pair = isinstance(one, tuple | list)
    states = [value_given(variable, s, parameter="state") for s in (one if pair else [one])]
    rows = partial_rows(net, [{**known, query: s} for s in states])
    weights = np.array([1.0, -1.0])[: len(states)]
    said = " / ".join(f"P({_said({query: s})}{_given(known)})" for s in states)
    return Answer(f"log {said}", rows, lambda at: (float(weights @ at), weights), children=(v,))


def _information(net: Any, x: Column, y: Column, known: Mapping[str, Any]) -> Answer:
    """Return the mutual information of two variables with labels, given what is known."""
    if x.is_continuous or y.is_continuous:
        raise SchemaError(
            "a mutual information is of two variables with labels; ask for a state of each", parameter="query"
        )
    a, b = x.cardinality, y.cardinality
    if a * b > MOST_CELLS:
        raise SchemaError(f"{x.name!r} and {y.name!r} have {a * b:,} joint states; the most is {MOST_CELLS:,}")
    rows = [{**known, x.name: s, y.name: t} for s in x.states for t in y.states]
    rows += [{**known, x.name: s} for s in x.states] + [{**known, y.name: t} for t in y.states] + [dict(known)]

    def weigh(logs: Numbers) -> tuple[float, Numbers]:
        joint, of_x, of_y, of_known = logs[: a * b].reshape(a, b), logs[a * b :][:a], logs[-b - 1 : -1], logs[-1]
        p = np.exp(joint - of_known)
        with np.errstate(invalid="ignore"):
            ratio = np.where(p > 0, joint - of_x[:, None] - of_y + of_known, 0.0)
        value = float((p * ratio).sum())
        return value, np.concatenate([(p * (ratio + 1)).ravel(), -p.sum(axis=1), -p.sum(axis=0), [1 - value]])

    return _asked(net, f"I({cut(x.name, 30)}; {cut(y.name, 30)}{_given(known)})", rows, weigh)


def _expected_number(net: Any, variable: Column, known: Mapping[str, Any]) -> Answer:
    """Return what is expected of a number given what is known: an integral over it, by the trapezoid rule."""
    places = np.array(list(_places(net, variable, known)))
    widths = np.diff(np.concatenate([places[:1], (places[1:] + places[:-1]) / 2, places[-1:]]))
    rows = [{**known, variable.name: place} for place in places]

    def weigh(logs: Numbers) -> tuple[float, Numbers]:
        mass = np.exp(logs - logs.max()) * widths
        mass /= mass.sum()
        value = float(mass @ places)
        return value, mass * (places - value)

    return _asked(net, f"E({cut(variable.name, 30)}{_given(known)})", rows, weigh)


def _places(net: Any, variable: Column, known: Mapping[str, Any]) -> Iterator[float]:
    """Yield numbers around every normal component of a variable, ascending."""
    case = {name: list(value) if isinstance(value, dict) else value for name, value in known.items()}
    found = net.given(case).query([variable.name])
    weights, means, covariances = found.components
    likely = weights > 1e-6 * weights.max()
    parts = _apart(means[likely, 0], np.sqrt(covariances[likely, 0, 0]))
    steps = np.array([high - low for low, high, _ in parts]) / [2 * REACH * sd for *_, sd in parts]
    n_each = np.maximum(NODES * steps * min(1.0, MOST_NODES / (NODES * steps.sum())), 1)
    nodes = [np.linspace(low, high, int(n) + 1) for (low, high, _), n in zip(parts, n_each, strict=True)]
    yield from np.unique(np.asarray(variable.unscaled(np.concatenate(nodes)))).tolist()


def _apart(means: Numbers, sds: Numbers) -> list[tuple[float, float, float]]:
    """Return where normal components reach, as parts that do not overlap, each with the smallest sd that is there."""
    found: list[tuple[float, float, float]] = []
    for i in np.argsort(sds, kind="stable").tolist():
        low, high, sd = means[i] - REACH * sds[i], means[i] + REACH * sds[i], sds[i]
        for begin, end, _ in sorted(found):
            if low < begin < high:
                found.append((low, begin, sd))
            if begin <= high and end > low:
                low = end
        if low < high:
            found.append((low, high, sd))
    return found
