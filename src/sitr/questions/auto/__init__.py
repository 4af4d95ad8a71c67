"""Aggregate questions whose caps are chosen from the data, privately, for a share of the one price."""
