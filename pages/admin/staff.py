"""Staff: everybody who can sign in, with roles, limits and sessions; and one person, whose account is changed here."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import streamlit as st

from core import ids, money
from core.services.people import accounts, credentials, role_grants, staff
from core.services.people.credentials import SessionFacts
from core.services.people.role_grants import OpenGrant
from core.services.people.staff import ROLES, Person, StaffFilter, StaffRow
from core.settings import settings
from core.states.claims import CLAIMS_ROLES
from core.store.access import Scope, ScopedSession, read_in, reading
from core.ui.frame import frame, page_links
from core.ui.kit import actions, facts, url_state, words
from core.ui.kit.actions import Action, Field, Naira, Text, Values, Work
from core.ui.lists import columns, tables
from core.ui.lists.tables import Table
from pages.admin._shared import action

_DOES = {
    "operations": "sales, policies, customers, buying",
    "claims": "claims, policies, customers",
    "finance": "sales, exports, statements",
    "supervisor": "decides claims above a limit, appeals",
    "compliance": "requests of people, erasure, breaches, returns",
    "admin": "everything, with staff, keys and products",
}
_LONGEST = 100
_SHOWN = "person.shown"


@dataclass(slots=True)
class Shown:
    """An account as the form was filled with it, and as it was when the admin was last told of a change."""

    person: StaffRow
    seen_at: datetime
    draft: UUID = field(default_factory=ids.new)


def pin_account(person: StaffRow) -> Shown:
    """Return the account shown in the form; it stays the same while somebody types, whatever others change."""
    kept: Shown | None = st.session_state.get(_SHOWN)
    if kept is None or kept.person.id != person.id:
        kept = st.session_state[_SHOWN] = Shown(person=person, seen_at=person.updated_at)
    return kept


def forget() -> None:
    """Fill the form from the account the next time."""
    st.session_state.pop(_SHOWN, None)


@dataclass(frozen=True, slots=True)
class _Roles(Field):
    """The roles of an account; read as a list."""

    def draw(self, key: str) -> None:
        """Draw a button for each role."""
        st.pills(
            self.label,
            list(ROLES),
            selection_mode="multi",
            format_func=words.title,
            help="  \n".join(f"**{words.title(role)}**: {does}" for role, does in _DOES.items()),
            key=key,
        )

    def read(self, key: str) -> list[str]:
        """Return the chosen roles."""
        return list(st.session_state.get(key) or [])


def list_fields(person: StaffRow | None) -> list[Field]:
    """Return the fields of an account; the e-mail is set at creation only, as it identifies the person."""
    limit = person.claim_limit_minor if person else None
    return [
        *([] if person else [Text("email", "E-mail", longest=_LONGEST)]),
        Text("name", "Name", longest=_LONGEST, value=person.name if person else ""),
        _Roles("roles", "Roles", value=list(person.roles) if person else []),
        Naira(
            "claim_limit",
            "Claim limit in naira (optional)",
            value="" if limit is None else words.as_typed(str(money.to_naira(limit))),
            placeholder="0.00 for a new claims officer",
            help="Up to this amount the person decides a claim alone; above it a supervisor does. A new claims officer"
            " decides nothing until a limit is set.",
        ),
    ]


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
                " replaces it. If it asks for a code, the admin who proposed the account tells it to them."
            )


DRAFT, ADDED = "staff.new", "staff.added"
_FIND, _ROLE, _STATE = "find", "role", "state"
_ROLES: Mapping[str, str] = {role: words.title(role) for role in ROLES}
_STATES: Mapping[str, str] = {"enabled": "Enabled", "disabled": "Disabled"}
STAFF: Table[StaffRow] = Table(
    name="staff",
    noun=("person", "people"),
    opens="admin/staff.py#person",
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
            lambda row: row.limit_minor,
            says="Up to this amount the person decides a claim alone now; a raised limit counts a day later. Empty: no"
            " limit.",
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
    waiting = read_in(Scope.system(), role_grants.list_open)
    for grant in waiting:
        page_links.link_to(
            "admin/staff.py#person",
            f"{words.plain(grant.person)}: {words.plain(grant.text)} waits for a second admin",
            "how_to_reg",
            id=str(grant.staff_id),
        )


def adding(person_id: UUID) -> Action:
    """Return the action that makes an account, one however often it is submitted."""

    def add(session: ScopedSession, typed: Values, by: Person) -> str:
        accounts.add_person(session, person_id, dict(typed), by=by)
        return (accounts.create_password_link(session, person_id, by=by) if settings().passwords else None) or ""

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
    if added := st.session_state.pop(ADDED, None):
        page_links.go("admin/staff.py#person", id=str(added))
    with (
        frame.header_with_buttons("Staff", "Everybody who signs in, what they may do, and whether they are here now."),
        st.popover("Add a person", icon=":material/person_add:", type="primary"),
    ):
        adding(st.session_state.setdefault(DRAFT, ids.new())).form(key="add")
    draw_waiting()
    wanted = read_filter()
    filters(wanted)
    with reading(Scope.system()) as session:
        order, paging = STAFF.order_among(staff.ORDERS), STAFF.paging(url_state.page())
        found = staff.list_staff(session, wanted, paging, order=order)
    number = tables.page_of(STAFF, found.total_count)
    if number is None:
        return
    st.markdown(STAFF.count_text(found.total_count))
    if not found.items:
        st.info("No person matches. Remove a filter, or add the person above.", icon=":material/person_search:")
        return
    tables.draw(STAFF, found.items, number=number, total=found.total_count)


LIST, LOG = "admin/staff.py", "admin/audit_log.py"


def access(person: StaffRow, by: Person) -> None:
    """Draw the state of the person's access, and the buttons to change it."""
    with facts.card("**Access**"):
        facts.line("Account made", words.moment(person.created_at))
        facts.line("Last sign-in", words.moment(person.signed_in_at))
        if person.disabled_at:
            facts.line("Disabled", words.moment(person.disabled_at))
        if person.link_is_open:
            facts.line("Link open until", words.moment(person.link_until))
            if code := read_in(Scope.system(), accounts.find_link_code, person.id, by=by):
                facts.line("Code of the link", code)
                st.caption(
                    "Tell it to the person yourself, not to the admin who has the link: the account opens with both."
                )
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
        says=f"Those of **{words.plain(person.name)}** as a private person. Fields left empty are not changed.",
        fields=[
            Text("phone_number", "Phone", longest=32, value=person.phone_number or ""),
            Text("account_number", "Bank account, ten digits", longest=10),
        ],
        confirm="Keep them",
        work=lambda session, typed, by: accounts.set_own_details(session, person.id, typed, by=by),
        done="Saved. This person decides on nothing that has this phone or account.",
        then=lambda _: forget(),
    )


