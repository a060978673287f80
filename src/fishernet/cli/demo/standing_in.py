"""The second part of the demo: a few rows in place of a whole table (P1, section 7.1 and Fig. 1)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from fishernet.cli.demo.learning import SEED, LearnedHalf
from fishernet.cli.terminal.output import Facts
from fishernet.cli.terminal.stopwatch import Stopwatch
from fishernet.kernels import FisherKernel
from fishernet.learn import parameters
from fishernet.select import Selection, greedy_chi_square, greedy_mmd, random_subset

N_CHOSEN = 200
N_RANDOM = 1000


def choose_rows(half: LearnedHalf) -> Facts:
    """Return how well the held-out half is predicted by parameters refitted on rows chosen in different ways.

    The graph stays. Each loss is the negative log-likelihood a held-out row, in nats; random rows have its mean and
    standard deviation over 1000 subsets.
    """
    watch = Stopwatch()
    by_criterion: dict[str, Callable[[], Selection]] = {
        "fisher_mmd": lambda: greedy_mmd(FisherKernel(half.network), half.training, N_CHOSEN, seed=SEED),
        "chi_square": lambda: greedy_chi_square(half.training, N_CHOSEN, seed=SEED),
    }
    losses = {}
    for name, choose in by_criterion.items():
        with watch.time(name):
            chosen = choose()
        losses[name] = _loss(half, chosen)
    with watch.time("random"):
        at_random = np.array([_loss(half, random_subset(half.training, N_CHOSEN, seed=i)) for i in range(N_RANDOM)])
    return {
        "chosen_rows": N_CHOSEN,
        "all": -half.likelihood.per_row,
        **losses,
        "random_mean": float(at_random.mean()),
        "random_sd": float(at_random.std(ddof=1)),
        "seconds": watch.seconds,
    }


def _loss(half: LearnedHalf, chosen: Selection) -> float:
    refitted = parameters(half.found.dag, half.training[chosen.indices])
    return float(-refitted.log_prob(half.held_out).mean())
