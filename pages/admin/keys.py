"""API keys: distributor, mode and last use; a new key is shown once only."""

import streamlit as st

from core import ids
from core.errors import InvalidInput, StateForbids
from core.services.distributors import distributors, key_admin
from core.store.access import Scope, reading
from core.ui.admin import admin_writes, key_table
from core.ui.admin.key_table import KEYS
from core.ui.forms import forms
from core.ui.frame import frame
from core.ui.kit import words
from core.ui.lists import tables

SEED = "keys.seed"
MODES = {"test": "Test: invented sales only", "live": "Live: real sales"}


def ask(names: list[str]) -> tuple[bool, dict[str, str | None], dict[str, "st.delta_generator.DeltaGenerator"]]:
    said, places = dict[str, str | None](), dict[str, "st.delta_generator.DeltaGenerator"]()
    with st.expander("Issue a key", icon=":material/add:"), st.form("issue", border=False):
        said["distributor"] = st.selectbox(
            "Distributor",
            names,
            index=None,
            accept_new_options=True,
            placeholder="Choose one, or type the name of a new one",
        )
        places["distributor"] = st.empty()
        said["mode"] = st.segmented_control(
            "Mode", list(MODES), default="test", required=True, format_func=lambda mode: MODES[mode]
        )
        places["mode"] = st.empty()
        said["name"] = st.text_input("What it is for", max_chars=100, placeholder="Checkout of the shop")
        places["name"] = st.empty()
        sent = st.form_submit_button("Issue the key", type="primary", icon=":material/key:")
    return sent, said, places


def issue(said: dict[str, str | None], places: dict[str, "st.delta_generator.DeltaGenerator"]) -> None:
    seed = st.session_state[SEED]
    try:
        key = admin_writes.write(lambda session, by: key_admin.issue_key(session, said, seed=seed, by=by))
    except InvalidInput as error:
        for fault in error.faults:
            places[fault.field].markdown(forms.complaint(fault.message))
    except StateForbids as error:
        st.error(f"{words.plain(str(error))}.", icon=":material/block:")
    else:
        show(key, said)


def show(key: str, said: dict[str, str | None]) -> None:
    """Show the key in this run only: the next click removes it."""
    with st.container(border=True):
        st.markdown(
            f":material/key: **Copy this key now: it is shown once.** {words.badge(words.title(said['mode'] or ''))}"
            f" {words.plain(said['distributor'])} · {words.plain(said['name'])}"
        )
        st.code(key, language=None, wrap_lines=True)
        st.caption("We keep only what is needed to recognise it. If it is lost, revoke it and issue another.")


def draw() -> None:
    frame.require("admin")
    frame.page_header("API keys", "Which distributors may call the API, in which mode, and when they last did.")
    with reading(Scope.system()) as session:
        sellers = distributors.list_active(session)
    sent, said, places = ask([seller.name for seller in sellers])
    if sent:
        st.session_state.setdefault(SEED, ids.new_token())
        issue(said, places)
    else:
        st.session_state[SEED] = ids.new_token()
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
