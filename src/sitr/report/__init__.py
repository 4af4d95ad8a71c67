"""What is shown: certificates, previews and answers as dictionaries, text, HTML and SVG. Pure functions of values."""
