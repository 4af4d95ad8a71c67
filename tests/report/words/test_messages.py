"""Every message and every help text exists in every language."""

from __future__ import annotations

import ast
import inspect
import json
import re
import string
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import cast

import pytest

import sitr
from sitr.backends.confirmation import proposal
from sitr.backends.csv import CsvFile
from sitr.dataset.csv_format import CsvFormat
from sitr.dataset.schema import Kind
from sitr.errors import BadUsage, FileError, SitrError
from sitr.language import Language, preferred, speaking, spoken
from sitr.report.words.messages import Catalogue, catalogue, error_text, said
from tests.report.words.carried import Flow

ROOT = Path(sitr.__file__).parent
FIELDS = ("wanted", "given", "do")
ARABIC = cast("Catalogue", catalogue(Language.ARABIC))


def templates(node: ast.AST) -> list[str]:
    """All texts that an expression can be, with `{}` for each value; none if it is only a value."""
    match node:
        case ast.Constant(str(text)):
            return [text]
        case ast.JoinedStr(parts):
            return ["".join(part.value if isinstance(part, ast.Constant) else "{}" for part in parts)]  # type: ignore[misc]
        case ast.BinOp(left, ast.Add(), right):
            return [first + second for first in templates(left) or ["{}"] for second in templates(right) or ["{}"]]
        case ast.IfExp(_, one, other):
            return templates(one) + templates(other)
        case ast.BoolOp(_, parts):
            return [text for part in parts for text in templates(part)]
    return []


def inside(node: ast.AST) -> Iterator[str]:
    """Texts inside the values of an f-string: `{'both' if row else 'neither'}`."""
    for part in ast.walk(node):
        if isinstance(part, ast.FormattedValue):
            yield from templates(part.value)


def lacking(keyword: ast.keyword) -> Iterator[str]:
    """What has no such name, as `unknown_name` says it, with the name: `lacks="The answer has no column"`."""
    if keyword.arg == "lacks":
        yield from (f"{text} {{}}." for text in templates(keyword.value) if text != "{}")


@cache
def parsed(path: Path) -> ast.Module:
    return ast.parse(path.read_text())


def messages(tree: ast.Module) -> Iterator[str]:
    """What errors, warnings and notes say: the three fields, also where a variable of the module carries the text."""
    carried: set[str] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            for keyword in node.keywords:
                yield from lacking(keyword)
                if keyword.arg in FIELDS:
                    yield from (*templates(keyword.value), *inside(keyword.value))
                    if isinstance(keyword.value, ast.Name):
                        carried.add(keyword.value.id)
            if _name(node.func) in ("said", "_warn", "warn", "add_note"):
                yield from templates(node.args[0])
                if isinstance(node.args[0], ast.Name):
                    carried.add(node.args[0].id)
    for node in ast.walk(tree):
        match node:
            case ast.Assign([ast.Name(name)], value) if name in carried:
                yield from (*templates(value), *inside(value))


def _name(function: ast.expr) -> str:
    """The name of a function or a method."""
    return function.id if isinstance(function, ast.Name) else getattr(function, "attr", "")


def helps(tree: ast.Module) -> Iterator[str]:
    """The help of options, and the docstrings of commands."""
    for node in ast.walk(tree):
        match node:
            case ast.Call():
                for keyword in node.keywords:
                    if keyword.arg == "help":
                        yield from templates(keyword.value)


@cache
def texts() -> dict[str, str]:
    """Every text that must be translated, with a file that says it."""
    found: dict[str, str] = {}
    for path in sorted(ROOT.rglob("*.py")):
        tree, where = parsed(path), str(path.relative_to(ROOT))
        here = [*messages(tree), *(helps(tree) if where.startswith("cli/") else ())]
        found |= dict.fromkeys((inspect.cleandoc(text) for text in here if says_something(text)), where)
    flow = Flow({path: parsed(path) for path in sorted(ROOT.rglob("*.py"))})
    for path, text in flow.texts(lambda node: [*templates(node), *inside(node)]):
        if says_something(text) and is_a_phrase(text):
            found.setdefault(inspect.cleandoc(text), str(path.relative_to(ROOT)))
    return found | dict.fromkeys(commands(), "cli/main.py")


