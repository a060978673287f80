"""
Is a classifier right as often as it says?
==========================================

Applications for nursery schools, of which naive Bayes learns from 15 % (two of 12,960 were plainly recommended, and are
left out). The first picture says how well its probabilities order the others, the second how often they come true.
"""

import matplotlib.pyplot as plt

import fishernet as fn
from fishernet.sklearn import BayesianNetworkClassifier

rows = fn.datasets.load("nursery").to_pandas()
train, test = fn.Table.from_frame(rows[rows["class"] != "recommend"].astype(str)).split(0.15, seed=1)
X, X_test = (part.to_pandas() for part in (train, test))
y, y_test = X.pop("class"), X_test.pop("class")
model = BayesianNetworkClassifier("nb").fit(X, y)
said = model.predict_proba(X_test)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4.6), layout="constrained")
fn.plot.roc(y_test, said, states=model.classes_, ax=left)
fn.plot.calibration(y_test, said, states=model.classes_, state="priority", ax=right)
