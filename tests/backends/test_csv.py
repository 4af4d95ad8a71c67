"""The types and formats of a CSV file are proposals: decimal commas are noticed, and words are not truth values."""

from __future__ import annotations

import gzip
import shlex
from pathlib import Path
from typing import Any, cast

import pytest

import sitr
from sitr.backends import detection
from sitr.backends.confirmation import confirming, proposal
from sitr.backends.csv import LONGEST, CsvFile
from sitr.backends.duckdb import DuckDB, open_source
from sitr.backends.engine import connection
from sitr.dataset.csv_format import CsvFormat, DeclaredFormat
from sitr.dataset.description import load
from sitr.dataset.schema import Kind
from sitr.errors import DescriptionError, SourceError
from sitr.questions.statistic.numbers import Numbers

EUROPEAN = "id;preis;stück\n1;1.234,56;1.234\n2;-2,75;12\n3;;7\n4;5;8\n"


def csv(folder: Path, text: str) -> Path:
    path = folder / "rows.csv"
    path.write_text(text, encoding="utf-8")
    return path


def settled(path: Path, **options: Any) -> CsvFile:
    source = open_source(path, types=options.pop("types", {}), written=cast("DeclaredFormat", options)).source
    assert isinstance(source, CsvFile)
    return source


def numbers(path: Path, column: str, **options: Any) -> list[float]:
    """The column, with 0 for missing values."""
    backend = open_source(path, types=options.pop("types", {}), written=cast("DeclaredFormat", options))
    return [float(value) for value in backend.read(Numbers(column, 0.0), salt=0)]


@pytest.mark.parametrize("text", [EUROPEAN, 'id,preis,stück\n1,"1.234,56",1.234\n2,"-2,75",12\n3,,7\n4,5,8\n'])
def test_decimal_commas_are_noticed_and_read(tmp_path: Path, text: str) -> None:
    path = csv(tmp_path, text)
    found = settled(path)
    assert found.format.decimal == ","
    assert dict(found.columns) == {"id": Kind.INTEGER, "preis": Kind.REAL, "stück": Kind.INTEGER}
    assert numbers(path, "preis") == [1234.56, -2.75, 0.0, 5.0]
    assert numbers(path, "stück") == [1234.0, 12.0, 7.0, 8.0]


def test_decimal_points_stay_points(tmp_path: Path) -> None:
    path = csv(tmp_path, "id;price;note\n1;1.5;a,b\n2;2;c\n")
    found = settled(path)
    assert found.format.decimal == "."
    assert dict(found.columns) == {"id": Kind.INTEGER, "price": Kind.REAL, "note": Kind.TEXT}
    assert numbers(path, "price") == [1.5, 2.0]


def test_a_declared_decimal_mark_is_not_detected(tmp_path: Path) -> None:
    """Whatever a single row holds, the declared mark decides how numbers are read."""
    types = {"id": Kind.INTEGER, "preis": Kind.REAL, "stück": Kind.INTEGER}
    for last in ("5", "5.5", "n/a", ""):
        path = csv(tmp_path, EUROPEAN + f"5;{last};1\n")
        found = settled(path, types=types, decimal=",")
        assert found.format.decimal == ","
        assert dict(found.columns) == types
        assert numbers(path, "preis", types=types, decimal=",")[:4] == [1234.56, -2.75, 0.0, 5.0]
    assert settled(path, types=types, decimal=".").format.decimal == "."
    assert numbers(path, "preis", types=types, decimal=".")[:2] == [0.0, 0.0]


@pytest.mark.parametrize("odd", ["1.5", "1,2,3", "12.34,5", "1.2345,6", ",", "1,5 €", "0x1F", "1_000,5", "inf"])
def test_what_is_no_number_with_a_decimal_comma_is_missing(tmp_path: Path, odd: str) -> None:
    """In particular 1.5 is not 15."""
    path = csv(tmp_path, f"id;preis\n1;2,5\n2;{odd}\n3; 3,5 \n")
    assert numbers(path, "preis", types={"preis": Kind.REAL}, decimal=",") == [2.5, 0.0, 3.5]


def test_decimal_commas_need_a_confirmation(tmp_path: Path) -> None:
    path = csv(tmp_path, EUROPEAN)
    types = {"id": "integer", "preis": "real", "stück": "integer"}
    with pytest.raises(DescriptionError, match="with decimal commas") as refused:
        sitr.protect(path, unit=sitr.Row(), types=types)
    assert "--type preis=real --type 'stück=integer' --delimiter ';' --decimal , (" in refused.value.do
    assert "decimal=','" in refused.value.do
    written = []
    for confirmed in ({"types": types, "delimiter": ";", "decimal": ","}, {"accept_types": True}):
        data = sitr.protect(path, unit=sitr.Row(), bounds={"preis": (0, 9)}, **cast("Any", confirmed))
        written.append(data.save(tmp_path / "rows.sitr.yaml").read_text())
        assert sitr.open(tmp_path / "rows.sitr.yaml").table == data.table
    assert written[0] == written[1]
    assert "decimal: ','" in written[0]


