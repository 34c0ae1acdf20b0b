"""Preparing statements, moving one on, and reversing one: each confirmed in a dialog."""

from datetime import date
from functools import partial
from uuid import UUID

from core.errors import StateForbids
from core.services.finance.parties import Party
from core.services.finance.statements import preparing as statements
from core.services.finance.statements import states as statement_states
from core.services.finance.statements.states import Transition
from core.store.access import store, transact
from core.ui.finance.finance_writes import ROLE, made, submitted
from core.ui.frame import frame
from core.ui.kit import dialogs
from core.ui.kit.dialogs import Decision


def preparing_all(month: date) -> Decision:
    """Return the dialog that prepares a month for every party that has something to state."""

    def act() -> str:
        done, refusals = prepare_month(month)
        if not done and refusals:
            raise StateForbids(refusals[0])
        rest = f" {len(refusals)} were not: {refusals[0]}." if refusals else ""
        return f"{done} statements are prepared.{rest}"

    return Decision(
        title=f"Prepare the statements of {month:%B %Y}",
        icon="draw",
        says="Each is frozen with the next number of its party and a hash. Somebody else of finance approves it."
        " A month of a hundred thousand movements takes about a minute.",
        confirm="Prepare them",
        act=act,
    )


def prepare_month(month: date) -> tuple[int, list[str]]:
    """Prepare every statement of a month that is due, one transaction each; the number made, and the refusals."""
    by, scope, done, refusals = frame.require(ROLE), frame.scope(), 0, []
    with store().reading(scope) as session:
        due = statements.list_due(session, month)
    for party, name in due:
        try:
            transact(scope, partial(statements.prepare, party=party, month=month, by=by))
            done += 1
        except StateForbids as refusal:
            refusals.append(f"{name}: {refusal}")
    return done, refusals


def preparing(party: Party, month: date) -> Decision:
    """Return the dialog that prepares one statement."""
    return Decision(
        title=f"Prepare {month:%B %Y}",
        icon="draw",
        says="It is frozen with the next number of the party and a hash. Somebody else of finance approves it.",
        confirm="Prepare it",
        act=lambda: made(
            lambda session, by: statements.prepare(session, party, month, by=by), "The statement is prepared."
        ),
    )


def moving(statement_id: UUID, number: str, step: Transition) -> Decision:
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
