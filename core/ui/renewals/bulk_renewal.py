"""Renewing the ticked policies of the list of what is due, with a preview of every term and the sum."""

from collections.abc import Sequence

import streamlit as st

from core.services.renewals import renewals
from core.services.renewals.due import DueRow
from core.services.renewals.renewals import BulkRenewal, ShownTerm
from core.ui.kit import actions, words
from core.ui.kit.actions import Action
from core.ui.lists import columns, tables
from core.ui.lists.record_tables import DUE
from core.ui.lists.tables import Table

_PREVIEW: Table[DueRow] = Table(
    name="bulk renewal",
    noun=("policy", "policies"),
    columns={
        "customer": columns.text("Customer", lambda row: row.customer, 150),
        "ends": columns.day("Ends", lambda row: row.expiration_at),
        "next": columns.naira("Next term", lambda row: row.next_minor),
    },
)


def button(picked: Sequence[DueRow]) -> None:
    """Draw the button that opens the preview; disabled unless something of what is ticked can be renewed."""
    renewable = [row for row in picked if row.next_minor is not None]
    st.button(
        f"Renew ({len(renewable)})" if len(renewable) > 1 else "Renew ticked",
        icon=":material/autorenew:",
        key="due.renew",
        disabled=not renewable,
        on_click=lambda: actions.open_(_renewing(picked, renewable)),
    )


def _renewing(picked: Sequence[DueRow], renewable: Sequence[DueRow]) -> Action:
    shown = [_shown(row) for row in renewable]
    total = sum(each.total_minor for each in shown)
    return Action(
        title="Renew these policies",
        icon="autorenew",
        says=f"One more term for each of **{len(renewable)}** {DUE.noun[len(renewable) != 1]},"
        f" **{words.naira(total)}** together. Each keeps its number and gets a new certificate.",
        fields=[lambda _: _preview(picked, renewable)],
        confirm=f"Renew {len(renewable)} for {words.naira(total)}",
        roles=("operations",),
        work=lambda session, _, by: renewals.renew_each(session, shown, by=by),
        done=summarise,
        then=lambda _: tables.let_go(DUE),
    )


def _shown(row: DueRow) -> ShownTerm:
    return ShownTerm(policy_id=row.id, expiration_at=row.expiration_at, total_minor=row.next_minor or 0)


def _preview(picked: Sequence[DueRow], renewable: Sequence[DueRow]) -> None:
    tables.draw_short(_PREVIEW, renewable)
    for row in picked:
        if row.refusal:
            st.caption(f"Left out: {words.plain(row.customer)}, {words.plain(words.format_dates(row.refusal))}")


def summarise(found: BulkRenewal) -> str:
    """Return the result in words: "2 policies are renewed for ₦1,068.75. Left out 1: it was renewed meanwhile."."""
    verb = "policy is" if found.done == 1 else "policies are"
    done = f"{words.count(found.done)} {verb} renewed for {words.naira(found.total_minor)}."
    reasons = "; ".join(f"{number}: {words.format_dates(reason)}" for reason, number in found.left_out.items())
    return f"{done} Left out {reasons}." if reasons else done
