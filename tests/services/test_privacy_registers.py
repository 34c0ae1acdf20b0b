"""Requests, breaches, returns, complaints and figures: their days, their two people, and who is refused."""

import io
import json
import zipfile
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from core import clock, demo, money
from core.covers.credit_life import CREDIT_LIFE
from core.covers.registry import COVERS
from core.demo import accounts
from core.demo.papers import privacy
from core.errors import CoverdeskError, InvalidInput, NotAllowed, NotFound, StaleVersion, StateForbids
from core.services.audit import log as audit
from core.services.compliance import (
    breaches,
    complaints,
    erasures,
    figures,
    filings,
    pack,
    requests,
    retention,
    return_figures,
)
from core.services.finance import movements
from core.services.finance.bordereaux import bordereaux
from core.services.mail import mail
from core.services.people import staff
from core.services.sales.totals import SalesTotals
from core.store.access import Scope, Store
from core.store.schema.tables import Breach, Complaint, DataRequest, MailText, Staff
from tests.conftest import Partner, fresh_store
from tests.papers import needs_poppler, read_pages
from tests.services.selling import sell

SYSTEM = Scope.system()
NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)  # a Friday
pytestmark = pytest.mark.frozen_at(NOON)
WITH_BVN = next(cover for cover in COVERS if "bvn" in cover.request.model_fields)
REQUEST = {"kind": "access", "name": "Seyi Quist", "email": "seyi@people.example", "details": "What do you hold?"}
HAPPENED = {"title": "A laptop was lost", "description": "With a list of renewals", "known_on": "2026-11-18"}
HAPPENED |= {"since_on": "2026-11-17", "until_on": "2026-11-18"}
RISK = {"risk": "high", "risk_reason": "The disk was not encrypted", "people": 12}
QUARTER = ("brokerage", date(2026, 9, 30))
OUTSIDERS = ("operations", "claims", "finance", "supervisor")


@pytest.fixture
def store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    """On SQLite alone: these rules are no matter of SQL."""
    with fresh_store(request, "sqlite", tmp_path, monkeypatch) as made:
        yield made


class Registers:
    """The privacy desk with two people of compliance and one of each other role."""

    def __init__(self, store: Store) -> None:
        self.store = store
        names = {"cora": ["compliance"], "dayo": ["compliance"], **{name: [name] for name in OUTSIDERS}}
        with store.writing(SYSTEM) as session:
            session.add_all(Staff(email=f"{name}@d.example", name=name, roles=roles) for name, roles in names.items())
        with store.reading(SYSTEM) as session:
            self.people = {name: staff.get_by_email(session, f"{name}@d.example") for name in names}

    def do(self, verb: Any, *given: Any, by: str = "cora", **more: Any) -> Any:
        with self.store.writing(SYSTEM) as session:
            return verb(session, *given, by=self.people[by], **more)

    def read(self, verb: Any, *given: Any) -> Any:
        with self.store.reading(SYSTEM) as session:
            return verb(session, *given)


@pytest.fixture
def desk(store: Store) -> Registers:
    return Registers(store)


def test_every_verb_of_the_desk_refuses_every_other_role(desk: Registers) -> None:
    some = UUID(int=1)
    verbs: list[tuple[Any, tuple[Any, ...], dict[str, Any]]] = [
        (requests.register, (REQUEST,), {}),
        (requests.acknowledge, (some,), {"version": 1}),
        (requests.note_identity, (some,), {"method": requests.OPEN[0], "version": 1}),
        (requests.choose_records, (some, []), {"version": 1}),
        (requests.answer, (some,), {"outcome": "x" * 20, "version": 1}),
        (requests.refuse, (some,), {"code": "repeated", "outcome": "x" * 20, "version": 1}),
        (pack.make, (some,), {}),
        (breaches.register, (HAPPENED,), {}),
        (breaches.judge, (some, RISK), {"version": 1}),
        (breaches.close, (some,), {"version": 1}),
        (filings.prepare, QUARTER, {"seen": ()}),
        (filings.check, (some,), {"seen": ()}),
        (filings.send, (some,), {"reference": "abc"}),
        (complaints.register, ({},), {}),
        (complaints.answer, (some,), {"outcome": "x" * 20}),
        (complaints.list_letters, (some,), {}),
        (complaints.send_by_mail, (some, "answer"), {}),
        (complaints.mark_sent, (some, "answer"), {"way": "Post"}),
        (figures.set_figure, ({},), {}),
        (return_figures.write_file, (2026,), {}),
        (filings.write_figures, ("brokerage 2026-09-30",), {}),
    ]
    for verb, given, more in verbs:
        for outsider in OUTSIDERS:
            with pytest.raises(NotAllowed, match="Only compliance"):
                desk.do(verb, *given, by=outsider, **more)


