"""What a certificate carries for an independent check: the measurements, and how far one unit moves them."""
