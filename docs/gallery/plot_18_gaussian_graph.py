"""
A graph of numbers
==================

Columns of numbers need no bins. Ten measurements of 569 tumours: an edge says that two depend on each other even if all
others are known (FMPL, Leppä-aho et al., 2017). Correlations alone would join nearly all.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

import fishernet as fn

cancer = load_breast_cancer(as_frame=True).data.iloc[:, :10].rename(columns=lambda name: name.removeprefix("mean "))
logs = np.log(cancer + 0.01)
graph = fn.learn.gaussian_graph(logs)
pairs = np.triu(np.abs(logs.corr().to_numpy()) > 0.2, 1).sum()
print(f"{len(graph.edges)} edges; {pairs} of 45 pairs are correlated by more than 0.2")
figure, ax = plt.subplots(figsize=(7, 5), layout="constrained")
fn.plot.graph(graph, ax=ax)
