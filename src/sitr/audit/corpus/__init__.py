"""Correct and broken mechanisms with their claims: what an auditor must accept, and what it must find."""
