"""What everything may use: errors, names, random streams, threads, progress, atomic files."""
