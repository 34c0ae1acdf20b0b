"""docs/claims.md: its tables are those of the transitions (contract C5); `--golden` writes them anew."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from core.services.claims.intake import submitted
from core.services.claims.workflow.clock import STATUTORY_PERIOD
from core.settings import ROOT
from core.states.claims import RULES, SUPERVISOR, TRANSITIONS, ClaimStatus, ClaimTransition

DOCS_PAGE: Final = ROOT / "docs" / "claims.md"


def fill_tables(page: str) -> str:
    """Return a page with the tables filled in between their markers, `<!-- moves -->` to `<!-- end of moves -->`."""
    for name, table in _TABLES.items():
        end = f"<!-- end of {name} -->"
        before, start, rest = page.partition(f"<!-- {name} -->\n")
        page = f"{before}{start}{table()}\n{end}{rest.partition(end)[2]}"
    return page


def _moves() -> str:
    rows = ([f"**{start}**", *(_cell(start, to) for to in ClaimStatus)] for start in ClaimStatus)
    return _table(["From \\ to", *ClaimStatus], rows)


def _cell(start: str, to: str) -> str:
    move = TRANSITIONS.find(start, to)
    if move is None:
        return ""
    return "supervisor" if SUPERVISOR in move.needs else "yes"


def _needs() -> str:
    fields_by_need = {
        (_describe_transition(move), need.words): need.field for move in TRANSITIONS for need in move.needs
    }
    rows = ([who, words, f"`{field}`" if field else ""] for (who, words), field in fields_by_need.items())
    return _table(["Move", "Needs", "Typed as"], rows)


def _describe_transition(move: ClaimTransition) -> str:
    return f"{move.start} to {move.to}" if SUPERVISOR in move.needs else f"to {move.to}"


def _clock() -> str:
    rows = ([status, RULES[status].clock.value] for status in ClaimStatus)
    return _table(["Status", f"The {STATUTORY_PERIOD.days} days"], rows)


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


_TABLES: Final[Mapping[str, Callable[[], str]]] = {
    "moves": _moves,
    "needs": _needs,
    "reasons": lambda: "\n".join(f"- {reason}" for reason in submitted.DECLINE_REASONS),
    "clock": _clock,
}


def test_page_says_what_the_code_does(golden_is_rewritten: bool) -> None:
    if golden_is_rewritten:
        DOCS_PAGE.write_text(fill_tables(DOCS_PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    page = DOCS_PAGE.read_text(encoding="utf-8")
    assert "| **Pending** |" in page
    assert fill_tables(page) == page, "run: pytest tests/services/test_claims_page.py --golden"
