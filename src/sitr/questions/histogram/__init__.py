"""Counts in public cells: how they are measured, and what can be done to them afterwards."""
