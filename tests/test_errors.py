from __future__ import annotations

import ast
import copy
import inspect
import pickle
import re
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from pathlib import Path

import pytest

import sitr.errors
from sitr.errors import Excerpt, SitrError, suggestion, unknown_name

ERRORS = [kind for _, kind in inspect.getmembers(sitr.errors, inspect.isclass) if issubclass(kind, SitrError)]

every_error = pytest.mark.parametrize("kind", ERRORS)


def example(kind: type[SitrError]) -> SitrError:
    return kind(wanted="A cat was wanted.", given="A {dog} was given, 100 % of it.", do="Look for «قطة».")


def test_the_tree_is_drawn_as_it_is():
    drawing = (sitr.errors.__doc__ or "").split("::")[1].split("A message always")[0]
    drawn = {}
    path: list[str] = []
    for line in drawing.splitlines():
        if branch := re.match(r"(?P<before>[ │├└─]*)(?P<name>[A-Z]\w+)", line):
            depth = (len(branch["before"]) - 4) // 4
            path[depth:] = [branch["name"]]
            drawn[branch["name"]] = path[depth - 1] if depth else None
    assert drawn == {
        kind.__name__: next((base.__name__ for base in kind.__bases__ if issubclass(base, SitrError)), None)
        for kind in ERRORS
    }


@every_error
def test_a_message_has_three_parts_in_their_order(kind):
    error = example(kind)
    assert str(error) == "A cat was wanted. A {dog} was given, 100 % of it. Look for «قطة»."
    assert (error.wanted, error.given, error.do) == tuple(
        part for part in ("A cat was wanted.", "A {dog} was given, 100 % of it.", "Look for «قطة».")
    )


@every_error
@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_errors_travel_between_processes(kind, protocol):
    error = pickle.loads(pickle.dumps(example(kind), protocol=protocol))
    assert type(error) is kind
    assert (str(error), error.wanted, error.given, error.do) == (
        str(example(kind)),
        example(kind).wanted,
        example(kind).given,
        example(kind).do,
    )


@every_error
@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy])
def test_errors_can_be_copied(kind, duplicate):
    assert str(duplicate(example(kind))) == str(example(kind))


@every_error
def test_no_part_may_be_left_out_or_given_by_place(kind):
    with pytest.raises(TypeError):
        kind(wanted="A cat was wanted.", given="A dog was given.")
    with pytest.raises(TypeError):
        kind("A cat was wanted.", "A dog was given.", "Look again.")


@pytest.mark.parametrize(
    ("name", "builtin"),
    [
        ("InvalidParameter", ValueError),
        ("InvalidUse", TypeError),
        ("InvalidPromise", ValueError),
        ("IncompatiblePromises", TypeError),
        ("DescriptionError", ValueError),
        ("QuestionError", ValueError),
    ],
)
def test_errors_are_also_what_python_calls_them(name, builtin):
    assert issubclass(getattr(sitr.errors, name), builtin)


# Excerpts


@pytest.mark.parametrize(
    ("text", "part", "drawn"),
    [
        ("a bc d", "bc", "line 1: a bc d\n          ^^"),
        ("a\nbc d", "d", "line 2: bc d\n           ^"),
        ("\ta\tb", "b", "line 1:     a    b\n                 ^"),
        ("中文 b", "b", "line 1: 中文 b\n             ^"),
        ("中文 b", "文", "line 1: 中文 b\n          ^^"),
        ("مَكَّة b", "b", "line 1: مَكَّة b\n            ^"),
        ("a\x1b[31mb", "b", "line 1: a�[31mb\n              ^"),
        ("a b\nc", "b\nc", "line 1: a b\n          ^"),
    ],
)
def test_carets_stand_under_the_part(text, part, drawn):
    start = text.index(part)
    assert str(Excerpt.of(text, start, start + len(part))) == drawn


def test_of_a_long_line_only_the_surroundings_are_shown():
    line = "x" * 1_000 + "HERE" + "y" * 1_000
    shown, carets = Excerpt.of(line, 1_000, 1_004).drawn()
    assert shown[carets.index("^") :][: carets.count("^")] == "HERE"
    assert len(shown) < 100
    shown, carets = Excerpt.of(line, 0, 2_004).drawn()
    assert max(len(shown), len(carets)) < 100


@every_error
def test_an_excerpt_is_shown_below_the_sentences_and_travels_with_them(kind):
    error = kind(given="A dog.", do="Look.", excerpt=Excerpt("a dog", 1, 3, 3))
    assert str(error) == "A dog. Look.\nline 1: a dog\n          ^^^"
    assert error.message == "A dog. Look."
    for same in (pickle.loads(pickle.dumps(error)), copy.deepcopy(error)):
        assert (str(same), same.excerpt) == (str(error), error.excerpt)


