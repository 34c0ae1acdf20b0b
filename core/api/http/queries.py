"""Query parameters of lists, validated field by field (contract P1-P6)."""

import re
from collections.abc import Sequence
from datetime import UTC, date, datetime, timedelta
from typing import Annotated, Any
from uuid import UUID

from pydantic import BeforeValidator, Field, WithJsonSchema

from core import clock, ids
from core.covers.faults import fault
from core.covers.fields import one_of
from core.covers.request import Request, refuse_unless
from core.errors import InvalidInput
from core.services.customers.customers import CustomerFilter
from core.services.filters import SalesFilter, Span
from core.services.paging import Paging
from core.services.windows import EARLIEST, LATEST

LARGEST_PAGE = 10**9
# What was created earlier may be committed later, and is visible only then (contract P4).
OVERLAP = timedelta(seconds=5)
_POLLED = (
    "Created at this moment or later. A record is visible once it is committed, which may be a moment after its"
    f" `created_at`: who polls asks from {OVERLAP.seconds} seconds before the newest one that they know, and leaves"
    " out the ids that they have."
)
_DAY = {"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}]}


def _uuid(value: object) -> UUID:
    if isinstance(value, UUID):
        return value
    try:
        return ids.parse(str(value))
    except InvalidInput:
        raise fault("must be a UUID") from None


def _uuids(value: object) -> list[UUID]:
    given = value if isinstance(value, Sequence) and not isinstance(value, str) else [value]
    return [_uuid(part.strip()) for text in given for part in str(text).split(",") if part.strip()]


def whole_number(value: Any) -> int:
    """Parse a whole number of a query string."""
    if not re.fullmatch(r"-?[0-9]{1,12}", str(value)):
        raise fault("must be a whole number")
    return int(value)


def _boolean(value: object) -> bool:
    if str(value).lower() not in {"true", "false"}:
        raise fault("must be true or false")
    return str(value).lower() == "true"


def _moment(value: object) -> date | datetime:
    written = re.fullmatch(r"([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[T ](.{1,32}))?", str(value))
    if written:
        day, clock_time = written.groups()
        try:
            if clock_time is None:
                return date.fromisoformat(day)
            # The plus of an offset arrives as a blank, which is what it means in an address.
            moment = datetime.fromisoformat(f"{day}T{clock_time.replace(' ', '+', 1)}")
            return moment.astimezone(UTC) if moment.tzinfo else moment.replace(tzinfo=UTC)
        except (ValueError, OverflowError):
            raise fault("must be a date that exists") from None
    raise fault("must be YYYY-MM-DD or an ISO 8601 timestamp")


Id = Annotated[UUID, BeforeValidator(_uuid)]
Ids = Annotated[list[UUID], BeforeValidator(_uuids)]
Boolean = Annotated[bool, BeforeValidator(_boolean), WithJsonSchema({"type": "string", "enum": ["true", "false"]})]
Moment = Annotated[date | datetime, BeforeValidator(_moment), WithJsonSchema(_DAY)]
Text = Annotated[str, Field(max_length=200)]
CustomerTypes = Annotated[str, one_of("principal", "beneficiary", "all")]


class QueryString(Request):
    """A query string; unknown parameters are ignored, unless one looks like a misspelling (contract E6)."""


class PageQuery(QueryString):
    """Paging: `page` is 1-based, `limit` is 10 by default."""

    page: Annotated[int, Field(ge=1, le=LARGEST_PAGE), BeforeValidator(whole_number)] = 1
    limit: Annotated[int, Field(ge=1, le=100), BeforeValidator(whole_number)] = 10

    def paging(self) -> Paging:
        """The page as services take it."""
        return Paging(self.page, self.limit)


class CatalogueQuery(PageQuery):
    """Query of the catalogue; its default limit is 100, as it is usually read in one call."""

    limit: Annotated[int, Field(ge=1, le=100), BeforeValidator(whole_number)] = 100
    search: Text | None = None
    provider_id: Id | None = None
    category_id: Ids = Field(default_factory=list)
    product_ids: Ids = Field(default_factory=list)


class SalesQuery(PageQuery):
    """Parameters common to purchases, renewals and policies."""

    start_date: Moment | None = Field(default=None, description=_POLLED)
    end_date: Moment | None = None
    expired_start_date: Moment | None = None
    expired_end_date: Moment | None = None
    customer_id: Id | None = None
    customer_email: Text | None = None
    provider_id: Id | None = None

    def criteria(self) -> SalesFilter:
        """The criteria as services take them; an end before its start is refused."""
        return SalesFilter(
            created=span(self, "start_date", "end_date"),
            expiring=span(self, "expired_start_date", "expired_end_date"),
            customer_id=self.customer_id,
            customer_email=self.customer_email,
            provider_ids=(self.provider_id,) if self.provider_id else (),
            **self._more(),
        )

    def _more(self) -> dict[str, Any]:
        return {}


class PurchaseQuery(SalesQuery):
    """Parameters of the purchase search."""

    customer_type: CustomerTypes | None = None

    def _more(self) -> dict[str, Any]:
        return {"customer_type": self.customer_type or "all"}


class RenewalQuery(SalesQuery):
    """Parameters of the renewal search."""

    status: Boolean | None = None
    product_id: Id | None = None

    def _more(self) -> dict[str, Any]:
        return {"status": self.status, "product_ids": (self.product_id,) if self.product_id else ()}


class PolicyQuery(SalesQuery):
    """Parameters of the policy search; only the caller's own id as `distributor_id` finds anything."""

    status: Boolean | None = None
    distributor_id: Id | None = None
    customer_type: CustomerTypes | None = None

    def _more(self) -> dict[str, Any]:
        return {
            "status": self.status,
            "distributor_ids": (self.distributor_id,) if self.distributor_id else (),
            "customer_type": self.customer_type or "all",
        }


class CustomerQuery(PageQuery):
    """Parameters of the customer list."""

    search: Text | None = None
    active: Boolean | None = None
    start_date: Moment | None = Field(default=None, description=_POLLED)
    end_date: Moment | None = None

    def criteria(self) -> CustomerFilter:
        """The criteria as services take them; an end before its start is refused."""
        created = span(self, "start_date", "end_date")
        return CustomerFilter(search=self.search, active=self.active, created=created)


def span(query: Request, start: str, end: str) -> Span:
    """Two date parameters as a span: whole UTC days, both ends inclusive (contract P4)."""
    begin, stop = _from(getattr(query, start)), _until(getattr(query, end))
    refuse_unless([(begin is None or stop is None or begin < stop, end, f"must not be before {start}")])
    return Span(_within_reach(begin), _within_reach(stop))


def _within_reach(instant: datetime | None) -> datetime | None:
    # Nothing lies beyond, and the first and the last days of all calendars have no day before or after them.
    return instant and min(max(instant, clock.midnight(EARLIEST)), clock.midnight(LATEST))


def _from(moment: date | datetime | None) -> datetime | None:
    return moment if moment is None or isinstance(moment, datetime) else clock.midnight(moment)


def _until(moment: date | datetime | None) -> datetime | None:
    # A day ends where the next one starts; an instant is itself included.
    step = timedelta(milliseconds=1) if isinstance(moment, datetime) else timedelta(days=1)
    begin = _from(moment)
    try:
        return begin and begin + step
    except OverflowError:
        return None
