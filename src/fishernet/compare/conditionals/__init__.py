"""What two tables say of each variable given its parents: tests, estimates, and the graphs that are asked."""
