"""
How many rows are enough?
=========================

Chosen rows come nearer to the whole table than as many at random. The picture says as how many random rows they stand.
"""

import fishernet as fn

table, _ = fn.datasets.load("nursery").split(0.5, seed=1)
kernel = fn.kernels.FisherKernel(fn.learn.bayesian_network(table))
found = fn.select.distance_by_k(kernel, table, [5, 10, 20, 50, 100, 200], n_random=20, seed=1)
print(found.verdict)
fn.plot.distance_by_k(found)
