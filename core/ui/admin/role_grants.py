"""Roles that wait for a second admin: on the page of the person, and above the list of staff."""

import streamlit as st

from core.services.people import role_grants
from core.services.people.role_grants import OpenGrant
from core.services.people.staff import Person
from core.store.access import Scope, reading
from core.ui.admin import admin_writes, staff_form
from core.ui.frame import frame
from core.ui.kit import words


def draw(grant: OpenGrant | None, by: Person) -> None:
    """Draw what waits for a person, with the buttons of whoever may decide it."""
    if grant is None:
        return
    with st.container(border=True, key="role-grant"):
        roles = words.title(", ".join(grant.roles))
        st.markdown(
            f":material/how_to_reg: **{roles}** waits for a second admin: {words.plain(grant.proposer)} proposed it on"
            f" {words.moment(grant.proposed_at)}. Until then it does not hold."
        )
        with st.container(horizontal=True, gap="xsmall"):
            if by.id not in (grant.proposed_by, grant.staff_id):
                confirm = admin_writes.doing(
                    lambda session, person: role_grants.confirm(session, grant.id, by=person),
                    "Confirmed. It holds from the person's next click.",
                    then=staff_form.forget,
                )
                st.button("Confirm the roles", type="primary", on_click=confirm, key="grant.confirm")
            label = "Take it back" if grant.proposed_by == by.id else "Refuse the roles"
            refuse = admin_writes.doing(
                lambda session, person: role_grants.refuse(session, grant.id, by=person), "The roles stay as they are."
            )
            st.button(label, on_click=refuse, key="grant.refuse")


def draw_waiting() -> None:
    """Draw a line for each person whose roles wait, with a link to them."""
    with reading(Scope.system()) as session:
        waiting = role_grants.list_open(session)
    for grant in waiting:
        st.page_link(
            "admin/person.py",
            label=f"{words.plain(grant.person)}: {', '.join(grant.roles)} waits for a second admin",
            icon=":material/how_to_reg:",
            query_params={"id": str(grant.staff_id), **frame.mode_query()},
        )
