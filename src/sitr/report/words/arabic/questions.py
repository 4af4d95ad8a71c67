"""Questions as a ledger records them, in Arabic. SQL and the code of mechanisms stay as they are."""

from __future__ import annotations

import re

from sitr.report.figures import visible
from sitr.report.words.arabic.marks import ltr, named, verbatim
from sitr.report.words.arabic.nouns import CATEGORY, CELL, QUESTION, counted

METHODS = {
    "FLAT": "خلية خلية",
    "SPARSE": "للخلايا المأهولة وحدها",
    "TREE": "بشجرة من المجاميع",
    "BUCKETS": "بدمج الخلايا المتجاورة",
    "BINS": "مع اختيار عدد الفئات",
    "UNLISTED": "لفئات غير علنية",
    "PREFIXES": "بالمجاميع التراكمية",
    "RANGES": "بأفضل طريقة للمديات",
}
"""The methods of histograms, by their names in the ledger."""

_HISTOGRAM = re.compile(r"HISTOGRAM OF (.*) BY ([A-Z]+): (SELECT .*)", re.DOTALL)
_ROWS = re.compile(r"SYNTHESIZE (.*) FROM (.*?)( AND MEASURE THE QUALITY)?", re.DOTALL)
_BATCH = re.compile(r"BATCH OF (\d+): (.*)", re.DOTALL)
_SUGGEST = "SUGGEST CAPS AND BOUNDS FOR "
_QUALITY = re.compile(r"QUALITY OF SYNTHETIC (.*) FROM (.*)", re.DOTALL)
_AXIS = re.compile(r"(.*) in (\d+) (categories|cells)(?: from (\S+) to (\S+))?", re.DOTALL)
_DATES = re.compile(r"(.*) by (day|week|month|year) from (\S+) to (\S+)", re.DOTALL)
STEPS = {"day": "يومًا يومًا", "week": "أسبوعًا أسبوعًا", "month": "شهرًا شهرًا", "year": "سنةً سنةً"}
"""The steps of dates."""


def question(text: str) -> str:
    """A question that is not in SQL, in words; any other stays as it is."""
    if found := _HISTOGRAM.fullmatch(text):
        columns, method, sql = found.groups()
        how = METHODS.get(method) or verbatim(method)
        return f"هيستوغرام {_axes(columns)}، {how}: {verbatim(sql)}"
    if found := _ROWS.fullmatch(text):
        columns, table, judged = found.groups()
        return f"صفوف اصطناعية لـ {named(columns)} من {named(table)}{'، مع قياس جودتها' if judged else ''}"
    if found := _QUALITY.fullmatch(text):
        columns, table = found.groups()
        return f"جودة الصفوف الاصطناعية لـ {named(columns)} من {named(table)}"
    if text.startswith(_SUGGEST):
        return f"اقتراح الحدود لسؤال: {verbatim(text.removeprefix(_SUGGEST))}"
    if found := _BATCH.fullmatch(text):
        many, questions = found.groups()
        return f"{counted(int(many), QUESTION)} معًا: {verbatim(questions)}"
    return visible(text)


def _axes(columns: str) -> str:
    """The columns of a histogram; they stay as they are unless each is understood."""
    if columns.endswith(", unlisted categories"):
        return named(columns.removesuffix(", unlisted categories"))
    parts = re.findall(
        r"(.*? (?:in \d+ categories|(?:in \d+ cells|by \w+) from \S+ to \S+?))(?:, |$)", columns, re.DOTALL
    )
    if ", ".join(parts) != columns:
        return named(columns)
    return " و".join(map(_axis, parts))


def _axis(part: str) -> str:
    if dates := _DATES.fullmatch(part):
        name, step, low, high = dates.groups()
        return f"{named(name)} {STEPS[step]} من {ltr(low)} إلى {ltr(high)}"
    found = _AXIS.fullmatch(part)
    if found is None:
        return named(part)
    name, count, kind, low, high = found.groups()
    size = counted(int(count), CATEGORY if kind == "categories" else CELL, oblique=True)
    ends = f" من {ltr(low)} إلى {ltr(high)}" if low else ""
    return f"{named(name)} في {size}{ends}"
