"""
Which rows are odd, and by which cell?
======================================

The log-probability of a row is a sum over its cells. A cell that does not go with the others has a low term. Here are
the ten least likely of 178 wines (scikit-learn's copy of the UCI table), whose measurements are cut into four bins.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

import fishernet as fn

wine = load_wine(as_frame=True)
table = fn.Table.from_frame(wine.data.assign(grower=wine.target.astype(str)), bins=4)
net = fn.learn.bayesian_network(table)
terms = net.log_prob_terms(table)
odd = np.argsort(terms.sum(axis=1))[:10]

figure, ax = plt.subplots(figsize=(8, 4.2), layout="constrained")
image = ax.imshow(terms[odd], cmap="magma", aspect="auto")
ax.set_xticks(range(len(table.names)), table.names, rotation=60, ha="right", fontsize=8)
ax.set_yticks(range(10), [f"row {row}" for row in odd], fontsize=8)
figure.colorbar(image, label="log-probability of the cell, nats")
