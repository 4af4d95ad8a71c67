"""Reports on a terminal, and as plain text."""
