"""The commands that compare tables, batches and graphs."""
