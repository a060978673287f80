"""
Learn, ask, compare, choose
===========================

What fishernet does, in one picture: applications for nursery schools in Ljubljana in the 1980s, eight things that were
asked and what was decided (Rajkovic, 1989). This file makes the picture of the front page:
``python docs/gallery/plot_01_four_verbs.py docs/_static/four-verbs.svg``.
"""

import sys

import matplotlib.pyplot as plt

import fishernet as fn

# %%
# **Learn** which columns depend on one another, among all graphs. **Ask** what is decided when the parents are well off
# and the housing is critical. **Compare** with a table in which every other healthy child is missing. **Choose** twelve
# rows that stand for all.

applications = fn.datasets.load("nursery")
before, after = applications.split(0.5, seed=1)
dag = fn.learn.dag(before, score="qnml", search="exact")
net = fn.learn.parameters(dag, before)

known = {"health": "priority", "housing": "critical"}
decided = net.query("class"), net.query("class", given=known)

frame = after.to_pandas()
fewer = frame.drop(frame[frame["health"] == "recommended"].index[::2])
changed = fn.compare.explain_change(before, fewer, net.dag)

kernel = fn.kernels.FisherKernel(net)
chosen = fn.select.greedy_mmd(kernel, before, 12, seed=1)

# %%
# Four pictures side by side.

plt.rcParams.update({"svg.fonttype": "none", "svg.hashsalt": "fishernet", "font.size": 9, "font.family": "DejaVu Sans"})
figure, axes = plt.subplots(2, 2, figsize=(9.6, 6.6), layout="constrained")
learn, ask, compare, choose = axes.ravel()

fn.plot.graph(net, ax=learn, font_size=10)
learn.set_title("learn: which columns depend on one another", loc="left")

for shift, (answer, words) in enumerate(zip(decided, ("of all", "health: priority, housing: critical"), strict=True)):
    places = [place + 0.38 * shift for place in range(len(answer.array))]
    ask.barh(places, answer.array, height=0.36, label=words, color=("#c9c9c9", "#0072b2")[shift])
ask.set_yticks([place + 0.19 for place in range(5)], before.variables[8].states)
ask.invert_yaxis()
ask.legend(frameon=False, loc="lower right")
ask.set_xlabel("probability")
ask.set_title("ask: what is decided, and what if?", loc="left")

fn.plot.change(changed, most=5, ax=compare, font_size=9)
compare.set_title("compare: what changed, what was inherited", loc="left")

fn.plot.selection(chosen, colour="class", n_rows=200, ax=choose)
choose.set_title("choose: twelve rows that stand for 6,480", loc="left")
choose.get_legend().remove()

if len(sys.argv) > 1 and sys.argv[1].endswith(".svg"):
    figure.savefig(sys.argv[1], metadata={"Date": None, "Creator": None})
