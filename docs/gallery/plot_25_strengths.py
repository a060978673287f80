"""
Which arcs are strong?
======================

Monitoring of patients in intensive care (Beinlich et al., 1989): a network learned from 2,000 rows, its arcs as thick
as two variables say much about each other. What is not in the Markov blanket of the ventilation of the lungs is pale:
it says nothing more about that once the blanket is known.
"""

import fishernet as fn

rows = fn.datasets.load("alarm").sample(2000, seed=1)
net = fn.learn.bayesian_network(rows, search="hill-climb")
fn.plot.graph(net, strengths="mutual-information", target="VENTLUNG")
