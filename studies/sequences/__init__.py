"""Kernels of sequences and of phylogenetic profiles, as the features of a support vector machine.

``python -m studies.sequences`` measures how well the kernels of P3's models tell classes apart, beside kernels that
know of no model: on seeded toys, and with ``--data`` on promoters, splice junctions, globins and phylogenetic profiles.
"""
