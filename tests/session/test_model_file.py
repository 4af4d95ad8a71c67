"""A saved model draws the same rows, holds only what was released, and is checked before it is used."""

from __future__ import annotations

import json
import tracemalloc
from collections.abc import Callable
from datetime import date
from io import BytesIO
from itertools import chain
from pathlib import Path
from typing import Any
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZIP_LZMA, ZipFile
from zlib import crc32

import numpy as np
import pyarrow as pa
import pytest

import sitr
from sitr.errors import FileError, InvalidUse
from sitr.questions.synthetic.plan import Method
from sitr.questions.synthetic.weighted_rows import WeightedRows
from sitr.session import model_file
from sitr.session.synthetic import Synthetic

PRICE = sitr.ZeroConcentratedDP(0.2)
SECRET = 12_345.0
"""A value beyond the bounds, which no released thing can hold."""


def people(rows: int = 3000) -> pa.Table:
    age = np.arange(rows) % 90
    return pa.table(
        {
            "age": pa.array(age, pa.int16()),
            "ward": pa.array(np.array(["young", "grown", "old"])[age // 30]).dictionary_encode(),
            "cost": pa.array(np.where(age == 0, SECRET, age * 10.0), pa.float32()),
            "day": pa.array([date(2024, 1 + int(a) % 12, 1) for a in age], pa.date32()),
        }
    )


def released(folder: Path, **more: Any) -> Synthetic:
    data = sitr.protect(
        people(),
        unit=sitr.Row(),
        bounds={"age": (0, 89), "cost": (0, 1000)},
        keys={"ward": ["young", "grown", "old"]},
        name="people",
    )
    budget = data.budget(sitr.ZeroConcentratedDP(1.0), ledger=folder / "ledger.db")
    rule = (sitr.column("age") < 15) & (sitr.column("ward") == "old")
    days = {"day": (date(2024, 1, 1), date(2024, 12, 31))}
    asked = budget.synthesize(bins=12, bounds=days, never=[rule], **more)
    return asked.release(PRICE, rows=500, quality=sitr.ZeroConcentratedDP(0.1))


@pytest.fixture(scope="module")
def mixture(tmp_path_factory: pytest.TempPathFactory) -> Synthetic:
    return released(tmp_path_factory.mktemp("mixture"), method=Method.MARGINALS)


@pytest.fixture(scope="module")
def joint(tmp_path_factory: pytest.TempPathFactory) -> Synthetic:
    return released(tmp_path_factory.mktemp("joint"), method=Method.JOINT)


@pytest.fixture(params=["mixture", "joint"])
def made(request: pytest.FixtureRequest) -> Synthetic:
    found: Synthetic = request.getfixturevalue(request.param)
    return found


def test_a_model_comes_back_as_it_was(made: Synthetic, tmp_path: Path) -> None:
    path = made.save(tmp_path / "model.sitr")
    back = sitr.load(str(path))
    assert back.table.equals(made.table)  # the same rows, because the same coins draw them
    assert back.table.schema.equals(made.table.schema, check_metadata=True)
    assert back.draw(5000).num_rows == 5000
    assert not [row for row in back.draw(5000).to_pylist() if (row["age"] or 99) < 15 and row["ward"] == "old"]
    assert (back.promise, back.private, back.errors()) == (made.promise, made.private, made.errors())
    assert back.loss == made.loss
    assert back.intervals().equals(made.intervals())
    assert str(back) == str(made)
    assert back.quality is not None
    told, original = back.to_dict(), made.to_dict()
    assert told["receipt"].pop("kept") is None  # a path of the machine where it was made
    assert original["receipt"].pop("kept") is not None
    told["quality"]["receipt"].pop("kept"), original["quality"]["receipt"].pop("kept")
    told["receipt"].pop("figures_sha256"), original["receipt"].pop("figures_sha256")  # of the path of the quality, too
    assert told == original
    assert back.certificate(tmp_path / "page.html").read_text().startswith("<!DOCTYPE html>")
    assert back.plot(tmp_path / "plot.svg").exists()


def test_the_same_model_is_the_same_file(made: Synthetic, tmp_path: Path) -> None:
    one, two = (made.save(tmp_path / name).read_bytes() for name in ("one.sitr", "two.sitr"))
    again = sitr.load(tmp_path / "one.sitr").save(tmp_path / "three.sitr").read_bytes()
    assert one == two == again
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one.sitr", "three.sitr", "two.sitr"]


def test_the_file_is_plain_data_about_released_things(made: Synthetic, tmp_path: Path) -> None:
    """Every number of the file is in the kept tables, in the model, or in the public description and receipt."""
    with ZipFile(made.save(tmp_path / "model.sitr")) as file:
        content = json.loads(file.read("model.json"))
        names = set(file.namelist()) - {"model.json"}
        arrays = [np.load(file.open(name), allow_pickle=False) for name in sorted(names, key=lambda n: int(n[:-4]))]
    assert set(content) == {"kind", "version", "sitr", "rows", "schema", "portrait", "receipt"}
    assert set(content["portrait"]) == {"measured", "model", "never", "structure", "people"}
    measured, model = made.portrait.measured, made.portrait.model
    allowed: list[Any] = [
        *(each.counts for each in measured.tables()),
        *measured.shares,
        *measured.groups,
        *chain(*measured.again_groups),
    ]
    allowed += [model.rows, model.weights, *model.atoms, *model.shares] if isinstance(model, WeightedRows) else [model]
    assert {each.tobytes() for each in arrays} == {np.ascontiguousarray(each).tobytes() for each in allowed}
    assert str(tmp_path) not in json.dumps(content)
    assert made.receipt.kept is not None
    assert str(made.receipt.kept) not in json.dumps(content)


def test_a_model_from_a_file_has_no_data(mixture: Synthetic, tmp_path: Path) -> None:
    back = sitr.load(mixture.save(tmp_path / "model.sitr"))
    for asked in (lambda: back.compare("census"), lambda: back.measure(PRICE)):
        with pytest.raises(InvalidUse, match="has no data set"):
            asked()


def edited(path: Path, change: Callable[[dict[str, Any]], object], arrays: dict[str, Any] | None = None) -> Path:
    """The file with another content, as somebody without bad luck but with bad intent would write it."""
    with ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    content = json.loads(parts["model.json"])
    change(content)
    other = path.with_name("edited.sitr")
    with ZipFile(other, "w") as file:
        for name, data in (parts | {"model.json": json.dumps(content).encode()}).items():
            if arrays is not None and name in arrays:
                with file.open(name, "w") as part:
                    np.save(part, arrays[name], allow_pickle=True)
            else:
                file.writestr(name, data)
    return other


def nothing(content: dict[str, Any]) -> None:
    """Change nothing."""


def test_a_rewritten_file_is_read(mixture: Synthetic, tmp_path: Path) -> None:
    """Otherwise the tests below could not fail."""
    assert sitr.load(edited(mixture.save(tmp_path / "model.sitr"), nothing)).table.equals(mixture.table)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda content: content.update(version=2), r"has the format 2 of a newer Sitr.* Install a newer version"),
        (lambda content: content.update(kind="other"), "is not a model that Sitr saved, or it is damaged"),
        (lambda content: content.update(rows=-3), "is damaged"),
        (lambda content: content.update(rows="7"), "is damaged"),
        (lambda content: content.update(schema="AAAA"), "is damaged"),
        (lambda content: content.pop("receipt"), "is damaged"),
        (lambda content: content["receipt"].update(private="yes"), "is damaged"),
        (lambda content: content["receipt"]["standing"].update(promise=None), "is damaged"),
        (lambda content: content["portrait"].update(model={"aside": 999}), "is damaged"),
        (lambda content: content["portrait"].update(measured=[1]), "is damaged"),
        (lambda content: content["portrait"].update(extra=1), "is damaged"),
        (lambda content: content["portrait"].update(model={"ledger.sql.SqlLedger": {"path": "x"}}), "is damaged"),
        (lambda content: (content["portrait"].update(extra=1), content.update(sitr="9.9")), "written by Sitr 9.9"),
    ],
)
def test_what_is_wrong_is_refused(
    mixture: Synthetic, tmp_path: Path, change: Callable[[dict[str, Any]], object], message: str
) -> None:
    with pytest.raises(FileError, match=message):
        sitr.load(edited(mixture.save(tmp_path / "model.sitr"), change))


