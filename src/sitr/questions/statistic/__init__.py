"""One statistic of one column, and the ways to release it."""
