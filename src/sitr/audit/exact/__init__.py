"""Finite mechanisms, given as tables of probabilities: the tight parameter of every definition, proved."""
