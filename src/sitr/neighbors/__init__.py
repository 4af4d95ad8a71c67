"""Who is protected: which two tables must be hard to distinguish."""
