"""The experiments on qNML of P4, section 4.2.3, and of the paper that it summarises.

``python -m studies.qnml`` measures how well four scores recover known networks, how well what they choose predicts,
and how many parameters that has, beside the published figures; and what the section argues without figures: how
much BDeu depends on its equivalent sample size, and how near qNML's penalty is to that of exact NML.
"""
