"""What other libraries speak of: their events read and written, their training runs accounted for. Each is an extra."""
