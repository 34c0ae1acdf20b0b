"""One API key: its distributor, mode, last use, and revocation."""

from uuid import UUID

import streamlit as st

from core.errors import CoverdeskError
from core.services.distributors import key_admin
from core.services.distributors.key_admin import KeyRow
from core.services.webhooks import desk, endpoints
from core.store.access import Scope, reading
from core.ui.admin import admin_writes
from core.ui.frame import frame, page_links, record_pages
from core.ui.kit import facts, words
from core.ui.lists import tables

_WITH_ENDPOINTS = "key.with_endpoints"


def revoking(key: KeyRow) -> None:
    with reading(Scope.system()) as session:
        registered = endpoints.list_of_key(session, key.id)
    with st.popover("Revoke", icon=":material/key_off:"):
        st.markdown(
            f"Whoever calls with **{words.plain(key.hint)}** is refused within a second. This cannot be undone:"
            " issue another key before, if the distributor goes on."
        )
        if registered:
            st.markdown("Webhook endpoints that it registered go on, as they belong to the distributor:")
            st.markdown("\n".join(f"- {words.plain(each.description or each.url)}" for each in registered))
            st.checkbox("The key was in wrong hands: disable these endpoints too", key=_WITH_ENDPOINTS)
        st.button("Revoke the key", type="primary", on_click=revoke, args=(key.id,))


def revoke(key_id: UUID) -> None:
    with_endpoints = bool(st.session_state.get(_WITH_ENDPOINTS))
    try:
        disabled = admin_writes.write(
            lambda session, by: desk.revoke_key(session, key_id, with_endpoints=with_endpoints, by=by)
        )
    except CoverdeskError as error:
        admin_writes.refuse(error)
    else:
        told = f" Endpoints disabled with it, whose events are held: {disabled}." if disabled else ""
        admin_writes.keep_message(f"The key is revoked.{told}")


def draw() -> None:
    frame.require("admin")
    tables.back_link("keys", "admin/keys.py", "Back to the keys")
    key = record_pages.load("key", key_admin.get_key, scope=Scope.system())
    frame.page_header(
        f"{words.plain(key.name)} {words.badge(key.mode)} {words.badge(key.state)}",
        words.plain(key.distributor),
        tab=f"{key.name} · API key",
    )
    admin_writes.outcome()
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
