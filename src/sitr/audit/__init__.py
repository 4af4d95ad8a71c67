"""Distrust: claims are checked, and attacks are tried."""
