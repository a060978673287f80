"""What commands share towards their input: tables, models, and rules for a search."""
