"""API keys: those of every distributor in this mode, by state; and one key, its use and its end."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import streamlit as st

from core import ids
from core.services.catalogue import distributors, key_admin
from core.services.catalogue.key_admin import KeyFilter, KeyRow
from core.services.events.webhooks import endpoints
from core.services.lists.dimensions import load_choices
from core.store.access import Scope, read_in, reading
from core.ui.frame import frame, page_links
from core.ui.kit import actions, facts, url_state, words
from core.ui.kit.actions import Action, Choice, Segments, Text, Tick, Values
from core.ui.lists import columns, tables
from core.ui.lists.tables import Table
from pages.admin._shared import action

MADE, SEED, ISSUED = "keys.made", "keys.seed", "keys.issued"
MODES = {"test": "Test: invented sales only", "live": "Live: real sales"}
_OF, _KIND, _STATE = "distributor", "kind", "state"
_KINDS: Mapping[str, str] = {"live": "Live", "test": "Test"}
_STATES: Mapping[str, str] = {"working": "Not revoked", "revoked": "Revoked"}
KEYS: Table[KeyRow] = Table(
    name="keys",
    noun=("key", "keys"),
    opens="admin/keys.py#key",
    orders={
        "newest": "Newest first",
        "oldest": "Oldest first",
        "distributor": "Distributors from A to Z",
        "distributor-back": "Distributors from Z to A",
        "used-back": "Last used first",
        "used": "Unused for longest first",
    },
    narrow=("distributor", "mode", "hint", "state"),
    columns={
        "distributor": columns.text(
            "Distributor", lambda row: row.distributor, 180, sorts=("distributor", "distributor-back")
        ),
        "mode": columns.state("Mode", lambda row: row.mode),
        "name": columns.text("Name", lambda row: row.name, 80),
        "hint": columns.text("Key", lambda row: row.hint, 130),
        "state": columns.state("State", lambda row: row.state),
        "created": columns.moment("Issued", lambda row: row.created_at, sorts=("oldest", "newest")),
        "used": columns.moment("Last used", lambda row: row.last_used_at, sorts=("used", "used-back")),
        "revoked": columns.day("Revoked", lambda row: row.revoked_at),
    },
)


def read_filter(distributors: Mapping[str, str]) -> KeyFilter:
    """Read the filters from the URL; unknown values are dropped."""
    chosen = url_state.one_of(_OF, distributors)
    kind, state = url_state.one_of(_KIND, _KINDS), url_state.one_of(_STATE, _STATES)
    return KeyFilter(
        distributor_id=UUID(chosen) if chosen else None,
        is_live=None if kind is None else kind == "live",
        revoked=None if state is None else state == "revoked",
    )


def filters(wanted: KeyFilter, distributors: Mapping[str, str]) -> None:
    """Draw the filters of the keys and the reset button."""
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        chosen = str(wanted.distributor_id) if wanted.distributor_id else None
        url_state.choice(_OF, "Distributor", distributors, chosen=chosen, anything="Any distributor", labelled=False)
        kind = None if wanted.is_live is None else ("live" if wanted.is_live else "test")
        url_state.choice(_KIND, "Mode", _KINDS, chosen=kind, anything="Any mode", labelled=False)
        state = None if wanted.revoked is None else ("revoked" if wanted.revoked else "working")
        url_state.choice(_STATE, "State", _STATES, chosen=state, anything="Any state", labelled=False)
        url_state.reset_button(shown=wanted.is_filtered)


def issuing(names: Sequence[str], seed: str) -> Action:
    """Return the action that issues a key, the same one however often it is submitted with a seed."""
    return action(
        title="Issue the key",
        icon="key",
        fields=[
            Choice("distributor", "Distributor", options={name: name for name in names}),
            Segments("mode", "Mode", options=MODES, value="test"),
            Text("name", "What it is for", longest=100, placeholder="Checkout of the shop"),
        ],
        work=lambda session, typed, by: (key_admin.issue_key(session, typed, seed=seed, by=by), typed),
        done="The key is issued.",
        then=lambda made: st.session_state.__setitem__(MADE, made),
        keeps_typed=True,
    )


def show(key: str, typed: Values) -> None:
    """Show the key in this run only: the next click removes it."""
    with st.container(border=True):
        st.markdown(
            f":material/key: **Copy this key now: it is shown once.** {words.badge(words.title(typed['mode']))}"
            f" {words.plain(typed['distributor'])} · {words.plain(typed['name'])}"
        )
        st.code(key, language=None, wrap_lines=True)
        st.caption("We keep only what is needed to recognise it. If it is lost, revoke it and issue another.")


def draw_head(sellers: list[str], *, is_made: bool) -> None:
    """Draw the head of the list with the form of another key, which is closed once one was made."""
    if is_made:
        # By another place of its own: open, it would lie over the key that is shown once.
        st.session_state[ISSUED] = st.session_state.get(ISSUED, 0) + 1
    else:
        st.session_state[SEED] = ids.new_token()
    with frame.header_with_buttons(
        "API keys", "Which distributors may call the API, in which mode, and when they last did."
    ):
        if sellers:
            place = f"issue {st.session_state.get(ISSUED, 0)}"
            with st.popover("Issue a key", icon=":material/add:", type="primary", key=place):
                issuing(sellers, st.session_state[SEED]).form(key="issue")
        else:
            page_links.link_to("admin/partners.py", "Add the distributor that the first key is for", "add_business")


def draw() -> None:
    frame.require("admin")
    with reading(Scope.system()) as session:
        sellers = distributors.list_active(session)
        names = {str(key): name for key, name in load_choices(session).names["distributor"].items()}
    made = st.session_state.pop(MADE, None)
    draw_head([seller.name for seller in sellers], is_made=made is not None)
    actions.run()
    if made:
        show(*made)
    wanted = read_filter(names)
    filters(wanted, names)
    with reading(Scope.system()) as session:
        order, paging = KEYS.order_among(key_admin.ORDERS), KEYS.paging(url_state.page())
        found = key_admin.list_keys(session, wanted, paging, order=order)
    number = tables.page_of(KEYS, found.total_count)
    if number is None:
        return
    st.markdown(KEYS.count_text(found.total_count))
    if found.items:
        tables.draw(KEYS, found.items, number=number, total=found.total_count)
    elif wanted.is_filtered:
        st.info("No key matches. Remove a filter.", icon=":material/filter_alt_off:")
    else:
        st.info("There is no key yet.", icon=":material/key:")


_PREFIX = "key."


def revoking(key: KeyRow) -> None:
    registered = read_in(Scope.system(), endpoints.list_of_key, key.id)
    stolen = Tick("with_endpoints", "The key was stolen: disable these endpoints too")
    revoke = action(
        title="Revoke the key",
        fields=[stolen] if registered else (),
        work=lambda session, typed, by: endpoints.revoke_key(
            session, key.id, with_endpoints=typed.get("with_endpoints", False), by=by
        ),
        done=lambda disabled: (
            "The key is revoked."
            + (f" Endpoints disabled with it, whose events are held: {disabled}." if disabled else "")
        ),
    )
    with st.popover("Revoke", icon=":material/key_off:"):
        st.markdown(
            f"Whoever calls with **{words.plain(key.hint)}** is refused within a second. This cannot be undone:"
            " issue another key before, if the distributor goes on."
        )
        if registered:
            st.markdown("Webhook endpoints that it registered go on, as they belong to the distributor:")
            st.markdown("\n".join(f"- {words.plain(each.description or each.url)}" for each in registered))
        actions.draw_fields(revoke, "", _PREFIX)
        st.button(revoke.title, type="primary", on_click=revoke.do, args=("", _PREFIX))


def draw_key() -> None:
    frame.require("admin")
    tables.back_link("keys", "admin/keys.py", "Back to the keys")
    key = page_links.load_record("key", key_admin.get_key, scope=Scope.system())
    frame.page_header(
        f"{words.plain(key.name)} {words.badge(key.mode)} {words.badge(key.state)}",
        words.plain(key.distributor),
        tab=f"{key.name} · API key",
    )
    actions.run()
    with st.container(border=True, width=520):
        facts.line("Key", key.hint)
        facts.line("Issued", words.moment(key.created_at))
        facts.line("Last used", words.moment(key.last_used_at) if key.last_used_at else "Never")
        if key.revoked_at:
            facts.line("Revoked", words.moment(key.revoked_at))
        else:
            revoking(key)
    st.caption("The key itself is not kept: only its first and last letters can be shown.")
    page_links.link_to("admin/audit_log.py", "Everything about this key", "history", kind="key", id=str(key.id))
