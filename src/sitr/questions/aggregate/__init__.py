"""Counts and sums by group: from SQL text or frame calls to nodes, to bounded contributions, to noisy columns."""