def _buttons(person: StaffRow, by: Person) -> None:
    if person.disabled_at is not None:
        _button(
            "Enable",
            "lock_open",
            lambda session, _, by: accounts.enable_person(session, person.id, by=by),
            "Enabled; where the account can move money, another admin confirms it first.",
        )
        return
    if settings().passwords:
        st.button(
            "Reset the password" if person.has_password else "Make a password link",
            icon=":material/link:",
            on_click=_making_link(person).do,
            help="Makes a link with which the person chooses a new password; the old one works until then.",
        )
    if person.id == by.id:
        st.caption("This is you: only another admin can disable your account.")
        return
    with st.popover("Disable", icon=":material/block:"):
        st.markdown(
            f"**{words.plain(person.name)}** is signed out everywhere at once and cannot sign in again until"
            " somebody enables the account."
        )
        if not set(CLAIMS_ROLES).isdisjoint(person.roles):
            st.markdown(
                "Claims of this person that are not settled or declined are unassigned then, and their tasks are of"
                " whoever takes the claim."
            )
        disable = action(
            title="Disable the account",
            work=lambda session, _, by: accounts.disable_person(session, person.id, by=by),
            done="Proposed: another admin confirms it." if "admin" in person.roles else "Disabled.",
            then=lambda _: forget(),
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
                lambda session, _, by: accounts.end_sessions(session, person.id, by=by),
                "All sessions are ended.",
            )
    if not opened:
        st.caption(f"{words.plain(person.name)} has never signed in.")
    for one in going:
        _open_session(person, one)
    ended = [_ended(one) for one in opened if not one.is_open]
    if ended:
        st.caption("The last sessions that ended")
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
            lambda session, _, by: accounts.end_sessions(session, person.id, by=by, handle=one.handle),
            "The session is ended.",
            key=f"person.end {one.handle[:12]}",
        )


