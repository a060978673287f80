"""The laws of models, for every class. A new model joins `CASES`."""

from __future__ import annotations

import copy
import itertools
import pickle
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.polynomial.hermite_e import hermegauss
from scipy import stats
from scipy.linalg import block_diag

import fishernet as fn
from fishernet.base.value import same_values
from fishernet.models import FullTable, MergedTable, Split, TreeConditional
from tests.networks import random_network
from tests.numeric_sequences import move_emission
from tests.reference.dependency import random_dependency_network
from tests.reference.gaussians import random_bayesian_network, random_markov_network, regressions, rows_of
from tests.strings import random_hmm

# ------------------------------------------------------------------------------------- one entry a kind of model

Moved = Callable[[Any, int, float], Any]  # the model with one parameter, in the order of the scores, changed a little


@dataclass
class Case:
    """A small model, and what can be drawn from it where that can be counted."""

    make: Callable[[], Any]
    every: Any = None
    """Everything that has a probability, but for `tail`; None for densities."""
    chances: Callable[[Any, Any], Any] = lambda model, every: np.exp(model.log_prob(every))
    """The probability of each."""
    tail: float = 0.0
    draws: dict[str, Any] = field(default_factory=dict)
    """How rows are drawn so that they are independent."""
    information: dict[str, Any] | None = field(default_factory=dict)
    """The options of the Fisher information; None where there is none."""
    moved: Moved | None = None
    other: Callable[[], Any] | None = None
    """Another model of the same class, which is not equal."""

    def some(self) -> Any:
        """Return things that are possible, as the model takes them."""
        if self.every is None:
            return self.make().sample(7, seed=1, **self.draws)
        p = self.chances(self.make(), self.every)
        return [outcome for outcome, possible in zip(self.every, p > 0, strict=True) if possible]


def states(*cardinalities: int) -> list[tuple[int, ...]]:
    return list(itertools.product(*map(range, cardinalities)))


def strings(letters: str, *lengths: int) -> list[str]:
    return ["".join(s) for length in lengths for s in itertools.product(letters, repeat=length)]


def move_table(net: fn.BayesianNetwork, parameter: int, h: float) -> fn.BayesianNetwork:
    """What a cell gains, the last state of its row loses."""
    conditionals = list(net.conditionals)
    for v, c in enumerate(conditionals):
        if 0 <= parameter < c.n_parameters:
            p = c.probabilities.copy()
            group, state = divmod(parameter, p.shape[1] - 1)
            p[group, [state, -1]] += [h, -h]
            groups = [c.group_of] if isinstance(c, MergedTable) else []
            conditionals[v] = type(c)(c.child, c.parents, c.variables, *groups, p)  # type: ignore[call-arg]
        parameter -= c.n_parameters
    return fn.BayesianNetwork(net.variables, conditionals)


def move_regression(net: fn.BayesianNetwork, parameter: int, h: float) -> fn.BayesianNetwork:
    """Variable by variable: intercept, coefficients, standard deviation."""
    intercepts, coefficients, sds = regressions(net)
    slopes = [values.copy() for values in coefficients]
    for v, values in enumerate(slopes):
        if parameter == 0:
            intercepts[v] += h
        elif 0 < parameter <= len(values):
            values[parameter - 1] += h
        elif parameter == len(values) + 1:
            sds[v] += h
        parameter -= len(values) + 2
    return fn.BayesianNetwork.from_regressions(net.dag, intercepts, slopes, sds)


def move_precision(net: fn.GaussianMarkovNetwork, parameter: int, h: float) -> fn.GaussianMarkovNetwork:
    """A mean, a diagonal entry of the precision, or both places of an edge."""
    d, mean, K = len(net.names), net.mean.copy(), net.precision.copy()
    if parameter < d:
        mean[parameter] += h
    else:
        edges = [(name, name) for name in net.names] + list(net.graph.edges)
        i, j = (net.names.index(name) for name in edges[parameter - d])
        K[[i, j], [j, i]] += h
    return fn.GaussianMarkovNetwork(net.names, mean, K)


