"""Movements: all the money there is, one signed row each; and one with the sale behind it and its corrections."""

from collections.abc import Sequence
from uuid import UUID

import streamlit as st

from core.desk import sale as sales
from core.services.finance import adjustments, movements
from core.services.finance.adjustments import Proposal
from core.services.finance.movements import MovementFilter, MovementRow, Unplaced
from core.services.lists.dimensions import load_choices
from core.services.people.staff import Person
from core.services.sales.totals import SalesTotals
from core.store.access import read_in, reading
from core.ui.frame import frame, page_links
from core.ui.kit import actions, facts, url_state, words
from core.ui.kit.actions import Action, Text
from core.ui.lists import export_panel, periods, tables
from core.ui.lists.periods import Selection
from core.ui.lists.tables import Table
from pages.finance._shared import ROLE, action


def draw_waiting(proposals: Sequence[Proposal]) -> None:
    """Draw the proposals that wait for a second person, each with the way to its movement."""
    if not proposals:
        return
    number = len(proposals)
    with st.expander(f"Adjustments that wait for a second person: {number}", icon=":material/pending_actions:"):
        for proposal in proposals:
            page_links.link_to(
                "finance/movements.py#movement",
                f"{words.naira(proposal.parts.total_minor)} by {words.plain(proposal.proposer)},"
                f" {words.moment(proposal.proposed_at)}",
                "edit_note",
                id=str(proposal.corrects_id),
            )


MOVEMENTS: Table[MovementRow] = tables.of(
    movements.MOVEMENTS, opens="finance/movements.py#movement", narrow=("policy", "kind", "when", "total")
)


def toolbar(found: Selection[MovementFilter], total: SalesTotals, open_premium: Unplaced) -> None:
    premium = words.plain(words.naira(total.net.total_minor))
    missing = words.plain(words.naira(open_premium.total_minor))
    unplaced_now = f" · :orange[{missing} unplaced now]" if open_premium.policies else ""

    def sums() -> None:
        footer(total)
        not_placed(open_premium)

    export_panel.offer(
        "movements",
        found.criteria.address(),
        rows=movements.count(total),
        sum_minor=total.net.total_minor,
        line=f"{MOVEMENTS.count_text(movements.count(total))} · {premium} net · {found.text}{unplaced_now}",
        table=MOVEMENTS,
        sums=sums,
    )


def footer(total: SalesTotals) -> None:
    """Draw the total of the whole selection: gross, given back, adjusted and net, each with its shares."""
    net = total.net
    tables.footer(
        {
            "Movements": words.count(movements.count(total)),
            "Gross written premium": words.naira(total.premium_minor),
            "Given back": words.naira(-total.refunded_minor),
            "Adjusted": words.naira(total.adjusted_minor),
            "Net premium": words.naira(net.total_minor),
        }
    )
    facts.draw_amounts(
        {
            "Purchases": total.purchases,
            "Renewals": total.renewals,
            **facts.list_balance(total.gross, total.refunds_split, total.adjusted),
        }
    )


def not_placed(found: Unplaced) -> None:
    """Draw the premium whose insurer has not taken the policy yet, whatever days are chosen above."""
    if not found.policies:
        return
    with st.container(border=True, gap="xsmall", key="unplaced"):
        st.markdown(
            f":material/hourglass_top: **Unplaced premium {words.naira(found.total_minor)}**: written, while the"
            f" insurer has not taken the policy yet ({words.count(found.policies)})."
        )
        with st.grid(3, min_column_width=150, gap="small"):
            ages = ("0 to 7 days", "8 to 14 days", "Over 14 days")
            for label, number, minor in zip(ages, found.numbers, found.minors, strict=True):
                with st.container(gap=None):
                    st.caption(f"{label} · {words.count(number)}")
                    st.markdown(f"**{words.naira(minor)}**")
        st.caption("As of now, for all days; the other filters above apply.")


