"""How commands open tables, and write rows."""