def move_cell(chain: fn.MarkovChain, cell: int, h: float) -> fn.MarkovChain:
    """A cell of the transition, normalized again."""
    weights = np.array(chain.transition)
    weights.ravel()[cell] += h
    weights /= weights.sum(axis=-1, keepdims=True)
    return fn.MarkovChain(chain.alphabet, chain.order, weights, end=chain.end)


def from_start(chain: fn.MarkovChain, every: Sequence[str]) -> Any:
    """What a chain says given the first symbols, times the probability of these."""
    first = [tuple(chain.alphabet.symbols.index(c) for c in s[: chain.order]) for s in every]
    return np.exp(chain.log_prob(every)) * [float(chain.start[codes]) for codes in first]


def chain(order: int, *, end: bool = False, zeros: bool = False, seed: int = 0) -> fn.MarkovChain:
    rng = np.random.default_rng(seed)
    table = rng.dirichlet(np.ones(2 + end), 2**order).reshape((2,) * order + (2 + end,))
    if end:
        table = 0.3 * table + [0, 0, 0.7]
    if zeros:
        table[..., 0] *= np.arange(2) if order else 1
        table /= table.sum(axis=-1, keepdims=True)
    return fn.MarkovChain("ab", order, table, end=end, start=rng.dirichlet(np.ones(2**order)).reshape((2,) * order))


def fitted(net: fn.BayesianNetwork) -> fn.BayesianNetwork:
    return fn.BayesianNetwork(net.variables, net.conditionals, n_rows=12.5)


def with_zeros() -> fn.DependencyNetwork:
    a, b = (fn.Variable(name, ["u", "v"]) for name in "ab")
    tables = {"a": [[0.9, 0.1], [0.2, 0.8]], "b": [[1.0, 0.0], [0.5, 0.5]]}
    return fn.DependencyNetwork.from_tables([a, b], {"a": ["b"], "b": ["a"]}, tables, allow_zeros=True)


def merged_network() -> fn.BayesianNetwork:
    a, b, c = (fn.Variable(name, list("uvw")[:r]) for name, r in (("a", 2), ("b", 3), ("c", 2)))
    roots = [FullTable(0, (), [a], [[0.3, 0.7]]), FullTable(1, (), [b], [[0.2, 0.3, 0.5]])]
    rows = [[0.1, 0.9], [0.5, 0.5], [0.7, 0.3]]
    return fn.BayesianNetwork([a, b, c], [*roots, MergedTable(2, (0, 1), [a, b, c], [[0, 1, 1], [2, 0, 1]], rows)])


def trees(p: float) -> fn.DependencyNetwork:
    """P(c | a, b) asks b first, and a where b is v; P(a | c) asks c."""
    a, b, c = (fn.Variable(name, list("uvw")[:r]) for name, r in (("a", 2), ("b", 3), ("c", 3)))
    asks = Split(1, (0, 1, 0), (2, Split(0, (1, 0), (0, 1))))
    of_c = TreeConditional(2, (0, 1), [a, b, c], asks, [[0.1, 0.2, 0.7], [0.5, 0.25, 0.25], [p, 0.6 - p, 0.4]])
    of_a = TreeConditional(0, (2,), [c, a], Split(2, (1, 0, 0), (0, 1)), [[0.2, 0.8], [0.6, 0.4]])
    return fn.DependencyNetwork([a, b, c], [of_a, TreeConditional(1, (), [b], 0, [[0.2, 0.3, 0.5]]), of_c])


def markov_network(scale: float = 1.0) -> fn.MarkovNetwork:
    variables = [fn.Variable(f"v{i}", [f"s{k}" for k in range(r)]) for i, r in enumerate((2, 3, 2))]
    rng = np.random.default_rng(1)
    of = [(("v0", "v1"), (2, 3)), (("v2", "v1"), (2, 3)), (("v2",), (2,))]
    return fn.MarkovNetwork(variables, [(names, scale * rng.gamma(1.0, size=size) + 0.1) for names, size in of])


