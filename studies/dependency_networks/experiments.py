"""The experiments: Tables 1 to 4 of the paper computed again, and what it does not have."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from itertools import combinations, product
from multiprocessing import get_context
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple, TypeVar

import numpy as np

import fishernet as fn
from studies import figures
from studies.dependency_networks import exactly, measures
from studies.dependency_networks.measures import exact_kl, kl_of_rows, stationary, total_variation, truth_to_manifolds
from studies.dependency_networks.truths import PRINTED, SEEDS, DataSet, Truth, data_sets, ising, random_network
from studies.dependency_networks.truths import read_bn20_37 as read_bn
from studies.study import Array, Run, Table, mean, moved

T = TypeVar("T")

OUTPUT, OTHER, BY_SIZE = (tuple(range(a + 1, a + k)) for a, k in ((100, 4), (200, 11), (300, 4)))
ALL_SEEDS: dict[str, Any] = {
    "training sets": SEEDS,
    "output": OUTPUT,
    "other training sets": OTHER,
    "training sizes": BY_SIZE,
    "truths of 12 variables": exactly.SEEDS,
}
ALL_SEEDS |= {"stationary distributions": 401, "ordered scan": 501, "clamping": 601, "learning time": 701}
OUTPUT_ROWS = 100_000


class Learned(NamedTuple):
    """Both models of one data set, and how they were learned."""

    data: DataSet
    dn: fn.DependencyNetwork
    bn: fn.BayesianNetwork
    smoothing: str  # how the Bayesian network's parameters were fitted
    found: fn.learn.InputSearchResult
    climbed: fn.learn.SearchResult
    milliseconds: tuple[float, ...]  # of structure and parameters, medians of three: processor DN, BN, wall DN, BN

    @property
    def evaluations_bn(self) -> int:
        """The acyclic graphs that Algorithm 7 evaluates."""
        return measures.candidates_of_climb(self.data.truth.names, self.climbed.steps)

    @property
    def all_evaluations_bn(self) -> int:
        """The graphs that it would evaluate if those with a cycle counted, too."""
        return measures.all_candidates_of_climb(len(self.data.truth.names), self.climbed.steps)


def timed(work: Callable[[], T], trials: int = 3) -> tuple[T, tuple[float, float]]:
    """Return a result, and the median milliseconds by the processor's and by the wall's clock."""
    cpu, wall = [], []
    for _ in range(trials):
        began = time.process_time(), time.perf_counter()
        result = work()
        cpu.append(1e3 * (time.process_time() - began[0]))
        wall.append(1e3 * (time.perf_counter() - began[1]))
    return result, (median(cpu), median(wall))


def fit_bn(dag: fn.Dag, rows: fn.Table) -> tuple[fn.BayesianNetwork, str]:
    """Fit a Bayesian network by plain frequencies (Eq. 25); where one is 0/0, by Algorithm 5 as for the other."""
    try:
        return fn.learn.parameters(dag, rows, smoothing=0), "Eq. 25"
    except fn.ZeroProbabilityError:
        return fn.learn.parameters(dag, rows, smoothing="zeros"), "Algorithm 5"


def learn_bn(rows: fn.Table) -> tuple[fn.learn.SearchResult, fn.BayesianNetwork, str]:
    """Learn by Algorithm 7."""
    climbed = fn.learn.structure(rows, score="mdl", search="hill-climb")
    return climbed, *fit_bn(climbed.dag, rows)


def learn(data: DataSet) -> Learned:
    """Learn both models of a data set, three times for the clock."""
    found = fn.learn.local_structure(data.rows, score="mdl")
    dn, of_dn = timed(lambda: fn.learn.dependency_network(data.rows, score="mdl", smoothing="zeros"))
    (climbed, bn, smoothing), of_bn = timed(lambda: learn_bn(data.rows))
    return Learned(data, dn, bn, smoothing, found, climbed, (of_dn[0], of_bn[0], of_dn[1], of_bn[1]))


def output_kl(model: Any, truth: Truth, n: int, seeds: tuple[int, ...] = OUTPUT) -> list[float]:
    """Return the KL divergence to the truth of output rows; burn-in and thinning are n firings, the scan is random."""
    return [kl_of_rows(model.sample(n, seed=moved(seed)), truth) for seed in seeds]


def entropy(rows: fn.Table, child: str, parents: list[str]) -> float:
    """Return H(child | parents) of the rows' empirical distribution."""
    return -fn.local_score(rows, child, parents, score="loglik") / rows.n_rows


