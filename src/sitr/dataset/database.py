"""The address of a table in a database server or on Spark, as a description can hold it: without a password."""

from __future__ import annotations

import re
from dataclasses import field
from urllib.parse import parse_qsl, quote, unquote, urlencode, urlsplit

from sitr.dataclass import dataclass
from sitr.errors import SourceError

SCHEMES = ("postgresql", "postgres")
SPARK = "spark:"
"""What the name of a table on Spark begins with. Its address is a setting of whoever asks."""
SECRETS = ("password", "sslpassword")
"""Options of an address that nobody else may see."""


@dataclass(frozen=True, slots=True)
class DatabaseTable:
    """A table or view, such as `clinic.visits`, and the address of its database."""

    url: str
    table: str
    password: str | None = field(default=None, repr=False, compare=False)
    """Held in memory only: it is in no description, ledger, certificate or error."""

    @property
    def name(self) -> str:
        """The name of the table without its schema, or of the folder of its files.

        >>> DatabaseTable("postgresql://db/hospital", 'clinic."My Visits"').name
        'My Visits'
        >>> DatabaseTable("spark:", "parquet.`s3://bucket/visits/`").name
        'visits'
        """
        if self.url != SPARK:
            return names(self.table)[-1]
        last = spark_names(self.table)[-1]
        return last.rstrip("/").rpartition("/")[2] or last

    @property
    def place(self) -> str:
        """Where the rows are, whoever reads them.

        >>> DatabaseTable("postgresql://ann@db:5432/hospital?sslmode=require", "clinic.visits").place
        'db:5432/hospital clinic.visits'
        >>> DatabaseTable("spark:", "main.Health.`My visits`").place
        'spark main.health.my visits'
        """
        if self.url == SPARK:  # by default, it ignores upper and lower case
            return f"spark {'.'.join(spark_names(self.table)).lower()}"
        parts = urlsplit(self.url)
        return f"{parts.netloc.rpartition('@')[2]}{parts.path} {'.'.join(names(self.table))}"

    def __str__(self) -> str:
        return f"{self.url} {self.table}" if self.url != SPARK else f"{SPARK}{self.table}"


def is_spark(source: object) -> bool:
    """Whether a source is the name of a table on Spark.

    >>> is_spark("spark:main.health.visits"), is_spark("visits.parquet")
    (True, False)
    """
    return isinstance(source, str) and source.startswith(SPARK)


def spark_table(source: str) -> DatabaseTable:
    """A table on Spark by its name.

    >>> spark_table("spark:main.health.visits").name
    'visits'
    """
    table = source.removeprefix(SPARK).strip()
    spark_names(table)
    return DatabaseTable(SPARK, table)


def spark_names(table: str) -> tuple[str, ...]:
    """The parts of a name on Spark.

    >>> spark_names("main.`my visits`.v"), spark_names("parquet.`/data/visits`")
    (('main', 'my visits', 'v'), ('parquet', '/data/visits'))
    """
    part = r"(?:`(?:[^`]|``)+`|[^.`\s]+)"
    if not re.fullmatch(rf"{part}(?:\.{part})*", table):
        raise SourceError(
            wanted="a table such as spark:visits or spark:catalog.schema.visits", given=f"{table!r}", do="Correct it."
        )
    return tuple(each.strip("`").replace("``", "`") for each in re.findall(part, table))


def is_database(source: object) -> bool:
    """Whether a source is the address of a database.

    >>> is_database("postgresql://db/hospital"), is_database("visits.parquet")
    (True, False)
    """
    return isinstance(source, str) and source.partition("://")[0].lower() in SCHEMES and "://" in source


def split(url: str) -> tuple[str, str | None]:
    """An address without its password, and the password.

    >>> split("postgresql://ann:a%40b@db:5432/hospital?sslmode=require")
    ('postgresql://ann@db:5432/hospital?sslmode=require', 'a@b')
    """
    try:
        parts = urlsplit(url)
    except ValueError:
        raise _odd() from None
    who, at, where = parts.netloc.rpartition("@")
    # Of a password with a sign such as / ? or # that is not escaped, a part would be taken for a host or a name.
    if not _HOSTS.fullmatch(where) or "@" in parts.path + parts.query or parts.fragment or "#" in url or "\0" in url:
        raise _odd()
    user, colon, secret = who.partition(":")
    options = parse_qsl(parts.query, keep_blank_values=True)
    given = dict(options).get("password")
    kept = urlencode(
        [(name, value) for name, value in options if name.lower() not in SECRETS], safe="/", quote_via=quote
    )
    shown = f"postgresql://{user}{at}{where}{parts.path}{'?' if kept else ''}{kept}"
    return shown, unquote(secret) if colon else given


_HOST = r"(?:\[[^\]@]*\]|[^:@,\[\]]*)(?::[0-9]*)?"
_HOSTS = re.compile(f"{_HOST}(?:,{_HOST})*")


def _odd() -> SourceError:
    return SourceError(
        wanted="an address such as postgresql://reader@host/database",
        given="another one, which is not shown because it may have a password",
        do="Write signs such as @ / # in a password as %40 %2F %23, or put it into PGPASSWORD.",
    )


@dataclass(frozen=True, slots=True)
class Address:
    """The address of a database. Its text has no password, wherever it is shown or written."""

    url: str
    password: str | None = field(default=None, repr=False, compare=False)

    def __str__(self) -> str:
        return self.url


def address(url: str) -> Address:
    """The address of a database, which may have a password.

    >>> str(address("postgres://ann:secret@db/hospital"))
    'postgresql://ann@db/hospital'
    """
    return Address(*split(url))


def located(url: str, table: str) -> DatabaseTable:
    """A table in the database of an address, which may have a password.

    >>> located("postgres://ann:secret@db/hospital", "visits")
    DatabaseTable(url='postgresql://ann@db/hospital', table='visits')
    """
    names(table)
    shown, password = split(url)
    return DatabaseTable(shown, table, password)


def names(table: str) -> tuple[str, ...]:
    """The parts of a name as SQL reads them: `Clinic.visits` is `clinic` and `visits`, and quotes keep the case.

    >>> names('Clinic."My.Visits"'), names("visits")
    (('clinic', 'My.Visits'), ('visits',))
    """
    found, rest = [], table.strip()
    while True:
        if rest.startswith('"'):
            end = rest.replace('""', "\0\0").find('"', 1)
            part, rest = (rest[1:end].replace('""', '"'), rest[end + 1 :]) if end > 0 else ("", "?")
        else:
            part, dot, after = rest.partition(".")
            part, rest = part.lower(), dot + after
        found.append(part)
        if not part or "\0" in part or not (rest == "" or rest.startswith(".")) or len(found) > 2:
            raise SourceError(
                wanted='a table such as visits, clinic.visits or clinic."My Visits"',
                given=f"{table!r}",
                do="Correct it.",
            )
        if not rest:
            return tuple(found)
        rest = rest[1:]
