"""The demonstration of finance: closed months, one in dispute, one open, and a file that differs in every way."""

from collections import Counter
from datetime import UTC, date, datetime

import pytest

from core import demo
from core.services.admin import store_check
from core.services.closing import demonstration as month_close
from core.services.finance import demonstration, months
from core.services.finance.reconciling import file_rows, matching, table_files
from core.services.finance.reconciling.matching import Entry
from core.services.finance.statements import reading as statement_reading
from core.services.people import staff
from core.services.windows import Window
from core.states.finance import MonthState
from core.store.access import Scope, Store

LIVE = Scope.staff(is_live=True)
UNTIL = datetime(2026, 11, 22, 12, tzinfo=UTC)
pytestmark = [pytest.mark.both_databases, pytest.mark.frozen_at(UNTIL)]
SEPTEMBER = Window(date(2026, 9, 1), date(2026, 10, 1))
ACCOUNTS = {"finance": ["finance"], "second.finance": ["finance"], "admin": ["admin"], "second.admin": ["admin"]}


@pytest.mark.parametrize("database", ["sqlite"])
def test_months_are_closed_but_the_newest_and_everything_holds(store: Store) -> None:
    demo.write(store, purchases=4, seed=4, until=UNTIL)
    with store.writing(Scope.system()) as session:
        for name, roles in ACCOUNTS.items():
            given = {"email": f"{name}@coverdesk.example", "name": name, "roles": roles}
            staff.add_or_update(session, **given, password="correct horse battery", actor="tests")
    with store.writing(LIVE) as session:
        over = demonstration.list_closed(session)
        demonstration.write_terms(session, over[0])
        for month in over:
            demonstration.write_month(session, month)
            month_close.close_month(session, month)
        month_close.give_back(session)
    with store.reading(LIVE) as session:
        closed = [month for month in over if months.state_of(session, month) == MonthState.CLOSED]
        assert closed == over[:-2], "one waits for approval, and one has a statement in dispute"
        states = Counter(row.paper.state for row in statement_reading.list_statements(session))
        assert states["Disputed"] == 1
        assert states["Prepared"] > 0
    with store.reading(Scope.system()) as session:
        assert store_check.list_faults(session) == []


def test_the_file_of_the_demonstration_has_every_kind_of_difference() -> None:
    def entry(number: str, day: int, minor: int = 100_000) -> Entry:
        return Entry(number.upper(), number, "", minor, date(2026, 9, day), 2_000, number)

    ours = [*(entry(f"P/{number}", 3) for number in range(6)), entry("P/LATE", 29), entry("", 4)]
    content = month_close.build_file(ours, SEPTEMBER)
    assert content is not None
    file = table_files.read("a.csv", content)
    columns = {"policy_number": "Policy No", "amount": "Net", "date": "Date", "rate": "Rate %"}
    theirs = file_rows.read_entries(file, "insurer", columns)
    found = matching.match(ours, theirs, window=SEPTEMBER, tolerance_minor=100, timing_days=5)
    assert {each.result for each in found} == {
        *("matched", "amount differs", "rate differs", "only ours", "only theirs", "timing", "not checked")
    }
    assert month_close.build_file(ours[:3], SEPTEMBER) is None