def test_a_request_counts_its_days_and_takes_more_time_once(desk: Registers) -> None:
    request_id = desk.do(requests.register, REQUEST)
    row = desk.read(requests.get_request, request_id)
    assert (row.number, row.acknowledge_by, row.due_on) == ("DR-2026-0001", date(2026, 11, 24), date(2026, 12, 20))
    assert row.days_left == 30
    desk.do(requests.acknowledge, request_id, version=1)
    with pytest.raises(StaleVersion):
        desk.do(requests.extend, request_id, reason="Many records", version=1)
    desk.do(requests.extend, request_id, reason="Many records to read", version=2)
    with pytest.raises(StateForbids, match="one extension"):
        desk.do(requests.extend, request_id, reason="Still many records", version=3)
    assert desk.read(requests.get_request, request_id).last_day == date(2027, 1, 19)
    with pytest.raises(StateForbids, match="identity"):
        desk.do(requests.answer, request_id, outcome="Told by telephone", version=3)
    desk.do(requests.refuse, request_id, code="not_identified", outcome="No document was shown", version=3)
    with pytest.raises(StateForbids, match="closed"):
        desk.do(requests.acknowledge, request_id, version=4)
    for wrong in ({"email": ""}, {"kind": "everything"}, {"received_on": "2026-11-21"}, {"details": ""}):
        with pytest.raises(InvalidInput):
            desk.do(requests.register, {**REQUEST, **wrong})


def test_the_pack_holds_everything_of_the_person_and_of_nobody_else(
    desk: Registers,
    store: Store,
    partner: Partner,
    stranger: Partner,
) -> None:
    sell(store, partner, CREDIT_LIFE, is_live=True, email=REQUEST["email"])
    sell(store, stranger, WITH_BVN, is_live=True, email=REQUEST["email"], bvn="22298765432")
    sell(store, partner, CREDIT_LIFE, is_live=True, email="other@people.example", phone_number="08011112222")
    request_id = desk.do(requests.register, REQUEST)
    with pytest.raises(StateForbids, match="identity"):
        desk.do(pack.make, request_id)
    desk.do(requests.note_identity, request_id, method="Identity document seen", version=1)
    made = desk.do(pack.make, request_id)
    with zipfile.ZipFile(io.BytesIO(made.content)) as archive:
        assert archive.namelist() == ["DR-2026-0001.json", "DR-2026-0001.pdf"]
        document = json.loads(archive.read("DR-2026-0001.json"))
        assert archive.read("DR-2026-0001.pdf").startswith(b"%PDF")
    records = document["records"]
    assert {name: len(records[name]) for name in ("customer", "purchase", "policy", "certificate")} == {
        **dict.fromkeys(("customer", "purchase", "policy"), 2),
        "certificate": len(records["certificate"]),
    }
    text = json.dumps(document)
    assert "22298765432" in text, "the person's numbers are in clear"
    assert "other@people.example" not in text
    assert {entry["what"] for entry in document["looked_at_by"]} >= {"policy sold"}
    history = desk.read(audit.list_history, f"data_request {request_id}")
    assert "data pack made" in [entry.action for entry in history]
    with pytest.raises(InvalidInput, match="records of this e-mail or phone"):
        desk.do(requests.choose_records, request_id, [UUID(int=3)], version=2)


