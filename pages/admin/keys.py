"""API keys: distributor, mode and last use; a new key is shown once only."""

from collections.abc import Sequence

import streamlit as st

from core import ids
from core.services.catalogue import distributors, key_admin
from core.store.access import Scope, reading
from core.ui.admin import key_table
from core.ui.admin.desk import action
from core.ui.admin.key_table import KEYS
from core.ui.frame import frame
from core.ui.kit import actions, words
from core.ui.kit.actions import Action, Choice, Segments, Text, Values
from core.ui.lists import tables

MADE, SEED = "keys.made", "keys.seed"
MODES = {"test": "Test: invented sales only", "live": "Live: real sales"}


def issuing(names: Sequence[str], seed: str) -> Action:
    """Return the action that issues a key, the same one however often it is submitted with a seed."""
    hint, options = "Choose one, or type the name of a new one", {name: name for name in names}
    return action(
        title="Issue the key",
        icon="key",
        fields=[
            Choice("distributor", "Distributor", options=options, placeholder=hint, is_open=True),
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


def draw() -> None:
    frame.require("admin")
    frame.page_header("API keys", "Which distributors may call the API, in which mode, and when they last did.")
    with reading(Scope.system()) as session:
        sellers = distributors.list_active(session)
    actions.run()
    made = st.session_state.pop(MADE, None)
    if made is None:
        st.session_state[SEED] = ids.new_token()
    with st.expander("Issue a key", icon=":material/add:"):
        issuing([seller.name for seller in sellers], st.session_state[SEED]).form(key="issue")
    if made:
        show(*made)
    names = {str(seller.id): seller.name for seller in sellers}
    wanted = key_table.read_filter(names)
    key_table.filters(wanted, names)
    with reading(Scope.system()) as session:
        found = key_admin.list_keys(session, wanted, KEYS.paging(1), order=KEYS.order_among(key_admin.ORDERS))
    number = tables.page_of(KEYS, found.total_count)
    if number is None:
        return
    if number > 1:
        with reading(Scope.system()) as session:
            found = key_admin.list_keys(session, wanted, KEYS.paging(number), order=KEYS.order_among(key_admin.ORDERS))
    st.markdown(KEYS.count_text(found.total_count))
    if found.items:
        tables.draw(KEYS, found.items, number=number, total=found.total_count)
    elif wanted.is_filtered:
        st.info("No key matches this. Take a filter away.", icon=":material/filter_alt_off:")
    else:
        st.info("There is no key yet. Issue the first one above.", icon=":material/key:")
