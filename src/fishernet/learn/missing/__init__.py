"""Learning from rows with missing cells, and with variables that nobody observed."""