# Misspelled names


@pytest.mark.parametrize(
    ("name", "names", "sentence"),
    [
        ("wardd", ["cost", "ward", "warden"], "Did you mean 'ward'?"),
        ("WARD", ["cost", "Ward"], "Did you mean 'Ward'?"),
        ("price", ["ward", "cost"], "Choose one of 'ward', 'cost'."),
        (None, ["ward", "cost"], "Choose one of 'ward', 'cost'."),
        ("ward", [], "None is declared."),
    ],
)
def test_the_nearest_name_is_suggested(name, names, sentence):
    assert suggestion(name, names) == sentence
    error = unknown_name(name, names, lacks="The table visits has no column")
    assert str(error) == f"The table visits has no column {name!r}. {sentence}"


@pytest.mark.parametrize(
    ("module", "name", "near"),
    [
        ("sitr", "Laplas", "Laplace"),
        ("sitr.flavors", "PuredDP", "PureDP"),
        ("sitr.mechanisms", "Gausian", "Gaussian"),
        ("sitr.loss", "samples", "sampled"),
    ],
)
def test_namespaces_suggest_names(module, name, near):
    with pytest.raises(AttributeError, match=f"^Module '{module}' has no attribute '{name}'. Did you mean '{near}'"):
        getattr(import_module(module), name)
    assert not hasattr(import_module(module), "nothing_like_it")


# Every exception that Sitr raises is in the tree.

SOURCES = {path.as_posix(): path.read_text("utf-8") for path in sorted(Path(sitr.errors.__file__).parent.rglob("*.py"))}

RESPONSES = {"Forbidden", "HTTPException", "NotFound", "NotIdentified", "TooMany", "Unauthenticated", "Unknown"}
"""How routes of the server end: `sitr.server.failures` makes a response of each. No user of the library sees them."""

ALLOWED = {
    ("__getattr__", "AttributeError"): "Python asks a module for names in this way",
    ("__setattr__", "FrozenInstanceError"): "as for every frozen dataclass of Python",
    ("__delattr__", "FrozenInstanceError"): "as for every frozen dataclass of Python",
    ("get", "unknown_attribute"): "Python asks a module for names in this way",
    ("construct_mapping", "yaml.constructor.ConstructorError"): "the protocol of PyYAML; the reader catches it",
    ("parse_args", "_reported"): "typer ends a command in this way, after the error was shown",
    ("resolve_command", "_reported"): "typer ends a command in this way, after the error was shown",
    ("invoke", "_reported"): "typer ends a command in this way, after the error was shown",
    ("invoke", "typer.Exit"): "typer ends a command in this way",
    ("_version", "typer.Exit"): "typer ends a command in this way",
    ("_certificate", "typer.Exit"): "the exit code is the verdict",
    ("verify_table", "typer.Exit"): "the exit code is the verdict",
    ("digest", "typer.Exit"): "the exit code is the verdict",
    ("verify", "typer.Exit"): "the exit code is the verdict",
    ("_checked", "error_of"): "returns a SitrError, from another file",
    ("known", "altered"): "returns a LedgerError, from another file",
    ("resume", "altered"): "returns a LedgerError, from another file",
    ("_check_opened", "altered"): "returns a LedgerError, from another file",
    ("insert", "altered"): "returns a LedgerError, from another file",
    ("audit", "typer.Exit"): "the exit code is the verdict",
    ("_canaries", "typer.Exit"): "the exit code is the verdict",
    ("_number", "TypeError"): "whoever reads a table of probabilities catches it",
    ("_asked", "KeyboardInterrupt"): "answering no stops like Ctrl-C",
    ("ask", "Back"): "the interview catches it and asks the previous question again",
    ("ask", "KeyboardInterrupt"): "the end of the input stops like Ctrl-C",
    ("_named", "ValueError"): "whoever reads a kept answer catches it",
    ("_numbers", "ValueError"): "whoever reads a kept answer catches it",
    ("parse", "unreadable"): "returns a QuestionError, from another file",
    ("_paid", "changed"): "returns a FileError, from another file",
    ("asked", "first.among"): "a SitrError, with the other obstacles of the question",
    ("bound_with_sets", "first.among"): "a SitrError, with the other obstacles of the question",
    ("question", "better.among"): "a DescriptionError, with the other obstacles of the question",
    ("bounds_of", "ValueError"): "the reader of options catches it",
    ("_days", "ValueError"): "caught in the same function",
    ("migration", "failure.orig or failure"): "the error of the database itself; the ledger catches it",
    ("__getitem__", "KeyError"): "the protocol of mappings",
    ("_refuse_foreign", "OSError"): "caught in the same file: then SQLite's own lock decides",
    ("_wait", "late"): "returns a LedgerBusy",
    ("now", "altered"): "returns a LedgerError, from another file",
    ("time_of", "typer.Exit"): "the exit code is the verdict",
    ("get", "Unanswered"): "an OSError; the witness catches it",
    ("get", "_refused"): "an OSError; the witness catches it",
    ("put", "Unanswered"): "an OSError; the witness catches it",
    ("put", "_refused"): "an OSError; the witness catches it",
    ("_exchange", "Unanswered"): "an OSError; the witness catches it",
    ("_send", "sites.Unanswered"): "an OSError; caught in the same file",
    ("_opened", "_Changed"): "caught in the same file",
    ("_parts", "BadZipFile"): "whoever reads the file of a model catches it",
    ("_unpacked", "BadZipFile"): "whoever reads the file of a model catches it",
    ("_array", "ValueError"): "whoever reads the file of a model catches it",
    ("resumed", "ValueError"): "whoever reads records takes it for one that was changed",
}


