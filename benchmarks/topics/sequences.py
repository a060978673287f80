"""Sequences: forward and backward, Baum-Welch, and logarithms of kernels of strings and of phylogenetic profiles.

Ours is given strings as `str` and makes codes of them in every call; hmmlearn is given codes. It tells log-likelihood
and posteriors in one call, and so does ours. Its expected counts are those of a step of its fit, a method that is not
public; ours are of each string apart, its of all together. Five steps of ours expect six times, because the last
model's likelihood is told as well. NumPy runs all recursions anew, on all strings or on random pairs. The kernels
have no peer.
"""

from __future__ import annotations

import string
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import fishernet as fn
from benchmarks.calls import Array, Call, Data
from benchmarks.race import Race, Told, agrees, below, calls_of, faster, flat

TITLE = "Sequences"
SEED, N_STATES, N_STEPS, N_LEAVES = 6, 8, 5, 60
SCALED = "hmmlearn (scaling)"
Model = Sequence[Array]
Handed = tuple[Any, list[str]]


def random_model(seed: int) -> tuple[Array, ...]:
    draws, states = np.random.default_rng((SEED, seed)), np.ones(N_STATES)
    return draws.dirichlet(states), draws.dirichlet(states, N_STATES), draws.dirichlet(np.ones(20), N_STATES)


def pair_model() -> tuple[Array, ...]:
    """Return three states that may all follow one another, of DNA and no symbol, and may stop."""
    draws, stop = np.random.default_rng((SEED, 3)), 0.003
    emission = np.column_stack([draws.dirichlet(np.ones(4), 3), [0.0, 0.0, 0.0]]) * np.array([[0.98], [0.9], [0.3]])
    emission[:, -1] = 1 - emission.sum(axis=1)
    moves = draws.dirichlet(np.full(3, 2.0), 4) * (1 - stop)
    return moves[0], moves[1:], emission, np.full(3, stop)


def protein_model() -> tuple[Any, ...]:
    """Return the ready model of proteins."""
    model = fn.models.pair_hmm_protein()
    return model.initial, model.transition, np.column_stack([model.emission, model.empty]), model.final  # type: ignore[list-item]


def data(title: str, codes: Any, n_symbols: int, model: Model, **options: Any) -> Data:
    return Data(title, codes, (n_symbols,) * codes.shape[1], tables=tuple(model), options=options)


def of_model() -> Data:
    """Return 1 000 strings of a model, to be looked at under another model."""
    strings = fn.HiddenMarkovModel(*random_model(0)).sample(1_000, length=200, seed=SEED)
    return data("1 000 strings of 200, 8 states, 20 symbols", np.array(strings), 20, random_model(1), steps=N_STEPS)


def of_numbers() -> Data:
    """Return sequences of numbers of a model, to be looked at under another model."""

    def model(seed: int) -> tuple[Array, ...]:
        initial, transition, _ = random_model(seed)
        means = np.random.default_rng((SEED, seed, 1)).normal(size=N_STATES) * 3
        return initial, transition, means, np.ones(N_STATES)

    rows = np.array(numeric(model(0)).sample(200, length=1_000, seed=SEED))
    title = "200 sequences of 1 000 numbers, 8 states"
    return Data(title, rows, tables=model(1), options={"steps": N_STEPS})


def numeric(model: Model) -> fn.NumericHiddenMarkovModel:
    initial, transition, means, sd = model
    return fn.NumericHiddenMarkovModel(initial, transition, fn.models.GaussianEmission(means, sd))


def independent(title: str, model: Model, n_symbols: int, *shape: int) -> Data:
    """Return strings of independent symbols."""
    codes = np.random.default_rng(SEED).integers(n_symbols, size=shape)
    return data(title, codes, n_symbols, model, n_entries=200 if n_symbols == 20 else 30)