def test_a_breach_is_judged_by_one_and_closed_by_another_after_everybody_was_told(desk: Registers) -> None:
    breach = desk.do(breaches.register, HAPPENED)
    row = desk.read(breaches.get_breach, breach)
    assert row.state == "To be judged"
    assert row.notify_by - row.known_at == timedelta(hours=72)
    assert row.hours_left == 72 - 61
    (registered,) = desk.read(audit.list_history, f"breach {breach}")
    assert registered.after["known_on"] == "2026-11-18", "the day that was typed, without an hour that nobody said"
    with pytest.raises(StateForbids, match="judge"):
        desk.do(breaches.note_commission, breach, reference="NDPC/1", version=1)
    desk.do(breaches.judge, breach, RISK, version=1)
    with pytest.raises(NotAllowed, match="somebody else closes it"):
        desk.do(breaches.close, breach, version=2)
    with pytest.raises(StateForbids, match="Commission"):
        desk.do(breaches.close, breach, version=2, by="dayo")
    desk.do(breaches.note_commission, breach, reference="NDPC/1", version=2)
    with pytest.raises(StateForbids, match="people"):
        desk.do(breaches.close, breach, version=3, by="dayo")
    desk.do(breaches.note_people, breach, version=3)
    desk.do(breaches.close, breach, version=4, by="dayo")
    assert desk.read(breaches.get_breach, breach).state == "Closed"
    for wrong in ({"until_on": "2026-11-16"}, {"known_on": "2026-11-21"}, {"title": ""}):
        with pytest.raises(InvalidInput):
            desk.do(breaches.register, {**HAPPENED, **wrong})


def test_what_was_opened_in_the_span_is_found_from_the_log(desk: Registers, store: Store) -> None:
    for day, actor, action in (
        (17, "staff a@x", "personal value shown"),
        (17, "staff b@x", "file opened"),
        (18, "staff a@x", "policy sold"),
        (19, "staff a@x", "file opened"),
    ):
        with clock.freeze(datetime(2026, 11, day, 9, tzinfo=UTC)), store.writing(SYSTEM) as session:
            audit.write(session, actor=actor, action=action, subject=f"policy {UUID(int=day)}")
    named = desk.do(breaches.register, {**HAPPENED, "actor": "staff a@x"})
    whole = desk.do(breaches.register, HAPPENED)
    rows = {which: desk.read(breaches.get_breach, which) for which in (named, whole)}
    found = {which: [entry.actor for entry in desk.read(breaches.find_exposures, row)] for which, row in rows.items()}
    assert found == {named: ["staff a@x"], whole: ["staff b@x", "staff a@x"]}
    row = desk.read(breaches.get_breach, whole)
    notice = breaches.draft_notice(row, desk.read(breaches.find_exposures, row))
    assert "1 records were opened" in notice


def test_a_period_that_ended_before_the_first_business_owes_no_return(
    desk: Registers, store: Store, partner: Partner
) -> None:
    sell(store, partner, CREDIT_LIFE)
    assert not desk.read(filings.list_calendar), "a test sale is no business"
    with pytest.raises(NotFound):
        desk.do(filings.prepare, "bordereaux", date(2026, 10, 31), seen=())
    with clock.freeze(datetime(2026, 9, 30, 22, tzinfo=UTC)):
        sell(store, partner, CREDIT_LIFE, is_live=True)
    owed = [row.key for row in desk.read(filings.list_calendar)]
    assert owed == [
        "bordereaux 2026-09-30",
        "brokerage 2026-09-30",
        "client_account 2026-09-30",
        "bordereaux 2026-10-31",
    ]


def test_returns_are_due_by_their_period_and_checked_by_somebody_else(
    desk: Registers, store: Store, partner: Partner
) -> None:
    with clock.freeze(NOON.replace(year=2025)):
        sell(store, partner, CREDIT_LIFE, is_live=True)
    calendar = {row.key: row for row in desk.read(filings.list_calendar)}
    assert calendar["brokerage 2026-09-30"].due_on == date(2026, 10, 30)
    assert calendar["bordereaux 2026-10-31"].due_on == date(2026, 11, 10)
    assert calendar["data_protection 2025-12-31"].due_on == date(2026, 3, 31)
    with pytest.raises(NotFound):
        desk.do(filings.prepare, "brokerage", date(2026, 10, 31), seen=())
    filing = desk.do(filings.prepare, *QUARTER, seen=())
    for verb, more, by, refused in (
        (filings.check, {"seen": ()}, "cora", NotAllowed),
        (filings.send, {"reference": "NAICOM/1"}, "dayo", StateForbids),
    ):
        with pytest.raises(refused):
            desk.do(verb, filing, by=by, **more)
    with pytest.raises(StateForbids, match="already"):
        desk.do(filings.prepare, *QUARTER, seen=(), by="dayo")
    desk.do(filings.check, filing, seen=(), by="dayo")
    desk.do(filings.send, filing, reference="NAICOM/1")
    row = {row.key: row for row in desk.read(filings.list_calendar)}["brokerage 2026-09-30"]
    assert (row.state, row.preparer, row.checker, row.reference) == ("sent", "cora", "dayo", "NAICOM/1")


