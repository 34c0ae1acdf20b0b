"""The tour of the code: every file that it links exists, and defines every function that is named after the link."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from core.settings import ROOT
from tests.every_case import every_case

TOUR = ROOT / "docs" / "tour.md"
_LINK = re.compile(r"\]\(([^)]+)\)")
_CALL = re.compile(r"`([\w.]+)\(\)`")


def stops(page: str) -> list[tuple[str, list[str]]]:
    """Each link of a page, with the functions that are named between it and the next one."""
    _, *rest = _LINK.split(page)
    return [(link, _CALL.findall(text)) for link, text in zip(rest[::2], rest[1::2], strict=True)]


def defined(path: Path) -> set[str]:
    """The functions of a module and the methods of its classes, as `function` and `Class.method`."""
    return set(_functions(ast.parse(path.read_text())))


def _functions(body: ast.Module | ast.ClassDef, prefix: str = "") -> Iterator[str]:
    for node in body.body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield prefix + node.name
        elif isinstance(node, ast.ClassDef):
            yield from _functions(node, f"{node.name}.")


STOPS = stops(TOUR.read_text())


@every_case(("link", "functions"), STOPS, ids=[f"{n} {link}" for n, (link, _) in enumerate(STOPS, 1)])
def test_every_stop_of_the_tour_is_in_the_code(link: str, functions: list[str]) -> None:
    path = (TOUR.parent / link).resolve()
    assert path.is_file()
    assert set(functions) - defined(path) == set()


def test_every_function_is_named_after_a_link() -> None:
    page = TOUR.read_text()
    assert sorted(name for _, names in STOPS for name in names) == sorted(_CALL.findall(page))
    assert len(STOPS) > 30


def test_the_tour_stays_short() -> None:
    assert TOUR.read_text().count("\n") <= 80


def test_a_function_that_is_gone_is_noticed() -> None:
    ((link, functions),) = stops("[settings](../core/settings.py), `settings()`, `nowhere()`")
    assert set(functions) - defined(TOUR.parent / link) == {"nowhere"}
