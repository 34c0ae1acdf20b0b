"""Payments of claims that finance makes, each in a dialog with its reference, method and value date (contract C15)."""

from collections.abc import Sequence

import streamlit as st

from core import clock
from core.services.claims.paying import hand_overs
from core.services.claims.paying.hand_overs import HandOver
from core.services.claims.workflow.inputs import PAYMENT_METHODS
from core.ui.claims import paying as payments
from core.ui.finance.finance_writes import made
from core.ui.kit import dialogs, words
from core.ui.kit.dialogs import Decision


def describe_account(row: HandOver) -> str:
    """Describe the account that is paid, by its last four digits."""
    bank = f" at {row.payee.bank_name}" if row.payee.bank_name else ""
    return f"account ending in {row.payee.hint}{bank}" if row.payee.hint else f"account not named{bank}"


def paying(row: HandOver) -> Decision:
    """Return the dialog that makes a payment."""

    def ask() -> None:
        payments.draw_chain(row.links)
        dialogs.field("payment_reference", "Payment reference", longest=60)
        dialogs.choice("method", "Method", {name: name for name in PAYMENT_METHODS})
        dialogs.day("value_on", "Value date")

    def act() -> str:
        typed = dialogs.get_values("payment_reference", "method", "value_on")
        reference = typed.pop("payment_reference") or None
        payment = {name: value for name, value in typed.items() if value}
        return made(
            lambda session, by: hand_overs.pay(
                session, row.id, payment_reference=reference, payment=payment, person=by, version=row.version
            ),
            f"{row.reference} is Paid.",
        )

    return Decision(
        title=f"Pay {words.plain(row.reference)}",
        icon="payments",
        says=f"**{words.naira(row.amount_minor)}** to **{words.plain(row.payee.name)}**,"
        f" {words.plain(describe_account(row))}. Approved by {words.plain(row.approved_name)}.",
        asks=ask,
        given={"payment_reference": "", "method": PAYMENT_METHODS[0], "value_on": clock.today()},
        confirm=f"Pay {words.naira(row.amount_minor)}",
        act=act,
    )


def paying_together(rows: Sequence[HandOver]) -> Decision:
    """Return the dialog that pays several claims of one insurer by one transfer."""
    shown = {row.id.hex: f"{row.reference}, {words.naira(row.amount_minor)} to {row.payee.name}" for row in rows}
    names = ("payment_reference", "total", "method", "value_on")

    def ask() -> None:
        dialogs.several("claims", "Claims", shown, placeholder="Two or more", is_live=True)
        chosen = [row for row in rows if row.id.hex in dialogs.chosen("claims")]
        st.caption(f"{len(chosen)} chosen, {words.naira(sum(row.amount_minor for row in chosen))}")
        for row in chosen:
            with st.expander(words.plain(f"{row.reference}: who did what")):
                payments.draw_chain(row.links)
        dialogs.field("payment_reference", "Payment reference", longest=60)
        dialogs.field("total", "Total of the transfer in naira", longest=20)
        dialogs.choice("method", "Method", {name: name for name in PAYMENT_METHODS})
        dialogs.day("value_on", "Value date")

    def act() -> str:
        chosen = dialogs.chosen("claims")
        seen = {row.id: row.version for row in rows if row.id.hex in chosen}
        typed = {name: text for name, text in dialogs.get_values(*names).items() if text}
        typed |= {"total": words.read_naira(typed["total"])} if "total" in typed else {}
        return made(
            lambda session, by: hand_overs.pay_together(session, seen, typed, person=by),
            f"{len(seen)} claims are Paid by one transfer.",
        )

    return Decision(
        title=f"One transfer for claims of {words.plain(rows[0].provider)}",
        icon="account_tree",
        says="One reference pays all claims that are chosen, or none. The total has to be what they come to.",
        asks=ask,
        given={
            "claims": list(shown),
            "payment_reference": "",
            "total": "",
            "method": PAYMENT_METHODS[0],
            "value_on": clock.today(),
        },
        confirm="Pay them",
        act=act,
    )