@pytest.mark.parametrize("numbers", ["2,5", "2.5"])
@pytest.mark.parametrize("last", ["unknown", "1;2", "2.5 €", "??"])
def test_a_row_that_is_no_number_does_not_decide_the_decimal_mark(tmp_path: Path, numbers: str, last: str) -> None:
    """Otherwise it would turn every 2,5 into a missing value, and nobody would be asked."""
    types = {"id": "integer", "preis": "real"}
    path = csv(tmp_path, "id;preis\n" + f"1;{numbers}\n" * 9 + f'2;"{last}"\n')
    with pytest.raises(DescriptionError, match=r"decimal mark of rows.csv is not declared.*values of preis") as refused:
        sitr.protect(path, unit=sitr.Row(), types=types)
    assert "--decimal . or --decimal ," in refused.value.do
    assert last not in str(refused.value)


def test_no_row_changes_a_file_whose_types_and_format_are_declared(tmp_path: Path) -> None:
    types = {"id": "integer", "preis": "real"}
    for mark in (".", ","):
        descriptions = set()
        for last in ("", "2;n/a\n", "2;2.5\n", "2;2,5\n", "2;\n", "2;1.234,5\n"):
            path = csv(tmp_path, "id;preis\n" + "1;3,5\n" * 9 + last)
            data = sitr.protect(path, unit=sitr.Row(), types=types, delimiter=";", decimal=mark)
            descriptions.add(data.save(tmp_path / "rows.sitr.yaml").read_text())
        assert len(descriptions) == 1


def test_a_column_declared_as_text_keeps_its_commas(tmp_path: Path) -> None:
    types = {"id": "integer", "preis": "text", "stück": "integer"}
    data = sitr.protect(csv(tmp_path, EUROPEAN), unit=sitr.Row(), types=types, delimiter=";")
    assert "decimal: ." in data.save(tmp_path / "rows.sitr.yaml").read_text()


@pytest.mark.parametrize("mark", ["·", "", ";", 1])
def test_other_decimal_marks_are_refused(tmp_path: Path, mark: Any) -> None:
    with pytest.raises(DescriptionError, match="decimal mark"):
        sitr.protect(csv(tmp_path, EUROPEAN), unit=sitr.Row(), decimal=mark)
    path = sitr.protect(csv(tmp_path, EUROPEAN), unit=sitr.Row(), accept_types=True).save(tmp_path / "rows.sitr.yaml")
    path.write_text(path.read_text().replace("decimal: ','", f"decimal: {mark!r}"))
    with pytest.raises(DescriptionError, match="csv"):
        sitr.open(path)


@pytest.mark.parametrize(
    ("words", "kind"),
    [
        (("true", "false"), Kind.BOOLEAN),
        (("True", "FALSE"), Kind.BOOLEAN),
        (("true", ""), Kind.BOOLEAN),
        (("yes", "no"), Kind.TEXT),
        (("t", "f"), Kind.TEXT),
        (("true", "no"), Kind.TEXT),
        (("نعم", "لا"), Kind.TEXT),
    ],
)
def test_only_true_and_false_are_truth_values(tmp_path: Path, words: tuple[str, str], kind: Kind) -> None:
    path = csv(tmp_path, f"id,smokes\n1,{words[0]}\n2,{words[1]}\n")
    assert dict(settled(path).columns)["smokes"] is kind


def test_yes_and_no_are_truth_values_if_declared(tmp_path: Path) -> None:
    path = csv(tmp_path, "id,smokes\n1,yes\n2,no\n3,yes\n4,perhaps\n")
    data = sitr.protect(path, unit=sitr.Row(), types={"id": "integer", "smokes": "boolean"})
    budget = data.budget(sitr.PureDP(1e6), ledger=tmp_path / "l.db")
    answer = budget.sql("SELECT smokes, COUNT(*) AS n FROM rows GROUP BY smokes").release(sitr.PureDP(1000))
    assert dict(zip(*answer.table.to_pydict().values(), strict=True)) == {False: 1, True: 2, None: 1}


