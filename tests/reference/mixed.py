"""Networks of labels and numbers by brute force: every state of the labels, and the joint normal of numbers in it."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
from scipy.stats import multivariate_normal

import fishernet as fn


def random_network(seed: int, *, labels: int = 3, numbers: int = 3, scale: float = 1.0) -> fn.BayesianNetwork:
    """Return a network whose variables come in a random order, labels with 1 to 3 states, and parents at random."""
    rng = np.random.default_rng(seed)
    kinds = [True] * labels + [False] * numbers
    states = [int(rng.integers(1, 4)) if kind else 0 for kind in kinds]
    names = [f"{'L' if kind else 'x'}{v}" for v, kind in enumerate(kinds)]
    variables: list[Any] = [
        fn.Variable(name, [f"s{k}" for k in range(r)]) if r else fn.Continuous(name)
        for name, r in zip(names, states, strict=True)
    ]
    order = list(range(len(kinds)))
    parents: dict[str, list[str]] = {}
    tables: dict[str, Any] = {}
    for v in order:
        before = [u for u in range(v) if kinds[u] or not kinds[v]]
        chosen = [u for u in before if rng.random() < 0.6][:3]
        rng.shuffle(chosen)
        parents[names[v]] = [names[u] for u in chosen]
        shape = [states[u] for u in chosen if kinds[u]]
        if kinds[v]:
            table = rng.dirichlet(np.ones(states[v]), shape or None)
            tables[names[v]] = np.asarray(table).reshape(*shape, states[v])
            continue
        m = sum(not kinds[u] for u in chosen)
        tables[names[v]] = {
            "intercept": scale * rng.normal(0, 2, shape),
            "coefficients": rng.normal(0, 1, (*shape, m)),
            "sd": scale * rng.uniform(0.3, 2, shape),
        }
    at = rng.permutation(len(kinds))
    return fn.BayesianNetwork.from_tables([variables[v] for v in at], parents, tables)


class Joint:
    """Every state of the labels with its probability, and the mean and covariance of the numbers in it."""

    def __init__(self, net: fn.BayesianNetwork) -> None:
        self.labels = [v for v, variable in enumerate(net.variables) if not variable.is_continuous]
        self.numbers = [v for v, variable in enumerate(net.variables) if variable.is_continuous]
        self.states = list(itertools.product(*(range(net.variables[v].cardinality) for v in self.labels)))
        self.log_prob, self.means, self.covariances = [], [], []
        d = len(self.numbers)
        for states in self.states:
            at = dict(zip(self.labels, states, strict=True))
            log_prob = 0.0
            B, level, noise = np.zeros((d, d)), np.zeros(d), np.zeros(d)
            for v, conditional in enumerate(net.conditionals):
                here = tuple(at[p] for p in conditional.parents if p in at)
                if v in at:
                    log_prob += float(np.log(conditional.table()[(*here, at[v])]))
                    continue
                i = self.numbers.index(v)
                above = [self.numbers.index(p) for p in conditional.parents if p not in at]
                regression: Any = conditional
                level[i], noise[i] = regression.intercept[here], regression.sd[here]
                B[i, above] = regression.coefficients[here]
            inverse = np.linalg.inv(np.eye(d) - B)
            self.log_prob.append(log_prob)
            self.means.append(inverse @ level)
            self.covariances.append(inverse @ np.diag(noise**2) @ inverse.T)

    def given(self, known: dict[int, float]) -> tuple[list[float], list[np.ndarray], list[np.ndarray]]:
        """Return for each state the log-density with what is known, and the numbers' moments given it.

        Codes of labels and numbers, by position; the moments are of the numbers that are not known, in order.
        """
        seen = [i for i, v in enumerate(self.numbers) if v in known]
        rest = [i for i, v in enumerate(self.numbers) if v not in known]
        x = np.array([known[self.numbers[i]] for i in seen])
        logs, means, covariances = [], [], []
        for states, log_prob, mean, cov in zip(self.states, self.log_prob, self.means, self.covariances, strict=True):
            fits = all(known.get(v, state) == state for v, state in zip(self.labels, states, strict=True))
            total = log_prob if fits else -np.inf
            K = np.linalg.inv(cov[np.ix_(seen, seen)]) if seen else np.zeros((0, 0))
            if seen and fits:
                total += float(multivariate_normal.logpdf(x, mean[seen], cov[np.ix_(seen, seen)]))
            pull = cov[np.ix_(rest, seen)] @ K
            logs.append(total)
            means.append(mean[rest] + pull @ (x - mean[seen]))
            covariances.append(cov[np.ix_(rest, rest)] - pull @ cov[np.ix_(seen, rest)])
        return logs, means, covariances
