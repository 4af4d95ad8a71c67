"""Independent checkers that import nothing of Sitr: `sitr_check.py` for figures, `sitr_chain.py` for hashes."""