def in_tree(nodes: Sequence[ast.AST]) -> set[str]:
    """The classes under `SitrError`."""
    classes = {
        node.name: {ast.unparse(base) for base in node.bases} for node in nodes if isinstance(node, ast.ClassDef)
    }
    tree, size = {"SitrError"}, 0
    while size < len(tree):
        size = len(tree)
        tree |= {name for name, bases in classes.items() if tree & bases}
    return tree


def makers(nodes: Sequence[ast.AST], tree: set[str]) -> dict[str, bool]:
    """Whether every function of a name returns an error of the tree."""
    found: dict[str, bool] = {}
    for node in nodes:
        if isinstance(node, ast.FunctionDef):
            returned = node.returns is not None and ast.unparse(node.returns) in tree
            found[node.name] = found.get(node.name, True) and returned
    return found


def known(raised: ast.expr, names: Mapping[str, bool]) -> bool:
    match raised:
        case ast.IfExp(body=body, orelse=other):
            return known(body, names) and known(other, names)
        case ast.Call(func=ast.Name(id=name) | ast.Attribute(attr=name)):
            return names.get(name, False)
    return False


def strangers(sources: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """The raises of anything outside the tree: the function with the raise, and what it raises."""
    statements = (ast.Module, ast.ClassDef, ast.FunctionDef)
    walks = (ast.walk(ast.parse(text)) for text in sources.values())
    modules = [[node for node in walk if isinstance(node, statements)] for walk in walks]
    everywhere = [node for module in modules for node in module]
    tree = in_tree(everywhere)
    shared = makers(everywhere, tree) | dict.fromkeys(tree, True)

    def walk(node: ast.AST, function: str, names: Mapping[str, bool]) -> Iterator[tuple[str, str]]:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, ast.Raise) and child.exc is not None and not known(child.exc, names):
                called = child.exc.func if isinstance(child.exc, ast.Call) else child.exc
                yield function, ast.unparse(called)
            yield from walk(child, child.name if isinstance(child, ast.FunctionDef) else function, names)

    for module in modules:  # its own functions hide those of other modules
        names = shared | makers(module, tree)
        yield from walk(module[0], "", names)


def test_every_exception_is_in_the_tree():
    assert {each for each in strangers(SOURCES) if each[1] not in RESPONSES} == set(ALLOWED)


@pytest.mark.parametrize(
    "line",
    [
        "raise ValueError('scale')",
        "raise ValueError",
        "raise error",
        "raise errors[0]",
        "raise wrong()",
        "raise self.wrong()",
        "raise InvalidUse() if x else KeyError()",
        "raise Loose()",
    ],
)
def test_an_exception_outside_the_tree_is_found(line):
    """The broken twin."""
    others = "class Loose(Exception): ...\ndef wrong() -> OSError: ...\n"
    errors = {"errors.py": inspect.getsource(sitr.errors)}
    broken = errors | {"broken.py": f"{others}def check(x):\n    if x:\n        {line}\n"}
    assert [function for function, _ in strangers(broken)] == ["check"]
    whole = errors | {"whole.py": "class Tight(InvalidUse): ...\ndef check():\n    raise Tight()\n"}
    assert not list(strangers(whole))
