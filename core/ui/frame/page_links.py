"""Links between screens, named by their page file, and navigation by script.

Ordinary links are `link` or rows of a record list. Code that has to finish something first (a form, a click on a chart)
does so and then calls `go`, which adds one entry to the browser's history, where `st.switch_page` adds two:

    if st.button("Open the purchase"):
        forget(receipt)
        page_links.go("sales/purchases.py#purchase", id=receipt.purchase_id)

The page of a record reads the one that the `id` of its URL names by `load_record`.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal, NoReturn, TypeVar
from urllib.parse import urlencode
from uuid import UUID

import streamlit as st
from streamlit.navigation.page import StreamlitPage

from core import ids
from core.errors import InvalidInput, NotFound
from core.store.access import Scope, ScopedSession, reading
from core.ui.frame import frame

BROWSER = Path(__file__).parents[1] / "browser"
VISIT = (BROWSER / "visit.js").read_text()
NOTES = (BROWSER / "typed_notes.js").read_text()
_PAGES = "linked_pages"
_mount = st.components.v2.component(
    "coverdesk_page_links",
    js="".join(
        (
            VISIT,
            NOTES,
            *((BROWSER / f"{name}.js").read_text() for name in ("awaited_files", "kept_texts", "page_links")),
        )
    ),
)


def settle_pages(pages: Mapping[str, StreamlitPage]) -> None:
    """Note the pages of the person's menu, by page file, for the links to them."""
    st.session_state[_PAGES] = pages


def can_open(path: str) -> bool:
    """Return True for a page file of the person's menu."""
    return path in st.session_state[_PAGES]


def link(
    path: str,
    *,
    label: str,
    icon: str | None = None,
    icon_position: Literal["left", "right"] = "left",
    help: str | None = None,  # noqa: A002 Streamlit's name of it
    disabled: bool = False,
    width: Literal["content", "stretch"] = "content",
    query_params: Mapping[str, str | Sequence[str]] | None = None,
) -> None:
    """Draw a link to a page of the person's menu in the current mode, as `st.page_link` does.

    KeyError if they may not open it.
    """
    st.page_link(
        st.session_state[_PAGES][path],
        label=label,
        icon=icon,
        icon_position=icon_position,
        help=help,
        disabled=disabled,
        width=width,
        query_params={**(query_params or {}), **frame.mode_query()},
    )


def link_to(path: str, label: str, icon: str, **query: str | Sequence[str]) -> None:
    """Draw a link with an icon of Material, given by its name, to a page with a query."""
    link(path, label=label, icon=f":material/{icon}:", query_params=query)


def go(path: str, *, replaces: bool = False, **query: str | Sequence[str]) -> NoReturn:
    """Open another page with a query, in the current mode, and end this run.

    With `replaces` the current page is replaced in the history: for a page whose URL redirects.
    """
    _visit(frame.link(path, **query), replaces=replaces)


def redirect_home() -> NoReturn:
    """Open the person's first screen at its one address, the root, with the query of this one and in its place."""
    query = {name: st.query_params.get_all(name) for name in st.query_params}
    _visit("/" + (f"?{urlencode(query, doseq=True)}" if query else ""), replaces=True)


def _visit(href: str, *, replaces: bool) -> NoReturn:
    # Streamlit refuses a component's key that holds "__", as a random text of letters may.
    token = str(ids.new())
    _mount(key=f"go {token}", data={"href": href, "token": token, "replaces": replaces})
    st.stop()


def put_in_address(name: str, value: str) -> None:
    """Put a parameter into the URL without a further entry in the history, unless it is there already."""
    if st.query_params.get(name) != value:
        # New data each time: the address of a run that was under way may have been written over it meanwhile.
        _mount(key=f"put {name}", data={"put": {name: value}, "run": str(ids.new())}, height=1)


def keep_mode(starts: Mapping[str, str], person_id: UUID) -> None:
    """Make the menu's links carry the mode, which Streamlit leaves out, and the query of `starts` by page file.

    What anybody but this person has typed in this tab is forgotten.
    """
    by_path = {frame.link_path(path): query for path, query in starts.items()}
    data = {"query": urlencode(frame.mode_query()), "starts": by_path, "person": str(person_id)}
    _mount(key="menu links", data=data, height=1)


def forget_typed() -> None:
    """Forget what was typed in this tab and not yet stored: nobody is signed in."""
    _mount(key="typed notes", data={"person": ""}, height=1)


T = TypeVar("T")
_ELSEWHERE = " Look at the other mode with the switch in the menu."


def load_record(
    noun: str, get: Callable[[ScopedSession, UUID], T], *, scope: Scope | None = None, is_of_mode: bool = False
) -> T:
    """Return the record that the URL names, read by `get`; without one, say so and stop the page.

    The scope is by default every distributor in the selected mode. `is_of_mode` records may be in the other mode, which
    the message then says.
    """
    with require_id(noun, is_of_mode=is_of_mode) as record_id, reading(scope or frame.scope()) as session:
        return get(session, record_id)


@contextmanager
def require_id(noun: str, *, is_of_mode: bool = False) -> Iterator[UUID]:
    """Give the block the id of the URL; without one, or if the block finds no such record, say so and stop the page."""
    try:
        yield ids.parse(st.query_params.get("id", ""))
    except InvalidInput as error:
        if [fault.field for fault in error.faults] != ["id"]:
            raise
        _stop(noun, f"The address names no {noun}: open it from its list.", "link_off")
    except NotFound as error:
        _stop(noun, f"{error}.{_ELSEWHERE if is_of_mode else ''}", "search_off")


def _stop(noun: str, message: str, icon: str) -> None:
    frame.page_header(noun.capitalize(), "There is nothing to show at this address.")
    st.error(message, icon=f":material/{icon}:")
    st.stop()
