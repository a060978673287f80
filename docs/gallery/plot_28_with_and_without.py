"""
What does one answer change?
============================

A patient who coughs and cannot breathe well (Lauritzen and Spiegelhalter, 1988): probabilities before anything is
known, and when the X-ray is abnormal. The table says what the doctor's rule is made of.
"""

import matplotlib.pyplot as plt

import fishernet as fn

asia = fn.datasets.load("asia")
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained", width_ratios=[3, 2])
fn.plot.marginals(asia, given={"xray": "yes", "dysp": "yes"}, ax=left)
fn.plot.conditional(asia, "dysp", ax=right)
