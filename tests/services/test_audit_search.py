"""The audit log is found by who, what, which record, when and any text; pages and counts end, whatever its size."""

import csv
import io
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest

from core import clock, ids
from core.covers.insurers import insurer_a
from core.desk import export_runs
from core.desk.export_runs import ExportOrder
from core.errors import InvalidInput, NotFound
from core.services.audit import log as audit
from core.services.audit import search
from core.services.audit.search import AUDIT, AuditFilter, SearchResult
from core.services.lists.exports import CSV
from core.services.lists.paging import Paging
from core.services.lists.windows import Span, open_days
from core.store.access import Scope, Store
from tests.conftest import Partner
from tests.covers import shipped
from tests.services.selling import sell

RECORD = UUID("01900000-0000-7000-8000-0000000000aa")
ADA = "staff ada@coverdesk.example"


@pytest.fixture
def log(store: Store, partner: Partner) -> Store:
    """Three changes of one product by two people on two days, and the entries of keys and a sale."""
    with clock.freeze(shipped.STILL - timedelta(days=3)):
        note(store, ADA, "rates planned", before={"price": "1.00", "note": "Ọ̀ṣun"}, after={"price": "2.00"})
    with clock.freeze(shipped.STILL):
        note(store, ADA, "rates withdrawn", after={"withdrawn": True})
        note(store, "staff bola@coverdesk.example", "product switched off", after={"active": False})
        sell(store, partner, insurer_a.THIRD_PARTY)
    return store


def note(store: Store, actor: str, action: str, **facts: Any) -> None:
    with store.writing(Scope.system()) as session:
        audit.write(session, actor=actor, action=action, subject=audit.subject_of("product", RECORD), **facts)


def found(store: Store, paging: Paging = Paging(1, 50), **wanted: Any) -> SearchResult:
    with store.reading(Scope.staff(is_live=True)) as session:
        return search.search_entries(session, AuditFilter(**wanted), paging, search.load_choices(session))


def actions(store: Store, **wanted: Any) -> list[str]:
    page = found(store, **wanted)
    assert page.total == len(page.entries)
    return [row.action for row in page.entries]


ALL_THREE = ["product switched off", "rates withdrawn", "rates planned"]


CASES: list[tuple[dict[str, Any], list[str]]] = [
    ({"who": (ADA,)}, ["rates withdrawn", "rates planned"]),
    ({"action": ("rates planned", "product switched off")}, ["product switched off", "rates planned"]),
    ({"kind": "product"}, ALL_THREE),
    ({"kind": "prod"}, []),
    ({"kind": "product", "id": str(RECORD)}, ALL_THREE),
    ({"id": str(RECORD)}, ALL_THREE),
    ({"q": str(RECORD).upper()}, ALL_THREE),
    ({"kind": "policy", "id": str(RECORD)}, []),
    ({"created": Span(end=clock.lagos_midnight(date(2026, 11, 18)))}, ["rates planned"]),
    (
        {"kind": "product", "created": Span(start=clock.lagos_midnight(date(2026, 11, 18)))},
        ["product switched off", "rates withdrawn"],
    ),
    ({"q": "BOLA@"}, ["product switched off"]),
    ({"q": '"price": "2.00"'}, ["rates planned"]),
    ({"q": "Ọ̀ṣun"}, ["rates planned"]),
    ({"q": "100%"}, []),
    ({"q": "withdrawn", "who": (ADA,)}, ["rates withdrawn"]),
]


@pytest.mark.both_databases
def test_entries_are_found_by_what_they_say(log: Store) -> None:
    for wanted, expected in CASES:
        assert actions(log, **wanted) == expected, wanted


def test_everything_is_counted_exactly_and_pages_follow_each_other(log: Store) -> None:
    whole = found(log)
    assert whole.total == len(whole.entries) == 6
    pages = [found(log, Paging(number, 4)) for number in (1, 2)]
    assert [row.id for page in pages for row in page.entries] == [row.id for row in whole.entries]
    assert not whole.has_more


@pytest.mark.both_databases
def test_a_selection_that_matches_very_much_is_not_counted_to_its_end(
    log: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(search, "MAX_COUNTED", 2)
    page = found(log, Paging(1, 50), kind="product")
    assert (page.total, page.has_more) == (2, True)
    monkeypatch.setattr(search, "MAX_SEARCHED", 2)
    assert found(log, q="rates planned", kind="product").total == 0


def test_what_there_is_to_choose_from_is_what_the_log_holds(log: Store, partner: Partner) -> None:
    with log.reading(Scope.staff(is_live=True)) as session:
        terms = search.load_choices(session)
    assert terms.kinds == ["key", "policy", "product"]
    assert list(terms.actions) == ["key issued", "policy sold", *sorted(ALL_THREE)]
    assert len([name for name in terms.actors.values() if name.startswith("Swift Lenders, key tests cd_")]) == 2


def test_an_entry_tells_its_place_and_an_unknown_one_is_refused(log: Store) -> None:
    newest = found(log, kind="product").entries[0]
    with log.reading(Scope.staff(is_live=True)) as session:
        entry = search.get_entry(session, newest.id)
        assert (entry.kind, entry.record_id, entry.actor_name) == ("product", str(RECORD), "bola@coverdesk.example")
        assert len(entry.hash) == 64
        with pytest.raises(NotFound):
            search.get_entry(session, RECORD)


def test_an_export_holds_what_the_screen_shows_and_is_itself_written_down(log: Store) -> None:
    for wanted in ({"kind": ["product"]}, {"q": ["rates planned"]}, {"id": [str(RECORD)]}):
        order = ExportOrder(
            id=ids.new(),
            kind=AUDIT,
            format=CSV,
            selection=AuditFilter.read(wanted),
            is_live=True,
            actor=ADA,
        )
        out = io.BytesIO()
        export_runs.write_file(order, out)
        rows = list(csv.DictReader(io.StringIO(out.getvalue().decode(), newline="")))
        shown = found(log, **{name: value[0] for name, value in wanted.items()}).entries
        assert [row["id"] for row in rows] == [str(row.id) for row in shown]
        assert [row["hash"] for row in rows] == [row.hash for row in shown]
        assert actions(log, id=str(order.id)) == ["export finished", "export started"]
    first = rows[-1]
    assert (first["subject"], first["after"]) == (f"product {RECORD}", '{"price": "2.00"}')


@pytest.mark.both_databases
def test_a_selection_says_itself_again_and_refuses_what_cannot_be_meant() -> None:
    whole = AuditFilter(
        who=(ADA,), action=("a", "b"), kind="k", id="i", created=open_days(date(2026, 1, 1), date(2026, 1, 2)), q="q"
    )
    assert AuditFilter.read(whole.address()) == whole
    with pytest.raises(InvalidInput) as refused:
        AuditFilter.read({"from": ["x"], "kind": ["a", "b"]})
    assert {fault.field for fault in refused.value.faults} == {"from", "kind"}
