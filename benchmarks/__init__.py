"""Side-by-side benchmarks of fishernet and its peers: see README.md in this folder."""