def is_a_phrase(text: str) -> bool:
    """Whether an argument of a function is a text to read: single words are names, and calls and formulas are code."""
    return " " in text.strip() and not re.fullmatch(
        r"[\w{}]+ ?\([^()]*\)|\S* ?\{\}(,? \w+)?|max\(.*\)|\w+ 10\^\{\}", text
    )


def commands() -> Iterator[str]:
    """What `--help` says about each command and group."""
    from typer.main import get_command

    from sitr.cli.main import app

    left = [get_command(app)]
    while left:
        command = left.pop()
        left += getattr(command, "commands", {}).values()
        yield inspect.cleandoc(command.help or "")


def says_something(text: str) -> bool:
    """Whether a text has a word to translate: names of options, examples in code and symbols have none."""
    words = re.sub(r"--[\w-]+|\{\}|[A-Z_]{2,}|`[^`]*`", " ", text)
    return bool(re.search(r"[A-Za-z]{3,}", words))


def test_every_message_is_translated() -> None:
    missing = [f"{where}: {text}" for text, where in texts().items() if text not in ARABIC.entries]
    assert not missing, "\n".join([f"{len(missing)} texts have no Arabic translation:", *missing])


def test_no_translation_is_unused() -> None:
    written = json.loads((ROOT / "report" / "words" / "arabic" / "messages.json").read_text())
    assert not written.keys() - texts().keys() - FIXED


FIXED = {
    *("Expected {}, got {}.", "Usage:", "Options:", "Arguments:", "Commands:", "[required]", "[default: {}]"),
    *("[OPTIONS]", "COMMAND [ARGS]...", "Show this message and exit."),
    *("<str>", "<path>", "<int>", "<int range>", "<float>", "<float range>"),
}
"""Texts that are not written as messages in the source."""


def test_a_translation_has_the_values_of_its_template_and_arabic_letters() -> None:
    for english, arabic in ARABIC.entries.items():
        if "{}" in english:
            used = sorted(int(name) for _, name, _, _ in string.Formatter().parse(arabic) if name is not None)
            assert used == list(range(english.count("{}"))), english
        assert re.search("[\u0621-\u064a]", arabic), english


def test_the_walk_finds_texts_of_every_form() -> None:
    tree = ast.parse(
        'raise Bad(wanted="a word", given=f"{x!r} is {\'nothing\' if y else \'much\'}.", do="one " + x or "two")\n'
        'cause = f"no {x}"\nraise Bad(given=cause, do="Go.")\nsaid(f"Written: {path}")\n'
        'raise unknown_name(x, names, lacks=f"The table {y} has no column")'
    )
    assert set(messages(tree)) == {
        *("a word", "{} is {}.", "nothing", "much", "one {}", "two", "no {}", "Go.", "Written: {}"),
        "The table {} has no column {}.",
    }


def test_texts_that_functions_carry_are_found() -> None:
    tree = ast.parse(
        "def _wrong(place, what):\n    return Bad(given=f'In {place}: {what}.', do=_advice(place))\n"
        "def _advice(place):\n    return 'Go there.' if place else 'Stay here.'\n"
        "def check(x):\n    reason = 'no way out' if x else 'a way in'\n    raise _wrong('the house', reason)\n"
        "def other(x):\n    return quiet('not said')\n"
        "def unknown(name):\n    raise unknown_name(name, names, lacks='There is no house')\n"
    )
    found = {text for _, text in Flow({Path("x.py"): tree}).texts(templates)}
    assert {"the house", "Go there.", "Stay here.", "no way out", "a way in"} <= found
    assert not {"not said", "There is no house"} & found
    outside = ast.parse("def f(a):\n    raise Bad(given=a)\nf('by place')")
    assert {text for _, text in Flow({Path("x.py"): outside}).texts(templates)} == {"by place"}


def test_values_keep_their_own_direction_and_known_values_are_translated() -> None:
    made = Catalogue({"No {} in {}.": "لا {0} في {1}.", "column": "عمود"})
    assert made.say("No column in visits.csv.") == "لا عمود في \u2068visits.csv\u2069."


def test_a_value_inside_code_is_not_enclosed_twice() -> None:
    made = Catalogue({"Run pip install 'sitr[{}]'.": "شغّل \u2066pip install 'sitr[{0}]'\u2069."})
    assert made.say("Run pip install 'sitr[learn]'.") == "شغّل \u2066pip install 'sitr[learn]'\u2069."


