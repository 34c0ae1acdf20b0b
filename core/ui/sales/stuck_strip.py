"""The strip "Stuck today": each kind of stuck work with its number, as a link for those who may open its list."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import streamlit as st

from core.services.people.staff import Person
from core.services.sales.breakdowns import SilentDistributor
from core.services.views.backlog import Backlog, BacklogItem, Item
from core.ui.frame import frame, menu, page_links
from core.ui.kit import words


@dataclass(frozen=True, kw_only=True, slots=True)
class _Kind:
    """Name of one kind of stuck work, and the list behind it; `amount` says what its amount is."""

    label: tuple[str, str]
    icon: str
    path: str
    query: Mapping[str, str]
    amount: str = ""


_KINDS: Final[Mapping[Item, _Kind]] = {
    "set_aside": _Kind(
        label=("policy set aside", "policies set aside"),
        icon="error",
        path="policies/awaiting.py",
        query={"state": "dead"},
        amount="premium",
    ),
    "awaiting": _Kind(
        label=("policy awaiting its insurer", "policies awaiting their insurer"),
        icon="hourglass_top",
        path="policies/awaiting.py",
        query={},
        amount="premium",
    ),
    "unplaced": _Kind(
        label=("other policy unplaced", "other policies unplaced"),
        icon="money_off",
        path="finance/movements.py",
        query={},
        amount="premium",
    ),
    "due": _Kind(
        label=("renewal due within 7 days", "renewals due within 7 days"),
        icon="event_upcoming",
        path="sales/due.py",
        query={},
        amount="at risk",
    ),
    "overdue_claims": _Kind(
        label=("claim past its 60 days", "claims past their 60 days"),
        icon="alarm",
        path="claims/queue.py",
        query={"view": "near"},
        amount="claimed",
    ),
    "near_claims": _Kind(
        label=("claim with 7 days left or less", "claims with 7 days left or less"),
        icon="timer",
        path="claims/queue.py",
        query={"view": "near"},
        amount="claimed",
    ),
    "endpoints": _Kind(
        label=("webhook endpoint fails", "webhook endpoints fail"),
        icon="webhook",
        path="admin/webhooks.py",
        query={},
    ),
}


def draw(backlog: Backlog, person: Person) -> None:
    """Draw the strip; one line says so when nothing is stuck."""
    with st.container(border=True, gap="xsmall", key="stuck_today"):
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            st.markdown("**Stuck today**", width="content")
            if not backlog.items:
                st.caption("Nothing: no policy, renewal or claim waits for somebody here.", width="content")
            for item in backlog.items:
                _item(item, person)
        for distributor in backlog.silent:
            _silent(distributor)


def _item(item: BacklogItem, person: Person) -> None:
    kind = _KINDS[item.key]
    amount = f", {words.short_naira(item.amount_minor)} {kind.amount}" if item.amount_minor is not None else ""
    label = f"{words.count(item.count)} {kind.label[item.count != 1]}{words.plain(amount)}"
    screen = menu.screen_of(kind.path)
    if person.has_role(*screen.roles):
        page_links.link(
            kind.path,
            label=label,
            icon=f":material/{kind.icon}:",
            width="content",
            query_params={**kind.query, **frame.mode_query()},
        )
    else:
        # As small as the links beside it.
        st.markdown(
            f":small[:material/{kind.icon}: {label}]", width="content", help=f"{screen.title}: {menu.open_to(screen)}."
        )


def _silent(distributor: SilentDistributor) -> None:
    usual = distributor.usual_days
    rhythm = "every day" if usual <= 1 else f"every {usual:g} days"
    with st.container(horizontal=True, gap="small", vertical_alignment="center"):
        st.markdown(
            f":orange[:material/notifications_paused:] **{words.plain(distributor.name)}** has sold nothing for"
            f" {words.count(distributor.silent_days)} days; it usually sells {rhythm}.",
            width="content",
        )
        page_links.link(
            "sales/purchases.py",
            label="Its purchases",
            width="content",
            query_params={"distributor": str(distributor.id), "period": "all", **frame.mode_query()},
        )
