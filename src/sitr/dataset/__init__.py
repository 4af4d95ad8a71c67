"""What is public about a data set: its schema, its description, and the cells that values are cut into."""
