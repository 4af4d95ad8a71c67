"""Audits of black boxes: lower bounds on what a mechanism leaks, from draws alone."""
