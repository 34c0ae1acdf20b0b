"""State of a screen in its URL: filters, order, columns and page, so that a link reproduces the screen.

Each run reads the URL into the widgets, and a changed widget writes the URL; no state is kept elsewhere.
"""

import re
from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any, Literal, NoReturn

import streamlit as st

from core import clock
from core.errors import FieldFault
from core.services.lists.windows import EARLIEST
from core.ui.frame import frame

_PAGE, _VIEW = "page", "view"
_TAB, _TABS = "tab", "record_tabs"
_ROUNDS = "address_widgets"


def values(*names: str) -> dict[str, list[str]]:
    """Return all values of each of these query parameters."""
    return {name: st.query_params.get_all(name) for name in names}


def all_parameters() -> dict[str, list[str]]:
    """Return all query parameters."""
    return values(*st.query_params)


def one_of(name: str, known: Mapping[Any, str]) -> Any:  # noqa: ANN401 a key of the mapping
    """Return the value of a parameter if it is a known one, otherwise None."""
    given = st.query_params.get(name)
    return next((key for key in known if key == given), None)


def change(parameters: Mapping[str, Sequence[str]], *, keep_page: bool = False) -> None:
    """Set query parameters and remove empty ones; unless `keep_page`, return to the first page."""
    query = all_parameters()
    if not keep_page:
        query.pop(_PAGE, None)
    # Written in one call: each write to the URL adds an entry to the browser's history.
    query.update((name, list(chosen)) for name, chosen in parameters.items())
    st.query_params.from_dict({name: chosen for name, chosen in query.items() if chosen})


def reset() -> None:
    """Remove all filters from the URL; the mode stays, and of a screen with several views the open one."""
    view = {_VIEW: st.session_state[_VIEW]} if _VIEW in st.session_state else {}
    st.query_params.from_dict({**view, **frame.mode_query()})


def page() -> int:
    """Return the page number given in the URL; 0 if it is not a valid number."""
    given = st.query_params.get(_PAGE, "1")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else 0


def to_page(number: int) -> None:
    """Go to another page of the same selection."""
    change({_PAGE: [str(number)] if number > 1 else []}, keep_page=True)


def way_back(faults: Sequence[FieldFault], labels: Mapping[str, str] | None = None) -> NoReturn:
    """Show invalid query parameters by their labels with a reset button, and stop the page."""
    known = labels or {}
    lines = "\n".join(
        f"- **{known.get(fault.field, fault.field.replace('_', ' ').capitalize())}** {_relabel(fault.message, known)}"
        for fault in faults
    )
    st.error(f"This link has filters that cannot be used:\n{lines}", icon=":material/link_off:")
    st.button("Start again without filters", icon=":material/restart_alt:", type="primary", on_click=reset)
    st.stop()


def _relabel(message: str, labels: Mapping[str, str]) -> str:
    """Return what is wrong with a value in the words of a screen, which has no UUID and no name of a parameter."""
    before, found, other = message.partition("must not be before ")
    if found:
        return f"{before}{found}{labels.get(other, other)}"
    return message.replace("must be a UUID", "names nothing that is known here")


def widget_key(name: str, value: object) -> str:
    """Return the key of the widget of a parameter: a new one whenever something else has changed the parameter.

    The browser keeps for a widget in a closed popover the value that it last showed there, and sends it with the next
    click anywhere. Under the same key that value would be taken for a new choice and written to the URL again.
    """
    rounds = st.session_state.setdefault(_ROUNDS, {})
    number, shown = rounds.get(name, (0, value))
    number += shown != value
    rounds[name] = (number, value)
    return f"{name} {number}" if number else name


def chosen_in(name: str) -> Any:  # noqa: ANN401 the value of a widget of any kind
    """Return the value of the parameter's widget, as it was just changed in it."""
    number, _ = st.session_state[_ROUNDS][name]
    value = st.session_state.get(f"{name} {number}" if number else name)
    value = value.strip() if isinstance(value, str) else value
    _keep_widget(name, sorted(value) if isinstance(value, list) else value)
    return value


def _keep_widget(name: str, value: object) -> None:
    """Let a parameter have the same widget with this value."""
    number, _ = st.session_state[_ROUNDS][name]
    st.session_state[_ROUNDS][name] = (number, value)


def text_box(
    name: str,
    label: str,
    *,
    text: str,
    placeholder: str | None = None,
    longest: int | None = None,
    kind: Literal["default", "search"] = "default",
) -> None:
    """Draw a text field whose value is kept in the URL under `name`."""
    key = widget_key(name, text)
    st.session_state[key] = text
    st.text_input(
        label,
        key=key,
        type=kind,
        max_chars=longest,
        placeholder=placeholder,
        # The placeholder of a search says more than its label, which stays for screen readers.
        label_visibility="collapsed" if kind == "search" and placeholder else "visible",
        autocomplete="off",
        on_change=lambda: change({name: _given(chosen_in(name))}),
    )


