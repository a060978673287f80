"""Missing cells: what each way to deal with them costs, and the Fisher kernel of rows that have them.

``python -m studies.missing`` hides cells of tables that are known whole, by three mechanisms, and learns from what is
left; it learns from tables that lack cells by themselves; and it finds neighbours and clusters of incomplete rows by
the Fisher kernel averaged over what they lack [1]_.

References
----------
.. [1] J. Leppä-aho, T. Silander and T. Roos, "Bayesian network Fisher kernel for categorical feature spaces",
   Behaviormetrika 47, 2020, section 8.
"""
