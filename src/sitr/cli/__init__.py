"""The command line: `sitr demo`, `protect`, `preview`, `ask`, `ledger show`."""
