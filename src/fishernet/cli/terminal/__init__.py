"""What commands share towards the terminal: results, progress, times, failures."""
