"""The queue of claims: views and their counts, the order of urgency, and two officers who reach for one claim."""

import io
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from threading import Barrier
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.desk import export_runs, store_check
from core.errors import InvalidInput, NotAllowed
from core.services.claims.lists import queue as claim_queue
from core.services.claims.lists import totals as claim_totals
from core.services.claims.lists.filter import VIEWS, ClaimFilter, View
from core.services.claims.lists.queue import QueueRow
from core.services.claims.workflow import assignment as claim_assignment
from core.services.claims.workflow import clock as claim_clock
from core.services.claims.workflow import questions
from core.services.claims.workflow.assignment import BatchResult, ChosenClaim
from core.services.lists.paging import Paging
from core.store.access import Scope, Store
from core.store.schema.tables import Claim, Staff
from tests.conftest import Partner, make_partner
from tests.every_case import every_case
from tests.prefilled import prefilled
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, INPUTS, PAID, Office

pytestmark = pytest.mark.frozen_at(NOON)

# When each claim was lodged, in days before now, and where it went.
LIVES: dict[str, tuple[float, tuple[str, ...]]] = {
    "over": (70, ("Viewed",)),
    "near": (55, ("Viewed", "Reviewing")),
    "fresh": (2, ()),
    "offered": (40, ("Approved", "Offer sent")),
    "asked": (30, ("Reviewing",)),
    "paid": (20, PAID),
    "declined": (10, ("Declined",)),
}
HELD = {"near": "ada", "offered": "bola", "asked": "ada", "paid": "ada", "declined": "bola"}
IN_VIEW: dict[View, set[str]] = {
    "mine": {"near", "asked", "paid"},
    "unassigned": {"over", "fresh"},
    "referred": set(),
    "lapsed": set(),
    "to_pay": set(),
    "near": {"over", "near"},
    "waiting": {"offered", "asked"},
    "open": {"over", "near", "fresh", "offered", "asked"},
    "all": set(LIVES),
}


def fill(store: Store) -> tuple[Office, dict[str, UUID]]:
    """A claim of every kind; each step a day after the one before, the question a day after the review."""
    office, found = Office(store, make_partner(store, "Swift Lenders")), {}
    for name, (days, statuses) in LIVES.items():
        began = NOON - timedelta(days=days)
        with clock.freeze(began):
            found[name] = office.lodge(at=began)
        for day, status in enumerate(statuses, 1):
            with clock.freeze(began + timedelta(days=day)):
                office.walk(found[name], status)
        if name in HELD:
            office.put(found[name], assigned_to=office.people[HELD[name]].id)
    with clock.freeze(NOON - timedelta(days=28)):
        office.do(questions.ask_claimant, found["asked"], text="Please send the letter.")
    return office.copied(store), found


@pytest.fixture
def prepared(store: Store) -> tuple[Office, dict[str, UUID]]:
    """An office with a claim of every kind, and the claims by name."""
    office, lives = prefilled(store, "claims of every kind", fill)
    return office.copied(store), dict(lives)


@pytest.fixture
def office(prepared: tuple[Office, dict[str, UUID]]) -> Office:
    return prepared[0]


@pytest.fixture
def lives(prepared: tuple[Office, dict[str, UUID]]) -> dict[str, UUID]:
    return prepared[1]


@pytest.fixture
def new_office(store: Store, partner: Partner) -> Office:
    """An office without claims."""
    return Office(store, partner)


def rows(office: Office, *, by: str = "ada", order: str = "urgent", **address: str) -> list[QueueRow]:
    selection = ClaimFilter.read({name: [value] for name, value in address.items()}, me=office.people[by].id)
    with office.store.reading(DESK) as session:
        found = claim_queue.list_rows(session, selection, order=order, paging=Paging(1, 50))
        assert claim_totals.get_totals(session, selection).count == len(found)
    return found


def named(lives: dict[str, UUID], found: list[QueueRow]) -> list[str]:
    names = {claim_id: name for name, claim_id in lives.items()}
    return [names[row.id] for row in found]


