"""
A hidden Markov model finds the vowels
======================================

Letters of an English text (scikit-learn's description of a table), and a model of two hidden states that knows nothing
of language. What the states turn out to be is an old observation (Cave and Neuwirth, 1980).
"""

import re

import matplotlib.pyplot as plt
from sklearn.datasets import load_breast_cancer, load_diabetes, load_wine

import fishernet as fn

text = " ".join(load().DESCR for load in (load_breast_cancer, load_diabetes, load_wine)).lower()
words = re.sub(r"[^a-z]+", " ", text)
letters = " abcdefghijklmnopqrstuvwxyz"
hmm = fn.learn.hidden_markov_model([words], n_states=2, alphabet=letters, seed=1)

# %%
# For each letter, the share of the first state among the two. One state has the vowels and the space.

shares = hmm.emission / hmm.emission.sum(axis=0)
state = int(shares[1, 1] > shares[0, 1])
figure, ax = plt.subplots(figsize=(8, 2.8), layout="constrained")
ax.bar(range(27), shares[state], color=["#d1495b" if letter in "aeiou" else "#7a9aa8" for letter in letters])
ax.set_xticks(range(27), ["space", *letters[1:]], fontsize=8)
ax.set_ylabel("share of one state")
