"""One API key: its distributor, mode, last use, and revocation."""

import streamlit as st

from core.services.catalogue import key_admin
from core.services.catalogue.key_admin import KeyRow
from core.services.events.webhooks import desk, endpoints
from core.store.access import Scope, reading
from core.ui.frame import frame, page_links, record_pages
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Tick
from core.ui.lists import tables
from pages.admin._shared import action

_PREFIX = "key."


def revoking(key: KeyRow) -> None:
    with reading(Scope.system()) as session:
        registered = endpoints.list_of_key(session, key.id)
    stolen = Tick("with_endpoints", "The key was stolen: disable these endpoints too")
    revoke = action(
        title="Revoke the key",
        fields=[stolen] if registered else (),
        work=lambda session, typed, by: desk.revoke_key(
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


def draw() -> None:
    frame.require("admin")
    tables.back_link("keys", "admin/keys.py", "Back to the keys")
    key = record_pages.load("key", key_admin.get_key, scope=Scope.system())
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
    page_links.link(
        "admin/audit_log.py",
        label="Everything about this key",
        icon=":material/history:",
        query_params={"kind": "key", "id": str(key.id), **frame.mode_query()},
    )
