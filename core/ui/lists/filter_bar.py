"""The filters of a list on its screen: read from the URL, and drawn as their declaration says.

    criteria = filter_bar.read(CustomerFilter, names.names)
    filter_bar.draw_chips(criteria, names.names, beside=lambda: saved_views.draw("sales/customers.py", person))

That is one line: search, a drawer of fields, a chip for each filter in use, and the saved views. A chip says what it
narrows to, and a click takes it away. `draw` draws the fields of one place alone, each in its order.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar, cast
from uuid import UUID

import streamlit as st

from core import clock
from core.errors import FieldFault, InvalidInput, raise_faults
from core.services.lists.filters import fields
from core.services.lists.filters.declaration import Filter
from core.services.lists.filters.fields import Field, Place
from core.services.lists.windows import Span
from core.ui.forms import forms
from core.ui.kit import url_state, words

F = TypeVar("F", bound=Filter)
# Names by id of the records that a field's ids mean: the members of a dimension.
Names = Mapping[Any, Mapping[UUID, str]]
Options = Mapping[str, Mapping[str, str]]


def read(
    declared: type[F], names: Names | None = None, *, given: Mapping[str, Sequence[str]] | None = None, **context: Any
) -> F:
    """Read the filters from the URL; show invalid query parameters and stop the page.

    `given` replaces some parameters, `context` goes to the filter's `read`; ids that `names` lacks are refused.
    """
    address = {**url_state.values(*(each.name for each in declared.parameters())), **(given or {})}
    try:
        criteria = declared.read(address, **context)
        _refuse_unknown(criteria, names or {})
    except InvalidInput as error:
        _ask_again(declared, error.faults)
        url_state.way_back(error.faults, {each.name: each.title for each in declared.parameters()})
    return criteria


def _ask_again(declared: type[Filter], faults: Sequence[FieldFault]) -> None:
    """Draw the search with its error below it and stop the page, where nothing else of the address is wrong."""
    searches = (each for each in declared.FIELDS.values() if isinstance(each, fields.Text) and each.searches)
    search = next(searches, None)
    if search is None or {fault.field for fault in faults} != {search.address}:
        return
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="filter_chips"):
        draw_field(search, st.query_params.get(search.address), {})
        url_state.reset_button(shown=True)
    st.markdown(forms.complaint(faults[0].message))
    st.stop()


def _refuse_unknown(criteria: Filter, names: Names) -> None:
    faults = [
        FieldFault(field.address, f"names {field.label.lower()} {key}, which is not known here")
        for _, field, value in criteria.in_use()
        if isinstance(field, fields.Members) and field.names in names
        for key in value
        if key not in names[field.names]
    ]
    raise_faults(faults)


def draw(
    criteria: Filter,
    names: Names | None = None,
    *,
    place: Place = "grid",
    options: Options | None = None,
    leave_out: Sequence[str] = (),
) -> None:
    """Draw the fields of a place but some; `options` are choices by parameter that only the screen knows."""
    for name, field in criteria.FIELDS.items():
        if field.address and field.place == place and field.address not in leave_out:
            draw_field(field, getattr(criteria, name), _options(field, names or {}, options or {}))


def _options(field: Field, names: Names, options: Options) -> Mapping[str, str]:
    declared: Mapping[str, str] = getattr(field, "options", {})
    members = {str(key): name for key, name in names.get(field.names, {}).items()}
    return {**declared, **members, **options.get(field.address, {})}


def draw_field(
    field: Field,
    value: object,
    options: Mapping[str, str],
    *,
    width: int | Literal["stretch"] = "stretch",
    is_labelled: bool = True,
) -> None:
    """Draw the widget of one field with its value; `width` is that of a day, whose label may stand for readers only."""
    label = field.beside_widget
    match field:
        case fields.Days():
            _draw_days(field, cast(Span, value), width, is_labelled=is_labelled)
        case fields.Naira():
            typed = "" if value is None else words.as_typed(f"{value:f}")
            url_state.text_box(field.address, label, text=typed, longest=fields.LONGEST)
        case fields.Text() if not options:
            kind: Literal["search", "default"] = "search" if field.searches else "default"
            shown = {"placeholder": field.placeholder, "longest": field.longest, "kind": kind}
            url_state.text_box(field.address, label, text=str(value or ""), **shown)  # type: ignore[arg-type]
        case _:
            chosen = field.write(value)[field.address] if value not in (None, ()) else []
            known = {**options, **{text: text for text in chosen if text not in options}}
            if field.many:
                url_state.choices(field.address, label, known, chosen=chosen, anything=field.anything)
            else:
                one = chosen[0] if chosen else None
                url_state.choice(field.address, label, known, chosen=one, anything=field.anything)


def _draw_days(field: fields.Days, value: Span, width: int | Literal["stretch"], *, is_labelled: bool) -> None:
    start, end = (f"{field.beside_widget} {side}".strip().capitalize() for side in ("from", "to"))
    (first, last), days = field.address.split(), field.days(value)
    latest = clock.add_months(clock.today(), field.months_ahead)
    ends = (first, start, days[0]), (last, f"{end} (included)", days[1])
    url_state.day_boxes(*ends, latest=latest, width=width, is_labelled=is_labelled)


_SHOWN = 2  # members named on a chip before the rest is counted
_FIELD_WIDTH = 190  # pixels


def _nothing() -> None:
    """Draw nothing."""


def draw_chips(
    criteria: Filter,
    names: Names | None = None,
    *,
    options: Options | None = None,
    leave_out: Sequence[str] = (),
    first: Callable[[], None] = _nothing,
    more: Callable[[], None] = _nothing,
    beside: Callable[[], None] = _nothing,
    reset: Callable[[], None] | None = None,
) -> None:
    """Draw the filters of a list in one line, which wraps where there is little room.

    `first` draws what stands before the drawer, `more` further fields into it, `beside` what follows the chips.
    `reset` draws the reset button, by default the one of this filter.
    """
    with st.container(horizontal=True, vertical_alignment="center", gap="xsmall", key="filter_chips"):
        draw(criteria, names, place="search", options=options, leave_out=leave_out)
        first()
        with st.popover("Filter", icon=":material/filter_list:", key="filter_drawer"):
            with st.container(key="filter_fields"), st.grid(3, min_column_width=_FIELD_WIDTH, gap="xsmall"):
                draw(criteria, names, options=options, leave_out=leave_out)
                draw(criteria, names, place="more", options=options, leave_out=leave_out)
            more()
        for field, value in _in_use(criteria, leave_out):
            chip(field.beside_widget or field.label, describe(field, value, names, options), field)
        if reset:
            reset()
        else:
            url_state.reset_button(shown=criteria != type(criteria)())
        beside()


def _in_use(criteria: Filter, leave_out: Sequence[str]) -> list[tuple[Field, Any]]:
    shown: tuple[Literal["grid", "more"], ...] = ("grid", "more")
    return [
        (field, value)
        for _, field, value in criteria.in_use()
        if field.address and field.place in shown and field.address not in leave_out
    ]


def chip(label: str, value: str, field: Field) -> None:
    """Draw one filter in use; a click removes it from the URL."""
    st.button(
        f"{label}: {words.plain(value)}",
        key=f"chip {field.address}",
        icon=":material/close:",
        icon_position="right",
        help="Take this filter away",
        on_click=url_state.change,
        args=({parameter.name: [] for parameter in field.parameters},),
    )


def describe(field: Field, value: Any, names: Names | None = None, options: Options | None = None) -> str:  # noqa: ANN401 a value of any field
    """Return a filter's value in words: "Anchorline Insurance, Baobab Ridge Assurance +1", "from 1 Oct 2026"."""
    if isinstance(field, fields.Days):
        return _describe_days(*(words.day(day) if day else "" for day in field.days(value)))
    if isinstance(field, fields.Naira):
        return words.naira_of(value)
    given, known = field.write(value)[field.address], _options(field, names or {}, options or {})
    shown = [known.get(each, each) for each in given]
    return ", ".join(shown[:_SHOWN]) + (f" +{len(shown) - _SHOWN}" if len(shown) > _SHOWN else "")


def _describe_days(first: str, last: str) -> str:
    if first and last:
        return first if first == last else f"{first} – {last}"
    return f"from {first}" if first else f"to {last}"
