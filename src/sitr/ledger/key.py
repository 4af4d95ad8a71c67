"""The key of an installation. It signs every record that the installation writes to a ledger."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from sitr.errors import LedgerError
from sitr.ledger.state import alone, locked, state_folder, unwritable, write_durably
from sitr.namespace import Later

if TYPE_CHECKING:
    from cryptography import exceptions
    from cryptography.hazmat.primitives.asymmetric import ed25519
else:  # a preview signs nothing
    exceptions = Later("cryptography.exceptions")
    ed25519 = Later("cryptography.hazmat.primitives.asymmetric.ed25519")

BYTES = 32
"""The length of a private key, of a public key, and of a hash."""


@dataclass(frozen=True, slots=True)
class Key:
    """A private Ed25519 key [RFC 8032]. Its text names the public key only."""

    private: ed25519.Ed25519PrivateKey
    public: str
    """The public key, 64 hexadecimal digits."""

    def sign(self, hash: str) -> str:
        """The signature of a hash, both in hexadecimal digits."""
        return self.private.sign(bytes.fromhex(hash)).hex()

    def __repr__(self) -> str:
        return f"Key({self.public})"


@lru_cache(maxsize=4)
def key_of(seed: bytes) -> Key:
    """The key with these 32 bytes, the first one of RFC 8032's examples for instance.

    >>> key_of(bytes.fromhex("9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60")).public
    'd75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a'
    """
    private = ed25519.Ed25519PrivateKey.from_private_bytes(seed)
    return Key(private, private.public_key().public_bytes_raw().hex())


def installation_key(folder: Path | None = None) -> Key:
    """The key in the state folder, made on first use."""
    with alone:
        return _key((state_folder() if folder is None else folder) / "key")


def _key(path: Path) -> Key:
    try:
        seed = _found(path) or _made(path)
    except OSError as cause:
        raise unwritable(path.parent) from cause
    if len(seed) != BYTES:
        raise LedgerError(
            given=f"{path} does not hold a signing key.",
            do="Restore it from a backup; without one, move it away, and the next charge makes a new key.",
        )
    return key_of(seed)


def _found(path: Path) -> bytes | None:
    """The key in a file, which is put in place whole: to read it takes no lock."""
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _made(path: Path) -> bytes:
    with locked(path):
        if not path.exists():
            write_durably(path, os.urandom(BYTES))
        return path.read_bytes()


def new_name() -> str:
    """A name for a ledger that no other ledger has: 32 hexadecimal digits."""
    return os.urandom(16).hex()


def genuine(public: str, hash: str, signature: str) -> bool:
    """Whether the owner of a public key signed this hash; False for anything that is no key or no signature."""
    try:
        key = ed25519.Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(signature), bytes.fromhex(hash))
    except (ValueError, exceptions.InvalidSignature):
        return False
    return True
