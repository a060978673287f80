"""Dependency networks: the experiments of Takabatake and Akaho [1]_, and what they leave open.

``python -m studies.dependency_networks`` recomputes the paper's four tables and goes beyond them: accuracy by the size
of the training set, Theorem 3's bound, the movement of the ordered scan, clamping, trees, and learning time.

References
----------
.. [1] K. Takabatake and S. Akaho, "Reconsidering dependency networks from an information geometry perspective", 2021.
"""
