"""Several aggregate questions with one plan, fixed in advance, and one charge."""