def with_printed(learned: list[Learned], part: int, ours: Callable[[Learned], list[Any]]) -> list[list[Any]]:
    """Return our row of every data set below the printed one."""
    rows: list[list[Any]] = []
    for one in learned:
        if one.data.name in PRINTED:
            rows.append([one.data.name, "published", *PRINTED[one.data.name][part]])
        rows.append([one.data.name, "here", *ours(one)])
    return rows


def accuracy(learned: list[Learned], n_rows: int) -> Table:
    """Return Table 1: KL divergences to the truth of the training rows, and of output rows by three seeds."""

    def ours(one: Learned) -> list[Any]:
        truth = one.data.truth
        return [kl_of_rows(one.data.rows, truth), *(output_kl(model, truth, n_rows) for model in (one.dn, one.bn))]

    heads = [f"KL({what}, truth)" for what in ("training", "DN's output", "BN's output")]
    return Table(f"accuracy-{n_rows}", ["data", "", *heads], with_printed(learned, 0, ours))


def manifolds_of(one: Learned) -> tuple[Array, Array]:
    """Return how far the training rows and the truth are from every full-conditional manifold."""
    training = [fn.compare.kl_to_manifold(one.data.rows, one.dn, name) for name in one.dn.names]
    return np.array(training), truth_to_manifolds(one.data.truth, one.dn)


def manifolds(learned: list[Learned]) -> Table:
    """Return Tables 2 and 3: what node 0 learned, and the means over all nodes."""

    def ours(one: Learned) -> list[Any]:
        name, inputs = one.dn.names[0], [one.dn.names[v] for v in one.found.inputs[0]]
        training, truth = manifolds_of(one)
        entropies = [entropy(one.data.rows, name, given) for given in ([], inputs)]
        return [" ".join(inputs), *entropies, training[0], truth[0], training.mean(), truth.mean()]

    means = ["mean KL(training, Ei)", "mean KL(truth, Ei)"]
    heads = ["data", "", "Y0", "H(X0)", "H(X0 given Y0)", "KL(training, E0)", "KL(truth, E0)", *means]
    return Table("manifolds", heads, with_printed(learned, 1, ours), "short")


def evaluations(learned: list[Learned]) -> Table:
    """Return Table 4, and beside it elapsed time and distinct local scores, which the paper does not have."""

    def ours(one: Learned) -> list[Any]:
        scores = [one.found.n_scores, one.climbed.n_scores]
        return [one.found.n_candidates, one.evaluations_bn, one.all_evaluations_bn, *one.milliseconds, *scores]

    heads = [f"{what} {who}" for what in ("CPU ms", "elapsed ms", "scores") for who in ("DN", "BN")]
    heads = ["data", "", "evaluations DN", "evaluations BN, acyclic", "evaluations BN, all", *heads]
    rows = with_printed(learned, 2, ours)
    for row in rows:
        if row[1] == "published":
            row.insert(3, None)  # what is printed counts cyclic graphs, too
    return Table("evaluations", heads, rows, ".1f")


def other_training_sets(sets: list[DataSet], others: tuple[int, ...]) -> Table:
    """Return how the printed figures move from one training set to the next."""
    rows = []
    for data in sets:
        truth = data.truth
        learned = [
            learn(DataSet(data.name, truth, truth.model.sample(data.rows.n_rows, seed=moved(k)))) for k in others
        ]
        seeds = [(100 + seed,) for seed in others]
        outputs = [
            [kl_of_rows(one.data.rows, truth) for one in learned],
            *(
                [
                    output_kl(getattr(one, of), truth, OUTPUT_ROWS, seed)[0]
                    for one, seed in zip(learned, seeds, strict=True)
                ]
                for of in ("dn", "bn")
            ),
        ]
        to_manifolds = [float(truth_to_manifolds(truth, one.dn).mean()) for one in learned]
        counts = [[getattr(one, of) for one in learned] for of in ("evaluations_bn", "all_evaluations_bn")]
        counts = [[one.found.n_candidates for one in learned], *counts]
        rows.append([data.name, *(mean(of) for of in (*outputs, to_manifolds, *counts))])
    divergences = [f"KL({what}, truth)" for what in ("training", "DN's output", "BN's output")]
    heads = ["data", *divergences, "mean KL(truth, Ei)", "evaluations DN", "BN, acyclic", "BN, all"]
    return Table("other-training-sets", heads, rows, [".2f"] * 4 + ["short"] + [",.0f"] * 3)