def nothing(found: Selection[MovementFilter]) -> None:
    if found.is_changed:
        tables.show_no_match(MOVEMENTS)
    else:
        st.info(
            "No money has moved in this mode yet: the first sale appears here at once. Look at the other mode with the"
            " switch in the menu.",
            icon=":material/rocket_launch:",
        )


def draw() -> None:
    person = frame.require("operations", "finance")
    frame.page_header(
        "Movements",
        "Every purchase, renewal, refund and adjustment, with its sign and its three shares.",
    )
    names = read_in(frame.scope(), load_choices)
    found = periods.choose(MovementFilter, names, person, path="finance/movements.py")
    if found is None:
        return
    with st.skeleton(height=300), reading(frame.scope()) as session:
        paging = MOVEMENTS.paging(url_state.page())
        total = movements.compute_totals(session, found.criteria)
        rows = movements.list_rows(session, found.criteria, names, order=MOVEMENTS.order, paging=paging)
        open_premium = movements.compute_unplaced(session, found.criteria.of_every_kind)
        waiting = adjustments.list_open(session)
    draw_waiting(waiting)
    toolbar(found, total, open_premium)
    if not movements.count(total):
        nothing(found)
        return
    number = tables.page_of(MOVEMENTS, movements.count(total))
    if number is None:
        return
    tables.draw(MOVEMENTS, rows, number=number, total=movements.count(total))


_AMOUNTS = {
    "premium": "Premium, in naira (minus takes away)",
    "platform_commission": "Of which platform commission",
    "distributor_commission": "Of which distributor commission",
}


def proposing(row: MovementRow) -> Action:
    """Return the dialog that proposes the correction of a movement."""
    return action(
        title="Propose an adjustment",
        icon="edit_note",
        says="What you type is **added** to the money of this policy, dated when somebody else confirms it. The"
        " insurer's share is what remains of the premium.",
        fields=[
            *(Text(name, label, value="0.00", longest=20) for name, label in _AMOUNTS.items()),
            Text("reason", "Reason", longest=500),
        ],
        confirm="Propose it",
        work=lambda session, typed, by: adjustments.propose(session, row.id, typed, by=by),
        done="The adjustment is proposed: somebody else of finance confirms it.",
    )


def confirming(proposal: Proposal) -> Action:
    """Return the dialog that confirms somebody else's proposal."""
    return action(
        title="Confirm the adjustment",
        icon="fact_check",
        says=f"**{words.plain(proposal.proposer)}** proposed {words.naira(proposal.parts.total_minor)}:"
        f" {words.plain(proposal.reason)}. It becomes a movement of today, and cannot be taken back.",
        confirm="Confirm it",
        work=lambda session, _, by: adjustments.confirm(session, proposal.id, by=by),
        done="The adjustment is confirmed.",
    )


def refusing(proposal: Proposal) -> Action:
    """Return the dialog that refuses somebody else's proposal, with a reason."""
    return action(
        title="Refuse the adjustment",
        icon="block",
        says=f"Proposed by **{words.plain(proposal.proposer)}**: {words.plain(proposal.reason)}.",
        fields=[Text("reason", "Reason", longest=500)],
        confirm="Refuse it",
        work=lambda session, typed, by: adjustments.refuse(session, proposal.id, reason=typed["reason"], by=by),
        done="The adjustment is refused.",
    )


def taking_back(proposal_id: UUID) -> Action:
    """Return the dialog that withdraws one's own proposal."""
    return action(
        title="Take the proposal back",
        icon="undo",
        says="Nobody can confirm it any more.",
        confirm="Take it back",
        work=lambda session, _, by: adjustments.take_back(session, proposal_id, by=by),
        done="The proposal is taken back.",
    )


_STATES = {"open": "Proposed", "confirmed": "Approved", "refused": "Declined", "withdrawn": "Off"}
_SAID = {"open": "Proposed", "confirmed": "Confirmed", "refused": "Refused", "withdrawn": "Taken back"}