IN_QUARTER = datetime(2026, 9, 10, 12, tzinfo=UTC)


def get_return(desk: Registers, kind: str) -> filings.FilingRow:
    found: filings.FilingRow = next(row for row in desk.read(filings.list_calendar) if row.kind == kind)
    return found


def sell_in_quarter(desk: Registers, partner: Partner, stranger: Partner) -> SalesTotals:
    """Sell for two insurers, and in test mode; return the totals of the quarter as Movements shows them."""
    with clock.freeze(IN_QUARTER):
        sell(desk.store, partner, CREDIT_LIFE, is_live=True)
        sell(desk.store, stranger, WITH_BVN, is_live=True)
        sell(desk.store, stranger, WITH_BVN, bvn="22298765432", phone_number="08031110000", email="b@people.example")
    span = get_return(desk, "brokerage").window.span
    with desk.store.reading(Scope.staff(is_live=True)) as session:
        return movements.compute_totals(session, movements.MovementFilter(created=span))


def test_the_brokerage_return_has_what_movements_shows_and_adds_up(
    desk: Registers, partner: Partner, stranger: Partner
) -> None:
    whole = sell_in_quarter(desk, partner, stranger)
    rows = desk.read(filings.list_figures, get_return(desk, "brokerage")).rows
    of_all = {each.figure: each.value for each in rows if each.group == return_figures.ALL}
    assert (of_all["Purchases"], of_all["Premium"]) == (whole.sold, whole.premium_minor) == (2, whole.sold_minor)
    assert of_all["Net premium"] == whole.net.total_minor > 0
    assert of_all["Platform commission"] == whole.mca_minor
    assert of_all["Distributor commission"] == whole.distributor_minor
    shares = ("Insurer's share", "Platform commission", "Distributor commission")
    assert of_all["Net premium"] == sum(of_all[share] for share in shares), "a person can add it up"
    insurers = [each for each in rows if each.insurer_id]
    assert len({each.insurer_id for each in insurers}) == 2
    for figure, value in of_all.items():
        assert sum(each.value for each in insurers if each.figure == figure) == value, figure


def test_the_figures_of_the_other_returns_are_those_of_the_screens_that_have_them(
    desk: Registers, store: Store, partner: Partner, stranger: Partner
) -> None:
    whole = sell_in_quarter(desk, partner, stranger)
    account = {
        (each.group, each.figure): each
        for each in desk.read(filings.list_figures, get_return(desk, "client_account")).rows
    }
    assert account["Premium", "Written"].value == whole.premium_minor
    assert account["Statements", "Parties without a statement"].is_missing
    reported = desk.read(filings.list_figures, get_return(desk, "bordereaux")).rows
    assert {each.value for each in reported if each.is_missing} == {"Not issued"}
    assert {each.figure: each.value for each in reported}["Gross premium"] == whole.premium_minor, "the last is of all"
    with store.reading(Scope.staff(is_live=True)) as session:
        for each in reported:
            if each.insurer_id and each.figure in ("Premium rows", "Gross premium"):
                drafted = bordereaux.count_draft(session, each.insurer_id, "premium", date(2026, 9, 1))
                assert each.value == drafted[each.figure == "Gross premium"], "as the draft of the bordereau has it"
    with clock.freeze(NOON.replace(year=2027)):
        year = get_return(desk, "data_protection")
        counted = [(each.group, each.figure, each.value) for each in desk.read(filings.list_figures, year).rows]
        assert counted == desk.read(return_figures.count_year, 2026)


