"""Filters with a period: a named one, all time or two days, beside the fields of a list, and its search text."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

import streamlit as st

from core import clock
from core.errors import InvalidInput
from core.services.lists import windows
from core.services.lists.dimensions import Choices
from core.services.lists.windows import EARLIEST, Comparison, Window
from core.services.people.staff import Person
from core.services.sales import breakdowns
from core.services.sales import search as sales_search
from core.services.sales.breakdowns import Grain
from core.services.sales.filter import SalesFilter
from core.ui.forms import forms
from core.ui.frame import frame
from core.ui.kit import url_state, words
from core.ui.lists import export_panel, filter_bar, saved_views
from core.ui.lists.tables import Table

ALL, CUSTOM = "all", "custom"
NAMES = {
    ALL: "All time",
    "today": "Today",
    "7d": "7 days",
    "30d": "30 days",
    "this-month": "This month",
    "last-month": "Last month",
    "6m": "Last 6 months",
    "1y": "Last year",
    CUSTOM: "Custom",
}
PREVIOUS, YEAR_BEFORE, NOTHING = "previous", "year", "none"
AGAINST = {PREVIOUS: "Previous period", YEAR_BEFORE: "Same period last year", NOTHING: "Nothing"}
_ROLLING = frozenset({"7d", "30d"})


def comparison_of(period: str, window: Window, against: str = PREVIOUS) -> Comparison:
    """Return the comparison period of a named period; N days are compared with the N days before them."""
    if against == YEAR_BEFORE:
        return windows.year_before(window)
    return windows.find_comparison(window, rolling=period in _ROLLING)


def describe_comparison(compared: Comparison) -> str:
    """Format a comparison period: "21 Nov 2026 until 09:17"."""
    until = f" until {clock.format_lagos(compared.until, '%H:%M')}" if compared.until else ""
    return describe_period(compared.window) + until


def describe_period(window: Window) -> str:
    """Format a date range: "22 Oct – 20 Nov 2026"."""
    first, last = window.start, window.last
    if first == last:
        return words.day(first)
    start = f"{first.day} {first:%b}" if first.year == last.year else words.day(first)
    return f"{start} – {words.day(last)}"


S = TypeVar("S", bound=SalesFilter)
EVERY_PERIOD = tuple(NAMES)
_MEMBERS = [field for field in SalesFilter.FIELDS.values() if field.names]
LABELS: Mapping[Any, str] = {field.names: field.label for field in _MEMBERS}
PLURALS: Mapping[Any, str] = {field.names: field.anything.removeprefix("All ") for field in _MEMBERS}
GRAINS: Mapping[Grain, str] = {"day": "Day", "week": "Week", "month": "Month"}
_LONGEST_BY_DAY, _LONGEST_BY_WEEK, _MOST_BARS = 62, 190, 400
_PERIOD = "period"
_DAY_WIDTH = 150  # pixels: both date fields fit beside the periods
_USUAL_DAYS = 30


_FIND = "find"


@dataclass(frozen=True, slots=True)
class SearchText:
    """The text as it stands in the URL, and the fault that keeps it from being searched."""

    text: str
    fault: str | None

    @property
    def address(self) -> dict[str, list[str]]:
        """The parameter for the filter: none for a text with a fault, which is shown beside the box."""
        return {_FIND: [] if self.fault or not self.text else [self.text]}


NO_TEXT = SearchText("", None)


def read_search() -> SearchText:
    """Read the text from the URL."""
    text = st.query_params.get(_FIND, "").strip()
    try:
        sales_search.normalise_text(text)
    except InvalidInput as error:
        return SearchText(text, error.faults[0].message)
    return SearchText(text, None)


@dataclass(frozen=True, slots=True)
class Selection(Generic[S]):
    """The parsed query parameters of a screen; no window means all time, `usual` is the period of an empty URL."""

    period: str
    window: Window | None
    criteria: S
    usual: str
    search: SearchText = NO_TEXT

    @property
    def text(self) -> str:
        """The days, and as what its text was searched: "22 Oct – 20 Nov 2026 · looked for as phone"."""
        days = describe_period(self.window) if self.window else "All time"
        return f"{days}{describe_search(self.search)}"

    @property
    def is_filtered(self) -> bool:
        """Return True if anything other than the period is selected."""
        return self.criteria.anytime() != type(self.criteria)()

    @property
    def is_changed(self) -> bool:
        """Return True if anything is selected, another period too."""
        return self.is_filtered or self.period != self.usual

    @property
    def link(self) -> dict[str, list[str]]:
        """Return the query of another screen with the same selection and mode."""
        return {**self.criteria.address(), **{name: [value] for name, value in frame.mode_query().items()}}


def read(
    declared: type[S],
    names: Choices,
    *,
    usual: str,
    offer: Sequence[str] = EVERY_PERIOD,
    given: Mapping[str, Sequence[str]] | None = None,
) -> Selection[S]:
    """Read the filters from the URL; show invalid query parameters and stop the page. For `given`: `filter_bar`."""
    criteria = filter_bar.read(declared, names.names, given=given)
    try:
        return _with_period(criteria, usual, offer)
    except InvalidInput as error:
        url_state.way_back(error.faults)


def _with_period(criteria: S, usual: str, offer: Sequence[str]) -> Selection[S]:
    given = st.query_params.get_all(_PERIOD)
    period = given[0] if given else (CUSTOM if criteria.created else usual)
    if period not in offer:
        raise InvalidInput.for_field(_PERIOD, f"must be one of {', '.join(map(NAMES.__getitem__, offer))}")
    if period == ALL:
        return Selection(period, None, criteria.anytime(), usual)
    window = windows.named_window(period, clock.today()) if period != CUSTOM else _custom(criteria, offer)
    return Selection(period, window, replace(criteria, created=window.span), usual)


def _custom(criteria: SalesFilter, offer: Sequence[str]) -> Window:
    first, last = criteria.days()
    last = last or clock.today()
    first = first or (EARLIEST if ALL in offer else clock.add_days(last, 1 - _USUAL_DAYS))
    if last < first:
        raise InvalidInput.for_field("from", "must not be in the future without a to")
    return Window.from_days(first, last)


def read_grain(window: Window) -> Grain:
    """Return the time bucket of the charts given in the URL; by default one that suits the length of the window."""
    usual: Grain = (
        "day" if window.length <= _LONGEST_BY_DAY else "week" if window.length <= _LONGEST_BY_WEEK else "month"
    )
    given = st.query_params.get("by", usual)
    # More bars are unreadable and slow down drawing the page.
    offered = [known for known in GRAINS if len(breakdowns.list_buckets(window, known)) <= _MOST_BARS]
    return next((known for known in offered if known == given), usual)


def draw_period(selection: Selection[S], *, offer: Sequence[str] = EVERY_PERIOD, also_changed: bool = False) -> None:
    """Draw the choice of the period, the two date fields of a custom one, and the reset button.

    `also_changed`: a choice of the screen's own is in use, which the reset button clears too.
    """
    st.session_state[_PERIOD] = selection.period
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall"):
        st.segmented_control(
            "Period",
            list(offer),
            label_visibility="collapsed",
            key=_PERIOD,
            required=True,
            wrap=True,
            format_func=NAMES.__getitem__,
            on_change=_period_changed,
            args=(selection,),
        )
        if selection.period == CUSTOM:
            filter_bar.draw_field(
                selection.criteria.FIELDS["created"], selection.criteria.created, {}, width=_DAY_WIDTH
            )
        url_state.reset_button(shown=also_changed or selection.is_changed)


def _period_changed(selection: Selection[SalesFilter]) -> None:
    period = st.session_state[_PERIOD]
    if period == CUSTOM:
        window = selection.window or windows.named_window("30d", clock.today())
        url_state.change({"period": [], "from": [str(window.start)], "to": [str(window.last)]})
    else:
        url_state.change({"period": [period], "from": [], "to": []})


def complain_of_search(search: SearchText) -> None:
    """Draw what keeps the text from being searched."""
    if search.fault:
        st.markdown(forms.complaint(search.fault))


def describe_search(search: SearchText) -> str:
    """Return the end of the sentence on a list: as what its text was searched, "" without one."""
    return f" · looked for as {_list_kinds(search.text)}" if search.text and not search.fault else ""


def _list_kinds(text: str) -> str:
    kinds = [words.plain(kind) for kind in sales_search.detect_kinds(sales_search.normalise_text(text))]
    return " or ".join([", ".join(kinds[:-1]), kinds[-1]] if len(kinds) > 1 else kinds)


def offer(
    kind: str, selection: Selection[S], table: Table[Any], *, rows: int, sum_minor: int, sums: Callable[[], None]
) -> None:
    """Draw the line above a list of sales: how many of which premium in which days, with their export and `sums`."""
    line = f"{table.count_text(rows)} · {words.plain(words.naira(sum_minor))} · {selection.text}"
    address = selection.criteria.address()
    export_panel.offer(kind, address, rows=rows, sum_minor=sum_minor, line=line, table=table, sums=sums)


def choose(
    declared: type[S],
    names: Choices,
    person: Person,
    *,
    path: str,
    given: Mapping[str, Sequence[str]] | None = None,
) -> Selection[S] | None:
    """Read the filters of the list on a screen, and draw them in one line: search, period, others and saved views.

    None where its text cannot be searched, which is said. For `given`: `filter_bar.read`.
    """
    search = read_search()
    found = replace(read(declared, names, usual=ALL, given={**(given or {}), **search.address}), search=search)

    def first() -> None:
        filter_bar.draw_field(found.criteria.FIELDS[_FIND], search.text, {})
        _choose_period(found)

    filter_bar.draw_chips(
        found.criteria,
        names.names,
        first=first,
        beside=lambda: saved_views.draw(path, person),
        reset=lambda: url_state.reset_button(shown=found.is_changed),
        leave_out=(_FIND,),
    )
    complain_of_search(search)
    return None if search.fault else found


def _choose_period(selection: Selection[S]) -> None:
    """Draw the period as one pick list, and beside it the two days of a custom one."""
    st.session_state[_PERIOD] = selection.period
    st.selectbox(
        "Period",
        list(EVERY_PERIOD),
        key=_PERIOD,
        format_func=NAMES.__getitem__,
        label_visibility="collapsed",
        width=_DAY_WIDTH,
        on_change=_period_changed,
        args=(selection,),
    )
    if selection.period == CUSTOM:
        field, value = selection.criteria.FIELDS["created"], selection.criteria.created
        filter_bar.draw_field(field, value, {}, width=_DAY_WIDTH, is_labelled=False)
