"""Rows of nobody: drawn from noisy tables of a data set."""
