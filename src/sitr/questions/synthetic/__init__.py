"""Synthetic rows: which tables are measured, the model that fits them, and rows drawn from it."""
