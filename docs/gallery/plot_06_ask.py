"""
What is probable when something is known?
=========================================

The network ALARM knows how measurements of a patient depend on what is wrong. With more and more of them known, the
probability of each cause moves. All answers are exact.
"""

import matplotlib.pyplot as plt

import fishernet as fn

alarm = fn.datasets.load("alarm")
causes = {"HYPOVOLEMIA": "TRUE", "LVFAILURE": "TRUE", "ANAPHYLAXIS": "TRUE", "KINKEDTUBE": "TRUE"}
told = [{}, {"BP": "LOW"}, {"BP": "LOW", "CVP": "LOW"}, {"BP": "LOW", "CVP": "LOW", "HISTORY": "FALSE"}]

figure, ax = plt.subplots(figsize=(7.5, 3.6), layout="constrained")
for cause, state in causes.items():
    chances = [alarm.query(cause, given=known)[state] for known in told]
    ax.plot(range(len(told)), chances, "o-", label=cause)
ax.set_xticks(
    range(len(told)), ["nothing", "low blood\npressure", "and low venous\npressure", "and no history\nof heart failure"]
)
ax.set_ylabel("probability")
ax.legend()
