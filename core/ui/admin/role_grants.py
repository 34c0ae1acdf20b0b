"""Changes of accounts that wait for a second admin: on the page of the person, and above the list of staff."""

import streamlit as st

from core.services.people import invitations, role_grants
from core.services.people.role_grants import OpenGrant
from core.services.people.staff import Person
from core.store.access import Scope, reading
from core.ui.admin import staff_cards, staff_form
from core.ui.admin.desk import action
from core.ui.frame import frame, page_links
from core.ui.kit import words
from core.ui.kit.actions import Action


def draw(grant: OpenGrant | None, by: Person) -> None:
    """Draw what waits for a person, with the buttons of whoever may decide it."""
    if grant is None:
        return
    with st.container(border=True, key="role-grant"):
        st.markdown(
            f":material/how_to_reg: **{words.plain(words.title(grant.text))}** waits for a second admin:"
            f" {words.plain(grant.proposer)} proposed it on {words.moment(grant.proposed_at)}. It does not hold yet."
        )
        with st.container(horizontal=True, gap="xsmall"):
            if by.id not in (grant.proposed_by, grant.staff_id):
                st.button("Confirm it", type="primary", on_click=_confirming(grant).do, key="grant.confirm")
            label = "Take it back" if grant.proposed_by == by.id else "Refuse it"
            refuse = action(
                title=label,
                work=lambda session, _, person: role_grants.refuse(session, grant.id, by=person),
                done="The account stays as it is.",
            )
            st.button(label, on_click=refuse.do, key="grant.refuse")


def _confirming(grant: OpenGrant) -> Action:
    return action(
        title="Confirm it",
        work=lambda session, _, by: invitations.confirm_change(session, grant.id, by=by) or "",
        done="Confirmed. It holds from the person's next click; a higher limit in 24 hours.",
        then=_show_confirmed,
    )


def _show_confirmed(link: str) -> None:
    staff_form.forget()
    staff_cards.keep_link(link)


def draw_waiting() -> None:
    """Draw a line for each person whose account waits for a change, with a link to them."""
    with reading(Scope.system()) as session:
        waiting = role_grants.list_open(session)
    for grant in waiting:
        page_links.link(
            "admin/person.py",
            label=f"{words.plain(grant.person)}: {words.plain(grant.text)} waits for a second admin",
            icon=":material/how_to_reg:",
            query_params={"id": str(grant.staff_id), **frame.mode_query()},
        )
