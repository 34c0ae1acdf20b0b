"""The manners of the house, read off its source: what no linter of ours says already."""

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path

from tests.every_case import every_case

ROOT = Path(__file__).parents[1]
SOURCE = sorted([*ROOT.glob("core/**/*.py"), *ROOT.glob("pages/**/*.py"), ROOT / "app.py"])
TESTS = sorted(ROOT.glob("tests/**/*.py"))
SERVICES = [path for path in SOURCE if path.is_relative_to(ROOT / "core" / "services")]
INSIDE = [*SERVICES, *(path for path in SOURCE if path.is_relative_to(ROOT / "core" / "desk"))]
BANNED = {"utils", "helpers", "common", "manager", "base", "misc", "types", "constants"}
LONGEST = 600
SHORTEST = 60
# Fragments that have to stand alone, each with the reason.
ALONE = {
    "core/desk/resealing.py": "a command writes no SQL of its own",
    "core/ui/frame/demonstration.py": "its cache begins with the running Streamlit",
    "core/commands/init.py": "the command line loads it by its name",
}
RIDDLES = {"What", "Who", "Whom", "Whose", "How", "Why", "Which", "Where", "When", "Whether"}
ONLY_IN = {
    r"datetime\.now\(|date\.today\(|time\.time\(": {"clock.py", "auth.py"},
    r"\buuid4\(|\buuid1\(": set(),
    r"unsafe_allow_html": set(),
    r"\.commit\(": {"engine.py", "group_commit.py"},
    r"(?<![.\w])print\(": set(),
    # Elsewhere it would miss what was put off.
    r"\.driver_connection": {"statements.py"},
    # It is the process's and not a library's: no command or request may change it.
    r"\bumask\(": {"local_files.py"},
}
Faults = Iterator[str]
_parse = lru_cache(1)(ast.parse)


@lru_cache(1)  # each rule reads the same file after another
def _walk(text: str) -> list[ast.AST]:
    return list(ast.walk(_parse(text)))


def size_and_name(name: str, text: str) -> Faults:
    if Path(name).stem in BANNED:
        yield f"{name} says nothing as a name"
    if text.count("\n") > LONGEST:
        yield f"longer than {LONGEST} lines"
    if text.strip() and not ast.get_docstring(_parse(text)):
        yield "a module says in one line what it is"


def words_in_their_place(name: str, text: str) -> Faults:
    for pattern, homes in ONLY_IN.items():
        if name not in homes and re.search(pattern, text):
            yield f"{pattern} belongs in {sorted(homes) or 'no file'}"


def rules_that_are_switched_off_say_why(name: str, text: str) -> Faults:
    yield from (f"say why: {line.strip()}" for line in text.split("\n") if re.search(r"# noqa: S\d+\s*$", line))


def docstrings_are_plain(name: str, text: str) -> Faults:
    for node in _walk(text):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            first = (ast.get_docstring(node) or ".").split()[0].strip(",;:.")
            if first in RIDDLES:
                yield f"a docstring names its subject: {first} ... ({getattr(node, 'name', name)})"


def imports_no_tests(name: str, text: str) -> Faults:
    for node in _walk(text):
        if isinstance(node, ast.ImportFrom) and (node.module or "").rpartition(".")[2].startswith("test_"):
            yield f"what two tests need has a module of its own: {node.module}"


def session_first(name: str, text: str) -> Faults:
    for node in _walk(text):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            names = [each.arg for each in (*node.args.posonlyargs, *node.args.args) if each.arg not in {"self", "cls"}]
            if "session" in names[1:]:
                yield f"{node.name} takes the session as argument {names.index('session') + 1}"
            if "session" in [each.arg for each in node.args.kwonlyargs]:
                yield f"{node.name} takes the session by name"


def no_screen(name: str, text: str) -> Faults:
    if re.search(r"\bimport streamlit|\bfrom streamlit|\bst\.", text):
        yield "services know no screen"


IN_TESTS = [docstrings_are_plain, imports_no_tests]
EVERYWHERE = [size_and_name, words_in_their_place, rules_that_are_switched_off_say_why, docstrings_are_plain]
IN_SERVICES = [session_first, no_screen]
Rule = Callable[[str, str], Faults]


