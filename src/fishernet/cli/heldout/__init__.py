"""Rows that are kept aside to judge what was learned from the others."""
