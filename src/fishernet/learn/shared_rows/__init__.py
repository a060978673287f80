"""Local structure: configurations of the parents that share a row of probabilities, by a tree or in any groups."""