def draw_proposal(proposal: Proposal, person: Person) -> None:
    with st.container(border=True, gap="xsmall"):
        colour = words.colour(_STATES[proposal.state])
        parts = proposal.parts
        st.markdown(
            f":{colour}-badge[{_SAID[proposal.state]}] **{words.naira(parts.total_minor)}** premium, of it"
            f" {words.naira(parts.mca_profit_minor)} platform,"
            f" {words.naira(parts.distributor_profit_minor)} distributor,"
            f" {words.naira(parts.provider_share_minor)} insurer"
        )
        st.caption(words.plain(proposal.reason))
        verb, who = _SAID[proposal.state].lower(), words.plain(proposal.decider)
        decided = f" · {verb} by {who}, {words.moment(proposal.decided_at)}" if who else ""
        refusal = f": {words.plain(proposal.refusal)}" if proposal.refusal else ""
        st.caption(
            f"Proposed by {words.plain(proposal.proposer)}, {words.moment(proposal.proposed_at)}{decided}{refusal}"
        )
        if proposal.state == "open":
            proposal_buttons(proposal, person)


def proposal_buttons(proposal: Proposal, person: Person) -> None:
    """Draw what the person may do with a proposal: nobody sees a button that the service would refuse."""
    with st.container(horizontal=True, gap="xsmall"):
        if proposal.proposed_by == person.id:
            actions.button("Take it back", taking_back(proposal.id), key=f"take.{proposal.id}")
        else:
            refusal = read_in(frame.scope(), adjustments.find_refusal, proposal.id, person)
            confirm = confirming(proposal)
            actions.button("Confirm", confirm, key=f"confirm.{proposal.id}", type="primary", disabled=bool(refusal))
            actions.button("Refuse", refusing(proposal), key=f"refuse.{proposal.id}")
            if refusal:
                st.caption(f":material/lock: {words.plain(refusal)}.")


def sale(row: MovementRow) -> None:
    parties = {"Product": row.product, "Insurer": row.provider, "Distributor": row.distributor}
    with facts.card("**Sale**", {"Policy": row.policy_number or "Not given yet", "Customer": row.customer, **parties}):
        page_links.link_to("sales/purchases.py#purchase", "Open the purchase", "receipt", id=str(row.purchase_id))


def draw_papers(row: MovementRow, person: Person) -> None:
    """Draw the credit note of a refund, and the statements and the bordereau that hold a movement."""
    with st.container(border=True):
        facts.papers(read_in(frame.scope(), sales.list_papers, [row.id]), person)
        if row.kind == "refund" and person.has_role(ROLE):
            # Both have one id.
            page_links.link_to("finance/credit_notes.py#credit_note", "Its credit note", "undo", id=str(row.id))


def draw_movement() -> None:
    person = frame.require("operations", "finance")
    tables.back_link("movements", "finance/movements.py", "Back to the movements")
    row = page_links.load_record(
        "movement", lambda session, id_: movements.get_movement(session, id_, load_choices(session)), is_of_mode=True
    )
    with frame.header_with_buttons(
        f"{row.kind_label} of {words.moment(row.created_at)}",
        "One movement of money. It is never changed; an error is corrected by an adjustment.",
        tab=f"{row.kind_label} {row.policy_number or ''} · Movement",
    ):
        if person.has_role(ROLE) and row.kind != "adjustment":
            proposing(row).button()
    actions.run()
    with st.grid(2, min_column_width=320, gap="small"):
        facts.card("**Money**", {"Premium": words.naira(row.total_minor), **facts.name_shares(row)})
        sale(row)
    draw_papers(row, person)
    proposals = read_in(frame.scope(), adjustments.list_of_movement, row.id)
    if proposals:
        st.subheader("Adjustments", anchor=False)
        for proposal in proposals:
            draw_proposal(proposal, person)
    st.caption(f"Movement {row.id} · policy {row.policy_id}")