def test_a_value_is_not_taken_for_a_short_template() -> None:
    made = Catalogue({"{} and {}": "{0} و{1}", "There is no {}.": "لا يوجد {0}."})
    assert made.say("a and b") == "\u2068a\u2069 و\u2068b\u2069"
    assert made.say("There is no a and b.") == "لا يوجد \u2068a and b\u2069."


def test_of_two_templates_that_fit_the_one_that_says_more_is_used() -> None:
    made = Catalogue({"No {}.": "لا {0}.", "No file {}.": "لا ملف {0}."})
    assert made.say("No file x.") == "لا ملف \u2068x\u2069."


def test_a_message_without_translation_stays_english() -> None:
    with speaking(Language.ARABIC):
        assert said("entirely unheard of") == "entirely unheard of"


def test_errors_are_said_in_the_spoken_language() -> None:
    error = BadUsage(wanted="--lang with one of en, ar", given="'fr'", do="Choose one of those.")
    assert error_text(error) == str(error)
    with speaking(Language.ARABIC):
        assert error_text(error).startswith("المتوقَّع")
        assert "'fr'" in error_text(error)
        assert error_text(FileError(given="Odd thing.", do="Choose one of those.")).endswith("اختر إحداها.")
    assert spoken() is Language.ENGLISH


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, Language.ENGLISH),
        ({"LANG": "ar"}, Language.ARABIC),
        ({"LANG": "ar_SA.UTF-8"}, Language.ARABIC),
        ({"LANG": "C.UTF-8"}, Language.ENGLISH),
        ({"LANG": "fr_FR", "LC_MESSAGES": "ar_AE"}, Language.ARABIC),
        ({"LANG": "ar_SA", "LC_ALL": "en_US"}, Language.ENGLISH),
        ({"LANG": "ar_SA", "LC_ALL": ""}, Language.ARABIC),
        ({"LANG": "arn_CL"}, Language.ENGLISH),
    ],
)
def test_the_locale_chooses_the_language(environment: dict[str, str], language: Language) -> None:
    assert preferred(environment) is language


@pytest.mark.parametrize(
    "who", ["--unit COLUMN with --max-groups and --max-rows-per-group (or --unit-row) and --budget"]
)
def test_missing_options_of_a_start_are_arabic(who: str) -> None:
    found = catalogue(Language.ARABIC)
    assert found is not None
    said = found.say(
        f"Missing {who}. You must also confirm what Sitr detected in the rows, because it becomes public: a real."
    )
    assert not {"with", "and", "or", "Missing", "confirm"} & set(said.replace("(", " ").replace(")", " ").split())
    assert found.say("Add it.") == "أضفها."


def test_what_was_detected_in_a_file_is_arabic_after_its_types() -> None:
    file = CsvFile(
        Path("visits.csv"),
        CsvFormat(";", "'", "%d.%m.%Y", "", ",", header=False),
        (("age", Kind.INTEGER), ("day", Kind.DATE)),
        missing=(("age", ("NA", "-")),),
    )
    types, *formats = ARABIC.say(proposal(file), least=8).split("، ")  # as a value of a message
    assert types == "\u2068age integer, day date\u2069"
    assert len(formats) == 6
    assert not any(re.search("[a-z]", each.replace("%d.%m.%Y", "").replace("age", "")) for each in formats), formats


@pytest.mark.parametrize(
    ("text", "told"),
    [("a: [", "الملف كله: ليس بصيغة"), ("sitr: 99", "الإصدار"), ("sitr: 1\nnmae: x", "لا يوجد حقل")],
)
def test_what_a_function_puts_into_a_message_is_arabic(tmp_path: Path, text: str, told: str) -> None:
    described = tmp_path / "x.sitr.yaml"
    described.write_text(text)
    with pytest.raises(SitrError) as caught, speaking(Language.ARABIC):
        sitr.open(described)
    with speaking(Language.ARABIC):
        said = error_text(caught.value).replace(str(described), "")
    assert told in said
    assert not {"is", "the", "whole", "there", "field", "version"} & set(re.findall("[a-z]+", said))
