"""The sentences about certificates that were verified, in English."""

from __future__ import annotations

from dataclasses import dataclass

from sitr.ledger.entry import Entry
from sitr.report.figures import counted, visible


@dataclass(frozen=True, slots=True)
class VerifyWords:
    """What a ledger says about a certificate."""

    def valid(self, entry: Entry, /) -> str:
        """The page is as it was written."""
        return f"Valid: this certificate belongs to entry {entry.number} of {visible(entry.dataset)} and is unaltered."

    def altered(self, entry: Entry, /) -> str:
        """The page was changed, in what readers see or elsewhere."""
        return (
            f"Altered: this certificate names entry {entry.number} of {visible(entry.dataset)}, but it is not as Sitr "
            "wrote it. Do not trust its numbers."
        )

    def unknown(self, number: int, /) -> str:
        """There is no such entry."""
        return f"Unknown entry: this certificate names entry {number}, which the ledger does not have."

    def other(self, number: int, /) -> str:
        """The page names an entry of another ledger."""
        return f"Other ledger: this certificate names an entry {number} that is not the entry {number} of this ledger."

    def listed(self, number: int, /) -> str:
        """A signed head lists the page."""
        return f"Valid: the signed head lists this certificate, for entry {number}; it is unaltered."

    def unlisted(self, number: int, /) -> str:
        """A signed head does not list the page."""
        return (
            f"Not listed: this certificate names entry {number}, but the signed head does not list it. It was altered, "
            "or written after the head. Do not trust its numbers."
        )

    def records(self, records: int, signers: int, hash: str, /) -> str:
        """How long a ledger is, and where it ends.

        >>> VerifyWords().records(2, 1, "0d12")
        '2 records, signed by 1 key; the last hash is 0d12.'
        """
        signed = "" if not signers else f", signed by {counted(signers, 'key')}"
        return f"{counted(records, 'record')}{signed}; the last hash is {hash}."

    def release(self, intact: bool, /) -> str:
        """Whether the numbers for machines are those that were released."""
        if intact:
            return "as recorded in the ledger; sitr show prints the answer again if it is still kept"
        return "not what the ledger recorded"
