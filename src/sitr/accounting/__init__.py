"""Losses add: what many releases promise together, and when to stop."""
