"""The experiments: who notices a change and names it, false alarms, seeds, and real tables."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

import fishernet as fn
from studies import comparators, figures
from studies.drift import changes, methods
from studies.drift.changes import DEPENDENCE, FREE
from studies.study import Run, Seeds, Table, mean

SEEDS = Seeds({"change": 20, "tables": 21, "false alarms": 22})
LEVEL, ROWS = 0.05, 2_000
NATS = (0.01, 0.02, 0.05)
KINDS = (FREE, DEPENDENCE)
TESTS = (
    methods.OMNIBUS, methods.CONDITIONALS, methods.EXPLAINED, methods.MARGINALS, methods.PAIRS, methods.LOGISTIC,
    methods.BOOSTING,
)  # fmt: skip
LOOKS = {methods.MARGINALS: {"linewidth": 3.0}}  # below another line in places
OTHERS = (methods.FUSE, methods.AGGREGATED, methods.TUNED)
NEEDS = dict.fromkeys((methods.LOGISTIC, methods.BOOSTING, methods.TUNED), "sklearn")

Answer = dict[str, Any]


# ------------------------------------------------------------------------------------------------- power, and names


@cache
def alarm() -> fn.BayesianNetwork:
    return fn.datasets.load("alarm")


@cache
def candidates(kind: str) -> tuple[str, ...]:
    """Return the variables that can be changed by as much as any is."""
    return tuple(changes.changeable(alarm(), kind, max(NATS)))


def changed_pair(kind: str, nats: float, repetition: int) -> tuple[str, fn.Table, fn.Table]:
    """Return which variable is changed, the same in all sizes, and rows before and after."""
    names = candidates(kind)
    name = names[repetition % len(names)]
    random = np.random.default_rng([SEEDS["change"], repetition])
    after = changes.with_table(alarm(), name, changes.changed_table(alarm(), name, kind, nats, random))
    seeds = np.random.SeedSequence([SEEDS["tables"], repetition]).generate_state(2).tolist()
    return name, alarm().sample(ROWS, seed=seeds[0]), after.sample(ROWS, seed=seeds[1])


def ask(kind: str, nats: float, repetition: int) -> Answer:
    """Return the changed variable, and what each method says: its p-value and whom it names."""
    name, before, after = changed_pair(kind, nats, repetition)
    answer: Answer = {"changed": name}
    for method, call in methods.METHODS.items():
        if method in NEEDS and comparators.missing(NEEDS[method]):
            continue
        for test, said in call(before, after, repetition).items():
            answer[test] = [said.p_value, list(said.named)]
    return answer


def noticed(answers: Sequence[Answer], test: str) -> Any:
    return mean([float(answer[test][0] <= LEVEL) if test in answer else np.nan for answer in answers])


def shares_of(answers: Sequence[Answer], test: str, is_right: Callable[[Answer, list[str]], bool]) -> Any:
    """Return how often a test names rightly, among the answers in which it noticed something."""
    found = [answer for answer in answers if answer[test][0] <= LEVEL]
    return mean([float(is_right(answer, answer[test][1])) for answer in found], usual=len(answers))


def is_first(answer: Answer, named: list[str]) -> bool:
    return named[:1] == [answer["changed"]]


def is_alone(answer: Answer, named: list[str]) -> bool:
    return named == [answer["changed"]]


def is_near(answer: Answer, named: list[str]) -> bool:
    """Return whether the first that is named is the changed variable, or joined to it by an arc."""
    joined = {name for arc in alarm().dag.edges if answer["changed"] in arc for name in arc}
    return bool(named) and named[0] in joined


def power(run: Run) -> Iterator[Table]:
    """Ask everyone about changes of each kind and size."""
    nats, repetitions = run.choose(NATS[1:], NATS), run.repetitions(quick=2, usual=42, full=210)
    run.settings.update({"rows": ROWS, "nats": nats, "permutations": methods.PERMUTATIONS})
    tasks = [(kind, size, r) for r in range(repetitions) for kind in KINDS for size in nats]
    answers: dict[tuple[str, float], list[Answer]] = {(kind, size): [] for kind in KINDS for size in nats}
    for (kind, size, _), answer in zip(tasks, run.map(ask, tasks), strict=True):
        answers[kind, size].append(answer)
    rows = [[kind, size, *(noticed(of, test) for test in TESTS)] for (kind, size), of in answers.items()]
    yield Table("power", ["change", "nats", *TESTS], rows, ["", "short", *[".2f"] * len(TESTS)])
    yield Table(
        "named",
        [
            "change",
            "nats",
            "smallest p",
            "or a neighbour",
            "largest share",
            "explain_change, first",
            "alone",
            "marginals",
        ],
        [
            [
                kind,
                size,
                shares_of(of, methods.CONDITIONALS, is_first),
                shares_of(of, methods.CONDITIONALS, is_near),
                shares_of(of, methods.OMNIBUS, is_first),
                shares_of(of, methods.EXPLAINED, is_first),
                shares_of(of, methods.EXPLAINED, is_alone),
                shares_of(of, methods.MARGINALS, is_first),
            ]
            for (kind, size), of in answers.items()
        ],
        ["", "short", *[".2f"] * 6],
    )


def ask_others(kind: str, nats: float, repetition: int) -> Answer:
    """Return what tests by kernels, and a classifier that is tuned, say of the same tables as `ask`."""
    _, before, after = changed_pair(kind, nats, repetition)
    said = methods.by_kernels(before, after, repetition, LEVEL)
    if not comparators.missing(NEEDS[methods.TUNED]):
        said[methods.TUNED] = methods.classifier(before, after, repetition, methods.tuned)
    return {test: [of.p_value, list(of.named)] for test, of in said.items()}


def others(run: Run) -> Iterator[Table]:
    """Ask what takes long about the changes of more than a hundredth of a nat."""
    nats, repetitions = run.choose(NATS[2:], NATS[1:]), run.repetitions(quick=1, usual=42, full=210)
    tasks = [(kind, size, r) for kind in KINDS for size in nats for r in range(repetitions)]
    answers: dict[tuple[str, float], list[Answer]] = {(kind, size): [] for kind in KINDS for size in nats}
    for (kind, size, _), answer in zip(tasks, run.map(ask_others, tasks), strict=True):
        answers[kind, size].append(answer)
    rows = [[kind, size, *(noticed(of, test) for test in OTHERS)] for (kind, size), of in answers.items()]
    yield Table("others", ["change", "nats", *OTHERS], rows, ["", "short", *[".2f"] * len(OTHERS)])


# ------------------------------------------------------------------------------------------------------- false alarms

SETTINGS = ((2, 2), (2, 8), (5, 3), (10, 2), (10, 8), (20, 3), (40, 2), (40, 4))  # variables, states of each
FEW_ROWS, DRAWS = 500, 39
CHEAP, FIRST = 20, 40  # variables times states, and repetitions, in which the bootstrap learns networks again
TWO_SAMPLE, KNOWN, FITTED = "two-sample test", "score test, known", "fitted"
HALVES, RELEARNED, SAME_ROWS = "graph of other rows", "learned again", "graph of the same rows"
PROCEDURES = (TWO_SAMPLE, KNOWN, FITTED, HALVES, RELEARNED, SAME_ROWS)


def random_network(n_variables: int, n_states: int, seed: int) -> fn.BayesianNetwork:
    """Return a network with up to three parents each (one, of many states), whose tables are uniform on simplices."""
    random = np.random.default_rng([SEEDS["false alarms"], seed, n_variables, n_states])
    names = [f"v{v}" for v in range(n_variables)]
    most, parents, tables = 3 if n_states <= 3 else 1, {}, {}
    for v, name in enumerate(names):
        chosen = sorted(random.permutation(v)[: int(random.integers(min(v, most) + 1))].tolist())
        parents[name] = [names[u] for u in chosen]
        tables[name] = random.dirichlet(np.ones(n_states), size=(n_states,) * len(chosen))
    return fn.BayesianNetwork.from_tables([fn.Variable(name, range(n_states)) for name in names], parents, tables)


def learned(rows: fn.Table) -> fn.BayesianNetwork:
    return fn.learn.bayesian_network(rows, seed=0)


def score_p(net: fn.BayesianNetwork, rows: fn.Table, seed: int, **more: Any) -> float:
    kernel = fn.kernels.FisherKernel(net)
    return fn.compare.score_test(kernel, rows, simulations=DRAWS, seed=seed, **more).p_value


def without_change(n_variables: int, n_states: int, repetition: int) -> dict[str, float]:
    """Return the p-values of whole procedures on two tables of one network."""
    net = random_network(n_variables, n_states, repetition)
    seeds = np.random.SeedSequence([SEEDS["false alarms"], repetition]).generate_state(2).tolist()
    X, Y = (net.sample(FEW_ROWS, seed=seed) for seed in seeds)
    half = FEW_ROWS // 2
    of_half = fn.learn.parameters(learned(X[np.arange(half)]).dag, X[np.arange(half, FEW_ROWS)])
    of_all = learned(X)
    found = {
        TWO_SAMPLE: fn.compare.two_sample_test(X, Y, permutations=DRAWS, seed=repetition).p_value,
        KNOWN: score_p(net, Y, repetition, n_fitted=0),
        FITTED: score_p(fn.learn.parameters(net.dag, X), Y, repetition),
        HALVES: score_p(of_half, Y, repetition),
        SAME_ROWS: score_p(of_all, Y, repetition),
    }
    if n_variables * n_states <= CHEAP and repetition < FIRST:
        found[RELEARNED] = score_p(of_all, Y, repetition, fit=learned)
    return found


def false_alarms(run: Run) -> Table:
    """Count how often equal sources are told apart."""
    settings = run.choose(SETTINGS[:4], SETTINGS)
    repetitions = run.choose(3, 250, 1_000)
    run.settings.update({"false alarms": repetitions * len(settings), "their rows": FEW_ROWS, "their draws": DRAWS})
    tasks = [(*setting, r) for r in range(repetitions) for setting in settings]
    alarms: dict[tuple[int, int], list[dict[str, float]]] = {setting: [] for setting in settings}
    for (d, r, _), found in zip(tasks, run.map(without_change, tasks), strict=True):
        alarms[d, r].append(found)
    rows = [[f"{d} of {r}", *alarm_cells(of)] for (d, r), of in alarms.items()]
    rows.append(["all", *alarm_cells([one for of in alarms.values() for one in of])])
    return Table("false-alarms", ["variables of states", *PROCEDURES], rows, ["", *[".1f"] * len(PROCEDURES)])


def alarm_cells(found: Sequence[Mapping[str, float]]) -> list[Any]:
    """Return the percentage of p-values up to the level, by procedure."""
    p_values = [[one.get(name, np.nan) for one in found] for name in PROCEDURES]
    return [mean(np.where(np.isnan(of), np.nan, 100.0 * (np.array(of) <= LEVEL))) for of in p_values]


def flips(kind: str, nats: float, seeds: int) -> list[int]:
    """Return how often other seeds of the splits give another answer than most: of the test, and which change."""
    _, before, after = changed_pair(kind, nats, 0)
    first = fn.compare.two_sample_test(before, after, permutations=methods.PERMUTATIONS, seed=0)
    every = [
        fn.compare.two_sample_test(before, after, first.kernel, permutations=methods.PERMUTATIONS, seed=seed)
        for seed in range(seeds)
    ]
    rejected = [one.p_value <= LEVEL for one in every]
    named = [one.changed(LEVEL) for one in every]
    usual = max(set(named), key=named.count)
    return [min(sum(rejected), seeds - sum(rejected)), seeds - named.count(usual)]


def seeds_table(run: Run) -> Table:
    """Count flips of the answer, on the first pair of tables of each kind and size."""
    seeds = run.choose(5, 100)
    tasks = [(kind, nats, seeds) for kind in KINDS for nats in NATS]
    rows = [[*task[:2], *found] for task, found in zip(tasks, run.map(flips, tasks), strict=True)]
    return Table("seeds", ["change", "nats", "flips of the test", "flips of the names"], rows, ["", "short", "", ""])


# ---------------------------------------------------------------------------------------------------------- real tables


def halves(path: Path, n_first: int) -> tuple[fn.Table, fn.Table]:
    table = fn.read_table(path, missing="state")
    return table[np.arange(n_first)], table[np.arange(n_first, table.n_rows)]


def conditions(path: Path, bins: int) -> Iterator[tuple[str, fn.Table, fn.Table]]:
    """Yield every condition of sachs beside the first, numbers cut at quantiles of all."""
    table = fn.read_table(path, missing="state").discretize(bins)
    column = table.codes[table.names.index("condition")]
    states = [str(state) for state in table.variables[table.names.index("condition")].states]
    rows = table.select([name for name in table.names if name != "condition"])
    usual = states.index("cd3cd28")
    for code, state in enumerate(states):
        if code != usual:
            yield state, rows[np.flatnonzero(column == usual)], rows[np.flatnonzero(column == code)]


def what_changed(what: str, before: fn.Table, after: fn.Table) -> list[Any]:
    """Return a row: rows, p-value, nats, and in words what changed."""
    test = fn.compare.two_sample_test(before, after, permutations=methods.PERMUTATIONS, seed=0)
    found = fn.compare.explain_change(before, after, resamples=50)
    changed = [f"{name} {found.by_variable[name].nats:.3f}" for name in found.changed()]
    names = ", ".join(changed[:4]) + (f" and {len(changed) - 4} more" if len(changed) > 4 else "") or "nothing"
    most = next((one for one in found.by_configuration if one.variable in found.changed()), None)
    said = "" if most is None else in_words(most)
    sizes = f"{before.n_rows:,}, {after.n_rows:,}"
    return [what, sizes, test.p_value, found.nats, names, len(found.inherited()), len(found.in_doubt()), said]


def in_words(change: fn.compare.ConfigurationChange) -> str:
    where = ", ".join(f"{name} = {state}" for name, state in change.configuration.items())
    one, other = change.before[change.state], change.after[change.state]
    return f"{change.variable} = {change.state}{' where ' + where if where else ''}: {one:.0%} to {other:.0%}"


def real(run: Run) -> Table:
    """Say what changed between parts of real tables."""
    rows = []
    train, test = run.file("uci", "adult-train.csv.gz"), run.file("uci", "adult-test.csv.gz")
    if train is not None and test is not None and run.form != "quick":
        rows.append(
            what_changed(
                "adult, training and test", fn.read_table(train, missing="state"), fn.read_table(test, missing="state")
            )
        )
    pendigits, sachs = run.file("uci", "pendigits.csv"), run.file("bio", "sachs-all.csv")
    if pendigits is not None and run.form != "quick":
        rows.append(what_changed("pendigits, 30 writers and 14 others", *halves(pendigits, 7_494)))
    letter = run.file("uci", "letter.csv")
    if letter is not None and run.form != "quick":
        rows.append(what_changed("letter, first 16,000 and last 4,000", *halves(letter, 16_000)))
    if sachs is not None:
        rows += [what_changed(f"sachs, {state}", *tables) for state, *tables in conditions(sachs, 4)]
    columns = ["tables", "rows", "p", "nats", "changed, nats", "inherited", "in doubt", "the most"]
    return Table("real", columns, rows, ["", "", ".3f", ".3f", "", "", "", ""])


def compute(run: Run) -> Iterator[Table]:
    yield from power(run)
    yield seeds_table(run)
    if run.data is not None:
        yield real(run)
    yield false_alarms(run)
    yield from others(run)


PARTS = {"others": others}


def draw(tables: Mapping[str, Table], path: Callable[[str], Path]) -> None:
    """Draw the power by nats, a panel per kind of change."""
    held = tables["power"]
    titles = {FREE: "any change of one conditional", DEPENDENCE: "dependence alone, all marginals stay"}
    panels = {}
    for kind, title in titles.items():
        rows = held.select(change=kind)
        panels[title] = [
            figures.Line(t, [r["nats"] for r in rows], [r[t] for r in rows], LOOKS.get(t, {})) for t in TESTS
        ]
    figures.lines(path("power"), panels, x="nats", y="share noticed")