def test_a_figure_that_has_moved_since_a_return_was_prepared_is_named_and_what_was_sent_stays(
    desk: Registers, store: Store, partner: Partner
) -> None:
    with clock.freeze(IN_QUARTER):
        sell(store, partner, CREDIT_LIFE, is_live=True)

    def look() -> tuple[filings.Figures, dict[str, Any]]:
        found = desk.read(filings.list_figures, get_return(desk, "brokerage"))
        return found, {each.figure: each.value for each in found.rows if each.group == return_figures.ALL}

    filing = desk.do(filings.prepare, *QUARTER, seen=look()[0].rows)
    assert (look()[0].kept_as, look()[0].moved) == ("prepared", [])
    with clock.freeze(IN_QUARTER):
        sell(store, partner, WITH_BVN, is_live=True)
    found, values = look()
    moved = {(each.figure.group, each.figure.figure): each for each in found.moved}
    pair = moved[return_figures.ALL, "Purchases"]
    assert [each and each.value for each in (pair.then, pair.now)] == [1, 2]
    assert {each.then is None for each in found.moved} == {True, False}, "those of another insurer were none then"
    desk.do(filings.check, filing, seen=found.rows, by="dayo")
    assert (look()[0].kept_as, look()[0].moved) == ("checked", [])
    desk.do(filings.send, filing, reference="NAICOM/1")
    with clock.freeze(IN_QUARTER):
        sell(store, partner, CREDIT_LIFE, is_live=True, email="other@people.example", phone_number="08011112222")
    assert (look()[1], look()[0].moved) == (values, ()), "what was sent shows what was checked"
    file = desk.do(filings.write_figures, "brokerage 2026-09-30").decode().splitlines()
    assert len(file) == len(look()[0].rows) + 1
    amount = money.to_wire(values["Premium"])
    assert f"brokerage,2026-09-30,All insurers,Premium,{amount}" in file
    with pytest.raises(NotFound):
        desk.do(filings.write_figures, "brokerage 1999-09-30")


def test_nobody_vouches_for_a_figure_that_they_have_not_seen(desk: Registers, store: Store, partner: Partner) -> None:
    def look() -> filings.Figures:
        return desk.read(filings.list_figures, get_return(desk, "brokerage"))

    with clock.freeze(IN_QUARTER):
        sell(store, partner, CREDIT_LIFE, is_live=True)
    with pytest.raises(StateForbids, match=r"this return: .*Purchases: none then, 1 now; .* more\. Look at it again"):
        desk.do(filings.prepare, *QUARTER, seen=())
    assert get_return(desk, "brokerage").state == "due", "a refusal leaves nothing behind"
    opened = look().rows
    filing = desk.do(filings.prepare, *QUARTER, seen=opened)
    with clock.freeze(IN_QUARTER):
        sell(store, partner, CREDIT_LIFE, is_live=True, email="b@people.example", phone_number="08031112222")
    with pytest.raises(StateForbids, match="Purchases: 1 then, 2 now"):
        desk.do(filings.check, filing, seen=opened, by="dayo")
    assert look().kept_as == "prepared"
    desk.do(filings.check, filing, seen=look().rows, by="dayo")


def test_complaints_are_counted_for_the_insurer_of_their_policy(
    desk: Registers,
    store: Store,
    partner: Partner,
) -> None:
    sale = sell(store, partner, CREDIT_LIFE, is_live=True)
    number = sale.policy["meta"]["policy_number"]
    typed = {"category": "delay", "name": "Ada", "policy_number": number, "text": "Three weeks without a word"}
    complaint = desk.do(complaints.register, typed)
    desk.do(complaints.register, {**typed, "category": "service"})
    with clock.freeze(NOON.replace(year=2024)):
        desk.do(complaints.register, {**typed, "policy_number": ""})
    assert all(line.id for line in desk.read(complaints.count_by_insurer)), "one of two years ago is not counted"
    desk.do(complaints.register, {**typed, "policy_number": ""})
    assert desk.read(complaints.count_by_insurer)[-1].insurer == "No policy named"
    with pytest.raises(InvalidInput, match="policy_number"):
        desk.do(complaints.register, {**typed, "policy_number": "NONE/1"})
    counted = {line.complaints: line for line in desk.read(complaints.count_by_insurer)}
    assert (counted[2].delays, counted[2].open) == (1, 2)
    assert sum(line.complaints for line in desk.read(complaints.count_by_insurer)) == 3
    assert sum(line.notice_late + line.placing_late for line in counted.values()) == 0
    desk.do(complaints.answer, complaint, outcome="Called and apologised")
    with pytest.raises(StateForbids, match="already"):
        desk.do(complaints.answer, complaint, outcome="Called and apologised")


