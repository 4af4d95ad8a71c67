"""Other accountants: reading and writing their events, and accounting for their training runs. Each is an extra."""
