"""
Classifiers of a simple form
============================

Naive Bayes, TAN and KDB tell 26 letters from 16 features of their images. Each form lets a feature depend on more
others than the one before, and needs more rows.
"""

import matplotlib.pyplot as plt

import fishernet as fn

train, test = fn.datasets.load("letter", bins=5).split(0.8, seed=1)
forms = {
    "naive Bayes": lambda rows: fn.learn.naive_bayes(rows, "class"),
    "TAN": lambda rows: fn.learn.tan(rows, "class"),
    "KDB, 2 others": lambda rows: fn.learn.kdb(rows, "class", k=2),
}
sizes = [250, 1000, 4000, 16000]
figure, ax = plt.subplots(figsize=(6, 3.8), layout="constrained")
for words, form in forms.items():
    errors = []
    for n in sizes:
        net = fn.learn.parameters(form(train[:n]), train[:n], smoothing=0.1)
        errors.append((net.predict(test, "class") != test["class"]).mean())
    ax.plot(sizes, errors, "o-", label=words)
    print(f"{words:<14}", [round(float(error), 3) for error in errors])
ax.set(xscale="log", xticks=sizes, xticklabels=sizes, xlabel="rows", ylabel="error on other rows", ylim=(0, None))
ax.minorticks_off()
ax.legend()
