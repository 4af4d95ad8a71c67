"""Pictures: SVG without scripts, fonts or addresses."""
