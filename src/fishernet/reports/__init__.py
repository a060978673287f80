"""The one-file report: what a table and its network say, and a page that answers questions to the network itself.

`report` finds what is worth saying of a table (`findings`), writes it as sections of HTML (`sections`), draws the graph
(`drawing`) and puts the network into the page (`network`, and its numbers `blocks`), where JavaScript infers exactly
(``assets/inference.js`` and ``assets/numbers.js``).
The page asks the network for nothing, and what comes from data is text in it and never runs (`page`).
"""

from fishernet.reports.making import Report, report

__all__ = ["Report", "report"]


def __dir__() -> list[str]:
    return __all__
