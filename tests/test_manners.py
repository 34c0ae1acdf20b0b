"""The manners of the house, read off its source: what no linter of ours says already."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = sorted([*ROOT.glob("core/**/*.py"), *ROOT.glob("pages/**/*.py"), ROOT / "app.py"])
SERVICES = sorted(ROOT.glob("core/services/*.py"))
GENERATED = {"0001_the_first_store.py"}
BANNED = {"utils", "helpers", "common", "manager", "base", "misc", "types", "constants"}
ONLY_IN = {
    r"datetime\.now\(|date\.today\(|time\.time\(": {"clock.py", "auth.py"},
    r"\buuid4\(|\buuid1\(": set(),
    r"unsafe_allow_html": set(),
    r"\.commit\(": {"engine.py", "one_writer.py"},
    r"(?<![.\w])print\(": set(),
    # Elsewhere it would miss what was put off.
    r"\.driver_connection": {"spoken.py"},
}


def named(paths: list[Path]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("path", paths, ids=lambda p: str(p.relative_to(ROOT)))


@named(SOURCE)
def test_file_is_short_and_says_what_it_is(path: Path) -> None:
    text = path.read_text()
    assert path.stem not in BANNED
    assert path.name in GENERATED or text.count("\n") <= 300
    assert not text.strip() or ast.get_docstring(ast.parse(text)), "a module says in one line what it is"


@named(SOURCE)
def test_words_stand_only_where_they_belong(path: Path) -> None:
    text = path.read_text()
    for pattern, homes in ONLY_IN.items():
        if path.name not in homes:
            assert not re.search(pattern, text), f"{pattern} belongs in {sorted(homes) or 'no file'}"


@named(SERVICES)
def test_services_take_the_session_first(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.FunctionDef):
            names = [argument.arg for argument in (*node.args.posonlyargs, *node.args.args)]
            if "session" in names:
                assert names[0] == "session", f"{node.name} takes the session as argument {names.index('session') + 1}"
            assert "session" not in [argument.arg for argument in node.args.kwonlyargs]


@named(SERVICES)
def test_services_know_no_screen(path: Path) -> None:
    assert not re.search(r"\bimport streamlit|\bst\.", path.read_text())