@pytest.mark.both_databases
def test_each_view_holds_what_its_count_says(office: Office, lives: dict[str, UUID]) -> None:
    with office.store.reading(DESK) as session:
        counts = claim_totals.count_views(session, office.people["ada"])
    for view in VIEWS:
        found = named(lives, rows(office, view=view))
        assert (set(found), counts.views[view]) == (IN_VIEW[view], len(found))
    assert counts.overdue == 1
    with office.store.reading(Scope.staff(is_live=True)) as session:
        assert not any(claim_totals.count_views(session, office.people["ada"]).views.values())


@pytest.mark.both_databases
def test_most_urgent_come_first_then_what_waits_then_what_is_decided(office: Office, lives: dict[str, UUID]) -> None:
    found = rows(office, view="all")
    assert named(lives, found) == ["over", "near", "fresh", "asked", "offered", "declined", "paid"]
    assert [row.clock.days_left for row in found] == [-10, 5, 58, 58, 58, 59, 57]
    assert [row.clock.is_waiting for row in found] == [False, False, False, True, True, False, False]
    newest = ["fresh", "declined", "paid", "asked", "offered", "near", "over"]
    assert named(lives, rows(office, view="all", order="newest")) == newest
    assert named(lives, rows(office, view="all", order="oldest")) == newest[::-1]
    amounts = [row.claimed_minor for row in rows(office, view="all", order="largest")]
    assert amounts == sorted(amounts, reverse=True)


@pytest.mark.parametrize("database", ["sqlite"])
def test_a_file_of_claims_has_the_order_of_the_queue(office: Office, lives: dict[str, UUID]) -> None:
    for order in claim_queue.ORDERINGS:
        out = io.BytesIO()
        address = {"mode": ["test"], "view": ["all"], "columns": ["id"], "order": [order]}
        export_runs.write_file(export_runs.create_order("claims", "csv", address, by="tests"), out)
        ids = out.getvalue().decode("utf-8-sig").split()[1:]
        assert ids == [str(row.id) for row in rows(office, view="all", order=order)], order


@pytest.mark.both_databases
def test_amounts_sort_as_numbers_over_all_pages(new_office: Office) -> None:
    # By their digits 9,000.00 would come after 10,000.00 and 100,000.00.
    naira = (900_000, 10_000_000, 1_000_000, 2_500_000, 0)
    for minor in naira:
        new_office.put(new_office.lodge(), claim_amount_minor=minor, offer_amount_minor=minor)
    for order, name in (
        *(("smallest", "claimed_minor"), ("largest", "claimed_minor")),
        *(("lowest-offer", "offered_minor"), ("highest-offer", "offered_minor")),
    ):
        with new_office.store.reading(DESK) as session:
            pages = [
                claim_queue.list_rows(session, ClaimFilter(), order=order, paging=Paging(page=page, limit=2))
                for page in (1, 2, 3)
            ]
        found = [getattr(row, name) for page in pages for row in page]
        assert found == sorted(naira, reverse=order in {"largest", "highest-offer"}), order


@pytest.mark.both_databases
def test_the_clock_on_a_claim_is_the_one_of_its_history(office: Office, lives: dict[str, UUID]) -> None:
    found = rows(office, view="all")
    with office.store.reading(DESK) as session:
        clocks = claim_clock.load(session, [row.id for row in found])
    assert {row.id: row.clock for row in found} == clocks
    office.do(questions.record_answer, lives["asked"])
    office.walk(lives["offered"], "Offer accepted", "Paid", "Settled")
    office.walk(lives["declined"], "Reviewing")
    with office.store.reading(Scope.system()) as session:
        assert store_check.list_faults(session) == []
    office.put(lives["fresh"], clock_from=NOON)
    with office.store.reading(Scope.system()) as session:
        assert store_check.list_faults(session) == [
            f"claim {lives['fresh']} keeps another clock than its history gives"
        ]


def test_the_total_adds_up_what_is_claimed_offered_and_paid(office: Office, lives: dict[str, UUID]) -> None:
    selection = ClaimFilter.read({"view": ["all"]})
    with office.store.reading(DESK) as session:
        total = claim_totals.get_totals(session, selection)
    found = rows(office, view="all")
    assert total.claimed_minor == sum(row.claimed_minor for row in found) > 0
    assert (total.offered_minor, total.paid_minor) == (14_000_000, 7_000_000)


