"""Generator of the transition tables in docs/claims.md, which clause C5 of the contract refers to."""

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from core.services.claims.intake import requirements
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


def _reasons() -> str:
    return "\n".join(f"- {reason}" for reason in requirements.DECLINE_REASONS)


def _clock() -> str:
    return _table(
        ["Status", f"The {STATUTORY_PERIOD.days} days"],
        ([status, RULES[status].clock.value] for status in ClaimStatus),
    )


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


_TABLES: Final[Mapping[str, Callable[[], str]]] = {
    "moves": _moves,
    "needs": _needs,
    "reasons": _reasons,
    "clock": _clock,
}

if __name__ == "__main__":
    DOCS_PAGE.write_text(fill_tables(DOCS_PAGE.read_text()))