def _here() -> str | None:
    """Return the handle of this browser's session."""
    token = frame.session_token()
    return credentials.hash_token(token) if isinstance(token, str) else None


def _ended(one: SessionFacts) -> dict[str, str]:
    return {
        "Signed in": words.moment(one.opened_at),
        "Last seen": words.moment(one.seen_at),
        "Ended": words.moment(one.ended_at) if one.ended_at else "Expired, unused or too old",
    }


def _button(label: str, icon: str, work: Work, done: str, *, key: str | None = None) -> None:
    change = action(title=label, work=work, done=done, then=lambda _: forget())
    st.button(label, icon=f":material/{icon}:", on_click=change.do, key=key)


def _making_link(person: StaffRow) -> Action:
    return action(
        title="Make a password link",
        work=lambda session, _, by: accounts.create_password_link(session, person.id, by=by) or "",
        done=lambda link: "The link is made." if link else "Proposed: another admin confirms it, and gets the link.",
        then=keep_link,
    )


def draw_grant(grant: OpenGrant | None, by: Person) -> None:
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
        work=lambda session, _, by: accounts.confirm_change(session, grant.id, by=by) or "",
        done=lambda link: (
            "Confirmed. It holds once the person has chosen a password by the link."
            if link
            else "Confirmed. It holds from the person's next click; a higher limit in 24 hours."
        ),
        then=_show_confirmed,
    )


def _show_confirmed(link: str) -> None:
    forget()
    keep_link(link)


def duties(person: StaffRow) -> None:
    """Draw name, roles and limit; typed values are kept when the change is refused."""
    with facts.card("**Duties**"):
        shown = pin_account(person)
        saving(shown).form(key=f"duties {shown.draft}")
        if person.limit_waits:
            until = words.moment(person.limit_holds_from)
            st.caption(
                f"The higher limit counts from {until}; until then it is {words.naira(person.limit_before_minor)}."
            )


def saving(shown: Shown) -> Action:
    """Return the action that changes an account over what was seen of it."""
    return action(
        title="Save",
        icon="save",
        fields=list_fields(shown.person),
        work=lambda session, typed, by: accounts.change_person(
            session, shown.person.id, typed, seen_at=shown.seen_at, by=by
        ),
        done="Saved. A name holds at once; other roles or another limit, once a second admin has confirmed them.",
        then=lambda _: forget(),
        on_stale=lambda: look_again(shown),
    )


def look_again(shown: Shown) -> None:
    """Say what the account is now; saving once more writes over that."""
    now = read_in(Scope.system(), staff.get_staff, shown.person.id)
    shown.seen_at = now.updated_at
    actions.refuse(
        f"duties {shown.draft}",
        f"Somebody else changed this account meanwhile: it is now {now.name}, {', '.join(now.roles)}, claim limit"
        f" {words.naira(now.claim_limit_minor)}. Nothing of yours was written. Save again to write what you typed",
    )


def draw_person() -> None:
    by = frame.require("admin")
    tables.back_link("staff", LIST, "Back to the staff")
    person = page_links.load_record("person", staff.get_staff, scope=Scope.system())
    waiting = read_in(Scope.system(), role_grants.get_open, person.id)
    frame.page_header(
        f"{words.plain(person.name)} {words.badge(person.state)}",
        words.plain(person.email),
        tab=f"{person.name} · Person",
    )
    outcome()
    draw_grant(waiting, by)
    with st.grid(2, min_column_width=340, gap="small"):
        duties(person)
        access(person, by)
    own_details(person, by)
    with reading(Scope.system()) as session:
        opened = credentials.list_latest(session, person.id)
        events = staff.list_events(session, person.id)
    sessions(person, opened)
    with st.expander("What was done to this account", icon=":material/history:"):
        facts.log(events)
    with st.container(horizontal=True):
        about = {"kind": "staff", "id": str(person.id)}
        page_links.link(LOG, label="Everything about this account", icon=":material/history:", query_params=about)
        done = {"who": f"staff {person.email}"}
        page_links.link(LOG, label="Everything this person did", icon=":material/manage_search:", query_params=done)