def at_size(truth: Truth, n: int, exact: list[list[float]], *, output_rows: int = OUTPUT_ROWS) -> list[Any]:
    """Return means over training sets: KL of output rows (DN, BN), exact KL (DN, BN), to manifolds, in-degrees.

    Exact are the divergences of the stationary distribution, and of the Bayesian network, themselves.
    """
    found = []
    for seed in BY_SIZE:
        rows = truth.model.sample(n, seed=moved(seed))
        dn, (_, bn, _) = fn.learn.dependency_network(rows), learn_bn(rows)
        outputs = [output_kl(model, truth, output_rows, (seed,))[0] for model in (dn, bn)]
        degrees = [np.mean([len(of) for of in parents]) for parents in (dn.inputs, bn.dag.parents)]
        found.append([*outputs, exact_kl(bn, truth), truth_to_manifolds(truth, dn).mean(), *degrees])
    usual = len(found)
    output_dn, output_bn, exact_bn, *others = (mean(of) for of in np.array(found).T)
    exact_dn = mean([values[0] for values in exact], usual=usual) if exact else None
    return [output_dn, output_bn, exact_dn, exact_bn, *others]


def by_size(truth: Truth, sizes: list[int], found: exactly.Exact) -> Table:
    """Measure at every size; the last row is of rows drawn from the truth itself: what a perfect model would get."""
    rows = [[f"{n:,}", *at_size(truth, n, found.get((truth.name, n), []))] for n in sizes]
    floor = mean([kl_of_rows(truth.model.sample(OUTPUT_ROWS, seed=moved(1000 + seed)), truth) for seed in BY_SIZE])
    rows.append(["the truth itself", floor, floor, 0.0, 0.0, 0.0, None, None])
    kl = [f"{what}, {who}" for what in ("KL of output", "exact KL") for who in ("DN", "BN")]
    heads = ["training rows", *kl, "mean KL(truth, Ei)", "inputs per node", "parents per node"]
    return Table(f"sizes-{truth.name.lower()}", heads, rows, ["short"] * 6 + [".2f"] * 2)


def ending(truth: Truth, n: int) -> list[float]:
    """Learn from n rows and compare both sides of Theorem 3, FC(p || pi) <= mean of KL(p || E(theta_i)).

    Return KL(pi || p*), both sides for the truth, both for the training rows, and the mean of KL(pi || E(theta_i)),
    which is 0 if and only if a joint distribution has these conditionals.
    """
    rows = truth.model.sample(n, seed=moved(401))
    dn = fn.learn.dependency_network(rows)
    pi, p = stationary(dn), truth.joint()
    of_truth = measures.conditional_divergence(p, pi), float(truth_to_manifolds(truth, dn).mean())
    of_rows = measures.rows_conditional_divergence(rows, pi), measures.mean_to_manifolds(rows, dn)
    return [exact_kl(pi, truth), *of_truth, *of_rows, measures.mean_to_manifolds(pi, dn)]


def endings(pairs: list[tuple[Truth, int]]) -> Table:
    heads = ["truth", "training rows", "KL(pi, p*)", "FC(p*, pi)", "bound", "FC(training, pi)", "bound of training"]
    rows = [[truth.name, n, *ending(truth, n)] for truth, n in pairs]
    return Table("theorem-3", [*heads, "inconsistency"], rows, "short")


class Orbit(NamedTuple):
    """How the ordered scan moves: firing variable i projects p^t on E(theta_i) (Theorem 2).

    With the conditionals of one joint distribution p^t falls on that; with learned ones it ends in a cycle pi_0, ...,
    pi_(n-1), where pi_i is the distribution before variable i fires and the centre is their average (Eq. 7).
    """

    to_centre: Array  # (n_firings + 1,) KL(p^t || centre)
    to_cycle: Array  # (n_firings + 1,) total variation between p^t and the point of the cycle that t ends in
    radius: Array  # (n_variables,) KL(pi_i || centre)
    to_manifold: Array  # (n_variables,) KL(pi_(i+1) || E(theta_i)), 0 because i has just been fired
    to_other_manifolds: Array  # (n_variables,) the largest KL(pi_(i+1) || E(theta_j))
    between_scans: float  # total variation between the centre and the random scan's stationary distribution
    average_error: float  # the largest difference between the average of the cycle and `fishernet.infer.stationary`


