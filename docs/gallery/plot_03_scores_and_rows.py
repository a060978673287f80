"""
How many arcs does a score find?
================================

Scores differ in what an arc must gain. Images of letters (Slate, 1991), 16 features in four bins each and the letter:
the same search under five scores, with more and more rows.
"""

import matplotlib.pyplot as plt

import fishernet as fn

letters = fn.datasets.load("letter", bins=4)
sizes = [250, 500, 1000, 2000, 4000]
figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for score, marker in zip(("bic", "qnml", "fnml", "bdeu", "aic"), "osv^D", strict=True):
    arcs = [len(fn.learn.dag(letters[:n], score=score, search="hill-climb").edges) for n in sizes]
    ax.plot(sizes, arcs, marker=marker, label=score)
    print(f"{score:<5}", arcs)
ax.set(xscale="log", xticks=sizes, xticklabels=sizes, xlabel="rows", ylabel="arcs")
ax.minorticks_off()
ax.legend()
