"""Publications: many tables at once that add up."""