def test_the_options_that_confirm_a_file_are_those_of_the_command_line(tmp_path: Path) -> None:
    assert shlex.join(confirming(settled(csv(tmp_path, "id,day of birth\n1,2/1/2024\n2,13/1/2024\n")))) == (
        "--type id=integer --type 'day of birth=date' --date-format %d/%m/%Y"
    )


def test_decimal_commas_are_noticed_wherever_they_are(tmp_path: Path) -> None:
    """DuckDB looks at separators of thousands only in the first 2,048 rows."""
    rows = "".join(f"{place};{place % 7}\n" for place in range(5000))
    found = settled(csv(tmp_path, f"id;preis\n{rows}5000;1.234,5\n"))
    assert found.format.decimal == ","
    assert dict(found.columns) == {"id": Kind.INTEGER, "preis": Kind.REAL}
    whole = settled(csv(tmp_path, f"id;menge\n{rows}5000;1.234.567\n"))
    assert (whole.format.decimal, dict(whole.columns)["menge"]) == (",", Kind.INTEGER)
    long = settled(csv(tmp_path, f"id;menge\n{rows}5000;1.234.567.890.123.456.789\n"))
    assert dict(long.columns)["menge"] is Kind.REAL


@pytest.mark.parametrize("odd", ["--", ",", "1,2,3", "12.34,5", "x"])
def test_what_only_looks_like_a_number_keeps_a_column_text(tmp_path: Path, odd: str) -> None:
    found = settled(csv(tmp_path, f"id;preis\n1;2,5\n2;{odd}\n"), delimiter=";")
    assert (found.format.decimal, dict(found.columns)["preis"]) == (".", Kind.TEXT)


DATES = "id,day\n1,01/02/2024\n2,03/04/2024\n"


@pytest.mark.parametrize("last", ["3,05/06/2024", "3,25/06/2024", "3,06/25/2024", "3,2024-06-25", "3,soon", "3,"])
def test_no_row_decides_a_declared_date_format(tmp_path: Path, last: str) -> None:
    types, written = {"id": "integer", "day": "date"}, DeclaredFormat(date_format="%d/%m/%Y")
    path = csv(tmp_path, f"{DATES}{last}\n")
    data = sitr.protect(path, unit=sitr.Row(), types=types, **written)
    assert data._format() == CsvFormat(date_format="%d/%m/%Y")
    with pytest.raises(DescriptionError, match="confirm"):  # the broken twin: nobody declared it
        sitr.protect(csv(tmp_path, f"{DATES}3,25/06/2024\n"), unit=sitr.Row(), types=types)


def test_declared_dates_are_read_as_declared(tmp_path: Path) -> None:
    for format, month in (("%d/%m/%Y", 2), ("%m/%d/%Y", 1)):
        backend = open_source(csv(tmp_path, DATES), types={"day": Kind.DATE}, written={"date_format": format})
        source = backend.source
        assert isinstance(source, CsvFile)
        with connection(source.tables()) as engine:
            (first,) = engine.execute(f"SELECT month(day) FROM {source.relation} LIMIT 1").fetchall()
        assert first == (month,)


def test_timestamps_can_be_declared(tmp_path: Path) -> None:
    path = csv(tmp_path, "id,at\n1,01/02/2024 10:30\n2,03/04/2024 11:00\n")
    types = {"id": "integer", "at": "timestamp"}
    data = sitr.protect(path, unit=sitr.Row(), types=types, timestamp_format="%d/%m/%Y %H:%M")
    assert data._format() == CsvFormat(timestamp_format="%d/%m/%Y %H:%M")


def test_an_unusual_delimiter_is_confirmed_or_declared(tmp_path: Path) -> None:
    path, types = csv(tmp_path, "id;n\n1;2\n3;4\n"), {"id": "integer", "n": "integer"}
    with pytest.raises(DescriptionError, match="';' between values") as refused:
        sitr.protect(path, unit=sitr.Row(), types=types)
    assert "--delimiter ';'" in refused.value.do
    assert "delimiter=';'" in refused.value.do
    for written in (DeclaredFormat(delimiter=";"), DeclaredFormat(delimiter=";", decimal=".", quote='"', header=True)):
        assert sitr.protect(path, unit=sitr.Row(), types=types, **written)._format() == CsvFormat(";")
    tabs = tmp_path / "rows.tsv"
    tabs.write_text("id\tn\n1\t2\n")
    assert sitr.protect(tabs, unit=sitr.Row(), types=types)._format() == CsvFormat("\t")


def test_a_declared_delimiter_is_not_detected(tmp_path: Path) -> None:
    """One row with many other marks cannot change how all rows are split."""
    path = csv(tmp_path, "a|b\n1,2;3|x\n1,2;3|y\n1,2;3|z;;;;\n")
    found = settled(path, delimiter="|")
    assert [name for name, _ in found.columns] == ["a", "b"]


