"""
What do missing cells cost?
===========================

Cells of 2,000 rows of the network asia are hidden at random, more and more of them, and a network is learned in two
ways: from expected counts (structural EM), and with each family scored on the rows that are complete in it
(node-average). Judged by rows that took no part.
"""

import matplotlib.pyplot as plt
import numpy as np

import fishernet as fn

asia = fn.datasets.load("asia")
rows, test = asia.sample(2000, seed=1).to_pandas(), asia.sample(5000, seed=2)
shares = [0.0, 0.1, 0.2, 0.3, 0.4]
lost = {"em": [], "node-average": []}
for share in shares:
    hidden = np.random.default_rng(1).random(rows.shape) < share
    holes = fn.Table.from_frame(rows.mask(hidden), schema=test.variables)
    for way, losses in lost.items():
        dag = fn.learn.dag(holes, missing=way if share else None, search="hill-climb")
        net = fn.learn.parameters(dag, holes)
        losses.append(asia.log_prob(test).mean() - net.log_prob(test).mean())

figure, ax = plt.subplots(figsize=(6, 3.6), layout="constrained")
for way, losses in lost.items():
    ax.plot(shares, losses, "o-", label=way)
ax.set(xlabel="share of cells that are missing", ylabel="nats lost per row")
ax.legend()