def offenders(paths: list[Path], rules_of: Callable[[Path], list[Rule]]) -> list[str]:
    """Name every file that breaks a rule, with the rule."""
    texts = ((path, path.read_text()) for path in paths)
    return [
        f"{path.relative_to(ROOT)}: {fault}"
        for path, text in texts
        for rule in rules_of(path)
        for fault in rule(path.name, text)
    ]


def test_every_file_keeps_the_manners() -> None:
    assert offenders(SOURCE, lambda path: EVERYWHERE + IN_SERVICES if path in INSIDE else EVERYWHERE) == []


def test_every_file_of_the_tests_keeps_theirs() -> None:
    assert offenders(TESTS, lambda _: IN_TESTS) == []


def fragments(sources: Mapping[str, str]) -> list[str]:
    """The files of fewer lines than SHORTEST that one other file alone imports."""
    modules = {name.removesuffix(".py").replace("/", ".").removesuffix(".__init__"): name for name in sources}
    importers: dict[str, set[str]] = defaultdict(set)
    for name, text in sources.items():
        for node in _walk(text):
            if isinstance(node, ast.ImportFrom) and node.module:
                for each in node.names:
                    full = f"{node.module}.{each.name}"
                    importers[modules.get(full if full in modules else node.module, "")].add(name)
    return [
        f"{name} has fewer than {SHORTEST} lines and only {importers[name].pop()} imports it: move it there"
        for name, text in sources.items()
        if text.count("\n") < SHORTEST and len(importers[name]) == 1 and not name.endswith("__init__.py")
    ]


def test_no_subject_is_in_fragments() -> None:
    found = fragments({str(path.relative_to(ROOT)): path.read_text() for path in SOURCE})
    assert [fault for fault in found if fault.split()[0] not in ALONE] == []
    assert len(found) == len(ALONE), "a fragment is gone: take it off the list"


def test_a_planted_fragment_is_refused() -> None:
    amounts, sale = {"core/sales/amounts.py": '"""Amounts."""\n'}, '"""A sale."""\nfrom core.sales import amounts\n'
    assert fragments(amounts | {"core/sales/sale.py": sale}) == [
        "core/sales/amounts.py has fewer than 60 lines and only core/sales/sale.py imports it: move it there"
    ]
    assert fragments(amounts | {"core/sales/sale.py": sale, "core/sales/refund.py": sale}) == []


def test_every_file_of_every_folder_is_read() -> None:
    folders = {path.parent for path in SERVICES}
    assert {path.parent for path in (ROOT / "core" / "services").rglob("__init__.py")} == folders
    assert len(folders) > 10


@every_case(
    ("rule", "name", "text"),
    [
        (size_and_name, "utils.py", '"""Odds and ends."""\n'),
        (size_and_name, "long.py", '"""Long."""\n' + "x = 1\n" * LONGEST),
        (size_and_name, "silent.py", "x = 1\n"),
        (words_in_their_place, "sales.py", "at = datetime.now(UTC)"),
        (words_in_their_place, "sales.py", "key = uuid4()"),
        (words_in_their_place, "sales.py", "session.commit()"),
        (words_in_their_place, "sales.py", "os.umask(0o077)"),
        (rules_that_are_switched_off_say_why, "sales.py", 'sa.text(f"SELECT {x}")  # noqa: S608'),
        (docstrings_are_plain, "sales.py", 'def total():\n    """What was sold."""'),
        (docstrings_are_plain, "sales.py", 'def total():\n    """When, how and by whom."""'),
        (imports_no_tests, "test_sales.py", "from tests.services.test_buying import buy"),
        (session_first, "sales.py", "def total(wanted, session): ..."),
        (session_first, "sales.py", "async def total(wanted, *, session): ..."),
        (session_first, "sales.py", "class Edge:\n    def __init__(self, wanted, session): ..."),
        (no_screen, "sales.py", "from streamlit import cache_data"),
        (no_screen, "sales.py", "st.write(1)"),
    ],
)
def test_a_planted_offender_is_refused(rule: Rule, name: str, text: str) -> None:
    assert list(rule(name, text))


@every_case(
    ("rule", "text"),
    [
        (session_first, "class Edge:\n    def __init__(self, session, wanted): ..."),
        (rules_that_are_switched_off_say_why, 'sa.text(f"SELECT {x}")  # noqa: S608 a name of ours'),
        (words_in_their_place, "at = clock.now()"),
    ],
)
def test_what_keeps_the_manners_is_let_by(rule: Rule, text: str) -> None:
    assert list(rule("sales.py", text)) == []
