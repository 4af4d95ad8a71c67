"""`python -m sitr` is `sitr`, where the command is not on the path."""

from __future__ import annotations

from sitr.cli.main import main

if __name__ == "__main__":
    main()
