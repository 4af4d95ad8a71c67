"""One data set, one promise, many questions."""
