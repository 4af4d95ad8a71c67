"""Caps and bounds chosen from noisy histograms: what is measured, and how they are chosen."""
