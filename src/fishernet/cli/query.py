"""``fishernet query``: what is probable under a model, given what is known."""

from __future__ import annotations

import itertools
import math
import warnings
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import numpy as np

from fishernet import explain as explanations
from fishernet.base.errors import FishernetError, FishernetWarning
from fishernet.base.names import check_names, listed, positions, several
from fishernet.cli.evidence import Known, given_option, known_values, states_alone, values_to_set, weighted_states
from fishernet.cli.groups import group_facts, group_lines, labels_in
from fishernet.cli.models import (
    has_numbers,
    has_states,
    is_dependency,
    read_model,
    require,
    wrong_kind,
)
from fishernet.cli.options import Reading, count, model_argument, text_options, weights_option
from fishernet.cli.terminal import FILE, Answer, Facts, aligned, answering, number, progress_bar, shown
from fishernet.explain.influence import told_of_agreement
from fishernet.infer import Beside, Conditioned
from fishernet.infer.beside import MARKED, shares_shown
from fishernet.infer.evidence import impossible
from fishernet.infer.mixtures import NumberDistribution
from fishernet.infer.normal import is_normal
from fishernet.models import DependencyNetwork

SEED = 0  # equal commands give equal numbers
MOST_JOINT = 32  # variables of a joint table: the axes that an array of NumPy 1 can have
MOST_CELLS = 2**20  # of a joint table: lines that are printed
MOST_ROWS, MOST_SHOWN = 50, 5  # that raise and lower an answer: told in JSON, and shown
MOST_SHOWN_COLUMNS = 8


