"""Statements: the accounts of a month, and one with its lines, its files and its next step."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any, Final
from uuid import UUID

import streamlit as st

from core import clock, ids, money
from core.errors import InvalidInput, NotFound
from core.services.finance import parties
from core.services.finance.parties import Party
from core.services.finance.payments import payouts, settlement
from core.services.finance.payments import reading as payment_reading
from core.services.finance.payments.settlement import Balance
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements import statements
from core.services.finance.statements.files import Paper
from core.services.finance.statements.reading import StatementRow, StatementSummary
from core.services.lists.windows import Window
from core.services.people.staff import Person
from core.states.finance import StatementState, StatementTransition
from core.store.access import read_in, reading, store
from core.ui.frame import frame, page_links
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action, Naira, Text
from core.ui.lists import columns, export_panel, tables
from core.ui.lists.tables import Table
from pages.finance._shared import (
    ROLE,
    action,
    bank_answer,
    choose_month,
    count_states,
    describe_owed,
    downloads,
    lacks_withholding,
    lead_to_first,
    warn_of_withholding,
)

STATEMENTS: Table[StatementSummary] = Table(
    name="statements",
    noun=("account", "accounts"),
    opens="finance/statements.py#statement",
    narrow=("party", "account", "state", "closing"),
    key=lambda row: row.key,
    columns={
        "party": columns.text("Party", lambda row: row.name, 190),
        "account": columns.text("Account", lambda row: row.account_name, 110),
        "number": columns.text("Number", lambda row: row.number, 90),
        "state": columns.state("State", lambda row: row.state),
        "lines": columns.number("Lines", lambda row: row.lines),
        "opening": columns.naira("Opening", lambda row: row.opening_minor),
        "month": columns.naira("Of the month", lambda row: row.change_minor),
        "closing": columns.naira("Closing", lambda row: row.closing_minor),
    },
    unsorted="By account and party",
)
# The states to which many statements are moved together, each with the label of its button.
MOVES_OF_MANY: Final[Mapping[str, str]] = {
    StatementState.APPROVED: "Approve {}",
    StatementState.SENT: "Mark {} as sent",
}


def preparing_all(month: date) -> Action:
    """Return the dialog that prepares a month for every party that has something to state."""
    lacks = lacks_withholding(month)
    return action(
        title=f"Prepare the statements of {month:%B %Y}",
        icon="draw",
        says=warn_of_withholding(month)
        + "Each is frozen with the next number of its party and a hash. Somebody else of finance approves it."
        " A month of a hundred thousand movements takes about a minute.",
        confirm="Prepare them without withholding tax" if lacks else "Prepare them",
        items=lambda: ((name, party) for party, name, due in _list_due() if due == month),
        # The dialog has said so.
        work=lambda session, party, by: statements.prepare(session, party, month, by=by, without_withholding=lacks),
        done=lambda count: f"{words.counted(count, 'statement is', 'statements are')} prepared",
    )


def _list_due() -> Sequence[tuple[Party, str, date]]:
    with store().reading(frame.scope()) as session:
        return statements.list_due_months(session)


def moving_all(month: date, to: str, rows: Sequence[StatementRow]) -> Action:
    """Return the dialog that moves statements of a month to a state, with the sum of their balances."""
    label = MOVES_OF_MANY[to].format(words.count(len(rows)))
    return action(
        title=f"{label} of {month:%B %Y}",
        icon="task_alt",
        says="  \n".join(_add_up(rows, account) for account in ("distributor", "provider"))
        + f"\n\nEach becomes **{to}**.",
        confirm=label,
        items=lambda: ((f"{row.paper.number} of {row.paper.party}", row.id) for row in rows),
        work=lambda session, statement_id, by: statements.move(session, statement_id, to, by=by),
        done=lambda count: f"{words.counted(count, 'statement is', 'statements are')} {to.lower()}",
    )


def _add_up(rows: Sequence[StatementRow], account: str) -> str:
    closing = [row.paper.closing_minor for row in rows if row.paper.account == account]
    title = "Distributors" if account == "distributor" else "Insurers"
    return f"{title}: **{words.count(len(closing))}** statements, {describe_owed(closing)}."


def counted(rows: list[StatementSummary]) -> None:
    """Draw how many accounts stand in which state, and their balances behind the sentence."""
    states = count_states([row.state for row in rows])
    stated = [row for row in rows if row.closing_minor is not None]
    closing = f" · {describe_owed(row.closing_minor or 0 for row in stated)}" if stated else ""
    line = f"{STATEMENTS.count_text(len(rows))} · {states}{closing}"
    if not stated:
        # A draft changes with every sale: there is nothing to export yet.
        tables.head(line, STATEMENTS)
        return
    export_panel.offer(
        "statements",
        {"month": [f"{rows[0].month:%Y-%m}"]},
        rows=len(stated),
        sum_minor=sum(row.closing_minor or 0 for row in stated),
        line=line,
        table=STATEMENTS,
        sums=partial(draw_sums, stated),
        label="Export" if len(stated) == len(rows) else f"Export {words.count(len(stated))} stated",
    )


def draw_sums(stated: Sequence[StatementSummary]) -> None:
    names = ("opening_minor", "change_minor", "closing_minor")
    opening, change, closing = (words.naira(sum(getattr(row, name) for row in stated)) for name in names)
    st.caption(f"{words.count(len(stated))} stated: opening {opening} + of the month {change} = closing {closing}.")


def month_buttons(
    month: date, due: Sequence[date], movable: Mapping[str, Sequence[StatementRow]], person: Person
) -> None:
    """Draw what may be done with many statements at once; `due` are the months that each party is to be stated of."""
    if drafts := due.count(month):
        preparing_all(month).button(f"Prepare {drafts} of {month:%B %Y}", type="primary")
    for to, label in MOVES_OF_MANY.items():
        if movable[to]:
            moving_all(month, to, movable[to]).button(
                label.format(words.count(len(movable[to]))),
                type="secondary" if drafts else "primary",
                disabled=to == StatementState.APPROVED and not person.may_approve,
            )
    if movable[StatementState.APPROVED]:
        facts.show_resting(person)
    lead_to_first("finance/statements.py", due, month)


def draw() -> None:
    person = frame.require(ROLE)
    beside = frame.header_with_views(
        "Statements",
        "What each distributor and insurer is owed for a month: prepared by one person, approved by another.",
    )
    if not frame.mode():
        st.info("Statements are made of live records: switch to Live in the menu.", icon=":material/science:")
        return
    months = read_in(frame.scope(), statement_reading.list_months)
    with beside:
        month = choose_month(months, is_labelled=False)
    with st.skeleton(height=300), reading(frame.scope()) as session:
        stated = statement_reading.list_statements(session, month=month)
        rows = statement_reading.with_drafts(session, month, stated)
    movable = {to: statements.list_movable(stated, to, by=person) for to in MOVES_OF_MANY}
    for_another = statements.count_for_another(stated, by=person)
    is_over = Window.of_month(month).is_over
    with beside:
        month_buttons(month, [due for *_, due in _list_due()] if is_over else [], movable, person)
    actions.run()
    if not rows:
        st.info("No money moved in this month: there is nothing to state.", icon=":material/event_busy:")
        return
    if not is_over:
        st.caption("The month is not over yet: its drafts move with every sale, and are prepared when it is over.")
    counted(rows)
    if lacks_withholding(month):
        st.warning(
            f"No rate of withholding tax is on file for {month:%B %Y}: nothing is withheld of its commissions.",
            icon=":material/percent:",
        )
    if for_another:
        st.caption(
            f"You have prepared {words.count(for_another)} of them: somebody else of finance approves"
            f" {'it' if for_another == 1 else 'them'}."
        )
    tables.draw_held(STATEMENTS, rows)


_MONEY = ("premium", "commission", "net")


def paying(balance: Balance) -> Action:
    """Return the dialog that prepares a payout to one party, of all or a part."""
    return action(
        title=f"Pay {words.plain(balance.name)}",
        icon="payments",
        says=f"At most **{words.naira(balance.amount_minor)}**; the oldest statement is settled first.",
        fields=[Naira("amount", "Amount in naira", value=money.to_wire(balance.amount_minor))],
        confirm="Prepare the payout",
        work=lambda session, typed, by: payouts.prepare(session, {balance.party: _amount(typed["amount"])}, by=by),
        done="The payout is prepared: somebody else of finance approves it.",
        opens="finance/payout.py",
    )


def receiving(balance: Balance) -> Action:
    """Return the dialog that notes a payment received."""
    return action(
        title=f"Payment received from {words.plain(balance.name)}",
        icon="move_to_inbox",
        says=f"It owes **{words.naira(-balance.amount_minor)}** up to its newest statement.",
        fields=[Naira("amount", "Amount in naira", value=money.to_wire(-balance.amount_minor)), *bank_answer()],
        confirm="Note the payment",
        work=lambda session, typed, by: settlement.receive(session, balance.party, typed, by=by),
        done="The payment is noted: somebody else of finance confirms it.",
    )


def _amount(text: str) -> int:
    try:
        return money.to_minor(money.round_half_up(Decimal(text)))
    except (ArithmeticError, ValueError):
        raise InvalidInput.for_field("amount", "must be an amount in naira, such as 1,250.50") from None


def account(paper: Paper) -> None:
    """Draw the balances and what changed them, each a sum of lines."""
    with facts.card("**Account**"):
        for label, minor in paper.trailer:
            facts.line(label, words.naira(minor))
        st.caption("Owed to the platform, and carried forward." if paper.closing_minor < 0 else "Owed by the platform.")


def history(row: StatementRow) -> None:
    """Draw each step with its person, time and note, and what the statement rests on."""
    steps = read_in(frame.scope(), statement_reading.list_steps, row.id)
    with facts.card("**People and terms**"):
        for step in steps:
            note = f": {step.note}" if step.note else ""
            facts.line(step.name, f"{step.person}, {words.moment(step.at)}{note}")
        for label, value in row.paper.facts.get("said", {}).items():
            facts.line(label, str(value))


def build_lines(paper: Paper) -> Table[Any]:
    """Return the table of the lines of a statement; each leads to its movement, and from there to its purchase."""
    return Table(
        name="statement_lines",
        noun=("line", "lines"),
        opens="finance/movements.py#movement",
        home=("finance/statements.py#statement", "Back to the statement"),
        narrow=("number", "customer", "date", "net"),
        key=lambda line: line.movement_id,
        columns={
            "number": columns.text("Policy number", lambda line: line.policy_number or "No number yet", 165),
            "position": columns.number("No.", lambda line: line.position),
            "date": columns.day("Date", lambda line: line.occurred_at),
            "kind": columns.text("Transaction", lambda line: line.kind.capitalize(), 95),
            "customer": columns.text("Customer", lambda line: line.customer, 140),
            "product": columns.text("Product", lambda line: paper.names.get(line.product_id), 150),
            "premium": columns.naira("Premium", lambda line: line.premium_minor),
            "commission": columns.naira("Commission", lambda line: line.commission_minor),
            "net": columns.naira("Net", lambda line: line.net_minor),
        },
        unsorted="As on the paper",
    )


def lines(statement_id: UUID, paper: Paper) -> None:
    """Draw the first lines; the files have all of them."""
    if not paper.lines:
        return
    with reading(frame.scope()) as session:
        found = next(iter(statement_reading.batches_of(session, statement_id)), ())
        sums = statement_reading.sum_lines(session, statement_id)
    table = build_lines(paper)
    total = " · ".join(f"{name} {words.naira(minor)}" for name, minor in zip(_MONEY, sums, strict=True))
    tables.head(f"{table.count_text(paper.lines)} · {total}", table)
    tables.draw_held(table, found)
    if paper.lines > len(found):
        st.caption(
            f"The first {words.count(len(found))} lines. The total and the files are of all {words.count(paper.lines)}."
        )


def preparing(party: Party, month: date) -> Action:
    """Return the dialog that prepares one statement."""
    return action(
        title=f"Prepare {month:%B %Y}",
        icon="draw",
        says=f"{warn_of_withholding(month)}It is frozen with the next number of the party and a hash. Somebody else of"
        " finance approves it.",
        confirm="Prepare it without withholding tax" if lacks_withholding(month) else "Prepare it",
        work=lambda session, _, by: statements.prepare(session, party, month, by=by, without_withholding=True),
        done="The statement is prepared.",
    )


def moving(statement_id: UUID, number: str, step: StatementTransition) -> Action:
    """Return the dialog of one step of a statement."""
    is_settled = step.start is StatementState.DISPUTED
    reason = "How it was settled" if is_settled else "Reason"
    asks = "What is disputed" if step.to is StatementState.DISPUTED else reason
    return action(
        title=step.label,
        icon="task_alt",
        says=f"**{number}** becomes **{step.to}**.",
        fields=[Text("note", asks, longest=500)] if step.needs_note else (),
        work=lambda session, typed, by: statements.move(
            session, statement_id, step.to, by=by, note=typed.get("note", "")
        ),
        done=f"The dispute of {number} is settled." if is_settled else f"{number} is {step.to.lower()}.",
    )


def reversing(statement_id: UUID, number: str) -> Action:
    """Return the dialog that prepares the reversal of a statement."""
    return action(
        title="Reverse the statement",
        icon="undo",
        says=f"**{number}** becomes void by a statement with a number of its own, and its movements are stated again.",
        fields=[Text("reason", "Reason", longest=500)],
        confirm="Prepare the reversal",
        work=lambda session, typed, by: statements.reverse(session, statement_id, reason=typed["reason"], by=by),
        done=f"The reversal of {number} is prepared: somebody else of finance approves it.",
    )


def draft(account: str, given: str, month: date) -> None:
    """Draw what a party's month holds until now, and the button that freezes it."""
    try:
        party = Party("provider" if account == "provider" else "distributor", ids.parse(given))
        name = read_in(frame.scope(), parties.get_name, party)
    except (InvalidInput, NotFound):
        st.error("The address names no party.", icon=":material/link_off:")
        return
    frame.page_header(
        f"{words.plain(name)}, {month:%B %Y} {words.badge('Draft')}",
        "Not prepared yet: its figures change with every movement.",
        tab=f"{name} · Draft",
    )
    actions.run()
    rows = read_in(frame.scope(), statement_reading.list_month, month)
    for row in (each for each in rows if each.party == party and not each.statement_id):
        lines = f"**{words.count(row.lines)}** {'line' if row.lines == 1 else 'lines'}"
        st.markdown(f"{lines} · {words.naira(row.change_minor)} of the month, before taxes")
    page_links.link_to(
        "finance/movements.py",
        "Its movements of the month",
        "swap_vert",
        **{account: given, "from": str(month), "to": str(Window.of_month(month).last)},
    )
    due = read_in(frame.scope(), statements.find_due_month, party)
    if due and due < month:
        key = f"{account}.{given}.{due:%Y-%m}"
        page_links.link_to("finance/statements.py#statement", f"{due:%B %Y} comes first", "event_busy", id=key)
        return
    preparing(party, month).button("Prepare it", type="primary")


