"""The independent checker, one file that imports nothing of Sitr: `sitr_check.py`."""
