"""What leaks: the privacy loss, and numbers that are known to be bounds."""
