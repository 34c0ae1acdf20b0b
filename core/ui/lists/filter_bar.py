"""The filters of a list on its screen: read from the URL, and drawn as their declaration says.

A screen lays out a container and draws into it the fields of one place, each in its order:

    criteria = filter_bar.read(CustomerFilter, names.names)
    with st.grid(5):
        filter_bar.draw(criteria, names.names)
        filter_bar.reset(criteria)
"""

from collections.abc import Mapping, Sequence
from typing import Any, Literal, TypeVar, cast
from uuid import UUID

from core import clock
from core.errors import FieldFault, InvalidInput
from core.services.lists.filters import fields
from core.services.lists.filters.declaration import Filter
from core.services.lists.filters.field import Field, Place
from core.services.lists.windows import Span
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
        url_state.way_back(error.faults)
    return criteria


def _refuse_unknown(criteria: Filter, names: Names) -> None:
    faults = [
        FieldFault(field.address, f"names {field.label.lower()} {key}, which is not known here")
        for _, field, value in criteria.in_use()
        if isinstance(field, fields.Members) and field.names in names
        for key in value
        if key not in names[field.names]
    ]
    if faults:
        raise InvalidInput(faults)


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


def reset(criteria: Filter) -> None:
    """Draw the reset button; disabled while nothing is narrowed."""
    url_state.reset_button(shown=criteria != type(criteria)())
