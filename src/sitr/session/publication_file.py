"""Publications as YAML: a description, a price, the tables, and the files to write.

::

    description: visits.sitr.yaml
    price: zcdp(0.1)
    tables:
      - [ward, sex]
      - [region, age]
    measures: [count, mean(cost)]
    bins: {age: 10}
    hierarchies: {ward: {region: {north: [a, b], south: [c]}}}
    where: days > 3
    whole: true
    outputs: [tables.xlsx, tables.csv]
    certificate: tables.html

Paths are relative to the file.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from pathlib import Path
from typing import Any

import yaml

from sitr import arguments
from sitr.dataclass import dataclass
from sitr.dataset.cells import Step
from sitr.errors import FileError, QuestionError, SitrError, quoted, unknown_name
from sitr.flavors.arrows import Kept
from sitr.flavors.price import price_of
from sitr.questions.tables.counting import cells_in_all
from sitr.questions.tables.question import TablesQuestion
from sitr.session import dataset, table_files
from sitr.session.budget import Budget
from sitr.session.request import Request
from sitr.session.shown import check_writable, page
from sitr.session.tables import TablesAnswer

ASKED = (
    "measures",
    "weights",
    "objective",
    "hierarchies",
    "where",
    "rows_per_person",
    "whole",
    "bins",
    "keys",
    "edges",
    "bounds",
    "every",
)
"""What is passed on to `Budget.tables`."""

FORMATS = {"sdmx": ".sdmx.csv", **{ending[1:]: ending for ending in table_files.ENDINGS}}
"""The endings of files by format."""

FIELDS = ("description", "price", "tables", *ASKED, "outputs", "certificate")


@dataclass(frozen=True, slots=True)
class PublicationFile:
    """What a publication file says."""

    path: Path
    content: Mapping[str, Any]

    @property
    def price(self) -> Kept | None:
        """Its price, if it names one."""
        written = self.content.get("price")
        return None if written is None else price_of(str(written))

    def rounding(self) -> PublicationFile:
        """The same publication in whole numbers."""
        return PublicationFile(self.path, {**self.content, "whole": True})

    @property
    def described(self) -> str:
        """The path of the description, or the name of the data set on a server."""
        return str(self.content["description"])

    def request(self, budget: Budget | None = None) -> Request[TablesAnswer]:
        """The tables, asked from this budget or that of the description; nothing is read or spent."""
        place = self.path.parent / self.described
        said = {name: self.content[name] for name in ASKED if self.content.get(name) is not None}
        if not isinstance(every := said.get("every", {}), dict):
            raise QuestionError(
                wanted="the length of cells by column", given=quoted(every), do="Write every: {day: month}."
            )
        if every:
            said["every"] = {column: _step(step) for column, step in every.items()}
        asked = dataset.open(place).budget() if budget is None else budget
        return asked.tables(self.content["tables"], **said)

    def outputs(self, request: Request[TablesAnswer], *, formats: Sequence[str] = ()) -> list[Path]:
        """The files to write, which are checked before anything is spent; in each format one more beside the file."""
        listed = self.content.get("outputs") or []
        arguments.several(listed, name="outputs", example="[tables.csv]")
        for each in formats:
            if each not in FORMATS:
                raise unknown_name(each, FORMATS, lacks="There is no format")
        question = request.question
        assert isinstance(question, TablesQuestion)
        tables, cells = len(question.workload.tables), cells_in_all(question.workload)
        more = [f"{self.path.stem}{FORMATS[each]}" for each in formats]
        found = [table_files.checked(self.path.parent / str(each), tables, cells=cells) for each in (*listed, *more)]
        for place in found:
            check_writable(place)
        return found

    def certificate(self) -> Path | None:
        """The page to write, if there is one; it is checked before anything is spent."""
        written = self.content.get("certificate")
        if written is None:
            return None
        found = self.path.parent / str(written)
        page(found)
        check_writable(found)
        return found


class _Once(yaml.SafeLoader):
    """A field that is written twice is an error instead of a choice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Hashable, Any]:
        fields = [key.value for key, _ in node.value if isinstance(key, yaml.ScalarNode)]
        if twice := [name for place, name in enumerate(fields) if name in fields[:place]]:
            raise QuestionError(
                given=f"The publication has {twice[0]!r} twice in one place.", do="Write it once, with all it holds."
            )
        return super().construct_mapping(node, deep)


def _step(given: object) -> Step:
    try:
        return Step(given)
    except ValueError:
        raise QuestionError(
            wanted="day, week, month or year as the length of cells",
            given=quoted(given),
            do="Write every: {day: month}.",
        ) from None


def read(path: str | Path) -> PublicationFile:
    """A publication from a file; unknown and missing fields are refused."""
    place = arguments.path(path, of="publication.yaml")
    try:
        content = yaml.load(place.read_text(encoding="utf-8"), Loader=_Once)
    except (yaml.YAMLError, RecursionError) as failure:
        mark = getattr(failure, "problem_mark", None)
        line = 1 if mark is None else mark.line + 1
        raise FileError(
            given=f"Cannot read {place}: line {line} is not YAML.",
            do="Check brackets, colons and indents; nothing was spent.",
        ) from None
    except (OSError, UnicodeDecodeError) as failure:
        reason = getattr(failure, "strerror", None) or "it is not text in UTF-8"
        raise FileError(given=f"Cannot read {place}: {reason}.", do="Check the file; nothing was spent.") from None
    except SitrError:
        raise
    except ValueError:  # the only values that YAML itself can refuse
        reason = "a date or time does not exist"
        raise FileError(given=f"Cannot read {place}: {reason}.", do="Check the file; nothing was spent.") from None
    if not isinstance(content, dict):
        raise QuestionError(
            wanted="a publication with description, price and tables",
            given=quoted(content),
            do="See the how-to page about publishing many tables.",
        )
    for name in content:
        if name not in FIELDS:
            raise unknown_name(str(name), FIELDS, lacks="A publication has no field")
    for name in ("description", "tables"):
        if content.get(name) is None:
            raise QuestionError(
                wanted=f"a publication with the field {name!r}",
                given="none",
                do="See the how-to page about publishing many tables.",
            )
    return PublicationFile(place, content)