def test_a_damaged_file_is_refused_wherever_it_is_damaged(mixture: Synthetic, tmp_path: Path) -> None:
    path = mixture.save(tmp_path / "model.sitr")
    data = path.read_bytes()
    assert len(data) > 2000
    other = tmp_path / "damaged.sitr"
    for place in range(0, len(data), len(data) // 40):
        other.write_bytes(data[:place] + bytes([data[place] ^ 255]) + data[place + 1 :])
        try:
            back = sitr.load(other)
        except FileError:
            continue
        assert back.table.equals(mixture.table)  # an octet that nobody reads, such as the time of a part
    for end in (0, 100, len(data) - 1):
        other.write_bytes(data[:end])
        with pytest.raises(FileError, match="is damaged"):
            sitr.load(other)


def test_an_array_cannot_carry_code(mixture: Synthetic, tmp_path: Path) -> None:
    bomb = np.array([print], dtype=object)
    with pytest.raises(FileError, match="is damaged"):
        sitr.load(edited(mixture.save(tmp_path / "model.sitr"), nothing, {"0.npy": bomb}))


@pytest.mark.parametrize("wrong", [-1.0, np.nan, np.inf, 2.0])
def test_a_model_of_no_probabilities_is_refused(joint: Synthetic, tmp_path: Path, wrong: float) -> None:
    path = joint.save(tmp_path / "model.sitr")
    with ZipFile(path) as file:
        place = json.loads(file.read("model.json"))["portrait"]["model"]["aside"]
    model = np.array(joint.portrait.model)
    model[0] = wrong
    with pytest.raises(FileError, match="is damaged"):
        sitr.load(edited(path, nothing, {f"{place}.npy": model}))


def test_a_file_that_grows_is_refused_before_it_is_unpacked(
    mixture: Synthetic, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = mixture.save(tmp_path / "model.sitr")
    monkeypatch.setattr(model_file, "MOST_OCTETS", 10_000)
    monkeypatch.setattr(ZipFile, "open", lambda *_, **__: pytest.fail("it was unpacked"))
    with pytest.raises(FileError, match="too large: unpacked, it has more than 10,000 octets"):
        sitr.load(path)
    with pytest.raises(FileError, match="too large for a file"):
        mixture.save(tmp_path / "other.sitr")
    assert not (tmp_path / "other.sitr").exists()


def understated(path: Path, packing: int) -> Path:
    """A file whose JSON holds 64 MiB of spaces, and says that it has two octets."""
    with ZipFile(path, "w", packing) as file, file.open("model.json", "w") as part:
        part.write(b"{}")
        for _ in range(64):
            part.write(b" " * 2**20)
    data = bytearray(path.read_bytes())
    place = data.rfind(b"PK\x01\x02")
    data[place + 16 : place + 20] = crc32(b"{}").to_bytes(4, "little")
    data[place + 24 : place + 28] = (2).to_bytes(4, "little")
    path.write_bytes(data)
    return path


def most_memory(load: Callable[[], object]) -> int:
    """The most octets that Python and NumPy held while something was refused."""
    tracemalloc.start()
    try:
        with pytest.raises(FileError, match="is damaged"):
            load()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("packing", [ZIP_DEFLATED, ZIP_BZIP2, ZIP_LZMA])
def test_a_part_that_says_less_than_it_holds_is_not_unpacked(tmp_path: Path, packing: int) -> None:
    path = understated(tmp_path / "model.sitr", packing)
    assert path.stat().st_size < 2**18
    assert most_memory(lambda: sitr.load(path)) < 2**24


@pytest.mark.parametrize("shape", [(2**25,), (-(2**25),), (2**60, 2**60), (0, 2**70)])
def test_the_head_of_an_array_cannot_ask_for_memory(mixture: Synthetic, tmp_path: Path, shape: tuple[int, ...]) -> None:
    path = mixture.save(tmp_path / "model.sitr")
    with ZipFile(path) as file:
        parts = {name: file.read(name) for name in file.namelist()}
    head = BytesIO()
    np.lib.format.write_array_header_1_0(head, {"descr": "<f8", "fortran_order": False, "shape": shape})
    with ZipFile(path, "w") as file:
        for name, data in (parts | {"0.npy": head.getvalue()}).items():
            file.writestr(name, data)
    assert most_memory(lambda: sitr.load(path)) < 2**26


@pytest.mark.parametrize("kind", ["U50000000", "(9999999,)f8"])
def test_json_cannot_ask_for_memory(mixture: Synthetic, tmp_path: Path, kind: str) -> None:
    hostile = {"array": [kind, [1], [0]]}
    path = edited(mixture.save(tmp_path / "model.sitr"), lambda content: content["portrait"].update(model=hostile))
    assert most_memory(lambda: sitr.load(path)) < 2**24


def test_paths(mixture: Synthetic, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="Could not read"):
        sitr.load(tmp_path / "nothing.sitr")
    with pytest.raises(FileError):
        mixture.save(tmp_path / "no folder" / "model.sitr")
    with pytest.raises(InvalidUse, match=r"model\.sitr"):
        sitr.load(5)  # type: ignore[arg-type]
    mixture.save(tmp_path / "model.sitr")
    mixture.save(tmp_path / "model.sitr")  # a model is free, so it may be replaced


def test_batches_are_rows_in_parts(mixture: Synthetic) -> None:
    assert [part.num_rows for part in mixture.batches(250, most=100)] == [100, 100, 50]
    assert [part.num_rows for part in mixture.batches(200, most=100)] == [100, 100]
    assert [part.num_rows for part in mixture.batches(0)] == [0]
    assert sum(part.num_rows for part in mixture.batches()) == mixture.portrait.size
    whole = pa.concat_tables(list(mixture.batches(30_000, most=1000)))
    share = np.mean(whole["age"].to_numpy(zero_copy_only=False) < 45)
    assert share == pytest.approx(
        float(np.mean(mixture.draw(30_000)["age"].to_numpy(zero_copy_only=False) < 45)), abs=0.02
    )
