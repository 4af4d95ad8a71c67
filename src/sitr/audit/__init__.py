"""Distrust, built in: exact verification of finite mechanisms."""