def buttons(row: StatementRow, person: Person) -> None:
    with reading(frame.scope()) as session:
        steps = statements.list_allowed(session, row.id, person)
        is_reversible = statements.can_reverse(session, row.id)
    for step in steps:
        look = "primary" if step.to in (StatementState.APPROVED, StatementState.SENT) else "secondary"
        actions.button(step.label, moving(row.id, row.paper.number, step), type=look)
    if is_reversible:
        reversing(row.id, row.paper.number).button("Reverse")


def payments(row: StatementRow, person: Person) -> None:
    """Draw what is due until this statement if it is the newest that was sent, and every payment that settles it."""
    with reading(frame.scope()) as session:
        balance = settlement.get_balance(session, row.party)
        hindrance = payouts.find_hindrances(session, [balance], person).get(balance.party)
        found = payment_reading.list_of_statement(session, row.id)
    if balance.newest and balance.newest.statement_id == row.id and balance.amount_minor:
        owed = "by the platform" if balance.amount_minor > 0 else "to the platform"
        st.markdown(f"**{words.naira(abs(balance.amount_minor))}** is due {owed}, with what was carried forward.")
        if hindrance is None:
            paying(balance).button("Pay it out")
        elif balance.amount_minor < 0 and not balance.hindrance:
            receiving(balance).button("Note a payment received")
        else:
            st.caption(f"Cannot be paid out now: {words.plain(hindrance)}.")
    for payment in found:
        page_links.link_to(
            "finance/payments.py#payment",
            f"{payment.state}: {words.naira(payment.net_minor)}, {payment.bank_reference or payment.batch or ''}",
            "payments",
            id=str(payment.id),
        )