def potentials(model: fn.MarkovNetwork, every: Any) -> Any:
    return np.exp(model.log_potential(every) - fn.infer.log_partition(model))


def tree(arity: Sequence[int] | None = None, p: float = 0.2) -> fn.HiddenTree:
    move = [[1 - p, p], [0.4, 0.6]]
    return fn.HiddenTree([0, [1, 2, 3]], [0.4, 0.6], move, move, alphabet="ab", arity=arity)


def move_numeric(model: fn.NumericHiddenMarkovModel, parameter: int, h: float) -> fn.NumericHiddenMarkovModel:
    """A number of the emission, or a probability of which the row is normalized again."""
    (emission,) = model.emissions
    transition, initial = model.transition.copy(), model.initial.copy()
    if parameter < emission.n_parameters:
        return fn.NumericHiddenMarkovModel(initial, transition, move_emission(emission, parameter, h))
    rest = parameter - emission.n_parameters
    if rest < transition.size:
        transition.ravel()[rest] += h
    else:
        initial[rest - transition.size] += h
    return fn.NumericHiddenMarkovModel(
        initial / initial.sum(), transition / transition.sum(axis=1, keepdims=True), emission
    )


def given_arities(model: fn.HiddenTree, every: Sequence[str]) -> Any:
    """Strings are drawn given that the arities are met, and probabilities are not renormalized."""
    p = np.exp(model.log_prob(every))
    return p / p.sum()


def numeric_hmm(shift: float = 0.0) -> fn.NumericHiddenMarkovModel:
    slopes = np.zeros((2, 2, 2))
    slopes[:, 1, 0] = [0.5, -0.2]
    emission = fn.models.GaussianEmission(
        [[0.0, 1.0 + shift], [2.0, -1.0]], [[1.0, 0.5], [0.8, 1.2]], coefficients=slopes
    )
    return fn.NumericHiddenMarkovModel([0.6, 0.4], MOVE, emission)


