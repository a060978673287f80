"""fishernet: learn how the variables of a table depend on one another, and use what was learned as a kernel."""
