"""Laws of the privacy loss in closed form: one file per mechanism, and one for sampling before it."""