MOVE = [[0.8, 0.2], [0.4, 0.6]]
FAR = {"thin": 60, "burn_in": 1000}  # rows of pseudo-Gibbs sampling that hardly depend on one another
CASES: dict[str, Case] = {
    "BayesianNetwork": Case(
        lambda: fitted(random_network(3, [2, 3, 1, 4], sharp=3.0)),
        states(2, 3, 1, 4),
        moved=move_table,
        other=lambda: random_network(4, [2, 3, 1, 4]),
    ),
    "BayesianNetwork with zeros": Case(
        lambda: random_network(7, [3, 2, 3], zeros=0.3), states(3, 2, 3), information=None
    ),
    "BayesianNetwork of merged tables": Case(merged_network, states(2, 3, 2), moved=move_table),
    "BayesianNetwork of regressions": Case(
        lambda: random_bayesian_network(5, 3, 0.7),
        moved=move_regression,
        other=lambda: random_bayesian_network(6, 3),
    ),
    "DependencyNetwork": Case(
        lambda: random_dependency_network(3, [2, 3, 2], merged=True),
        states(2, 3, 2),
        lambda model, every: fn.infer.stationary(model).ravel(),
        draws=FAR,
        other=lambda: random_dependency_network(4, [2, 3, 2]),
    ),
    "DependencyNetwork with zeros": Case(
        with_zeros, states(2, 2), lambda model, every: fn.infer.stationary(model).ravel(), draws=FAR
    ),
    "DependencyNetwork of trees": Case(
        lambda: trees(0.3),
        states(2, 3, 3),
        lambda model, every: fn.infer.stationary(model).ravel(),
        draws=FAR,
        other=lambda: trees(0.2),
    ),
    "DependencyNetwork of a joint": Case(
        lambda: fn.DependencyNetwork.from_joint(random_network(3, [2, 3, 2], sharp=3.0)),
        states(2, 3, 2),
        lambda model, every: np.exp(random_network(3, [2, 3, 2], sharp=3.0).log_prob(every)),
        draws=FAR,
    ),
    "MarkovNetwork": Case(markov_network, states(2, 3, 2), potentials, other=lambda: markov_network(2.0)),
    "MarkovChain of order 0": Case(
        lambda: chain(0), strings("ab", 3), from_start, draws={"length": 3}, information={"length": 3}, moved=move_cell
    ),
    "MarkovChain of order 2": Case(
        lambda: chain(2), strings("ab", 5), from_start, draws={"length": 5}, information={"length": 5}, moved=move_cell
    ),
    "MarkovChain with zeros": Case(
        lambda: chain(1, zeros=True), strings("ab", 4), from_start, draws={"length": 4}, information={"length": 4}
    ),
    "MarkovChain that ends": Case(
        lambda: chain(1, end=True),
        strings("ab", *range(1, 13)),
        from_start,
        tail=1e-5,
        moved=move_cell,
        other=lambda: chain(1, end=True, seed=1),
    ),
    "MarkovChain with zeros that ends": Case(
        lambda: chain(2, end=True, zeros=True), strings("ab", *range(2, 14)), from_start, tail=1e-5
    ),
    "HiddenMarkovModel": Case(
        lambda: random_hmm(1, alphabet="ab"),
        strings("ab", 4),
        draws={"length": 4},
        information={"length": 4},
        other=lambda: random_hmm(2, alphabet="ab"),
    ),
    "HiddenMarkovModel with zeros": Case(
        lambda: fn.HiddenMarkovModel([1.0, 0.0], [[0.5, 0.5], [0.0, 1.0]], [[1.0, 0.0], [0.3, 0.7]], alphabet="ab"),
        strings("ab", 4),
        draws={"length": 4},
        information=None,
    ),
    "HiddenMarkovModel that ends": Case(
        lambda: random_hmm(3, final=True, stop=0.9, alphabet="ab"),
        strings("ab", *range(12)),
        tail=1e-3,
        information=None,
    ),
    "HiddenMarkovModel with silent states": Case(
        lambda: random_hmm(4, final=True, empty=True, stop=0.9, alphabet="ab"),
        strings("ab", *range(12)),
        tail=1e-3,
        information=None,
    ),
    "NumericHiddenMarkovModel": Case(
        numeric_hmm, draws={"length": 2}, information=None, moved=move_numeric, other=lambda: numeric_hmm(0.5)
    ),
    "NumericHiddenMarkovModel of counts": Case(
        lambda: fn.NumericHiddenMarkovModel([0.6, 0.4], MOVE, fn.models.PoissonEmission([0.5, 1.5])),
        states(11, 11),
        tail=1e-6,
        draws={"length": 2},
        information=None,
        moved=move_numeric,
    ),
    "NumericHiddenMarkovModel of mixtures": Case(
        lambda: fn.NumericHiddenMarkovModel(
            [0.6, 0.4], MOVE, fn.models.GaussianEmission([[0.0, 3.0], [1.0, -1.0]], np.ones((2, 2)), weights=MOVE)
        ),
        draws={"length": 2},
        information=None,
        moved=move_numeric,
    ),
    "HiddenTree": Case(tree, strings("ab", 4), information=None, other=lambda: tree(p=0.3)),
    "HiddenTree with arities": Case(
        lambda: tree([2, 3]), strings("ab", 4), given_arities, information=None, other=lambda: tree([3, 2])
    ),
    "HiddenTree of tables by branch": Case(
        lambda: fn.HiddenTree(
            [[0, 1], 2], [0.4, 0.6], [MOVE, MOVE[::-1]], MOVE, alphabet="ab", branch_tables=[1, 0, 1, 0], missing="?"
        ),
        strings("ab", 3),
        information=None,
    ),
    "Gaussian": Case(
        lambda: fn.Gaussian(1.5, 0.7),
        moved=lambda model, k, h: fn.Gaussian(model.mean + h * (k == 0), model.sd + h * (k == 1)),
        other=lambda: fn.Gaussian(1.5, 0.8),
    ),
    "GaussianMixture": Case(
        lambda: fn.GaussianMixture([0.3, 0.7], [-1.0, 1.0], 0.8),
        moved=lambda model, k, h: fn.GaussianMixture(model.weights, model.means + h * np.eye(2)[k], model.sd),
        other=lambda: fn.GaussianMixture([0.3, 0.7], [-1.0, 1.5], 0.8),
    ),
    "GaussianMarkovNetwork": Case(
        lambda: random_markov_network(2, 3), moved=move_precision, other=lambda: random_markov_network(3, 3)
    ),
}
CLASSES = {type(case.make()) for case in CASES.values()}
TABLES = [name for name, case in CASES.items() if case.make().graph is not None and case.every]
STRINGS = [name for name, case in CASES.items() if case.make().values == "symbols"]
COUNTED = [name for name, case in CASES.items() if case.every]
DENSITIES = [name for name, case in CASES.items() if not case.every]
SCORED = [name for name, case in CASES.items() if case.make().likelihood == "exact"]
INFORMED = [name for name in SCORED if CASES[name].information is not None]
EVERY = pytest.mark.parametrize("name", CASES)
N = 40_000


