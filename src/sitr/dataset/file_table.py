"""A table in a database that is one file, as a description can hold it."""

from __future__ import annotations

from pathlib import Path

from sitr.dataclass import dataclass
from sitr.dataset.database import names


@dataclass(frozen=True, slots=True)
class FileTable:
    """A table, such as `visits` or `clinic.visits`, in a database file of DuckDB."""

    path: Path
    table: str

    @property
    def name(self) -> str:
        """The name of the table without its schema.

        >>> FileTable(Path("hospital.duckdb"), 'clinic."My Visits"').name
        'My Visits'
        """
        return names(self.table)[-1]

    @property
    def parts(self) -> tuple[str, str]:
        """The schema and the table. DuckDB does not tell upper from lower case in ASCII letters, quoted or not.

        >>> FileTable(Path("hospital.duckdb"), 'visits').parts, FileTable(Path("h.duckdb"), 'Clinic."My Visits"').parts
        (('main', 'visits'), ('clinic', 'my visits'))
        """
        schema, table = ("main", *names(self.table))[-2:]
        return folded(schema), folded(table)

    @property
    def place(self) -> str:
        """Where the rows are, whatever the path is called and however the name is written."""
        return f"{self.path.resolve()} {'.'.join(self.parts)}"

    def resolved(self) -> FileTable:
        """The same table, by the one way to write its path and name."""
        quoted = ('"' + part.replace('"', '""') + '"' for part in self.parts)
        return FileTable(self.path.resolve(), ".".join(quoted))

    def same(self, other: FileTable) -> bool:
        """Whether both are one table: paths may lead to the same file."""
        there = self.path.exists() and other.path.exists() and self.path.samefile(other.path)
        return self.parts == other.parts and (there or self.path.resolve() == other.path.resolve())

    def __str__(self) -> str:
        return f"{self.path} {self.table}"


def folded(name: str) -> str:
    """A name in lower case, as far as DuckDB ignores case: in ASCII letters only."""
    return name.encode(errors="surrogatepass").lower().decode(errors="surrogatepass")
