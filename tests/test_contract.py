"""The contract's index names every page with its clauses, and no page of docs/ has a link that leads nowhere."""

import re
from pathlib import Path

from core.settings import ROOT

DOCS = Path(ROOT, "docs")
PAGES = sorted(DOCS.glob("contract/*.md"))
INDEX = DOCS / "contract.md"


def test_the_index_names_each_page_with_its_clauses() -> None:
    rows = dict(re.findall(r"^\| \[[^]]+\]\(contract/(\w+)\.md\) \| (\w+ to \w+) \|", INDEX.read_text(), re.MULTILINE))
    assert rows == {page.stem: clauses_of(page.read_text()) for page in PAGES}


def clauses_of(text: str) -> str:
    """Return the first and the last clause of a page: "E1 to E7"."""
    found = {(letter, int(number)) for letter, number in re.findall(r"^\*\*([A-Z])(\d+)\b", text, re.MULTILINE)}
    (letter,) = {letter for letter, _ in found}
    numbers = sorted(number for _, number in found)
    assert numbers == list(range(1, len(numbers) + 1)), f"{letter} has gaps: {numbers}"
    return f"{letter}1 to {letter}{numbers[-1]}"


def test_every_link_between_pages_leads_somewhere() -> None:
    pages = [*DOCS.rglob("*.md"), *(Path(ROOT, name) for name in ("README.md", "CONTRIBUTING.md", "SECURITY.md"))]
    links = [(page, link) for page in pages for link in re.findall(r"\]\((?!https?:|#|/)([^)#]+)", page.read_text())]
    assert [f"{page.name}: {link}" for page, link in links if not (page.parent / link).exists()] == []
