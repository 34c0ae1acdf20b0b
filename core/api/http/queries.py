"""Query parameters of lists, validated field by field (contract P1-P6)."""

import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta, tzinfo
from functools import cache
from typing import Annotated, Any, ClassVar, Generic, cast
from uuid import UUID

from pydantic import AfterValidator, BeforeValidator, Field, WithJsonSchema, create_model

from core import clock, ids
from core.covers.fields import AMOUNT_PATTERN, Naira, fault, one_of
from core.covers.request import Request, has_control_characters, refuse_unless
from core.errors import InvalidInput
from core.services.lists.filters import fields
from core.services.lists.filters.declaration import F, Filter
from core.services.lists.filters.fields import Field as FilterField
from core.services.lists.paging import Paging
from core.services.lists.windows import EARLIEST, LATEST, Span

LARGEST_PAGE = 10**9
_MAX_DIGITS = 100
# What was created earlier may be committed later, and is visible only then (contract P4).
OVERLAP = timedelta(seconds=5)
_POLLED = (
    "Created at this moment or later. A record is visible once it is committed, which may be a moment after its"
    f" `created_at`: who polls asks from {OVERLAP.seconds} seconds before the newest one that they know, and leaves"
    " out the ids that they have."
)
_PAGE, _LIMIT = "The number of the page, from 1 on.", "How many records a page has at the most."
_MOVING = (
    f"{_PAGE} The newest come first, so that what is written meanwhile moves the pages, and a record may come on two of"
    f" them. Give the moment at which you begin, less {OVERLAP.seconds} seconds, as `end_date` of every page: then none"
    " comes twice, and none is missing."
)
_SEVERAL = ", any of which: repeat the parameter, or write commas between them."
_ZONES: Mapping[str, tzinfo] = {"UTC": UTC, "Africa/Lagos": clock.LAGOS}
_ZONED = (
    "The time zone of the days in `start_date` and `end_date`, and of their timestamps without an offset. With"
    " Africa/Lagos the days of a month hold what the desk and the statements have of that month."
)
# A text, as a client of the document could not make a field of two kinds; addresses have texts alone.
_DAY = {
    "type": "string",
    "description": "A day as YYYY-MM-DD, or an ISO 8601 timestamp.",
    "examples": ["2026-11-01", "2026-11-01T08:30:00Z"],
}
_AMOUNT = {"type": "string", "pattern": AMOUNT_PATTERN, "examples": ["1000.50"]}


def _uuid(value: object) -> UUID:
    if isinstance(value, UUID):
        return value
    try:
        return ids.parse(str(value).strip())
    except InvalidInput:
        raise fault("must be a UUID") from None


def _uuids(value: object) -> list[UUID]:
    given = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    found = [_uuid(part) for text in given for part in str(text).split(",") if part.strip()]
    # Blank counts as missing, while a comma alone would ask for nothing and be answered with everything.
    if not found and any(str(text).strip() for text in given):
        raise fault("must be a UUID")
    return found


def whole_number(value: Any) -> int:
    """Parse a whole number of a query string; one of very many digits is beyond every bound, however it is cut."""
    written = str(value).strip()
    if not re.fullmatch(r"-?[0-9]+", written):
        raise fault("must be a whole number")
    return int(written[:_MAX_DIGITS])


def _boolean(value: object) -> bool:
    written = str(value).strip().lower()
    if written not in {"true", "false"}:
        raise fault("must be true or false")
    return written == "true"


def _moment(value: object) -> date | datetime:
    written = re.fullmatch(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ](.{1,32}))?", str(value).strip())
    if written:
        day, clock_time = written.groups()
        try:
            if clock_time is None:
                return date.fromisoformat(day)
            # The plus of an offset arrives as a blank, which is what it means in an address.
            moment = datetime.fromisoformat(f"{day}T{clock_time.replace(' ', '+', 1)}")
            return moment.astimezone(UTC) if moment.tzinfo else moment
        except (ValueError, OverflowError):
            raise fault("must be a date that exists") from None
    raise fault("must be YYYY-MM-DD or an ISO 8601 timestamp")


Id = Annotated[UUID, BeforeValidator(_uuid)]
Ids = Annotated[list[UUID], BeforeValidator(_uuids)]
Boolean = Annotated[bool, BeforeValidator(_boolean), WithJsonSchema({"type": "string", "enum": ["true", "false"]})]
Moment = Annotated[date | datetime, BeforeValidator(_moment), WithJsonSchema(_DAY)]
Text = Annotated[str, Field(max_length=200)]


class QueryString(Request):
    """A query string; unknown parameters are ignored, unless one looks like a misspelling (contract E6)."""


class PageQuery(QueryString):
    """Paging: `page` is 1-based, `limit` is 10 by default."""

    page: Annotated[int, Field(ge=1, le=LARGEST_PAGE, description=_PAGE), BeforeValidator(whole_number)] = 1
    limit: Annotated[int, Field(ge=1, le=100, description=_LIMIT), BeforeValidator(whole_number)] = 10

    def paging(self) -> Paging:
        """The page as services take it."""
        return Paging(self.page, self.limit)


