"""Kernels of strings and of trees."""
