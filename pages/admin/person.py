"""One staff member: name, roles and limit, access, sessions, and changes to the account."""

import streamlit as st

from core.errors import InvalidInput, NotAllowed, StaleVersion, StateForbids
from core.services.people import account_changes, role_grants, staff_list, staff_sessions
from core.services.people.staff_list import StaffRow
from core.store.access import Scope, reading
from core.ui.admin import admin_writes, staff_cards, staff_form
from core.ui.admin import role_grants as role_grant_cards
from core.ui.frame import frame, page_links, record_pages
from core.ui.kit import dialogs, facts, words
from core.ui.lists import tables

LIST, LOG = "admin/staff.py", "admin/audit_log.py"


def duties(person: StaffRow) -> None:
    """Draw name, roles and limit; typed values are kept when the change is refused."""
    with st.container(border=True, height="stretch"):
        st.markdown("**Duties**")
        shown = staff_form.pin_account(person)
        with st.form("duties", border=False):
            asked = staff_form.draw_form(shown.person, key=f"duties {shown.draft}")
            sent = st.form_submit_button("Save", type="primary")
        if sent:
            save(person, shown, asked)


def save(person: StaffRow, shown: staff_form.Shown, asked: staff_form.Asked) -> None:
    try:
        admin_writes.write(
            lambda session, by: account_changes.change_person(
                session, person.id, asked.said, seen_at=shown.seen_at, by=by
            )
        )
    except InvalidInput as error:
        asked.blame(error.faults)
    except StaleVersion:
        shown.seen_at = person.updated_at
        st.warning(
            f"Somebody else changed this account meanwhile: it is now {words.plain(person.name)},"
            f" {', '.join(person.roles)}, claim limit {words.naira(person.claim_limit_minor)}. Nothing of yours was"
            " written. Save again to write what you typed.",
            icon=":material/sync_problem:",
        )
    except (NotAllowed, StateForbids) as error:
        st.error(f"{error}.", icon=":material/block:")
    else:
        staff_form.forget()
        st.toast(
            "Saved. A name holds at once; other roles or another limit, once a second admin has confirmed them.",
            icon=":material/check_circle:",
        )
        st.rerun()


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
    dialogs.run("admin")
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
