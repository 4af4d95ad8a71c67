"""One composition theorem per file."""
