"""
Dependence that no correlation shows
====================================

Mutual information by nearest neighbours (Kraskov et al., 2004) sees dependence of any form. Ten
measurements of 569 tumours, pair by pair: some pairs depend on each other more than their correlation says.
The measurements are rounded, and the formula is for numbers without ties: a random part of the last digit is put back.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer

import fishernet as fn

tumours = load_breast_cancer(as_frame=True).data.iloc[:, :10]
names = list(tumours.columns)
rows = tumours.to_numpy()
digit = [np.diff(np.unique(column)).min() for column in rows.T]
rows = rows + np.random.default_rng(1).uniform(-0.5, 0.5, rows.shape) * digit
rows = (rows - rows.mean(axis=0)) / rows.std(axis=0)
pairs = [(a, b) for a in range(len(names)) for b in range(a)]
correlation = [abs(np.corrcoef(rows[:, a], rows[:, b])[0, 1]) for a, b in pairs]
information = [fn.independence.knn_mutual_information(rows[:, a], rows[:, b]) for a, b in pairs]

# %%
# The line is the mutual information of two normal variables with that correlation. The pair farthest above it:

line = np.linspace(0, 0.95, 100)
normal = -0.5 * np.log(1 - np.square(correlation))
a, b = pairs[int(np.argmax(np.array(information) - normal))]
figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 4), layout="constrained")
left.plot(line, -0.5 * np.log(1 - line**2), color="grey")
left.plot(correlation, information, "o", markersize=4)
left.set(xlabel="correlation, without its sign", ylabel="mutual information, nats")
right.plot(tumours[names[a]], tumours[names[b]], "o", markersize=4)
right.set(xlabel=names[a], ylabel=names[b])
