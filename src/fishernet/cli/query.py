"""``fishernet query``: what is probable under a model, given what is known.

What `fishernet query` answers by sampling, for a model whose probabilities have no closed form.
"""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import click
import numpy as np
import numpy.typing as npt

from fishernet.base.errors import FishernetError, FishernetWarning
from fishernet.base.names import check_names, listed, positions
from fishernet.cli.models import is_dependency, read_model, require_conditionals, wrong_kind
from fishernet.cli.options import States, known_states
from fishernet.cli.output import (
    Facts,
    aligned,
    as_json_option,
    check_folder,
    number,
    output_option,
    write_facts,
    write_lines,
)
from fishernet.cli.terminal import shown
from fishernet.data import State
from fishernet.data.variable import code_of
from fishernet.infer import Estimate, estimate, family_marginals, intervene, log_evidence, marginal, most_probable
from fishernet.models import BayesianNetwork, DependencyNetwork

SEED = 0  # equal commands give equal numbers


def refuse_exact(path: Path, asked: Mapping[str, object]) -> None:
    """Raise FishernetError when what is asked for, by option, cannot be sampled."""
    for option, value in asked.items():
        if value:
            raise wrong_kind(
                path,
                "a dependency network",
                f"{option} needs a Bayesian network; for rows given what is known there is fishernet sample --given",
            )


def sampled_answers(net: DependencyNetwork, names: Sequence[str], given: States, *, joint: bool) -> dict[str, Any]:
    """Return the joint table of some names, or the probabilities of each one's states, with Monte Carlo errors."""
    of = {name: net.variables[v] for name, v in zip(names, positions(net.names, names), strict=True)}
    found = _estimates(net, [tuple(names)] if joint else [(name,) for name in names], given)
    numbers = [
        {"probabilities": one.probabilities.tolist(), "standard_errors": one.standard_errors.tolist()} for one in found
    ]
    facts = {"rows": found[0].n_rows if found else 0, "seed": SEED}
    if joint:
        states = [variable.states for variable in of.values()]
        return facts | {"joint": {"names": names, "states": states, **numbers[0]}}
    marginals = {name: {"states": of[name].states, **own} for name, own in zip(names, numbers, strict=True)}
    return facts | {"marginals": marginals}


def _estimates(net: DependencyNetwork, asked: Sequence[tuple[str, ...]], given: States) -> list[Estimate]:
    """Return an estimate of each joint table, all of the same rows; what the library warns of is said once."""
    found = [estimate(net, names, given=given, seed=SEED) for names in asked[:1]]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FishernetWarning)
        return found + [estimate(net, names, given=given, seed=SEED) for names in asked[1:]]


Array = npt.NDArray[np.float64]

FEW = 4  # marginals for which a plan each is no dearer than one plan for those of all variables
MOST_JOINT = 32  # variables of a joint table: the axes that an array of NumPy 1 can have
MOST_CELLS = 2**20  # of a joint table: lines that are printed


@click.command(short_help="Ask a model what is probable, given what is known.")
@click.argument("model", type=click.Path(path_type=Path))
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--given", multiple=True, metavar="NAME=STATE", help="What is known. May be repeated.")
@click.option("--do", multiple=True, metavar="NAME=STATE", help="What is set from outside. May be repeated.")
@click.option("--joint", is_flag=True, help="One table of all NAMEs together, instead of one of each.")
@click.option("--most-probable", "explain", is_flag=True, help="Instead: the most probable states of all variables.")
@output_option
@as_json_option
def query(
    model: Path,
    names: tuple[str, ...],
    given: tuple[str, ...],
    do: tuple[str, ...],
    joint: bool,
    explain: bool,
    output: Path | None,
    as_json: bool,
) -> None:
    """Print the probability of each state of each NAME under MODEL (.json or .bif), given what is known.

    Without a NAME, those of all variables that are neither given nor set. What is set (--do) no longer depends on its
    parents, as in an experiment. The probability of the evidence is that of all that is given, after what was set.
    States are written as in a table; a number where the model has bins is that of its bin.

    A Bayesian network's answers are exact. A dependency network has none that are: its probabilities are shares of rows
    drawn by pseudo-Gibbs sampling, each with its Monte Carlo error (fishernet sample draws such rows), and what is said
    by --do, by --most-probable and of the evidence is for Bayesian networks.

    \b
    Examples
      fishernet query model.json cough --given smoke=yes
      fishernet query model.json cough fever --joint --do smoke=no
      fishernet query model.json --most-probable --given cough=yes
    """  # noqa: D301
    _check_words(names, joint=joint, explain=explain)
    check_folder(output)
    network = require_conditionals(read_model(model), model, "query")
    check_names(names)
    positions(network.names, names)
    seen, done = known_states(given, "--given", network.variables), known_states(do, "--do", network.variables)
    _refuse_both(seen, done)
    wanted = names or tuple(name for name in network.names if name not in seen and name not in done)
    if joint:
        _check_joint(network, names)
    facts: dict[str, Any] = {"model": str(model), "given": seen}
    if is_dependency(network):
        refuse_exact(model, {"--do": done, "--most-probable": explain})
        facts |= sampled_answers(network, wanted, seen, joint=joint)
    else:
        net = cast(BayesianNetwork, network)
        net = intervene(net, done) if done else net
        facts |= {"do": done, **_exact_answers(net, wanted, seen, joint=joint, explain=explain, few=names != ())}
    if as_json:
        write_facts(facts, output)
    else:
        write_lines(_text(facts), output)