def test_the_days_of_a_complaint_run_from_its_receipt(desk: Registers) -> None:
    typed = {"category": "delay", "name": "Ada", "text": "Three weeks without a word"}
    for day, fault in {"2026-11-21": "or today", "2025-11-19": "last year"}.items():
        with pytest.raises(InvalidInput, match=fault):
            desk.do(complaints.register, {**typed, "received_on": day})
    desk.do(complaints.register, {**typed, "received_on": "2026-11-12"})
    (row,) = desk.read(complaints.list_complaints)
    assert (clock.to_lagos_day(row.received_at), row.due_on, row.days_left) == (
        *(date(2026, 11, 12), date(2026, 11, 26)),
        6,
    )


def test_a_figure_holds_from_its_day_and_what_held_before_stays(desk: Registers) -> None:
    figure = {"name": "answer_days", "amount": 20, "effective_on": "2026-12-01", "source": "House rule of December"}
    desk.do(figures.set_figure, figure)
    assert desk.read(figures.get_figure, "answer_days") == 30
    with clock.freeze(NOON + timedelta(days=20)):
        assert desk.read(figures.get_figure, "answer_days") == 20
        assert desk.read(figures.get_figure, "answer_days", date(2026, 11, 30)) == 30
    for wrong in ({"effective_on": "2026-11-20"}, {"amount": 0}, {"name": "anything"}, {"source": ""}, {}):
        with pytest.raises(CoverdeskError):
            desk.do(figures.set_figure, {**figure, **wrong})


def test_the_figures_of_a_year_are_those_of_the_registers(desk: Registers) -> None:
    request_id = desk.do(requests.register, REQUEST)
    desk.do(requests.refuse, request_id, code="not_known", outcome="Nothing is held of you", version=1)
    breach = desk.do(breaches.register, HAPPENED)
    desk.do(breaches.judge, breach, RISK, version=1)
    with clock.freeze(NOON + timedelta(hours=24)):
        desk.do(breaches.note_commission, breach, reference="NDPC/1", version=2)
    rows = desk.read(return_figures.count_year, 2026)
    counts = {(group, label): number for group, label, number in rows}
    groups = [group for group, *_ in rows]
    assert groups == sorted(groups, key=groups.index), "the figures of a group stand together"
    assert (
        counts["Requests", "Access"] == counts["Requests", "Of them refused"] == counts["Breaches", "Registered"] == 1
    )
    assert (counts["Breaches", "Notified to the Commission in time"], counts["Breaches", "Notified late"]) == (0, 1)
    assert counts["Held at the end of the year", "Staff"] == len(desk.people)
    file = desk.do(return_figures.write_file, 2026).decode()
    assert len(file.splitlines()) == len(counts) + 1
    assert not any(number for *_, number in desk.read(return_figures.count_year, 2025))
    with pytest.raises(InvalidInput, match="year"):
        desk.read(return_figures.count_year, 2027)


def test_the_demonstration_has_cases_of_each_register_once(store: Store) -> None:
    with clock.freeze(NOON):
        demo.write(store, purchases=200, seed=3)
        with store.writing(SYSTEM) as session:
            accounts.add_accounts(session)
        for cases in (9, 0):
            with store.writing(SYSTEM) as session:
                assert privacy.write_cases(session) == cases
        with store.reading(SYSTEM) as session:
            assert {row.kind for row in requests.list_requests(session)} == {"access", "erasure", "rectification"}
            assert {row.state for row in breaches.list_breaches(session)} == {"Closed", "To be judged"}
            assert {row.answered_at is None for row in complaints.list_complaints(session)} == {True, False}
            assert {row.state for row in filings.list_calendar(session)} == {"due", "prepared", "sent"}
            assert [row.state for row in erasures.list_erasures(session)] == ["open"]
            assert len(retention.list_holds(session)) == 1


def test_a_letter_on_a_complaint_stays_as_it_was_sent(desk: Registers, store: Store) -> None:
    complaint = desk.do(complaints.register, {"category": "service", "name": "Ada Obi", "text": "Nobody answers"})
    before = desk.do(complaints.list_letters, complaint)[0]
    for changed, way in (("Before it is sent", "Post"), ("After it was sent", None)):
        with store.writing(SYSTEM) as session:
            session.execute(sa.delete(MailText))
            session.insert(MailText(name="complaint acknowledgement", subject=changed, body=changed))
        if way:
            desk.do(complaints.mark_sent, complaint, "acknowledgement", way=way)
        (letter,) = desk.do(complaints.list_letters, complaint)
        assert (letter.subject, letter.body) == ("Before it is sent", "Before it is sent")
    assert before.subject == "Complaint CO-2026-0001: we have received it"


