"""A decision tree as fields of the model file, and back.

::

    "nodes": [
      {"variable": "age", "to": [1, 2, 1]}    the node to which each state leads, always a later one
      {"leaf": 0}                             the row of probabilities
    ]
"""

from __future__ import annotations

from collections.abc import Mapping

from fishernet.files.fields import Fields, shown
from fishernet.models import Split, TreeConditional
from fishernet.table import Variable


def tree_fields(conditional: TreeConditional) -> list[dict[str, object]]:
    """Return the nodes of a tree as what `json` writes, the root first."""
    names = {p: variable.name for p, variable in zip(conditional.parents, conditional.variables, strict=False)}
    sizes = {p: variable.cardinality for p, variable in zip(conditional.parents, conditional.variables, strict=False)}
    variable, first, branches = (array.tolist() for array in conditional.nodes())
    return [
        {"leaf": at} if asked < 0 else {"variable": names[asked], "to": branches[at : at + sizes[asked]]}
        for asked, at in zip(variable, first, strict=True)
    ]


def read_tree(fields: Fields, of: Mapping[str, tuple[int, Variable]]) -> Split | int:
    """Return the tree that the nodes describe.

    Parameters
    ----------
    fields : Fields
        Of the conditional.
    of : mapping
        For each parent's name its position and variable.
    """
    nodes = fields.objects("nodes")
    if not nodes:
        raise fields.wrong("a tree needs a node", "nodes")
    read: dict[int, Split | int] = {}
    for number in range(len(nodes) - 1, -1, -1):  # what a node leads to comes after it
        node = nodes[number]
        if node.has("leaf"):
            read[number] = node.whole("leaf")
        else:
            name = node.text("variable")
            if name not in of:
                raise node.wrong(f"{name!r} is no parent", "variable")
            position, variable = of[name]
            to = node.items("to")
            if len(to) != variable.cardinality:
                raise node.wrong(f"{len(to)} nodes for the {variable.cardinality} states of {name!r}", "to")
            for state, below in enumerate(to):
                if type(below) is not int or not number < below < len(nodes) or below not in read:
                    raise node.wrong(
                        f"expected a node from {number + 1} to {len(nodes) - 1} that nothing else leads to, "
                        f"got {shown(below)}",
                        f"to[{state}]",
                    )
            below = sorted(set(to))
            read[number] = Split(position, tuple(below.index(n) for n in to), tuple(read.pop(n) for n in below))
        node.end()
    if len(read) > 1:
        raise fields.wrong(f"nothing leads to node {max(read)}", "nodes")
    return read[0]