def _check_words(names: Sequence[str], *, joint: bool, explain: bool) -> None:
    if explain and (names or joint):
        raise FishernetError("--most-probable is about all variables; it goes with no NAME and not with --joint")
    if joint and not names:
        raise FishernetError("--joint needs the NAMEs whose joint table is asked for")


def _refuse_both(seen: States, done: States) -> None:
    both = [name for name in seen if name in done]
    if both:
        raise FishernetError(f"{listed(both)} is in both --given and --do; a variable is either seen or set")


# --------------------------------------------------------------------------------------------------------- answers


def _exact_answers(
    net: BayesianNetwork, names: Sequence[str], given: States, *, joint: bool, explain: bool, few: bool
) -> dict[str, Any]:
    """Return what a Bayesian network says; it is asked for few names only when they were said one by one."""
    evidence = min(0.0, log_evidence(net, given))  # rounding may leave what is certain above 0
    facts: dict[str, Any] = {
        "probability_of_evidence": math.exp(evidence),
        "log_probability_of_evidence": evidence,
    }
    if explain:
        return facts | _explanation(net, given, evidence)
    if joint:
        return facts | {"joint": _joint(net, names, given)}
    return facts | {"marginals": _marginals(net, names, given, plan_each=few and len(names) <= FEW)}


def _marginals(net: BayesianNetwork, names: Sequence[str], given: States, *, plan_each: bool) -> dict[str, Facts]:
    """Return the states and their probabilities of each name."""
    of = {name: net.variables[v] for name, v in zip(names, positions(net.names, names), strict=True)}
    if plan_each:
        found = {name: marginal(net, [name], given=given) for name in names}
    else:
        families = dict(zip(net.names, family_marginals(net, given=given), strict=True))
        found = {name: families[name].reshape(-1, of[name].cardinality).sum(axis=0) for name in names}
    return {name: {"states": of[name].states, "probabilities": found[name].tolist()} for name in names}


def _joint(net: BayesianNetwork, names: Sequence[str], given: States) -> dict[str, Any]:
    """Return the joint table of some names."""
    variables = [net.variables[v] for v in positions(net.names, names)]
    table = marginal(net, names, given=given)
    return {"names": names, "states": [variable.states for variable in variables], "probabilities": table.tolist()}


def _check_joint(net: BayesianNetwork | DependencyNetwork, names: Sequence[str]) -> None:
    """Raise FishernetError when a joint table would be too large to print."""
    cells = math.prod(net.variables[v].cardinality for v in positions(net.names, names))
    if len(names) > MOST_JOINT or cells > MOST_CELLS:
        raise FishernetError(
            f"a joint table of {len(names):,} variables with {cells:,} cells is too large; it may have "
            f"{MOST_JOINT} variables and {MOST_CELLS:,} cells; name fewer"
        )


def _explanation(net: BayesianNetwork, given: States, evidence: float) -> dict[str, Any]:
    """Return the most probable states of all variables, and how probable they are given the evidence."""
    best = most_probable(net, given=given)
    codes = [[code_of(variable, best[variable.name]) for variable in net.variables]]
    log_probability = min(0.0, float(net.log_prob(codes)[0]) - evidence)
    return {"most_probable": best, "probability": math.exp(log_probability), "log_probability": log_probability}


# ------------------------------------------------------------------------------------------------------------ text


def _text(facts: Facts) -> Iterator[str]:
    """Yield the facts as lines for people."""
    lines = [(word, _known(facts[fact])) for word, fact in (("given", "given"), ("set", "do")) if facts.get(fact)]
    if "rows" in facts:
        lines.append(("estimated from", f"{facts['rows']:,} rows of pseudo-Gibbs sampling, seed {facts['seed']}"))
    else:
        log = number(facts["log_probability_of_evidence"])
        lines.append(("probability of the evidence", f"{_probability(facts['probability_of_evidence'])} (log {log})"))
    if "most_probable" in facts:
        log = number(facts["log_probability"])
        lines.append(("probability given the evidence", f"{_probability(facts['probability'])} (log {log})"))
    yield from aligned(lines)
    rows = list(_rows(facts))
    if len(rows) > 1:
        yield ""
        yield from aligned(rows)


def _rows(facts: Facts) -> Iterator[Sequence[str]]:
    """Yield the rows of the table that answers, the names of its columns first."""
    errors = ("Monte Carlo error",) if "rows" in facts else ()
    if "most_probable" in facts:
        yield "variable", "state"
        for name, state in facts["most_probable"].items():
            yield shown(name), shown(state)
    elif "joint" in facts:
        yield *map(shown, facts["joint"]["names"]), "probability", *errors
        for states, numbers in zip(itertools.product(*facts["joint"]["states"]), _numbers(facts["joint"]), strict=True):
            yield *map(shown, states), *numbers  # the last name runs fastest, as in the product
    else:
        yield "variable", "state", "probability", *errors
        for name, of_name in facts["marginals"].items():
            cells = [shown(name), *[""] * (len(of_name["states"]) - 1)]
            for cell, state, numbers in zip(cells, of_name["states"], _numbers(of_name), strict=True):
                yield cell, shown(state), *numbers


def _numbers(answer: Facts) -> Iterator[list[str]]:
    """Yield each probability of an answer, with its error where it has one."""
    columns = [np.ravel(answer[fact]).tolist() for fact in ("probabilities", "standard_errors") if fact in answer]
    for values in zip(*columns, strict=True):
        yield [_probability(values[0]), *(f"{error:.2g}" for error in values[1:])]


def _known(states: Mapping[str, State]) -> str:
    return ", ".join(f"{shown(name)} = {shown(state)}" for name, state in states.items())


def _probability(value: float) -> str:
    return f"{value:.6g}"
