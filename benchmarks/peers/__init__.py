"""Sitr and its peers answer the questions of `benchmarks.query_cases`, each in a process of its own."""
