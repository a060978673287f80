"""
Rows of a table that may be one
===============================

Configurations of the parents often have equal probabilities, and may share a row of them: a smaller model, which
needs fewer rows to learn from. Here are the nursery applications with more and more of them, on one graph.
"""

import matplotlib.pyplot as plt

import fishernet as fn

train, test = fn.datasets.load("nursery").split(0.5, seed=1)
dag = fn.learn.dag(train)
sizes = [200, 800, 3200, 6480]
parameters, losses = {"full tables": [], "merged rows": []}, {"full tables": [], "merged rows": []}
for n in sizes:
    rows = train[fn.select.random_subset(train, n, seed=1).indices]
    full = fn.learn.parameters(dag, rows)
    for words, net in (("full tables", full), ("merged rows", fn.learn.merge_rows(full, rows))):
        parameters[words].append(net.n_parameters)
        losses[words].append(-net.log_prob(test).mean())

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for words in parameters:
    left.plot(sizes, parameters[words], "o-", label=words)
    right.plot(sizes, losses[words], "o-", label=words)
for ax in (left, right):
    ax.set(xscale="log", xticks=sizes, xticklabels=sizes)
    ax.minorticks_off()
left.set(xlabel="rows", ylabel="parameters", ylim=(0, None))
right.set(xlabel="rows", ylabel="nats lost per row of others")
left.legend()
