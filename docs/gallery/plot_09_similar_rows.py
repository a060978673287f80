"""
Two similarities of rows
========================

The Fisher kernel of a network says how alike two rows are in everything that the network knows: agreement in what is
rare counts most. Left, its cosines between 178 wines, sorted by the grower, whom the network has not seen; right, the
share of equal bins, which shows the three growers more clearly. For groups and neighbours simple similarities are
often the better ones; the Fisher kernel is for what a *mean* of rows says of a table, as in the next examples.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_wine

import fishernet as fn

wine = load_wine(as_frame=True)
table = fn.Table.from_frame(wine.data, bins=3)
net = fn.learn.bayesian_network(table)
order = np.argsort(wine.target.to_numpy(), kind="stable")
kernels = {
    "Fisher kernel": fn.kernels.Normalized(fn.kernels.FisherKernel(net)),
    "share of equal bins": fn.kernels.Similarity(table, "overlap"),
}
figure, axes = plt.subplots(1, 2, figsize=(9, 4.2), layout="constrained")
for ax, (words, kernel) in zip(axes, kernels.items(), strict=True):
    image = ax.imshow(kernel(table[order]), cmap="viridis", vmin=-0.2, vmax=1)
    ax.set_title(words)
figure.colorbar(image, ax=axes)
