"""The sidebar: the pages of a person's roles, the live/test switch and the sign-out button; and the command palette.

The palette (Ctrl+K) goes to any screen, action or record that the person may open. It is a custom component
(`browser/palette.js`) that asks `/desk/find` for records, with a payload of plain values:

    screens: kind, title, detail, href and search words of each screen and action
    pages:   path and label of the page of each kind of record
    find, longest, placeholder: where records are searched, by how long a text · test: is test mode shown
"""

import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import lru_cache
from typing import Any, Final
from urllib.parse import unquote, urlsplit

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from core import clock, telemetry
from core.desk import finder
from core.desk.finder import Kind
from core.services.claims.lists import totals as claim_totals
from core.services.claims.lists.filter import ClaimFilter
from core.services.claims.workflow import paying as claim_paying
from core.services.claims.workflow import tasks as claim_tasks
from core.services.people import sign_in, staff
from core.services.people.staff import Person
from core.states.claims import CLAIMS_ROLES
from core.store.access import Scope, read_in
from core.ui.frame import frame, menu, page_links
from core.ui.frame.menu import Screen
from core.ui.kit import figure_cache, words
from core.ui.kit.figure_cache import StoreState

FIND: Final = "/desk/find"
_PAGES: Final[Mapping[Kind, tuple[str, str]]] = {
    "policy": ("policies/policy.py", "Policy"),
    "purchase": ("sales/purchases.py#purchase", "Purchase"),
    "customer": ("sales/customers.py#customer", "Customer"),
    "claim": ("claims/claim.py", "Claim"),
    "product": ("admin/product.py", "Product"),
    "distributor": ("admin/partners.py#distributor", "Distributor"),
    "insurer": ("admin/partners.py#insurer", "Insurer"),
    "statement": ("finance/statements.py#statement", "Statement"),
    "payout": ("finance/payout.py", "Payout"),
    "payment": ("finance/payments.py#payment", "Payment"),
    "credit_note": ("finance/credit_notes.py#credit_note", "Credit note"),
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
        title="Sell a policy",
        detail="Choose a cover and fill in its form",
        path="buy/buy.py",
        words="buy new purchase motor auto car motorcycle travel trip accident contents home office goods marine",
    ),
    Shortcut(
        title="Find a policy",
        detail="Open it to endorse, renew or cancel it",
        path="policies/search.py",
        words="change correct refund certificate",
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


def payload(person: Person) -> dict[str, Any]:
    """Return what the browser is sent: only what the person may open."""
    screens = [screen for screen in menu.allowed_screens(person) if not screen.hidden]
    paths = {screen.path for screen in menu.allowed_screens(person)}
    actions = [shortcut for shortcut in SHORTCUTS if shortcut.path in paths]
    return {
        "screens": [
            *(
                {"kind": "Screen", "title": each.title, "detail": each.purpose, "href": frame.link(each.path)}
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


QUEUE: Final = "claims/queue.py"
TASKS: Final = "claims/tasks.py"
CLAIM_PAYMENTS: Final = "finance/claim_payments.py"
_MAX_CACHED: Final = 256


def load_counts(person: Person) -> Mapping[str, int]:
    """Return the counts of a person's menu by the file of the page; empty for who works neither claims nor payments."""
    if not person.has_role(*CLAIMS_ROLES, claim_paying.PAYER_ROLE):
        return {}
    return _count(figure_cache.standing(), person)


@lru_cache(_MAX_CACHED)
def _count(at: StoreState, person: Person) -> Mapping[str, int]:
    """Count what waits for a person; counted anew after every write."""
    found: dict[str, int] = {}
    with at.reading() as session:
        if person.has_role(*CLAIMS_ROLES):
            found[QUEUE] = claim_totals.get_totals(session, ClaimFilter(view="unassigned")).count
            found[TASKS] = len(claim_tasks.list_mine(session, person))
        if person.has_role(claim_paying.PAYER_ROLE):
            found[CLAIM_PAYMENTS] = claim_paying.count_open(session)
    return found


def announce_new(person: Person, before: Mapping[str, int]) -> None:
    """Tell of claims that have come in since a page was drawn."""
    new = load_counts(person).get(QUEUE, 0) - before.get(QUEUE, 0)
    if new > 0:
        st.toast(
            f"{words.count(new)} new {'claim waits' if new == 1 else 'claims wait'} in the queue.",
            icon=":material/inbox:",
        )


# What a person may open instead of a record that is not theirs.
_INSTEAD: Final = {
    "policies/policy.py": ("sales/purchases.py", "the purchase of a policy shows its customer, cover and money"),
    "sales/customers.py#customer": ("sales/purchases.py", "purchases can be filtered by the customer's e-mail"),
}


def draw(screen: Screen) -> None:
    """Draw the refusal with a title of its own and the way back to a screen of the person's."""
    person = frame.require()
    frame.page_header(screen.title, screen.purpose)
    yours = f"{'role is' if len(person.roles) == 1 else 'roles are'} {words.plain(' and '.join(person.roles))}"
    st.error(f"You may not open this screen: it is {menu.open_to(screen)}. Your {yours}.", icon=":material/block:")
    admins = read_in(Scope.system(), staff.list_admin_names)
    if admins:
        st.markdown(f"To get the role, ask an admin: {words.plain(', '.join(admins))}.")
    mine = menu.allowed_screens(person)
    path, why = _INSTEAD.get(screen.path, ("", ""))
    if any(each.path == path for each in mine):
        instead = menu.screen_of(path)
        page_links.link(path, label=f"{instead.title}: {why}", icon=f":material/{instead.icon}:")
    if home := next((each for each in mine if not each.hidden), None):
        page_links.link(home.path, label=f"Go to {home.title}", icon=f":material/{home.icon}:")


# URL path of the first page. It never shows, because Streamlit serves the first page at the root; chosen so that
# nobody types it by accident.
HOME = "first-page"
_REFUSALS = "refused_pages"
_REFRESH_INTERVAL = timedelta(seconds=60)
# A form posted by the browser: clearing the cookie needs an HTTP response, which Streamlit's websocket cannot give.
_POST = """<script>
const form = document.createElement("form");
form.method = "post"; form.action = "{action}";
document.body.append(form); form.submit();
</script>"""


def page_for(person: Person, starts: Mapping[str, str]) -> StreamlitPage:
    """Draw the sidebar and return the page that the URL asks for; pages without the needed role show a refusal.

    `starts` are the queries with which the menu opens some pages, by page file.
    """
    frame.settle_mode()
    screens, counts = menu.allowed_screens(person), load_counts(person)
    frame.count_in_tab(counts.get(QUEUE, 0))
    home = next((screen for screen in screens if not screen.hidden), None)
    frame.settle_home(home.path if home else None)
    pages: dict[str, list[StreamlitPage]] = {}
    by_path = {screen.path: _page(screen, counts, is_home=screen is home) for screen in screens}
    page_links.settle_pages(by_path)
    for screen in screens:
        pages.setdefault(screen.section, []).append(by_path[screen.path])
    pages.setdefault("", []).extend(_refusals(menu.refused_screens(person)))
    if home is None:
        pages[""].append(st.Page(_nothing_yet, title="Coverdesk", default=True, url_path=HOME))
    else:
        # Served at the root only: the menu would mark no screen at another path.
        pages[""].append(
            st.Page(page_links.redirect_home, title=home.title, url_path=home.address, visibility="hidden")
        )
    pages[""].extend(_unknown({HOME, *(page.url_path for section in pages.values() for page in section)}, home))
    st.logo(frame.LOGO, size="large", icon_image=frame.MARK)
    page = st.navigation(pages, expanded=True)
    frame.settle_page(page.url_path)
    with st.sidebar:
        place = st.container()
        frame.mode_switch()
        with place:
            _mount(key="palette", data=payload(person))
        page_links.keep_mode(starts, person.id)
        _who(person, counts)
    return page


def keep_address() -> None:
    """Register every page when the roles are not known yet: without pages, Streamlit would drop the path of the URL."""
    pages = [st.Page(_no_page, title=screen.title, url_path=screen.address) for screen in menu.SCREENS]
    home = st.Page(_no_page, title="Coverdesk", url_path=HOME, default=True)
    st.navigation([home, *pages], position="hidden")


def take_away() -> None:
    """Hide the menu of a person who was signed in until this run: the browser would keep showing it with its counts."""
    if frame.has_home():
        keep_address()


def _no_page() -> None:
    """Do nothing; placeholder of a page that is not drawn."""


def _page(screen: Screen, counts: Mapping[str, int], *, is_home: bool) -> StreamlitPage:
    number = counts.get(screen.path, 0)
    return st.Page(
        screen.draw,
        title=f"{screen.title} ({words.count(number)})" if number else screen.title,
        icon=f":material/{screen.icon}:",
        default=is_home,
        url_path=HOME if is_home else screen.address,
        visibility="hidden" if screen.hidden else "visible",
    )


def _refusals(screens: Sequence[Screen]) -> list[StreamlitPage]:
    # There are dozens, which would take a seventh of a run of a screen if each run made them anew.
    made: dict[str, StreamlitPage] = st.session_state.setdefault(_REFUSALS, {})
    for screen in screens:
        if screen.address not in made:
            made[screen.address] = st.Page(
                _refuse(screen), title=screen.title, url_path=screen.address, visibility="hidden"
            )
    return [made[screen.address] for screen in screens]


def _refuse(screen: Screen) -> Callable[[], None]:
    return lambda: draw(screen)


def _unknown(known: Collection[str], home: Screen | None) -> list[StreamlitPage]:
    """Return a "not found" page for an unknown URL; Streamlit would show the home page with a dialog instead."""
    requested = unquote(urlsplit(st.context.url or "").path).strip("/ ")
    if not requested or "/" in requested or requested in known:
        return []
    return [
        st.Page(lambda: _not_found(requested, home), title="Page not found", url_path=requested, visibility="hidden")
    ]


def _not_found(requested: str, home: Screen | None) -> None:
    frame.page_header("Page not found", "This address leads to no page.")
    st.warning(
        f"There is no page called **{words.plain(requested)}**. It may be mistyped, or have been removed.",
        icon=":material/explore_off:",
    )
    if home:
        page_links.link(home.path, label=f"Go to {home.title}", icon=f":material/{home.icon}:")


def _nothing_yet() -> None:
    frame.page_header("Welcome", "Your account has no screen yet.")
    st.info("Ask an administrator for a role that has one.", icon=":material/lock_person:")


def _who(person: Person, counts: Mapping[str, int]) -> None:
    with st.container(gap="xsmall"):
        st.caption(f"**{words.plain(person.name)}**  \n{words.title(', '.join(person.roles))}")
        if st.button("Sign out", icon=":material/logout:", width="stretch"):
            st.html(_POST.format(action=sign_in.SIGN_OUT), unsafe_allow_javascript=True)
        _watch(clock.now(), person, counts)


@st.fragment(run_every=_REFRESH_INTERVAL)
def _watch(drawn_at: datetime, person: Person, counts: Mapping[str, int]) -> None:
    # A screen left open must not show records after its sign-in has ended. The first call belongs to drawing the
    # page, which has just checked the sign-in.
    if clock.now() - drawn_at <= _REFRESH_INTERVAL / 2:
        return
    if not frame.still_signed_in():
        st.rerun()
    announce_new(person, counts)


_ADDRESSES = frozenset(screen.address for screen in menu.SCREENS)


@contextmanager
def measure_run(address: str) -> Iterator[None]:
    """Measure one run of a screen; an address that is no screen's may be anything and is not told."""
    began = time.perf_counter()
    page = address if address in _ADDRESSES else "other" if address else "home"
    try:
        with telemetry.open_span(f"screen {page}", "internal"):
            yield
    finally:
        telemetry.observe("screen_seconds", time.perf_counter() - began, page)