def of(names: Sequence[str]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("name", names)


def log_prob(model: Any) -> Callable[[Any], Any]:
    """Return how a model judges single rows."""
    for method in ("log_prob", "pseudo_log_likelihood", "log_potential"):
        if hasattr(type(model), method):
            return getattr(model, method)  # type: ignore[no-any-return]
    raise AssertionError(model)


def outcomes(model: Any, drawn: Any) -> list[Any]:
    """Return what was drawn as `Case.every` has it."""
    if not hasattr(drawn, "codes"):
        return [tuple(row.tolist()) if isinstance(row, np.ndarray) and row.ndim == 1 else row for row in drawn]
    return list(zip(*(column.tolist() for column in drawn.codes), strict=True))


def fields_of(model: Any) -> list[str]:
    """Return what a model was made of: the names of its slots, or of what `_set` put there."""
    slots = [key for kind in type(model).__mro__ for key in getattr(kind, "__slots__", ())]
    kept = [*slots, *getattr(model, "__dict__", {})]
    return [key for key in kept if not key.startswith("_") and key not in ("native", "graph", "covariance")]


def dense(information: Any) -> Any:
    """Return a matrix of the blocks of a network's information."""
    if isinstance(information, np.ndarray):
        return information
    return block_diag(*(block for part in information for block in (part if part.ndim == 3 else [part])))


def test_every_class_is_here() -> None:
    models = (getattr(fn.models, name) for name in fn.models.__all__)
    drawn_from = {model for model in models if isinstance(model, type) and hasattr(model, "sample")}
    assert drawn_from - {fn.models.LikelihoodModel} == CLASSES


# --------------------------------------------------------------------------------------- probabilities and draws


@of(COUNTED)
def test_probabilities_sum_to_one(name: str) -> None:
    case = CASES[name]
    total = case.chances(case.make(), case.every).sum()
    assert 1 - case.tail - 1e-9 <= total <= 1 + 1e-9


@of(COUNTED)
def test_draws_are_as_frequent_as_probable(name: str) -> None:
    case = CASES[name]
    model = case.make()
    counts = Counter(outcomes(model, model.sample(N, seed=3, **case.draws)))
    p = case.chances(model, case.every)
    found = np.array([counts[outcome] for outcome in case.every])
    assert found.sum() >= N * (1 - 2 * case.tail) - 10
    assert not found[p == 0].any()
    often = N * p >= 5
    chi_square = ((found - N * p)[often] ** 2 / (N * p)[often]).sum()
    assert chi_square < stats.chi2.isf(1e-7, often.sum())


@of(DENSITIES)
def test_densities_are_normalized_and_followed_by_draws(name: str) -> None:
    """E[g(x) / p(x)] = 1 for any density g, here a narrow normal one; and E[s s'] is the information."""
    model = CASES[name].make()
    drawn = model.sample(N, seed=4, **CASES[name].draws)
    x = np.asarray(rows_of(drawn)).reshape(N, -1)
    g = stats.multivariate_normal(x.mean(axis=0), np.cov(x.T) / 4)
    ratios = np.exp(g.logpdf(x) - model.log_prob(drawn))
    assert abs(ratios.mean() - 1) < 5 * ratios.std() / np.sqrt(N)
    scores = model.fisher_scores(drawn)
    assert (np.abs(scores.mean(axis=0)) < 5 * scores.std(axis=0) / np.sqrt(N)).all()
    if CASES[name].information is None:
        return
    information = dense(model.fisher_information())
    products = scores[:, :, None] * scores[:, None]
    assert (np.abs(products.mean(axis=0) - information) <= 5.5 * products.std(axis=0) / np.sqrt(N)).all()


@EVERY
def test_a_seed_repeats_its_draws_and_a_generator_moves_on(name: str) -> None:
    model, how = CASES[name].make(), CASES[name].draws

    def drawn(seed: Any) -> Any:
        return pickle.dumps(outcomes(model, model.sample(30, seed=seed, **how)))

    assert drawn(5) == drawn(5) != drawn(6)
    random = np.random.default_rng(5)
    assert drawn(random) == drawn(5) != drawn(random)
    before = pickle.dumps(np.random.get_state())  # noqa: NPY002
    drawn(None)
    assert pickle.dumps(np.random.get_state()) == before  # noqa: NPY002


@EVERY
@pytest.mark.parametrize("n", [-1, 2.5, "3", True])
def test_what_is_no_number_of_draws_is_refused(name: str, n: Any) -> None:
    with pytest.raises(fn.FishernetError, match="must be an integer (from|of at least) [01]"):
        CASES[name].make().sample(n, **CASES[name].draws)


@EVERY
def test_threads_do_not_change_a_bit(name: str) -> None:
    model, some, how = CASES[name].make(), CASES[name].some(), CASES[name].draws
    before = fn.set_threads(1)
    answers = []
    for threads in (1, 2, 3):
        fn.set_threads(threads)
        scores = model.fisher_scores(some) if name in SCORED else None
        answers.append(
            pickle.dumps((log_prob(model)(some), scores, outcomes(model, model.sample(9000, seed=1, **how))))
        )
    fn.set_threads(before)
    assert answers[0] == answers[1] == answers[2]


# ------------------------------------------------------------------------------------------ scores and information


@of([name for name, case in CASES.items() if case.moved])
def test_scores_are_derivatives(name: str) -> None:
    case, h = CASES[name], 1e-6
    model, some = case.make(), case.some()
    assert case.moved is not None
    numerical = [
        (case.moved(model, k, h).log_prob(some) - case.moved(model, k, -h).log_prob(some)) / (2 * h)
        for k in range(model.n_parameters)
    ]
    scores = model.fisher_scores(some)
    size = 1 + np.abs(scores).max()
    np.testing.assert_allclose(scores, np.stack(numerical, axis=1), rtol=1e-4, atol=1e-5 * size)


@of([name for name in SCORED if name in COUNTED and not CASES[name].tail and "with " not in name])
def test_scores_have_mean_zero(name: str) -> None:
    case = CASES[name]
    model, some = case.make(), case.some()
    np.testing.assert_allclose(case.chances(model, some) @ model.fisher_scores(some), 0, atol=1e-9)


@of([name for name in INFORMED if CASES[name].every])
def test_the_information_is_the_expected_product_of_scores(name: str) -> None:
    case = CASES[name]
    model, some = case.make(), case.some()
    scores = model.fisher_scores(some)
    expected = (scores.T * case.chances(model, some)) @ scores
    atol = 1e-8 + 1000 * case.tail
    np.testing.assert_allclose(
        dense(model.fisher_information(**case.information or {})), expected, rtol=1e-8, atol=atol
    )


@of([name for name in INFORMED if name in DENSITIES])
def test_the_information_of_a_density_is_the_expected_product_of_scores(name: str) -> None:
    """By Gauss-Hermite sums around each component, exact for normal distributions: their scores are quadratic."""
    model = CASES[name].make()
    many = 100 if hasattr(model, "weights") else 5
    points, weights = hermegauss(many)
    means = model.means if hasattr(model, "means") else [model.mean]
    spread = np.linalg.cholesky(model.covariance) if hasattr(model, "covariance") else np.array([[model.sd]])
    d = len(spread)
    z = np.array(list(itertools.product(points, repeat=d)))
    mass = np.prod(list(itertools.product(weights / weights.sum(), repeat=d)), axis=1)
    expected, score = 0.0, 0.0
    for share, mean in zip(getattr(model, "weights", [1.0]), means, strict=True):
        x = mean + z @ spread.T
        scores = model.fisher_scores(x if hasattr(model, "names") else x[:, 0])
        expected, score = expected + share * (scores.T * mass) @ scores, score + share * mass @ scores
    np.testing.assert_allclose(score, 0, atol=1e-8)
    np.testing.assert_allclose(dense(model.fisher_information()), expected, rtol=1e-8, atol=1e-8)


@of(SCORED)
def test_nothing_has_no_numbers(name: str) -> None:
    model = CASES[name].make()
    none: Any = np.zeros((0, len(model.names))) if hasattr(model, "names") else []
    assert model.log_prob(none).shape == (0,)
    assert model.fisher_scores(none).shape == (0, model.n_parameters)


# -------------------------------------------------------------------------------------------------------- identity


@EVERY
def test_copies_pickles_and_files_bring_back_every_bit(name: str, tmp_path: Path) -> None:
    case = CASES[name]
    model, some = case.make(), case.some()
    before = log_prob(model)(some)
    fn.save(model, tmp_path / "model.json")
    for again in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model), fn.load(tmp_path / "model.json")):
        assert again == model
        assert hash(again) == hash(model)
        assert all(same_values(getattr(again, key), getattr(model, key)) for key in fields_of(model))
        assert log_prob(again)(some).tobytes() == before.tobytes()
        drawn = (outcomes(m, m.sample(5, seed=1, **case.draws)) for m in (again, model))
        assert pickle.dumps(next(drawn)) == pickle.dumps(next(drawn))


