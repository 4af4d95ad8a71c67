"""The two tables of a ledger, as queries see them; `migrations` makes them, and their guards, in a database."""

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
    # How many charges were made to the data set, this one included, and their exact sum: one fraction for each
    # coordinate, with spaces between. Empty where an older version of Sitr, or a hand, wrote the entry.
    Column("charges", Integer),
    Column("paid", Text),
    # A charge asks for the last entry of a data set.
    Index("entries_by_dataset", "dataset", "number"),
    # Whoever adds up all entries groups by price: this index holds all they need, however long the questions are.
    Index("entries_by_price", "dataset", "price"),
)
