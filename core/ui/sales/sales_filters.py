"""The filters of the sales screens: period, members of a dimension, source and e-mail, all kept in the URL."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import streamlit as st

from core import clock
from core.errors import FieldFault, InvalidInput
from core.services.dimensions import DIMENSIONS, Choices, Dimension
from core.services.sales.selection import NAMES as PARAMETERS
from core.services.sales.selection import Selection
from core.services.windows import EARLIEST, Window
from core.ui.kit import frame, periods, url_state

LABELS: Mapping[Dimension, str] = {
    "provider": "Insurer",
    "category": "Category",
    "product": "Product",
    "distributor": "Distributor",
}
PLURALS: Mapping[Dimension, str] = {
    "provider": "insurers",
    "category": "categories",
    "product": "products",
    "distributor": "distributors",
}
SOURCES = {"api": "API", "desk": "Desk", "bulk": "Bulk upload"}
_PERIOD = "period"
_DAY_WIDTH = 150  # pixels: both date fields fit beside the periods
_USUAL_DAYS = 30


@dataclass(frozen=True, slots=True)
class Asked:
    """The parsed query parameters of a sales screen; no window means all time."""

    period: str
    window: Window | None
    selection: Selection

    @property
    def narrowed(self) -> bool:
        """Return True if anything other than the period is selected."""
        return self.selection != Selection(first=self.selection.first, last=self.selection.last)

    @property
    def link(self) -> dict[str, list[str]]:
        """Return the query of another sales screen with the same selection and mode."""
        return {**self.selection.address(), **{name: [value] for name, value in frame.mode_query().items()}}


def read(names: Choices, *, default: str, offer: Sequence[str] = tuple(periods.NAMES)) -> Asked:
    """Read the filters from the URL; show invalid query parameters and stop the page."""
    given = url_state.values(*PARAMETERS, _PERIOD)
    try:
        selection = Selection.read(given)
        _refuse_unknown(selection, names)
        return _with_period(selection, given[_PERIOD], default, offer)
    except InvalidInput as error:
        url_state.way_back(error.faults)


def _refuse_unknown(selection: Selection, names: Choices) -> None:
    faults = [
        FieldFault(dimension, f"names {LABELS[dimension].lower()} {key}, which is not known here")
        for dimension in DIMENSIONS
        for key in selection.members(dimension)
        if key not in names.names[dimension]
    ]
    if faults:
        raise InvalidInput(faults)


def _with_period(selection: Selection, given: Sequence[str], default: str, offer: Sequence[str]) -> Asked:
    by_days = selection.first or selection.last
    period = given[0] if given else (periods.CUSTOM if by_days else default)
    if period not in offer:
        raise InvalidInput.for_field(_PERIOD, f"must be one of {', '.join(offer)}")
    if period == periods.ALL:
        return Asked(period, None, selection.without_days())
    if period != periods.CUSTOM:
        window = periods.window_of(period, clock.today())
        return Asked(period, window, selection.within(window))
    last = selection.last or clock.today()
    first = selection.first or (EARLIEST if periods.ALL in offer else clock.add_days(last, 1 - _USUAL_DAYS))
    if last < first:
        raise InvalidInput.for_field("from", "must not be in the future without a to")
    window = Window.from_days(first, last)
    return Asked(period, window, selection.within(window))


def toggle(dimension: Dimension, member: UUID | str) -> None:
    """Filter the page by one member of a dimension, or remove that filter if it is already set."""
    chosen = st.query_params.get_all(dimension)
    url_state.change({dimension: [] if chosen == [str(member)] else [str(member)]})


def narrow_to_days(window: Window) -> None:
    """Filter the page to a range of days."""
    url_state.change({"period": [], "from": [str(window.start)], "to": [str(window.last)]})


def draw_period(asked: Asked, *, offer: Sequence[str], default: str, also_narrowed: bool = False) -> None:
    """Draw the choice of the period, the two date fields of a custom one, and the reset button.

    `also_narrowed`: the screen has filters of its own in use, which the reset button clears too.
    """
    st.session_state[_PERIOD] = asked.period
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        st.segmented_control(
            "Period",
            list(offer),
            key=_PERIOD,
            required=True,
            wrap=True,
            format_func=periods.NAMES.__getitem__,
            on_change=_period_changed,
            args=(asked,),
        )
        if asked.period == periods.CUSTOM:
            first, last = asked.selection.first, asked.selection.last
            url_state.day_boxes(("from", "From", first), ("to", "To (included)", last), width=_DAY_WIDTH)
        url_state.reset_button(shown=also_narrowed or asked.narrowed or asked.period != default)


def _period_changed(asked: Asked) -> None:
    period = st.session_state[_PERIOD]
    if period == periods.CUSTOM:
        narrow_to_days(asked.window or periods.window_of("30d", clock.today()))
    else:
        url_state.change({"period": [period], "from": [], "to": []})


def draw_members(asked: Asked, names: Choices, *dimensions: Dimension) -> None:
    """Draw a pick list for each dimension, to be placed in a row."""
    for dimension in dimensions:
        url_state.choices(
            dimension,
            LABELS[dimension],
            {str(key): name for key, name in names.names[dimension].items()},
            chosen=[str(key) for key in asked.selection.members(dimension)],
            anything=f"All {PLURALS[dimension]}",
        )


def draw_sources(asked: Asked, known: Mapping[str, str] = SOURCES) -> None:
    """Draw a pick list of the sources of requests."""
    options = {source: known.get(source, source) for source in (*known, *asked.selection.source)}
    url_state.choices("source", "Request source", options, chosen=asked.selection.source, anything="All sources")


def draw_email(asked: Asked) -> None:
    """Draw the field for one customer's e-mail address."""
    url_state.text_box("email", "Customer e-mail", text=asked.selection.email or "", placeholder="name@example.com")
