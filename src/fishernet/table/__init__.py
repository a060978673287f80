"""Categorical tables: variables, encoding, discretizing, reading and writing."""

from fishernet.table.reading import read_table
from fishernet.table.table import Table
from fishernet.table.variable import State, Variable
from fishernet.table.writing import write_table

__all__ = ["State", "Table", "Variable", "read_table", "write_table"]
