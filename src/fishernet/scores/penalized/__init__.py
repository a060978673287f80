"""Scores that are the maximized log-likelihood, less a price for every free parameter."""
