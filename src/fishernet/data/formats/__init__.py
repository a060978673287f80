"""Files that hold tables: one file a format, and what they have in common."""
