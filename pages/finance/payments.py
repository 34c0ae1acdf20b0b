"""Payments: what is due with each party, the payments and the payouts; and one payment with what it settles."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial

import streamlit as st

from core.services.finance import parties
from core.services.finance.parties import Party
from core.services.finance.payments import payouts, settlement
from core.services.finance.payments import reading as payment_reading
from core.services.finance.payments.reading import BatchRow, PaymentFilter, PaymentRow
from core.services.finance.payments.settlement import Balance, Due
from core.services.lists.dimensions import load_choices
from core.services.lists.paging import Paging
from core.services.people.staff import Person
from core.states.finance import BatchState, PaymentState
from core.store.access import read_in, reading
from core.ui.frame import frame, page_links
from core.ui.kit import actions, facts, url_state, words
from core.ui.kit.actions import Action, Text
from core.ui.lists import columns, export_panel, filter_bar, tables
from core.ui.lists.tables import Table
from pages.finance import _taxes
from pages.finance._shared import (
    ROLE,
    action,
    bank_answer,
    bank_return,
    describe_owed,
)

MOST = 200

VIEWS = {"due": "Due", "payments": "Payments", "payouts": "Payouts", "taxes": "Taxes"}


def preparing(found: Sequence[Balance]) -> Action:
    """Return the dialog that prepares a batch of everything that can be paid out."""
    total = sum(balance.amount_minor for balance in found)
    chosen: dict[Party, int | None] = {balance.party: None for balance in found}
    return action(
        title="Prepare a payout",
        icon="payments",
        says=f"**{words.naira(total)}** to {len(found)} {'party' if len(found) == 1 else 'parties'}, each all that is"
        " due up to its newest statement. Somebody else of finance approves it, and only then there is a bank file.",
        confirm="Prepare the payout",
        work=lambda session, _, by: payouts.prepare(session, chosen, by=by),
        done="The payout is prepared: somebody else of finance approves it.",
        opens="finance/payout.py",
    )


ACCOUNTS = {"distributor": "Distributor", "provider": "Insurer"}
PAYMENTS: Table[PaymentRow] = tables.of(
    payment_reading.PAYMENTS,
    opens="finance/payments.py#payment",
    narrow=("party", "state", "prepared", "net"),
)
PAYOUTS: Table[BatchRow] = Table(
    name="payouts",
    noun=("payout", "payouts"),
    opens="finance/payout.py",
    narrow=("number", "state", "net"),
    columns={
        "number": columns.text("Number", lambda row: row.number, 90),
        "state": columns.state("State", lambda row: row.progress),
        "payments": columns.number("Payments", lambda row: row.payments),
        "answered": columns.number("Answered", lambda row: row.answered),
        "net": columns.naira("Amount", lambda row: row.net_minor),
        "paid": columns.naira("Paid", lambda row: row.paid_minor),
        "preparer": columns.text("Prepared by", lambda row: row.preparer, 150),
        "approver": columns.text("Approved by", lambda row: row.approver, 150),
        "prepared": columns.moment("Prepared", lambda row: row.prepared_at),
    },
    unsorted="Newest first",
)
DUE: Table[tuple[Balance, str | None]] = Table(
    name="due_balances",
    noun=("balance", "balances"),
    opens="finance/statements.py#statement",
    narrow=("party", "due", "says"),
    key=lambda row: row[0].newest.statement_id if row[0].newest else "",
    columns={
        "party": columns.text("Party", lambda row: row[0].name, 190),
        "account": columns.text("Account", lambda row: ACCOUNTS[row[0].party.account], 110),
        "statement": columns.text("Newest statement", lambda row: row[0].newest.number if row[0].newest else None, 120),
        "since": columns.text(
            "Due since",
            lambda row: f"{row[0].oldest_month:%b %Y}" if row[0].oldest_month else None,
            sort_key=lambda row: row[0].oldest_month,
        ),
        "due": columns.naira("Due", lambda row: row[0].amount_minor, says="Positive is owed by the platform"),
        "says": columns.text("Payout", lambda row: row[1] or "Ready", 430),
    },
    unsorted="By account and party",
)


def due(by: Person) -> None:
    with st.skeleton(height=300), reading(frame.scope()) as session:
        found = settlement.list_balances(session)
        hindrances = payouts.find_hindrances(session, found, by)
        waiting = [each for each in payment_reading.list_batches(session) if each.state == BatchState.PREPARED]
    for each in waiting:
        is_own = each.prepared_by == by.id
        label = f"{each.number}, {words.naira(each.net_minor)}, prepared by {words.plain(each.preparer)}, waits " + (
            "for somebody else of finance" if is_own else "to be approved"
        )
        page_links.link_to("finance/payout.py", label, "how_to_reg", id=str(each.id))
    rows = [(each, hindrances.get(each.party)) for each in found]
    payable = [balance for balance, why in rows if why is None]
    if not rows:
        st.info("Nothing is due: every statement that was sent is settled.", icon=":material/task_alt:")
        return
    line = f"{DUE.count_text(len(rows))} · {describe_owed(balance.amount_minor for balance in found)}"
    tables.head(line, DUE, beside=partial(prepare_button, payable))
    tables.draw_held(DUE, rows)


def prepare_button(payable: Sequence[Balance]) -> None:
    if payable:
        total = words.naira(sum(each.amount_minor for each in payable))
        preparing(payable).button(f"Prepare a payout of {total}", key="many.prepare", type="primary")


def payments(person: Person) -> None:
    names = read_in(frame.scope(), load_choices)
    criteria = filter_bar.read(PaymentFilter, names.names)
    filter_bar.draw_chips(criteria, names.names, beside=partial(draw_receipts, person))
    with st.skeleton(height=300), reading(frame.scope()) as session:
        total, moved = payment_reading.count_payments(session, criteria)
        if not criteria.states:
            _, moved = payment_reading.count_payments(session, replace(criteria, states=(PaymentState.CONFIRMED,)))
        rows = payment_reading.list_payments(session, criteria, PAYMENTS.paging(url_state.page()), order=PAYMENTS.order)
    if not total and criteria == payment_reading.UNFILTERED:
        st.info("No payment yet: a payout is prepared under Due.", icon=":material/payments:")
        return
    if not total:
        tables.show_no_match(PAYMENTS)
        return
    number = tables.page_of(PAYMENTS, total)
    if number is not None:
        what = " paid out less received" if criteria.states in ((), (PaymentState.CONFIRMED,)) else ""
        line = f"{PAYMENTS.count_text(total)} ·{what} {words.naira(moved)}"
        export_panel.offer("payments", criteria.address(), rows=total, line=line, table=PAYMENTS)
        tables.draw(PAYMENTS, rows, number=number, total=total)


def draw_receipts(person: Person) -> None:
    """Draw the button that confirms what others noted as received."""
    waiting = PaymentFilter(states=(PaymentState.PREPARED,), directions=("in",))
    found = read_in(frame.scope(), payment_reading.list_payments, waiting, Paging(1, MOST))
    confirm_button([row for row in found if "approve" in payment_reading.list_allowed(row, person)], person)


def confirm_button(others: Sequence[PaymentRow], person: Person) -> None:
    if len(others) > 1:
        confirming_all(others).button(
            f"Confirm {words.count(len(others))} received",
            key="many.confirm",
            type="primary",
            disabled=not person.may_approve,
        )
        facts.show_resting(person)


def confirming_all(rows: Sequence[PaymentRow]) -> Action:
    """Return the dialog that confirms what others noted as received."""
    lines = (
        f"{words.plain(row.name)}: **{words.naira(-row.net_minor)}**, {words.plain(row.bank_reference)},"
        f" {words.day(row.value_on)}"
        for row in rows
    )
    total = words.naira(-sum(row.net_minor for row in rows))
    return action(
        title=f"Confirm {words.count(len(rows))} received",
        icon="task_alt",
        says="  \n".join(lines) + f"\n\nTogether **{total}**. Compare each with the bank's statement.",
        confirm="Confirm them",
        items=lambda: ((row.name, row.id) for row in rows),
        work=lambda session, payment_id, by: settlement.approve_receipt(session, payment_id, by=by),
        done=lambda number: f"{words.counted(number, 'payment is', 'payments are')} confirmed",
    )


def approving_all(rows: Sequence[BatchRow]) -> Action:
    """Return the dialog that approves payouts that others prepared."""
    lines = (f"{row.number}: **{words.naira(row.net_minor)}**, prepared by {words.plain(row.preparer)}" for row in rows)
    total = words.naira(sum(row.net_minor for row in rows))
    return action(
        title=f"Approve {words.count(len(rows))} payouts",
        icon="task_alt",
        says="  \n".join(lines) + f"\n\nTogether **{total}**. The bank files are made now.",
        confirm="Approve them",
        items=lambda: ((row.number, row.id) for row in rows),
        work=lambda session, batch_id, by: payouts.approve(session, batch_id, by=by),
        done=lambda number: f"{words.counted(number, 'payout is', 'payouts are')} approved",
    )


def draw_payouts(person: Person) -> None:
    with st.skeleton(height=300), reading(frame.scope()) as session:
        rows = payment_reading.list_batches(session)
    others = [row for row in rows if row.state == BatchState.PREPARED and row.prepared_by != person.id]
    tables.head(describe_payouts(rows), PAYOUTS, beside=partial(approve_button, others, person))
    if rows:
        tables.draw_held(PAYOUTS, rows)


def describe_payouts(rows: Sequence[BatchRow]) -> str:
    """Describe how many payouts there are, and what the bank did with them; without those given up."""
    sums = {
        "paid by the bank": sum(row.paid_minor for row in rows),
        "returned": sum(row.returned_minor for row in rows),
        "not answered yet": sum(row.open_minor for row in rows),
    }
    parts = [f"{name} {words.naira(minor)}" for name, minor in sums.items() if minor]
    return " · ".join([PAYOUTS.count_text(len(rows)), *parts])


def approve_button(others: Sequence[BatchRow], person: Person) -> None:
    if len(others) > 1:
        approving_all(others).button(
            f"Approve {words.count(len(others))}", key="many.approve", type="primary", disabled=not person.may_approve
        )
        facts.show_resting(person)


def draw() -> None:
    person = frame.require(ROLE)
    views = frame.header_with_views(
        "Payments",
        "What each party is owed or owes: prepared by one person, approved by another, settled on statements.",
    )
    if not frame.mode():
        st.info("Payments are made of live records: switch to Live in the menu.", icon=":material/science:")
        return
    with views:
        view = url_state.choose_view(VIEWS)
    actions.run()
    if view != "taxes":
        _taxes.draw_waiting()
    if view == "payments":
        payments(person)
    elif view == "payouts":
        draw_payouts(person)
    elif view == "taxes":
        _taxes.draw(person)
    else:
        due(person)


LABELS = {"approve": "Confirm", "confirm": "The bank has paid", "return": "Returned", "withdraw": "Give up"}


def of_payment(row: PaymentRow, verb: str) -> Action:
    """Return the dialog of one step of a payment: approve, confirm, return or withdraw."""
    return {"approve": _approving, "confirm": _confirming, "return": _returning, "withdraw": _withdrawing}[verb](row)


def _approving(row: PaymentRow) -> Action:
    return action(
        title="Confirm the payment",
        icon="task_alt",
        says=f"**{words.naira(-row.net_minor)}** of {words.plain(row.name)}, reference"
        f" {words.plain(row.bank_reference)}, {words.day(row.value_on)}. Compare it with the bank's statement.",
        confirm="Confirm it",
        work=lambda session, _, by: settlement.approve_receipt(session, row.id, by=by),
        done="The payment is confirmed.",
    )


def _confirming(row: PaymentRow) -> Action:
    return action(
        title="The bank has paid",
        icon="task_alt",
        says=f"**{words.naira(row.net_minor)}** to {words.plain(row.name)}.",
        fields=bank_answer(),
        confirm="Confirm it",
        work=lambda session, typed, by: settlement.confirm(session, row.id, typed, by=by),
        done="The payment is confirmed: its statements are settled.",
    )


def _returning(row: PaymentRow) -> Action:
    return action(
        title="The bank has returned it",
        icon="undo",
        says=f"**{words.naira(row.net_minor)}** to {words.plain(row.name)} is due again.",
        fields=bank_return(row.bank_reference),
        confirm="Note the return",
        work=lambda session, typed, by: settlement.return_payment(session, row.id, typed, by=by),
        done="The payment came back: its statements are due again.",
    )


def _withdrawing(row: PaymentRow) -> Action:
    return action(
        title="Give the payment up",
        icon="block",
        says="Nobody can approve it any more; what it would have paid stays due.",
        fields=[Text("reason", "Reason", longest=500)],
        confirm="Give it up",
        work=lambda session, typed, by: settlement.withdraw(session, row.id, reason=typed["reason"], by=by),
        done="The payment is given up.",
    )


def show_who_acts(row: PaymentRow, person: Person) -> None:
    """Say to who prepared a payment out what somebody else does with it (contract K16)."""
    waits = {
        PaymentState.PREPARED: "approves its payout",
        PaymentState.APPROVED: "notes what the bank says of it",
        PaymentState.CONFIRMED: "notes it if the bank returns it",
    }
    if row.direction == "out" and row.prepared_by == person.id and row.state in waits:
        st.caption(f"You prepared this payment: somebody else of finance {waits[PaymentState(row.state)]}.")


def settles(parts: list[Due]) -> None:
    st.subheader("Settles", anchor=False)
    taxes: Mapping[str, Callable[[Due], int]] = {
        "VAT": lambda part: part.vat_minor,
        "Withholding tax": lambda part: -part.withheld_minor,
    }
    amounts = {label: minor for label, minor in taxes.items() if any(map(minor, parts))}
    amounts["Net"] = lambda part: part.net_minor
    facts.ledger(
        [
            {"Statement": f"{words.plain(part.number)}, {part.month:%b %Y}"}
            | {label: words.naira(minor(part)) for label, minor in amounts.items()}
            for part in parts
        ],
        right=tuple(amounts),
        total={"Statement": "Total"} | {label: words.naira(sum(map(minor, parts))) for label, minor in amounts.items()},
    )
    for part in parts:
        page_links.link_to(
            "finance/statements.py#statement", f"Open {part.number}", "request_quote", id=str(part.statement_id)
        )


def draw_payment() -> None:
    person = frame.require(ROLE)
    tables.back_link("payments", "finance/payments.py", "Back to the payments")
    row, parts = page_links.load_record("payment", payment_reading.get_payment, is_of_mode=True)
    with frame.header_with_buttons(
        f"{words.plain(row.name)}, {words.naira(abs(row.net_minor))} {words.badge(row.state)}",
        f"{row.direction_name}{f' with {row.batch}' if row.batch else ''}, up to statement {row.statement}",
        tab=f"{row.name} · Payment",
    ):
        for verb in payment_reading.list_allowed(row, person):
            look = "primary" if verb in ("approve", "confirm") else "secondary"
            actions.button(LABELS[verb], of_payment(row, verb), type=look)
    show_who_acts(row, person)
    actions.run()
    with reading(frame.scope()) as session:
        facts.own_interest(parties.list_own_staff(session, row.party))
    with st.grid(2, min_column_width=320, gap="small"):
        amounts = {
            "Gross": words.naira(row.gross_minor),
            "VAT": words.naira(row.vat_minor),
            "Withholding tax": words.naira(-row.withheld_minor),
            "Net": words.naira(row.net_minor),
        }
        facts.card("**Money**", amounts).caption("Positive is paid by the platform, negative is received.")
        progress = {
            "Prepared": f"{row.preparer}, {words.moment(row.prepared_at)}",
            "Approved": f"{row.approver}, {words.moment(row.approved_at)}" if row.approver else "–",
            "Bank reference": row.bank_reference or "–",
            "Value date": words.day(row.value_on),
            "Paid to": row.bank,
            "Returned": words.day(row.returned_on) if row.returned_on else None,
            "Note": row.note,
        }
        facts.card("**People and dates**", progress)
    settles(parts)
    if row.batch_id:
        page_links.link_to("finance/payout.py", f"Open {row.batch}", "payments", id=str(row.batch_id))
    st.caption(f"Payment {row.id}")
