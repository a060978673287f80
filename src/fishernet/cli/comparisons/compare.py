"""``fishernet compare``: is there a change between two tables, where, and from what to what."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from fishernet import explain
from fishernet.base import check
from fishernet.base.errors import FishernetError
from fishernet.base.names import doubled, several
from fishernet.base.progress import Call
from fishernet.cli.groups import group_facts, group_lines, labels_in
from fishernet.cli.kinds import explaining_kinds
from fishernet.cli.models import read_bayesian
from fishernet.cli.options import (
    QUANTILE,
    Reading,
    amount,
    count,
    reading_options,
    refuse_empty,
    with_states_of_model,
)
from fishernet.cli.tables.sources import scan_option
from fishernet.cli.terminal import (
    CHANGED,
    FILE,
    Answer,
    Facts,
    aligned,
    answering,
    check_folder,
    exit_code_option,
    number,
    p_value,
    progress_bar,
    shown,
    shown_states,
)
from fishernet.compare import (
    ChangeResult,
    Changes,
    NumberChange,
    TwoSampleResult,
    explain_change,
    explain_changes,
    two_sample_test,
)
from fishernet.compare.two_sample import joined
from fishernet.data import Table
from fishernet.data.encode import with_missing_states
from fishernet.data.pooling import pooled, whole_rows
from fishernet.kernels.fisher.hidden_variables import row_kernel
from fishernet.plot import write_change
from fishernet.plot.tooltips import check_picture_path

MOST_EXCHANGED = 1_000_000  # rows of both tables, between which rows change places


@click.command(short_help="Say whether, where and how two tables differ.")
@click.argument("before", type=FILE)
@click.argument("after", type=FILE, nargs=-1, required=True)
@click.option("--model", type=FILE, help="Compare by this network, fitted to other rows, instead of a learned one.")
@count("--permutations", default=999, show_default=True, help="Exchange rows between the tables N times.")
@amount("--level", default=0.05, show_default=True, help="Call p-values up to X a change.")
@amount("--min-effect", default=0.0, show_default=True, help="Call a change of less than X nats none.")
@exit_code_option
@click.option("--plot", type=FILE, metavar="FILE", help="Draw what changed (.png, .svg or .pdf).")
@click.option("--by", metavar="COLUMN", help="Of each change: what is left without the rows of each label of COLUMN.")
@count("--top", default=5, show_default=True, help="How many configurations to show.")
@count("--seed", default=0, show_default=True, help="The same seed gives the same p-values.")
@reading_options("keep", "drop", "state", "error")
@scan_option
@answering()
@explaining_kinds
def compare(
    before: Path,
    after: tuple[Path, ...],
    model: Path | None,
    permutations: int,
    level: float,
    min_effect: float,
    exit_code: bool,
    top: int,
    plot: Path | None,
    by: str | None,
    seed: int,
    **options: Any,
) -> Answer:
    """Say whether the rows of BEFORE and AFTER come from one source, which variables changed, and from what to what.

    A network is learned from both tables together. Is there a change: a permutation test that joins many kernels of
    columns, pairs of columns and the network; where cells are missing, and of more than a million rows, tests of the
    network's conditionals. Of more than 100,000 rows the network is learned from so many, drawn at random. Where: the
    variables whose conditional changed, given their parents, with p-values corrected for all variables, and by how many
    nats (KL of AFTER from BEFORE), over the graphs in which few conditionals changed. What: the configurations that
    changed most. Inherited: variables whose own distribution changed only because of others upstream. Undecided: what
    hangs on arcs whose direction the tables leave open.

    With --by, each change is held against the rows of each label of a column, as a clinic or a day: how many nats speak
    for it (BIC; above 0 for a change) without them in both tables. The column need not take part (--exclude).

    With several tables AFTER, each is compared with BEFORE by one network, at a level that holds for all of them
    together, and has one line.

    \b
    Examples
      fishernet compare january.csv february.csv
      fishernet compare reference.csv batch-1.csv batch-2.csv batch-3.csv --exit-code
      fishernet compare train.parquet test.parquet --bins 5 --exclude id --json
      fishernet compare old.csv new.csv --model trained.json --plot change.svg
      fishernet compare old.csv new.csv --by clinic --exclude clinic
    """  # noqa: D301
    check.integer(top, "top", least=0)
    if plot is not None:
        check_picture_path(plot)
        check_folder(plot)
    reading = Reading.out_of(options)
    with progress_bar() as progress:
        progress("reading the tables", 0, None)
        network = None if model is None else read_bayesian(model, "compare", "compare by")
        how: dict[str, Any] = {"permutations": permutations, "seed": seed, "progress": progress}
        counted = {"level": level, "min_effect": min_effect, **how}
        if len(after) > 1:
            _check_several([before, *after], plot, by, reading)
            tables = {str(path): _read(path, reading, network, progress) for path in (before, *after)}
            changes = explain_changes(tables, network, bins=None if network else reading.bins, **counted)
            return _of_several(changes, before, exit_code=exit_code)
        labels = [] if by is None else [label for path in (before, *after) for label in labels_in(path, by)]
        first, second = (_read(path, reading, network, progress) for path in (before, *after))
        if by is not None and (first.weights is not None or second.weights is not None or reading.missing == "drop"):
            raise FishernetError("--by takes all rows as they are; leave out --weights and --missing drop")
        first, second = (whole_rows(table, "compare") for table in pooled(first, second, "compare"))
        if network is None and reading.missing == "state":
            first, second = _with_states(*joined(first, second, reading.bins, "compare", (str(before), str(after[0]))))
        kernel = None if network is None else row_kernel(network, first, second, seed=0)
        bins = None if network is not None or reading.missing == "state" else reading.bins
        large = first.n_rows + second.n_rows > MOST_EXCHANGED
        test = two_sample_test(
            first, second, kernel, bins=bins, method="conditionals" if large else "permutation", **how
        )
        change = explain_change(first, second, network, bins=bins, **counted)
        behind = {} if by is None else _behind((first, second), labels, change, bins)
    if plot is not None:
        write_change(change, plot)
    facts: Facts = {"before": str(before), "after": str(after[0]), **_facts(test, change, top)}
    if by is not None:
        facts = {**facts, "by": by, "behind": behind}
    status = CHANGED if exit_code and (test.p_value <= level or change.changed() or change.missing) else 0
    return Answer(facts, [*_text(test, change, top), *_behind_text(by, behind)], status=status)


def _behind(tables: tuple[Table, Table], labels: Sequence[Any], change: ChangeResult, bins: Any) -> Facts:
    """Return what the rows of each label have to do with each change."""
    names = change.changed()
    return {name: group_facts(explain.change(*tables, name, change, bins=bins).by(labels)) for name in names}


def _behind_text(by: str | None, behind: Facts) -> list[str]:
    lines = []
    for name, groups in behind.items():
        evidence = number(groups[0]["answer"])
        lines += ["", f"Evidence for the change of {shown(name)}, {evidence} nats, without the rows of each label:"]
        lines += [f"  {line}" for line in group_lines(str(by), groups)]
    return lines


def _check_several(paths: Sequence[Path], plot: Path | None, by: str | None, reading: Reading) -> None:
    if plot is not None or by is not None or reading.missing == "state":
        option = "--plot" if plot is not None else "--by" if by is not None else "--missing state"
        raise FishernetError(f"{option} is for two tables; compare them two by two")
    twice = doubled(map(str, paths))
    if twice is not None:
        raise FishernetError(f"{twice} is named twice; name each table once")


def _of_several(changes: Changes, before: Path, *, exit_code: bool) -> Answer:
    """Return the answer about several later tables: a line each."""
    batches = [
        {
            "after": name,
            "rows": change.n_rows[1] if change.n_rows else None,
            "changed": list(change.changed()),
            "undecided": list(change.undecided()),
            "missing": [asdict(missing) for missing in change.missing],
            "new_labels": {
                column: {str(label): n for label, n in of.items()} for column, of in change.new_labels.items()
            },
            "variables": change.to_frame().to_pylist(),
        }
        for name, change in changes.by_name.items()
    ]
    lines = [_line(name, change) for name, change in changes.by_name.items()]
    some = any(change.changed() or change.missing for change in changes.by_name.values())
    facts = {"before": str(before), "level": changes.level, "batches": batches}
    return Answer(facts, lines, status=CHANGED if exit_code and some else 0)


def _labels(change: ChangeResult) -> dict[str, dict[str, int]]:
    return {name: {str(label): n for label, n in of.items()} for name, of in change.new_labels.items()}


def _line(name: str, change: ChangeResult) -> str:
    told = [
        ("changed", list(map(shown, change.changed()))),
        ("undecided", list(map(shown, change.undecided()))),
        ("share of missing cells changed", [shown(of.variable) for of in change.missing]),
        ("new labels", [f"{shown(column)} ({', '.join(map(shown, of))})" for column, of in change.new_labels.items()]),
    ]
    said = "; ".join(f"{what}: {', '.join(names)}" for what, names in told if names)
    verdict = "a change" if change.changed() or change.missing or change.in_doubt() else "no evidence of a change"
    return f"{shown(name)}: {verdict}{f' ({said})' if said else ''}"


def _with_states(first: Table, second: Table) -> tuple[Table, Table]:
    """Return two tables in which missing cells are a state, where either lacks some."""
    lacking = first.missing_counts() | second.missing_counts()
    if any(variable.is_continuous for variable in first.variables):
        raise FishernetError("--missing state makes states, and all columns are numbers; cut them with --bins")
    variables = with_missing_states(first.variables, lacking)
    return with_states_of_model(first.conform(variables)), with_states_of_model(second.conform(variables))


def _read(path: Path, reading: Reading, network: Any, progress: Call) -> Table:
    """Read one of the tables; its numbers are cut with those of the other."""
    if network is None:
        if reading.binning != QUANTILE:
            raise FishernetError(
                f"--binning {reading.binning} is not for compare; --bins COLUMN=CUT,CUT,... cuts at other points"
            )
        return refuse_empty(path, replace(reading, bins=None).read(path, progress))
    return reading.read_known(path, network.variables, progress)


def _facts(test: TwoSampleResult, change: ChangeResult, top: int) -> Facts:
    rows = change.to_frame().to_pylist()
    for row in rows:
        share = test.by_variable.get(row["variable"])
        row |= {"statistic": share.statistic, "share": share.share} if share is not None else {}
        row["inherited_from"] = list(change.by_variable[row["variable"]].inherited_from)
    return {
        "rows": list(test.n_rows),
        "p_value": test.p_value,
        "squared_mmd": sum(share.statistic for share in test.by_variable.values()),
        "permutations": test.permutations,
        "nats": change.nats,
        "changed": list(change.changed()),
        "inherited": {name: list(of) for name, of in change.inherited().items()},
        "in_doubt": {name: [list(arc) for arc in arcs] for name, arcs in change.in_doubt().items()},
        "undecided": list(change.undecided()),
        "missing": [asdict(missing) for missing in change.missing],
        "new_labels": _labels(change),
        "graphs": len(change.graphs),
        "rows_learned_from": change.n_learned,
        "seed": test.seed,
        "variables": rows,
        "numbers": {name: _of_number(of) for name, of in change.numbers.items()},
        "configurations": [
            {
                "variable": c.variable,
                "configuration": dict(c.configuration),
                "nats": c.nats,
                "probability": c.probability,
                "before": {str(state): p for state, p in c.before.items()},
                "after": {str(state): p for state, p in c.after.items()},
                "state": str(c.state),
                "low": c.low,
                "high": c.high,
            }
            for c in change.by_configuration[:top]
        ],
    }


def _text(test: TwoSampleResult, change: ChangeResult, top: int) -> list[str]:
    n, m = test.n_rows
    none = (
        "no evidence of a change" if not change.missing else "the share of missing cells changed, no evidence of more"
    )
    verdict = "a change" if test.p_value <= change.level else none
    nats = f"; {number(change.nats)} nats" if change.nats else ""
    how = several(test.permutations, "permutation") if test.permutations else "by tests of conditionals"
    by = f"p = {p_value(test.p_value)}, {how}{nats}"
    size = f"{several(n, 'row')} before, {several(m, 'row')} after, {several(len(change.by_variable), 'variable')}"
    lines = [f"{size}: {verdict} ({by})"]
    if (told := change.told_of_rows()) is not None:
        lines.append(told[0].upper() + told[1:])
    if change.missing:
        lines += ["", "The share of missing cells changed:"]
        lines += [
            f"  {shown(m.variable)}: {100 * m.before:.3g} % -> {100 * m.after:.3g} % (p = {p_value(m.p_corrected)})"
            for m in change.missing
        ]
    if change.new_labels:
        lines += ["", "Labels that only the later table has:"]
        lines += [
            f"  {shown(name)}: "
            + ", ".join(f"{shown(label)} ({several(n, 'row')})" for label, n in list(of.items())[:8])
            for name, of in change.new_labels.items()
        ]
    if change.changed():
        lines += ["", "Changed, given their parents:", *_variables(test, change)]
        shown_rows = [c for c in change.by_configuration if c.variable in change.changed()][:top]
        moved = [of for name, of in change.numbers.items() if name in change.changed()]
        numbers = [_number_line(one) for of in moved for one in of.told()]
        if shown_rows or numbers:
            lines += ["", "From what to what:", *_configurations(shown_rows), *numbers]
    if change.inherited():
        lines += ["", "Changed only because of others:"]
        lines += [f"  {shown(name)}, from {', '.join(map(shown, of))}" for name, of in change.inherited().items()]
    if change.undecided():
        lines += ["", "Undecided by these tables (a network that you trust decides: --model):"]
        lines += [f"  {shown(sentence)}" for sentence in change.undecided()]
    return lines


def _variables(test: TwoSampleResult, change: ChangeResult) -> list[str]:
    several_graphs = len(change.graphs) > 1
    lines = [
        ("  variable", "nats", "95 %", "share of MMD", "p (corrected)", *(["in graphs"] if several_graphs else []))
    ]
    for name in change.changed():
        of = change.by_variable[name]
        share = f"{100 * test.by_variable[name].share:.1f} %" if name in test.by_variable else "-"
        support = [f"{100 * of.support:.0f} %"] if several_graphs else []
        interval = f"{number(of.low)} to {number(of.high)}"
        lines.append((f"  {shown(name)}", number(of.nats), interval, share, p_value(of.p_corrected), *support))
    return aligned(lines)


def _of_number(of: NumberChange) -> Facts:
    where = {} if of.given is None else {"given": {of.given[0]: str(of.given[1])}}
    most = {} if of.most is None else {"most": _of_number(of.most)}
    return {"before": list(of.before), "after": list(of.after), **where, **most}


def _number_line(of: NumberChange) -> str:
    was, now = (" | ".join(side) for side in of.texts(number))
    if of.given is not None:
        return f"    given {shown_states(dict([of.given]))}: {was} -> {now}"
    return f"  {shown(of.variable)}, below which 10 | 50 | 90 % of the later rows are: {was} -> {now}"


def _configurations(changes: Any) -> list[str]:
    lines = []
    for c in changes:
        given = f" given {shown_states(dict(c.configuration))}" if c.configuration else ""
        state = c.state
        lines.append(
            f"  {shown(c.variable)} = {shown(state)}{given}: {c.before[state]:.3g} -> {c.after[state]:.3g}"
            f" (by {c.low:+.3g} to {c.high:+.3g}; {number(c.nats)} nats)"
        )
    return lines