def profiles(drawn: bool) -> Data:
    """Return profiles of the model, or of fair coins, which agree below few nodes."""
    draws, nodes = np.random.default_rng(SEED), list[Any](range(N_LEAVES))
    while len(nodes) > 1:  # join two random nodes
        nodes.append([nodes.pop(int(draws.integers(len(nodes)))) for _ in range(2)])
    parts = [np.array(part) for part in ([0.4, 0.6], [[0.85, 0.15], [0.1, 0.9]], [[0.9, 0.1], [0.05, 0.95]])]
    of = np.array(fn.HiddenTree(nodes[0], *parts).sample(2_000, seed=SEED), dtype=np.int64)
    codes, name = (of, "of the model") if drawn else (draws.integers(2, size=of.shape), "fair coins")
    return data(f"2 000 profiles of {N_LEAVES} leaves, {name}", codes, 2, parts, tree=nodes[0], n_entries=200)


def hand(data: Data) -> Handed:
    """Return the model, and the rows as strings."""
    (initial, transition, emission, *final), n = data.tables, data.cardinalities[0]
    stops = {"final": final[0] if final else None, "empty": emission.shape[1] > n}
    strings = ["".join(string.ascii_uppercase[code] for code in row) for row in data.rows.tolist()]
    alphabet = string.ascii_uppercase[:n]
    if "tree" in data.options:
        return fn.HiddenTree(data.options["tree"], *data.tables, alphabet=alphabet), strings
    return fn.HiddenMarkovModel(initial, transition, emission, alphabet=alphabet, **stops), strings


def steps(handed: tuple[Any, Any]) -> Any:
    found = fn.learn.baum_welch(handed[1], start=handed[0], smoothing=0.0, max_steps=N_STEPS, tolerance=0.0)
    assert len(found.trace) == N_STEPS + 1
    return found.model


def told_counts(found: Any, _: Data) -> Array:
    total = found.total()
    return flat([total.log_prob, total.initial, total.transition, total.emission])


def gram(kernel: Callable[..., Any]) -> Call:
    """Return a call that makes the matrix of all pairs, or where there are two strings only the value of the pair."""

    def run(handed: tuple[Any, list[str]]) -> Array:
        made, strings = handed
        return np.asarray(made(strings[:1], strings[1:]) if len(strings) == 2 else made(strings))

    def make(data: Data) -> Handed:
        model, strings = hand(data)
        return kernel(model, log=True), strings

    return Call(make, run)


POSTERIORS = Call(
    hand,
    lambda handed: handed[0].posterior(handed[1], return_log_prob=True),
    lambda found, _: flat([found[1].sum(), *found[0]]),
)
COUNTS = Call(hand, lambda handed: handed[0].expected_counts(handed[1]), told_counts)
NUMERIC = Call(
    lambda data: (numeric(data.tables), list(data.rows)),
    steps,
    lambda model, _: flat([model.initial, model.transition, model.emission.intercept, model.emission.sd]),
)
BAUM_WELCH = Call(hand, steps, lambda model, _: flat([model.initial, model.transition, model.emission]))


def posteriors(codes: Any, model: Model) -> tuple[Array, Array, float]:
    """Return P(state of the symbol | string), the expected moves of all strings, and the log-likelihood."""
    initial, transition, emission = model
    return posteriors_of_steps(emission.T[codes], initial, transition)


def posteriors_of_steps(seen: Array, initial: Array, transition: Array) -> tuple[Array, Array, float]:
    """Return the same of what each state gives each step with, (n_strings, length, n_states)."""
    codes = seen[:, :, 0]
    forward, backward, scale = np.empty(seen.shape), np.ones(seen.shape), np.empty(codes.shape)
    for i in range(codes.shape[1]):  # scaled to sum 1 at every place
        now = (initial if i == 0 else forward[:, i - 1] @ transition) * seen[:, i]
        scale[:, i] = now.sum(axis=1)
        forward[:, i] = now / scale[:, i, None]
    for i in reversed(range(codes.shape[1] - 1)):
        backward[:, i] = (seen[:, i + 1] * backward[:, i + 1]) @ transition.T / scale[:, i + 1, None]
    coming = seen[:, 1:] * backward[:, 1:] / scale[:, 1:, None]
    moves = transition * np.einsum("nib,nia->ba", forward[:, :-1], coming)
    return forward * backward, moves, float(np.log(scale).sum())