def cycle_of(dn: fn.DependencyNetwork) -> list[Array]:
    """Return pi_0, ..., pi_(n-1) by sweeping until a whole sweep changes nothing."""
    shape = tuple(variable.cardinality for variable in dn.variables)
    p, change = np.full(shape, 1 / np.prod(shape)), np.inf
    while change > 1e-15:
        cycle: list[Array] = []
        for name in dn.names:
            cycle.append(p)
            p = fn.compare.project_on_manifold(p, dn, name)
        p /= p.sum()
        change = total_variation(p, cycle[0])
    return cycle


def orbit(dn: fn.DependencyNetwork, sweeps: int = 64) -> Orbit:
    """Follow the ordered scan from the state in which every variable has its first code."""
    n = len(dn.names)
    cycle = cycle_of(dn)
    centre = fn.infer.stationary(dn, scan="ordered")
    p = np.zeros(centre.shape)
    p[(0,) * n] = 1.0
    way = [[fn.compare.kl(p, centre), total_variation(p, cycle[0])]]
    for t in range(n * sweeps):
        p = fn.compare.project_on_manifold(p, dn, dn.names[t % n])
        way.append([fn.compare.kl(p, centre), total_variation(p, cycle[(t + 1) % n])])
    after = [cycle[(i + 1) % n] for i in range(n)]
    all_of = np.array([[fn.compare.kl_to_manifold(q, dn, name) for name in dn.names] for q in after])
    radius = np.array([fn.compare.kl(q, centre) for q in cycle])
    between = total_variation(centre, fn.infer.stationary(dn))
    error = float(np.abs(np.mean(cycle, axis=0) - centre).max())
    to_centre, to_cycle = np.array(way).T
    return Orbit(to_centre, to_cycle, radius, np.diagonal(all_of).copy(), all_of.max(axis=1), between, error)


def pseudo_network(truth: Truth, n_rows: int = 200) -> fn.DependencyNetwork:
    return fn.learn.dependency_network(truth.model.sample(n_rows, seed=moved(501)))


def ways(truth: Truth, first: int = 16, last: int = 96) -> Table:
    """Return the ways of the ordered scan in the plane, as in Figs. 3 and 4 of the paper.

    A distribution is the vector of the square roots of its probabilities, in which distances are Hellinger's; the plane
    is the one of the two principal axes of the way itself, seen from the point in which it ends or the cycle's centre.
    """
    columns: list[Any] = []
    for dn in (fn.DependencyNetwork.from_joint(truth.model), pseudo_network(truth)):
        centre = np.sqrt(fn.infer.stationary(dn, scan="ordered")).ravel()
        p = np.zeros(truth.joint().shape)
        p[(0,) * p.ndim] = 1.0
        points = []
        for t in range(last):
            p = fn.compare.project_on_manifold(p, dn, dn.names[t % p.ndim])
            points.append(np.sqrt(p).ravel() - centre)
        late = np.array(points[first - 1 :])
        axes = np.linalg.svd(late[-2 * p.ndim :] if dn is not None and np.abs(late[-1]).max() > 1e-2 else late)[2][:2]
        columns += list((late @ axes.T).T)
    rows = [[t, "shown" if t % 16 == 0 else "", *at] for t, at in enumerate(zip(*columns, strict=True), first)]
    heads = ["firings", "in the report", "actual, x", "actual, y", "pseudo, x", "pseudo, y"]
    return Table("ways", heads, rows, "short", only=["shown"])


