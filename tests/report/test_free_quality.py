"""The page says for free how closely rows follow the noisy tables, whether they are valid, and what they are for."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sitr
from sitr.report.free_quality import free_content, free_sections
from sitr.report.words.arabic.arabic import ARABIC
from sitr.report.words.english.english import ENGLISH
from sitr.report.words.words import Words
from sitr.session.synthetic import Synthetic


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Synthetic:
    age = np.arange(3000) % 90
    rows = pa.table({"age": age, "old": age > 60, "band": age // 30})
    data = sitr.protect(rows, unit=sitr.Row(), bounds={"age": (0, 89)}, name="people")
    budget = data.budget(sitr.ZeroConcentratedDP(1.0), ledger=tmp_path_factory.mktemp("free") / "l.db")
    derived = {"band": sitr.column("age") // 30}
    return budget.synthesize(bins=30, required=["age"], derived=derived).release(sitr.ZeroConcentratedDP(0.2))


@pytest.mark.parametrize("words", [ENGLISH, ARABIC])
def test_sections(made: Synthetic, words: Words) -> None:
    fit, valid, uses, limits, person = free_sections(made.portrait, made.codes(None), made.validity(), words=words)
    assert fit.table is not None
    assert len(list(fit.table.rows())) == fit.table.size == 2
    assert fit.picture.startswith("<svg")
    assert words.numerals(f"{100 * made.agreement().score:.1f}") in words.numerals(fit.sentences[0])
    assert valid.table is not None
    kept = [row[2] for row in valid.table.rows()]
    assert kept == [words.synthetic.valid(0, 1)] * len(kept)
    assert len(uses.items) == 4
    assert len(limits.items) == 5
    assert len(person.sentences) == 2


def test_rows_that_break_rules_are_not_called_valid(made: Synthetic) -> None:
    wrong = made.table.set_column(2, "band", pa.array([9] * made.table.num_rows, pa.int64()))
    broken = [each for each in made.validity(wrong) if each.broken]
    assert [(each.columns, each.broken) for each in broken] == [(("band",), made.table.num_rows)]
    assert ENGLISH.synthetic.valid(broken[0].broken, 5000).startswith("broken in ")


def test_pages(made: Synthetic, tmp_path: Path) -> None:
    page = made.certificate(tmp_path / "page.html").read_text()
    for heading in ("follow the noisy tables", "are valid", "can be used for", "cannot carry", "means for a person"):
        assert heading in page
    arabic = made.certificate(tmp_path / "arabic.html", lang="ar").read_text()
    assert "هل الصفوف صالحة" in arabic


def test_content(made: Synthetic) -> None:
    told = json.loads(json.dumps(free_content(made.agreement(), made.validity()), allow_nan=False))
    assert told["fit"]["score"] == made.agreement().score
    assert [each["columns"] for each in told["fit"]["tables"]] == [["age"], ["old"], ["age", "old"]]
    assert {each["demand"] for each in told["validity"]} == {"type", "values", "null", "derived"}
    assert {each["broken"] for each in told["validity"]} == {0}