@EVERY
def test_equality_is_of_class_and_numbers(name: str) -> None:
    case = CASES[name]
    model = case.make()
    assert model == case.make()
    assert all((other.make() == model) == (key == name) for key, other in CASES.items())
    if case.other:
        assert case.other() != model
    if case.moved:
        assert all(case.moved(model, k, 0.01) != model for k in range(model.n_parameters))


@EVERY
def test_it_cannot_be_changed(name: str) -> None:
    model = CASES[name].make()
    for key in fields_of(model):
        with pytest.raises(AttributeError):
            setattr(model, key, None)


@EVERY
def test_repr_is_a_short_line(name: str) -> None:
    model = CASES[name].make()
    assert repr(model).startswith(type(model).__name__ + "(")
    assert len(repr(model)) < 80
    assert "\n" not in repr(model)


# ---------------------------------------------------------------------------------------------- data meets model


@of(TABLES)
def test_columns_and_states_in_any_order_give_the_same_bits(name: str) -> None:
    model = CASES[name].make()
    table = fn.Table.from_codes(CASES[name].some(), model.variables)
    turned = table.select(model.names[::-1])
    other = turned.conform([fn.Variable(v.name, v.states[::-1]) for v in turned.variables])
    columns = {n: list(turned.variables[k].labels(turned.codes[k])) for k, n in enumerate(turned.names)}
    frames = [kind(columns | {"more": ["x"] * table.n_rows}) for kind in (pd.DataFrame, pl.DataFrame, pa.table, dict)]
    for method in [log_prob(model)] + ([model.fisher_scores] if name in SCORED else []):
        for data in (turned, other, np.stack(table.codes, axis=1), *frames):
            assert method(data).tobytes() == method(table).tobytes()