def movement(truth: Truth) -> Iterator[Table]:
    names = truth.names
    yield ways(truth)
    actual, pseudo = orbit(fn.DependencyNetwork.from_joint(truth.model)), orbit(pseudo_network(truth))
    n = len(names)
    rows: list[list[Any]] = []
    for t in range(64 * n + 1):
        four = (actual.to_centre[t], actual.to_cycle[t], pseudo.to_centre[t], pseudo.to_cycle[t])
        rows.append([t, names[(t - 1) % n] if t else "start", *four])
    distances = ["actual: KL(pt, centre)", "TV to its end", "pseudo: KL(pt, centre)", "TV to its cycle"]
    shown = [*range(n + 1), *(n * sweep for sweep in (2, 3, 4, 8, 16, 32, 64))]
    rows = [row for row in rows if row[0] in shown or row[0] <= 16 * n]
    for row in rows:
        row.insert(1, "shown" if row[0] in shown else "")
    heads = ["firings", "in the report", "last fired", *distances]
    yield Table("ordered-scan", heads, rows, "short", only=["shown"])
    columns = zip(names, pseudo.radius, pseudo.to_manifold, pseudo.to_other_manifolds, strict=True)
    heads = ["i", "KL(pi_i, centre)", "KL(pi_(i+1), E_i)", "largest KL(pi_(i+1), E_j)"]
    yield Table("cycle", heads, list(columns), "short")
    rows = []
    for size in (100, 1_000, 10_000):
        found = orbit(pseudo_network(truth, size), sweeps=1)
        rows.append([size, float(found.radius.max()), found.between_scans, f"{found.average_error:.1E}"])
    heads = ["training rows", "largest KL(pi_i, centre)", "TV(ordered, random)", "largest error of Eq. 7"]
    yield Table("cycle-sizes", heads, rows, "short")


def gaps(truth: Truth, dn: fn.DependencyNetwork, size: int) -> Array:
    """Compare conditioning with clamping, for every piece of evidence v on so many variables; a row each.

    p*(v), KL(pi(. | v) || pi_v), which is 0 if both agree, KL(p*(. | v) || pi(. | v)) and KL(p*(. | v) || pi_v).
    """
    p, pi, found = truth.joint(), fn.infer.stationary(dn), []
    for where in combinations(range(len(dn.names)), size):
        for states in product((0, 1), repeat=size):
            given = dict(zip(where, states, strict=True))
            at = tuple(given.get(v, slice(None)) for v in range(p.ndim))
            exact, free = p[at] / p[at].sum(), pi[at] / pi[at].sum()
            clamped = fn.infer.stationary(dn, given={dn.names[v]: dn.variables[v].states[k] for v, k in given.items()})
            kl = fn.compare.kl
            found.append([p[at].sum(), kl(free, clamped), kl(exact, free), kl(exact, clamped)])
    return np.array(found)


def clamping(truth: Truth, sizes: list[int]) -> Table:
    """Return means weighted by p*(v) and the worst, for learned networks and the truth's own conditionals."""
    learned = [
        (f"learned, {n:,} rows", fn.learn.dependency_network(truth.model.sample(n, seed=moved(601)))) for n in sizes
    ]
    asked = [(called, dn, size) for called, dn in learned for size in (1, 2)]
    rows = []
    for called, dn, size in [*asked, ("the truth's own conditionals", fn.DependencyNetwork.from_joint(truth.model), 1)]:
        found = gaps(truth, dn, size)
        means = found[:, 0] / found[:, 0].sum() @ found[:, 1:]
        rows.append([called, size, means[0], found[:, 1].max(), *means[1:]])
    of_truth = ["mean KL(truth, conditioned)", "mean KL(truth, clamped)"]
    heads = ["network", "clamped variables", "mean KL(conditioned, clamped)", "largest", *of_truth]
    return Table("clamping", heads, rows, "short")


def trees(truth: Truth, n: int, *, output_rows: int = OUTPUT_ROWS) -> list[list[Any]]:
    """Learn with direct inputs and with trees from the same rows."""
    rows, found = truth.model.sample(n, seed=moved(BY_SIZE[0])), []
    for kind in ("direct", "tree"):
        dn = fn.learn.dependency_network(rows, inputs=kind)
        output = output_kl(dn, truth, output_rows, (1,))[0]
        found.append([truth.name, n, kind, dn.n_parameters, float(truth_to_manifolds(truth, dn).mean()), output])
    return found


def trees_of_letter(n_rows: int) -> Table:
    """Return the loss of held-out rows of a real table, each cell given the rest."""
    letter = fn.datasets.load("letter", bins=4, binning="equal-width")
    assert isinstance(letter, fn.Table)
    training, held_out = letter[np.arange(n_rows)].split(0.5, seed=moved(0))
    rows = []
    for kind in ("direct", "tree"):
        dn = fn.learn.dependency_network(training, inputs=kind)
        rows.append([kind, dn.n_parameters, -float(dn.pseudo_log_likelihood(held_out).mean())])
    heads = ["inputs", "parameters", "held-out negative pseudo-log-likelihood per row"]
    return Table("trees-letter", heads, rows, ".3f")


