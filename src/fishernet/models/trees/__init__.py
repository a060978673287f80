"""Models of strings whose symbols stand at the leaves of a tree."""