def test_a_file_without_a_header_names_columns_by_their_place(tmp_path: Path) -> None:
    path = csv(tmp_path, "1,a\n2,b\n3,c\n")
    with pytest.raises(SourceError, match="--no-header"):
        settled(path)
    found = settled(path, header=False)
    assert dict(found.columns) == {"column1": Kind.INTEGER, "column2": Kind.TEXT}
    assert numbers(path, "column1", header=False) == [1.0, 2.0, 3.0]
    assert confirming(found)[-1] == "--no-header"
    assert numbers(csv(tmp_path, "x\n1\n2\n"), "x", header=True) == [1.0, 2.0]


def test_a_declared_header_is_one_even_if_it_looks_like_a_row(tmp_path: Path) -> None:
    found = settled(csv(tmp_path, "1,a\n2,b\n3,c\n"), header=True)
    assert [name for name, _ in found.columns] == ["1", "a"]


@pytest.mark.parametrize(
    "written",
    [
        {"delimiter": ";;"},
        {"delimiter": "a"},
        {"quote": ""},
        {"date_format": "DD.MM.YYYY"},
        {"timestamp_format": "%H:%M"},
        {"header": "yes"},
        {"decimal": "·"},
    ],
)
def test_formats_that_no_file_can_have_are_refused(tmp_path: Path, written: Any) -> None:
    with pytest.raises(DescriptionError, match=r"[Ee]xpected"):
        sitr.protect(csv(tmp_path, DATES), unit=sitr.Row(), accept_types=True, **written)


def test_the_declared_format_goes_into_the_description(tmp_path: Path) -> None:
    path = csv(tmp_path, "1;2,5;31.01.2024\n2;3,5;01.02.2024\n")
    data = sitr.protect(
        path,
        unit=sitr.Row(),
        types={"column1": "integer", "column2": "real", "column3": "date"},
        delimiter=";",
        decimal=",",
        header=False,
        date_format="%d.%m.%Y",
    )
    saved = load(data.save(tmp_path / "rows.sitr.yaml"))
    assert saved.format == CsvFormat(";", date_format="%d.%m.%Y", decimal=",", header=False)
    (tmp_path / "rows.sitr.yaml").write_text((tmp_path / "rows.sitr.yaml").read_text().replace("false", "maybe"))
    with pytest.raises(DescriptionError, match="header"):
        load(tmp_path / "rows.sitr.yaml")


def test_a_very_long_line_is_cut(tmp_path: Path) -> None:
    """Only this line, and whatever comes after the cut is missing."""
    path = tmp_path / "rows.csv"
    path.write_text(f"id,note,x\n1,a,1\n2,{'b' * LONGEST},2\n3,c,3\n")
    rows = DuckDB(CsvFile(path, CsvFormat(), (("id", Kind.INTEGER), ("note", Kind.TEXT), ("x", Kind.INTEGER))))
    with connection(rows.source.tables()) as engine:
        found = engine.execute(f"SELECT id, length(note), x FROM {rows.source.relation}").fetchall()
    assert found == [(1, 1, 1), (2, LONGEST - len("2,"), None), (3, 1, 3)]


GAPS = "id,age,cost,day,country\n1,30,1.5,2024-01-01,NA\n2,NA,-,N/A,FR\n3,41,,2024-01-03,NA\n"


def test_missing_values_do_not_turn_numbers_and_dates_into_text(tmp_path: Path) -> None:
    found = settled(csv(tmp_path, GAPS))
    kinds = {"id": Kind.INTEGER, "age": Kind.INTEGER, "cost": Kind.REAL, "day": Kind.DATE, "country": Kind.TEXT}
    assert dict(found.columns) == kinds
    assert dict(found.missing) == {"age": ("NA",), "cost": ("-",), "day": ("N/A",)}
    assert "with NA for no value in age" in proposal(found)
    assert found.format == CsvFormat()
    assert numbers(csv(tmp_path, GAPS), "age") == [30.0, 0.0, 41.0]
    words = settled(csv(tmp_path, GAPS.replace("-", "unknown")))
    assert dict(words.columns)["cost"] is Kind.TEXT  # any other word does


def test_dates_with_missing_values_keep_their_format(tmp_path: Path) -> None:
    rows = "".join(f"{day},{day}.03.2024\n" for day in range(13, 29))
    found = settled(csv(tmp_path, f"id,day\n{rows}99,NA\n"))
    assert (dict(found.columns)["day"], found.format.date_format) == (Kind.DATE, "%d.%m.%Y")
    with connection(found.tables()) as engine:
        assert engine.execute(f"SELECT count(day), count(*) FROM {found.relation}").fetchall() == [(16, 17)]


