"""The steward's own store of digests of rows: a file in the state folder that nobody else may read.

A digest says whether the rows of a source were replaced. It would confirm guesses about them, so it is in no entry,
chain, witness, export or certificate, and no question looks at it: decision 0050.
"""

from __future__ import annotations

import hmac
import json
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path

from sitr.errors import LedgerError
from sitr.ledger.key import installation_key
from sitr.ledger.registry import fingerprint
from sitr.ledger.state import locked, state_folder, unwritable, write_durably


@dataclass(frozen=True, slots=True)
class Recorded:
    """A digest, and when it was recorded."""

    digest: str
    at: str


def digest_key() -> bytes:
    """The key of digests, which follows from the key of the installation: a digest of another one says nothing here."""
    installation_key()
    return hmac.digest((state_folder() / "key").read_bytes(), b"sitr digest of rows", sha256)


def recorded(source: str) -> Recorded | None:
    """The digest that was recorded for a source; None if there is none."""
    return _read(_path()).get(fingerprint(source))


def record(source: str, digest: str) -> Recorded:
    """Record a digest, in the place of an earlier one."""
    made, path = Recorded(digest, datetime.now(UTC).isoformat()), _path()
    try:
        with locked(path):
            content = _read(path) | {fingerprint(source): made}
            plain = {name: asdict(each) for name, each in content.items()}
            write_durably(path, json.dumps(plain, sort_keys=True, indent=1).encode(), mode=0o600)
    except OSError as cause:
        raise unwritable(path.parent) from cause
    return made


def _path() -> Path:
    return state_folder() / "digests.json"


def _read(path: Path) -> dict[str, Recorded]:
    try:
        return {str(name): Recorded(**each) for name, each in json.loads(path.read_text()).items()}
    except FileNotFoundError:
        return {}
    except OSError as cause:
        raise unwritable(path.parent) from cause
    except (ValueError, TypeError, AttributeError) as cause:
        raise LedgerError(
            given=f"The digests in {path} cannot be read.", do="Restore the file from a backup, or move it away."
        ) from cause