def counts_of(codes: Any, model: Model) -> tuple[float, list[Array]]:
    """Return the log-likelihood, and the expected counts of beginnings, moves and symbols."""
    states, moves, log_likelihood = posteriors(codes, model)
    emission = np.stack([states[codes == symbol].sum(axis=0) for symbol in range(model[2].shape[1])], axis=1)
    return log_likelihood, [states[:, 0].sum(axis=0), moves, emission]


def log_likelihood_first(told: Told) -> Any:
    states, _, log_likelihood = posteriors(told.data.rows, told.data.tables)
    return log_likelihood, states


def after_steps(told: Told) -> Model:
    """Make the same steps: counts, divided by their rows' sums."""
    model: Model = told.data.tables
    for _ in range(N_STEPS):
        model = [part / part.sum(axis=-1, keepdims=True) for part in counts_of(told.data.rows, model)[1]]
    return list(model)


def after_numeric_steps(told: Told) -> Model:
    """Make the same steps: shares of each state, and weighted means and standard deviations."""
    x = told.data.rows[:, :, None]
    initial, transition, means, sd = told.data.tables
    for _ in range(N_STEPS):
        seen = np.exp(-0.5 * ((x - means) / sd) ** 2) / sd
        shares, moves, _ = posteriors_of_steps(seen, initial, transition)
        n = shares.sum(axis=(0, 1))
        initial, transition = shares[:, 0].mean(axis=0), moves / moves.sum(axis=1, keepdims=True)
        means = (shares * x).sum(axis=(0, 1)) / n
        sd = np.sqrt((shares * (x - means) ** 2).sum(axis=(0, 1)) / n)
    return [initial, transition, means, sd]


def some(log_kernel: Callable[[Data, Any, Any], float]) -> Callable[[Told], Any]:
    """Compute random entries of a matrix of logarithms, or the one that there is; leave the others as they are."""

    def expected(told: Told) -> Array:
        rows, matrix = told.data.rows, np.array(told.answer)
        if matrix.size == 1:
            return np.array([log_kernel(told.data, rows[0], rows[1])])
        for i, j in told.data.pairs():
            matrix[i, j] = log_kernel(told.data, rows[i], rows[j])
        return matrix

    return expected


def log_hmm_kernel(data: Data, s: Any, t: Any) -> float:
    """Both strings are given by one trajectory."""
    initial, transition, emission = data.tables
    weights, log = initial, 0.0
    for i, (a, b) in enumerate(zip(s, t, strict=True)):
        weights = (weights @ transition if i else weights) * emission[:, a] * emission[:, b]
        log += float(np.log(weights.sum()))
        weights = weights / weights.sum()
    return log


def log_pair_kernel(data: Data, s: Any, t: Any) -> float:
    """Sum 12.1.5 over the cells (i, j) of one i + j after another, each time scaled.

    The vectors are of the states about to be visited after i and j symbols; visits without a symbol are summed by the
    inverse of I - S T.
    """
    initial, transition, emission, final = data.tables
    of, empty, (n, m), log = emission[:, :-1].T, emission[:, -1], (len(s), len(t)), 0.0
    closure = np.linalg.inv(np.eye(len(initial)) - (empty**2)[:, None] * transition)
    moves = transition @ closure
    before = np.zeros((n + 1, len(initial)))  # at i: the cell (i, i' - 1 - i), where i' = i + j is at hand
    latest, visits = before.copy(), before
    latest[0] = initial @ closure
    for total in range(1, n + m + 1):
        i = np.arange(max(0, total - m), min(n, total) + 1)
        up, left = (i > 0)[:, None], (i < total)[:, None]
        of_s, of_t = of[s[np.maximum(i, 1) - 1]], of[t[np.maximum(total - i, 1) - 1]]
        visits = up * left * before[i - 1] * of_s * of_t
        visits = visits + up * latest[i - 1] * of_s * empty + left * latest[i] * of_t * empty
        scale = visits.max()
        visits /= scale
        log += np.log(scale)
        before, latest = latest / scale, np.zeros_like(latest)
        latest[i] = visits @ moves
    return float(log + np.log((visits @ (final + moves @ (empty**2 * final)))[0]))


