"""How commands open tables."""
