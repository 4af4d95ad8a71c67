"""The three tables of a ledger, for queries. `migrations` creates them, with their triggers, in a database."""

from __future__ import annotations

from sqlalchemy import Column, ForeignKey, Index, Integer, MetaData, Table, Text

metadata = MetaData()

accounts = Table(
    "accounts",
    metadata,
    Column("dataset", Text, primary_key=True),
    Column("promise", Text, nullable=False),
    Column("neighbors", Text, nullable=False),
    Column("opened", Text, nullable=False),
)

entries = Table(
    "entries",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("dataset", Text, ForeignKey("accounts.dataset"), nullable=False),
    Column("price", Text, nullable=False),
    Column("question", Text, nullable=False),
    Column("at", Text, nullable=False),
    Column("by", Text, nullable=False),
    Column("version", Text, nullable=False),
    # The number of charges to the data set, with this one, and their exact sum: one fraction for each coordinate,
    # separated by spaces. Empty if an older version of Sitr wrote the entry, or if it was inserted by hand.
    Column("charges", Integer),
    Column("paid", Text),
    # For a charge, which reads the last entry of a data set.
    Index("entries_by_dataset", "dataset", "number"),
    # For adding up all entries, which groups them by price: this index suffices, however long the questions are.
    Index("entries_by_price", "dataset", "price"),
)

seals = Table(
    "seals",
    metadata,
    Column("number", Integer, primary_key=True),
    Column("entry", Integer, ForeignKey("entries.number"), nullable=False),
    Column("kind", Text, nullable=False),
    Column("sha256", Text, nullable=False),
    Column("at", Text, nullable=False),
    # For the seals of one answer, and for the entry of a page.
    Index("seals_by_entry", "entry", "kind"),
    Index("seals_by_hash", "sha256"),
)
