"""
Seeing is not doing
===================

To see a fact tells of its causes as well as of its effects. To bring it about tells of its effects only: an
intervention cuts the arcs into the variable. In the network asia (Lauritzen and Spiegelhalter, 1988) smoking causes
lung cancer and bronchitis.
"""

import matplotlib.pyplot as plt

import fishernet as fn

asia = fn.datasets.load("asia")
asked = ["smoke", "lung", "dysp"]
ways = {
    "nothing known": (asia, {}),
    "bronchitis seen": (asia, {"bronc": "yes"}),
    "bronchitis caused": (fn.infer.intervene(asia, {"bronc": "yes"}), {}),
}
figure, ax = plt.subplots(figsize=(6.5, 3.4), layout="constrained")
for shift, (words, (net, known)) in enumerate(ways.items()):
    chances = [net.query(name, given=known)["yes"] for name in asked]
    ax.bar([place + 0.27 * shift for place in range(3)], chances, width=0.25, label=words)
ax.set_xticks([0.27, 1.27, 2.27], ["smokes", "lung cancer", "short of breath"])
ax.set_ylabel("probability")
ax.legend()
