"""Pages of purchases and policies beside what their rows say, for spans that end anywhere in a day."""

from datetime import UTC, datetime, timedelta
from itertools import product

import pytest

from core.services.lists.paging import Paging
from core.services.lists.windows import Span
from core.services.policies import policies
from core.services.sales import api_purchases
from core.services.sales.filter import SalesFilter
from core.store.access import Scope, Store
from tests.conftest import Partner
from tests.portfolio import sales_at

# Days of Lagos begin at 23:00 UTC: some of these lie in the hour that two calendars count to two days.
SOLD = [
    datetime.fromisoformat(text).replace(tzinfo=UTC)
    for text in (
        "2026-05-30T10:00:00",
        "2026-05-31T22:59:59.999",
        "2026-05-31T23:14:41.656",
        "2026-06-01T00:00:00",
        "2026-06-01T08:30:00",
        "2026-06-01T13:47:13.060",
        "2026-06-01T16:29:27.699",
        "2026-06-01T23:00:00",
        "2026-06-01T23:59:59.999",
        "2026-06-02T05:00:00",
        "2026-09-18T11:22:00.111",
        "2026-09-18T16:29:27.699",
        "2026-09-18T23:30:00",
    )
]
NOON, SOON = datetime(2026, 6, 1, 12, tzinfo=UTC), timedelta(milliseconds=1)
EDGES = [None, NOON, *(at + (SOON if place % 2 else timedelta()) for place, at in enumerate(SOLD[1:]))]


@pytest.mark.parametrize("page", [api_purchases.list_purchases, policies.list_policies])
def test_every_page_of_every_span_holds_what_lies_in_it(store: Store, partner: Partner, page: object) -> None:
    with store.writing(Scope.system()) as session:
        sales_at(session, partner.id, *SOLD)
    with store.reading(Scope.of(partner.id, is_live=True)) as session:
        for start, end in product(EDGES, EDGES):
            wanted = SalesFilter(created=Span(start, end))
            there = [at for at in SOLD if (start is None or at >= start) and (end is None or at < end)]
            pages = [page(session, wanted, Paging(number, 2)) for number in range(1, 2 + (len(there) + 1) // 2)]  # type: ignore[operator]
            listed = [record["created_at"] for each in pages for record in each.items]
            assert [datetime.fromisoformat(text) for text in listed] == there[::-1], (start, end)
            assert {each.total_count for each in pages} == {len(there)}
