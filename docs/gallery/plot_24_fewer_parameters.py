"""
Rows of a table that may be one
===============================

Configurations of the parents often have equal probabilities. Merging their rows leaves a smaller model that predicts as
well or better. Here are the nursery applications with more and more rows to learn from.
"""

import matplotlib.pyplot as plt

import fishernet as fn

train, test = fn.datasets.load("nursery").split(0.5, seed=1)
dag = fn.learn.kdb(train, "class", k=2)
sizes = [200, 800, 3200, 6480]
parameters, losses = {"full tables": [], "merged rows": []}, {"full tables": [], "merged rows": []}
for n in sizes:
    full = fn.learn.parameters(dag, train[:n])
    for words, net in (("full tables", full), ("merged rows", fn.learn.merge_rows(full, train[:n]))):
        parameters[words].append(net.n_parameters)
        losses[words].append(-net.log_prob(test).mean())

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for words in parameters:
    left.plot(sizes, parameters[words], "o-", label=words)
    right.plot(sizes, losses[words], "o-", label=words)
left.set(xscale="log", xlabel="rows", ylabel="parameters", ylim=(0, None))
right.set(xscale="log", xlabel="rows", ylabel="nats lost per row of others")
left.legend()
