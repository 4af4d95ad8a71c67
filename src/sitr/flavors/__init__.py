"""How the privacy loss is bounded: one file per promise."""
