"""One API key: its distributor, mode, last use, and revocation."""

import streamlit as st

from core.services.distributors import key_admin
from core.services.distributors.key_admin import KeyRow
from core.store.access import Scope
from core.ui.admin import admin_writes
from core.ui.frame import frame, record_pages
from core.ui.kit import facts, words
from core.ui.lists import tables


def revoking(key: KeyRow) -> None:
    with st.popover("Revoke", icon=":material/key_off:"):
        st.markdown(
            f"Whoever calls with **{words.plain(key.hint)}** is refused within a second. This cannot be undone:"
            " issue another key before, if the distributor goes on."
        )
        click = admin_writes.doing(
            lambda session, by: key_admin.revoke_key(session, key.id, by=by), "The key is revoked."
        )
        st.button("Revoke the key", type="primary", on_click=click)


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
st.page_link(
    "admin/audit_log.py",
    label="Everything about this key",
    icon=":material/history:",
    query_params={"kind": "key", "id": str(key.id), **frame.mode_query()},
)
