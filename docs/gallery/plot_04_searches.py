"""
How near to the best graph does a search come?
==============================================

For up to some 25 columns the best of all graphs can be computed, so that other searches can be judged. Here are
twelve features of 2,000 images of letters, in three bins.
"""

import matplotlib.pyplot as plt

import fishernet as fn

letters = fn.datasets.load("letter", bins=3)
letters = letters.select(letters.names[4:16])[:2000]
best = fn.learn.structure(letters, search="exact")
lost = {}
for search in ("hill-climb", "tabu", "order"):
    found = fn.learn.structure(letters, search=search, seed=1)
    lost[search] = best.score - found.score
    print(f"{search:<10} {lost[search]:8.3f} nats below the best, {found.n_scores:,} local scores")

# %%
# The score is that of the whole table: ten nats are a factor of 22,000 in probability.

figure, ax = plt.subplots(figsize=(6, 2.4), layout="constrained")
ax.barh(list(lost), list(lost.values()))
ax.set_xlabel("nats below the best of all graphs")
ax.invert_yaxis()