def test_a_country_called_na_stays_unless_declared_as_missing(tmp_path: Path) -> None:
    path = csv(tmp_path, GAPS)
    query = "SELECT count(country) FROM {}"
    for nulls, there in (((), 3), (("NA",), 1)):
        file = settled(path, nulls=nulls) if nulls else settled(path)
        with connection(file.tables()) as engine:
            assert engine.execute(query.format(file.relation)).fetchall() == [(there,)]


def test_declared_nulls_decide_the_types_and_go_into_the_description(tmp_path: Path) -> None:
    path = csv(tmp_path, "id,x\n1,unknown\n2,3\n3,..\n")
    assert dict(settled(path).columns)["x"] is Kind.TEXT
    nulls = ["unknown", ".."]
    assert dict(settled(path, nulls=nulls).columns)["x"] is Kind.INTEGER
    data = sitr.protect(path, unit=sitr.Row(), nulls=nulls, accept_types=True)
    saved = tmp_path / "rows.sitr.yaml"
    assert load(data.save(saved)).format == CsvFormat(nulls=("unknown", ".."))
    assert sitr.open(saved)._format() == CsvFormat(nulls=("unknown", ".."))
    saved.write_text(saved.read_text().replace("[unknown, ..]", "NA"))
    with pytest.raises(DescriptionError, match="nulls must be a list"):
        load(saved)


@pytest.mark.parametrize("nulls", ["NA", [""], [" NA"], [1]])
def test_nulls_are_a_list_of_texts(tmp_path: Path, nulls: Any) -> None:
    with pytest.raises(DescriptionError, match="list of values that mean no value"):
        sitr.protect(csv(tmp_path, GAPS), unit=sitr.Row(), accept_types=True, nulls=nulls)


@pytest.mark.parametrize(("numbers", "mark"), [("2,5", ","), ("2.5", ".")])
def test_values_that_mean_no_value_do_not_hide_the_decimal_mark(tmp_path: Path, numbers: str, mark: str) -> None:
    found = settled(csv(tmp_path, "id;preis\n" + f"1;{numbers}\n" * 9 + "2;n/a\n"), delimiter=";")
    assert (found.format.decimal, dict(found.columns)["preis"], found.unmarked) == (mark, Kind.REAL, ())


@pytest.mark.parametrize("quote", ["", '"'])
def test_a_line_that_is_too_long_for_duckdb_is_one_row(tmp_path: Path, quote: str) -> None:
    """DuckDB alone refuses to detect how a file with such a line is written."""
    path = tmp_path / "rows.csv"
    path.write_text(f"id,note,x\n1,a,1\n2,{quote}{'b' * 3_000_000}{quote},2\n3,c,3\n")
    source = settled(path)
    assert source.kinds() == {"id": Kind.INTEGER, "note": Kind.TEXT, "x": Kind.INTEGER}
    with connection(source.tables()) as engine:
        found = engine.execute(f"SELECT id, length(note), x FROM {source.relation}").fetchall()
    assert found == [(1, 1, 1), (2, LONGEST - len("2,"), None), (3, 1, 3)]


def test_a_long_line_with_other_fields_is_named(tmp_path: Path) -> None:
    """A text about the whole file says neither which line it is nor why it cannot be read."""
    path = tmp_path / "rows.csv"
    path.write_text("id,note,x\n1,a,1\n2" + ",b" * 1_500_000 + "\n3,c,3\n")
    with pytest.raises(SourceError, match=r"line 3 has 3,000,001 bytes"):
        settled(path)
    path.write_text("id,note,x\n1,a,1\n2" + ",b" * 15 + "\n3,c,3\n")
    with pytest.raises(SourceError, match="the same fields in every line"):
        settled(path)


@pytest.mark.parametrize("piece", [1, 2, 5, 100])
@pytest.mark.parametrize("content", [b"", b"\n", b"abc", b"a\nbcdef", b"abcdef\n\nb\r\n", b"ab\ncdefgh\nij\n"])
def test_the_longest_line_is_found_in_pieces(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, piece: int
) -> None:
    """A file that is no CSV file may be larger than the memory, so it is never held as a whole."""
    monkeypatch.setattr(detection, "_PIECE", piece)
    for path, written in ((tmp_path / "lines.csv", content), (tmp_path / "lines.csv.gz", gzip.compress(content))):
        path.write_bytes(written)
        sizes = [len(line) for line in content.split(b"\n")]
        assert detection._longest(path) == (sizes.index(max(sizes)) + 1, max(sizes))
