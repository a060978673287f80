"""
Do two tables come from one source?
===================================

Malignant and benign tumours (scikit-learn's copy of the Wisconsin table): the test says that they differ, which nobody
doubts, and each measurement's share of the difference. Two random halves of the benign ones do not differ.
"""

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer

import fishernet as fn

cancer = load_breast_cancer(as_frame=True)
table = fn.Table.from_frame(cancer.data.iloc[:, :10], bins=4)
benign, malignant = table[cancer.target.to_numpy() == 1], table[cancer.target.to_numpy() == 0]
one, other = benign.split(0.5, seed=1)
print("halves of the benign:", fn.compare.two_sample_test(one, other, seed=1))

found = fn.compare.two_sample_test(benign, malignant, seed=1)
shares = sorted(found.by_variable.values(), key=lambda row: row.share)
figure, ax = plt.subplots(figsize=(6.5, 3.6), layout="constrained")
ax.barh([row.variable for row in shares], [row.share for row in shares])
ax.set_xlabel(f"share of the squared distance; p = {found.p_value:.3f}")
