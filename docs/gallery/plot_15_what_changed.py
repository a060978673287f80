"""
What changed, and what merely followed
======================================

In the second table of patients (drawn from ALARM) a tube is kinked four times as often. The one conditional
that was changed is told from the variables that are distributed otherwise only because of it.
"""

import fishernet as fn

alarm = fn.datasets.load("alarm")
before = alarm.sample(5000, seed=1)
kinked = fn.infer.intervene(alarm, {"KINKEDTUBE": "TRUE"}).sample(800, seed=2).to_pandas()
rest = fn.infer.intervene(alarm, {"KINKEDTUBE": "FALSE"}).sample(4200, seed=3).to_pandas()
after = fn.Table.from_frame({name: [*kinked[name], *rest[name]] for name in alarm.names}, schema=alarm.variables)
found = fn.compare.explain_change(before, after, alarm.dag)
print("changed:", found.changed(), "; inherited:", dict(found.inherited()))
fn.plot.change(found, most=12)