@click.command(short_help="Ask a model what is probable, given what is known.")
@model_argument
@click.argument("names", nargs=-1, metavar="[NAME]...")
@given_option
@click.option(
    "--likely",
    multiple=True,
    metavar="NAME=STATE:X,...",
    help="How well each state explains what was seen: --likely cough=yes:.8,no:.2. May be repeated.",
)
@click.option(
    "--do",
    multiple=True,
    metavar="NAME=STATE",
    help="Set a variable by intervention, or draw it: --do smoke=yes:.3,no:.7. May be repeated.",
)
@click.option("--joint", is_flag=True, help="One joint table of all NAMEs, instead of one table each.")
@click.option(
    "--most-probable", "explain", is_flag=True, help="Instead print the most probable states of all variables together."
)
@click.option(
    "--data", type=FILE, metavar="TABLE", help="Show beside each probability the share of TABLE's rows that are so."
)
@click.option(
    "--why",
    type=FILE,
    metavar="TABLE",
    help="Show the rows of TABLE, which the model was learned from, that raise and lower the answer for NAME most.",
)
@click.option("--by", metavar="COLUMN", help="With --why: what the rows of each label of COLUMN do to the answer.")
@count("--graphs", help="With --why: the mean over so many graphs, each learned again from half of the rows.")
@weights_option
@text_options
@answering()
def query(
    model: Path,
    names: tuple[str, ...],
    given: tuple[str, ...],
    likely: tuple[str, ...],
    do: tuple[str, ...],
    joint: bool,
    explain: bool,
    data: Path | None,
    why: Path | None,
    by: str | None,
    graphs: int | None,
    weights: str | None,
    weight_kind: str | None,
) -> Answer:
    """Print the probability of each state of each NAME under MODEL (.json, .bif, .net, ...), given what is known.

    Without a NAME, all variables that are neither given nor set are printed. A variable that is set (--do) no longer
    depends on its parents, as in an experiment. The probability of the evidence is that of all given states, after the
    intervention. States are written as in a table; where the model has bins, a number means its bin.

    For a Gaussian network, whose variables are numbers, the mean and standard deviation of each NAME are printed, given
    numbers (--given height=1.8); with --joint their covariances too.

    What is given may be several states (--given cough=mild,strong) or a range (--given "age>65"), of numbers, of bins
    or of states that are numbers; --likely weighs the states of what was seen unsurely.

    With --why the rows of TABLE, which the model was learned from, that raise and lower the answer for one NAME most
    are shown: of the most probable state, or of a number's mean.

    With --data the rows of TABLE that are as what is given stand beside the model, those with a missing cell in what is
    given or asked for left out. A * marks a share that disagrees with the probability, by an exact test at 0.001.

    Answers of Bayesian and Markov networks are exact. A dependency network gives estimates with a Monte Carlo error,
    the shares of rows drawn by pseudo-Gibbs sampling (fishernet sample draws such rows). --do, --most-probable and the
    probability of the evidence need a model with exact inference; --do needs a Bayesian network.

    \b
    Examples
      fishernet query model.json cough --given smoke=yes
      fishernet query model.json cough fever --joint --do smoke=no
      fishernet query model.json cough --given "age>65" --likely fever=yes:.9,no:.2
      fishernet query model.json --most-probable --given cough=yes
      fishernet query model.json cough --given smoke=yes --data patients.csv
      fishernet query model.json cough --given smoke=yes --why patients.csv --by clinic
    """  # noqa: D301
    if explain and (names or joint):
        raise FishernetError("--most-probable is about all variables; it goes with no NAME and not with --joint")
    if joint and not names:
        raise FishernetError("--joint needs the NAMEs whose joint table is asked for")
    if data is None and why is None and (weights or weight_kind):
        raise FishernetError("--weights is about the rows of --data or --why; give one too")
    if why is not None and (len(names) != 1 or joint or do or likely):
        raise FishernetError("--why explains the answer for one NAME, given states alone; leave out the rest")
    if why is None and (by is not None or graphs is not None):
        raise FishernetError(f"{'--graphs' if by is None else '--by'} is about the rows of --why; give that too")
    if data is not None and (do or explain):
        other = "--do" if do else "--most-probable"
        raise FishernetError(f"--data shows rows as they were seen, which say nothing of {other}; take one of them")
    network = read_model(model)
    if not has_numbers(network):
        require(has_states, network, model, "query")
    check_names(names)
    positions(network.names, names)
    seen, done = known_values(given, "--given", network.variables), values_to_set(do, "--do", network.variables)
    likelihood = weighted_states(likely, "--likely", network.variables)
    if both := [name for name in seen if name in done]:
        raise FishernetError(f"{listed(both)} is in both --given and --do; a variable is either seen or set")
    if joint and not is_normal(network):
        _check_joint(model, network, names)
    wanted = names or tuple(name for name in network.names if name not in seen and name not in done)
    facts: dict[str, Any] = {
        "model": str(model),
        "given": _as_said(network, seen),
        **({"likely": likelihood} if likelihood else {}),
    }
    if is_dependency(network) or not network.conditionals:
        _refuse(model, network, {"--do": done, "--most-probable": explain and is_dependency(network)})
    if data is not None:
        states_alone(seen, "--given", "--data counts rows of one state each; take one of the two")
        if likelihood or not has_states(network):
            raise wrong_kind(model, network, "--data counts rows, which needs a model of states, without --likely")
    if is_dependency(network):
        alone = states_alone(seen, "--given", "chains keep one state each; that needs a model with exact inference")
        _refuse(model, network, {"--likely": likelihood})
        facts |= _sampled_answers(network, wanted, alone, joint=joint)
    else:
        case = network.given(seen, likelihood=likelihood, do=done)
        answered = _of_numbers if is_normal(network) else _exact_answers if has_states(network) else _of_both
        facts |= {"do": done, **answered(case, wanted, joint=joint, explain=explain)}
    if data is not None:
        how = Reading(weights=weights, weight_kind=weight_kind, unknown="missing")
        facts |= _beside(network, facts, data, how)
    if why is not None:
        how = Reading(weights=weights, weight_kind=weight_kind)
        facts["why"] = _why(network, names[0], seen, why, how, by, graphs)
    return Answer(facts, _text(facts))


def _why(network: Any, name: str, seen: Known, path: Path, how: Reading, by: str | None, graphs: int | None) -> Facts:
    """Return the rows of a table that raise and lower the answer for a variable most, and those of each label."""
    table = how.read_known(path, network.variables)
    with progress_bar() as progress:
        found = explanations.rows(network, table, query=name, given=seen, graphs=graphs, seed=SEED, progress=progress)
    frame = found.to_frame()
    most = min(MOST_ROWS, found.n_rows)
    ends = [row for part in (frame[:most], frame[max(most, found.n_rows - most) :]) for row in part.to_pylist()]
    facts: Facts = {"table": str(path), "rows": found.n_rows, "answer": found.said, "value": found.answer, "ends": ends}
    if graphs is not None:
        facts = {**facts, "graphs": graphs, "seed": SEED, "agreement": found.agreement}
    if by is None:
        return facts
    return {**facts, "by": by, "groups": group_facts(found.by(labels_in(path, by)))}


