"""The answer: exact integers in, noisy numbers with their errors out."""
