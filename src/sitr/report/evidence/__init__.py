"""What a certificate carries for an independent check: each measurement, its mechanism, and how far one unit moves it."""
