"""Staff: everybody who can sign in, with roles, limits and sessions, and the form to add somebody."""

from collections.abc import Mapping
from uuid import UUID

import streamlit as st

from core import ids
from core.services.people import account_changes, invitations, role_grants, staff
from core.services.people.staff import ROLES, Person, StaffFilter, StaffRow
from core.settings import settings
from core.store.access import Scope, ScopedSession, reading
from core.ui.frame import frame, page_links
from core.ui.kit import url_state, words
from core.ui.kit.actions import Action, Values
from core.ui.lists import columns, tables
from core.ui.lists.tables import Table
from pages.admin._shared import action
from pages.admin._staff import keep_link, list_fields

DRAFT, ADDED = "staff.new", "staff.added"
_FIND, _ROLE, _STATE = "find", "role", "state"
_LONGEST = 100
_ROLES: Mapping[str, str] = {role: words.title(role) for role in ROLES}
_STATES: Mapping[str, str] = {"enabled": "Enabled", "disabled": "Disabled"}
STAFF: Table[StaffRow] = Table(
    name="staff",
    noun=("person", "people"),
    opens="admin/person.py",
    orders={
        "name": "Names from A to Z",
        "name-back": "Names from Z to A",
        "email": "E-mails from A to Z",
        "email-back": "E-mails from Z to A",
    },
    narrow=("name", "email", "roles", "state"),
    columns={
        "name": columns.text("Name", lambda row: row.name, 160, sorts=("name", "name-back")),
        "email": columns.text("E-mail", lambda row: row.email, 240, sorts=("email", "email-back")),
        "roles": columns.text("Roles", lambda row: words.title(", ".join(row.roles)), 100),
        "state": columns.state("State", lambda row: row.state),
        "signed_in": columns.moment("Last sign-in", lambda row: row.signed_in_at),
        "sessions": columns.number("Sessions", lambda row: row.open_sessions),
        "limit": columns.naira(
            "Claim limit",
            lambda row: row.claim_limit_minor,
            says="Up to this amount the person decides a claim alone. Empty: no limit.",
        ),
    },
)


def read_filter() -> StaffFilter:
    """Read the filters from the URL; unknown values are dropped."""
    state = url_state.one_of(_STATE, _STATES)
    return StaffFilter(
        text=st.query_params.get(_FIND, "").strip()[:_LONGEST],
        role=url_state.one_of(_ROLE, _ROLES),
        enabled=None if state is None else state == "enabled",
    )


def filters(wanted: StaffFilter) -> None:
    """Draw the filters of the staff list and the reset button."""
    state = None if wanted.enabled is None else ("enabled" if wanted.enabled else "disabled")
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        url_state.search_box(
            _FIND, "Find", text=wanted.text, placeholder="Any part of a name or e-mail", longest=_LONGEST
        )
        url_state.choice(_ROLE, "Role", _ROLES, chosen=wanted.role, anything="Any role", labelled=False)
        url_state.choice(_STATE, "State", _STATES, chosen=state, anything="Any state", labelled=False)
        url_state.reset_button(shown=wanted.is_filtered)


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


def adding(person_id: UUID) -> Action:
    """Return the action that makes an account, one however often it is submitted."""

    def add(session: ScopedSession, typed: Values, by: Person) -> str:
        account_changes.add_person(session, person_id, dict(typed), by=by)
        return (invitations.create_password_link(session, person_id, by=by) if settings().passwords else None) or ""

    return action(
        title="Add",
        icon="person_add",
        fields=list_fields(None),
        work=add,
        done="The person is added.",
        then=lambda link: open_person(person_id, link),
    )


def open_person(person_id: UUID, link: str) -> None:
    st.session_state.pop(DRAFT)
    keep_link(link)
    st.session_state[ADDED] = person_id


def draw() -> None:
    frame.require("admin")
    frame.page_header("Staff", "Everybody who signs in, what they may do, and whether they are here now.")
    if added := st.session_state.pop(ADDED, None):
        page_links.go("admin/person.py", id=str(added))
    with st.expander("Add a person", icon=":material/person_add:"):
        adding(st.session_state.setdefault(DRAFT, ids.new())).form(key="add")
    draw_waiting()
    wanted = read_filter()
    filters(wanted)
    with reading(Scope.system()) as session:
        found = staff.list_staff(session, wanted, STAFF.paging(1), order=STAFF.order_among(staff.ORDERS))
    number = tables.page_of(STAFF, found.total_count)
    if number is None:
        return
    if number > 1:
        with reading(Scope.system()) as session:
            found = staff.list_staff(session, wanted, STAFF.paging(number), order=STAFF.order_among(staff.ORDERS))
    st.markdown(STAFF.count_text(found.total_count))
    if not found.items:
        st.info("No person matches. Remove a filter, or add the person above.", icon=":material/person_search:")
        return
    tables.draw(STAFF, found.items, number=number, total=found.total_count)
