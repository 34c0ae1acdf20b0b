"""Preparing statements, moving one on, and reversing one: each confirmed in a dialog."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import partial
from typing import Final
from uuid import UUID

from core.errors import NotAllowed, StateForbids
from core.services.finance import tax
from core.services.finance.parties import Party
from core.services.finance.statements import preparing as statements
from core.services.finance.statements import states as statement_states
from core.services.finance.statements.reading import StatementRow
from core.states.statements import StatementState, StatementTransition
from core.store.access import ScopedSession, store, transact
from core.ui.finance.finance_writes import ROLE, made, submitted
from core.ui.frame import frame
from core.ui.kit import dialogs, words
from core.ui.kit.dialogs import Decision

# The states to which many statements are moved together, each with the label of its button.
MOVES_OF_MANY: Final[Mapping[str, str]] = {
    StatementState.APPROVED: "Approve {}",
    StatementState.SENT: "Mark {} as sent",
}


def lacks_withholding(month: date) -> bool:
    """Return True for a month for which no rate of withholding tax is on file."""
    with store().reading(frame.scope()) as session:
        return tax.lacks_withholding(session, month)


def _warn(month: date) -> str:
    """Return what a dialog says before a month without a rate is stated."""
    said = f"**No rate of withholding tax is on file for {month:%B %Y}: nothing is withheld of the commissions.**\n\n"
    return said if lacks_withholding(month) else ""


def preparing_all(month: date) -> Decision:
    """Return the dialog that prepares a month for every party that has something to state."""

    def act() -> str:
        done, refusals = prepare_month(month)
        return _tell(f"{words.count(done)} statements are prepared", done, refusals)

    return Decision(
        title=f"Prepare the statements of {month:%B %Y}",
        icon="draw",
        says=_warn(month)
        + "Each is frozen with the next number of its party and a hash. Somebody else of finance approves it."
        " A month of a hundred thousand movements takes about a minute.",
        confirm="Prepare them without withholding tax" if lacks_withholding(month) else "Prepare them",
        act=act,
    )


def prepare_month(month: date) -> tuple[int, list[str]]:
    """Prepare every statement of a month that is due, one transaction each; the number made, and the refusals."""
    by = frame.require(ROLE)
    with store().reading(frame.scope()) as session:
        due = statements.list_due(session, month)
    # The dialog has said so.
    work = partial(statements.prepare, month=month, by=by, without_withholding=lacks_withholding(month))
    return _run_each((name, partial(work, party=party)) for party, name in due)


def moving_all(month: date, to: str, rows: Sequence[StatementRow]) -> Decision:
    """Return the dialog that moves statements of a month to a state, with the sum of their balances."""
    label = MOVES_OF_MANY[to].format(words.count(len(rows)))

    def act() -> str:
        by = frame.require(ROLE)
        done, refusals = _run_each(
            (
                f"{row.paper.number} of {row.paper.party}",
                partial(statement_states.move, statement_id=row.id, to=to, by=by),
            )
            for row in rows
        )
        return _tell(f"{words.count(done)} statements are {to.lower()}", done, refusals)

    return Decision(
        title=f"{label} of {month:%B %Y}",
        icon="task_alt",
        says="  \n".join(_add_up(rows, account) for account in ("distributor", "provider"))
        + f"\n\nEach becomes **{to}**.",
        confirm=label,
        act=act,
    )


def _add_up(rows: Sequence[StatementRow], account: str) -> str:
    closing = [row.paper.closing_minor for row in rows if row.paper.account == account]
    title = "Distributors" if account == "distributor" else "Insurers"
    return f"{title}: **{words.count(len(closing))}** statements, closing at **{words.naira(sum(closing))}** together."


def _run_each(works: Iterable[tuple[str, Callable[[ScopedSession], object]]]) -> tuple[int, list[str]]:
    """Run named works, one transaction each; the number done, and the refusals with their names."""
    done, refusals = 0, []
    for name, work in works:
        try:
            transact(frame.scope(), work)
            done += 1
        except (NotAllowed, StateForbids) as refusal:
            refusals.append(f"{name}: {refusal}")
    return done, refusals


def _tell(sentence: str, done: int, refusals: Sequence[str]) -> str:
    if not done and refusals:
        raise StateForbids(refusals[0])
    verb = "was" if len(refusals) == 1 else "were"
    return f"{sentence}.{f' {len(refusals)} {verb} not: {refusals[0]}.' if refusals else ''}"


def preparing(party: Party, month: date) -> Decision:
    """Return the dialog that prepares one statement."""
    return Decision(
        title=f"Prepare {month:%B %Y}",
        icon="draw",
        says=f"{_warn(month)}It is frozen with the next number of the party and a hash. Somebody else of finance"
        " approves it.",
        confirm="Prepare it without withholding tax" if lacks_withholding(month) else "Prepare it",
        act=lambda: made(
            lambda session, by: statements.prepare(session, party, month, by=by, without_withholding=True),
            "The statement is prepared.",
        ),
    )


def moving(statement_id: UUID, number: str, step: StatementTransition) -> Decision:
    """Return the dialog of one step of a statement."""

    def act() -> str:
        note = dialogs.get_values("note")["note"] if step.needs_note else ""
        return made(
            lambda session, by: statement_states.move(session, statement_id, step.to, by=by, note=note),
            f"{number} is {step.to.lower()}.",
        )

    return Decision(
        title=step.label,
        icon="task_alt",
        says=f"**{number}** becomes **{step.to}**.",
        asks=(lambda: dialogs.field("note", "Why", longest=500)) if step.needs_note else None,
        confirm=step.label,
        act=act,
    )


def reversing(statement_id: UUID, number: str) -> Decision:
    """Return the dialog that prepares the reversal of a statement."""

    return Decision(
        title="Reverse the statement",
        icon="undo",
        says=f"**{number}** becomes void by a statement with a number of its own, and its movements are stated again.",
        asks=lambda: dialogs.field("reason", "Reason", longest=500),
        confirm="Prepare the reversal",
        act=submitted(
            ("reason",),
            lambda session, typed, by: statements.reverse(session, statement_id, reason=typed["reason"], by=by),
            f"The reversal of {number} is prepared: somebody else of finance approves it.",
        ),
    )
