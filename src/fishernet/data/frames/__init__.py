"""Data frames of other libraries: a table as one of them, and the rows of whatever was given."""
