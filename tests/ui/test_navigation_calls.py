"""Nobody leads a person on by the call that makes two entries in the browser's history."""

import ast
import re
from pathlib import Path

from core.settings import ROOT
from tests.every_case import every_case

SCREENS = [
    path for folder in ("pages", "core/ui") for path in Path(ROOT, folder).rglob("*.py") if path.name != "page_links.py"
]
REFUSED = {"switch_page", "dataframe", "page_link"}
PLANTED = 'import streamlit as st\nst.switch_page("sales/purchases.py#purchase", query_params={"id": "1"})\n'


def offenders(source: str) -> list[int]:
    """The lines that call st.switch_page, draw records with st.dataframe, or link to a page past `page_links.link`."""
    calls = (node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Call))
    named = ((node.lineno, node.func) for node in calls)
    return [line for line, func in named if isinstance(func, ast.Attribute) and func.attr in REFUSED]


def test_a_planted_offender_is_found() -> None:
    assert offenders(PLANTED) == [2]


@every_case("path", SCREENS, ids=lambda path: str(path.relative_to(ROOT)))
def test_records_are_listed_and_opened_in_one_way(path: Path) -> None:
    assert offenders(path.read_text()) == []


@every_case("path", sorted(Path(ROOT, "core/ui/browser").glob("*.js")), ids=lambda path: path.name)
def test_our_scripts_set_text_as_text(path: Path) -> None:
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b", path.read_text())
