"""Staff: everybody who can sign in, with roles, limits and sessions, and the form to add somebody."""

import streamlit as st

from core import ids
from core.errors import InvalidInput, NotAllowed
from core.services.people import account_changes, invitations, staff_list
from core.services.people.staff import Person
from core.settings import settings
from core.store.access import Scope, ScopedSession, reading
from core.ui.admin import admin_writes, role_grants, staff_cards, staff_form
from core.ui.admin.staff_cards import STAFF
from core.ui.frame import frame, page_links
from core.ui.lists import tables

DRAFT = "staff.new"


def add() -> None:
    """Draw the form for a new account; its draft creates one account however often it is submitted."""
    token = st.session_state.setdefault(DRAFT, ids.new())
    with st.expander("Add a person", icon=":material/person_add:"), st.form("add", border=False):
        asked = staff_form.draw_form(None, key="add")
        sent = st.form_submit_button("Add", type="primary", icon=":material/person_add:")
    if not sent:
        return

    def work(session: ScopedSession, by: Person) -> str | None:
        account_changes.add_person(session, token, asked.said, by=by)
        return invitations.create_password_link(session, token, by=by) if settings().passwords else None

    try:
        link = admin_writes.write(work)
    except InvalidInput as error:
        asked.blame(error.faults)
        return
    except NotAllowed as error:
        st.error(f"{error}.", icon=":material/block:")
        return
    st.session_state.pop(DRAFT)
    if link:
        staff_cards.keep_link(link)
    page_links.go("admin/person.py", id=str(token))


def draw() -> None:
    frame.require("admin")
    frame.page_header("Staff", "Everybody who signs in, what they may do, and whether they are here now.")
    add()
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