# A search field: Streamlit adds a search icon and a clear button.
search_box = partial(text_box, kind="search")


def day_boxes(
    start: tuple[str, str, date | None],
    end: tuple[str, str, date | None],
    *,
    latest: date | None = None,
    width: int | Literal["stretch"] = "stretch",
    is_labelled: bool = True,
) -> None:
    """Draw two optional date fields, both inclusive, up to `latest` (default today); each is given as (name, label,
    value).

    Both are kept in the URL under their names. Moving one past the other sets both to the same day.
    """
    last = latest or clock.today()
    for (name, label, value), other in ((start, end[0]), (end, start[0])):
        key = widget_key(_day_name(name), value)
        st.session_state[key] = value
        st.date_input(
            label,
            value=None,
            key=key,
            min_value=min(EARLIEST, value or EARLIEST),
            max_value=max(last, value or last),
            format="DD/MM/YYYY",
            width=width,
            label_visibility="visible" if is_labelled else "collapsed",
            on_change=_day_moved,
            args=(name, other, start[0]),
        )


def _day_moved(name: str, other: str, first: str) -> None:
    moved, stays = (chosen_in(_day_name(each)) for each in (name, other))
    crossed = moved and stays and (moved > stays if name == first else moved < stays)
    if crossed:
        _keep_widget(_day_name(other), moved)
    change({each: _given(str(moved) if moved else None) for each in ((name, other) if crossed else (name,))})


def _day_name(name: str) -> str:
    return f"day_{name}"


def choice(
    name: str, label: str, options: Mapping[Any, str], *, chosen: object, anything: str = "All", labelled: bool = True
) -> None:
    """Draw a pick list of one option or none; one that is not `labelled` says in `anything` what it is of."""
    key = widget_key(name, chosen)
    st.session_state[key] = chosen
    st.selectbox(
        label,
        list(options),
        key=key,
        index=None,
        format_func=lambda option: options[option],
        placeholder=anything,
        label_visibility="visible" if labelled else "collapsed",
        on_change=lambda: change({name: _given(chosen_in(name))}),
    )


def choices(name: str, label: str, options: Mapping[str, str], *, chosen: Sequence[str], anything: str) -> None:
    """Draw a pick list of any number of options; none means all."""
    key = widget_key(name, sorted(chosen))
    st.session_state[key] = list(chosen)
    st.multiselect(
        label,
        list(options),
        key=key,
        format_func=lambda option: options.get(option, option),
        placeholder=anything,
        on_change=lambda: change({name: chosen_in(name)}),
    )


def choose_one(name: str, label: str, options: Mapping[str, str]) -> str | None:
    """Draw values side by side, of which one may be chosen, and return that of the address."""
    chosen: str | None = one_of(name, options)
    st.session_state[name] = chosen
    st.pills(
        label,
        list(options),
        key=name,
        format_func=options.__getitem__,
        label_visibility="collapsed",
        on_change=lambda: change({name: _given(st.session_state[name])}),
    )
    return chosen


def choose_view(views: Mapping[str, str]) -> str:
    """Draw the views of a screen by key and label, and return the open one, the first by default.

    Another view begins without the filters of this one.
    """
    st.session_state[_VIEW] = shown = one_of(_VIEW, views) or next(iter(views))
    st.segmented_control(
        "Show",
        list(views),
        key=_VIEW,
        required=True,
        format_func=views.__getitem__,
        label_visibility="collapsed",
        on_change=reset,
    )
    return str(shown)


def tabs(*labels: str) -> Sequence[Any]:
    """Return the tabs of a record; the open one is kept in the URL as `tab`, the first one is the default.

    A label may end with a number in brackets, which is left out of the URL: "Comments (3)" -> "comments".
    """
    by_name = {re.sub(r"[^a-z]+", "-", label.lower()).strip("-"): label for label in labels}
    st.session_state[_TABS] = by_name.get(st.query_params.get(_TAB, ""), labels[0])

    def on_change() -> None:
        name = next(name for name, label in by_name.items() if label == st.session_state[_TABS])
        change({_TAB: [] if st.session_state[_TABS] == labels[0] else [name]}, keep_page=True)

    return st.tabs(labels, key=_TABS, on_change=on_change)


def reset_button(*, shown: bool) -> None:
    """Draw the reset button; disabled while no filter is in use."""
    st.button(
        "Reset",
        key="reset",
        icon=":material/restart_alt:",
        type="tertiary",
        on_click=reset,
        disabled=not shown,
        help="Take every filter away and show the usual period.",
    )


def _given(value: str | None) -> list[str]:
    return [value] if value else []
