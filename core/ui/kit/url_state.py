"""The address of a screen holds its whole state: filters, order, columns and page. A link shows the same again.

Each run reads the address, puts what it says into the widgets, and a widget that is changed writes the
address; nothing is remembered elsewhere.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial
from typing import Any, Literal, NoReturn

import streamlit as st

from core import clock
from core.errors import FieldFault
from core.services.windows import EARLIEST
from core.ui.kit import frame

_PAGE = "page"


def values(*names: str) -> dict[str, list[str]]:
    """Every value that the address gives each of these names."""
    return {name: st.query_params.get_all(name) for name in names}


def whole() -> dict[str, list[str]]:
    """Everything that the address says, to come back to it."""
    return values(*st.query_params)


def one_of(name: str, known: Mapping[Any, str]) -> Any:
    """The value of a parameter if it is a known one, else none."""
    given = st.query_params.get(name)
    return next((key for key in known if key == given), None)


def change(parameters: Mapping[str, Sequence[str]], *, keep_page: bool = False) -> None:
    """Write parameters into the address; empty ones leave it. A new selection starts on its first page."""
    said = whole()
    if not keep_page:
        said.pop(_PAGE, None)
    # All at once: each writing to the address is an entry of its own in the browser's history.
    said.update((name, list(chosen)) for name, chosen in parameters.items())
    st.query_params.from_dict({name: chosen for name, chosen in said.items() if chosen})


def reset() -> None:
    """Take every filter out of the address, and leave the mode."""
    st.query_params.from_dict(frame.mode_query())


def page() -> int:
    """The page that the address asks for; 0 when it asks for none that can be."""
    given = st.query_params.get(_PAGE, "1")
    return int(given) if given.isascii() and given.isdigit() and len(given) < 10 else 0


def to_page(number: int) -> None:
    """Go to another page of the same selection."""
    change({_PAGE: [str(number)] if number > 1 else []}, keep_page=True)


def way_back(faults: Sequence[FieldFault]) -> NoReturn:
    """Say what cannot be meant in an address, offer the way back, and end the page."""
    lines = "\n".join(f"- `{fault.field}` {fault.message}" for fault in faults)
    st.error(f"The address asks for something that cannot be shown:\n{lines}", icon=":material/link_off:")
    st.button("Start again without filters", icon=":material/restart_alt:", type="primary", on_click=reset)
    st.stop()


def text_box(
    name: str,
    label: str,
    *,
    text: str,
    placeholder: str | None = None,
    longest: int | None = None,
    kind: Literal["default", "search"] = "default",
) -> None:
    """A box for any words, kept in the address under `name`."""
    st.session_state[name] = text
    st.text_input(
        label,
        key=name,
        type=kind,
        max_chars=longest,
        placeholder=placeholder,
        autocomplete="off",
        on_change=lambda: change({name: _given(st.session_state[name].strip())}),
    )


# A box to find by: the framework draws a glass and a way to empty it.
search_box = partial(text_box, kind="search")


def day_boxes(
    start: tuple[str, str, date | None],
    end: tuple[str, str, date | None],
    *,
    latest: date | None = None,
    width: int | Literal["stretch"] = "stretch",
) -> None:
    """Two days that both count, or none, up to `latest` (today unless said): of each its name, label and value.

    They are kept in the address under their names. One that is moved past the other takes it along to the same day.
    """
    last = latest or clock.today()
    for (name, label, value), other in ((start, end[0]), (end, start[0])):
        st.session_state[_day_key(name)] = value
        st.date_input(
            label,
            value=None,
            key=_day_key(name),
            min_value=min(EARLIEST, value or EARLIEST),
            max_value=max(last, value or last),
            format="DD/MM/YYYY",
            width=width,
            on_change=_day_moved,
            args=(name, other, start[0]),
        )


def _day_moved(name: str, other: str, first: str) -> None:
    moved, stays = (st.session_state.get(_day_key(each)) for each in (name, other))
    crossed = moved and stays and (moved > stays if name == first else moved < stays)
    change({each: _given(str(moved) if moved else None) for each in ((name, other) if crossed else (name,))})


def _day_key(name: str) -> str:
    return f"day_{name}"


def choice(name: str, label: str, options: Mapping[Any, str], *, chosen: Any, anything: str = "All") -> None:
    """A pick list of one of some options, or of none."""
    st.session_state[name] = chosen
    st.selectbox(
        label,
        list(options),
        key=name,
        index=None,
        format_func=lambda option: options[option],
        placeholder=anything,
        on_change=lambda: change({name: _given(st.session_state[name])}),
    )


def choices(name: str, label: str, options: Mapping[str, str], *, chosen: Sequence[str], anything: str) -> None:
    """A pick list of any number of options; none means all."""
    st.session_state[name] = list(chosen)
    st.multiselect(
        label,
        list(options),
        key=name,
        format_func=lambda option: options.get(option, option),
        placeholder=anything,
        on_change=lambda: change({name: st.session_state[name]}),
    )


def reset_button(*, shown: bool) -> None:
    """The visible way back to everything; grey while there is nothing to take away."""
    st.button(
        "Reset",
        icon=":material/restart_alt:",
        type="tertiary",
        on_click=reset,
        disabled=not shown,
        help="Take every filter away and show the usual period.",
    )


def _given(value: str | None) -> list[str]:
    return [value] if value else []
