"""From columns as a source gives them to variables with codes, or numbers."""