@needs_poppler
def test_what_people_write_in_paragraphs_is_kept_and_printed_so(desk: Registers, store: Store) -> None:
    text = "It began in May.\n\nNobody has answered since."
    complaint = desk.do(complaints.register, {"category": "service", "name": "Ada Obi", "text": text})
    desk.do(complaints.answer, complaint, outcome=text)
    asked = desk.do(requests.register, {**REQUEST, "details": text})
    desk.do(requests.extend, asked, reason=text, version=1)
    desk.do(requests.refuse, asked, code="repeated", outcome=text, version=2)
    breach = desk.do(breaches.register, {**HAPPENED, "description": text})
    desk.do(breaches.judge, breach, {**RISK, "risk_reason": text}, version=1)
    with store.reading(SYSTEM) as session:
        told, owed, lost = (
            session.get_one(Complaint, complaint),
            session.get_one(DataRequest, asked),
            session.get_one(Breach, breach),
        )
    found = [told.text, told.outcome, owed.details, owed.extension_reason, owed.outcome, lost.description]
    assert [*found, lost.risk_reason] == [text] * 7
    answer = desk.do(complaints.list_letters, complaint)[1]
    (page,) = read_pages(complaints.render(answer))
    lines = [line.strip() for line in page.splitlines()]
    assert {"It began in May.", "Nobody has answered since."} <= set(lines)


def test_a_complaint_has_its_acknowledgement_and_then_its_answer_as_paper_and_e_mail(
    desk: Registers, store: Store, partner: Partner
) -> None:
    number = sell(store, partner, CREDIT_LIFE, is_live=True).policy["meta"]["policy_number"]
    typed = {"category": "delay", "name": "Ada Obi", "contact": "ada@obi.example", "text": "Three weeks without a word"}
    complaint = desk.do(complaints.register, {**typed, "policy_number": number})
    (received,) = desk.do(complaints.list_letters, complaint)
    assert (received.kind, received.email, received.way) == ("acknowledgement", "ada@obi.example", None)
    for words in ("Dear Ada Obi", "CO-2026-0001", "delay", "20 Nov 2026", "4 Dec 2026", str(number), "Garki II"):
        assert words in f"{received.subject} {received.body}"
    with pytest.raises(StateForbids, match="no such letter yet"):
        desk.do(complaints.send_by_mail, complaint, "answer")
    desk.do(complaints.send_by_mail, complaint, "acknowledgement")
    desk.do(complaints.answer, complaint, outcome="The insurer pays on Monday: $5 for the delay.")
    with clock.freeze(NOON + timedelta(days=1)):
        sent, answer = desk.do(complaints.list_letters, complaint)
    assert (sent.way, sent.at, answer.way) == ("E-mail", NOON, None)
    assert "The insurer pays on Monday: $5 for the delay." in answer.body
    assert "final answer" in answer.body
    assert "National Insurance Commission" in answer.body
    assert complaints.render(answer).startswith(b"%PDF")
    with pytest.raises(StateForbids, match="sent already"):
        desk.do(complaints.send_by_mail, complaint, "acknowledgement")
    desk.do(complaints.mark_sent, complaint, "answer", way="Post")
    other = desk.do(complaints.register, {**typed, "contact": "0803 123 4567"})
    with pytest.raises(InvalidInput, match="way"):
        desk.do(complaints.mark_sent, other, "acknowledgement", way="Pigeon")
    with pytest.raises(StateForbids, match="no e-mail"):
        desk.do(complaints.send_by_mail, other, "acknowledgement")
    with store.reading(SYSTEM) as session:
        (mailed,) = mail.list_about(session, f"complaint {complaint}")
        history = [
            (entry.after or {}).get("letter")
            for entry in audit.list_history(session, f"complaint {complaint}")
            if entry.action == "complaint letter sent"
        ]
    assert (mailed.recipient, mailed.subject) == ("ada@obi.example", "Complaint CO-2026-0001: we have received it")
    assert history == ["Acknowledgement", "Answer"]
