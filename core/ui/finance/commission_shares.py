"""The own commission shares of a distributor: what was agreed, what waits, and the dialogs that change it."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import streamlit as st

from core import clock, money
from core.services.catalogue import share_changes
from core.services.catalogue.share_changes import AgreedShare
from core.services.people.staff import Person
from core.ui.admin.desk import action
from core.ui.finance import proposal_buttons
from core.ui.kit import words
from core.ui.kit.actions import Action, Choice, Day, Text

_ALL = "all"
_PRODUCTS = "The product's share"
_WORK = {"Confirm": share_changes.confirm, "Refuse": share_changes.refuse, "Take back": share_changes.take_back}


def draw(shares: Sequence[AgreedShare], person: Person) -> None:
    """Draw what waits for a second admin, and the shares with their history."""
    for share in shares:
        if share.state == "open":
            _proposal(share, person)
    decided = [share for share in shares if share.state != "open"]
    if decided:
        st.table([_row(share) for share in decided], border="horizontal")
    elif not shares:
        st.caption("None: it has the distributor's share of each product, as Products says.")


def _row(share: AgreedShare) -> dict[str, str]:
    return {
        "From": words.day(share.effective_at),
        "Product": words.plain(share.product or "All products"),
        "Distributor's share": format_share(share.commission_bp),
        "State": words.badge(_state(share)),
        "Proposed by": words.plain(share.proposer),
        "Decided by": words.plain(share.decider or "–"),
    }


def _state(share: AgreedShare) -> str:
    if share.state != "confirmed":
        return {"refused": "Refused", "withdrawn": "Taken back"}[share.state]
    if share.is_held:
        return "Active"
    return "Planned" if share.effective_at > clock.now() else "Past"


def format_share(commission_bp: int | None) -> str:
    """Return a share in percent; the product's where there is none of its own."""
    return _PRODUCTS if commission_bp is None else f"{money.to_naira(commission_bp)} %"


def _headline(share: AgreedShare) -> str:
    instead = format_share(share.before_bp)
    return (
        f"{share.product or 'All products'}: {format_share(share.commission_bp)} instead of"
        f" {instead[0].lower()}{instead[1:]} from {words.day(share.effective_at)}"
    )


def _proposal(share: AgreedShare, person: Person) -> None:
    with st.container(border=True, gap="xsmall"):
        st.markdown(f"{words.badge('Proposed')} **{words.plain(_headline(share))}**")
        st.caption(
            f"Proposed by {words.plain(share.proposer)}, {words.moment(share.proposed_at)}. It holds only once"
            " another admin has confirmed it, and what is sold before keeps its share."
        )
        says = f"**{words.plain(_headline(share))}**, proposed by {words.plain(share.proposer)}."
        proposal_buttons.show(share, person, noun="share", icon="percent", says=says, work=_WORK)


def proposing(distributor_id: UUID, products: Mapping[UUID, str]) -> Action:
    """Return the dialog that proposes an own share."""
    options = {_ALL: "All products", **{str(key): name for key, name in products.items()}}
    return action(
        title="Another commission share",
        icon="percent",
        says="Sales and renewals take it from its day on, tomorrow at the earliest. Both commissions together stay"
        " those of the product: the platform has what remains, and the insurer keeps its share. The share of one"
        " product goes before that of all.",
        fields=[
            Choice("product_id", "Product", options=options, value=_ALL),
            Text("commission", "Distributor's share in percent (empty: the product's again)", longest=6),
            Day("starts_on", "Holds from", value=clock.add_days(clock.today(), 1)),
        ],
        confirm="Propose the share",
        work=lambda session, typed, by: share_changes.propose(
            session, distributor_id, {name: value for name, value in typed.items() if value not in {"", _ALL}}, by=by
        ),
        done="The share is proposed: it holds once another admin has confirmed it.",
    )
