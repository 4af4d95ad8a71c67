"""A server to try: the invented hospital, and one account of each role."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from sitr.dataset.hospital import WARDS
from sitr.ledger.roles import Duty
from sitr.ledger.who import acting
from sitr.server.role import UserRole
from sitr.server.settings import Settings
from sitr.server.tokens import new_token
from sitr.server.users import Users
from sitr.session.dataset import open as open_description
from sitr.session.sample import sample

ROWS = 200_000
"""The number of invented visits, which is public."""

STAFF = 800
"""The number of invented employees."""

ACCOUNTS: Mapping[str, UserRole] = {
    "noor": UserRole.STEWARD,
    "ana": UserRole.ANALYST,
    "omar": UserRole.AUDITOR,
    "admin": UserRole.ADMINISTRATOR,
}


def demonstration(folder: Path, *, rows: int = ROWS, **settings: object) -> Settings:
    """The settings of a server for the invented hospital, whose files are made in a folder if they are missing."""
    made = sample(folder, rows=rows)
    secret = folder / "secret"
    if not secret.exists():
        secret.touch(mode=0o600)
        secret.write_text(new_token(), encoding="utf-8")
    known: dict[str, object] = {"folders": (_staff(folder).resolve(),)}
    known |= {"state": folder / "server", "secret": secret.read_text(encoding="utf-8"), "answer_rows": rows}
    return Settings(**{**known, "datasets": {"visits": made.description}, **settings})  # type: ignore[arg-type]


def _staff(folder: Path) -> Path:
    """A folder with a file that can be registered on the page: an invented staff."""
    files = folder / "files"
    files.mkdir(parents=True, exist_ok=True)
    if not (files / "staff.csv").exists():
        rows = (f"{number},{WARDS[number * 7 % len(WARDS)]},{2000 + number * 37 % 4000}" for number in range(STAFF))
        (files / "staff.csv").write_text("\n".join(("employee,ward,salary", *rows, "")), encoding="utf-8")
    return files


def accounts(settings: Settings, people: Users) -> dict[str, str]:
    """The passwords of accounts that were made now, by name. Passwords are new each time the folder is."""
    budget = open_description(settings.datasets["visits"]).budget()
    passwords = {}
    for name, role in ACCOUNTS.items():
        if people.user(name) is None:
            passwords[name] = new_token()[:16]
            people.add(name, role, passwords[name])
    if not budget.roles():
        with acting("noor"):
            budget.assign("noor", Duty.STEWARD)
            budget.allot("ana", budget.standing().remaining())
            budget.assign("ana", Duty.ANALYST, account="ana")
            budget.assign("omar", Duty.AUDITOR)
    return passwords
