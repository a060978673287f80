"""
How sure is an edge?
====================

Learn again from rows drawn anew, a hundred times, and count how often two columns are joined. What is in more than half
of the graphs is significant by the rule of Scutari and Nagarajan (2013).
"""

import matplotlib.pyplot as plt

import fishernet as fn

table, _ = fn.datasets.load("nursery").split(0.15, seed=1)
sure = fn.learn.edge_strengths(table, 100, score="bdeu", seed=1)
edges = {}
for row in sure.to_frame().to_pylist():
    edges[" - ".join(sorted((row["from"], row["to"])))] = row["strength"]
strongest = sorted(edges.items(), key=lambda item: -item[1])[:14]

figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ax.barh([name for name, _ in strongest], [strength for _, strength in strongest])
ax.axvline(sure.threshold, color="black", linestyle=":")
ax.set_xlabel("share of the networks that have the edge; dots: the threshold")
ax.invert_yaxis()