def _beside(net: Any, facts: Facts, path: Path, how: Reading) -> Facts:
    """Return the shares of a table's rows beside the probabilities of each answer."""
    variables = {variable.name: variable for variable in net.variables}
    known = [variables[name] for name in facts["given"]]
    joint = facts.get("joint")
    answers: list[Facts] = [joint] if joint else [{"names": [name], **one} for name, one in facts["marginals"].items()]
    asked = {name for answer in answers for name in answer["names"]}
    table = how.read_known(path, [v for v in net.variables if v.name in asked or v in known])
    found = []
    for answer in answers:
        of = tuple([variables[name] for name in answer["names"]])
        one = Beside.of(of, np.asarray(answer["probabilities"]), known, facts["given"], table)
        counts = {"rows": one.n_rows, "effective_rows": one.n_effective, "rows_left_out": one.n_missing}
        found.append({**answer, "shares": one.shares, "differs": one.differs, **counts})
    both: Facts = {"joint": found[0]} if joint else {"marginals": {one.pop("names")[0]: one for one in found}}
    return {"data": str(path), "data_rows": table.n_rows, **both}


def _as_said(network: Any, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is known or expected, by name, dates and times among numbers as these."""
    variables = {variable.name: variable for variable in network.variables}
    return {
        name: of.said(x) if (of := variables[name]).is_continuous and isinstance(x, float) else x
        for name, x in known.items()
    }


def _check_joint(path: Path, net: Any, names: Sequence[str]) -> None:
    """Raise FishernetError when a joint table would be too large to print, or numbers have none."""
    numbers = [name for name in names if net.variables[net.names.index(name)].is_continuous]
    if numbers:
        raise wrong_kind(path, net, f"--joint is a table of states, and {listed(numbers)} has none; ask without it")
    cells = math.prod(net.variables[v].cardinality for v in positions(net.names, names))
    if len(names) > MOST_JOINT or cells > MOST_CELLS:
        raise FishernetError(
            f"a joint table of {len(names)} variables with {cells:,} cells is too large; it may have "
            f"{MOST_JOINT} variables and {MOST_CELLS:,} cells; name fewer"
        )


def _refuse(path: Path, network: Any, asked: Mapping[str, object]) -> None:
    """Raise SchemaError when something is asked for, by option, that takes a Bayesian network."""
    way_out = "; for rows given what is known there is fishernet sample --given" if is_dependency(network) else ""
    for option, value in asked.items():
        if value:
            raise wrong_kind(path, network, f"{option} needs a Bayesian network{way_out}")


# --------------------------------------------------------------------------------------------------------- answers


def _answers(net: Any, names: Sequence[str], numbers: Sequence[Facts], *, joint: bool) -> dict[str, Any]:
    """Return the joint table of some names, or the probabilities of each one's states, with their numbers."""
    states = [net.variables[v].states for v in positions(net.names, names)]
    if joint:
        return {"joint": {"names": names, "states": states, **numbers[0]}}
    each = zip(names, states, numbers, strict=True)
    return {"marginals": {name: {"states": own, **of_name} for name, own, of_name in each}}


def _sampled_answers(net: DependencyNetwork, names: Sequence[str], given: Known, *, joint: bool) -> dict[str, Any]:
    """Return estimates of all answers from the same rows; what the library warns of is said once."""
    found = []
    with warnings.catch_warnings():
        for asked in [names] if joint else names:
            found.append(net.query(asked, given=given, seed=SEED))
            warnings.simplefilter("ignore", FishernetWarning)
    numbers = [{"probabilities": one.array, "standard_errors": one.standard_errors} for one in found]
    rows = found[0].n_rows if found else 0
    return {"rows": rows, "seed": SEED, **_answers(net, names, numbers, joint=joint)}


def _exact_answers(case: Conditioned, names: Sequence[str], *, joint: bool, explain: bool) -> dict[str, Any]:
    """Return what an exact model of states says."""
    evidence = min(0.0, case.log_prob())  # rounding may leave what is certain above 0
    facts = {"probability_of_evidence": math.exp(evidence), "log_probability_of_evidence": evidence}
    if evidence == -math.inf:
        raise impossible(case.known)
    if explain:
        best = case.explain()
        log = min(0.0, case.log_prob(best))
        return facts | {"most_probable": best, "probability": math.exp(log), "log_probability": log}
    tables = [case.query(names)] if joint else case.marginals(names).values()
    return facts | _answers(case.model, names, [{"probabilities": one.array} for one in tables], joint=joint)


def _of_both(case: Conditioned, names: Sequence[str], *, joint: bool, explain: bool) -> dict[str, Any]:
    """Return the probabilities of labels, and what is expected of numbers, of a network of both."""
    facts: dict[str, Any] = {"log_density_of_evidence": case.log_prob()}
    if explain:
        best = case.explain()
        return facts | {"most_probable": _as_said(case.model, best), "log_density": case.log_prob(best)}
    if joint:
        return facts | _answers(case.model, names, [{"probabilities": case.query(names).array}], joint=True)
    numbers = [name for name in names if case.model.variables[case.model.names.index(name)].is_continuous]
    labels = [name for name in names if name not in numbers]
    tables = [{"probabilities": one.array} for one in case.marginals(labels).values()]
    of_numbers = {name: _said(one) for name, one in case.marginals(numbers).items()}
    return facts | _answers(case.model, labels, tables, joint=False) | {"numbers": of_numbers}


def _said(one: NumberDistribution) -> dict[str, float | str]:
    """Return what is said of a number, of a column of dates or times as these; the sd in days or seconds."""
    return {word: x if word == "sd" else one.variable.said(x) for word, x in one.to_dict().items()}


def _of_numbers(case: Conditioned, names: Sequence[str], *, joint: bool, explain: bool) -> dict[str, Any]:
    """Return means and standard deviations, or all most probable numbers, of a Gaussian network."""
    facts: dict[str, Any] = {"log_density_of_evidence": case.log_prob()}
    if explain:
        best = case.explain()
        return facts | {"most_probable": _as_said(case.model, best), "log_density": case.log_prob(best)}
    if not names:
        return facts | {"normal": {"names": [], "mean": [], "sd": []}}
    found = case.query(names)
    covariance = {"covariance": found.covariance} if joint else {}
    means = list(_as_said(case.model, dict(zip(found.names, found.mean.tolist(), strict=True))).values())
    return facts | {"normal": {"names": found.names, "mean": means, "sd": found.sd, **covariance}}


# ------------------------------------------------------------------------------------------------------------ text


def _text(facts: Facts) -> Iterator[str]:
    """Yield the facts as lines for people."""
    told = (("given", "given"), ("likely", "likely"), ("set", "do"))
    lines = [(word, _known_shown(facts[fact])) for word, fact in told if facts.get(fact)]
    if "rows" in facts:
        lines.append(
            ("estimated from", f"{several(facts['rows'], 'row')} of pseudo-Gibbs sampling, seed {facts['seed']}")
        )
    elif "log_density_of_evidence" in facts:
        lines.append(("log-density of the evidence", number(facts["log_density_of_evidence"])))
    else:
        log = number(facts["log_probability_of_evidence"])
        lines.append(("probability of the evidence", f"{_probability(facts['probability_of_evidence'])} (log {log})"))
    if besides := _besides(facts):
        left = max(one["rows_left_out"] for one in besides)
        missing = f"; up to {left:,} left out for a missing cell" if left else ""
        weighted = any(abs(one["effective_rows"] - one["rows"]) > 1e-9 * one["rows"] for one in besides)
        lines.append(("beside", f"{several(facts['data_rows'], 'row')}{', weighted' if weighted else ''}{missing}"))
    if "log_density" in facts:
        lines.append(("log-density given the evidence", number(facts["log_density"])))
    elif "most_probable" in facts:
        log = number(facts["log_probability"])
        lines.append(("probability given the evidence", f"{_probability(facts['probability'])} (log {log})"))
    yield from aligned(lines)
    rows = list(_rows(facts))
    if len(rows) > 1:
        yield ""
        yield from aligned(rows)
    if facts.get("numbers"):
        yield ""
        yield from aligned(
            [
                ("variable", "mean", "sd", "median", "95 % from", "to"),
                *((shown(name), *map(_written, of.values())) for name, of in facts["numbers"].items()),
            ]
        )
    if any(np.any(one["differs"]) for one in _besides(facts)):
        yield MARKED
    if "why" in facts:
        yield from _why_text(facts["why"])


def _written(said: float | str) -> str:
    return said if isinstance(said, str) else f"{said:.6g}"


def _why_text(why: Facts) -> Iterator[str]:
    """Yield the rows behind an answer, and the groups of rows."""
    yield ""
    by = f"by {several(why['rows'], 'row')}; those that raise and lower it most"
    yield f"{why['answer']} = {number(why['value'])}, {by}"
    if "agreement" in why:
        yield told_of_agreement(why["agreement"])
    ends = why["ends"]
    few = [*ends[:MOST_SHOWN], *ends[-MOST_SHOWN:]] if len(ends) > 2 * MOST_SHOWN else ends
    names = [name for name in ends[0] if name not in ("row", "influence")][:MOST_SHOWN_COLUMNS]
    yield from aligned(
        [
            ("row", "influence", *map(shown, names)),
            *((f"{row['row']}", f"{row['influence']:+.3g}", *(shown(row[name]) for name in names)) for row in few),
        ]
    )
    if "groups" in why:
        yield ""
        yield from group_lines(why["by"], why["groups"])


def _known_shown(known: Mapping[str, Any]) -> str:
    """Return what is known or set on one line: states, several of them, ranges and numbers by state."""
    return ", ".join(f"{shown(name)} {_value_shown(value)}" for name, value in known.items())


def _value_shown(value: Any) -> str:
    if isinstance(value, dict):
        return "as " + ", ".join(f"{shown(state)}: {weight:g}" for state, weight in value.items())
    if isinstance(value, list):
        return f"= {' or '.join(map(shown, value))}"
    if isinstance(value, tuple):
        ends = ((value[0], "from", "above", -math.inf), (value[1], "to", "below", math.inf))
        return " ".join(_end_shown(*end) for end in ends if end[0] is not None)
    return f"= {shown(value)}"


def _end_shown(end: float, with_it: str, without: str, back: float) -> str:
    """Return an end of a range in words; the number right beside a plain one leaves that out."""
    beside = math.nextafter(end, back)
    return f"{without} {beside:g}" if len(repr(beside)) < len(repr(end)) else f"{with_it} {end:.10g}"


def _besides(facts: Facts) -> list[Facts]:
    """Return the answers that have shares of rows beside them."""
    every = [facts["joint"]] if "joint" in facts else list(facts.get("marginals", {}).values())
    return [one for one in every if "shares" in one]


def _rows(facts: Facts) -> Iterator[Sequence[str]]:
    """Yield the rows of the table that answers, the names of its columns first."""
    errors: tuple[str, ...] = ("Monte Carlo error",) if "rows" in facts else ()
    errors += ("share of rows", "rows") if _besides(facts) else ()
    if "most_probable" in facts:
        found = facts["most_probable"]
        dense = "log_density" in facts
        alone = dense and all(isinstance(state, float) for state in found.values())
        yield "variable", "number" if alone else "value" if dense else "state"
        for name, state in found.items():
            yield shown(name), f"{state:.6g}" if dense and isinstance(state, float) else shown(state)
    elif "normal" in facts:
        yield from _normal_rows(facts["normal"])
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


def _normal_rows(answer: Facts) -> Iterator[Sequence[str]]:
    """Yield the means and standard deviations, and the covariances where they were asked for."""
    names = [shown(name) for name in answer["names"]]
    yield "variable", "mean", "sd", *([f"covariance with {name}" for name in names] if "covariance" in answer else [])
    for row, name in enumerate(names):
        values = [
            answer["mean"][row],
            answer["sd"][row],
            *(answer["covariance"][row] if "covariance" in answer else []),
        ]
        yield name, *map(_written, values)


def _numbers(answer: Facts) -> Iterator[list[str]]:
    """Yield each probability of an answer, with its error where it has one."""
    columns = [np.ravel(answer[fact]).tolist() for fact in ("probabilities", "standard_errors") if fact in answer]
    shares = shares_shown(answer["shares"], answer["differs"]) if "shares" in answer else []
    beside = [[share, "" if place else f"{answer['rows']:,}"] for place, share in enumerate(shares)]
    for place, values in enumerate(zip(*columns, strict=True)):
        yield [_probability(values[0]), *(f"{error:.2g}" for error in values[1:]), *(beside[place] if beside else ())]


def _probability(value: float) -> str:
    return f"{value:.6g}"
