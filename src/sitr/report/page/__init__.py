"""Reports as pages, and as fragments for notebooks."""
