"""
Groups of rows, and what marks each
===================================

A network with one hidden variable groups the rows, and the BIC says how many groups. 178 wines, measurements in three
bins: the groups were found without the grower.
"""

import pandas as pd
from sklearn.datasets import load_wine

import fishernet as fn

wine = load_wine(as_frame=True)
table = fn.Table.from_frame(wine.data, bins=3)
found = fn.learn.clusters(table, seed=1)
print(pd.crosstab(wine.target, pd.Series(found.labels, name="group")))
fn.plot.clusters(found)
