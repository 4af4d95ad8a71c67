"""The sentences of reports, by language."""
