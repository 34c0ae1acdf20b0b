"""The command palette (Ctrl+K): goes to any screen, action or record that the person may open.

A custom component (`browser/palette.js`) that asks `/desk/find` for records, with a payload of plain values:

    screens: kind, title, detail, href and search words of each screen and action
    pages:   path and label of the page of each kind of record
    find, longest, placeholder: where records are searched, by how long a text · test: is test mode shown
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import streamlit as st

from core.services.people.staff import Person
from core.services.views import finder
from core.services.views.finder import Kind
from core.ui.frame import frame, menu, page_links

FIND: Final = "/desk/find"
_PAGES: Final[Mapping[Kind, tuple[str, str]]] = {
    "policy": ("policies/policy.py", "Policy"),
    "purchase": ("sales/purchases.py#purchase", "Purchase"),
    "customer": ("sales/customers.py#customer", "Customer"),
    "claim": ("claims/claim.py", "Claim"),
    "product": ("admin/product.py", "Product"),
    "distributor": ("admin/partners.py#distributor", "Distributor"),
    "insurer": ("admin/partners.py#insurer", "Insurer"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Shortcut:
    """An action: its page with a query, and further words by which it is found."""

    title: str
    detail: str
    path: str
    query: tuple[tuple[str, str], ...] = ()
    words: str = ""


SHORTCUTS: Final = (
    Shortcut(
        title="Sell a policy", detail="Choose a cover and fill in its form", path="buy/buy.py", words="buy new purchase"
    ),
    Shortcut(
        title="Price credit life", detail="Amount, tenure, benefits", path="buy/credit_life.py", words="quote sell"
    ),
    Shortcut(title="Lodge a claim", detail="For any policy", path="claims/lodge.py", words="new claim"),
    Shortcut(title="Purchases of today", detail="Purchases", path="sales/purchases.py", query=(("period", "today"),)),
    Shortcut(
        title="Renew what ends this week", detail="Due for renewal", path="sales/due.py", words="call renewals expiring"
    ),
    Shortcut(
        title="Policies set aside",
        detail="Awaiting insurer",
        path="policies/awaiting.py",
        query=(("state", "dead"),),
        words="failed retry stuck",
    ),
    Shortcut(
        title="Claims near their deadline",
        detail="Queue",
        path="claims/queue.py",
        query=(("view", "near"),),
        words="60 days",
    ),
)

_mount = st.components.v2.component(
    "coverdesk_palette",
    html='<div class="root"></div>',
    css=(page_links.BROWSER / "palette.css").read_text(),
    js=page_links.VISIT + (page_links.BROWSER / "palette.js").read_text(),
)


def draw(person: Person) -> None:
    """Draw the button of the palette and listen for Ctrl+K."""
    _mount(key="palette", data=payload(person))


def payload(person: Person) -> dict[str, Any]:
    """Return what the browser is sent: only what the person may open."""
    screens = [screen for screen in menu.allowed_screens(person) if not screen.hidden]
    paths = {screen.path for screen in menu.allowed_screens(person)}
    actions = [shortcut for shortcut in SHORTCUTS if shortcut.path in paths]
    return {
        "screens": [
            *(
                {
                    "kind": "Screen",
                    "title": each.title,
                    "detail": each.purpose,
                    "href": frame.link(each.path),
                }
                for each in screens
            ),
            *(
                {
                    "kind": "Action",
                    "title": each.title,
                    "detail": each.detail,
                    "words": each.words,
                    "href": frame.link(each.path, **dict(each.query)),
                }
                for each in actions
            ),
        ],
        "pages": {kind: {"path": frame.link_path(path), "label": label} for kind, (path, label) in _PAGES.items()},
        "find": FIND,
        "longest": finder.MAX_LENGTH,
        "placeholder": "Number, name, plate, e-mail, phone, screen or action",
        "test": not frame.mode(),
    }