@every_case(
    ("address", "names"),
    [
        ({"status": "pending"}, {"fresh"}),
        ({"reason": "exclusion"}, {"declined"}),
        ({"from": "2026-09-11", "to": "2026-10-12"}, {"over", "near", "offered"}),
        ({"decided_from": "2026-11-04", "decided_to": "2026-11-04"}, {"paid"}),
        ({"assigned": "nobody"}, {"over", "fresh"}),
        ({"assigned": "me"}, {"near", "asked", "paid"}),
        ({"offer": "70,000.00"}, {"offered", "paid"}),
        ({"first_name": "ngozi", "type": "credit life"}, set(LIVES)),
        ({"q": "nobody at all"}, set()),
        ({"email": "nobody@example.com"}, set()),
    ],
)
@pytest.mark.parametrize("database", ["sqlite"])
def test_filters_of_an_address_narrow_the_queue(
    office: Office, lives: dict[str, UUID], address: dict[str, str], names: set[str]
) -> None:
    assert set(named(lives, rows(office, view="all", **address))) == names


@pytest.mark.both_databases
def test_a_claim_is_found_by_what_people_call_it(office: Office, lives: dict[str, UUID]) -> None:
    row = rows(office, view="near")[0]
    assert row.policy_number
    for text in (row.reference, row.reference.lower(), row.reference[:-2], str(row.id)):
        assert [found.id for found in rows(office, view="all", q=text)] == [row.id]
    # The last six digits of the number are a part of another claimant's phone as well.
    for text in (row.policy_number.lower(), row.email, row.phone or "", (row.phone or "")[:8], row.policy_number[-8:]):
        assert [found.id for found in rows(office, view="all", q=text)] == [row.id]
    assert len(rows(office, view="all", q=row.claimant.upper())) == len(LIVES)


def test_an_address_says_its_selection_again() -> None:
    address = {"view": ["near"], "status": ["Viewed"], "amount": ["75000.50"], "decided_to": ["2026-11-20"]}
    assert ClaimFilter.read(address).address() == address
    with pytest.raises(InvalidInput) as refusal:
        ClaimFilter.read({"view": ["theirs"], "amount": ["many"], "decided_from": ["x"]})
    assert {fault.field for fault in refusal.value.faults} == {"view", "amount", "decided_from"}
    with pytest.raises(InvalidInput, match="officer"):
        ClaimFilter.read({"view": ["mine"]})


def take(office: Office, by: str) -> UUID | None:
    with office.store.writing(DESK) as session:
        return claim_assignment.assign_next(session, person=office.people[by])


def test_next_is_the_most_urgent_that_nobody_has(office: Office, lives: dict[str, UUID]) -> None:
    assert [take(office, "bola") for _ in range(3)] == [lives["over"], lives["fresh"], None]
    assert office.claim(lives["over"]).assigned_to == office.people["bola"].id
    entry = office.log(lives["over"])[-1]
    assert (entry.action, entry.actor) == ("claim assigned", "staff bola@x.example")
    with pytest.raises(NotAllowed):
        take(office, "funmi")


@pytest.mark.both_databases
def test_two_who_take_the_next_one_at_once_get_two_claims(new_office: Office) -> None:
    waiting = {new_office.lodge(text=str(number)) for number in range(6)}
    people, start = ("ada", "bola", "sade"), Barrier(3)

    def twice(name: str) -> list[UUID | None]:
        start.wait()
        return [take(new_office, name) for _ in range(2)]

    with ThreadPoolExecutor(3) as pool:
        taken = [claim_id for pair in pool.map(twice, people) for claim_id in pair]
    assert sorted(map(str, taken)) == sorted(map(str, waiting))


@pytest.mark.parametrize("changed", [{"disabled_at": NOON}, {"roles": ["finance"]}])
def test_claims_of_somebody_who_has_left_are_unassigned_until_they_are_taken(
    office: Office, lives: dict[str, UUID], changed: dict[str, Any]
) -> None:
    assert named(lives, rows(office, by="bola", view="unassigned")) == ["over", "fresh"]
    with office.store.writing(Scope.system()) as session:
        session.change(Staff, col(Staff.id) == office.people["ada"].id, **changed)
    assert named(lives, rows(office, by="bola", view="unassigned")) == ["over", "near", "fresh", "asked", "paid"]
    with office.store.reading(DESK) as session:
        assert claim_totals.count_views(session, office.people["bola"]).views["unassigned"] == 5
    with office.store.writing(DESK) as session:
        taken = [claim_assignment.assign_next(session, person=office.people["bola"]) for _ in range(6)]
    assert taken == [*(lives[name] for name in ("over", "near", "fresh", "asked", "paid")), None]
    assert office.claim(lives["declined"]).assigned_to == office.people["bola"].id, "what is over stays as it was"