def log_tree_kernel(data: Data, s: Any, t: Any) -> float:
    """Both profiles are given by one history of the inner nodes."""
    root, transition, emission = data.tables

    def below(node: Any) -> Array:
        """Return the probability of what is below a node, by its state."""
        if isinstance(node, int):
            return np.asarray(emission[:, s[node]] * emission[:, t[node]])
        leaves = [below(item) if isinstance(item, int) else transition @ below(item) for item in node]
        return np.asarray(np.prod(leaves, axis=0))

    return float(np.log(root @ below(data.options["tree"])))


def fitting(title: str, ours: Call, expected: Callable[[Told], Any], call: str, times: float) -> Race:
    peers = {SCALED: f"{call} scaling", "hmmlearn (log)": f"{call} log"}
    return Race(of_model, ours, agrees(expected), peers, [faster(times, SCALED)], title=title)


def kernel(title: str, seconds: float, data: Callable[[], Data], call: Call, expected: Callable[[Told], Any]) -> Race:
    return Race(data, call, agrees(expected), targets=[below(seconds)], title=title)


HMM, PAIR = gram(fn.kernels.HmmKernel), gram(fn.kernels.PairHmmKernel)
TREE, PAIRS, TREES = gram(fn.kernels.HiddenTreeKernel), some(log_pair_kernel), some(log_tree_kernel)
HMM_DATA, TWO_LONG, MANY, PROTEINS = (
    lambda: independent("500 strings of 100, 8 states", random_model(0), 20, 500, 100),
    lambda: independent("two strings of 1 000, 3 states", pair_model(), 4, 2, 1_000),
    lambda: independent("200 strings of 100, 3 states", pair_model(), 4, 200, 100),
    lambda: independent("two proteins of 300, 21 states", protein_model(), 20, 2, 300),
)
RACES = (
    fitting("log-likelihood and posteriors", POSTERIORS, log_likelihood_first, "forward_backward", 5),
    fitting("expected counts", COUNTS, lambda told: counts_of(told.data.rows, told.data.tables), "expected_counts", 5),
    fitting(f"Baum-Welch, {N_STEPS} steps", BAUM_WELCH, after_steps, "baum_welch", 10),
    Race(
        of_numbers,
        NUMERIC,
        agrees(after_numeric_steps),
        {SCALED: "gaussian_baum_welch scaling", "hmmlearn (log)": "gaussian_baum_welch log"},
        [faster(1, SCALED)],
        title=f"Baum-Welch on numbers, {N_STEPS} steps",
    ),
    kernel("HMM kernel", 0.5, HMM_DATA, HMM, some(log_hmm_kernel)),
    kernel("pair HMM kernel", 20e-3, TWO_LONG, PAIR, PAIRS),
    kernel("pair HMM kernel", 2.5, MANY, PAIR, PAIRS),
    kernel("pair HMM kernel", 50e-3, PROTEINS, PAIR, PAIRS),
    kernel("hidden tree kernel", 1, lambda: profiles(True), TREE, TREES),
    kernel("hidden tree kernel", 1, lambda: profiles(False), TREE, TREES),
)
CALLS = calls_of(RACES)
