"""A page that the signed-in person may not open: what it is, who may open it, and whom to ask."""

from typing import Final

import streamlit as st

from core.services.people import staff
from core.store.access import Scope, reading
from core.ui.frame import frame, menu, page_links
from core.ui.frame.menu import Screen
from core.ui.frame.screen_purposes import PURPOSES
from core.ui.kit import words

# What a person may open instead of a record that is not theirs.
_INSTEAD: Final = {
    "policies/policy.py": ("sales/purchases.py", "the purchase of a policy shows its customer, cover and money"),
    "sales/customer.py": ("sales/purchases.py", "purchases can be filtered by the customer's e-mail"),
}


def draw(screen: Screen) -> None:
    """Draw the refusal with a title of its own and the way back to a screen of the person's."""
    person = frame.require()
    frame.page_header(screen.title, PURPOSES.get(screen.path, f"A screen of {screen.section}."))
    roles = words.plain(" and ".join(person.roles))
    st.error(
        f"Your account does not have this: it is {menu.open_to(screen)}. Yours is {roles}.", icon=":material/block:"
    )
    with reading(Scope.system()) as session:
        admins = staff.list_admin_names(session)
    if admins:
        st.markdown(f"To get the role, ask an admin: {words.plain(', '.join(admins))}.")
    mine = menu.allowed_screens(person)
    path, why = _INSTEAD.get(screen.path, ("", ""))
    if any(each.path == path for each in mine):
        instead = menu.screen_of(path)
        page_links.link(
            path, label=f"{instead.title}: {why}", icon=f":material/{instead.icon}:", query_params=frame.mode_query()
        )
    if home := next((each for each in mine if not each.hidden), None):
        page_links.link(
            home.path, label=f"Go to {home.title}", icon=f":material/{home.icon}:", query_params=frame.mode_query()
        )
