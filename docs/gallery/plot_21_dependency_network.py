"""
A model for each column: a dependency network
=============================================

A dependency network learns what each column depends on without regard to the others, so that arcs may run in circles.
Beside it a Bayesian network of the same rows, which may not.
"""

import matplotlib.pyplot as plt

import fishernet as fn

table, _ = fn.datasets.load("nursery").split(0.5, seed=1)
both = fn.learn.dependency_network(table), fn.learn.bayesian_network(table, score="bdeu")
figure, axes = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for ax, net, words in zip(axes, both, ("dependency network", "Bayesian network"), strict=True):
    fn.plot.graph(net, ax=ax)
    ax.set_title(words)
print(f"the conditionals of the first disagree by {fn.compare.inconsistency_of_conditionals(both[0]):.4f} nats")
