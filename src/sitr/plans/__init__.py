"""What will be measured, and what it costs: fixed before any row is read."""
