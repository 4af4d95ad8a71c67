"""Sitr beside other accountants: the same questions, the same machine, the same run, told as ratios."""
