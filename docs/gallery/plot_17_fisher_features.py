"""
A linear model that sees dependences
====================================

What is decided of an application depends on combinations of what was asked, which a linear model of one-hot columns
does not see. Features of the Fisher kernel are states *in* configurations, so that it does.
"""

import matplotlib.pyplot as plt
from sklearn.metrics import ConfusionMatrixDisplay
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import MaxAbsScaler, OneHotEncoder
from sklearn.svm import LinearSVC

import fishernet as fn
from fishernet.sklearn import FisherFeatures

train, test = (part.to_pandas() for part in fn.datasets.load("nursery").split(0.5, seed=1))
X, X_test = train.drop(columns="class"), test.drop(columns="class")
figure, axes = plt.subplots(1, 2, figsize=(10, 4.4), layout="constrained")
for ax, (words, first) in zip(
    axes, {"one-hot": OneHotEncoder(), "Fisher features": FisherFeatures(structure="kdb")}.items(), strict=True
):
    model = make_pipeline(first, MaxAbsScaler(), LinearSVC()).fit(X, train["class"])
    ConfusionMatrixDisplay.from_estimator(model, X_test, test["class"], ax=ax, colorbar=False, xticks_rotation=40)
    ax.set_title(f"{words}: {model.score(X_test, test['class']):.3f} right")
