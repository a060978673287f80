"""
Where do two graphs differ?
===========================

Eight variables about lung diseases (Lauritzen and Spiegelhalter, 1988): the classes of the true graph and of one
learned from 1,000 rows. A class is what data can tell; its undirected lines may be turned either way.
"""

import matplotlib.pyplot as plt

import fishernet as fn

asia = fn.datasets.load("asia")
learned = fn.learn.dag(asia.sample(1000, seed=1))
figure, axes = plt.subplots(1, 2, figsize=(10, 5), layout="constrained")
fn.plot.graph(fn.graphs.cpdag(asia.dag), ax=axes[0])
fn.plot.difference(fn.graphs.cpdag(asia.dag), fn.graphs.cpdag(learned), names=("the truth", "the learned"), ax=axes[1])
