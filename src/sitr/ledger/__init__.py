"""What is spent: the durable memory of every charge."""
