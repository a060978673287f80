"""What changed between two tables: power, false alarms, and real drift, of `fishernet.compare`.

``python -m studies.drift`` changes one conditional of the alarm network, freely or so that no marginal of a single
variable changes, and counts who notices, and who names the variable; it counts false alarms of whole procedures,
learning included; and it says in words what changed between halves of real tables.
"""
