"""Noise fitted to a sensitivity: each file is one mechanism."""
