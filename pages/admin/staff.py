"""Staff: everybody who can sign in, with roles, limits and sessions, and the form to add somebody."""

from uuid import UUID

import streamlit as st

from core import ids
from core.services.people import account_changes, invitations, staff_list
from core.services.people.staff import Person
from core.settings import settings
from core.store.access import Scope, ScopedSession, reading
from core.ui.admin import role_grants, staff_cards, staff_form
from core.ui.admin.desk import action
from core.ui.admin.staff_cards import STAFF
from core.ui.frame import frame, page_links
from core.ui.kit.actions import Action, Values
from core.ui.lists import tables

DRAFT, ADDED = "staff.new", "staff.added"


def adding(person_id: UUID) -> Action:
    """Return the action that makes an account, one however often it is submitted."""

    def add(session: ScopedSession, typed: Values, by: Person) -> str:
        account_changes.add_person(session, person_id, dict(typed), by=by)
        return (invitations.create_password_link(session, person_id, by=by) if settings().passwords else None) or ""

    return action(
        title="Add",
        icon="person_add",
        fields=staff_form.list_fields(None),
        work=add,
        done="The person is added.",
        then=lambda link: open_person(person_id, link),
    )


def open_person(person_id: UUID, link: str) -> None:
    st.session_state.pop(DRAFT)
    staff_cards.keep_link(link)
    st.session_state[ADDED] = person_id


def draw() -> None:
    frame.require("admin")
    frame.page_header("Staff", "Everybody who signs in, what they may do, and whether they are here now.")
    if added := st.session_state.pop(ADDED, None):
        page_links.go("admin/person.py", id=str(added))
    with st.expander("Add a person", icon=":material/person_add:"):
        adding(st.session_state.setdefault(DRAFT, ids.new())).form(key="add")
    role_grants.draw_waiting()
    wanted = staff_cards.read_filter()
    staff_cards.filters(wanted)
    with reading(Scope.system()) as session:
        found = staff_list.list_staff(session, wanted, STAFF.paging(1), order=STAFF.order_among(staff_list.ORDERS))
    number = tables.page_of(STAFF, found.total_count)
    if number is None:
        return
    if number > 1:
        with reading(Scope.system()) as session:
            found = staff_list.list_staff(
                session, wanted, STAFF.paging(number), order=STAFF.order_among(staff_list.ORDERS)
            )
    st.markdown(STAFF.count_text(found.total_count))
    if not found.items:
        st.info("Nobody matches this. Take a filter away, or add the person above.", icon=":material/person_search:")
        return
    tables.draw(STAFF, found.items, number=number, total=found.total_count)
