"""
Fill holes in, and know how sure that is
========================================

A fifth of the cells of 1,000 patients of the network ALARM are hidden, and each is filled in by its most probable
state. What the network says of its own sureness can be held against what was hidden.
"""

import matplotlib.pyplot as plt
import numpy as np

import fishernet as fn

alarm = fn.datasets.load("alarm")
true = alarm.sample(1000, seed=1)
hidden = np.random.default_rng(1).random(true.shape) < 0.2
holes = fn.Table.from_frame(true.to_pandas().mask(hidden), schema=true.variables)
net = fn.learn.parameters(alarm.dag, holes)

sure, right = [], []
for place, name in enumerate(true.names):
    rows = np.flatnonzero(hidden[:, place])
    chances = net.predict_proba(holes[rows], name)
    sure.append(chances.max(axis=1))
    right.append(chances.argmax(axis=1) == true.codes[place][rows])
sure, right = np.concatenate(sure), np.concatenate(right)

edges = np.quantile(sure, np.linspace(0, 1, 9))
bins = np.clip(np.searchsorted(edges, sure, side="right") - 1, 0, 7)
figure, ax = plt.subplots(figsize=(4.6, 4.2), layout="constrained")
ax.plot([0.3, 1], [0.3, 1], color="grey", linestyle=":")
ax.plot([sure[bins == b].mean() for b in range(8)], [right[bins == b].mean() for b in range(8)], "o")
ax.set(xlabel="how sure the network is", ylabel="share that is right")
print(f"{right.mean():.3f} of {len(right):,} cells are right")