@of([name for name, case in CASES.items() if hasattr(case.make(), "names") and not case.every])
@pytest.mark.parametrize("kind", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_columns_of_numbers_in_any_order_give_the_same_bits(name: str, kind: Any) -> None:
    model = CASES[name].make()
    X = rows_of(CASES[name].some())
    frame = kind({"more": ["x"] * len(X)} | {n: X[:, v] for v, n in reversed(list(enumerate(model.names)))})
    for method in (model.log_prob, model.fisher_scores):
        assert method(frame).tobytes() == method(X).tobytes()
    with pytest.raises(fn.SchemaError, match=f"column '{model.names[0]}'"):
        model.log_prob({n: [0.0] for n in model.names[1:]})
    with pytest.raises(fn.FishernetError, match=f"'{model.names[1]}'.*(inf|missing)"):
        model.log_prob([[0.0, np.inf, 0.0]])


@of(TABLES)
def test_rows_that_do_not_fit_are_refused(name: str) -> None:
    model = CASES[name].make()
    first, *rest = model.variables
    ask = log_prob(model)
    good = {v.name: [v.states[0]] * 2 for v in model.variables}
    with pytest.raises(fn.UnknownStateError, match=f"column '{first.name}', row 1: the label 'strange'"):
        ask(fn.Table.from_frame(good | {first.name: [str(first.states[0]), "strange"]}))
    with pytest.raises(fn.SchemaError, match=f"lacks the column '{first.name}'"):
        ask(fn.Table.from_frame({v.name: good[v.name] for v in rest}))
    with pytest.raises(fn.SchemaError, match="row 0: the code 9"):
        ask([[0] * len(rest) + [9]])
    with pytest.raises(fn.SchemaError, match="fractions"):
        ask([[0.5] * len(model.variables)])
    hole = [[first.cardinality] + [0] * len(rest)]
    if name.startswith("BayesianNetwork"):  # which sums it out
        whole = np.array([[state] + [0] * len(rest) for state in range(first.cardinality)])
        np.testing.assert_allclose(ask(hole), np.logaddexp.reduce(ask(whole)), rtol=1e-12)
        return
    with pytest.raises(fn.MissingValueError, match=f"missing in '{first.name}' .1."):
        ask(hole)


@of(STRINGS)
def test_strings_that_do_not_fit_are_refused(name: str) -> None:
    model, good = CASES[name].make(), CASES[name].some()[-1]
    for method in (model.log_prob, model.fisher_scores):
        with pytest.raises(fn.SchemaError, match="a list of strings"):
            method(good)
        with pytest.raises(fn.UnknownStateError, match=f"string 1 has the symbol 'x' at position {len(good) - 1}"):
            method([good, good[:-1] + "x"])
        assert method([list(good)]).tobytes() == method([good]).tobytes()


@of([name for name in SCORED if "zeros" in name])
def test_what_is_impossible_has_probability_zero_and_no_scores(name: str) -> None:
    case = CASES[name]
    model = case.make()
    logs = model.log_prob(case.every)
    impossible = case.every[int(np.argmin(logs))]
    assert np.isneginf(logs.min())
    with pytest.raises(fn.ZeroProbabilityError, match="(row|string) 1 "):
        model.fisher_scores([case.some()[0], impossible])
