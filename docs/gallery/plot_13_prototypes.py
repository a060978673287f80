"""
Prototypes, and what they do not explain
========================================

Twenty-four images of the letters A, B and C stand for all of them: rows that are alike under the kernel are near.
Criticisms, crosses, are rows that are unlike the chosen ones.
"""

import numpy as np

import fishernet as fn

letters = fn.datasets.load("letter", bins=4)
few = letters[np.flatnonzero(np.isin(letters["class"], ["A", "B", "C"]))]
kernel = fn.kernels.FisherKernel(fn.learn.bayesian_network(few, search="hill-climb"))
chosen = fn.select.mmd_critic(kernel, few, 24)
odd = fn.select.criticisms(kernel, few, chosen, 5)
fn.plot.selection(chosen, criticisms=odd, colour="class", n_rows=500)
