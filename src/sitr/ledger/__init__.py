"""Ledgers: the durable record of every charge."""