def whole(row: StatementRow, person: Person) -> None:
    paper = row.paper
    with frame.header_with_buttons(
        f"{paper.number} {words.badge(paper.state)}",
        f"{paper.title} of {words.plain(paper.party)}, {paper.month:%B %Y}",
        tab=f"{paper.number} {paper.party} · Statement",
    ):
        buttons(row, person)
    actions.run()
    with reading(frame.scope()) as session:
        facts.own_interest(parties.list_own_staff(session, row.party))
        facts.lapsed_approval(statements.find_lapse(session, row.id))
    if paper.reverses:
        st.info(f"It reverses {paper.reverses} as a whole: {words.plain(row.note)}", icon=":material/undo:")
    with st.grid(2, min_column_width=320, gap="small"):
        account(paper)
        history(row)
    downloads(f"/statements/{row.id}", "pdf", "xlsx", "csv")
    payments(row, person)
    lines(row.id, paper)
    st.caption(f"Statement {row.id} · SHA-256 {paper.sha256}")


def month_of(given: str) -> date:
    try:
        return date.fromisoformat(f"{given}-01")
    except ValueError:
        return clock.add_months(clock.today().replace(day=1), -1)


def draw_statement() -> None:
    person = frame.require(ROLE)
    tables.back_link("statements", "finance/statements.py", "Back to the statements")
    given = st.query_params.get("id", "")
    account, _, rest = given.partition(".")
    if rest:
        draft(account, rest.partition(".")[0], month_of(rest.partition(".")[2]))
        return
    whole(page_links.load_record("statement", statement_reading.get_statement, is_of_mode=True), person)
