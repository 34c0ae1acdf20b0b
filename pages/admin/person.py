"""One staff member: name, roles and limit, access, sessions, and changes to the account."""

import streamlit as st

from core.services.people import account_changes, role_grants, staff_list, staff_sessions
from core.services.people.staff_list import StaffRow
from core.store.access import Scope, reading
from core.ui.admin import role_grants as role_grant_cards
from core.ui.admin import staff_cards, staff_form
from core.ui.admin.desk import action
from core.ui.frame import frame, page_links, record_pages
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action
from core.ui.lists import tables

LIST, LOG = "admin/staff.py", "admin/audit_log.py"


def duties(person: StaffRow) -> None:
    """Draw name, roles and limit; typed values are kept when the change is refused."""
    with st.container(border=True, height="stretch"):
        st.markdown("**Duties**")
        shown = staff_form.pin_account(person)
        saving(shown).form(key=f"duties {shown.draft}")


def saving(shown: staff_form.Shown) -> Action:
    """Return the action that changes an account over what was seen of it."""
    return action(
        title="Save",
        icon="save",
        fields=staff_form.list_fields(shown.person),
        work=lambda session, typed, by: account_changes.change_person(
            session, shown.person.id, typed, seen_at=shown.seen_at, by=by
        ),
        done="Saved. A name holds at once; other roles or another limit, once a second admin has confirmed them.",
        then=lambda _: staff_form.forget(),
        on_stale=lambda: look_again(shown),
    )


def look_again(shown: staff_form.Shown) -> None:
    """Say what the account is now; saving once more writes over that."""
    with reading(Scope.system()) as session:
        now = staff_list.get_staff(session, shown.person.id)
    shown.seen_at = now.updated_at
    actions.refuse(
        f"duties {shown.draft}",
        f"Somebody else changed this account meanwhile: it is now {now.name}, {', '.join(now.roles)}, claim limit"
        f" {words.naira(now.claim_limit_minor)}. Nothing of yours was written. Save again to write what you typed",
    )


def draw() -> None:
    by = frame.require("admin")
    tables.back_link("staff", LIST, "Back to the staff")
    person = record_pages.load("person", staff_list.get_staff, scope=Scope.system())
    with reading(Scope.system()) as session:
        waiting = role_grants.get_open(session, person.id)
    frame.page_header(
        f"{words.plain(person.name)} {words.badge(person.state)}",
        words.plain(person.email),
        tab=f"{person.name} · Person",
    )
    staff_cards.outcome()
    role_grant_cards.draw(waiting, by)
    with st.grid(2, min_column_width=340, gap="small"):
        duties(person)
        staff_cards.access(person, by)
    staff_cards.own_details(person, by)
    with reading(Scope.system()) as session:
        opened = staff_sessions.list_latest(session, person.id)
        events = staff_list.list_events(session, person.id)
    staff_cards.sessions(person, opened)
    with st.expander("What was done to this account", icon=":material/history:"):
        facts.log(events)
    with st.container(horizontal=True):
        about = {"kind": "staff", "id": str(person.id), **frame.mode_query()}
        page_links.link(LOG, label="Everything about this account", icon=":material/history:", query_params=about)
        done = {"who": f"staff {person.email}", **frame.mode_query()}
        page_links.link(LOG, label="Everything this person did", icon=":material/manage_search:", query_params=done)