class Cost(NamedTuple):
    """What learning took on one table."""

    n: int
    inputs: float  # per variable
    candidates: int | None  # families that were looked at; None where counting them would take as long again
    seconds: float  # the fastest of three calls; of calls of 10 s and more the only one
    peak_bytes: int | None  # the process at its largest, library included; None where the system does not tell


def cost(n: int, n_rows: int = 10_000) -> Cost:
    """Learn from rows of a random network and watch the clock and the memory of this process."""
    rows = random_network(n).sample(n_rows, seed=moved(701))
    seconds: list[float] = []
    while not seconds or (len(seconds) < 3 and seconds[-1] < 10):
        began = time.perf_counter()
        dn = fn.learn.dependency_network(rows)
        seconds.append(time.perf_counter() - began)
    counted = fn.learn.local_structure(rows).n_candidates if seconds[-1] < 10 else None
    inputs = float(np.mean([len(of) for of in dn.inputs]))
    return Cost(n, inputs, counted, min(seconds), measures.memory("self/status", "VmHWM"))


def costs(sizes: tuple[int, ...], n_rows: int = 10_000) -> list[Cost]:
    """Return what learning takes at each size for which there is the memory, each in a process of its own."""
    found: list[Cost] = []
    for n in sizes:
        room = measures.memory("meminfo", "MemAvailable")
        if found and room and found[-1].peak_bytes and found[-1].peak_bytes * (n / found[-1].n) ** 2 > room:
            break  # memory grows as n^2
        with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as process:
            found.append(process.submit(cost, n, n_rows).result())
    return found


def growth(found: list[Cost], asymptotic: int = 200) -> tuple[float, float]:
    """Return e of seconds ~ n^e, by least squares of the logarithms, and c of c n^2 inputs, the geometric mean.

    Of small tables what a call costs by itself matters, and they do not count.
    """
    judged = [at for at in found if at.n >= asymptotic]
    judged = judged if len(judged) > 1 else found
    logs = np.log([[at.n, at.seconds, at.seconds / (at.n**2 * at.inputs)] for at in judged])
    return float(np.polyfit(logs[:, 0], logs[:, 1], 1)[0]), float(np.exp(logs[:, 2].mean()))


def learning_time(found: list[Cost]) -> Table:
    exponent, unit = growth(found)
    rows: list[list[Any]] = []
    for at in found:
        megabytes = None if at.peak_bytes is None else round(at.peak_bytes / 1e6)
        each = f"{1e6 * at.seconds / (at.n**2 * at.inputs):.2f}"
        rows.append([at.n, f"{at.inputs:.2f}", at.candidates, at.seconds, each, megabytes])
    rows.append([f"n^{exponent:.2f}", None, None, None, f"{1e6 * unit:.2f}", None])
    heads = ["variables", "inputs per variable", "candidates", "seconds", "us / (n^2 inputs)", "memory, MB"]
    return Table("learning-time", heads, rows, ".3g")


def draw(tables: Mapping[str, Table], path: Callable[[str], Path]) -> None:
    """Draw the measured times and c n^2 inputs, the exact divergences, and Figs. 3 and 4 of the paper."""
    draw_movement(tables, path)
    draw_exact(tables["exact"], path("exact"))
    *rows, fitted = tables["learning-time"].rows
    x, unit = [float(row[0]) for row in rows], 1e-6 * float(fitted[4])
    expected = [unit * row[0] ** 2 * float(row[1]) for row in rows]
    lines = [
        figures.Line("measured", x, [row[3] for row in rows], {"linestyle": "none"}),
        figures.Line("c n² inputs", x, expected, {"linestyle": "--", "marker": "", "color": "#595959"}),
    ]
    figures.lines(path("growth"), {"Learning from 10,000 rows": lines}, x="variables", y="seconds", log="xy")


def draw_movement(tables: Mapping[str, Table], path: Callable[[str], Path]) -> None:
    """Draw the ordered scan: its distance to where it ends, and its way in the plane."""
    rows = [row for row in tables["ordered-scan"].select() if row["firings"] <= 128]
    x = [float(row["firings"]) for row in rows]
    scans = ("actual", "pseudo")
    few = {"markevery": 8}
    lines = [figures.Line(f"{of} Gibbs", x, [row[f"{of}: KL(pt, centre)"] for row in rows], few) for of in scans]
    figures.lines(path("firings"), {"Ising2x4, from all zeros": lines}, x="firings", y="KL(pt, centre), nats", log="y")
    at = tables["ways"].select()
    titles = {"Fig. 3: actual Gibbs": "actual", "Fig. 4: pseudo-Gibbs": "pseudo"}
    panels = {
        title: _way([row[f"{of}, x"] for row in at], [row[f"{of}, y"] for row in at]) for title, of in titles.items()
    }
    figures.paths(path("ways"), panels)


