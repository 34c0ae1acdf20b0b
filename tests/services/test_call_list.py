"""The call list: a file with the rows, sum and order of what is due, and the latest call about each."""

import csv
import io
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from uuid import UUID

import pytest

from core import clock, money
from core.covers.insurers import insurer_a
from core.desk import export_runs
from core.desk.exported_lists import get_kind
from core.errors import InvalidInput, NotAllowed
from core.services.lists.dimensions import load_choices
from core.services.lists.paging import Paging
from core.services.people import staff
from core.services.people.staff import Person
from core.services.renewals import calls, due
from core.services.renewals.due import BUCKETS
from core.services.renewals.records import DueFilter
from core.store.access import Scope, Store, reading
from tests.conftest import Partner
from tests.covers import shipped
from tests.services.selling import sell
from tests.spreadsheets import cells

ANNIVERSARY = datetime(2027, 11, 20, 7, 8, tzinfo=UTC)
pytestmark = pytest.mark.frozen_at(ANNIVERSARY)
TEST = Scope.staff(is_live=False)
DAYS = (-3, 2, 5, 20, 45, 80, 120)


@pytest.fixture
def caller(store: Store, partner: Partner) -> Person:
    """Somebody of operations, in a store with a policy of each bucket, two that end this week, and one later."""
    for number, days in enumerate(DAYS):
        with clock.freeze(shipped.STILL + timedelta(days=days)):
            sell(store, partner, insurer_a.THIRD_PARTY, registration_number=f"LSD-1{number:02}AB")
    with store.writing(Scope.system()) as session:
        given = {"email": "cora@x.example", "name": "Cora", "roles": ["operations"], "actor": "tests"}
        key = staff.add_or_update(session, password="correct horse battery", **given)
    return Person(id=key, email="cora@x.example", name="Cora", roles=("operations",), claim_limit_minor=None)


def export(format_: str = "csv", **address: str) -> tuple[bytes, int]:
    """The file, and the sum of its receipt in kobo."""
    given = {name: [text] for name, text in {**address, "mode": "test"}.items()}
    order, out = export_runs.create_order("due", format_, given, by="tests"), io.BytesIO()
    export_runs.write_file(order, out)
    with reading(Scope.system()) as session:
        receipt = export_runs.get_receipt(session, order.id)
    assert receipt is not None
    return out.getvalue(), receipt.sum_minor or 0


def records(content: bytes) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(content.decode(), newline="")))


def test_each_bucket_is_a_file_with_the_rows_order_and_sum_of_its_tile(store: Store, caller: Person) -> None:
    with store.reading(TEST) as session:
        names = load_choices(session)
        tiles = {tile.key: tile for tile in due.list_due(session, clock.today())}
        for bucket in BUCKETS:
            rows = due.list_due_rows(session, bucket, DueFilter(), names, paging=Paging())
            content, summed = export(bucket=bucket)
            printed = records(content)
            assert [row["policy_id"] for row in printed] == [str(row.id) for row in rows] != []
            assert [row["last_premium"] for row in printed] == [money.to_wire(row.last_minor) for row in rows]
            assert [row["customer_phone"] for row in printed] == [row.phone for row in rows]
            assert summed == tiles[bucket].premium_minor == sum(row.last_minor for row in rows)
    everything, summed = export()
    assert (len(records(everything)), summed) == (6, sum(tile.premium_minor for tile in tiles.values()))


def test_the_latest_call_about_the_term_stands_beside_its_policy(store: Store, caller: Person) -> None:
    first, second = (row["policy_id"] for row in records(export(bucket="week")[0]))
    with store.writing(TEST) as session:
        calls.record_calls(session, [UUID(first)], {"outcome": "no_answer"}, by=caller)
    with clock.freeze(ANNIVERSARY + timedelta(hours=1)), store.writing(TEST) as session:
        again = {"outcome": "thinking", "note": "=after pay day", "call_again_on": date(2027, 11, 22)}
        calls.record_calls(session, [UUID(first)], again, by=caller)
    called, other = records(export(bucket="week")[0])
    assert (called["policy_id"], called["last_call"], called["call_again_on"]) == (
        first,
        "Thinking it over",
        "2027-11-22",
    )
    assert (called["call_owner"], called["called_at"]) == ("Cora", "2027-11-20T08:08:00.000Z")
    assert called["call_note"] == "'=after pay day", "no note is run as a formula"
    assert (other["policy_id"], other["last_call"], other["call_note"]) == (second, "", "")
    heading, row, _ = cells(export("xlsx", bucket="week")[0])
    assert row[next(place for place, name in heading.items() if name == "call_note")] == "=after pay day"


def test_a_wrong_bucket_is_refused_by_name_and_claims_may_not_have_the_list(caller: Person) -> None:
    with pytest.raises(InvalidInput) as refused:
        export(bucket="yesterday")
    assert [fault.field for fault in refused.value.faults] == ["bucket"]
    with pytest.raises(NotAllowed):
        get_kind("due").require_role(replace(caller, roles=("claims",)))
