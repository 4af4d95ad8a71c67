"""The sentences in Arabic."""
