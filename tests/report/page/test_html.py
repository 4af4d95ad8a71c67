"""Pages and fragments: well-formed, escaped everywhere, complete, and without a way out."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from datetime import date
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from sitr.accounting.filter import Filter
from sitr.dataset.publication import Publication
from sitr.flavors.pure import PureDP
from sitr.questions.aggregate.nodes import text
from sitr.questions.aggregate.release import Release
from sitr.report.aggregate import answer, preview
from sitr.report.aggregate_rows import written
from sitr.report.evidence.figures import checker
from sitr.report.figures import visible
from sitr.report.headline import headline
from sitr.report.level import Level
from sitr.report.page.html import FIRST_ROWS, MOST_ROWS, fragment, label, page
from sitr.report.words.arabic.arabic import ARABIC
from sitr.report.words.english.english import ENGLISH
from sitr.report.words.notation import notation
from sitr.report.words.words import Words
from tests.report.conftest import Certified

Make = Callable[[str], Release]
Certify = Callable[..., Certified]

VOID = {"meta", "rect", "line"}


class Document(HTMLParser):
    """Tags must close in the order in which they opened; attributes and text are kept."""

    def __init__(self, source: str) -> None:
        super().__init__(convert_charrefs=True)
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(source)
        self.close()
        assert not self.open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def documents(certificate: Certified) -> list[str]:
    plan = certificate.release.plan
    return [
        page(answer(*certificate)),
        fragment(answer(*certificate)),
        fragment(preview(plan, certificate.receipt.standing)),
    ]


def test_unbalanced_tags_would_be_found() -> None:
    with pytest.raises(AssertionError):
        Document("<p><b></p></b>")
    with pytest.raises(AssertionError):
        Document("<div><p></p>")


@pytest.mark.sampled(5)
def test_it_is_well_formed_and_nothing_in_it_can_act(certificate: Certified) -> None:
    for source in (each.replace(checker(), "the checker") for each in documents(certificate)):
        document = Document(source)
        tags = {tag for tag, _ in document.tags}
        assert not tags & {"script", "iframe", "object", "embed", "link", "img", "form", "base"}
        links = [attributes for tag, attributes in document.tags if tag == "a"]
        assert links in ([], [{"class": "checker", "download": "sitr_check.py.gz", "href": "the checker"}])
        attributes = {name for tag, attributes in document.tags if tag != "a" for name in attributes}
        assert not {name for name in attributes if name.startswith("on") or name in {"src", "href", "xlink:href"}}
        # The one http is the name of a header: http-equiv.
        assert "http" not in source.replace("http-equiv", "").replace("HTTP", "")
        assert "url(" not in source
        assert "@import" not in source


def test_hostile_names_are_shown_as_they_are(make: Make, certify: Certify) -> None:
    certificate = certify(make("hostile"), dataset="<script>alert(1)</script>", by="<b onclick='x'>")
    for source in documents(certificate):
        assert "<script" not in source
        assert "<b onclick" not in source
        assert "<script>alert(1)</script>" in Document(source).text
        assert not set(source) & {"\x1b", "\x00", "\u202e"}
    assert "<b onclick='x'>" in Document(page(answer(*certificate))).text


def test_a_page_says_everything(certificate: Certified) -> None:
    release, plan, shown = certificate.release, certificate.release.plan, Document(page(answer(*certificate))).text
    sentences = [
        ENGLISH.meaning(headline(plan), plan.query),
        ENGLISH.odds(headline(plan), plan.query),
        ENGLISH.reading(headline(plan)),
        ENGLISH.protected(plan.query),
        ENGLISH.aggregate.contribution(plan.query),
        ENGLISH.aggregate.exposure(plan),
        ENGLISH.aggregate.tail(plan),
        ENGLISH.aggregate.shown_keys(plan),
        ENGLISH.aggregate.error(),
        *ENGLISH.aggregate.public(plan.query),
        *ENGLISH.aggregate.checks(plan, headline(plan)),
        visible(text(plan.query.query)),
        ENGLISH.whole(certificate.receipt.standing.promise, plan.query),
        notation(certificate.receipt.standing.promise),
        notation(certificate.receipt.standing.remaining(), left=True),
        visible(certificate.receipt.dataset),
        visible(certificate.receipt.entry.by),
        certificate.receipt.entry.version,
        "2024-11-03 09:30:00 UTC",
    ]
    assert [sentence for sentence in sentences if sentence not in shown] == []
    assert [cell for row in written(release) for cell in row if cell not in shown] == []
    for column in answer(*certificate).to_dict()["columns"]:
        assert all(each["noise"]["exact"] in shown for each in column["measured"])


@pytest.mark.parametrize("private", [True, False])
def test_the_band_is_there_if_and_only_if_it_must(make: Make, certify: Certify, private: bool) -> None:
    release = make("known")
    certificate = certify(release, private=private)
    source = page(answer(*certificate))
    assert ("NOT PRIVATE" in source) is not private
    assert ('class="band"' in source) is not private
    assert ('class="badge"' in source) is private
    assert (ENGLISH.meaning(headline(release.plan), release.plan.query) in source) is private
    assert ("NOT PRIVATE" in fragment(answer(*certificate))) is not private


def test_structure_for_readers_without_eyes(certificate: Certified) -> None:
    document = Document(page(answer(*certificate)))
    assert ("html", {"lang": "en", "dir": "ltr"}) in document.tags
    headings = [int(tag[1]) for tag, _ in document.tags if tag in {"h1", "h2", "h3", "h4"}]
    assert headings.index(1) == 0
    assert headings.count(1) == 1
    assert all(after <= before + 1 for before, after in pairwise(headings))
    assert all("scope" in attributes for tag, attributes in document.tags if tag == "th")
    labels = [attributes["aria-labelledby"] for tag, attributes in document.tags if tag == "section"]
    ids = [attributes["id"] for _, attributes in document.tags if "id" in attributes]
    assert labels == ids
    assert len(set(ids)) == len(ids)


def numbers(source: str) -> str:
    """The part of a page with the rows that a chart stands for."""
    return source.rpartition(f">{ENGLISH.certificate.heading(Level.NUMBERS)}</h2>")[2]


def test_an_answer_is_shown_once(make: Make, certify: Certify) -> None:
    """A short table stands for itself. A long one follows at the end, and its chart is shown instead."""
    short, long, none = (page(answer(*certify(make(name)))) for name in ("known", "many", "empty"))
    pictures = [source.count("<figure>") for source in (short, long, none)]
    assert pictures == [2, 3, 2]  # the trade-off and the budget, and a chart
    tables = [source.count("<table>") for source in (short, long, none)]
    assert tables == [2, 2, 1]  # the flavors, and the answer
    assert numbers(long).count("<table>") == 1
    assert short.index("<table>") < short.index('class="statement"')


def test_the_parts_of_a_page_are_in_order(certificate: Certified) -> None:
    """The answer, its meaning, then from the promise down to the ledger."""
    paper, say = answer(*certificate), ENGLISH.certificate
    assert paper.query is not None
    source = page(paper)
    first, *others = [say.heading(level) for level in Level if f">{say.heading(level)}</h2>" in source]
    places = [source.index(f">{heading}</h2>") for heading in (first, say.for_one(paper.query), *others)]
    assert places == sorted(places)
    assert len(others) >= 4


def test_a_page_names_its_publisher(certificate: Certified) -> None:
    said = Publication(
        title="Visits <b>", organisation="City & hospital", contact="a@b", purpose="Beds", date=date(2026, 3, 1)
    )
    source = page(answer(*certificate), said.changed(caveats=["Late <i>"]))
    shown = Document(source).text
    assert "<b>" not in source.replace("<b>", "", source.count('<bdi dir="ltr"><b>'))
    for part in ("Visits <b>", "City & hospital", "a@b", "Beds", "1 March 2026", "Late <i>"):
        assert part in shown
    assert "3 November 2024" not in shown.partition("The answer")[0]
    plain = Document(page(answer(*certificate))).text
    assert "3 November 2024" in plain
    assert "Caveats" not in plain


def test_a_label_says_the_promise_in_one_number_and_one_sentence(certificate: Certified) -> None:
    plan, receipt = certificate.release.plan, certificate.receipt
    source = label(answer(*certificate), Publication(title="Visits", contact="privacy@example.org"))
    shown = Document(source).text
    for part in (
        ENGLISH.certificate.one_number(headline(plan)),
        ENGLISH.meaning(headline(plan), plan.query),
        ENGLISH.protected(plan.query),
        ENGLISH.aggregate.released(certificate.release),
        ENGLISH.left_of(receipt.standing),
        "2 answers so far",
        "privacy@example.org",
    ):
        assert part in shown
    assert "http" not in source.replace("http-equiv", "")


def test_the_label_of_an_answer_that_is_not_private_says_so(make: Make, certify: Certify) -> None:
    release = make("known")
    source = label(answer(*certify(release, private=False)))
    assert "NOT PRIVATE" in source
    assert ENGLISH.meaning(headline(release.plan), release.plan.query) not in source


def test_no_style_depends_on_the_direction_of_writing(certificate: Certified) -> None:
    physical = re.compile(r"(?:margin|padding|border|text-align|float|inset)(?:-|:\s*)(?:left|right)\b")
    assert physical.search("td { padding-left: 0; text-align: right }")
    for source in (*documents(certificate), label(answer(*certificate))):
        for style in re.findall(r"<style>(.*?)</style>", source, re.DOTALL):
            assert not physical.findall(style)


def test_numbers_and_code_keep_their_direction(make: Make, certify: Certify) -> None:
    source = page(answer(*certify(make("known"))))
    assert '<pre dir="ltr">' in source
    assert len(re.findall(r'<td class="n"(?: title="[^"]*")?><bdi dir="ltr">', source)) == 12


def test_long_answers_are_cut_and_it_says_so(make: Make, certify: Certify) -> None:
    release = make("many")
    assert f"The first {FIRST_ROWS} of 200 rows are shown here; the answer has 180 more." in fragment(
        answer(*certify(release))
    )
    assert fragment(answer(*certify(release))).count('<th scope="row">') == FIRST_ROWS
    assert numbers(page(answer(*certify(release)))).count('<th scope="row">') == 200
    longer = replace(release, keys=release.keys * 6, measured=release.measured * 6)
    assert numbers(page(answer(*certify(longer)))).count('<th scope="row">') == MOST_ROWS
    assert "The first 1,000 of 1,200 rows are shown here; the answer has 200 more." in page(answer(*certify(longer)))


def test_an_empty_answer_says_what_it_means(make: Make, certify: Certify) -> None:
    release = make("empty")
    for source in (page(answer(*certify(release))), fragment(answer(*certify(release)))):
        assert ENGLISH.aggregate.empty(release.plan) in source
        assert '<th scope="col" class="n">' not in source


def test_a_preview_says_what_would_be_left(make: Make) -> None:
    plan = make("known").plan
    shown = Document(fragment(preview(plan, Filter(PureDP(2.0))))).text
    assert "left nowε = 2\n" in shown
    assert "left thenε = 1.5\n" in shown
    assert "left thenthe budget cannot pay this" in Document(fragment(preview(plan, Filter(PureDP(0.1))))).text


def test_a_preview_says_what_one_person_counts_for(make: Make) -> None:
    for name in ("known", "ungrouped", "one_row"):
        plan = make(name).plan
        assert ENGLISH.aggregate.contribution(plan.query) in Document(fragment(preview(plan, Filter(plan.price)))).text


def test_styles_of_a_fragment_stay_in_it(make: Make, certify: Certify) -> None:
    source = fragment(answer(*certify(make("known"))))
    rules = source.partition("<style>")[2].partition("</style>")[0].strip().splitlines()
    selectors = [selector for rule in rules for selector in rule.partition("{")[0].split(",")]
    assert all(selector.strip().startswith(".sitr") for selector in selectors)


@pytest.mark.parametrize("words", [ENGLISH, ARABIC])
def test_a_page_about_protected_rows_speaks_of_rows(make: Make, certify: Certify, words: Words) -> None:
    rows, people = (page(answer(*certify(make(name)), words=words)) for name in ("one_row", "known"))
    for english, arabic, person in (
        ("What this means for one row", "ماذا يعني هذا لصف واحد", False),
        ("What this means for one person", "ماذا يعني هذا لشخص واحد", True),
        ("rules a row in or out", "تثبت وجود صف أو تنفيه", False),
        ("rules a person in or out", "تثبت وجود شخص أو تنفيه", True),
    ):
        said = arabic if words is ARABIC else english
        assert (said in rows, said in people) == (not person, person)
