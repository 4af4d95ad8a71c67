"""A second opinion on a ledger: compute every hash of its export again.

    sitr ledger export sitr.db books.json
    python sitr_chain.py books.json [head.json]

It needs Python and nothing of Sitr. `sitr_check.py` checks the sums of the same file. Signatures are checked if the
package `cryptography` is installed. A head that was kept from an earlier day must be a part of the export. Exit codes:
0 all agree, 1 something differs, 2 the file cannot be read.

    hash = SHA-256(["sitr ledger 1", number, table, key of the row, the row, hash of the record before, public key])

as JSON without spaces, with sorted names and without columns that are NULL. The first record holds 64 zeros.
"""

from __future__ import annotations

import json
import re
import sys
from fractions import Fraction
from hashlib import sha256
from pathlib import Path
from typing import Any

Json = dict[str, Any]
KEYS = {"accounts": "dataset", "acts": "number", "entries": "number", "seals": "number"}
START = "0" * 64


def hashed(number: int, table: str, row: str, content: Json, before: str, signer: str) -> str:
    """The hash of a record."""
    present = {name: value for name, value in content.items() if value is not None}
    whole = ["sitr ledger 1", number, table, row, present, before, signer]
    text = json.dumps(whole, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return sha256(text.encode(errors="surrogatepass")).hexdigest()


def signed(public: str, hash: str, signature: str) -> bool | None:
    """Whether a signature [RFC 8032] is genuine; None if this cannot be found out here."""
    try:
        from cryptography.exceptions import InvalidSignature  # noqa: PLC0415 - it need not be installed
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey  # noqa: PLC0415
    except ImportError:
        return None
    try:
        key = Ed25519PublicKey.from_public_bytes(bytes.fromhex(public))
        key.verify(bytes.fromhex(signature), bytes.fromhex(hash))
    except (ValueError, InvalidSignature):
        return False
    return True


def numbers(promise: Json) -> dict[str, Fraction]:
    """The parameters of a promise for machines, without a ξ of 0."""
    inner = numbers(promise["inner"]) if "inner" in promise else {}
    own = {name: value for name, value in promise.items() if isinstance(value, int | float) and (name != "xi" or value)}
    return inner | {name: Fraction(repr(float(value))) for name, value in own.items()}


def stated(text: str) -> dict[str, Fraction]:
    """The parameters in the text of a promise, such as zcdp(rho=0.5)."""
    return {name: Fraction(value) for name, value in re.findall(r"(\w+)=(\d[\d.e+-]*)", text)}


def check(books: Json, head: Json | None = None) -> list[str]:
    """What differs, in words; nothing if the export is whole."""
    wrong, rows, newest = list[str](), books["rows"], dict[str, Json]()
    left = {(table, str(row[key])): row for table, key in KEYS.items() for row in rows[table]}
    wrong += ["two rows have the same key"] if len(left) < sum(len(rows[table]) for table in KEYS) else []
    introduced = [json.loads(row["body"]) for row in rows["acts"] if row["kind"] in ("began", "joined")]
    known, before = {str(body.get("public")) for body in introduced}, START
    for number, one in enumerate(books["records"], 1):
        row = left.pop((one["table"], one["row"]), None)
        if row is None:
            wrong.append(f"record {number} has no row")
        elif hashed(number, one["table"], one["row"], row, before, one["signer"]) != one["hash"]:
            wrong.append(f"record {number} does not hash its row and the record before")
        if one["number"] != number or one["before"] != before:
            wrong.append(f"record {number} does not continue the one before")
        before, newest[one["signer"]] = one["hash"], one
    wrong += [f"row {key} of {table} has no record" for table, key in left]
    wrong += [f"key {public} was never introduced" for public in newest if public not in known]
    ends = [(one["signer"], one["hash"], one["signature"], f"record {one['number']}") for one in newest.values()]
    for each in filter(None, (books["head"], head)):
        said = {name: each[name] for name in ("ledger", "number", "hash", "entries", "certificates")}
        whole = hashed(0, "head", each["ledger"], said, START, each["signer"])
        ends.append((each["signer"], whole, each["signature"], f"the head of {each['number']} records"))
        there = books["records"][each["number"] - 1]["hash"] if 0 < each["number"] <= len(books["records"]) else None
        if there != each["hash"]:
            wrong.append(f"the head of {each['number']} records is not in this ledger")
    wrong += [f"the signature of {of} is not genuine" for *key, of in ends if signed(*key) is False]
    return wrong + _shown(books)


def _shown(books: Json) -> list[str]:
    """The budgets and prices that are added up are those of the rows."""
    wrong = []
    for table, name, key in (("accounts", "promise", "dataset"), ("entries", "price", "number")):
        stored, shown = ({each[key]: each for each in part} for part in (books["rows"][table], books[table]))
        if stored.keys() != shown.keys() or len(shown) != len(books[table]):
            wrong.append(f"the {table} are not the rows that are hashed")
            continue
        wrong += [f"the {name} of {each}" for each, row in stored.items() if _differ(row, shown[each], name)]
    return wrong


def _differ(row: Json, shown: Json, name: str) -> bool:
    same = shown[name]["notation"] == row[name] and numbers(shown[name]) == stated(row[name])
    return not same or shown["dataset"] != row["dataset"]


def _counted(count: int, noun: str) -> str:
    return f"{count} {noun}" + "s" * (count != 1)


def main(arguments: list[str]) -> int:
    try:
        books, head = ([json.loads(Path(path).read_text("utf-8")) for path in arguments] + [None])[:2]
        wrong = check(books, head)
        records, signers = len(books["records"]), len({one["signer"] for one in books["records"]})
    except Exception as failure:  # noqa: BLE001 - whatever is odd about the file
        sys.stderr.write(f"Cannot check this: {failure!r}. Name an export of a ledger, and a head if you have one.\n")
        return 2
    for each in wrong:
        sys.stdout.write(f"DIFFERS: {each}\n")
    able = signed(START, START, START) is not None
    signatures = f"signed by {_counted(signers, 'key')}" if able else "signatures not checked: cryptography is missing"
    sys.stdout.write(
        f"{_counted(records, 'record')}, {signatures}; {len(wrong)} differ. The last hash is {books['head']['hash']}.\n"
    )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
