"""The options of a description can be written down as the command that makes the same choices."""

from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from sitr.cli.choices import Choices
from sitr.errors import BadUsage, FileError
from sitr.neighbors.relation import Relation


def test_the_choices_as_words_are_the_choices() -> None:
    words = Choices(
        Path("my visits.csv"),
        unit_row=True,
        bounds=["a=0:1", "b=2:3"],
        accept_types=True,
        relation=Relation.REPLACE_ONE,
        output=Path("x.yaml"),
    ).words()
    assert shlex.join(words) == (
        "sitr protect 'my visits.csv' --unit-row --bounds a=0:1 --bounds b=2:3 --accept-types --relation replace-one "
        "--output x.yaml"
    )
    assert Choices(Path("visits.parquet")).words() == ["sitr", "protect", "visits.parquet"]


@pytest.mark.parametrize(
    "name", ["visits", "main.health.visits", "parquet.`/data/visits`", "delta.`s3://bucket/visits/`"]
)
def test_files_about_a_table_on_spark_take_its_name(name: str) -> None:
    assert Choices(f"spark:{name}").beside(".sitr.yaml") == Path("visits.sitr.yaml")


def test_files_beside_the_source_take_its_name() -> None:
    assert Choices(Path("data/visits.csv.gz")).target == Path("data/visits.sitr.yaml")
    assert Choices(Path("visits.csv")).beside(".sitr.db") == Path("visits.sitr.db")
    with pytest.raises(BadUsage, match="Name the file itself"):
        Choices(Path("..")).beside(".sitr.db")


def test_a_description_that_cannot_be_written_is_refused_before_any_question(tmp_path: Path) -> None:
    (tmp_path / "old.yaml").write_text("")
    source = tmp_path / "visits.csv"
    source.touch()
    Choices(source).check_target()
    Choices(source, output=tmp_path / "old.yaml", force=True).check_target()
    for output, error in (("old.yaml", FileError), ("missing/new.yaml", FileError), ("new.txt", BadUsage)):
        with pytest.raises(error):
            Choices(source, output=tmp_path / output).check_target()
