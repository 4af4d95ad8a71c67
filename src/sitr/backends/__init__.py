"""Backends: where rows are stored. A backend computes exact integers with bounded contributions, and nothing else."""