def _way(x: list[float], y: list[float]) -> list[tuple[str, list[float], list[float], str]]:
    cycle = 9  # eight firings, and the point where the ninth would be the first again
    return [("firings 16 to 96", x, y, "step"), ("the last sweep", x[-cycle:], y[-cycle:], "step of the last sweep")]


def draw_exact(table: Table, path: Path) -> None:
    """Draw the difference of both models' divergences as a share of their mean, by truth."""
    sizes = dict.fromkeys(row["training rows"] for row in table.select())
    names = [row["truth"] for row in table.select(**{"training rows": 100_000})]
    panels = {f"{n:,} training rows": {"": _shares(table, names, n)} for n in sizes if n in (1_000, 100_000)}
    figures.dots(path, panels, x="(DN - BN) / (DN + BN)", line=0.0)


def _shares(table: Table, names: list[str], n: int) -> dict[str, Any]:
    found: dict[str, Any] = dict.fromkeys(names)
    for row in table.select(**{"training rows": n}):
        total = row["KL(DN, truth)"]["mean"] + row["KL(BN, truth)"]["mean"]
        if row["truth"] in found:
            found[row["truth"]] = {key: of / total for key, of in row["DN - BN"].items() if key in ("mean", "error")}
    return found


def sizes_of(run: Run) -> list[int]:
    few = [100, 1_000, 10_000]
    return run.choose(few, [*few, 100_000, 1_000_000])


def ising_5x5(run: Run) -> Iterator[Table]:
    """Yield what the usual form does without: the divergences of the stationary distributions over 2^25 states."""
    found = exactly.compute_large(run)
    yield exactly.table(found, "exact-ising5x5")
    yield by_size(ising(5, 5), sizes_of(run), found)


PARTS = {"ising5x5": ising_5x5}


def compute(run: Run) -> Iterator[Table]:
    sizes = sizes_of(run)
    file = run.file("reference", "bn20-37.json")
    bn = [] if file is None else [read_bn(file)]
    truths = [*bn, ising(5, 5)]
    run.settings.update(training_rows=sizes, output_rows=OUTPUT_ROWS, truths=[truth.name for truth in truths])
    drawn = data_sets(truths)
    learned = [learn(data) for data in drawn]
    run.settings["BN fitted by"] = {one.data.name: one.smoothing for one in learned}
    for n in run.choose([OUTPUT_ROWS], [OUTPUT_ROWS, 10 * OUTPUT_ROWS]):
        yield accuracy(learned, n)
    yield from (manifolds(learned), evaluations(learned))
    yield other_training_sets(drawn, run.choose(OTHER[:2], OTHER))
    found = exactly.compute(run, file)
    yield (exact := exactly.table(found))
    yield exactly.counts(exact)
    for truth in (*bn, ising(4, 4)):
        yield by_size(truth, sizes, found)
    yield from ising_5x5(run) if run.form == "full" else [by_size(ising(5, 5), sizes, {})]
    pairs = [(truth, n) for truth in (ising(2, 4), ising(4, 4)) for n in sizes]
    pairs += [(truth, n) for truth in run.choose([], [], bn) for n in sizes]
    large = [(ising(5, 5), n) for n in (1_000, 100_000)]  # 2^25 states: minutes, and 3 GB
    yield endings(pairs + run.choose([], [], large))
    yield from movement(ising(2, 4))
    yield clamping(ising(2, 4), sizes)
    rows = [row for truth in truths for n in run.choose((1_000,), (1_000, 100_000)) for row in trees(truth, n)]
    heads = ["truth", "training rows", "inputs", "parameters", "mean KL(truth, Ei)", "KL of output"]
    yield Table("trees", heads, rows, "short")
    yield trees_of_letter(run.choose(2_000, 20_000))
    yield learning_time(
        costs(run.choose((50, 100, 200), (50, 100, 200, 500), (50, 100, 200, 500, 1_000, 2_000, 5_000)))
    )
