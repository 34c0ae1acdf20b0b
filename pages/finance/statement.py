"""One statement: its account, its lines, its files, and what may be done with it now."""

from datetime import date

import streamlit as st

from core import clock, ids
from core.errors import InvalidInput, NotFound
from core.services.finance import parties
from core.services.finance.parties import Party
from core.services.finance.payments import balances, batches
from core.services.finance.payments import reading as payment_reading
from core.services.finance.statements import preparing as statements
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements import states as statement_states
from core.services.finance.statements.reading import StatementRow
from core.services.people.staff import Person
from core.states.statements import StatementState
from core.store.access import reading
from core.ui.finance import payment_actions, statement_actions, statement_cards
from core.ui.finance.finance_writes import ROLE
from core.ui.frame import frame, page_links, record_pages
from core.ui.kit import dialogs, facts, words
from core.ui.lists import tables


def draft(account: str, given: str, month: date) -> None:
    """Draw what a party's month holds until now, and the button that freezes it."""
    try:
        party = Party("provider" if account == "provider" else "distributor", ids.parse(given))
        with reading(frame.scope()) as session:
            name = parties.get_name(session, party)
    except (InvalidInput, NotFound):
        st.error("The address names no party.", icon=":material/link_off:")
        return
    frame.page_header(
        f"{words.plain(name)}, {month:%B %Y} {words.badge('Draft')}",
        "Not prepared yet: its figures move with every movement.",
        tab=f"{name} · Draft",
    )
    dialogs.run(ROLE)
    page_links.link(
        "finance/movements.py",
        label="Its movements of the month",
        icon=":material/swap_vert:",
        query_params={
            account: given,
            "from": str(month),
            "to": str(clock.add_days(clock.add_months(month, 1), -1)),
            **frame.mode_query(),
        },
    )
    dialogs.button("Prepare it", statement_actions.preparing(party, month), is_primary=True, icon=":material/draw:")


def buttons(row: StatementRow, person: Person) -> None:
    with reading(frame.scope()) as session:
        steps = statement_states.list_allowed(session, row.id, person)
        is_reversible = statements.can_reverse(session, row.id)
    for step in steps:
        dialogs.button(
            step.label,
            statement_actions.moving(row.id, row.paper.number, step),
            is_primary=step.to in (StatementState.APPROVED, StatementState.SENT),
        )
    if is_reversible:
        dialogs.button("Reverse", statement_actions.reversing(row.id, row.paper.number), icon=":material/undo:")


def payments(row: StatementRow) -> None:
    """Draw what is due until this statement if it is the newest that was sent, and every payment that settles it."""
    with reading(frame.scope()) as session:
        balance = balances.get_balance(session, row.party)
        hindrance = batches.hindrance_of(session, balance)
        found = payment_reading.list_of_statement(session, row.id)
    if balance.newest and balance.newest.statement_id == row.id and balance.amount_minor:
        owed = "by the platform" if balance.amount_minor > 0 else "to the platform"
        st.markdown(f"**{words.naira(abs(balance.amount_minor))}** is due {owed}, with what was carried.")
        if hindrance is None:
            decision = payment_actions.paying(balance)
            dialogs.button("Pay it out", decision, icon=":material/payments:")
        elif balance.amount_minor < 0 and not balance.hindrance:
            decision = payment_actions.receiving(balance)
            label = "Note a payment received"
            dialogs.button(label, decision, icon=":material/move_to_inbox:")
        else:
            st.caption(f"It is not paid out now: {words.plain(hindrance)}.")
    for payment in found:
        page_links.link(
            "finance/payment.py",
            label=f"{payment.state}: {words.naira(payment.net_minor)}, {payment.bank_reference or payment.batch or ''}",
            icon=":material/payments:",
            query_params={"id": str(payment.id), **frame.mode_query()},
        )


def whole(row: StatementRow, person: Person) -> None:
    paper = row.paper
    with frame.header_with_buttons(
        f"{paper.number} {words.badge(paper.state)}",
        f"{paper.title} of {words.plain(paper.party)}, {paper.month:%B %Y}",
        tab=f"{paper.number} {paper.party} · Statement",
    ):
        buttons(row, person)
    dialogs.run(ROLE)
    with reading(frame.scope()) as session:
        facts.own_interest(parties.list_own_staff(session, row.party))
        facts.lapsed_approval(statement_states.find_lapse(session, row.id))
    if paper.reverses:
        st.info(f"It reverses {paper.reverses} as a whole: {words.plain(row.note)}", icon=":material/undo:")
    with st.grid(2, min_column_width=320, gap="small"):
        statement_cards.account(paper)
        statement_cards.history(row)
    statement_cards.files(row)
    payments(row)
    statement_cards.lines(row.id, paper)
    st.caption(f"Statement {row.id}")


def month_of(given: str) -> date:
    try:
        return date.fromisoformat(f"{given}-01")
    except ValueError:
        return clock.add_months(clock.today().replace(day=1), -1)


def draw() -> None:
    person = frame.require(ROLE)
    tables.back_link("statements", "finance/statements.py", "Back to the statements")
    given = st.query_params.get("id", "")
    account, _, rest = given.partition(".")
    if rest:
        draft(account, rest.partition(".")[0], month_of(rest.partition(".")[2]))
        return
    whole(record_pages.load("statement", statement_reading.get_statement, is_of_mode=True), person)
