"""Models of real numbers."""
