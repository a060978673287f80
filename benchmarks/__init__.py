"""Races of fishernet against other libraries, and against itself as it was; `README.md` says how they are run."""
