"""Distrust: checks of claims, whoever makes them."""
