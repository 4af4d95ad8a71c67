"""How far one unit can move an answer."""
