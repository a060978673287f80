"""Naive NumPy twins of the core: obvious, slow, and written from the definitions."""
