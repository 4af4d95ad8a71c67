"""Compare Sitr with other accountants: the same questions, machine and run; times are ratios."""
