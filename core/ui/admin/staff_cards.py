"""One staff member: access, sessions, and an admin's actions on the account."""

from collections.abc import Mapping

import streamlit as st

from core.services.people import account_changes, invitations, staff_sessions
from core.services.people.staff import ROLES, Person
from core.services.people.staff_list import StaffFilter, StaffRow
from core.services.people.staff_sessions import SessionFacts
from core.settings import settings
from core.ui.admin import staff_form
from core.ui.admin.desk import action
from core.ui.frame import frame
from core.ui.kit import actions, facts, url_state, words
from core.ui.kit.actions import Action, Text, Work
from core.ui.lists import columns
from core.ui.lists.tables import Table

_FIND, _ROLE, _STATE = "find", "role", "state"
_ROLES: Mapping[str, str] = {role: words.title(role) for role in ROLES}
_STATES: Mapping[str, str] = {"enabled": "Enabled", "disabled": "Disabled"}
_LONGEST = 100

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
        url_state.choice(_ROLE, "Role", _ROLES, chosen=wanted.role)
        url_state.choice(_STATE, "State", _STATES, chosen=state)
        url_state.reset_button(shown=wanted.is_filtered)


_LINK = "person.link"


def keep_link(link: str | None) -> None:
    """Keep a new link, if there is one, for the person's page, which shows it once."""
    if link:
        st.session_state[_LINK] = link


def outcome() -> None:
    """Show the result of the last click, once; a link is never shown again."""
    actions.run()
    if link := st.session_state.pop(_LINK, None):
        with st.container(border=True):
            st.markdown(":material/link: **Send this link to the person, and to nobody else**")
            st.code(link, language=None, wrap_lines=True)
            st.caption(
                "It lets them choose a password, once and within 24 hours. It is shown now and not again; a new one"
                " replaces it."
            )


def access(person: StaffRow, by: Person) -> None:
    """Draw the state of the person's access, and the buttons to change it."""
    with st.container(border=True, height="stretch"):
        st.markdown(f"**Access** {words.badge(person.state)}")
        facts.line("Account made", words.moment(person.created_at))
        facts.line("Last sign-in", words.moment(person.signed_in_at))
        if person.disabled_at:
            facts.line("Disabled", words.moment(person.disabled_at))
        if person.link_is_open:
            facts.line("Link open until", words.moment(person.link_until))
        with st.container(horizontal=True, gap="xsmall"):
            _buttons(person, by)


def own_details(person: StaffRow, by: Person) -> None:
    """Draw the person's own phone and account, masked, with the button to change them."""
    with st.container(border=True):
        st.markdown("**Own phone and bank account**")
        st.caption(
            "Whoever has them decides on no claim, refund, statement or payment with one of them. The account is sealed"
            " and shown by its last digits."
        )
        facts.line("Phone", person.phone_number or "–")
        facts.line("Bank account", f"ending in {person.account_hint}" if person.account_hint else "–")
        if person.id == by.id:
            st.caption("This is you: another admin sets them.")
            return
        _changing_details(person).button("Change phone or account")


def _changing_details(person: StaffRow) -> Action:
    return action(
        title="Own phone and bank account",
        icon="contact_phone",
        says=f"Those of **{words.plain(person.name)}** as a private person. What stays empty stays as it is.",
        fields=[
            Text("phone_number", "Phone", longest=32, value=person.phone_number or ""),
            Text("account_number", "Bank account, ten digits", longest=10),
        ],
        confirm="Keep them",
        work=lambda session, typed, by: account_changes.set_own_details(session, person.id, typed, by=by),
        done="Kept. What has this phone or account is not this person's to decide on.",
        then=lambda _: staff_form.forget(),
    )


def _buttons(person: StaffRow, by: Person) -> None:
    if person.disabled_at is not None:
        _button(
            "Enable",
            "lock_open",
            lambda session, _, by: account_changes.enable_person(session, person.id, by=by),
            "Enabled, or proposed to another admin where the account moves money.",
        )
        return
    if settings().passwords:
        st.button(
            "Reset the password" if person.has_password else "Make a password link",
            icon=":material/link:",
            on_click=_making_link(person).do,
            help="Makes a link with which the person chooses a password. Until then, what they have stays.",
        )
    if person.id == by.id:
        st.caption("This is you: only another admin can disable your account.")
        return
    with st.popover("Disable", icon=":material/block:"):
        st.markdown(
            f"**{words.plain(person.name)}** is signed out everywhere at once and cannot sign in again until"
            " somebody enables the account."
        )
        disable = action(
            title="Disable the account",
            work=lambda session, _, by: account_changes.disable_person(session, person.id, by=by),
            done="Proposed: another admin confirms it." if "admin" in person.roles else "Disabled.",
            then=lambda _: staff_form.forget(),
        )
        st.button(disable.title, type="primary", key="person.disable", on_click=disable.do)


def sessions(person: StaffRow, opened: list[SessionFacts]) -> None:
    """Draw the last sign-ins: open ones with a button to end them, then the others."""
    going = [one for one in opened if one.is_open]
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        st.subheader("Sessions", anchor=False)
        if len(going) > 1:
            _button(
                "End all sessions",
                "logout",
                lambda session, _, by: account_changes.end_sessions(session, person.id, by=by),
                "All sessions are ended.",
            )
    if not opened:
        st.caption(f"{words.plain(person.name)} has never signed in.")
    for one in going:
        _open_session(person, one)
    ended = [_ended(one) for one in opened if not one.is_open]
    if ended:
        st.caption("The last ones that are over")
        st.table(ended, border="horizontal")


def _open_session(person: StaffRow, one: SessionFacts) -> None:
    with st.container(border=True, horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        here = " · **this is where you are now**" if one.handle == _here() else ""
        st.markdown(
            f"{words.badge('Signed in')} since {words.moment(one.opened_at)}"
            f" · last seen {words.moment(one.seen_at)}{here}",
            width="content",
        )
        _button(
            "End",
            "logout",
            lambda session, _, by: account_changes.end_sessions(session, person.id, by=by, handle=one.handle),
            "The session is ended.",
            key=f"person.end {one.handle[:12]}",
        )


def _here() -> str | None:
    """Return the handle of this browser's session."""
    token = frame.session_token()
    return staff_sessions.hash_token(token) if isinstance(token, str) else None


def _ended(one: SessionFacts) -> dict[str, str]:
    return {
        "Signed in": words.moment(one.opened_at),
        "Last seen": words.moment(one.seen_at),
        "Ended": words.moment(one.ended_at) if one.ended_at else "By itself, unused or too old",
    }


def _button(label: str, icon: str, work: Work, done: str, *, key: str | None = None) -> None:
    change = action(title=label, work=work, done=done, then=lambda _: staff_form.forget())
    st.button(label, icon=f":material/{icon}:", on_click=change.do, key=key)


def _making_link(person: StaffRow) -> Action:
    return action(
        title="Make a password link",
        work=lambda session, _, by: invitations.create_password_link(session, person.id, by=by) or "",
        done=lambda link: "The link is made." if link else "Proposed: another admin confirms it, and gets the link.",
        then=keep_link,
    )
