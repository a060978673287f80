"""
A learned graph beside the true one
===================================

Rows are drawn from ALARM, a network for monitoring patients (Beinlich et al., 1989), and the graph is learned back from
them. Data cannot tell the direction of every arc, so graphs are compared as classes of equivalent ones: the structural
Hamming distance is the number of edges that are missing, too many, or directed in another way.
"""

import matplotlib.pyplot as plt

import fishernet as fn

alarm = fn.datasets.load("alarm")
distances = {}
for n in (250, 1000, 4000, 16000):
    found = fn.learn.dag(alarm.sample(n, seed=1), seed=1)
    distances[n] = fn.shd(found, alarm.dag)
print(distances)

# %%
# The true graph has 46 edges. The one that 16,000 rows give:

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 5), width_ratios=[1, 2.4], layout="constrained")
left.plot(list(distances), list(distances.values()), "o-")
left.set(
    xscale="log",
    xticks=list(distances),
    xticklabels=list(distances),
    xlabel="rows",
    ylabel="structural Hamming distance",
    ylim=(0, None),
)
fn.plot.graph(found, ax=right, font_size=7)
left.minorticks_off()
