"""What was detected in a CSV file is a proposal: a single row can decide it, and the description is public."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import asdict
from typing import cast

from sitr.backends.csv import COMMA, CsvFile
from sitr.dataset.csv_format import NOTHING, CsvFormat, DeclaredFormat
from sitr.dataset.literals import shown
from sitr.dataset.schema import Kind
from sitr.errors import DescriptionError


def confirm(file: CsvFile, *, declared: Mapping[str, Kind], written: DeclaredFormat = NOTHING) -> None:
    """Refuse what was detected from the rows and not declared: types, and every unusual format.

    A single row can decide them, and the description is public.
    """
    if not unconfirmed(file, declared=declared, written=written):
        return
    if "decimal" not in written and file.unmarked:
        raise DescriptionError(
            given=f"The decimal mark of {file.path.name} is not declared, and it cannot be detected because not all "
            f"values of {', '.join(file.unmarked)} are numbers.",
            do="Add --decimal . or --decimal , (in Python: decimal='.' or decimal=','); values that are not numbers "
            "with this mark count as missing.",
        )
    options = shlex.join(confirming(file))
    python = f"types={ ({name: kind.value for name, kind in file.columns}) }"
    python += "".join(f", {name}={value!r}" for name, value in unusual(file).items())
    raise DescriptionError(
        given="You must confirm the types that Sitr detected in the rows, because they become public and a single row "
        f"can change them: {proposal(file)}.",
        do=f"If all of this is public knowledge, add {options} (in Python: {python}), "
        "or just --accept-types (in Python: accept_types=True).",
    )


def unconfirmed(file: CsvFile, *, declared: Mapping[str, Kind], written: DeclaredFormat) -> bool:
    """Whether anything about the file is known only from its rows."""
    return bool(unusual(file).keys() - written.keys()) or not all(name in declared for name, _ in file.columns)


def unusual(file: CsvFile) -> DeclaredFormat:
    """What must be declared or confirmed about the format, because files are usually written in another way."""
    format, usual = file.format, CsvFormat("\t" if ".tsv" in file.path.suffixes else COMMA)
    found = {name: value for name, value in asdict(format).items() if value != getattr(usual, name)}
    return cast("DeclaredFormat", found | ({"decimal": format.decimal} if file.unmarked else {}))


def proposal(file: CsvFile) -> str:
    """What was detected, in words."""
    types = [f"{name} {kind.value}" for name, kind in file.columns]
    commas = ["with decimal commas"] if file.format.decimal == COMMA else []
    points = ["with decimal points unless you declare commas"] if file.unmarked else []
    return ", ".join((*types, *commas, *points, *formats(file)))


def confirming(file: CsvFile) -> list[str]:
    """The options that declare what was detected."""
    types = [word for name, kind in file.columns for word in ("--type", f"{name}={kind.value}")]
    return types + [word for name, value in unusual(file).items() for word in option_of(name, value)]


def option_of(name: str, value: object) -> list[str]:
    """The option that declares a part of the format.

    >>> option_of("date_format", "%d.%m.%Y"), option_of("header", False)
    (['--date-format', '%d.%m.%Y'], ['--no-header'])
    """
    option = f"--{name.replace('_', '-')}"
    if isinstance(value, bool):
        return [option if value else f"--no-{name}"]
    if isinstance(value, tuple):
        return [f"--null={each}" for each in value]
    return [option, str(value)]


def formats(file: CsvFile) -> list[str]:
    """The unusual formats of a file, apart from its decimal mark, in words."""
    found = unusual(file)
    dates = [str(found[name]) for name in ("date_format", "timestamp_format") if name in found]
    return [
        *([f"with {shown(found['delimiter'])} between values"] if "delimiter" in found else []),
        *([f"with {found['quote']} as the quote"] if "quote" in found else []),
        *(["without a header"] if "header" in found else []),
        *([f"with {', '.join(found['nulls'])} for no value"] if "nulls" in found else []),
        *(f"with {', '.join(marks)} for no value in {name}" for name, marks in file.missing),
        *([f"with dates written as {', '.join(dates)}"] if dates else []),
    ]