class CatalogueQuery(PageQuery):
    """Query of the catalogue; its default limit is 100, as it is usually read in one call."""

    limit: Annotated[int, Field(ge=1, le=100, description=_LIMIT), BeforeValidator(whole_number)] = 100
    search: Text | None = Field(default=None, description="Any part of the name or description.")
    provider_id: Id | None = Field(default=None, description="The id of the provider.")
    category_id: Ids = Field(default_factory=list, description=f"Ids of categories{_SEVERAL}")
    product_ids: Ids = Field(default_factory=list, description=f"Ids of products{_SEVERAL}")


class FilterQuery(PageQuery, Generic[F]):
    """Query of a list: paging, and what its filter offers to the API; `FilterQuery[PurchaseFilter]` is the model."""

    declared: ClassVar[type[Filter]]
    page: Annotated[int, Field(ge=1, le=LARGEST_PAGE, description=_MOVING), BeforeValidator(whole_number)] = 1
    timezone: Annotated[str, one_of(*_ZONES)] = Field(default="UTC", description=_ZONED)

    def __class_getitem__(cls, declared: Any) -> Any:
        """Return the model for a filter."""
        return _build_query(declared)

    def criteria(self) -> F:
        """The criteria as services take them; an end before its start is refused."""
        values: dict[str, Any] = {}
        for name, field in self.declared.FIELDS.items():
            given = [getattr(self, each) for each in field.api_names]
            if isinstance(field, fields.Days) and given:
                # Terms and incidents are dated by day alone: no time zone moves them.
                values[name] = span(self, *field.api_names, zone=UTC if field.dated else _ZONES[self.timezone])
            elif given and given[0] is not None:
                values[name] = field.from_api(given[0])
        return cast(F, self.declared(**values))


@cache
def _build_query(declared: type[Filter]) -> "type[FilterQuery[Any]]":
    parameters: dict[str, Any] = {
        name: (
            _annotate(field) | None,
            Field(default=None, description=_POLLED if name == "start_date" else field.describe(name)),
        )
        for field in declared.FIELDS.values()
        for name in field.api_names
    }
    model = create_model(f"{declared.__name__}Query", __base__=FilterQuery, **parameters)
    model.declared = declared
    return model


def _annotate(field: FilterField) -> Any:
    """Return the type of a field's parameter."""
    match field:
        case fields.Text() if field.check:
            return Annotated[str, Field(max_length=field.longest), AfterValidator(_refuse_unsearchable(field.check))]
        case fields.Text():
            return Annotated[Text, BeforeValidator(_restore_plus)] if field.may_begin_with_plus else Text
        case fields.Word() | fields.Words():
            unlimited = [field.unlimited] if isinstance(field, fields.Word) and field.unlimited else []
            return Annotated[str, one_of(*field.options, *unlimited)]
    return _TYPES[type(field)]


def _refuse_unsearchable(check: Callable[[str], str]) -> Callable[[str], str]:
    """Return the validator of a text that is searched; the fault is that of the parameter, not of the address."""

    def validate(text: str) -> str:
        if has_control_characters(text):
            return text  # refused for them already
        try:
            return check(text)
        except InvalidInput as error:
            raise fault(error.faults[0].message) from None

    return validate


def _restore_plus(value: Any) -> Any:
    """Restore a leading plus, which arrives as a space when the sender did not encode it."""
    return re.sub(r"^ (?=[0-9])", "+", value) if isinstance(value, str) else value


_TYPES: Mapping[type[FilterField], Any] = {
    fields.Days: Moment,
    fields.Members: Id,
    fields.Member: Id,
    fields.Flag: Boolean,
    fields.Texts: Text,
    fields.Naira: Annotated[Naira, WithJsonSchema(_AMOUNT)],
}


def span(query: Request, start: str, end: str, *, zone: tzinfo = UTC) -> Span:
    """Two date parameters as a span: whole days of a time zone, both ends inclusive (contract P4)."""
    begin, stop = _from(getattr(query, start), zone), _until(getattr(query, end), zone)
    refuse_unless([(begin is None or stop is None or begin < stop, end, f"must not be before {start}")])
    return Span(_within_reach(begin), _within_reach(stop))


def _within_reach(instant: datetime | None) -> datetime | None:
    # Nothing lies beyond, and the first and the last days of all calendars have no day before or after them.
    return instant and min(max(instant, clock.midnight(EARLIEST)), clock.midnight(LATEST))


def _from(moment: date | datetime | None, zone: tzinfo) -> datetime | None:
    if moment is None:
        return None
    local = moment if isinstance(moment, datetime) else datetime.combine(moment, time())
    try:
        return (local if local.tzinfo else local.replace(tzinfo=zone)).astimezone(UTC)
    except OverflowError:
        # The first day of all calendars begins before it elsewhere.
        return local.replace(tzinfo=UTC)


def _until(moment: date | datetime | None, zone: tzinfo) -> datetime | None:
    # A day ends where the next one starts; an instant is itself included.
    step = timedelta(milliseconds=1) if isinstance(moment, datetime) else timedelta(days=1)
    begin = _from(moment, zone)
    try:
        return begin and begin + step
    except OverflowError:
        return None
