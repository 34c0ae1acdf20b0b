"""Closed months of the demonstration, a reconciliation with every kind of difference, and credit notes on their way."""

from collections.abc import Sequence
from datetime import date, timedelta
from typing import Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.desk import closing
from core.errors import StateForbids
from core.services.finance import journal, parties
from core.services.finance.credit_notes import deciding
from core.services.finance.credit_notes import reading as credit_note_reading
from core.services.finance.reconciling import differences, matching, reconciliations
from core.services.finance.reconciling.matching import Entry
from core.services.lists.windows import Window
from core.services.people import staff
from core.states.finance import CreditNoteState, MonthState
from core.store.access import ScopedSession
from core.store.schema.tables import Reconciliation

_MAKER, _CHECKER = "finance@coverdesk.example", "second.finance@coverdesk.example"
_CLOSED_ON: Final = 14
_NOTE: Final = "Looked at all of it with the head of finance"
_COLUMNS: Final = {"policy_number": "Policy No", "amount": "Net", "date": "Date", "rate": "Rate %"}
# The newest months stay open: one waits for approval, one has a statement in dispute.
_OPEN_MONTHS: Final = 2
_TIMING_DAYS: Final = 5


def close_month(session: ScopedSession, month: date) -> None:
    """Close a month of the past by two people; its papers were all made by then, so that its check list is empty.

    One that somebody has begun to close, closed or reopened is left as it is.
    """
    is_recent = month >= clock.add_months(clock.today().replace(day=1), -_OPEN_MONTHS)
    if is_recent or journal.list_steps(session, month):
        return
    maker, checker = staff.get_by_email(session, _MAKER), staff.get_by_email(session, _CHECKER)
    closed_at = clock.lagos_midnight(clock.add_days(clock.add_months(month, 1), _CLOSED_ON - 1))
    with clock.freeze(closed_at):
        closing.add_step(session, month, MonthState.CLOSING, by=maker)
    with clock.freeze(closed_at + timedelta(hours=2)):
        digest = journal.hash_of(session, month)
        closing.add_step(session, month, MonthState.CLOSED, by=checker, note=_NOTE, sha256=digest, facts={})


def settle(session: ScopedSession) -> None:
    """Compare a file with our records and give premiums back, once: not where any file was compared before."""
    if not session.execute(sa.select(col(Reconciliation.id)).limit(1)).first():
        reconcile(session)
        give_back(session)


def reconcile(session: ScopedSession) -> None:
    """Compare the file of an insurer that differs in every way with one of the months that are over and open."""
    maker = staff.get_by_email(session, _MAKER)
    window, provider_id, ours = _find_largest(session)
    month, content = window.start, build_file(ours, window)
    if content is None:
        return
    typed = {"kind": "insurer", "month": str(month), "file_name": f"account-{month:%Y-%m}.csv", "columns": _COLUMNS}
    made = reconciliations.run(session, typed, content, by=maker, provider_id=provider_id)
    first, second, *_ = reconciliations.list_differences(session, made)
    for row in (first, second):
        cause = {"cause": "Wrong amount of theirs", "note": "They were told by e-mail"}
        differences.explain(session, row.id, cause, by=maker)
    differences.ask_write_off(session, second.id, by=maker)


def build_file(ours: Sequence[Entry], window: Window) -> bytes | None:
    """Return our entries as an insurer might have them: an amount, a rate, a missing and an unknown policy differ.

    The sales of the last days come too late for them; None where there are too few entries.
    """
    late = clock.add_days(window.end, -_TIMING_DAYS)
    single = [entry for entry in ours if entry.key and entry.on and sum(each.key == entry.key for each in ours) == 1]
    early = [entry for entry in single if entry.on and entry.on < late and entry.amount_minor > 0]
    if len(early) < 4:
        return None
    wrong, rated, missing = (entry.subject for entry in early[:3])
    rows = ["Policy No,Net,Date,Rate %", f"UNKNOWN/{window.start:%Y%m},12500.00,{window.start},20.00"]
    for entry in early:
        minor = entry.amount_minor + (100_000 if entry.subject in (wrong, rated) else 0)
        rate = (entry.rate_bp or 0) + (250 if entry.subject == rated else 0)
        if entry.subject != missing:
            rows.append(f"{entry.label},{money.to_wire(minor)},{entry.on},{money.to_wire(rate)}")
    return "\r\n".join(rows).encode()


def give_back(session: ScopedSession) -> None:
    """Pay the credit notes, but for the youngest: one is approved, one computed, and the bank returned one."""
    maker, checker = staff.get_by_email(session, _MAKER), staff.get_by_email(session, _CHECKER)
    today = str(clock.today())
    for place, row in enumerate(credit_note_reading.list_unpaid(session, clock.now())):
        if place == 1:
            continue
        try:
            account = {"payee_bank": "Demo Bank", "payee_account": f"{place:010d}"}
            state = deciding.approve(session, row.id, account, by=maker)
        except StateForbids:  # A claim holds it, or has used the term up.
            continue
        if state != CreditNoteState.APPROVED or place == 0:
            continue
        answer = {"payee": row.customer, "bank_reference": f"DEMO/CN/{row.id.hex}", "value_on": today}
        deciding.pay(session, row.id, answer, by=checker)
        if place == 2:
            returned = {"returned_on": today, "reason": "The account does not exist"}
            deciding.return_payment(session, row.id, returned, by=maker)


def _find_largest(session: ScopedSession) -> tuple[Window, UUID, Sequence[Entry]]:
    """Return the open month and insurer with the most movements; one with a movement without a number comes first."""
    this_month = clock.today().replace(day=1)
    windows = [Window.of_month(clock.add_months(this_month, -back)) for back in range(1, _OPEN_MONTHS + 1)]
    listed = [
        (window, key, matching.list_movements(session, key, window, amount_is="net", by_transaction=False))
        for window in windows
        for key, _ in parties.list_insurers(session)
    ]
    return max(listed, key=lambda each: (any(not entry.key for entry in each[2]), len(each[2])))
