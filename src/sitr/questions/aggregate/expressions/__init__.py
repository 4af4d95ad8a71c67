"""Expressions on rows: arithmetic, conditions, text and dates; total on every row, with a public type and range."""