def test_who_decides_on_a_claim_of_somebody_who_has_left_takes_it(office: Office, lives: dict[str, UUID]) -> None:
    office.move(lives["near"], "Declined", **INPUTS["Declined"])
    assert office.claim(lives["near"]).assigned_to == office.people["ada"].id
    with office.store.writing(Scope.system()) as session:
        session.change(Staff, col(Staff.id) == office.people["ada"].id, disabled_at=NOON)
    office.move(lives["asked"], "Declined", **INPUTS["Declined"])
    assert office.claim(lives["asked"]).assigned_to == office.people["bola"].id


def give(office: Office, chosen: list[ChosenClaim], to: str | None, *, by: str = "ada") -> BatchResult:
    officer = office.people[to].id if to else None
    with office.store.writing(DESK) as session:
        return claim_assignment.assign_claims(session, chosen, to=officer, person=office.people[by])


@pytest.mark.both_databases
def test_several_claims_are_given_at_once_and_the_beaten_one_is_told(office: Office, lives: dict[str, UUID]) -> None:
    chosen = claim_assignment.choose_rows(rows(office, view="open"))
    assert give(office, chosen, "bola") == BatchResult(done_count=5, refusals=())
    assert {office.claim(seen.id).assigned_to for seen in chosen} == {office.people["bola"].id}
    again = give(office, chosen, "bola", by="sade")
    assert again == BatchResult(done_count=5, refusals=())
    beaten = give(office, chosen[:1], "ada")
    assert beaten == BatchResult(done_count=0, refusals=(f"{chosen[0].reference} was taken by bola",))
    assert [entry.action for entry in office.log(chosen[0].id)].count("claim assigned") == 1


def test_each_way_of_being_too_late_has_its_words(office: Office, lives: dict[str, UUID]) -> None:
    chosen = {seen.id: seen for seen in claim_assignment.choose_rows(rows(office, view="all"))}
    office.move(lives["fresh"], "Viewed")
    give(office, [chosen[lives["near"]]], None)
    office.put(lives["over"], deleted_at=NOON)
    names = ("fresh", "near", "over", "asked")
    result = give(office, [chosen[lives[name]] for name in names], "bola", by="sade")
    assert result.done_count == 1
    assert {line.partition(" ")[2] for line in result.refusals} == {
        "was changed meanwhile: it is Viewed now",
        "was given back to nobody meanwhile",
        "is not there any more",
    }


def test_a_claim_goes_to_nobody_who_cannot_have_it(office: Office, lives: dict[str, UUID]) -> None:
    chosen = claim_assignment.choose_rows(rows(office, view="unassigned"))
    with pytest.raises(InvalidInput):
        give(office, chosen, "funmi")
    with pytest.raises(NotAllowed):
        give(office, chosen, "ada", by="funmi")
    assert [office.claim(seen.id).assigned_to for seen in chosen] == [None, None]


@pytest.mark.both_databases
def test_of_two_who_assign_the_same_claims_at_once_each_claim_has_one_winner(new_office: Office) -> None:
    for number in range(4):
        new_office.lodge(text=str(number))
    chosen, start = claim_assignment.choose_rows(rows(new_office, view="unassigned")), Barrier(2)

    def attempt(name: str) -> Any:
        start.wait()
        officer = new_office.people[name]
        return new_office.store.transact(
            DESK, lambda session: claim_assignment.assign_claims(session, chosen, to=officer.id, person=officer)
        )

    with ThreadPoolExecutor(2) as pool:
        results = list(pool.map(attempt, ("ada", "bola")))
    assert sorted((result.done_count, len(result.refusals)) for result in results) == [(0, 4), (4, 0)]
    with new_office.store.reading(DESK) as session:
        versions = session.execute(sa.select(Claim.version)).scalars().all()
    assert set(versions) == {2}
