"""
Which text is a piece of?
=========================

The Fisher kernel of a Markov chain compares strings by how they would change the chain. Here are pieces of five English
texts (scikit-learn's descriptions of tables). Is the most similar other piece one of the same text?
"""

import re

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine

import fishernet as fn

pieces, texts = [], []
for place, load in enumerate((load_breast_cancer, load_diabetes, load_digits, load_iris, load_wine)):
    text = re.sub(r"[^a-z]+", " ", load().DESCR.lower())
    for start in range(0, min(len(text), 1800) - 300, 300):
        pieces.append(text[start : start + 300])
        texts.append(place)
chain = fn.learn.markov_chain(pieces, order=2, alphabet=" abcdefghijklmnopqrstuvwxyz")
kernel = fn.kernels.Normalized(fn.kernels.FisherKernel(chain, metric="practical"))
matrix = kernel(pieces)
nearest = (matrix - 2 * np.eye(len(pieces))).argmax(axis=1)
right = sum(texts[place] == texts[other] for place, other in enumerate(nearest))
print(f"of {len(pieces)} pieces, {right} have one of the same text as the most similar")

figure, ax = plt.subplots(figsize=(5, 4.2), layout="constrained")
image = ax.imshow(matrix, cmap="viridis", vmax=0.5)
edges = [texts.index(place) - 0.5 for place in range(1, 5)]
ax.hlines(edges, -0.5, len(texts) - 0.5, color="white", linewidth=0.8)
ax.vlines(edges, -0.5, len(texts) - 0.5, color="white", linewidth=0.8)
figure.colorbar(image, label="cosine")
